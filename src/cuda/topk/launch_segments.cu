// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of ragged rows. The host knows neither lengths nor how many rows are of which kind: each kernel finds its rows.
#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/engine/launch_chain.h"
#include "cuda/topk/launch.h"
#include "cuda/topk/problem.h"
#include "cuda/topk/ragged.cuh"

namespace gsort_internal::topk {
namespace {

Ragged ragged_of(const Request &request, const RaggedLayout &layout, unsigned char *workspace, uint32_t *error) {
  Ragged ragged{};
  ragged.offsets = request.offsets;
  ragged.error = error;
  ragged.elements = request.n;
  ragged.counters = reinterpret_cast<unsigned long long *>(workspace);
  for (uint32_t i = 0; i < 3; ++i) {
    ragged.lists[i] = reinterpret_cast<uint64_t *>(workspace + layout.lists[i]);
    ragged.capacity[i] = layout.capacity[i];
  }
  return ragged;
}

void list_rows(LaunchChain &chain, const Ragged &ragged, const RaggedPlan &plan, uint64_t rows, uint64_t k,
               const Notice *notice) {
  constexpr const char *kName = "top-k of segments: list of rows";
  if (notice != nullptr)
    return chain(topk_list_few_rows_kernel, kName, 1, kListAloneThreads, 0, ragged, static_cast<uint32_t>(rows), k,
                 *notice);
  const cudaStream_t stream = chain.context.stream;
  cuda_check(cudaMemsetAsync(ragged.error, 0, sizeof *ragged.error, stream), "cudaMemsetAsync(error)");
  cuda_check(cudaMemsetAsync(ragged.counters, 0, kRaggedCounters * sizeof *ragged.counters, stream),
             "cudaMemsetAsync(counters)");
  chain(topk_list_rows_kernel, kName, plan.list_blocks, kListThreads, 0, ragged, rows, k);
}

// Those that a warp does each.
template <class U>
void launch_short_rows(LaunchChain &chain, const Problem<U> &problem, const RaggedPlan &plan) {
  if constexpr (sizeof(U) <= 4) {
    if (plan.lanes) return launch_ragged_lanes<U>(chain, problem);
  }
  launch_warp<U>(chain, problem, kWarpItemsMax);
}

// Whether the kernels of blocks and of teams have rows, or may have some, for all the host knows.
struct RowsLeft {
  bool for_blocks, for_team;
};

// Waits for the notice, if there is one.
RowsLeft rows_left(const LaunchContext &context, const RaggedPlan &plan, const Notice *notice) {
  if (notice == nullptr) return {plan.rows_may_be_for_blocks, plan.rows_may_be_for_team};
  notice->wait(context.stream);
  if (notice->word(1) != 0) return {false, false};
  const uint64_t of_blocks = notice->word(2), longer = notice->word(3), of_team = notice->word(4);
  const bool many_long = long_rows_by_blocks(longer, 0);
  return {of_blocks != 0 || many_long, of_team != 0 || (longer != 0 && !many_long)};
}

template <class U>
Problem<U> problem_of(const Request &request, const RaggedPlan &plan, unsigned char *workspace, uint32_t *error) {
  Problem<U> problem{};
  problem.in = static_cast<const U *>(request.in);
  problem.rows = request.segments, problem.k = request.k;
  problem.index_bits = sizeof(U) == 8 ? 64 : 32;
  problem.codec = make_codec<U>(request.order);
  problem.output = {static_cast<U *>(request.out), request.indices_out, 0};
  if (request.indices_out != nullptr) problem.output.index_bytes = dtype_bytes(request.index_t);
  problem.ragged = ragged_of(request, plan.layout, workspace, error);
  problem.ragged.block_k_max = rows_k_max(plan.rows.threads);
  problem.ragged.scanned_items_max = scanned_items_max(plan.scan);
  problem.ragged.rows_at_once = plan.rows_at_once;
  problem.ragged.some = plan.some;
  return problem;
}

template <class U>
void launch_as(const LaunchContext &context, const Request &request, const RaggedPlan &plan, unsigned char *workspace,
               uint32_t *error, const Notice *notice) {
  const Problem<U> problem = problem_of<U>(request, plan, workspace, error);
  LaunchChain chain = {context, true};
  list_rows(chain, problem.ragged, plan, request.segments, request.k, notice);
  launch_short_rows<U>(chain, problem, plan);
  if (plan.scan.threads != 0) launch_ragged_scan<U>(chain, problem, plan.scan);
  const RowsLeft left = rows_left(context, plan, notice);
  if (left.for_blocks && plan.stream.threads != 0)
    launch_ragged_stream<U>(chain, problem, plan.stream);
  else if (left.for_blocks)
    launch_rows<U>(chain, problem, plan.rows);
  if (!left.for_team) return;
  TeamArgs<U> args{};
  args.problem = problem;
  args.problem.index_bits = index_bits_of(plan.whole);
  args.plan = plan.team;
  args.layout = plan.team_layout;
  args.workspace = workspace + plan.layout.team;
  launch_team<U>(context, args, plan.team_composite_bytes);
}

}  // namespace

bool launch_segments(const LaunchContext &context, const Request &request, void *workspace, uint32_t *error_out,
                     const Notice *notice) {
  if (request.segments == 0 || request.k == 0) {
    cuda_check(cudaMemsetAsync(error_out, 0, sizeof *error_out, context.stream), "cudaMemsetAsync(error)");
    return false;
  }
  const RaggedPlan plan = make_ragged_plan(request, *context.device);
  log_plan(context, request, plan);
  if (!plan.tells_host) notice = nullptr;
  with_width(dtype_bytes(request.order.dtype), [&](auto tag) {
    launch_as<typename decltype(tag)::type>(context, request, plan, static_cast<unsigned char *>(workspace), error_out,
                                            notice);
  });
  return notice != nullptr;
}

}  // namespace gsort_internal::topk
