// SPDX-License-Identifier: MIT OR Apache-2.0
// Programmatic dependent launch (compute capability 9.0): a kernel is set up while the one before still runs. Elsewhere
// the functions compile to nothing, and kernels follow each other as usual.
#ifndef GSORT_CUDA_PRIMITIVE_DEPENDENT_LAUNCH_CUH_
#define GSORT_CUDA_PRIMITIVE_DEPENDENT_LAUNCH_CUH_

#include <cuda_runtime.h>

namespace gsort_internal {

// Until the kernel before has ended and its writes are visible: kernels are launched before that, where the chip can.
__device__ __forceinline__ void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// The kernel behind may begin as far as it does not need this one's results.
__device__ __forceinline__ void allow_next_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_DEPENDENT_LAUNCH_CUH_
