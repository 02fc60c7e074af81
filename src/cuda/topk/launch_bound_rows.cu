// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/bound_rows.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {
namespace {

template <uint32_t kWarps, uint32_t kGroups, uint32_t kPlaces, class Key>
bool launch_as(const LaunchContext &context, const WidenedProblem<Key> &problem, const BoundRowsPlan &plan) {
  using Block = BoundBlock<Key, kWarps, kGroups, kPlaces>;
  if (plan.warps != kWarps || plan.groups != kGroups || plan.places != kPlaces) return false;
  launch_kernel(context, "top-k by bound rows", {static_cast<uint32_t>(problem.rows), Block::kThreads},
                topk_bound_rows_kernel<Block>, problem);
  return true;
}

}  // namespace

template <class U>
void launch_bound_rows(const LaunchContext &context, const Problem<U> &problem, const BoundRowsPlan &plan) {
  const WidenedProblem<WidenedKey<U>> widened = widened_problem(problem);
  launch_as<2, 2, 256>(context, widened, plan) || launch_as<2, 4, 256>(context, widened, plan) ||
      launch_as<4, 2, 256>(context, widened, plan) || launch_as<4, 4, 512>(context, widened, plan);
  if constexpr (sizeof(U) < 8)
    launch_as<8, 2, 256>(context, widened, plan) || launch_as<8, 2, 512>(context, widened, plan);
}

template void launch_bound_rows(const LaunchContext &, const Problem<uint8_t> &, const BoundRowsPlan &);
template void launch_bound_rows(const LaunchContext &, const Problem<uint16_t> &, const BoundRowsPlan &);
template void launch_bound_rows(const LaunchContext &, const Problem<uint32_t> &, const BoundRowsPlan &);
template void launch_bound_rows(const LaunchContext &, const Problem<uint64_t> &, const BoundRowsPlan &);

}  // namespace gsort_internal::topk
