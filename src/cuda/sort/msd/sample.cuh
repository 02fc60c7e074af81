// SPDX-License-Identifier: MIT OR Apache-2.0
// How the partition sorts draw a sample of the keys, and see whether its keys differ.
#ifndef GSORT_CUDA_SORT_MSD_SAMPLE_CUH_
#define GSORT_CUDA_SORT_MSD_SAMPLE_CUH_

#include <cstdint>

#include "cuda/primitive/hash.cuh"

namespace gsort_internal::sort::msd {

// Place of the j-th of `groups` * 4 sampled keys. Four neighbours are sampled together, for they share a sector; each
// such group comes from its own equal part of the input, at a hashed offset, so that no period of the data meets the
// sample's.
template <uint32_t groups>
__device__ __forceinline__ uint64_t sample_place(uint32_t j, uint64_t n) {
  const uint32_t group = j / 4;
  const uint64_t part = n / groups;
  return group * part + __umulhi(mix_bits(group), static_cast<uint32_t>(part - 3)) + j % 4;
}

// Marks a sampled key in a table of 2^Sample::kMeetingBits bits; returns whether another was there before. Hashed, for
// keys at equal distances would meet at a product alone.
template <class Sample>
__device__ __forceinline__ bool meets_another(uint64_t key, uint32_t *seen) {
  const uint32_t folded = static_cast<uint32_t>(key) ^ static_cast<uint32_t>(key >> 32) * 0x9e3779b1u;
  const uint32_t place = mix_bits(folded) >> (32 - Sample::kMeetingBits);
  const uint32_t bit = 1u << (place & 31);
  return (atomicOr(&seen[place >> 5], bit) & bit) != 0;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SAMPLE_CUH_
