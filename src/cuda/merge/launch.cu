// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_merge on device memory.
#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/engine/launch.h"
#include "cuda/merge/merge.cuh"
#include "cuda/merge/plan.h"

namespace gsort_internal {
namespace {

// Slices of the workspace, in 64-bit words.
struct MergeLayout {
  uint64_t unsorted;
  uint64_t splits;
  uint64_t words;  // all of it
};

MergeLayout layout_merge(const MergePlan &plan) { return {0, 1, plan.tiles + 2}; }

template <class U>
void launch_width(const LaunchContext &context, const Request &request, const MergePlan &plan, uint64_t *words) {
  const MergeLayout layout = layout_merge(plan);
  const MergeArguments<U> arguments{static_cast<const U *>(request.in),
                                    static_cast<const U *>(request.b),
                                    static_cast<U *>(request.out),
                                    request.n,
                                    request.b_n,
                                    plan.tiles,
                                    make_codec<U>(request.order),
                                    words + layout.splits,
                                    reinterpret_cast<uint32_t *>(words + layout.unsorted)};
  if (plan.tiles > 1) {
    cuda_check(cudaMemsetAsync(arguments.unsorted, 0, sizeof(uint32_t), context.stream), "cudaMemsetAsync");
    constexpr uint32_t kBorders = MergeTuning::kPartitionThreads - 1;
    const uint32_t blocks = static_cast<uint32_t>((plan.tiles + kBorders) / kBorders);
    merge_partition_kernel<U><<<blocks, MergeTuning::kPartitionThreads, 0, context.stream>>>(arguments);
    check_launch("merge_partition_kernel");
  }
  merge_kernel<U><<<static_cast<uint32_t>(plan.tiles), MergeTuning::kThreads, 0, context.stream>>>(arguments);
  check_launch("merge_kernel");
}

}  // namespace

uint64_t merge_workspace_bytes(const Request &shape) {
  const MergePlan plan = plan_merge(dtype_bytes(shape.order.dtype), shape.n + shape.b_n);
  return layout_merge(plan).words * sizeof(uint64_t);
}

void launch_merge(const LaunchContext &context, const Request &request, void *workspace) {
  const uint32_t key_bytes = dtype_bytes(request.order.dtype);
  const MergePlan plan = plan_merge(key_bytes, request.n + request.b_n);
  if (context.control != nullptr && context.control->has_log())
    context.control->log("merge: %llu + %llu x %s in %llu tiles of %u", static_cast<unsigned long long>(request.n),
                         static_cast<unsigned long long>(request.b_n), dtype_facts(request.order.dtype).name,
                         static_cast<unsigned long long>(plan.tiles), merge_tile_keys(key_bytes));
  with_width(key_bytes, [&](auto tag) {
    launch_width<typename decltype(tag)::type>(context, request, plan, static_cast<uint64_t *>(workspace));
  });
}

}  // namespace gsort_internal
