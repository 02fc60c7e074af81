// SPDX-License-Identifier: MIT OR Apache-2.0
// Every CUDA call and launch goes through these: a failure becomes an Error with a sentence, and CUDA's own last-error
// state is left clean for the application.
#ifndef GSORT_CUDA_ENGINE_CHECK_H_
#define GSORT_CUDA_ENGINE_CHECK_H_

#include <cuda_runtime.h>

#include "core/error.h"

namespace gsort_internal {

// Thrown for a kernel whose blocks, or those of a cluster, must be resident together and are not, for want of
// multiprocessors or of what a block takes. Nothing of it has run.
class LaunchDoesNotFit : public Error {
 public:
  LaunchDoesNotFit(const char *what, const char *why)
      : Error(GSORT_ERROR_NOT_SUPPORTED,
              "%s: %s; the part of the device that this process or stream may use (MIG, MPS, a green context) is too "
              "small",
              what, why) {}
};

// Throws Error(OUT_OF_MEMORY | DEVICE_LOST | INTERNAL) if `result` is a failure. `what` names the call.
void cuda_check(cudaError_t result, const char *what);

// Of a launch whose blocks must be resident together: throws LaunchDoesNotFit, too. Of any other launch the same
// answers are errors like others, for the call may have changed its arrays by then, and must not begin anew.
void check_launch_together(cudaError_t result, const char *kernel);

// After a kernel launch: throws if the launch failed. `kernel` names it.
void check_launch(const char *kernel);

}  // namespace gsort_internal

#endif  // GSORT_CUDA_ENGINE_CHECK_H_
