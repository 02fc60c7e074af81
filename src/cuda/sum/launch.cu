// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_sum and gsort_reduce on device memory.
#include "core/dtype.h"
#include "cuda/engine/launcher.h"
#include "cuda/sum/launch.h"
#include "cuda/sum/plan.h"
#include "cuda/sum/reduce.cuh"
#include "cuda/sum/sum.cuh"

namespace gsort_internal::sum {
namespace {

// What the blocks of a grid count in: in the persistent scratch, which is zero already, or at the start of the
// workspace.
union GridCounters {
  State sum;
  uint32_t tickets;
};
static_assert(sizeof(GridCounters) <= kCountersBytes && sizeof(Extreme) == kExtremeBytes, "the plan leaves them room");

// Launches `kernel` in the plan's shape.
template <class Arguments>
void launch_planned(const LaunchContext &context, const Plan &plan, void (*kernel)(Arguments),
                    const Arguments &arguments, const char *name) {
  Grid grid = {plan.blocks, plan.threads, plan.shared_bytes};
  if (plan.scope == Scope::kCluster) grid.together = Together::kClusters, grid.cluster_blocks = plan.blocks;
  launch_kernel(context, name, grid, kernel, arguments);
}

void launch_sum(const LaunchContext &context, const Request &request, const Plan &plan, State *state) {
  const gsort_dtype t = request.order.dtype;
  const SumArguments arguments{request.in,
                               request.n,
                               static_cast<uint64_t *>(request.out),
                               state,
                               plan.scope,
                               request.operation == Operation::kReduce,
                               dtype_facts(t).kind == Kind::kSigned,
                               request.partial_sum ? static_cast<PartialSum *>(request.out) : nullptr};
  const auto launch_type = [&](void (*kernel)(SumArguments)) {
    launch_planned(context, plan, kernel, arguments, "sum_kernel");
  };
  switch (t) {
    case GSORT_F16:
      return launch_type(sum_kernel<HalfSum>);
    case GSORT_BF16:
      return launch_type(sum_kernel<BfloatSum>);
    case GSORT_F32:
      return launch_type(sum_kernel<FloatSum>);
    case GSORT_F64:
      return launch_type(sum_kernel<DoubleSum>);
    default:
      return with_width(dtype_bytes(t),
                        [&](auto tag) { launch_type(sum_kernel<IntegerSum<typename decltype(tag)::type>>); });
  }
}

void launch_extreme(const LaunchContext &context, const Request &request, const Plan &plan, uint32_t *tickets,
                    Extreme *extremes) {
  KeyOrder order = request.order;
  order.descending = request.reduce_op == GSORT_MAX || request.reduce_op == GSORT_ARGMAX;
  const bool want_index = request.reduce_op == GSORT_ARGMIN || request.reduce_op == GSORT_ARGMAX;
  with_width(dtype_bytes(order.dtype), [&](auto tag) {
    using U = typename decltype(tag)::type;
    const ExtremeArguments<U> arguments{request.in,           request.n,  request.out, tickets, extremes,
                                        make_codec<U>(order), plan.scope, want_index};
    launch_planned(context, plan, reduce_kernel<U>, arguments, "reduce_kernel");
  });
}

}  // namespace

void launch(const LaunchContext &context, const Request &request, void *workspace) {
  const Plan plan = make_plan(request, *context.device);
  log_plan(context, request, plan);
  auto *const memory = static_cast<char *>(workspace);
  auto *const counters = zero_counters<GridCounters>(context, memory + plan.counters, plan.scope == Scope::kGrid);
  if (sums(request))
    launch_sum(context, request, plan, &counters->sum);
  else
    launch_extreme(context, request, plan, &counters->tickets, reinterpret_cast<Extreme *>(memory + plan.extremes));
}

}  // namespace gsort_internal::sum
