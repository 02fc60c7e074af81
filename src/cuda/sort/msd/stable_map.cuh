// SPDX-License-Identifier: MIT OR Apache-2.0
// The map of the stable MSD sort: where keys spread unevenly, as floats do, a large sample gives every part of the
// range as many cells as it has keys for, all of a part equally wide.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_MAP_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_MAP_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/primitive/search.cuh"
#include "cuda/sort/msd/map.cuh"
#include "cuda/sort/msd/stable_state.cuh"

namespace gsort_internal::sort::msd {

constexpr uint32_t kStableOwnEntries = kStableMapEntries / kMapThreads;  // of a thread
constexpr uint32_t kStableEntryParts = kMapWeights / kStableMapEntries;  // that the sample tells apart
static_assert(kStableEntryParts == 8, "two vectors");

// Most of the sample, as one in so many, that may lie in entries of which one part has more than half of the keys, as
// where values repeat or lie close together: cells of such an entry are uneven, and one with too many pairs turns all
// away, after a read of the keys.
constexpr uint32_t kStableLumpShare = 16;

// What the sample says of an entry.
struct StableEntry {
  uint32_t keys;
  uint32_t most;  // of a part
  float densest;  // keys of a part that is everywhere as dense as the densest place, or the end that the slope leads to
  // Beyond what chance adds to the largest of a few.
  __device__ __forceinline__ bool is_lumpy() const {
    const float part = static_cast<float>(most);
    return 2 * (part - 2 * sqrtf(part)) > static_cast<float>(keys);
  }
};

__device__ __forceinline__ StableEntry weigh_stable_entry(const uint32_t *weights, uint32_t entry) {
  const uint4 *const parts = reinterpret_cast<const uint4 *>(weights) + 2 * entry;
  const uint4 a = __ldcg(parts), b = __ldcg(parts + 1);
  const auto end = [](uint32_t last, uint32_t before) {
    return steep_end(static_cast<float>(last), static_cast<float>(before));
  };
  const uint32_t most = max(max(max(a.x, a.y), max(a.z, a.w)), max(max(b.x, b.y), max(b.z, b.w)));
  return {a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w, most,
          fmaxf(static_cast<float>(most), fmaxf(end(a.x, a.y), end(b.w, b.z)))};
}

// Cells for an entry: so many that its keys fill them as the plan means, and that 3.5 deviations more, everywhere as
// dense as in the densest place (less what chance adds to the largest of eight numbers), still fit. An entry of few
// cells has fewer bits for places; one that has one cell may be as uneven as it is. keys_each: that a sampled one
// stands for.
__device__ __forceinline__ uint32_t stable_entry_cells(const StableEntry &entry, uint32_t mapped_items,
                                                       float keys_each) {
  // Of what two cells of an entry hold, and each of many, so much is for the sample's keys.
  constexpr float kFew = 0.94f * 2 * kStableMapEntries, kMany = 0.92f * kStableFinishItems;
  const auto with_chance = [&](float keys, float deviations) {
    return (keys + deviations * sqrtf(keys) + 4) * keys_each;
  };
  const float keys = static_cast<float>(entry.keys);
  // There are thousands of them.
  if (with_chance(keys, 4.5f) <= kFew / 2) return 1;
  const float dense = kStableEntryParts * (entry.densest - sqrtf(entry.densest));
  // Where parts differ so much, places in between are denser than any of them.
  const float needed = with_chance(fmaxf(keys, dense > 1.5f * keys ? 1.1f * dense : dense), 3.5f);
  const uint32_t by_fill = static_cast<uint32_t>(keys * keys_each / static_cast<float>(mapped_items)) + 1;
  const uint32_t cells = max(max(by_fill, 2u), static_cast<uint32_t>(needed / kMany) + 1);
  return cells >= 4 ? cells : max(cells, static_cast<uint32_t>(needed / kFew) + 1);
}

// The sum over the block, for every thread. total: in shared memory, 0 before a barrier that lies before.
__device__ __forceinline__ uint64_t block_sum(uint64_t own, unsigned long long &total) {
  const int64_t sum = warp_sum(static_cast<int64_t>(own));
  if (lane_id() == 0) atomicAdd(&total, static_cast<unsigned long long>(sum));
  __syncthreads();
  return total;
}

// Makes the map out of `weights`, or turns the keys away and returns false. pairs_even: pairs of sampled keys that
// would be in one cell if entries were even inside. By one block of kMapThreads.
__device__ __forceinline__ bool make_stable_map(const StableArguments &arguments, uint32_t sampled, float keys_each,
                                                uint32_t *warp_totals, uint64_t &pairs_even) {
  __shared__ unsigned long long all_pairs;
  if (threadIdx.x == 0) all_pairs = 0;
  uint32_t cells[kStableOwnEntries], sum = 0, lumpy = 0, all, all_lumpy;
  uint64_t pairs = 0;
#pragma unroll
  for (uint32_t i = 0; i < kStableOwnEntries; ++i) {
    const StableEntry entry = weigh_stable_entry(arguments.weights, threadIdx.x * kStableOwnEntries + i);
    cells[i] = stable_entry_cells(entry, arguments.plan.mapped_items, keys_each);
    sum += min(cells[i], kStableMappedCellsMax);
    lumpy += entry.is_lumpy() ? entry.keys : 0;
    pairs += uint64_t{entry.keys} * (max(entry.keys, 1u) - 1) / cells[i];
  }
  uint32_t first = block_exclusive_sum<kMapThreads>(sum, warp_totals, all);
  block_exclusive_sum<kMapThreads>(lumpy, warp_totals, all_lumpy);
  pairs_even = block_sum(pairs, all_pairs);
  if (all > arguments.plan.mapped_cells || all_lumpy > sampled / kStableLumpShare) return false;
#pragma unroll
  for (uint32_t i = 0; i < kStableOwnEntries; ++i) {
    arguments.map[threadIdx.x * kStableOwnEntries + i] = first | cells[i] << 16;
    first += cells[i];
  }
  return true;
}

// What is uneven in a finer way than parts show, as clusters, hours of the day, prices to the cent: keys of another
// sample meet in a cell more often than even entries' would. Smooth data has up to 1.1 times as many such meetings,
// and data whose cells overflow, 1.3 to 7 times (simulated with 2^22 to 2^26 keys of twenty kinds, 2026-11-25).
constexpr uint32_t kStableCheckItems = 16;                 // of a thread
constexpr uint64_t kStableCheckedMin = uint64_t{1} << 21;  // fewer keys would overflow counters of eight bits
constexpr float kStableMeetingsMost = 1.2f;

// Whether the map's cells are as even as the keys' parts. counters: kStableMappedCellsMax bytes of shared memory. By
// one block of kMapThreads, behind a barrier that follows the map.
template <class U>
__device__ __forceinline__ bool has_even_cells(const U *keys_in, uint64_t n, const KeyCodec<U> &codec,
                                               const StableArguments &arguments, uint32_t sampled, uint64_t pairs_even,
                                               uint32_t *counters) {
  __shared__ unsigned long long all_meetings;
  constexpr uint32_t kKeys = kMapThreads * kStableCheckItems;
  if (threadIdx.x == 0) all_meetings = 0;
  for (uint32_t i = threadIdx.x; i < kStableMappedCellsMax / 4; i += kMapThreads) counters[i] = 0;
  const uint32_t align = stable_map_align<U>(arguments), part = static_cast<uint32_t>(n / kKeys);
  U keys[kStableCheckItems];
#pragma unroll
  for (uint32_t i = 0; i < kStableCheckItems; ++i) {
    const uint32_t j = i * kMapThreads + threadIdx.x;
    keys[i] = keys_in[uint64_t{j} * part + __umulhi(mix_bits(~j), part)];
  }
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < kStableCheckItems; ++i) {
    const uint32_t cell = stable_mapped_cell(arguments.map, leading_bits(codec.encode(keys[i]), align));
    atomicAdd(&counters[cell / 4], 1u << cell % 4 * 8);
  }
  __syncthreads();
  uint64_t meetings = 0;
  for (uint32_t i = threadIdx.x; i < kStableMappedCellsMax / 4; i += kMapThreads)
    for (uint32_t word = counters[i]; word != 0; word >>= 8) meetings += (word & 0xffu) * ((word & 0xffu) - 1);
  const float met = static_cast<float>(block_sum(meetings, all_meetings));
  const float share = static_cast<float>(kKeys) / static_cast<float>(sampled);
  return met <= kStableMeetingsMost * share * share * static_cast<float>(pairs_even);
}

