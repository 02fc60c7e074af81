// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies from global to shared memory that go on while the thread does something else (compute capability 8.0; before
// it they are ordinary copies).
#ifndef GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_
#define GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_

#include <cstdint>

namespace gsort_internal {

// Both addresses are aligned to 16.
__device__ __forceinline__ void copy_async(uint4 *shared, const uint4 *global) {
#if __CUDA_ARCH__ >= 800
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global) : "memory");
#else
  *shared = *global;
#endif
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

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_COPY_ASYNC_CUH_
