// SPDX-License-Identifier: MIT OR Apache-2.0
// Shared memory by its own 32-bit addresses, and copies into it that take no registers.
#ifndef GSORT_CUDA_SEGMENTS_SHARED_ACCESS_CUH_
#define GSORT_CUDA_SEGMENTS_SHARED_ACCESS_CUH_

#include <cstdint>
#include <type_traits>

namespace gsort_internal::segments {

__device__ __forceinline__ uint32_t shared_address(const void *object) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(object));
}

__device__ __forceinline__ void load_shared(uint32_t address, uint32_t &value) {
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
}
__device__ __forceinline__ void load_shared(uint32_t address, unsigned long long &value) {
  asm volatile("ld.shared.u64 %0, [%1];" : "=l"(value) : "r"(address) : "memory");
}
__device__ __forceinline__ void store_shared(uint32_t address, uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ __forceinline__ void store_shared(uint32_t address, unsigned long long value) {
  asm volatile("st.shared.u64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
}

// Begins the copy of an item of 4 or 8 bytes to shared memory. It is there for this thread after
// wait_for_async_copies(), for the block's others after a barrier behind it.
template <class T>
__device__ __forceinline__ void copy_async(uint32_t to, const T *from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "what the hardware copies");
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(sizeof(T)) : "memory");
#else
  using Word = typename std::conditional<sizeof(T) == 8, unsigned long long, uint32_t>::type;
  store_shared(to, static_cast<Word>(*from));
#endif
}

__device__ __forceinline__ void wait_for_async_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_SHARED_ACCESS_CUH_
