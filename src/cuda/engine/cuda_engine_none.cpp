// SPDX-License-Identifier: MIT OR Apache-2.0
// Stands for the CUDA engine in a build without CUDA.
#include "engine.h"

namespace gsort_internal {

std::unique_ptr<Engine> make_cuda_engine(const EngineOptions &) {
  throw Error(GSORT_ERROR_NO_DEVICE, "this build of gsort has no CUDA engine; use one built with GSORT_CUDA=ON");
}

}  // namespace gsort_internal
