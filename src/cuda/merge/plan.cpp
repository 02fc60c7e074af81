// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/merge/plan.h"

#include <algorithm>
#include <cstdio>

#include "core/dtype.h"
#include "core/slices.h"

namespace gsort_internal::merge {

Plan make_plan(const Request &request, const DeviceFacts &device) {
  using T = Tuning;
  const uint32_t key_bytes = dtype_bytes(request.order.dtype);
  Plan plan{};
  plan.tiles = parts_of(request.n + request.b_n, tile_keys(key_bytes));
  plan.groups = parts_of(plan.tiles, T::kWarps);
  // Few tiles are spread over all multiprocessors before one takes two.
  const uint64_t each = parts_of(plan.tiles, device.multiprocessors);
  plan.warps = static_cast<uint32_t>(std::clamp<uint64_t>(each, 1, T::kFewWarps));
  const uint64_t resident = uint64_t{device.multiprocessors} * T::kFewBlocksPerMultiprocessor;
  const uint64_t blocks = std::min(parts_of(plan.tiles, plan.warps), resident);
  plan.way = plan.tiles <= blocks * plan.warps * T::kFewTilesEach ? Algorithm::kFew : Algorithm::kGroups;
  plan.blocks = static_cast<uint32_t>(blocks);
  if (plan.way == Algorithm::kGroups) plan.warps = T::kWarps, plan.blocks = static_cast<uint32_t>(plan.groups);
  plan.shared_bytes = plan.warps * room_bytes(key_bytes);
  SliceCounter slices;
  plan.counters = slices.take(kCountersBytes);
  plan.verdict = slices.take(sizeof(uint32_t));
  plan.borders = slices.take((plan.groups + 1) * sizeof(uint64_t));
  plan.workspace_bytes = slices.bytes();
  return plan;
}

void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes) {
  std::snprintf(text, text_bytes, "merge: %llu + %llu x %s in %llu tiles of %u, %s of %u blocks of %u warps",
                static_cast<unsigned long long>(request.n), static_cast<unsigned long long>(request.b_n),
                dtype_facts(request.order.dtype).name, static_cast<unsigned long long>(plan.tiles),
                tile_keys(dtype_bytes(request.order.dtype)), plan.way == Algorithm::kFew ? "one grid" : "in groups",
                plan.blocks, plan.warps);
}

}  // namespace gsort_internal::merge
