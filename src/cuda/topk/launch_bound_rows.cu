// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/bound_rows.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {
namespace {

template <uint32_t kWarps, uint32_t kGroups, uint32_t kPlaces, class U>
bool launch_as(LaunchChain &chain, const Problem<U> &problem, const BoundRowsPlan &plan, uint64_t rows) {
  using Block = BoundBlock<WidenedKey<U>, kWarps, kGroups, kPlaces>;
  if (plan.warps != kWarps || plan.groups != kGroups || plan.places != kPlaces) return false;
  chain(topk_bound_rows_kernel<Block>, "top-k by bound rows", blocks_of_rows(rows, 1), Block::kThreads,
        bound_shared_bytes<Block>, widened_problem(problem));
  return true;
}

}  // namespace

template <class U>
void launch_bound_rows(LaunchChain &chain, const Problem<U> &problem, const BoundRowsPlan &plan, uint64_t rows) {
  launch_as<2, 2, 256>(chain, problem, plan, rows) || launch_as<2, 4, 256>(chain, problem, plan, rows) ||
      launch_as<4, 2, 256>(chain, problem, plan, rows) || launch_as<4, 4, 512>(chain, problem, plan, rows) ||
      launch_as<8, 2, 256>(chain, problem, plan, rows) || launch_as<8, 2, 512>(chain, problem, plan, rows);
  if constexpr (sizeof(U) < 8) launch_as<16, 2, 256>(chain, problem, plan, rows);
}

template void launch_bound_rows(LaunchChain &, const Problem<uint8_t> &, const BoundRowsPlan &, uint64_t);
template void launch_bound_rows(LaunchChain &, const Problem<uint16_t> &, const BoundRowsPlan &, uint64_t);
template void launch_bound_rows(LaunchChain &, const Problem<uint32_t> &, const BoundRowsPlan &, uint64_t);
template void launch_bound_rows(LaunchChain &, const Problem<uint64_t> &, const BoundRowsPlan &, uint64_t);

}  // namespace gsort_internal::topk
