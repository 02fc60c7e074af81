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
  with_width(dtype_bytes(request.order.dtype),
             [&](auto tag) { launch_width<typename decltype(tag)::type>(context, job); });
  return notice != nullptr && request.segments != 0;
}

}  // namespace gsort_internal::segments
