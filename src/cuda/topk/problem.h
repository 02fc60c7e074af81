// SPDX-License-Identifier: MIT OR Apache-2.0
// Between the files of the top-k family.
#ifndef GSORT_CUDA_TOPK_PROBLEM_H_
#define GSORT_CUDA_TOPK_PROBLEM_H_

#include "core/key_bits.h"
#include "cuda/engine/launch.h"
#include "cuda/engine/launch_chain.h"
#include "cuda/topk/plan.h"
#include "cuda/topk/ragged_plan.h"

namespace gsort_internal::topk {

template <class U>
struct Output {
  U *values;      // or NULL
  void *indices;  // or NULL
  uint32_t index_bytes;
};

template <class U>
struct Problem {
  const U *in;
  uint64_t rows, columns, row_stride, k;  // ragged: columns and row_stride are not used
  uint32_t index_bits;
  KeyCodec<U> codec;
  Output<U> output;
  Ragged ragged;
  bool in_parts;          // what is done are parts of rows, and their best come to places of their own
  uint32_t parts_of_row;  // where rows have one length: number r is part r % parts_of_row of row r / parts_of_row
};

// With split_keys a team writes the k selected elements of its one row in the order of the input to these
// arrays (split_indices may be NULL), for a stable sort to finish; problem.output is then not used.
template <class U>
struct TeamArgs {
  Problem<U> problem;
  TeamPlan plan;
  TeamLayout layout;
  unsigned char *workspace;
  U *split_keys;
  void *split_indices;
  uint32_t split_index_bytes;
  uint64_t listed;  // not 0: so many go to layout.list_b instead, in any order: the best k, then others or padding
};

constexpr uint32_t blocks_of_rows(uint64_t rows, uint32_t rows_a_block) {
  return static_cast<uint32_t>(min_of((rows + rows_a_block - 1) / rows_a_block, 0x7fffffff));
}

// Instantiated for the four key widths. Of rows with offsets those on the lists problem.ragged.taken, `rows` at most.
template <class U>
void launch_best(const LaunchContext &context, const Problem<U> &problem, const BestPlan &plan,
                 unsigned char *workspace);
template <class U>
void launch_best_listed(LaunchChain &chain, const Problem<U> &problem, uint64_t rows);
template <class U>
void launch_lanes(LaunchChain &chain, const Problem<U> &problem, const LanesPlan &plan, uint64_t rows);
template <class U>
void launch_sorted_lanes(const LaunchContext &context, const Problem<U> &problem, const SortedLanesPlan &plan);
template <class U>
void launch_bound_lanes(LaunchChain &chain, const Problem<U> &problem, const BoundLanesPlan &plan, uint64_t rows);
template <class U>
void launch_bound_rows(LaunchChain &chain, const Problem<U> &problem, const BoundRowsPlan &plan, uint64_t rows);
// So many parts of rows, whose best come into the workspace.
template <class U>
void launch_parts(LaunchChain &chain, const Problem<U> &problem, const PartsPlan &plan, unsigned char *workspace,
                  uint64_t parts);
// So many rows of which parts are done, behind that; warps: that do one.
template <class U>
void launch_merge_parts(LaunchChain &chain, const Problem<U> &problem, const PartsPlan &plan, unsigned char *workspace,
                        uint64_t rows, uint32_t warps);
// The rows with offsets that are on no list, of up to kSomeItemsMax elements.
template <class U>
void launch_short_rows(LaunchChain &chain, const Problem<U> &problem);
template <class U>
void launch_stream(const LaunchContext &context, const Problem<U> &problem, const StreamPlan &plan);
// The rows with offsets that blocks do, for k of up to kStreamRaggedKMax.
template <class U>
void launch_ragged_stream(LaunchChain &chain, const Problem<U> &problem, const StreamPlan &plan);
template <class U>
void launch_warp(LaunchChain &chain, const Problem<U> &problem, uint32_t items_max);
template <class U>
void launch_rows(LaunchChain &chain, const Problem<U> &problem, const RowsPlan &plan);
// Keys of 2 bytes and more.
template <class U>
void launch_tile(const LaunchContext &context, const Problem<U> &problem, uint32_t threads);
// Keys of 4 and 8 bytes.
template <class U>
void launch_buckets(const LaunchContext &context, const Problem<U> &problem, const BucketsPlan &plan,
                    unsigned char *workspace);
template <class U>
void launch_team(const LaunchContext &context, const TeamArgs<U> &args, uint32_t composite_bytes);

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_PROBLEM_H_
