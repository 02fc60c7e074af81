// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of ragged rows. The host knows neither lengths nor how many rows are of which kind: each kernel finds its rows.
#include "cuda/engine/check.h"
#include "cuda/engine/launch.h"
#include "cuda/topk/launch.h"
#include "cuda/topk/ragged.cuh"

namespace gsort_internal {
namespace {

// All elements as one row: what bounds the workspace.
TopkShape whole_of(const Request &request) {
  return {1, request.n, topk_min(request.k, request.n), dtype_bytes(request.order.dtype)};
}

TopkRagged ragged_of(const Request &request, const TopkRaggedLayout &layout, unsigned char *workspace,
                     uint32_t *error) {
  TopkRagged ragged{};
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

void list_rows(const LaunchContext &context, const TopkRagged &ragged, uint64_t rows, uint64_t k) {
  cuda_check(cudaMemsetAsync(ragged.counters, 0, kTopkRaggedCounters * sizeof *ragged.counters, context.stream),
             "cudaMemsetAsync(counters)");
  const uint64_t blocks =
      topk_min((rows + kTopkListThreads - 1) / kTopkListThreads, uint64_t{context.device->multiprocessors} * 16);
  topk_list_rows_kernel<<<static_cast<uint32_t>(blocks), kTopkListThreads, 0, context.stream>>>(ragged, rows, k);
  check_launch("top-k of segments: list of rows");
}

// The plan of the blocks that do one long row after the other; each row's sample is found when it is its turn.
TopkTeamPlan ragged_team_plan(const TopkShape &whole, const TopkDevice &device) {
  TopkTeamPlan plan = topk_plan_team(whole, device);
  plan.teams = 1;
  plan.blocks = static_cast<uint32_t>(topk_min(device.multiprocessors, kTopkTeamBlocksMax));
  plan.sample = {0, 0};
  plan.cluster = false;
  plan.group_lanes = 0, plan.groups = kTopkSampleGroups;
  plan.tile_vectors = kTopkVectorsThread;
  plan.count_items = topk_count_items(plan, whole.k);
  return plan;
}

template <class U>
void launch_as(const LaunchContext &context, const Request &request, unsigned char *workspace, uint32_t *error) {
  const TopkShape whole = whole_of(request);
  const TopkDevice device = topk_device(*context.device);
  const TopkRaggedLayout layout = topk_ragged_layout(whole, request.segments);
  TopkPlan plan{};
  plan.rows = topk_plan_ragged_rows(whole, device);
  plan.composite_bytes = sizeof(U) == 8 ? 16 : 8;  // of rows that blocks do: shorter than 2^31

  TopkProblem<U> problem{};
  problem.in = static_cast<const U *>(request.in);
  problem.rows = request.segments, problem.k = request.k;
  problem.index_bits = sizeof(U) == 8 ? 64 : 32;
  problem.codec = make_codec<U>(request.order);
  problem.output = {static_cast<U *>(request.out), request.indices_out, 0};
  if (request.indices_out != nullptr) problem.output.index_bytes = dtype_bytes(request.index_t);
  problem.ragged = ragged_of(request, layout, workspace, error);
  problem.ragged.block_k_max = plan.rows.sorted_items;

  list_rows(context, problem.ragged, request.segments, request.k);
  launch_topk_warp<U>(context, problem, kTopkWarpItemsMax);
  if (layout.capacity[0] != 0) launch_topk_rows<U>(context, problem, plan);
  if (layout.capacity[1] == 0 && whole.k <= problem.ragged.block_k_max) return;
  TopkTeamArgs<U> args{};
  args.problem = problem;
  args.problem.index_bits = topk_index_bits(whole);
  args.plan = ragged_team_plan(whole, device);
  args.layout = topk_team_layout(whole, false);
  args.workspace = workspace + layout.team;
  launch_topk_team<U>(context, args, topk_composite_bytes(whole));
}

}  // namespace

uint64_t topk_segments_workspace_bytes(const Request &shape) {
  if (shape.n == 0 || shape.k == 0 || shape.segments == 0) return topk_round(kTopkRaggedCounters * 8);
  return topk_ragged_layout(whole_of(shape), shape.segments).bytes;
}

void launch_topk_segments(const LaunchContext &context, const Request &request, void *workspace, uint32_t *error_out) {
  cuda_check(cudaMemsetAsync(error_out, 0, sizeof *error_out, context.stream), "cudaMemsetAsync(error)");
  if (request.segments == 0 || request.k == 0) return;
  if (context.control != nullptr && context.control->has_log())
    context.control->log(
        "top-k of segments: %llu rows of %llu elements in all, k = %llu: up to %u elements and k = %u by a warp, up to "
        "%llu by a block, more by all blocks",
        static_cast<unsigned long long>(request.segments), static_cast<unsigned long long>(request.n),
        static_cast<unsigned long long>(request.k), kTopkWarpItemsMax, kTopkWarpSortMax,
        static_cast<unsigned long long>(kTopkRaggedLong));
  with_width(dtype_bytes(request.order.dtype), [&](auto tag) {
    launch_as<typename decltype(tag)::type>(context, request, static_cast<unsigned char *>(workspace), error_out);
  });
}

}  // namespace gsort_internal
