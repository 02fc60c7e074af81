// SPDX-License-Identifier: MIT OR Apache-2.0
// The pass of the sample sort: bins become cells, and keys are moved to theirs. Unstable.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_MOVE_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_MOVE_CUH_

#include <cstdint>

#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/sort/msd/split_partition.cuh"
#include "cuda/sort/sample_sort/sample.cuh"

namespace gsort_internal::sort::sample_sort {

constexpr uint32_t kMoveThreads = 512;
static_assert(kBins == 2 * kMoveThreads, "a thread has two bins");

struct Layout {
  uint16_t bin_cell[kBins];        // or kSplitNoBin: keys of one value are not moved
  uint32_t cell_first[kBins + 1];  // place in the output
  uint32_t cell_keys[kBins];
  uint32_t warp_totals[kMoveThreads / 32];
  bool ends_in_value[kMoveThreads / 32];  // the last bin of each warp
};

template <class U>
struct MoveStorage {
  msd::SplitTileStorage<U> tile;
  Layout layout;
};

// What a thread knows of its two bins.
template <class U>
struct OwnBins {
  U starts[2];
  uint32_t counts[2], places[2];
  bool one_value[2];
};

template <class U>
__device__ __forceinline__ OwnBins<U> look_at_bins(const Arguments<U> &arguments, Layout &layout) {
  OwnBins<U> own;
  const uint32_t bin = 2 * threadIdx.x;
  own.starts[0] = bin_start(arguments.splitters, bin), own.starts[1] = bin_start(arguments.splitters, bin + 1);
  // Behind the last comes 0.
  const U end = bin + 2 < kBins ? bin_start(arguments.splitters, bin + 2) : U{0};
  own.one_value[0] = has_one_value(own.starts[0], own.starts[1]);
  own.one_value[1] = has_one_value(own.starts[1], end);
  const uint2 counts = __ldcg(reinterpret_cast<const uint2 *>(arguments.bin_counts) + threadIdx.x);
  own.counts[0] = counts.x, own.counts[1] = counts.y;
  if (lane_id() == 31) layout.ends_in_value[threadIdx.x / 32] = own.one_value[1];
  uint32_t total;
  own.places[0] = block_exclusive_sum<kMoveThreads>(counts.x + counts.y, layout.warp_totals, total);
  own.places[1] = own.places[0] + counts.x;
  return own;
}

// Numbers the cells: each has neighbouring bins that end in the same part of the output, of no single value. Every
// block does. Returns the number of cells; ends with a barrier.
template <class U>
__device__ __forceinline__ uint32_t number_cells(const OwnBins<U> &own, uint32_t part_keys, Layout &layout) {
  bool before_is_value = __shfl_up_sync(kFullWarp, own.one_value[1], 1);
  if (lane_id() == 0) before_is_value = threadIdx.x == 0 || layout.ends_in_value[threadIdx.x / 32 - 1];
  bool begins[2];
  begins[0] = !own.one_value[0] && before_is_value;
  begins[1] = !own.one_value[1] && own.one_value[0];
#pragma unroll
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t place = own.places[i], end = place + own.counts[i];
    if (!own.one_value[i] && end != place && (place == 0 || (end - 1) / part_keys != (place - 1) / part_keys))
      begins[i] = true;
  }
  for (uint32_t i = threadIdx.x; i < kBins; i += kMoveThreads) layout.cell_keys[i] = 0;
  uint32_t cells;
  uint32_t number = block_exclusive_sum<kMoveThreads>(begins[0] + begins[1], layout.warp_totals, cells);
#pragma unroll
  for (uint32_t i = 0; i < 2; ++i) {
    if (begins[i]) layout.cell_first[number++] = own.places[i];
    const bool moved = !own.one_value[i];
    layout.bin_cell[2 * threadIdx.x + i] = static_cast<uint16_t>(moved ? number - 1 : msd::kSplitNoBin);
    if (moved && own.counts[i] != 0) atomicAdd(&layout.cell_keys[number - 1], own.counts[i]);
  }
  __syncthreads();
  return cells;
}

// For the kernel behind this one, by one block: the cells, and what is to be written of values that are not moved.
template <class U>
__device__ __forceinline__ void tell_cells(const Arguments<U> &arguments, const OwnBins<U> &own, uint32_t cells,
                                           Layout &layout) {
  __shared__ uint32_t bigs;
  if (threadIdx.x == 0) bigs = 0;
  uint32_t chunks[2], all_chunks;
#pragma unroll
  for (uint32_t i = 0; i < 2; ++i) chunks[i] = own.one_value[i] ? (own.counts[i] + kFillKeys - 1) / kFillKeys : 0;
  uint32_t chunk = block_exclusive_sum<kMoveThreads>(chunks[0] + chunks[1], layout.warp_totals, all_chunks);
#pragma unroll
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t bin = 2 * threadIdx.x + i;
    arguments.starts[bin] = own.starts[i];
    for (uint32_t j = 0; j < chunks[i]; ++j, ++chunk) {
      const uint32_t offset = j * kFillKeys;
      arguments.fills[chunk] = {own.places[i] + offset, min(kFillKeys, own.counts[i] - offset), bin};
    }
  }
  for (uint32_t cell = threadIdx.x; cell < cells; cell += kMoveThreads) {
    arguments.cells[cell] = {layout.cell_first[cell], layout.cell_keys[cell]};
    if (layout.cell_keys[cell] > kCellKeysMax) arguments.big[atomicAdd(&bigs, 1u)] = cell;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  arguments.state->cells = cells;
  arguments.state->fills = all_chunks;
  arguments.state->bigs = bigs;
}

