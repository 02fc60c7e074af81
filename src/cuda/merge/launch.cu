// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_merge on device memory.
#include "core/dtype.h"
#include "cuda/engine/launch_chain.h"
#include "cuda/merge/few.cuh"
#include "cuda/merge/groups.cuh"
#include "cuda/merge/launch.h"
#include "cuda/merge/plan.h"
#include "cuda/merge/ring.cuh"

namespace gsort_internal::merge {
namespace {

template <class U>
void launch_width(const LaunchContext &context, const Request &request, const Plan &plan, char *memory) {
  const uint32_t lanes = partition_lanes(plan.way, plan.groups);
  const bool counts = plan.way != Algorithm::kFew || plan.blocks > 1;
  const Arguments<U> arguments{static_cast<const U *>(request.in),
                               static_cast<const U *>(request.b),
                               static_cast<U *>(request.out),
                               request.n,
                               request.b_n,
                               make_codec<U>(request.order),
                               plan.tiles,
                               plan.groups,
                               zero_counters<Counters>(context, memory + plan.counters, counts),
                               reinterpret_cast<Between *>(memory + plan.between),
                               reinterpret_cast<uint64_t *>(memory + plan.borders),
                               reinterpret_cast<uint32_t *>(memory + plan.misfits),
                               static_cast<uint32_t>(partition_blocks(plan.groups, lanes))};
  LaunchChain chain{context, true};
  const uint32_t threads = plan.warps * 32;
  if (plan.way == Algorithm::kFew)
    return chain(merge_few_kernel<U>, "merge_few_kernel", plan.blocks, threads, plan.shared_bytes, arguments);
  const auto partition = [&](auto kernel) {
    chain(kernel, "merge_partition_kernel", arguments.misfits_n, Tuning::kPartitionThreads, 0, arguments);
  };
  constexpr uint32_t kLanes = Tuning::kPartitionLanes;
  if constexpr (sizeof(U) >= Tuning::kRingKeyBytes) {
    if (plan.way == Algorithm::kRing) {
      constexpr uint32_t kGroup = Tile<sizeof(U)>::kRingKeys, kFew = Tuning::kPartitionLanesOfFew;
      partition(lanes == kFew ? merge_partition_kernel<U, kGroup, kFew> : merge_partition_kernel<U, kGroup, kLanes>);
      return chain(merge_ring_kernel<U>, "merge_ring_kernel", plan.blocks, Tuning::kRingThreads, plan.shared_bytes,
                   arguments);
    }
  }
  partition(merge_partition_kernel<U, Tile<sizeof(U)>::kGroupKeys, kLanes>);
  chain(merge_kernel<U>, "merge_kernel", plan.blocks, threads, plan.shared_bytes, arguments);
}

}  // namespace

void launch(const LaunchContext &context, const Request &request, void *workspace) {
  const Plan plan = make_plan(request, *context.device);
  log_plan(context, request, plan);
  with_width(dtype_bytes(request.order.dtype), [&](auto tag) {
    launch_width<typename decltype(tag)::type>(context, request, plan, static_cast<char *>(workspace));
  });
}

}  // namespace gsort_internal::merge
