// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_sort_segments on device memory.
#ifndef GSORT_CUDA_SEGMENTS_LAUNCH_H_
#define GSORT_CUDA_SEGMENTS_LAUNCH_H_

#include "core/request.h"
#include "cuda/engine/launch.h"
#include "cuda/engine/notice.h"

namespace gsort_internal::segments {

// offsets are in device memory and may be wrong; then nothing is written to out and *error_out (device, never NULL) is
// set to 1, otherwise to 0. notice: may be NULL. True: word 1 of the notice will be what *error_out is.
bool launch(const LaunchContext &context, const Request &request, void *workspace, uint32_t *error_out,
            const Notice *notice = nullptr);

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_LAUNCH_H_
