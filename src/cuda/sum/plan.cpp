// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/sum/plan.h"

#include <cstdio>

#include "core/dtype.h"
#include "core/slices.h"

namespace gsort_internal::sum {
namespace {

void choose_blocks(uint64_t bytes, const DeviceFacts &device, Plan &plan) {
  using T = Tuning;
  const uint32_t tile_bytes = T::tile_bytes(plan.threads);
  const uint64_t tiles = bytes / tile_bytes + (bytes % tile_bytes != 0 ? 1 : 0);
  plan.scope = Scope::kBlock;
  plan.blocks = 1;
  if (tiles <= 1) return;
  if (device.clusters() && tiles <= T::kClusterBlocksMax) {
    // One tile a block: with two, a memset and a grid are as quick.
    plan.scope = Scope::kCluster;
    plan.blocks = 2;
    while (plan.blocks < tiles && plan.blocks < T::kClusterBlocksMax) plan.blocks *= 2;
    return;
  }
  if (tiles <= T::kBlockTilesMax) return;
  uint64_t blocks = uint64_t{device.multiprocessors} * T::kBlocksPerMultiprocessor;
  if (blocks > T::kBlocksMax) blocks = T::kBlocksMax;
  if (blocks > tiles) blocks = tiles;
  plan.scope = Scope::kGrid;
  plan.blocks = static_cast<uint32_t>(blocks);
}

}  // namespace

Plan make_plan(const Request &request, const DeviceFacts &device) {
  Plan plan{};
  const bool doubles = request.order.dtype == GSORT_F64 && sums(request);
  plan.threads = doubles ? DoubleTuning::kThreads : Tuning::kThreads;
  plan.shared_bytes = doubles ? DoubleTuning::kSharedBytes : 0;
  choose_blocks(request.n * dtype_bytes(request.order.dtype), device, plan);
  SliceCounter slices;
  plan.counters = slices.take(kCountersBytes);
  plan.extremes = slices.take(uint64_t{Tuning::kBlocksMax} * kExtremeBytes);
  plan.workspace_bytes = slices.bytes();
  return plan;
}

void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes) {
  std::snprintf(text, text_bytes, "reduce: %llu x %s by %s of %u blocks", static_cast<unsigned long long>(request.n),
                dtype_facts(request.order.dtype).name, scope_name(plan.scope), plan.blocks);
}

}  // namespace gsort_internal::sum
