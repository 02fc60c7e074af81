// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_sum and gsort_reduce on device memory.
#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/engine/launch.h"
#include "cuda/engine/workspace.h"
#include "cuda/sum/plan.h"
#include "cuda/sum/reduce.cuh"
#include "cuda/sum/sum.cuh"

namespace gsort_internal {
namespace {

// What the blocks of a grid count in: in the standing memory, which is zero already, or at the workspace's begin.
union ReduceCounters {
  SumState sum;
  uint32_t tickets;
};
static_assert(sizeof(ReduceCounters) <= kStandingBytes, "standing memory holds them");
constexpr uint64_t kCountersBytes = aligned_slice_bytes(sizeof(ReduceCounters));

// Launches `kernel` in the plan's shape.
template <class Arguments>
void launch_planned(const LaunchContext &context, const ReducePlan &plan, void (*kernel)(Arguments),
                    const Arguments &arguments, const char *name) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(plan.blocks);
  config.blockDim = dim3(ReduceTuning::kThreads);
  config.stream = context.stream;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = plan.blocks;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  if (plan.meeting == ReduceMeeting::kCluster) {
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  cuda_check(cudaLaunchKernelEx(&config, kernel, arguments), name);
}

// `own`: room in the workspace, used where there is no standing memory.
ReduceCounters *zero_counters(const LaunchContext &context, const ReducePlan &plan, void *own) {
  if (context.standing != nullptr) return static_cast<ReduceCounters *>(context.standing);
  if (plan.meeting == ReduceMeeting::kGrid)
    cuda_check(cudaMemsetAsync(own, 0, sizeof(ReduceCounters), context.stream), "cudaMemsetAsync");
  return static_cast<ReduceCounters *>(own);
}

void launch_sum(const LaunchContext &context, const Request &request, const ReducePlan &plan, SumState *state) {
  const gsort_dtype t = request.order.dtype;
  const SumArguments arguments{request.in,
                               request.n,
                               static_cast<uint64_t *>(request.out),
                               state,
                               plan.meeting,
                               request.operation == Operation::kReduce,
                               dtype_facts(t).kind == Kind::kSigned};
  const auto launch = [&](void (*kernel)(SumArguments)) {
    launch_planned(context, plan, kernel, arguments, "sum_kernel");
  };
  switch (t) {
    case GSORT_F16:
      return launch(sum_kernel<HalfSum>);
    case GSORT_BF16:
      return launch(sum_kernel<FloatSum<SumBf16>>);
    case GSORT_F32:
      return launch(sum_kernel<FloatSum<SumF32>>);
    case GSORT_F64:
      return launch(sum_kernel<FloatSum<SumF64>>);
    default:
      return with_width(dtype_bytes(t),
                        [&](auto tag) { launch(sum_kernel<IntegerSum<typename decltype(tag)::type>>); });
  }
}

void launch_extreme(const LaunchContext &context, const Request &request, const ReducePlan &plan, uint32_t *tickets,
                    Extreme *extremes) {
  KeyOrder order = request.order;
  order.descending = request.reduce_op == GSORT_MAX || request.reduce_op == GSORT_ARGMAX;
  const bool want_index = request.reduce_op == GSORT_ARGMIN || request.reduce_op == GSORT_ARGMAX;
  with_width(dtype_bytes(order.dtype), [&](auto tag) {
    using U = typename decltype(tag)::type;
    const ReduceArguments<U> arguments{request.in,           request.n,    request.out, tickets, extremes,
                                       make_codec<U>(order), plan.meeting, want_index};
    launch_planned(context, plan, reduce_kernel<U>, arguments, "reduce_kernel");
  });
}

}  // namespace

uint64_t reduce_workspace_bytes(const Request &) {
  return kCountersBytes + uint64_t{ReduceTuning::kBlocksMax} * sizeof(Extreme);
}

void launch_reduce(const LaunchContext &context, const Request &request, void *workspace) {
  const ReducePlan plan = plan_reduce(request.n * dtype_bytes(request.order.dtype), context.device->compute_capability,
                                      context.device->multiprocessors);
  if (context.control != nullptr && context.control->has_log())
    context.control->log("reduce: %llu x %s by %s of %u blocks", static_cast<unsigned long long>(request.n),
                         dtype_facts(request.order.dtype).name, reduce_meeting_name(plan.meeting), plan.blocks);
  ReduceCounters *const counters = zero_counters(context, plan, workspace);
  auto *const extremes = reinterpret_cast<Extreme *>(static_cast<char *>(workspace) + kCountersBytes);
  if (request.operation == Operation::kSum || request.reduce_op == GSORT_MEAN)
    launch_sum(context, request, plan, &counters->sum);
  else
    launch_extreme(context, request, plan, &counters->tickets, extremes);
}

}  // namespace gsort_internal
