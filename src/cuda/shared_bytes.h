// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef GSORT_CUDA_SHARED_BYTES_H_
#define GSORT_CUDA_SHARED_BYTES_H_

#include <cstdint>

#include "cuda/check.h"

namespace gsort_internal {

// More than 48 KB of dynamic shared memory must be asked for, once for every kernel and device; asking again is cheap.
template <class Kernel>
void allow_shared_bytes(Kernel *kernel, uint32_t bytes) {
  if (bytes > 48 * 1024)
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
               "cudaFuncSetAttribute(shared memory)");
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SHARED_BYTES_H_
