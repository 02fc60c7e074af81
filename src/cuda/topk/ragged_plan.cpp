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
  if (plan.layout.capacity[kListParts] != 0)
    plan.cut = ragged_cut_rows(request.segments, plan.whole, request.k, device);
  plan.parts = plan_parts_of(plan.layout.capacity[kListParts], plan.whole.k, plan.whole.key_bytes);
  plan.rows_at_once = ragged_rows_at_once(request.segments, plan.whole, request.k, device);
  plan.stream = plan_ragged_stream(request.segments, plan.whole, request.k, device);
  plan.rows = plan_ragged_rows(request.segments, plan.whole, device);
  const uint64_t n = plan.whole.columns, listed = plan.listed_items_max;
  if (listed == 0)
    plan.rows_may_be_for_blocks = plan.layout.capacity[kListBlocks] != 0;
  else
    plan.rows_may_be_for_blocks = n > (plan.cut.any && plan.cut.min == listed ? kPartsRowMax : listed);
  plan.rows_may_be_for_team =
      n > (plan.cut.any ? kPartsRowMax : kRaggedLong) || plan.whole.k > rows_k_max(plan.rows.threads);
  plan.team = plan_ragged_team(plan.whole, device);
  plan.team_layout = team_layout(plan.whole, false);
  plan.team_composite_bytes = composite_bytes_of(plan.whole);
  return plan;
}

void describe(const Request &request, const RaggedPlan &plan, char *text, size_t text_bytes) {
  char parts[64] = "";
  if (plan.cut.any)
    std::snprintf(parts, sizeof parts, ", of more than %llu in parts", static_cast<unsigned long long>(plan.cut.min));
  std::snprintf(text, text_bytes,
                "top-k of segments: %llu rows of %llu elements in all, k = %llu: up to %u elements and k = %u by a "
                "warp%s, up to %llu by a block, more by all blocks",
                static_cast<unsigned long long>(request.segments), static_cast<unsigned long long>(request.n),
                static_cast<unsigned long long>(request.k), kWarpItemsMax, kWarpSortMax, parts,
                static_cast<unsigned long long>(kRaggedLong));
}

}  // namespace gsort_internal::topk
