// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/bound_lanes.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {
namespace {

template <uint32_t kRegisters, uint32_t kGroups, class Key>
void launch_as(const LaunchContext &context, const WidenedProblem<Key> &problem, const BoundLanesPlan &plan) {
  if (plan.registers != kRegisters || plan.groups != kGroups) return;
  constexpr uint32_t rows = kLanesThreads / 32;
  const uint32_t blocks = static_cast<uint32_t>((problem.rows + rows - 1) / rows);
  launch_kernel(context, "top-k by bound lanes", {blocks, kLanesThreads},
                topk_bound_lanes_kernel<BoundRow<Key, kRegisters, kGroups>>, problem);
}

}  // namespace

template <class U>
void launch_bound_lanes(const LaunchContext &context, const Problem<U> &problem, const BoundLanesPlan &plan) {
  const WidenedProblem<WidenedKey<U>> widened = widened_problem(problem);
  launch_as<16, 4>(context, widened, plan);
  launch_as<32, 4>(context, widened, plan);
  launch_as<32, 8>(context, widened, plan);
}

template void launch_bound_lanes(const LaunchContext &, const Problem<uint8_t> &, const BoundLanesPlan &);
template void launch_bound_lanes(const LaunchContext &, const Problem<uint16_t> &, const BoundLanesPlan &);
template void launch_bound_lanes(const LaunchContext &, const Problem<uint32_t> &, const BoundLanesPlan &);
template void launch_bound_lanes(const LaunchContext &, const Problem<uint64_t> &, const BoundLanesPlan &);

}  // namespace gsort_internal::topk
