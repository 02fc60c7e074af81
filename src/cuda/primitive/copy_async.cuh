// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies from global to shared memory that go on while the thread does something else (compute capability 8.0; before
// it they are ordinary copies).
#ifndef GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_
#define GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "cuda/primitive/ptx.cuh"

namespace gsort_internal {

// Both addresses are aligned to 16. Written out: with __pipeline_memcpy_async() the running sums of bfloat16 spill 32
// bytes a thread on sm_90.
__device__ __forceinline__ void copy_async(uint4 *shared, const uint4 *global) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)), "l"(global) : "memory");
#else
  *shared = *global;
#endif
}

// One item of 4 or 8 bytes, to an address of shared memory.
template <class T>
__device__ __forceinline__ void copy_async(uint32_t shared, const T *global) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "what the hardware copies");
  __pipeline_memcpy_async(__cvta_shared_to_generic(shared), global, sizeof(T));
}

// The same to a pointer into shared memory.
template <class T>
__device__ __forceinline__ void copy_async(T *shared, const T *global) {
  copy_async(shared_address(shared), global);
}

// Closes the group of the thread's copies so far.
__device__ __forceinline__ void copy_async_close() { __pipeline_commit(); }

// Waits until all but the thread's newest `Newer` groups have arrived. Other threads need a barrier behind it. Written
// out: __pipeline_wait_prior() is the same instruction, but does not tell the compiler that memory has changed.
template <uint32_t Newer>
__device__ __forceinline__ void copy_async_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Newer) : "memory");
#endif
}

// Waits for all of the thread's copies, in groups or not. (The toolkit's functions wait for groups alone.)
__device__ __forceinline__ void copy_async_wait_all() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_
