// SPDX-License-Identifier: MIT OR Apache-2.0
// Brings memory into the L2 cache ahead of its use. Written out: CUDA 13.0 has no call for either instruction (that of
// cuda::apply_access_property() is another, which also says how long to keep the line).
#ifndef GSORT_CUDA_PRIMITIVE_PREFETCH_CUH_
#define GSORT_CUDA_PRIMITIVE_PREFETCH_CUH_

#include <cstdint>

namespace gsort_internal {

// The line of the address.
__device__ __forceinline__ void prefetch_line(const void *address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

// One thread asks for array[first .. first + count), as far as it lies below `end`, by one bulk prefetch (compute
// capability 9.0; elsewhere it does nothing). Only whole pieces of 16 bytes are fetched.
template <class T>
__device__ __forceinline__ void prefetch_to_l2(const T *array, uint64_t first, uint32_t count, uint64_t end) {
#if __CUDA_ARCH__ >= 900
  if (first >= end) return;
  const uint64_t items = end - first < count ? end - first : count;
  const uint64_t begin_address = (reinterpret_cast<uint64_t>(array + first) + 15) & ~uint64_t{15};
  const uint64_t end_address = reinterpret_cast<uint64_t>(array + first + items) & ~uint64_t{15};
  if (begin_address >= end_address) return;
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin_address),
               "r"(static_cast<uint32_t>(end_address - begin_address))
               : "memory");
#endif
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_PREFETCH_CUH_
