// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/lanes.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {
namespace {

template <class U, uint32_t kLanes, uint32_t kRegisters>
bool launch_as(const LaunchContext &context, const Problem<U> &problem, const LanesPlan &plan) {
  if (plan.lanes != kLanes || plan.registers != kRegisters) return false;
  constexpr uint32_t rows = kLanesThreads / kLanes;
  const uint32_t blocks = static_cast<uint32_t>((problem.rows + rows - 1) / rows);
  launch_kernel(context, "top-k by lanes", {blocks, kLanesThreads}, topk_lanes_kernel<U, kLanes, kRegisters>, problem);
  return true;
}

}  // namespace

template <class U>
void launch_lanes(const LaunchContext &context, const Problem<U> &problem, const LanesPlan &plan) {
  if constexpr (sizeof(U) == 8)
    launch_as<U, 8, 8>(context, problem, plan) || launch_as<U, 16, 8>(context, problem, plan) ||
        launch_as<U, 32, 8>(context, problem, plan) || launch_as<U, 32, 16>(context, problem, plan);
  else
    launch_as<U, 8, 8>(context, problem, plan) || launch_as<U, 16, 8>(context, problem, plan) ||
        launch_as<U, 16, 16>(context, problem, plan) || launch_as<U, 32, 16>(context, problem, plan) ||
        launch_as<U, 32, 32>(context, problem, plan);
}

template <class U>
void launch_ragged_lanes(LaunchChain &chain, const Problem<U> &problem) {
  chain(topk_ragged_lanes_kernel<U>, "top-k of segments by lanes", blocks_by_warps(problem, kLanesThreads / 32),
        kLanesThreads, 0, problem);
}

template void launch_lanes(const LaunchContext &, const Problem<uint8_t> &, const LanesPlan &);
template void launch_lanes(const LaunchContext &, const Problem<uint16_t> &, const LanesPlan &);
template void launch_lanes(const LaunchContext &, const Problem<uint32_t> &, const LanesPlan &);
template void launch_lanes(const LaunchContext &, const Problem<uint64_t> &, const LanesPlan &);
template void launch_ragged_lanes(LaunchChain &, const Problem<uint8_t> &);
template void launch_ragged_lanes(LaunchChain &, const Problem<uint16_t> &);
template void launch_ragged_lanes(LaunchChain &, const Problem<uint32_t> &);

}  // namespace gsort_internal::topk
