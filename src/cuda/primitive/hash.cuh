// SPDX-License-Identifier: MIT OR Apache-2.0
// Mixings of bits: neighbours and periods of the input leave no pattern in them, as they do in a multiplication.
#ifndef GSORT_CUDA_PRIMITIVE_HASH_CUH_
#define GSORT_CUDA_PRIMITIVE_HASH_CUH_

#include <cstdint>

namespace gsort_internal {

// The finalizers of MurmurHash3 (Appleby) and of splitmix64 (Steele, Lea and Flood 2014).
__device__ __forceinline__ uint32_t mix_bits(uint32_t bits) {
  bits = (bits ^ bits >> 16) * 0x85ebca6bu;
  bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
  return bits ^ bits >> 16;
}
__device__ __forceinline__ uint64_t mix_bits(uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebull;
  return bits ^ bits >> 31;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_HASH_CUH_
