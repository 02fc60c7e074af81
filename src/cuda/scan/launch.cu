// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_scan on device memory.
#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/engine/launcher.h"
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

void launch_tiles(const LaunchContext &context, const FloatPlan &plan, void (*kernel)(Arguments),
                  const Arguments &arguments) {
  static_assert(kSharedBytesUnasked + FloatTuning::kOtherSharedBytes <= 48 * 1024, "fits unasked");
  const bool pipeline = plan.way == Algorithm::kPipeline;
  Grid grid = {plan.blocks, pipeline ? FloatTuning::kPipelineThreads : FloatTuning::kThreads, plan.shared_bytes};
  if (plan.way == Algorithm::kCluster) grid.together = Together::kClusters, grid.cluster_blocks = plan.blocks;
  launch_kernel(context, "scan_kernel", grid, kernel, arguments);
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
          plan.floats.tiles == 1 && request.scan_carry == nullptr,
          plan.floats.way == Algorithm::kCluster,
          request.exclusive,
          request.scan_carry != nullptr};
}

// Of a piece of a longer array: takes over the prefix of its first group, or hands on that of the group behind its
// last, if that one is whole.
void copy_prefix(const LaunchContext &context, void *to, const void *from) {
  cuda_check(cudaMemcpyAsync(to, from, sizeof(double), cudaMemcpyDeviceToDevice, context.stream),
             "copying a piece's prefix");
}

template <class Element>
void launch_float_tiles(const LaunchContext &context, const Request &request, const Plan &plan, uint64_t *words) {
  const FloatPlan &floats = plan.floats;
  const Arguments arguments = scan_arguments(request, plan, words);
  if (floats.way == Algorithm::kCluster || (arguments.one_tile && floats.way == Algorithm::kStaged))
    return launch_tiles(context, floats, scan_kernel<Element, true, true>, arguments);
  clear_words(context, words, request.exclusive ? plan.words : plan.inclusive_words);
  if (arguments.continues) copy_prefix(context, words + plan.group_prefixes, request.scan_carry);
  if constexpr (sizeof(typename Element::Bits) == 8) {
    if (floats.way == Algorithm::kDirect)
      return launch_tiles(context, floats, scan_kernel<Element, false, false>, arguments);
  }
  if constexpr (sizeof(typename Element::Bits) <= FloatTuning::kPipelineElementBytesMax) {
    if (floats.way == Algorithm::kPipeline)
      return launch_tiles(
          context, floats,
          request.exclusive ? scan_pipeline_kernel<Element, true> : scan_pipeline_kernel<Element, false>, arguments);
  }
  launch_tiles(context, floats, scan_kernel<Element, true, false>, arguments);
}

template <class Element>
void launch_floats(const LaunchContext &context, const Request &request, const Plan &plan, uint64_t *words) {
  launch_float_tiles<Element>(context, request, plan, words);
  if (request.scan_carry == nullptr || plan.floats.tiles % kScanGroupTiles != 0) return;
  copy_prefix(context, request.scan_carry, words + plan.group_prefixes + plan.floats.tiles / kScanGroupTiles);
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
  if (plan.path == Path::kFewIntegers)
    return launch_tiles(context, plan.floats, scan_kernel<FewIntegers<U>, true, true>,
                        scan_arguments(request, plan, nullptr));
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
  launch_kernel(context, "scan_integer_kernel", {integers.blocks, IntegerTuning::kThreads}, scan_integer_kernel<U>,
                arguments);
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
