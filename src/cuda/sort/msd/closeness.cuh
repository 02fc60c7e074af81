// SPDX-License-Identifier: MIT OR Apache-2.0
// Whether 4-byte keys lie closely together within cells of the map, in a finer way than its entries show: a block then
// has many keys of one digit to put in order, cell by cell, and the LSD sort is quicker.
#ifndef GSORT_CUDA_SORT_MSD_CLOSENESS_CUH_
#define GSORT_CUDA_SORT_MSD_CLOSENESS_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/sample.cuh"
#include "cuda/sort/msd/shares.h"

namespace gsort_internal::sort::msd {

// Keys that crowd within cells: beyond equal ones and chance more than kCloseKeys of the sample's 8,192 meet another,
// and kAskedKeys or more are where values share digits. (H200, 2026-11-27, u32 and f32 of 68 kinds of data, 8 to 134
// million keys: of those that the map was slower with than the LSD sort, ANDs of two and four words, clusters, text,
// addresses and times of day had 100 to 3,000; of others one had 89, and most less than 50.)
constexpr uint32_t kCloseKeys = 96, kAskedKeys = 1536;
// An entry has at least so many shares of cells if each of its values has a digit of its own.
constexpr uint32_t kExactShares = kShareUnit << (kMapShift - kFinishBits);

// A second sample of 4-byte keys, which tells whether they crowd within cells of the map.
using ClosenessSample = SmallSample;
static_assert(ClosenessSample::kItems == kSampleAhead && kMapThreads == kSampleThreads, "a thread keeps its keys");

// Behind MapStorage.
struct ClosenessStorage {
  uint32_t equal[(1u << ClosenessSample::kMeetingBits) / 32], close[(1u << ClosenessSample::kMeetingBits) / 32];
};

// Counts keys that differ and meet another in one of 2^ClosenessSample::kMeetingBits equal parts of all cells, with as
// much weight each, but for keys of entries with so many cells that each value has a digit of its own: where they
// crowd, that costs nothing. Returns whether the LSD sort is quicker. begins: where entries do, in shares of cells;
// last: the last share. By the block; ends with a barrier.
__device__ __forceinline__ bool lie_closely(const uint32_t (&keys)[kSampleAhead], const uint32_t *begins, uint32_t last,
                                            ClosenessStorage &storage) {
  constexpr uint32_t kBits = ClosenessSample::kMeetingBits;
  __shared__ uint32_t asked, equal, close;
  clear_slots<kMapThreads>(kBits, storage.equal);
  clear_slots<kMapThreads>(kBits, storage.close);
  if (threadIdx.x == 0) asked = equal = close = 0;
  __syncthreads();
  const uint64_t factor = (uint64_t{1} << (32 + kBits)) / (last + 1);
  uint32_t own_asked = 0, own_equal = 0, own_close = 0;
#pragma unroll
  for (uint32_t i = 0; i < kSampleAhead; ++i) {
    const uint32_t entry = keys[i] >> kMapShift, begin = begins[entry];
    const uint32_t shares = (entry + 1 < kMapEntries ? begins[entry + 1] : last + 1) - begin;
    const uint64_t place = (uint64_t{begin} << 32) + uint64_t{keys[i] << kMapBits} * shares;
    const auto part = min(static_cast<uint32_t>(__umul64hi(place, factor)), (1u << kBits) - 1);
    // Neighbours that share a part are taken for one, as in sorted data.
    if (repeats(part) || shares >= kExactShares) continue;
    ++own_asked;
    own_equal += meets_another(keys[i], kBits, storage.equal);
    own_close += mark_slot(part, storage.close);
  }
  own_asked = warp_sum(own_asked), own_equal = warp_sum(own_equal), own_close = warp_sum(own_close);
  if (lane_id() == 0) atomicAdd(&asked, own_asked), atomicAdd(&equal, own_equal), atomicAdd(&close, own_close);
  __syncthreads();
  return close > equal + kCloseKeys && asked >= kAskedKeys;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_CLOSENESS_CUH_
