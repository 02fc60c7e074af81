// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_scan on device memory.
#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/engine/launch.h"
#include "cuda/engine/shared_bytes.h"
#include "cuda/scan/integer.cuh"
#include "cuda/scan/pipeline.cuh"
#include "cuda/scan/plan.h"

namespace gsort_internal {
namespace {

// Slices of the workspace, in 64-bit words.
struct ScanLayout {
  uint64_t tickets;
  uint64_t tile_totals;
  uint64_t group_prefixes;
  uint64_t tile_ends;
  uint64_t inclusive_words;  // what an inclusive scan needs
  uint64_t words;            // all of it
};

// Places of tile totals: whole runs.
uint64_t total_places(const ScanPlan &plan) { return (plan.tiles + kScanRunTiles - 1) / kScanRunTiles * kScanRunTiles; }

ScanLayout layout_scan(const ScanPlan &plan) {
  ScanLayout layout{};
  layout.tickets = 0;
  layout.tile_totals = 2;  // runs are read in pairs of words aligned to 16 bytes
  layout.group_prefixes = layout.tile_totals + total_places(plan);
  layout.tile_ends = layout.inclusive_words = layout.group_prefixes + plan.groups + 1;
  layout.words = layout.tile_ends + plan.tiles * ScanTileEnd::kPlaces;
  return layout;
}

void clear_words(const LaunchContext &context, uint64_t *words, uint64_t count) {
  static_assert(kScanEmpty == UINT64_MAX, "the bytes of an empty word");
  cuda_check(cudaMemsetAsync(words, 0xff, count * sizeof(uint64_t), context.stream), "cudaMemsetAsync");
}

void launch_kernel(const LaunchContext &context, const ScanPlan &plan, void (*kernel)(ScanArguments),
                   const ScanArguments &arguments) {
  static_assert(kSharedBytesUnasked + ScanTuning::kOtherSharedBytes <= 48 * 1024, "fits unasked");
  allow_shared_bytes(kernel, plan.shared_bytes);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(plan.blocks);
  config.blockDim = dim3(plan.way == ScanWay::kPipeline ? ScanTuning::kPipelineThreads : ScanTuning::kThreads);
  config.dynamicSmemBytes = plan.shared_bytes;
  config.stream = context.stream;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {plan.blocks, 1, 1};
  if (plan.way == ScanWay::kCluster) {
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  cuda_check(cudaLaunchKernelEx(&config, kernel, arguments), "scan_kernel");
}

ScanArguments scan_arguments(const Request &request, const ScanPlan &plan, uint64_t *words) {
  const ScanLayout layout = layout_scan(plan);
  return {request.in,
          request.out,
          request.n,
          reinterpret_cast<uint32_t *>(words + layout.tickets),
          {words + layout.tile_totals, 0},
          {words + layout.group_prefixes, 0},
          {words + layout.tile_ends, 0},
          plan.tiles == 1,
          plan.way == ScanWay::kCluster,
          request.exclusive};
}

template <class Element>
void launch_floats(const LaunchContext &context, const Request &request, const ScanPlan &plan, uint64_t *words) {
  const ScanArguments arguments = scan_arguments(request, plan, words);
  if (plan.way == ScanWay::kCluster || (plan.tiles == 1 && plan.way == ScanWay::kStaged))
    return launch_kernel(context, plan, scan_kernel<Element, true, true>, arguments);
  const ScanLayout layout = layout_scan(plan);
  clear_words(context, words, request.exclusive ? layout.words : layout.inclusive_words);
  if constexpr (sizeof(typename Element::Bits) == 8) {
    if (plan.way == ScanWay::kDirect)
      return launch_kernel(context, plan, scan_kernel<Element, false, false>, arguments);
  }
  if constexpr (sizeof(typename Element::Bits) <= ScanTuning::kPipelineElementBytesMax) {
    if (plan.way == ScanWay::kPipeline)
      return launch_kernel(
          context, plan, request.exclusive ? scan_pipeline_kernel<Element, true> : scan_pipeline_kernel<Element, false>,
          arguments);
  }
  launch_kernel(context, plan, scan_kernel<Element, true, false>, arguments);
}

// The plan of floats, told to the log.
ScanPlan logged_plan(const LaunchContext &context, const Request &request) {
  const gsort_dtype t = request.order.dtype;
  const ScanPlan plan = plan_scan(dtype_bytes(t), request.n, context.device->shared_bytes_block_max,
                                  context.device->multiprocessors, context.device->clusters());
  if (context.control != nullptr && context.control->has_log())
    context.control->log("scan: %llu x %s in %llu tiles of %u, %s of %u blocks",
                         static_cast<unsigned long long>(request.n), dtype_facts(t).name,
                         static_cast<unsigned long long>(plan.tiles), kScanTileItems, scan_way_name(plan.way),
                         plan.blocks);
  return plan;
}

void launch_float_type(const LaunchContext &context, const Request &request, uint64_t *words) {
  const ScanPlan plan = logged_plan(context, request);
  switch (request.order.dtype) {
    case GSORT_F16:
      return launch_floats<ScanF16>(context, request, plan, words);
    case GSORT_BF16:
      return launch_floats<ScanBf16>(context, request, plan, words);
    case GSORT_F32:
      return launch_floats<ScanF32>(context, request, plan, words);
    default:
      return launch_floats<ScanF64>(context, request, plan, words);
  }
}

template <class U>
void launch_few_integers(const LaunchContext &context, const Request &request) {
  const ScanPlan plan = logged_plan(context, request);
  launch_kernel(context, plan, scan_kernel<ScanFewIntegers<U>, true, true>, scan_arguments(request, plan, nullptr));
}

// Words of the workspace: the ticket, then totals.
constexpr uint64_t kIntegerTotals = 1;
uint64_t integer_words(const IntegerScanPlan &plan) { return kIntegerTotals + plan.planes * plan.tiles; }

template <class U>
void launch_integers(const LaunchContext &context, const Request &request, uint64_t *words) {
  const uint32_t skew = static_cast<uint32_t>(reinterpret_cast<uint64_t>(request.in) % 16);
  const IntegerScanPlan plan = plan_integer_scan(sizeof(U), request.n, skew, context.device->multiprocessors);
  if constexpr (sizeof(U) <= 4) {
    if (scans_few_integers(sizeof(U), request.n, plan, context.device->clusters()))
      return launch_few_integers<U>(context, request);
  }
  if (context.control != nullptr && context.control->has_log())
    context.control->log("scan: %llu x %s in %llu tiles of %u bytes, %u blocks",
                         static_cast<unsigned long long>(request.n), dtype_facts(request.order.dtype).name,
                         static_cast<unsigned long long>(plan.tiles), IntegerScanTuning::kTileBytes, plan.blocks);
  const IntegerScanArguments<U> arguments{
      static_cast<const U *>(request.in),      static_cast<U *>(request.out),       request.n,
      skew / static_cast<uint32_t>(sizeof(U)), static_cast<uint32_t>(plan.tiles),   request.exclusive,
      reinterpret_cast<uint32_t *>(words),     {words + kIntegerTotals, plan.tiles}};
  if (plan.tiles > 1) clear_words(context, words, integer_words(plan));
  scan_integer_kernel<U><<<plan.blocks, IntegerScanTuning::kThreads, 0, context.stream>>>(arguments);
  check_launch("scan_integer_kernel");
}

}  // namespace

uint64_t scan_workspace_bytes(const Request &shape) {
  const uint32_t bytes = dtype_bytes(shape.order.dtype);
  const uint64_t words = is_float(shape.order.dtype) ? layout_scan(plan_scan(bytes, shape.n, 0, 0, false)).words
                                                     : integer_words(plan_integer_scan(bytes, shape.n, 15, 0));
  return words * sizeof(uint64_t);
}

void launch_scan(const LaunchContext &context, const Request &request, void *workspace) {
  uint64_t *const words = static_cast<uint64_t *>(workspace);
  if (is_float(request.order.dtype)) return launch_float_type(context, request, words);
  with_width(dtype_bytes(request.order.dtype),
             [&](auto tag) { launch_integers<typename decltype(tag)::type>(context, request, words); });
}

}  // namespace gsort_internal
