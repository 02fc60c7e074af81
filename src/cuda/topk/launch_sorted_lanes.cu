// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/problem.h"
#include "cuda/topk/sorted_lanes.cuh"

namespace gsort_internal::topk {
namespace {

template <uint32_t kLanes, uint32_t kKeys, class Key>
void launch_as(const LaunchContext &context, const WidenedProblem<Key> &problem, const SortedLanesPlan &plan) {
  if (plan.lanes != kLanes || plan.keys != kKeys) return;
  launch_kernel(context, "top-k by sorted lanes",
                {blocks_of_rows(problem.rows, kSortedThreads / kLanes), kSortedThreads},
                topk_sorted_lanes_kernel<SortedRow<Key, kLanes, kKeys>>, problem);
}

}  // namespace

template <class U>
void launch_sorted_lanes(const LaunchContext &context, const Problem<U> &problem, const SortedLanesPlan &plan) {
  const WidenedProblem<WidenedKey<U>> widened = widened_problem(problem);
  launch_as<8, 8>(context, widened, plan);
  launch_as<8, 16>(context, widened, plan);
  if constexpr (sizeof(U) < 8) launch_as<16, 16>(context, widened, plan);
}

template void launch_sorted_lanes(const LaunchContext &, const Problem<uint8_t> &, const SortedLanesPlan &);
template void launch_sorted_lanes(const LaunchContext &, const Problem<uint16_t> &, const SortedLanesPlan &);
template void launch_sorted_lanes(const LaunchContext &, const Problem<uint32_t> &, const SortedLanesPlan &);
template void launch_sorted_lanes(const LaunchContext &, const Problem<uint64_t> &, const SortedLanesPlan &);

}  // namespace gsort_internal::topk
