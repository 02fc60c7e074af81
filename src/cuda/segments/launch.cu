// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/engine/check.h"
#include "cuda/engine/launch.h"
#include "cuda/segments/job.h"

namespace gsort_internal {

uint64_t segments_workspace_bytes(const Request &shape) { return segments_layout(shape).bytes; }

void launch_segments(const LaunchContext &context, const Request &request, void *workspace, uint32_t *error_out) {
  const SegmentsJob job{&request, segments_layout(request), workspace, error_out};
  if (context.control->has_log())
    context.control->log(
        "sort of segments on the GPU: %llu keys in %llu segments: up to %u keys in lanes of a warp, up to %u by a "
        "block, more by LSD passes",
        static_cast<unsigned long long>(request.n), static_cast<unsigned long long>(request.segments),
        kShortSegmentItemsMax, medium_segment_items(dtype_bytes(request.order.dtype)));
  cuda_check(cudaMemsetAsync(error_out, 0, sizeof *error_out, context.stream), "cudaMemsetAsync(error)");
  with_width(dtype_bytes(request.order.dtype),
             [&](auto tag) { launch_segments_width<typename decltype(tag)::type>(context, job); });
}

}  // namespace gsort_internal
