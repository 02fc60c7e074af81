// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys that crowd when they are spread (spread_bins.cuh), as beside an outlier, where half of them lie in a narrow
// place, or where numbers are of every length: each bin is cut into as many as it has keys, and all are spread again.
#ifndef GSORT_CUDA_SEGMENTS_SPREAD_AGAIN_CUH_
#define GSORT_CUDA_SEGMENTS_SPREAD_AGAIN_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/segments/crowds.cuh"
#include "cuda/segments/spread_bins.cuh"

namespace gsort_internal::segments {

// In blocks with more keys a thread the call to this has all registers stored before, whether it is made or not: evenly
// spread segments of 6,000 keys took 5 to 10% longer (H200, 2026-11-27), those of 1,000 as long as without.
template <class Shape>
constexpr bool kSpreadsAgain = Shape::kThreads <= 128;

// Crowds that are put in order before all keys are spread again have up to so many keys.
constexpr uint32_t kFirstCrowdKeysMax = 32;

// How many keys the bin has whose first one lies at first_keys[bin]; there are as many bins as keys.
__device__ __forceinline__ uint32_t keys_of_bin(const uint32_t *first_keys, uint32_t bin, uint32_t count) {
  return (bin + 1 < count ? first_keys[bin + 1] : count) - first_keys[bin];
}

// Cuts every bin into as many as it has keys, and puts the keys, which lie in the order of their bins, into the order
// of those. Begins and ends with a barrier.
template <class U, class Shape>
__device__ __forceinline__ void spread_again(SpreadStorage<U, Shape> &storage, uint32_t count) {
  const uint32_t rounds = place_rounds<Shape>(count);
  uint32_t *const counters = reinterpret_cast<uint32_t *>(storage.counters);
  U *const sorted = storage.padded_keys + kBinWindow;
  U keys[Shape::kRows];
  uint32_t bins[(Shape::kRows + 1) / 2], numbers[(Shape::kRows + 1) / 2];  // two to a word
  {
    const Spread<U> spread(storage.spread);
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; ++row) {
      const uint32_t at = row * Shape::kThreads + threadIdx.x;
      uint32_t finer = 0;
      if (at < count) {
        keys[row] = sorted[at];
        const uint64_t place = locate_in_bin(storage, spread, keys[row]);
        const uint32_t bin = static_cast<uint32_t>(place >> 32);
        finer = counters[bin] + __umulhi(static_cast<uint32_t>(place), keys_of_bin(counters, bin, count));
      }
      bins[row / 2] = row % 2 == 0 ? finer : __byte_perm(bins[row / 2], finer, 0x5410);
    }
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < rounds * Shape::kThreads; i += Shape::kThreads)
    storage.counters[i] = make_uint4(0, 0, 0, 0);
  __syncthreads();
  const auto bin_at = [&](uint32_t row) { return row % 2 == 0 ? bins[row / 2] & 0xffffu : bins[row / 2] >> 16; };
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t number = row * Shape::kThreads + threadIdx.x < count ? atomicAdd(&counters[bin_at(row)], 1u) : 0;
    numbers[row / 2] = row % 2 == 0 ? number : __byte_perm(numbers[row / 2], number, 0x5410);
  }
  __syncthreads();
  place_bins<U, Shape>(storage, rounds);
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if (row * Shape::kThreads + threadIdx.x >= count) continue;
    sorted[counters[bin_at(row)] + (row % 2 == 0 ? numbers[row / 2] & 0xffffu : numbers[row / 2] >> 16)] = keys[row];
  }
  __syncthreads();
}

// Puts the bins of more than kBinWindow keys in order, a warp each. Returns false if they are more or larger than the
// limits allow, but for large ones of few values. Begins and ends with a barrier.
template <class U, class Shape>
__device__ __noinline__ bool sort_crowded_bins(SpreadStorage<U, Shape> &storage, uint32_t count,
                                               const CrowdLimits limits) {
  const uint32_t *const first_keys = reinterpret_cast<const uint32_t *>(storage.counters);
  if (threadIdx.x == 0) storage.crowd_count = 0;
  __syncthreads();
  bool too_many = false;
  for (uint32_t bin = threadIdx.x; bin < count; bin += Shape::kThreads) {
    const uint32_t keys = keys_of_bin(first_keys, bin, count);
    if (keys > kBinWindow) too_many |= !list_crowd(storage, first_keys[bin], keys, limits);
  }
  return !__syncthreads_or(too_many) &&
         sort_listed_crowds(storage, limits, [](U *keys, uint32_t crowd) { return count_crowd(keys, crowd); });
}

// Puts the keys of crowded bins in order; false: they crowd too much, which for one of `few` segments is less. Begins
// and ends with a barrier.
template <class U, class Shape>
__device__ __noinline__ bool order_crowds(SpreadStorage<U, Shape> &storage, uint32_t count, bool few) {
  if (sort_crowded_bins(storage, count, {kFirstCrowdKeysMax, kCrowdsMax})) return true;
  spread_again(storage, count);
  return sort_crowded_bins(storage, count, crowd_limits<Shape>(few));
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_SPREAD_AGAIN_CUH_
