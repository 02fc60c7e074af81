// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/launcher.h"
#include "cuda/topk/problem.h"
#include "cuda/topk/team.cuh"

namespace gsort_internal::topk {
namespace {

// Composites of keys of 4 bytes are wide for indices of more than 32 bits, and no registers keep so long a row.
template <class U, class C>
constexpr bool kMayBeResident = sizeof(U) == 8 || sizeof(C) == 8;

template <class U, class C>
auto team_kernel(bool resident) {
  if constexpr (kMayBeResident<U, C>) {
    if (resident) return topk_team_kernel<U, C, true>;
  }
  return topk_team_kernel<U, C, false>;
}

template <class U, class C>
void launch_team_as(const LaunchContext &context, const TeamArgs<U> &args) {
  const uint64_t composites = uint64_t{args.plan.buffer_items} + args.plan.run_items;
  const uint64_t shared_bytes = kBins * 4 + composites * sizeof(C);
  const auto kernel = team_kernel<U, C>(args.plan.resident.need != 0);
  Grid grid = {args.plan.teams * args.plan.blocks, kTeamThreads, static_cast<uint32_t>(shared_bytes)};
  grid.together = args.plan.cluster ? Together::kClusters : Together::kGrid;
  grid.cluster_blocks = args.plan.blocks;
  launch_kernel(context, "top-k", grid, kernel, args);
}

}  // namespace

template <class U>
void launch_team(const LaunchContext &context, const TeamArgs<U> &args, uint32_t composite_bytes) {
  if constexpr (sizeof(U) < 8) {
    if (composite_bytes == 8) return launch_team_as<U, uint64_t>(context, args);
  }
  // Keys of 1 and 2 bytes leave an index 48 bits, more than any device's memory has elements.
  if constexpr (sizeof(U) >= 4) launch_team_as<U, Wide>(context, args);
}

template void launch_team(const LaunchContext &, const TeamArgs<uint8_t> &, uint32_t);
template void launch_team(const LaunchContext &, const TeamArgs<uint16_t> &, uint32_t);
template void launch_team(const LaunchContext &, const TeamArgs<uint32_t> &, uint32_t);
template void launch_team(const LaunchContext &, const TeamArgs<uint64_t> &, uint32_t);

}  // namespace gsort_internal::topk
