// SPDX-License-Identifier: MIT OR Apache-2.0
// Every CUDA call and launch goes through these: a failure becomes an Error with a sentence, and CUDA's own last-error
// state is left clean for the application.
#ifndef GSORT_CUDA_ENGINE_CHECK_H_
#define GSORT_CUDA_ENGINE_CHECK_H_

#include <cuda_runtime.h>

namespace gsort_internal {

// Throws Error(OUT_OF_MEMORY | DEVICE_LOST | INTERNAL) if `result` is a failure. `what` names the call.
void cuda_check(cudaError_t result, const char *what);

// After a kernel launch: throws if the launch failed. `kernel` names it.
void check_launch(const char *kernel);

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_CHECK_H_