// Weighs the parts of the range by a large sample, eight keys out of each `part` (map_part()); the last block makes the
// map. Dynamic shared memory: kMapWeights / 2 words.
template <class U>
__global__ void __launch_bounds__(kMapThreads)
    stable_map_kernel(const U *keys_in, uint64_t n, uint64_t part, KeyCodec<U> codec, StableArguments arguments) {
  if constexpr (!kStableMapHasCode<U>) return;
  extern __shared__ __align__(16) uint32_t pairs[];  // counters of 16 bits, which a block's keys cannot overflow
  static_assert(kStableMappedCellsMax / 4 <= kMapWeights / 2, "counters of cells take their place");
  __shared__ uint32_t warp_totals[kMapThreads / 32];
  wait_for_kernel_before();
  if (arguments.state->go == 0 || arguments.state->way != StableWay::kMapped) return;
  const uint32_t align = stable_map_align<U>(arguments);
  weigh_sample(keys_in, blockIdx.x, part, arguments.weights, pairs,
               [&](U key) { return leading_bits(codec.encode(key), align); });
  if (!is_last_block(&arguments.state->map_tickets, gridDim.x)) return;
  const uint32_t sampled = gridDim.x * kMapThreads * kMapItems;
  uint64_t pairs_even;
  const float keys_each = static_cast<float>(part) / (8u << kMapPartBits);
  bool kept = make_stable_map(arguments, sampled, keys_each, warp_totals, pairs_even);
  __syncthreads();
  if (kept && n >= kStableCheckedMin) kept = has_even_cells(keys_in, n, codec, arguments, sampled, pairs_even, pairs);
  if (!kept && threadIdx.x == 0) turn_away(arguments.state);
}

// Writes what later kernels must know of the map's cells, by all blocks of the histogram together. map: in shared
// memory.
__device__ __forceinline__ void describe_stable_cells(const StableArguments &arguments, const uint32_t *map) {
  // A few threads of every block, for it takes them long.
  for (uint32_t cell = threadIdx.x * gridDim.x + blockIdx.x; cell < arguments.plan.mapped_cells;
       cell += gridDim.x * blockDim.x) {
    const uint32_t entry = last_not_above(kStableMapEntries, cell, [&](uint32_t e) { return map[e] & 0xffffu; });
    const uint32_t within = cell - (map[entry] & 0xffffu), cells = map[entry] >> 16;
    // Above the last entry's there are no keys.
    const uint64_t begin = within < cells ? ((uint64_t{within} << kStableMapShift) + cells - 1) / cells : 0;
    arguments.ranges[cell] = {entry << kStableMapShift | static_cast<uint32_t>(begin), cells};
  }
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_MAP_CUH_
