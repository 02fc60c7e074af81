// SPDX-License-Identifier: MIT OR Apache-2.0
// Whether the first, small sample of 4-byte keys shows values that have some cells' worth of keys each. Their cells
// take a block long, or have no other keys; the LSD sort is quicker then, and is told so before a map is made.
#ifndef GSORT_CUDA_SORT_MSD_LUMPS_CUH_
#define GSORT_CUDA_SORT_MSD_LUMPS_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/plan.h"
#include "cuda/sort/msd/sample.cuh"

namespace gsort_internal::sort::msd {

// Values with so many of the sample's keys, up to kHeavyMost cells' worth of them, if they have more than a
// kHeavyShare-th of the sample together, and more than kHeavyMean each: values that are all alike, of a hot range, make
// cells that are alike, and a value with more keys is one cell that is quickly counted. (Shares and means of 5 to 17
// million keys, simulated: hashed words 0.24 to 0.33 and 18 to 27, zipf of rank 0.20 to 0.29 and 18 to 26, four words
// ANDed 0.33 to 0.36 and 20 to 30, log-uniform integers 0.12 to 0.16 and 19 to 23; a hot bucket of floats 0.73 and 11,
// half a hot bucket 0.13 to 0.16 and 10, text 0.06 and 12, prices 0.05 and 9; others less than 0.05.)
constexpr uint32_t kHeavyLeast = 8;
constexpr float kHeavyMost = 36.0f;
constexpr uint32_t kHeavyShare = 10;
constexpr uint32_t kHeavyMean = 15;
// It is asked where the map has so many cells or fewer, of up to 17.7 million keys.
constexpr uint32_t kHeavyCellsMax = 2560;

// By a block of kThreads; every thread learns the same. counts: a bit table's 2^Sample::kMeetingBits bits of shared
// memory, here counters of hashed keys, of which so few share one that hardly any seems heavy by that.
template <class Sample, uint32_t kThreads>
__device__ __forceinline__ bool has_heavy_values(const uint32_t *keys_in, uint64_t n, const KeyCodec<uint32_t> &codec,
                                                 uint32_t cells, uint32_t *counts) {
  constexpr uint32_t kCounterBits = Sample::kMeetingBits - 5, kCounters = 1u << kCounterBits;
  static_assert(Sample::kKeys <= kCounters, "one key a counter, or fewer");
  __shared__ uint32_t heavy, heavy_values;
  for (uint32_t i = threadIdx.x; i < kCounters; i += kThreads) counts[i] = 0;
  if (threadIdx.x == 0) heavy = heavy_values = 0;
  __syncthreads();
#pragma unroll 1
  for (uint32_t first = 0; first < Sample::kItems; first += kSampleAhead) {
    uint32_t keys[kSampleAhead];  // from the cache: they have been looked at before
    load_sampled<Sample, kThreads>(keys_in, n, codec, first, keys);
#pragma unroll
    for (uint32_t i = 0; i < kSampleAhead; ++i) atomicAdd(&counts[mix_bits(keys[i]) >> (32 - kCounterBits)], 1u);
  }
  __syncthreads();
  const auto most = static_cast<uint32_t>(kHeavyMost * Sample::kKeys / static_cast<float>(cells));
  uint32_t keys = 0, values = 0;
  for (uint32_t i = threadIdx.x; i < kCounters; i += kThreads)
    if (counts[i] >= kHeavyLeast && counts[i] <= most) keys += counts[i], ++values;
  keys = warp_sum(keys), values = warp_sum(values);
  if (lane_id() == 0) atomicAdd(&heavy, keys), atomicAdd(&heavy_values, values);
  __syncthreads();
  return heavy > Sample::kKeys / kHeavyShare && heavy > kHeavyMean * heavy_values;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_LUMPS_CUH_
