// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/lanes.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {
namespace {

template <uint32_t kLanes, uint32_t kRegisters, class U>
bool launch_as(LaunchChain &chain, const Problem<U> &problem, const LanesPlan &plan, uint64_t rows) {
  if (plan.lanes != kLanes || plan.registers != kRegisters) return false;
  chain(topk_lanes_kernel<WidenedKey<U>, kLanes, kRegisters>, "top-k by lanes",
        blocks_of_rows(rows, kLanesThreads / kLanes), kLanesThreads, 0, widened_problem(problem));
  return true;
}

}  // namespace

template <class U>
void launch_lanes(LaunchChain &chain, const Problem<U> &problem, const LanesPlan &plan, uint64_t rows) {
  if constexpr (sizeof(U) == 8)
    launch_as<8, 8>(chain, problem, plan, rows) || launch_as<16, 8>(chain, problem, plan, rows) ||
        launch_as<32, 8>(chain, problem, plan, rows) || launch_as<32, 16>(chain, problem, plan, rows) ||
        launch_as<32, 32>(chain, problem, plan, rows);
  else
    launch_as<8, 8>(chain, problem, plan, rows) || launch_as<16, 8>(chain, problem, plan, rows) ||
        launch_as<16, 16>(chain, problem, plan, rows) || launch_as<32, 16>(chain, problem, plan, rows) ||
        launch_as<32, 32>(chain, problem, plan, rows);
}

template void launch_lanes(LaunchChain &, const Problem<uint8_t> &, const LanesPlan &, uint64_t);
template void launch_lanes(LaunchChain &, const Problem<uint16_t> &, const LanesPlan &, uint64_t);
template void launch_lanes(LaunchChain &, const Problem<uint32_t> &, const LanesPlan &, uint64_t);
template void launch_lanes(LaunchChain &, const Problem<uint64_t> &, const LanesPlan &, uint64_t);

}  // namespace gsort_internal::topk
