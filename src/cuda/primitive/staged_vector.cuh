// SPDX-License-Identifier: MIT OR Apache-2.0
// Elements in 16-byte vectors, on their way between lanes through shared memory.
#ifndef GSORT_CUDA_PRIMITIVE_STAGED_VECTOR_CUH_
#define GSORT_CUDA_PRIMITIVE_STAGED_VECTOR_CUH_

#include <cstdint>

namespace gsort_internal {

// Where 16-byte vector v lies in shared memory. The exclusive or spreads both ways of access, 8 consecutive vectors and
// one vector of each of 8 lanes that hold 2, 4 or 8 consecutive ones, over all 32 banks.
__device__ __forceinline__ uint32_t staged_vector(uint32_t v) { return v ^ ((v >> 3) & 7); }

// Element e of a vector; e is known at compile time.
template <class Bits>
__device__ __forceinline__ Bits vector_element(const uint4 &v, uint32_t e) {
  const uint32_t words[4] = {v.x, v.y, v.z, v.w};
  if constexpr (sizeof(Bits) == 8)
    return words[2 * e] | static_cast<uint64_t>(words[2 * e + 1]) << 32;
  else
    return static_cast<Bits>(words[e * sizeof(Bits) / 4] >> (e * sizeof(Bits) % 4 * 8));
}

// Sets element e of a vector, zero so far.
template <class Bits>
__device__ __forceinline__ void put_element(uint32_t (&words)[4], uint32_t e, Bits b) {
  if constexpr (sizeof(Bits) == 8) {
    words[2 * e] = static_cast<uint32_t>(b);
    words[2 * e + 1] = static_cast<uint32_t>(b >> 32);
  } else {
    words[e * sizeof(Bits) / 4] |= static_cast<uint32_t>(b) << (e * sizeof(Bits) % 4 * 8);
  }
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_STAGED_VECTOR_CUH_
