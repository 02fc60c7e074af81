// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/segments/job.h"
#include "cuda/segments/launch.h"

namespace gsort_internal::segments {

void launch(const LaunchContext &context, const Request &request, void *workspace, uint32_t *error_out) {
  const Job job{&request, make_plan(request, *context.device), workspace, error_out};
  log_plan(context, request, job.plan);
  cuda_check(cudaMemsetAsync(error_out, 0, sizeof *error_out, context.stream), "cudaMemsetAsync(error)");
  with_width(dtype_bytes(request.order.dtype),
             [&](auto tag) { launch_width<typename decltype(tag)::type>(context, job); });
}

}  // namespace gsort_internal::segments
