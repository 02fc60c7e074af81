// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/topk/ragged_plan.h"

#include <cstdio>

#include "core/dtype.h"

namespace gsort_internal::topk {

RaggedPlan make_ragged_plan(const Request &request, const DeviceFacts &device) {
  RaggedPlan plan{};
  plan.whole = {1, request.n, min_of(request.k, request.n), dtype_bytes(request.order.dtype)};
  if (request.segments == 0 || request.k == 0) {
    plan.workspace_bytes = slice_bytes(kRaggedCounters * 8);
    return plan;
  }
  plan.layout = ragged_layout(plan.whole, request.segments);
  plan.workspace_bytes = request.n == 0 ? plan.layout.lists[0] : plan.layout.bytes;  // counters alone
  plan.list_blocks = static_cast<uint32_t>(
      min_of((request.segments + kListThreads - 1) / kListThreads, uint64_t{device.multiprocessors} * 16));
  plan.listed_alone = request.segments <= kListAloneMax;
  plan.short_items_max = ragged_short_items_max(request.k, device);
  plan.listed_items_max = ragged_listed_items_max(request.k, plan.whole.key_bytes, device);
  plan.rows_at_once = ragged_rows_at_once(request.segments, plan.whole, request.k, device);
  plan.stream = plan_ragged_stream(request.segments, plan.whole, request.k, device);
  plan.rows = plan_ragged_rows(request.segments, plan.whole, device);
  plan.rows_may_be_for_blocks =
      plan.listed_items_max != 0 ? plan.whole.columns > plan.listed_items_max : plan.layout.capacity[kListBlocks] != 0;
  plan.rows_may_be_for_team = plan.layout.capacity[kListLong] != 0 || plan.whole.k > rows_k_max(plan.rows.threads);
  plan.team = plan_ragged_team(plan.whole, device);
  plan.team_layout = team_layout(plan.whole, false);
  plan.team_composite_bytes = composite_bytes_of(plan.whole);
  return plan;
}

void describe(const Request &request, const RaggedPlan &, char *text, size_t text_bytes) {
  std::snprintf(text, text_bytes,
                "top-k of segments: %llu rows of %llu elements in all, k = %llu: up to %u elements and k = %u by a "
                "warp, up to %llu by a block, more by all blocks",
                static_cast<unsigned long long>(request.segments), static_cast<unsigned long long>(request.n),
                static_cast<unsigned long long>(request.k), kWarpItemsMax, kWarpSortMax,
                static_cast<unsigned long long>(kRaggedLong));
}

}  // namespace gsort_internal::topk
