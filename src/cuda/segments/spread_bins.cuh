// SPDX-License-Identifier: MIT OR Apache-2.0
// How a block spreads a segment's keys over as many bins as it has keys, by one counting step, laid so that each has
// about one key, whatever the keys' distribution is. A coarse count of the segment's range says how many bins each part
// of the range gets; where a key's fraction of its part lies, there lies its bin. (Interpolation as in proportion
// extend sort and flashsort: Neubert, "The Flashsort1 Algorithm", Dr. Dobb's Journal (1998), with a piecewise linear
// distribution instead of one line.)
#ifndef GSORT_CUDA_SEGMENTS_SPREAD_BINS_CUH_
#define GSORT_CUDA_SEGMENTS_SPREAD_BINS_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/primitive/counter_scan.cuh"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/segments/plan.h"

namespace gsort_internal::segments {

// Keys of one bin that threads put in order in registers; more are a crowd, for a warp.
constexpr uint32_t kBinWindow = 8;
// Keys of a thread's run of neighbours, which it puts in order: an odd number, so that those of a warp lie in all
// banks.
template <class Shape>
constexpr int kBinRun = Shape::kRows | 1;
constexpr uint32_t kCrowdsMax = 128;  // that can be listed

template <class U, class Shape>
struct SpreadStorage {
  static constexpr uint32_t kParts = Shape::kThreads;
  uint4 counters[Shape::kItems / 4];  // a word a bin
  uint32_t parts[kParts];             // counts of the range's parts; then first bin | bins << 16
  uint32_t warp_totals[Shape::kWarps];
  uint32_t spread[4];  // of the segment in work
  U least[Shape::kWarps], greatest[Shape::kWarps];
  uint32_t crowd_count;
  uint32_t crowds[kCrowdsMax];  // first key | keys << 16
  // Keys of no bin lie around the segment's, where windows end.
  U padded_keys[kBinWindow + Shape::kItems + Shape::kRows + kBinWindow];
};

// Where the keys of a segment lie: parts of equal width from the least key to the greatest.
template <class U>
struct Spread {
  U least;
  uint32_t shift;   // of a key's distance from the least, so that 32 bits hold it
  uint32_t factor;  // parts by distance, times 2^32

  __device__ __forceinline__ Spread(U low, U high, uint32_t parts) : least(low) {
    const uint32_t width = bit_width(static_cast<U>(high - low));
    shift = width > 32 ? width - 32 : 0;
    const uint64_t distances = static_cast<uint64_t>(static_cast<U>(high - low) >> shift) + 1;
    // Few distances have a part each, or some.
    factor = static_cast<uint32_t>(min((uint64_t{parts} << 32) / distances, uint64_t{~0u}));
  }
  __device__ __forceinline__ explicit Spread(const volatile uint32_t *words)
      : least(static_cast<U>(sizeof(U) == 8 ? uint64_t{words[3]} << 32 | words[2] : words[2])),
        shift(words[0]),
        factor(words[1]) {}
  __device__ __forceinline__ void put(volatile uint32_t *words) const {
    words[0] = shift, words[1] = factor, words[2] = static_cast<uint32_t>(least);
    words[3] = static_cast<uint32_t>(uint64_t{least} >> 32);
  }
  // The part in the upper half, the fraction of it in the lower.
  __device__ __forceinline__ uint64_t locate(U key) const {
    return uint64_t{static_cast<uint32_t>(static_cast<U>(key - least) >> shift)} * factor;
  }
};

// The least and the greatest key. Ends with a barrier.
template <class U, class Shape>
__device__ __forceinline__ void find_range(SpreadStorage<U, Shape> &storage, uint32_t count,
                                           const U (&keys)[Shape::kRows], U &low, U &high) {
  using Wide = typename std::conditional<sizeof(U) == 8, uint64_t, uint32_t>::type;
  Wide least = static_cast<U>(~U{0}), greatest = 0;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if (row * Shape::kThreads + threadIdx.x >= count) continue;
    least = min(least, Wide{keys[row]});
    greatest = max(greatest, Wide{keys[row]});
  }
  least = warp_least(least), greatest = warp_greatest(greatest);
  if (lane_id() == 0) {
    storage.least[threadIdx.x / 32] = static_cast<U>(least);
    storage.greatest[threadIdx.x / 32] = static_cast<U>(greatest);
  }
  __syncthreads();
  const uint32_t warp = min(lane_id(), Shape::kWarps - 1);
  low = static_cast<U>(warp_least(Wide{storage.least[warp]}));
  high = static_cast<U>(warp_greatest(Wide{storage.greatest[warp]}));
}

// Counts the keys of each part and gives it as many bins. Ends with a barrier.
template <class U, class Shape>
__device__ __forceinline__ void cut_parts(SpreadStorage<U, Shape> &storage, uint32_t count, const Spread<U> &spread,
                                          const U (&keys)[Shape::kRows]) {
  static_assert(SpreadStorage<U, Shape>::kParts == Shape::kThreads, "a thread has one part");
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (row * Shape::kThreads + threadIdx.x < count)
      atomicAdd(&storage.parts[static_cast<uint32_t>(spread.locate(keys[row]) >> 32)], 1u);
  __syncthreads();
  const uint32_t keys_here = storage.parts[threadIdx.x];
  uint32_t all;
  const uint32_t first = block_exclusive_sum<Shape::kThreads>(keys_here, storage.warp_totals, all);
  storage.parts[threadIdx.x] = first | keys_here << 16;
  __syncthreads();
}

