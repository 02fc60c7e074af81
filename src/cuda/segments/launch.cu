// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/dtype.h"
#include "cuda/engine/check.h"
#include "cuda/segments/job.h"
#include "cuda/segments/launch.h"

namespace gsort_internal::segments {

bool launch(const LaunchContext &context, const Request &request, void *workspace, uint32_t *error_out,
            const Notice *notice) {
  const Job job{&request, make_plan(request, *context.device), workspace, error_out,
                notice != nullptr ? *notice : Notice{}};
  log_plan(context, request, job.plan);
  const bool told = notice != nullptr && request.segments != 0;
  if (!told) cuda_check(cudaMemsetAsync(error_out, 0, sizeof *error_out, context.stream), "cudaMemsetAsync(error)");
  with_width(dtype_bytes(request.order.dtype),
             [&](auto tag) { launch_width<typename decltype(tag)::type>(context, job); });
  return told;
}

}  // namespace gsort_internal::segments
