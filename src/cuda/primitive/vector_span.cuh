// SPDX-License-Identifier: MIT OR Apache-2.0
// An array at any element-aligned address as aligned 16-byte vectors with edges.
#ifndef GSORT_CUDA_PRIMITIVE_VECTOR_SPAN_CUH_
#define GSORT_CUDA_PRIMITIVE_VECTOR_SPAN_CUH_

#include <cstdint>

namespace gsort_internal {

// 16-byte vectors of an array and the elements before and after them, fewer than a vector holds.
template <class U>
struct VectorSpan {
  const uint4 *vectors;
  uint64_t vector_count;
  uint32_t head_count, tail_count;  // head at the array's begin, tail at its end
};

template <class U>
__device__ __forceinline__ VectorSpan<U> vector_span(const void *in, uint64_t n) {
  const uint64_t address = reinterpret_cast<uint64_t>(in);
  const uint64_t before = ((16 - (address & 15)) & 15) / sizeof(U);
  const uint64_t head = before < n ? before : n;
  const uint64_t bytes = (n - head) * sizeof(U);
  return {reinterpret_cast<const uint4 *>(address + head * sizeof(U)), bytes / 16, static_cast<uint32_t>(head),
          static_cast<uint32_t>(bytes % 16 / sizeof(U))};
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_VECTOR_SPAN_CUH_
