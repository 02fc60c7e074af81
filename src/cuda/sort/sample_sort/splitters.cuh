// SPDX-License-Identifier: MIT OR Apache-2.0
// Splitters of a sorted sample, and the search for the part of the range that a key lies in.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_SPLITTERS_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_SPLITTERS_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"

namespace gsort_internal::sort::sample_sort {

// How many keys of sample[begin .. end), whole vectors, come before `key`: those that are less, and with kOrEqual equal
// ones too.
template <bool kOrEqual, class U>
__device__ __forceinline__ uint32_t count_before(const U *sample, uint32_t begin, uint32_t end, U key) {
  constexpr uint32_t kVector = 16 / sizeof(U);
  uint32_t before = 0;
#pragma unroll 4
  for (uint32_t i = begin; i < end; i += kVector) {
    const uint4 words = *reinterpret_cast<const uint4 *>(sample + i);
    const U *const others = reinterpret_cast<const U *>(&words);
#pragma unroll
    for (uint32_t j = 0; j < kVector; ++j) before += kOrEqual ? others[j] <= key : others[j] < key;
  }
  return before;
}

// How many keys of a slice of the sample come before sample[own], equal ones in the order of the sample. The lanes of a
// warp have neighbouring `own`, from a multiple of 32; slices are of multiples of 32.
template <class U>
__device__ __forceinline__ uint32_t rank_in_slice(const U *sample, uint32_t begin, uint32_t end, uint32_t own) {
  const U key = sample[own];
  const uint32_t warp_own = own & ~31u, middle = min(max(warp_own, begin), end);
  uint32_t before = count_before<true>(sample, begin, middle, key);
  if (warp_own < begin || warp_own >= end) return before + count_before<false>(sample, middle, end, key);
  for (uint32_t i = middle; i < middle + 32; ++i) before += sample[i] < key || (sample[i] == key && i < own);
  return before + count_before<false>(sample, middle + 32, end, key);
}

// The least key of part `part` of kParts, between splitters that are get(1) to get(kParts - 1), ascending; get(0) is
// the least of the sample. The last of several equal ones stands for the next value, so that the part before has one
// value alone.
template <uint32_t kParts, class U, class Get>
__device__ __forceinline__ U part_start(uint32_t part, Get get) {
  if (part == 0) return 0;
  constexpr U kLast = static_cast<U>(~U{0});
  const U before = get(part - 1), own = get(part);
  const bool last = part + 1 == kParts || get(part + 1) != own;
  return own + (before == own && last && own != kLast ? 1 : 0);
}

// Whether a part that begins at `start` has one value; behind the last part begins 0.
template <class U>
__device__ __forceinline__ bool has_one_value(U start, U next_start) {
  return static_cast<U>(next_start - start) == 1;
}

// Which part begins at node `node` of a search tree, whose depths lie behind each other: the children of node i are 2 i
// and 2 i + 1.
template <uint32_t kBits>
__device__ __forceinline__ uint32_t part_of_node(uint32_t node) {
  const uint32_t depth = 31 - __clz(static_cast<int>(node)), within = node - (1u << depth);
  return (2 * within + 1) << (kBits - 1 - depth);
}

// The parts of some keys at a time, so that their steps overlap.
template <uint32_t kBits, uint32_t kItems, class U>
__device__ __forceinline__ void find_parts(const U *tree, const U *keys, uint32_t (&parts)[kItems]) {
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) parts[i] = 1;
#pragma unroll
  for (uint32_t depth = 0; depth < kBits; ++depth)
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) parts[i] = 2 * parts[i] + (tree[parts[i]] <= keys[i]);
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) parts[i] -= 1u << kBits;
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_SPLITTERS_CUH_
