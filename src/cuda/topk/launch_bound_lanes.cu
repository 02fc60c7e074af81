// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/bound_lanes.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {
namespace {

template <uint32_t kRegisters, uint32_t kGroups, class U>
void launch_as(LaunchChain &chain, const Problem<U> &problem, const BoundLanesPlan &plan, uint64_t rows) {
  if (plan.registers != kRegisters || plan.groups != kGroups) return;
  chain(topk_bound_lanes_kernel<BoundRow<WidenedKey<U>, kRegisters, kGroups>>, "top-k by bound lanes",
        blocks_of_rows(rows, kLanesThreads / 32), kLanesThreads, 0, widened_problem(problem));
}

}  // namespace

template <class U>
void launch_bound_lanes(LaunchChain &chain, const Problem<U> &problem, const BoundLanesPlan &plan, uint64_t rows) {
  launch_as<16, 4>(chain, problem, plan, rows);
  launch_as<16, 8>(chain, problem, plan, rows);
  launch_as<32, 4>(chain, problem, plan, rows);
  launch_as<32, 8>(chain, problem, plan, rows);
}

template void launch_bound_lanes(LaunchChain &, const Problem<uint8_t> &, const BoundLanesPlan &, uint64_t);
template void launch_bound_lanes(LaunchChain &, const Problem<uint16_t> &, const BoundLanesPlan &, uint64_t);
template void launch_bound_lanes(LaunchChain &, const Problem<uint32_t> &, const BoundLanesPlan &, uint64_t);
template void launch_bound_lanes(LaunchChain &, const Problem<uint64_t> &, const BoundLanesPlan &, uint64_t);

}  // namespace gsort_internal::topk
