// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_scan on device memory.
#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/engine/shared_bytes.h"
#include "cuda/scan/integer.cuh"
#include "cuda/scan/launch.h"
#include "cuda/scan/pipeline.cuh"
#include "cuda/scan/plan.h"

namespace gsort_internal::scan {
namespace {

void clear_words(const LaunchContext &context, uint64_t *words, uint64_t count) {
  static_assert(kEmpty == UINT64_MAX, "the bytes of an empty word");
  cuda_check(cudaMemsetAsync(words, 0xff, count * sizeof(uint64_t), context.stream), "cudaMemsetAsync");
}

void launch_kernel(const LaunchContext &context, const FloatPlan &plan, void (*kernel)(Arguments),
                   const Arguments &arguments) {
  static_assert(kSharedBytesUnasked + FloatTuning::kOtherSharedBytes <= 48 * 1024, "fits unasked");
  allow_shared_bytes(kernel, plan.shared_bytes);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(plan.blocks);
  config.blockDim = dim3(plan.way == Algorithm::kPipeline ? FloatTuning::kPipelineThreads : FloatTuning::kThreads);
  config.dynamicSmemBytes = plan.shared_bytes;
  config.stream = context.stream;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {plan.blocks, 1, 1};
  if (plan.way == Algorithm::kCluster) {
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  cuda_check(cudaLaunchKernelEx(&config, kernel, arguments), "scan_kernel");
}

// `words`: NULL where no block looks back.
Arguments scan_arguments(const Request &request, const Plan &plan, uint64_t *words) {
  return {request.in,
          request.out,
          request.n,
          reinterpret_cast<uint32_t *>(words + plan.tickets),
          {words + plan.tile_totals, 0},
          {words + plan.group_prefixes, 0},
          {words + plan.tile_ends, 0},
          plan.floats.tiles == 1,
          plan.floats.way == Algorithm::kCluster,
          request.exclusive};
}

template <class Element>
void launch_floats(const LaunchContext &context, const Request &request, const Plan &plan, uint64_t *words) {
  const FloatPlan &floats = plan.floats;
  const Arguments arguments = scan_arguments(request, plan, words);
  if (floats.way == Algorithm::kCluster || (floats.tiles == 1 && floats.way == Algorithm::kStaged))
    return launch_kernel(context, floats, scan_kernel<Element, true, true>, arguments);
  clear_words(context, words, request.exclusive ? plan.words : plan.inclusive_words);
  if constexpr (sizeof(typename Element::Bits) == 8) {
    if (floats.way == Algorithm::kDirect)
      return launch_kernel(context, floats, scan_kernel<Element, false, false>, arguments);
  }
  if constexpr (sizeof(typename Element::Bits) <= FloatTuning::kPipelineElementBytesMax) {
    if (floats.way == Algorithm::kPipeline)
      return launch_kernel(
          context, floats,
          request.exclusive ? scan_pipeline_kernel<Element, true> : scan_pipeline_kernel<Element, false>, arguments);
  }
  launch_kernel(context, floats, scan_kernel<Element, true, false>, arguments);
}

void launch_float_type(const LaunchContext &context, const Request &request, const Plan &plan, uint64_t *words) {
  switch (request.order.dtype) {
    case GSORT_F16:
      return launch_floats<F16>(context, request, plan, words);
    case GSORT_BF16:
      return launch_floats<Bf16>(context, request, plan, words);
    case GSORT_F32:
      return launch_floats<F32>(context, request, plan, words);
    default:
      return launch_floats<F64>(context, request, plan, words);
  }
}

template <class U>
void launch_integers(const LaunchContext &context, const Request &request, const Plan &plan, uint64_t *words) {
  if constexpr (sizeof(U) <= 4) {
    if (plan.path == Path::kFewIntegers)
      return launch_kernel(context, plan.floats, scan_kernel<FewIntegers<U>, true, true>,
                           scan_arguments(request, plan, nullptr));
  }
  const uint32_t skew = static_cast<uint32_t>(reinterpret_cast<uint64_t>(request.in) % 16 / sizeof(U));
  const IntegerPlan &integers = plan.integers;
  const IntegerArguments<U> arguments{static_cast<const U *>(request.in),
                                      static_cast<U *>(request.out),
                                      request.n,
                                      skew,
                                      static_cast<uint32_t>(integers.tiles),
                                      request.exclusive,
                                      reinterpret_cast<uint32_t *>(words + plan.tickets),
                                      {words + plan.tile_totals, integers.tiles}};
  if (integers.tiles > 1) clear_words(context, words, plan.words);
  scan_integer_kernel<U><<<integers.blocks, IntegerTuning::kThreads, 0, context.stream>>>(arguments);
  check_launch("scan_integer_kernel");
}

}  // namespace

void launch(const LaunchContext &context, const Request &request, void *workspace) {
  const Plan plan = make_plan(request, *context.device);
  log_plan(context, request, plan);
  uint64_t *const words = static_cast<uint64_t *>(workspace);
  if (plan.path == Path::kFloats) return launch_float_type(context, request, plan, words);
  with_width(dtype_bytes(request.order.dtype),
             [&](auto tag) { launch_integers<typename decltype(tag)::type>(context, request, plan, words); });
}

}  // namespace gsort_internal::scan
