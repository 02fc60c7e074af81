// SPDX-License-Identifier: MIT OR Apache-2.0
// How the finish of the stable MSD sort puts words in order that lie in shared memory by their digit: in windows of
// registers, by looks at neighbours, or by a network. No two words are equal.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_ORDER_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_ORDER_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/stable_plan.h"
#include "cuda/sort/msd/window_sort.cuh"

namespace gsort_internal {

// The most words of one digit that the windows put in order: with one a digit on average, 1 cell in 100 has more.
constexpr uint32_t kStableWindowGroup = 8;
constexpr uint32_t kStableWindowHalo = kStableWindowGroup - 1;

// Sorts words[0 .. count) ascending with Batcher's bitonic network in the form whose comparators all point one way, so
// that the missing words of a count that is no power of two need no padding. 105 steps for 9,216 words.
template <class U>
__device__ __noinline__ void stable_network(U *words, uint32_t count) {
  const auto exchange = [&](uint32_t low, uint32_t high) {
    if (high >= count) return;
    const U a = words[low], b = words[high];
    if (a > b) words[low] = b, words[high] = a;
  };
  for (uint32_t size = 2; size / 2 < count; size *= 2) {
    for (uint32_t i = threadIdx.x; i < (count + size - 1) / size * (size / 2); i += blockDim.x) {
      const uint32_t within = i % (size / 2), base = i / (size / 2) * size;
      exchange(base + within, base + size - 1 - within);
    }
    __syncthreads();
    for (uint32_t half = size / 4; half != 0; half /= 2) {
      for (uint32_t i = threadIdx.x; i < (count + 2 * half - 1) / (2 * half) * half; i += blockDim.x) {
        const uint32_t low = i / half * 2 * half + i % half;
        exchange(low, low + half);
      }
      __syncthreads();
    }
  }
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

// Replaces counts by first places. All threads call it, and it ends with a barrier. A warp takes the counters of
// neighbouring digits, a thread groups of four of them, 128 apart, so that its 16-byte accesses meet no conflict; one
// scan serves two groups, in halves of a word.
template <uint32_t kThreads>
__device__ __forceinline__ void scan_stable_counters(uint32_t *counters, uint32_t *warp_totals) {
  constexpr uint32_t kGroups = kStableFinishDigits / 4 / kThreads, kPairs = kGroups / 2;
  static_assert(kGroups % 2 == 0 && kThreads % 32 == 0, "groups are scanned in pairs");
  uint4 *const own = reinterpret_cast<uint4 *>(counters) + threadIdx.x / 32 * (32 * kGroups) + lane_id();
  uint32_t before[kPairs], last[kPairs], warp_total = 0;
#pragma unroll
  for (uint32_t pair = 0; pair < kPairs; ++pair) {
    const uint4 a = own[pair * 64], b = own[pair * 64 + 32];
    const uint32_t sums = (a.x + a.y + a.z + a.w) | (b.x + b.y + b.z + b.w) << 16;
    const uint32_t inclusive = warp_inclusive_sum(sums);
    before[pair] = inclusive - sums;
    last[pair] = __shfl_sync(kFullWarp, inclusive, 31);
    warp_total += (last[pair] & 0xffffu) + (last[pair] >> 16);
  }
  if (lane_id() == 31) warp_totals[threadIdx.x / 32] = warp_total;
  __syncthreads();
  uint32_t first = warp_sum(lane_id() < threadIdx.x / 32 ? warp_totals[lane_id()] : 0);
#pragma unroll
  for (uint32_t pair = 0; pair < kPairs; ++pair) {
    // The counters are read again rather than held: with the keys they would not fit the registers.
    asm volatile("" ::: "memory");
    counts_to_places(own + pair * 64, first + (before[pair] & 0xffffu));
    first += last[pair] & 0xffffu;
    asm volatile("" ::: "memory");
    counts_to_places(own + pair * 64 + 32, first + (before[pair] >> 16));
    first += last[pair] >> 16;
  }
  __syncthreads();
}

// Whether some digit has more words than looking at neighbours is good for. counters: place of each digit's first word.
__device__ __forceinline__ bool any_crowded_digit(const uint32_t *counters, uint32_t count) {
  bool crowded = false;
  for (uint32_t i = threadIdx.x; i < kStableFinishDigits; i += blockDim.x)
    crowded |= (i + 1 < kStableFinishDigits ? counters[i + 1] : count) - counters[i] > kStableNeighboursMax;
  return __syncthreads_or(crowded);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_MSD_STABLE_ORDER_CUH_
