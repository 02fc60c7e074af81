// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_topk, gsort_topk_rows and gsort_topk_segments on device memory.
#ifndef GSORT_CUDA_TOPK_LAUNCH_H_
#define GSORT_CUDA_TOPK_LAUNCH_H_

#include "core/request.h"
#include "cuda/engine/launch.h"
#include "cuda/engine/notice.h"
#include "cuda/topk/plan.h"

namespace gsort_internal::topk {

// topk and topk_rows; k > 0.
void launch(const LaunchContext &context, const Request &request, void *workspace, const Options &options = {});

// offsets are in device memory and may be wrong; then nothing is written but *error_out (device, never NULL): 1,
// otherwise 0. A row's places behind its last element get values of all zero bits and indices of all one bits. n may
// be 0. notice: NULL in captures; with one, the host may wait for the check of offsets. True: it did, and word 1 of
// the notice is what *error_out will be.
bool launch_segments(const LaunchContext &context, const Request &request, void *workspace, uint32_t *error_out,
                     const Notice *notice);

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_LAUNCH_H_
