// SPDX-License-Identifier: MIT OR Apache-2.0
// The map of the MSD sort: where keys spread unevenly, a large sample gives every part of the range as many cells as it
// has keys.
#ifndef GSORT_CUDA_SORT_MSD_MAP_CUH_
#define GSORT_CUDA_SORT_MSD_MAP_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::msd {

// What the sample says about the entries of the map, in shared memory.
struct MapStorage {
  uint32_t sums[kMapEntries];   // sampled keys of an entry
  uint32_t needs[kMapEntries];  // see needed_weight
};
static_assert(sizeof(MapStorage) == kMapWeights * sizeof(uint16_t), "in place of the counters of weights");

// Sampled keys that an entry's cells, which are equally wide, have to be enough for: as if the densest place of the
// entry was everywhere in it. That is one of its four parts, or an end of it, where the slope from one part to the next
// leads. Less what chance adds to the largest of some numbers.
__device__ __forceinline__ uint32_t needed_weight(uint4 parts) {
  const auto end_of = [](float last, float before) {
    return last > before && before > 0 ? last * sqrtf(last / before) : last;
  };
  const float a = static_cast<float>(parts.x), b = static_cast<float>(parts.y), c = static_cast<float>(parts.z),
              d = static_cast<float>(parts.w), most = fmaxf(fmaxf(end_of(a, b), end_of(d, c)), fmaxf(b, c));
  return max(parts.x + parts.y + parts.z + parts.w, static_cast<uint32_t>(4 * fmaxf(most - 1.5f * sqrtf(most), 0.0f)));
}

// Keys to find room for in an entry. A small sample may have missed some, where the neighbours have more; and an entry
// that the data fills in part only is as dense as its denser neighbour.
__device__ __forceinline__ uint32_t entry_weight(const MapStorage &storage, uint32_t entry) {
  const uint32_t own = storage.sums[entry];
  if (own == 0) return 0;
  const uint32_t left = entry != 0 ? storage.sums[entry - 1] : 0;
  const uint32_t right = entry + 1 < kMapEntries ? storage.sums[entry + 1] : 0;
  const uint32_t needs = storage.needs[entry], chance = static_cast<uint32_t>(sqrtf(static_cast<float>(own)));
  uint32_t most = max(needs & 0x7fffffffu, min((left + own + right) / 3, own + 3 * chance));
  if (needs >> 31 != 0) most = max(most, max(left, right));
  return most + chance;
}

// Cells that an entry needs should it have 3.5 deviations more keys than its `sampled` ones stand for: of few sampled
// keys that is a large part. cell_room: sampled keys that stand for a cell as full as the finish takes it.
__device__ __forceinline__ uint32_t needed_cells(uint32_t sampled, float cell_room) {
  const float keys = static_cast<float>(sampled);
  return sampled == 0 ? 0 : static_cast<uint32_t>((keys + 3.5f * sqrtf(keys) + 6) / cell_room) + 1;
}

// Makes the map out of `weights`: every entry gets cells in proportion, and one more. What rounding down leaves goes to
// entries that need more cells than that. cell_room: see needed_cells. By one block of kMapThreads.
template <class U>
__device__ __forceinline__ void make_map(const Arguments<U> &arguments, float cell_room, MapStorage &storage,
                                         uint32_t *warp_totals) {
  constexpr uint32_t kOwn = kMapEntries / kMapThreads;
  __syncthreads();
  for (uint32_t entry = threadIdx.x; entry < kMapEntries; entry += kMapThreads) {
    static_assert(kMapWeights == 4 * kMapEntries, "an entry has four parts");
    const uint4 parts = __ldcg(reinterpret_cast<const uint4 *>(arguments.weights) + entry);
    storage.sums[entry] = parts.x + parts.y + parts.z + parts.w;
    // The upper bit: the entry begins or ends with nothing.
    storage.needs[entry] = needed_weight(parts) | (parts.x == 0 || parts.w == 0 ? 0x80000000u : 0);
  }
  __syncthreads();
  uint32_t weights[kOwn], used = 0, sampled = 0, sum = 0, total_sampled, entries_used, total_weight, total_cells,
                          total_missing, cells = 0, missing = 0;
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) {
    const uint32_t entry = threadIdx.x * kOwn + i;
    weights[i] = entry_weight(storage, entry);
    used += weights[i] != 0;
    sampled += storage.sums[entry];
    sum += weights[i];
  }
  block_exclusive_sum<kMapThreads>(used, warp_totals, entries_used);
  block_exclusive_sum<kMapThreads>(sampled, warp_totals, total_sampled);
  block_exclusive_sum<kMapThreads>(sum, warp_totals, total_weight);
  // Cells that are wanted for the uneven entries are missing elsewhere, and one more for each entry. One is left for
  // what lies above the last entry that has any.
  const uint32_t most = arguments.plan.mapped_cells - 1;
  const uint64_t shared_out = min(most - min(entries_used, most), arguments.plan.map_shares);
  if (uint64_t{total_weight} * 2 > uint64_t{total_sampled} * 3 || 4 * shared_out + 4 < 3 * arguments.plan.map_shares) {
    // Equal cells do for 4-byte keys, if what does not fit them can be counted.
    if (threadIdx.x == 0) {
      if (sizeof(U) == 4 && arguments.state->counting != 0)
        arguments.state->mapped = 0;
      else
        turn_away(arguments.state);
    }
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) {
    weights[i] = weights[i] == 0 ? 0 : static_cast<uint32_t>(weights[i] * shared_out / total_weight) + 1;
    cells += weights[i];
    const uint32_t needed = needed_cells(storage.sums[threadIdx.x * kOwn + i], cell_room);
    if (needed > weights[i]) missing += needed - weights[i];
  }
  block_exclusive_sum<kMapThreads>(cells, warp_totals, total_cells);
  const uint32_t before = block_exclusive_sum<kMapThreads>(missing, warp_totals, total_missing);
  const uint32_t spare = arguments.plan.mapped_cells - 1 - total_cells;
  if (missing != 0 && before + missing <= spare) {
#pragma unroll
    for (uint32_t i = 0; i < kOwn; ++i)
      weights[i] = max(weights[i], needed_cells(storage.sums[threadIdx.x * kOwn + i], cell_room));
    cells += missing;
  }
  uint32_t first = block_exclusive_sum<kMapThreads>(cells, warp_totals, total_cells);
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) {
    arguments.map[threadIdx.x * kOwn + i] = first | weights[i] << 16;
    first += weights[i];
  }
}