// Counts of bins become places of their first keys. `quads`: counters of the segment by four, a multiple of the
// block's threads. All threads call it, and it ends with a barrier. Not scan_counters(): two quadruples to a scan need
// registers that are the keys' here (4-byte keys on sm_90: 136 bytes of stack a thread instead of 88).
template <class U, class Shape>
__device__ __forceinline__ void place_bins(SpreadStorage<U, Shape> &storage, uint32_t rounds) {
  constexpr uint32_t kRounds = Shape::kRows / 4;
  uint4 *const own = storage.counters + threadIdx.x / 32 * 32 * rounds + lane_id();
  uint32_t before[(kRounds + 1) / 2];  // two to a word
  uint32_t total = 0;
#pragma unroll
  for (uint32_t round = 0; round < kRounds; ++round) {
    if (round >= rounds) break;
    const uint4 counts = own[round * 32];
    const uint32_t sum = counts.x + counts.y + counts.z + counts.w, inclusive = warp_inclusive_sum(sum);
    const uint32_t own_before = total + inclusive - sum;
    before[round / 2] = round % 2 == 0 ? own_before : before[round / 2] | own_before << 16;
    total += __shfl_sync(kFullWarp, inclusive, 31);
  }
  if (lane_id() == 0) storage.warp_totals[threadIdx.x / 32] = total;
  __syncthreads();
  const uint32_t before_warp = warp_sum(lane_id() < threadIdx.x / 32 ? storage.warp_totals[lane_id()] : 0);
#pragma unroll
  for (uint32_t round = 0; round < kRounds; ++round)
    if (round < rounds)
      counts_to_places(own + round * 32,
                       before_warp + (round % 2 == 0 ? before[round / 2] & 0xffffu : before[round / 2] >> 16));
  __syncthreads();
}

// The bin in the upper half, the fraction of it in the lower.
template <class U, class Shape>
__device__ __forceinline__ uint64_t locate_in_bin(const SpreadStorage<U, Shape> &storage, const Spread<U> &spread,
                                                  U key) {
  const uint64_t position = spread.locate(key);
  const uint32_t part = storage.parts[position >> 32];
  return (uint64_t{part & 0xffffu} << 32) + uint64_t{static_cast<uint32_t>(position)} * (part >> 16);
}

template <class U, class Shape>
__device__ __forceinline__ uint32_t bin_of(const SpreadStorage<U, Shape> &storage, const Spread<U> &spread, U key) {
  return static_cast<uint32_t>(locate_in_bin(storage, spread, key) >> 32);
}

// Puts the keys into the order of their bins. Returns whether a bin has more than kBinWindow. Ends with a barrier.
template <class U, class Shape>
__device__ __forceinline__ bool scatter_by_bin(SpreadStorage<U, Shape> &storage, uint32_t count, uint32_t rounds,
                                               const Spread<U> &spread, const U (&keys)[Shape::kRows]) {
  if (threadIdx.x == 0) spread.put(storage.spread);
  uint32_t *const counters = reinterpret_cast<uint32_t *>(storage.counters);
  uint32_t numbers[(Shape::kRows + 1) / 2];  // of each key within its bin
  bool crowded = false;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    uint32_t number = 0;
    if (row * Shape::kThreads + threadIdx.x < count)
      number = atomicAdd(&counters[bin_of(storage, spread, keys[row])], 1u);
    crowded |= number >= kBinWindow;
    numbers[row / 2] = row % 2 == 0 ? number : __byte_perm(numbers[row / 2], number, 0x5410);
  }
  crowded = __syncthreads_or(crowded);
  place_bins<U, Shape>(storage, rounds);
  U *const sorted = storage.padded_keys + kBinWindow;
  // Read anew, so that bins are computed again rather than kept in registers that would spill.
  const Spread<U> same(storage.spread);
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if (row * Shape::kThreads + threadIdx.x >= count) continue;
    const uint32_t number = row % 2 == 0 ? numbers[row / 2] & 0xffffu : numbers[row / 2] >> 16;
    sorted[counters[bin_of(storage, same, keys[row])] + number] = keys[row];
  }
  __syncthreads();
  return crowded;
}

// How often the block's threads take four counters each.
template <class Shape>
__device__ __forceinline__ uint32_t place_rounds(uint32_t count) {
  return (count + Shape::kThreads * 4 - 1) / (Shape::kThreads * 4);
}

// Puts `count` keys, key_at(i) each, into the storage in the order of their bins. Returns whether a bin has more than
// kBinWindow. Ends with a barrier.
template <class U, class Shape, class KeyAt>
__device__ __forceinline__ bool spread_by_bin(SpreadStorage<U, Shape> &storage, uint32_t count, const KeyAt &key_at) {
  U *const sorted = storage.padded_keys + kBinWindow;
  const uint32_t rounds = place_rounds<Shape>(count);
  U keys[Shape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (row * Shape::kThreads + threadIdx.x < count) keys[row] = key_at(row * Shape::kThreads + threadIdx.x);
  for (uint32_t i = threadIdx.x; i < rounds * Shape::kThreads; i += Shape::kThreads)
    storage.counters[i] = make_uint4(0, 0, 0, 0);
  storage.parts[threadIdx.x] = 0;
  if (threadIdx.x < kBinWindow) storage.padded_keys[threadIdx.x] = 0;
  if (threadIdx.x < Shape::kRows + kBinWindow) sorted[count + threadIdx.x] = static_cast<U>(~U{0});
  U low, high;
  find_range(storage, count, keys, low, high);
  if (low == high) {  // additions to one counter would wait for each other
    for (uint32_t i = threadIdx.x; i < count; i += Shape::kThreads) sorted[i] = low;
    __syncthreads();
    return false;
  }
  const Spread<U> spread(low, high, SpreadStorage<U, Shape>::kParts);
  cut_parts(storage, count, spread, keys);
  return scatter_by_bin(storage, count, rounds, spread, keys);
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_SPREAD_BINS_CUH_
