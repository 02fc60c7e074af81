// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_merge on device memory.
#ifndef GSORT_CUDA_MERGE_LAUNCH_H_
#define GSORT_CUDA_MERGE_LAUNCH_H_

#include "core/request.h"
#include "cuda/engine/launch.h"

namespace gsort_internal::merge {

void launch(const LaunchContext &context, const Request &request, void *workspace);

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_LAUNCH_H_
