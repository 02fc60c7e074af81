// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_merge on device memory.
#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/engine/launcher.h"
#include "cuda/merge/launch.h"
#include "cuda/merge/merge.cuh"
#include "cuda/merge/plan.h"

namespace gsort_internal::merge {
namespace {

template <class U>
void launch_width(const LaunchContext &context, const Request &request, const Plan &plan, uint64_t *words) {
  const Arguments<U> arguments{static_cast<const U *>(request.in),
                               static_cast<const U *>(request.b),
                               static_cast<U *>(request.out),
                               request.n,
                               request.b_n,
                               plan.tiles,
                               make_codec<U>(request.order),
                               words + plan.splits,
                               reinterpret_cast<uint32_t *>(words + plan.unsorted)};
  if (plan.tiles > 1) {
    cuda_check(cudaMemsetAsync(arguments.unsorted, 0, sizeof(uint32_t), context.stream), "cudaMemsetAsync");
    constexpr uint32_t kBorders = Tuning::kPartitionThreads - 1;
    const uint32_t blocks = static_cast<uint32_t>((plan.tiles + kBorders) / kBorders);
    launch_kernel(context, "merge_partition_kernel", {blocks, Tuning::kPartitionThreads}, merge_partition_kernel<U>,
                  arguments);
  }
  launch_kernel(context, "merge_kernel", {static_cast<uint32_t>(plan.tiles), Tuning::kThreads}, merge_kernel<U>,
                arguments);
}

}  // namespace

void launch(const LaunchContext &context, const Request &request, void *workspace) {
  const Plan plan = make_plan(request, *context.device);
  log_plan(context, request, plan);
  with_width(dtype_bytes(request.order.dtype), [&](auto tag) {
    launch_width<typename decltype(tag)::type>(context, request, plan, static_cast<uint64_t *>(workspace));
  });
}

}  // namespace gsort_internal::merge
