// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/merge/plan.h"

#include <algorithm>
#include <cstdio>

#include "core/dtype.h"
#include "core/slices.h"

namespace gsort_internal::merge {

namespace {

bool ring_fits(uint32_t key_bytes, const DeviceFacts &device) {
  constexpr uint32_t kRingOwnBytes = 1024;  // more than its counts take
  return key_bytes >= Tuning::kRingKeyBytes && device.compute_capability >= 90 &&
         ring_bytes(key_bytes) + kRingOwnBytes <= device.shared_bytes_block_max;
}

// Few tiles are spread over all multiprocessors before one takes two.
void plan_few(const DeviceFacts &device, Plan &plan) {
  const uint64_t each = parts_of(plan.tiles, device.multiprocessors);
  plan.way = Algorithm::kFew;
  plan.warps = static_cast<uint32_t>(std::clamp<uint64_t>(each, 1, Tuning::kFewWarps));
  plan.blocks = static_cast<uint32_t>(parts_of(plan.tiles, plan.warps));
}

void plan_many(bool ring, const DeviceFacts &device, Plan &plan) {
  using T = Tuning;
  plan.way = ring ? Algorithm::kRing : Algorithm::kGroups;
  plan.warps = ring ? T::kRingWarps : T::kWarps;
  plan.groups = parts_of(plan.tiles, ring ? T::kRingTiles : T::kWarps);
  plan.misfits = ring ? plan.borders + (plan.groups + 1) * sizeof(uint64_t) : 0;
  plan.blocks = static_cast<uint32_t>(ring ? std::min<uint64_t>(plan.groups, device.multiprocessors) : plan.groups);
}

}  // namespace

Plan make_plan(const Request &request, const DeviceFacts &device) {
  const uint32_t key_bytes = dtype_bytes(request.order.dtype);
  Plan plan{};
  plan.tiles = parts_of(request.n + request.b_n, tile_keys(key_bytes));
  plan.groups = parts_of(plan.tiles, Tuning::kWarps);
  SliceCounter slices;
  plan.counters = slices.take(kCountersBytes);
  plan.between = slices.take(kBetweenBytes);
  plan.borders = slices.take((plan.groups + 1) * sizeof(uint64_t));  // of the smallest groups
  plan.workspace_bytes = slices.bytes();  // a ring's larger groups leave room for its misfits behind its borders
  if (plan.tiles <= uint64_t{device.multiprocessors} * Tuning::kFewTiles)
    plan_few(device, plan);
  else
    plan_many(ring_fits(key_bytes, device), device, plan);
  plan.shared_bytes = plan.way == Algorithm::kRing ? ring_bytes(key_bytes) : plan.warps * room_bytes(key_bytes);
  return plan;
}

void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes) {
  constexpr const char *kWays[] = {"one grid", "in groups", "in a ring"};
  std::snprintf(text, text_bytes, "merge: %llu + %llu x %s in %llu tiles of %u, %s of %u blocks of %u warps",
                static_cast<unsigned long long>(request.n), static_cast<unsigned long long>(request.b_n),
                dtype_facts(request.order.dtype).name, static_cast<unsigned long long>(plan.tiles),
                tile_keys(dtype_bytes(request.order.dtype)), kWays[static_cast<uint32_t>(plan.way)], plan.blocks,
                plan.warps);
}

}  // namespace gsort_internal::merge
