// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k on device memory: the planned algorithm, and that of large k (exact selection, then a sort of pairs).
#include "core/dtype.h"
#include "cuda/engine/launcher.h"
#include "cuda/sort/launch.h"
#include "cuda/topk/common.cuh"
#include "cuda/topk/launch.h"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {
namespace {

// ---- large k ----

constexpr uint32_t kTakeThreads = 256;

uint32_t take_blocks(uint64_t items) {
  return static_cast<uint32_t>(min_of((items + kTakeThreads - 1) / kTakeThreads, 4096));
}

// Either output may be NULL.
template <class U, class From, class To>
__global__ __launch_bounds__(kTakeThreads) void topk_take_kernel(const U *keys, U *values, const From *from, To *to,
                                                                 uint64_t n) {
  for (uint64_t i = blockIdx.x * uint64_t{kTakeThreads} + threadIdx.x; i < n; i += uint64_t{gridDim.x} * kTakeThreads) {
    if (values != nullptr) values[i] = keys[i];
    if (to != nullptr) to[i] = static_cast<To>(from[i]);
  }
}

template <class U, class From, class To>
void take_as(const LaunchContext &context, const U *keys, U *values, const void *from, void *to, uint64_t n) {
  launch_kernel(context, "top-k: take", {take_blocks(n), kTakeThreads}, topk_take_kernel<U, From, To>, keys, values,
                static_cast<const From *>(from), static_cast<To *>(to), n);
}

template <class U>
void take(const LaunchContext &context, const U *keys, U *values, const void *from, uint32_t from_bytes, void *to,
          uint32_t to_bytes, uint64_t n) {
  if (from_bytes == 8)
    take_as<U, uint64_t, uint64_t>(context, keys, values, from, to, n);
  else if (to_bytes == 8)
    take_as<U, uint32_t, uint64_t>(context, keys, values, from, to, n);
  else
    take_as<U, uint32_t, uint32_t>(context, keys, values, from, to, n);
}

// Leaves the best k of the row, in the order of the input, in the workspace.
template <class U>
void select_for_sort(const LaunchContext &context, const Problem<U> &row, const Plan &plan, unsigned char *workspace) {
  TeamArgs<U> args{};
  args.problem = row;
  args.plan = plan.team;
  args.layout = plan.team_layout;
  args.workspace = workspace + plan.sort.rest;
  args.split_keys = reinterpret_cast<U *>(workspace + plan.sort.keys);
  args.split_indices = row.output.indices != nullptr ? workspace + plan.sort.indices : nullptr;
  args.split_index_bytes = plan.sort.index_bytes;
  launch_team<U>(context, args, plan.composite_bytes);
}

constexpr uint64_t kCountedAlone = uint64_t{1} << 21;

template <class U>
void sort_row(const LaunchContext &context, const Problem<U> &row, const KeyOrder &order, const Plan &plan,
              unsigned char *workspace) {
  const SortStep &step = plan.sort;
  const Output<U> &output = row.output;
  const uint64_t k = plan.shape.k;
  // Many keys of 2 bytes alone are counted by value, which takes long where most are equal; with indices they are not.
  const bool counted = sizeof(U) == 2 && step.all && step.items >= kCountedAlone;
  const bool pairs = output.indices != nullptr || counted, exact = step.items == k;
  Request sort = sort_request(plan, order, pairs);
  U *const keys = reinterpret_cast<U *>(workspace + step.keys);
  void *const indices = workspace + step.indices;
  // Of all keys the sort makes the indices itself.
  sort.in = row.in;
  if (!step.all) {
    select_for_sort<U>(context, row, plan, workspace);
    sort.in = keys;
    sort.values_in = pairs ? indices : nullptr;
  }
  sort.out = exact && output.values != nullptr ? output.values : keys;
  const bool direct = exact && output.indices != nullptr && output.index_bytes == step.index_bytes;
  if (pairs) sort.values_out = direct ? output.indices : indices;
  sort::launch(context, sort, workspace + step.rest);
  U *const values = sort.out != output.values ? output.values : nullptr;
  void *const taken = pairs && !direct ? output.indices : nullptr;
  if (values == nullptr && taken == nullptr) return;
  take<U>(context, keys, values, indices, step.index_bytes, taken, output.index_bytes, k);
}

constexpr uint32_t kWriteThreads = 256;

template <class U>
__global__ __launch_bounds__(kWriteThreads) void topk_write_kernel(const __grid_constant__ Problem<U> problem,
                                                                   const uint64_t *sorted) {
  const uint64_t i = blockIdx.x * uint64_t{kWriteThreads} + threadIdx.x;
  if (i >= problem.k) return;
  const uint64_t item = sorted[i];
  write_element(problem.output, i, problem.codec.decode(static_cast<U>(item >> problem.index_bits)),
                item & ((uint64_t{1} << problem.index_bits) - 1));
}

// One row: a team lists few more than the best k, and a sort of the composites of key and index puts them in order.
template <class U>
void select_and_sort(const LaunchContext &context, const Problem<U> &problem, const Plan &plan,
                     unsigned char *workspace) {
  TeamArgs<U> args{};
  args.problem = problem;
  args.plan = plan.team;
  args.layout = plan.team_layout;
  args.workspace = workspace;
  args.listed = plan.select.items;
  launch_team<U>(context, args, plan.composite_bytes);
  const uint64_t *const sorted = reinterpret_cast<const uint64_t *>(workspace + plan.select.sorted);
  Request sort = composite_sort_request(plan.select.items);
  sort.in = workspace + plan.team_layout.list_b;
  sort.out = workspace + plan.select.sorted;
  sort::launch(context, sort, workspace + plan.select.rest);
  const uint32_t blocks = static_cast<uint32_t>((problem.k + kWriteThreads - 1) / kWriteThreads);
  launch_kernel(context, "top-k: write", {blocks, kWriteThreads}, topk_write_kernel<U>, problem, sorted);
}

// The rows one after the other.
template <class U>
void sort_rows(const LaunchContext &context, const Problem<U> &problem, const KeyOrder &order, const Plan &plan,
               unsigned char *workspace) {
  for (uint64_t r = 0; r < problem.rows; ++r) {
    Problem<U> row = problem;
    row.rows = 1;
    row.in = problem.in + r * problem.row_stride;
    if (row.output.values != nullptr) row.output.values += r * problem.k;
    if (row.output.indices != nullptr)
      row.output.indices = static_cast<unsigned char *>(row.output.indices) + r * problem.k * row.output.index_bytes;
    sort_row<U>(context, row, order, plan, workspace);
  }
}

// ---- all algorithms ----

template <class U>
Problem<U> problem_of(const Request &request, const Plan &plan) {
  Problem<U> problem{};
  problem.in = static_cast<const U *>(request.in);
  problem.rows = plan.shape.rows, problem.columns = plan.shape.columns, problem.k = plan.shape.k;
  problem.row_stride = request.operation == Operation::kTopkRows ? request.row_stride : plan.shape.columns;
  problem.index_bits = plan.index_bits;
  problem.codec = make_codec<U>(request.order);
  problem.output = {static_cast<U *>(request.out), request.indices_out, 0};
  if (request.indices_out != nullptr) problem.output.index_bytes = dtype_bytes(request.index_t);
  return problem;
}

template <class U>
void launch_as(const LaunchContext &context, const Request &request, const Plan &plan, unsigned char *workspace) {
  const Problem<U> problem = problem_of<U>(request, plan);
  LaunchChain chain = {context, true};
  switch (plan.algorithm) {
    case Algorithm::kBest:
      return launch_best<U>(context, problem, plan.best, workspace);
    case Algorithm::kLanes:
      return launch_lanes<U>(chain, problem, plan.lanes, problem.rows);
    case Algorithm::kSortedLanes:
      return launch_sorted_lanes<U>(context, problem, plan.sorted_lanes);
    case Algorithm::kBoundLanes:
      return launch_bound_lanes<U>(chain, problem, plan.bound_lanes, problem.rows);
    case Algorithm::kBoundRows:
      return launch_bound_rows<U>(chain, problem, plan.bound_rows, problem.rows);
    case Algorithm::kParts:
      launch_parts<U>(chain, problem, plan.parts, workspace, problem.rows * plan.parts.of_row);
      return launch_merge_parts<U>(chain, problem, plan.parts, workspace, problem.rows, merge_warps(plan.parts.of_row));
    case Algorithm::kStream:
      return launch_stream<U>(context, problem, plan.stream);
    case Algorithm::kWarp:
      return launch_warp<U>(chain, problem, static_cast<uint32_t>(problem.columns));
    case Algorithm::kRows:
      return launch_rows<U>(chain, problem, plan.rows);
    case Algorithm::kTile:
      if constexpr (sizeof(U) >= 2) return launch_tile<U>(context, problem, plan.tile_threads);
      break;
    case Algorithm::kBuckets:
      if constexpr (sizeof(U) >= 4) return launch_buckets<U>(context, problem, plan.buckets, workspace);
      break;
    case Algorithm::kSelect:
      return select_and_sort<U>(context, problem, plan, workspace);
    case Algorithm::kSort:
      return sort_rows<U>(context, problem, request.order, plan, workspace);
    case Algorithm::kTeam:
      break;
  }
  TeamArgs<U> args{};
  args.problem = problem;
  args.plan = plan.team;
  args.layout = plan.team_layout;
  args.workspace = workspace;
  launch_team<U>(context, args, plan.composite_bytes);
}

}  // namespace

void launch(const LaunchContext &context, const Request &request, void *workspace, const Options &options) {
  const Plan plan = make_plan(request, *context.device, options);
  if (plan.shape.k == 0 || plan.shape.columns == 0 || plan.shape.rows == 0) return;
  log_plan(context, request, plan);
  with_width(plan.shape.key_bytes, [&](auto tag) {
    launch_as<typename decltype(tag)::type>(context, request, plan, static_cast<unsigned char *>(workspace));
  });
}

}  // namespace gsort_internal::topk
