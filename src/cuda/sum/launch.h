// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_sum and gsort_reduce on device memory.
#ifndef GSORT_CUDA_SUM_LAUNCH_H_
#define GSORT_CUDA_SUM_LAUNCH_H_

#include "core/request.h"
#include "cuda/engine/launch.h"

namespace gsort_internal::sum {

void launch(const LaunchContext &context, const Request &request, void *workspace);  // n > 0; out is device memory

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_LAUNCH_H_
