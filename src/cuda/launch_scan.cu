// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_scan on device memory.
#include "core/dtype.h"
#include "cuda/check.h"
#include "cuda/kernels/scan.cuh"
#include "cuda/launch.h"
#include "plan/scan_plan.h"

namespace gsort_internal {
namespace {

// Slices of the workspace, in 64-bit words.
struct ScanLayout {
  uint64_t tickets;
  uint64_t tile_totals;
  uint64_t group_prefixes;
  uint64_t last_results;
  uint64_t words;  // all of it
};

// Words of one plane of tile totals: whole runs.
uint64_t total_stride(const ScanPlan &plan) { return (plan.tiles + kScanRunTiles - 1) / kScanRunTiles * kScanRunTiles; }

ScanLayout layout_scan(const ScanPlan &plan) {
  ScanLayout layout{};
  layout.tickets = 0;
  layout.tile_totals = 2;  // runs are read in pairs of words aligned to 16 bytes
  layout.group_prefixes = layout.tile_totals + plan.planes * total_stride(plan);
  layout.last_results = layout.group_prefixes + plan.planes * (plan.groups + 1);
  layout.words = layout.last_results + plan.tiles;
  return layout;
}

template <class Sum>
ScanArguments<Sum> make_arguments(const Request &request, const ScanPlan &plan, uint64_t *words) {
  const ScanLayout layout = layout_scan(plan);
  return {request.in,
          request.out,
          request.n,
          reinterpret_cast<uint32_t *>(words + layout.tickets),
          {words + layout.tile_totals, total_stride(plan)},
          {words + layout.group_prefixes, plan.groups + 1},
          words + layout.last_results,
          plan.tiles == 1,
          request.exclusive};
}

template <class Arguments>
void launch_kernel(const LaunchContext &context, const ScanPlan &plan, void (*kernel)(Arguments),
                   const Arguments &arguments) {
  if (plan.shared_bytes + ScanTuning::kOtherSharedBytes > 48 * 1024)
    cuda_check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(plan.shared_bytes)),
        "cudaFuncSetAttribute");
  const uint32_t threads = plan.way == ScanWay::kPipeline ? ScanTuning::kPipelineThreads : ScanTuning::kThreads;
  kernel<<<plan.blocks, threads, plan.shared_bytes, context.stream>>>(arguments);
  check_launch("scan_kernel");
}

template <class Element>
void launch_element(const LaunchContext &context, const Request &request, const ScanPlan &plan, uint64_t *words) {
  const auto arguments = make_arguments<typename Element::Sum>(request, plan, words);
  if (plan.tiles > 1)
    cuda_check(cudaMemsetAsync(words, 0xff, layout_scan(plan).words * sizeof(uint64_t), context.stream),
               "cudaMemsetAsync");
  if constexpr (sizeof(typename Element::Bits) == 8) {
    if (plan.way == ScanWay::kDirect) return launch_kernel(context, plan, scan_kernel<Element, false>, arguments);
  }
  if constexpr (sizeof(typename Element::Bits) <= ScanTuning::kPipelineElementBytesMax) {
    if (plan.way == ScanWay::kPipeline) return launch_kernel(context, plan, scan_pipeline_kernel<Element>, arguments);
  }
  launch_kernel(context, plan, scan_kernel<Element, true>, arguments);
}

}  // namespace

uint64_t scan_workspace_bytes(const Request &shape) {
  return layout_scan(plan_scan(shape.order.dtype, shape.n, false, 0, 0)).words * sizeof(uint64_t);
}

void launch_scan(const LaunchContext &context, const Request &request, void *workspace) {
  const gsort_dtype t = request.order.dtype;
  const ScanPlan plan = plan_scan(t, request.n, request.exclusive, context.device->shared_bytes_block_max,
                                  context.device->multiprocessors);
  if (context.control != nullptr && context.control->has_log())
    context.control->log("scan: %llu x %s in %llu tiles of %u, %s of %u blocks",
                         static_cast<unsigned long long>(request.n), dtype_facts(t).name,
                         static_cast<unsigned long long>(plan.tiles), kScanTileItems, scan_way_name(plan.way),
                         plan.blocks);
  uint64_t *const words = static_cast<uint64_t *>(workspace);
  switch (t) {
    case GSORT_F16:
      return launch_element<ScanF16>(context, request, plan, words);
    case GSORT_BF16:
      return launch_element<ScanBf16>(context, request, plan, words);
    case GSORT_F32:
      return launch_element<ScanF32>(context, request, plan, words);
    case GSORT_F64:
      return launch_element<ScanF64>(context, request, plan, words);
    default:
      return with_width(dtype_bytes(t), [&](auto tag) {
        launch_element<ScanInteger<typename decltype(tag)::type>>(context, request, plan, words);
      });
  }
}

}  // namespace gsort_internal
