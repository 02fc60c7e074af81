// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/parts.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {
namespace {

template <uint32_t kEach, class Key>
void merge_as(LaunchChain &chain, const PartsProblem<Key> &problem, uint64_t rows, uint32_t warps) {
  chain(topk_merge_parts_kernel<Key, kEach>, "top-k: merge of parts", blocks_of_rows(rows, 1), 32 * warps, 0, problem);
}

}  // namespace

template <class U>
void launch_parts(LaunchChain &chain, const Problem<U> &problem, const PartsPlan &plan, unsigned char *workspace,
                  uint64_t parts) {
  Problem<U> of_parts = problem;
  of_parts.rows = parts;
  of_parts.in_parts = true, of_parts.parts_of_row = plan.of_row;
  of_parts.output = {reinterpret_cast<U *>(workspace), workspace + plan.indices, 4};
  launch_bound_rows<U>(chain, of_parts, plan.rows, parts);
}

template <class U>
void launch_merge_parts(LaunchChain &chain, const Problem<U> &problem, const PartsPlan &plan, unsigned char *workspace,
                        uint64_t rows, uint32_t warps) {
  Problem<U> whole = problem;
  whole.parts_of_row = plan.of_row;
  const PartsProblem<WidenedKey<U>> merged = {widened_problem(whole), workspace,
                                              reinterpret_cast<const uint32_t *>(workspace + plan.indices)};
  if (problem.k <= 32) return merge_as<1>(chain, merged, rows, warps);
  if (problem.k <= 64) return merge_as<2>(chain, merged, rows, warps);
  merge_as<4>(chain, merged, rows, warps);
}

template void launch_parts(LaunchChain &, const Problem<uint8_t> &, const PartsPlan &, unsigned char *, uint64_t);
template void launch_parts(LaunchChain &, const Problem<uint16_t> &, const PartsPlan &, unsigned char *, uint64_t);
template void launch_parts(LaunchChain &, const Problem<uint32_t> &, const PartsPlan &, unsigned char *, uint64_t);
template void launch_parts(LaunchChain &, const Problem<uint64_t> &, const PartsPlan &, unsigned char *, uint64_t);
template void launch_merge_parts(LaunchChain &, const Problem<uint8_t> &, const PartsPlan &, unsigned char *, uint64_t,
                                 uint32_t);
template void launch_merge_parts(LaunchChain &, const Problem<uint16_t> &, const PartsPlan &, unsigned char *, uint64_t,
                                 uint32_t);
template void launch_merge_parts(LaunchChain &, const Problem<uint32_t> &, const PartsPlan &, unsigned char *, uint64_t,
                                 uint32_t);
template void launch_merge_parts(LaunchChain &, const Problem<uint64_t> &, const PartsPlan &, unsigned char *, uint64_t,
                                 uint32_t);

}  // namespace gsort_internal::topk
