// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies from global to shared memory that go on while the thread does something else (compute capability 8.0; before
// it they are ordinary copies).
#ifndef GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_
#define GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/primitive/ptx.cuh"

namespace gsort_internal {

// Both addresses are aligned to 16.
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
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(global), "n"(sizeof(T)) : "memory");
#else
  using Word = typename std::conditional<sizeof(T) == 8, unsigned long long, uint32_t>::type;
  store_shared(shared, static_cast<Word>(*global));
#endif
}

// The same to a pointer into shared memory.
template <class T>
__device__ __forceinline__ void copy_async(T *shared, const T *global) {
  copy_async(shared_address(shared), global);
}

// Closes the group of the thread's copies so far.
__device__ __forceinline__ void copy_async_close() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until all but the thread's newest `Newer` groups have arrived. Other threads need a barrier behind it.
template <uint32_t Newer>
__device__ __forceinline__ void copy_async_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Newer) : "memory");
#endif
}

// Waits for all of the thread's copies, in groups or not.
__device__ __forceinline__ void copy_async_wait_all() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_