// Whether the sorted sample tells of keys in clusters of clusters, as bits ANDed or text: of smooth densities few of
// its distances differ much from the next one. By one block.
template <class U>
__device__ __forceinline__ bool is_crowded(const U *sample) {
  uint32_t crowded = 0;
  for (uint32_t first = 1; first + 1 < kSample; first += kMoveThreads) {
    const uint32_t i = first + threadIdx.x;
    bool differ = false;
    if (i + 1 < kSample) {
      const U key = __ldcg(sample + i), before = static_cast<U>(key - __ldcg(sample + i - 1)),
              behind = static_cast<U>(__ldcg(sample + i + 1) - key), least = min(before, behind);
      differ = least != 0 && max(before, behind) >> msd::kSplitCrowdedBits > least;
    }
    crowded += static_cast<uint32_t>(__syncthreads_count(differ));
  }
  return crowded > kSample / msd::kSplitCrowdedShare;
}

// The cells of a thread's keys, whose bins are known.
template <class U, uint32_t kItems>
struct CellsOfBins {
  const U *keys;  // of which these are the bins
  const uint32_t *bins;
  const uint16_t *bin_cell;

  template <uint32_t kSome>
  __device__ __forceinline__ void find(const U *some, uint32_t (&cells)[kSome]) const {
#pragma unroll
    for (uint32_t i = 0; i < kSome; ++i) {
      const uint32_t number = static_cast<uint32_t>(some - keys) + i;
      cells[i] = bin_cell[number % 2 == 0 ? bins[number / 2] & 0xffffu : bins[number / 2] >> 16];
    }
  }
};

// Room in cells, whose places are in shared memory.
struct CellRoom {
  uint32_t *room;
  const uint32_t *cell_first;

  __device__ __forceinline__ uint32_t take(uint32_t cell, uint32_t keys) const {
    return cell_first[cell] + atomicAdd(&room[cell], keys);
  }
};

// A tile a block. Dynamic shared memory: MoveStorage.
template <class U>
__global__ void __launch_bounds__(kMoveThreads, blocks_here(kMoveThreads, 2))
    move_kernel(const U *keys_in, U *keys_out, uint32_t n, KeyCodec<U> codec, Arguments<U> arguments) {
  if constexpr (!kFitsHere<msd::kSharedBytesMin>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  MoveStorage<U> &storage = *reinterpret_cast<MoveStorage<U> *>(shared);
  constexpr uint32_t kItems = msd::BlockShape<sizeof(U)>::kPartitionItems;
  constexpr uint32_t kTile = msd::BlockShape<sizeof(U)>::kPartitionTile;
  static_assert(msd::BlockShape<sizeof(U)>::kPartitionThreads == kMoveThreads, "a tile of the partition's");
  wait_for_kernel_before();
  if (are_sorted(arguments)) return;
  const uint32_t first = blockIdx.x * kTile, count = min(kTile, n - first);
  uint32_t cells;
  {
    const OwnBins<U> own = look_at_bins(arguments, storage.layout);
    cells = number_cells(own, arguments.part_keys, storage.layout);
    if (blockIdx.x == 0) tell_cells(arguments, own, cells, storage.layout);
    if (blockIdx.x == gridDim.x - 1) {
      const bool crowded = is_crowded(arguments.sample);
      if (threadIdx.x == 0) arguments.state->crowded = crowded;
    }
  }
  U keys[kItems];
  uint32_t bins[(kItems + 1) / 2];
  msd::load_split_tile(keys_in + first, count, keys);
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    const uint32_t place = i * kMoveThreads + threadIdx.x;
    const uint32_t bin = place < count ? __ldcs(arguments.bins + first + place) : 0;
    bins[i / 2] = i % 2 == 0 ? bin : bins[i / 2] | bin << 16;
  }
  msd::clear_split_counts(storage.tile, cells);
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) keys[i] = codec.encode(keys[i]);
  __syncthreads();
  const CellsOfBins<U, kItems> find = {keys, bins, storage.layout.bin_cell};
  const CellRoom room = {arguments.room, storage.layout.cell_first};
  msd::sort_split_tile(keys, count, find, cells, room, storage.tile);
  msd::store_bins(storage.tile, cells, keys_out);
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_MOVE_CUH_
