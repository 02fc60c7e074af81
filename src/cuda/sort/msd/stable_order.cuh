// SPDX-License-Identifier: MIT OR Apache-2.0
// How the finish of the stable MSD sort puts words in order that lie in shared memory by their digit: in windows of
// registers, by looks at neighbours, or by radix passes. No two words are equal.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_ORDER_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_ORDER_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/pass_sort.cuh"
#include "cuda/sort/msd/stable_plan.h"

namespace gsort_internal::sort::msd {

// Sorts the words by the block: they go to the places that they name, as they lay in the input, and radix passes over
// the bits above put them in order.
template <uint32_t kThreads, uint32_t kItems, class U>
__device__ __noinline__ void sort_crowded_words(U *words, uint32_t count, uint32_t place_bits,
                                                PassSortStorage<kThreads> &storage) {
  const uint32_t place_mask = (1u << place_bits) - 1;
  {
    U own[kItems];
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i)
      if (i * kThreads + threadIdx.x < count) own[i] = words[i * kThreads + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i)
      if (i * kThreads + threadIdx.x < count) words[static_cast<uint32_t>(own[i]) & place_mask] = own[i];
  }
  __syncthreads();
  sort_by_passes<kThreads, kItems>(words, count, place_bits, storage);
}

// Place of words[i] among its neighbours of the same digit: those before it that are greater go behind it, those behind
// it that are less go before it. A word of another digit stands at either end of the array.
template <class U>
__device__ __forceinline__ uint32_t place_among_equal_digits(const U *words, uint32_t i, uint32_t digit_shift) {
  const U word = words[i];
  uint32_t place = i;
  U other = words[static_cast<int>(i) - 1];
  for (const U *at = words + i - 1; ((other ^ word) >> digit_shift) == 0; other = *--at) place -= other > word;
  other = words[i + 1];
  for (const U *at = words + i + 1; ((other ^ word) >> digit_shift) == 0; other = *++at) place += other < word;
  return place;
}

// Whether some digit has more words than looking at neighbours is good for. counters: place of each digit's first word.
template <uint32_t kDigits>
__device__ __forceinline__ bool any_crowded_digit(const uint32_t *counters, uint32_t count) {
  bool crowded = false;
  for (uint32_t i = threadIdx.x; i < kDigits; i += blockDim.x)
    crowded |= (i + 1 < kDigits ? counters[i + 1] : count) - counters[i] > kStableNeighboursMax;
  return __syncthreads_or(crowded);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_ORDER_CUH_
