// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/problem.h"
#include "cuda/topk/tile.cuh"

namespace gsort_internal::topk {
namespace {

template <uint32_t kThreads, class U>
void launch_tile_as(const LaunchContext &context, const Problem<U> &problem, uint32_t threads) {
  static_assert(tile_serves(sizeof(U)), "");
  constexpr uint32_t kSharedBytes = sizeof(TileStorage<TileShape<U, kThreads>>);
  static_assert(kSharedBytes <= tile_bytes(kThreads, sizeof(U)), "the plan counts with this size");
  if (threads != kThreads) return;
  launch_kernel(context, "top-k by tiles", {static_cast<uint32_t>(problem.rows), kThreads, kSharedBytes},
                topk_tile_kernel<U, kThreads>, problem);
}

}  // namespace

template <class U>
void launch_tile(const LaunchContext &context, const Problem<U> &problem, uint32_t threads) {
  launch_tile_as<kTileThreads[0]>(context, problem, threads);
  launch_tile_as<kTileThreads[1]>(context, problem, threads);
}

template void launch_tile(const LaunchContext &, const Problem<uint16_t> &, uint32_t);
template void launch_tile(const LaunchContext &, const Problem<uint32_t> &, uint32_t);
template void launch_tile(const LaunchContext &, const Problem<uint64_t> &, uint32_t);

}  // namespace gsort_internal::topk
