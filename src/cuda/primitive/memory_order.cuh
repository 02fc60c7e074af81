// SPDX-License-Identifier: MIT OR Apache-2.0
// Words that blocks of a grid tell each other through global memory, by the order that each access has. Written out:
// cuda::atomic_ref and the compiler's __nv_atomic functions do not say that the memory is global, not even behind
// __builtin_assume(__isGlobal()), and their generic accesses are other instructions (LD for LDG, ATOM for RED).
#ifndef GSORT_CUDA_PRIMITIVE_MEMORY_ORDER_CUH_
#define GSORT_CUDA_PRIMITIVE_MEMORY_ORDER_CUH_

#include <cstdint>

namespace gsort_internal {

// Relaxed: the word itself says all there is to know, and nothing else is read or written on its account.
__device__ __forceinline__ uint32_t load_relaxed(const uint32_t *word) {
  uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ __forceinline__ uint64_t load_relaxed(const uint64_t *word) {
  uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}
// Two words, each a relaxed load of its own. `words` is aligned to 16.
__device__ __forceinline__ void load_relaxed_pair(const uint64_t *words, uint64_t &first, uint64_t &second) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(first), "=l"(second) : "l"(words) : "memory");
}
__device__ __forceinline__ void store_relaxed(uint32_t *word, uint32_t value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}
__device__ __forceinline__ void store_relaxed(uint64_t *word, uint64_t value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}
// The same for the whole system, and known to the compiler, which may move other accesses past them.
__device__ __forceinline__ uint64_t load_volatile(const uint64_t *word) {
  return *const_cast<const volatile uint64_t *>(word);
}
__device__ __forceinline__ void store_volatile(uint64_t *word, uint64_t value) {
  *const_cast<volatile uint64_t *>(word) = value;
}
// The value before. Of atomicAdd() the compiler makes one addition a warp, and the lanes exchange the result, and so
// wait for it, at once.
__device__ __forceinline__ uint32_t fetch_increment_relaxed(uint32_t *word) {
  uint32_t before;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(word) : "memory");
  return before;
}
__device__ __forceinline__ unsigned long long fetch_add_relaxed(unsigned long long *word, unsigned long long value) {
  unsigned long long before;
  asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(word), "l"(value) : "memory");
  return before;
}

// Release: what this thread wrote or saw before becomes visible to whoever acquires the word.
__device__ __forceinline__ void increment_release(uint32_t *word) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
}
// Acquire: what was released with the word is read after it only.
__device__ __forceinline__ uint32_t load_acquire(const uint32_t *word) {
  uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_MEMORY_ORDER_CUH_