// Place of the j-th key of the map's sample: eight neighbours out of each `part` keys.
__device__ __forceinline__ uint64_t map_sample_place(uint32_t j, uint32_t part) {
  const uint32_t group = j / 8;
  return uint64_t{group} * part + __umulhi(mix_bits(group), part - 7) + j % 8;
}

// Weighs the parts of the range by a large sample; the last block makes the map. Dynamic shared memory: MapStorage.
template <class U>
__global__ void __launch_bounds__(kMapThreads)
    msd_map_kernel(const U *keys_in, uint32_t part, KeyCodec<U> codec, Arguments<U> arguments) {
  if constexpr (!kFitsHere<kSharedBytesMin>) return;
  extern __shared__ __align__(16) uint32_t pairs[];  // counters of 16 bits, which a block's keys cannot overflow
  __shared__ uint32_t warp_totals[kMapThreads / 32];
  static_assert(kMapThreads * kMapItems < 65536, "counters of 16 bits");
  wait_for_kernel_before();
  if (arguments.state->go == 0 || arguments.state->mapped == 0) return;
  const uint32_t align = map_align(arguments);
  for (uint32_t i = threadIdx.x; i < kMapWeights / 2; i += kMapThreads) pairs[i] = 0;
  U keys[kMapItems];
#pragma unroll
  for (uint32_t i = 0; i < kMapItems; ++i)
    keys[i] = keys_in[map_sample_place((blockIdx.x * kMapItems + i) * kMapThreads + threadIdx.x, part)];
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < kMapItems; ++i) {
    const uint32_t weight = leading_bits(codec.encode(keys[i]), align) >> (32 - kMapWeightBits);
    atomicAdd(&pairs[weight / 2], weight % 2 == 0 ? 1u : 1u << 16);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kMapWeights / 2; i += kMapThreads) {
    const uint32_t pair = pairs[i];
    if ((pair & 0xffffu) != 0) atomicAdd(&arguments.weights[2 * i], pair & 0xffffu);
    if (pair >> 16 != 0) atomicAdd(&arguments.weights[2 * i + 1], pair >> 16);
  }
  // Eight keys out of each `part` are sampled. 0.95: the finish's cells less 4 deviations of their keys.
  const float cell_room = 0.95f * 8 * BlockShape<sizeof(U)>::kFinishKeysMax / static_cast<float>(part);
  if (is_last_block(&arguments.state->map_tickets, gridDim.x))
    make_map(arguments, cell_room, *reinterpret_cast<MapStorage *>(pairs), warp_totals);
}

// The last entry whose first cell is at most `cell`; 0 if there is none.
__device__ __forceinline__ uint32_t entry_of_cell(const uint32_t *map, uint32_t cell) {
  uint32_t low = 0, high = kMapEntries;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    ((map[middle] & 0xffffu) <= cell ? low : high) = middle;
  }
  return low;
}

// What the finish must know of a cell, see MappedDigits.
template <class U>
__device__ __forceinline__ TwoWords mapped_range(const uint32_t *map, uint32_t cell) {
  const uint32_t entry = entry_of_cell(map, cell), first = map[entry] & 0xffffu, cells = map[entry] >> 16;
  // Above the last entry that has cells: anywhere in the range.
  if (cell - first >= cells) return {0, sizeof(U) == 8 ? kFinishDigits | 32u << 16 : kFinishDigits};
  const uint32_t within = static_cast<uint32_t>(((uint64_t{cell - first} << kMapShift) + cells - 1) / cells);
  const uint32_t begin = (entry << kMapShift) + within, width = ((1u << kMapShift) + cells - 1) / cells;
  if (sizeof(U) == 8) {
    const uint32_t shift = 32 - __clz(static_cast<int>(width));  // of the 20 that a width has at most
    return {begin, static_cast<uint32_t>((uint64_t{kFinishDigits} << shift) / width) | shift << 16};
  }
  const uint32_t factor =
      width < kFinishDigits ? ~0u : static_cast<uint32_t>((uint64_t{kFinishDigits} << 32) / (width + 1));
  return {begin - (begin != 0), factor};
}

// Writes what later kernels must know of cells and bins, by all blocks of the histogram together. map: in shared
// memory.
template <class U>
__device__ __forceinline__ void describe_mapped_cells(const Arguments<U> &arguments, const uint32_t *map) {
  const uint32_t cells = arguments.plan.mapped_cells, second_bits = arguments.plan.second_bits;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x) {
    arguments.ranges[i] = mapped_range<U>(map, i);
    // From the last entry with cells of the bin before, for it may be shared, and those behind it may have no cell.
    if (i % (1u << second_bits) == 0) arguments.bin_entries[i >> second_bits] = i == 0 ? 0 : entry_of_cell(map, i - 1);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) arguments.bin_entries[cells >> second_bits] = kMapEntries - 1;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_MAP_CUH_
