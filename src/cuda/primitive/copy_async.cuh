// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies from global to shared memory that go on while the thread does something else (compute capability 8.0; before
// it they are ordinary copies).
#ifndef GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_
#define GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "cuda/primitive/ptx.cuh"

namespace gsort_internal {

// Both addresses are aligned to 16.
__device__ __forceinline__ void copy_async(uint4 *shared, const uint4 *global) {
  __pipeline_memcpy_async(shared, global, sizeof(uint4));
}

// One item of 4 or 8 bytes, to an address of shared memory.
template <class T>
__device__ __forceinline__ void copy_async(uint32_t shared, const T *global) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "what the hardware copies");
  __pipeline_memcpy_async(__cvta_shared_to_generic(shared), global, sizeof(T));
}

// Closes the group of the thread's copies so far.
__device__ __forceinline__ void copy_async_close() { __pipeline_commit(); }

// Waits until all but the thread's newest `Newer` groups have arrived. Other threads need a barrier behind it.
template <uint32_t Newer>
__device__ __forceinline__ void copy_async_wait() {
  __pipeline_wait_prior(Newer);
}

// Waits for all of the thread's copies, in groups or not: __pipeline_wait_prior() knows of groups alone.
__device__ __forceinline__ void copy_async_wait_all() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_
