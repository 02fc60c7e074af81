// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/lanes.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {
namespace {

template <uint32_t kLanes, uint32_t kRegisters, class Key>
bool launch_as(const LaunchContext &context, const WidenedProblem<Key> &problem, const LanesPlan &plan) {
  if (plan.lanes != kLanes || plan.registers != kRegisters) return false;
  constexpr uint32_t rows = kLanesThreads / kLanes;
  const uint32_t blocks = static_cast<uint32_t>((problem.rows + rows - 1) / rows);
  launch_kernel(context, "top-k by lanes", {blocks, kLanesThreads}, topk_lanes_kernel<Key, kLanes, kRegisters>,
                problem);
  return true;
}

}  // namespace

template <class U>
void launch_lanes(const LaunchContext &context, const Problem<U> &problem, const LanesPlan &plan) {
  const WidenedProblem<WidenedKey<U>> widened = widened_problem(problem);
  if constexpr (sizeof(U) == 8)
    launch_as<8, 8>(context, widened, plan) || launch_as<16, 8>(context, widened, plan) ||
        launch_as<32, 8>(context, widened, plan) || launch_as<32, 16>(context, widened, plan) ||
        launch_as<32, 32>(context, widened, plan);
  else
    launch_as<8, 8>(context, widened, plan) || launch_as<16, 8>(context, widened, plan) ||
        launch_as<16, 16>(context, widened, plan) || launch_as<32, 16>(context, widened, plan) ||
        launch_as<32, 32>(context, widened, plan);
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
