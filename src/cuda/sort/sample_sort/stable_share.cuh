// SPDX-License-Identifier: MIT OR Apache-2.0
// The pass of the stable sample sort: one cooperative launch counts the pairs of every bin, makes cells of bins, and
// moves each pair to its bin in the order of the input.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_SHARE_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_SHARE_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/sample_sort/splitters.cuh"
#include "cuda/sort/sample_sort/stable_bins.cuh"
#include "cuda/sort/sample_sort/stable_cells.cuh"
#include "cuda/sort/sample_sort/stable_sample.cuh"

namespace gsort_internal::sort::sample_sort {

constexpr uint32_t kStableWarps = kStableThreads / 32;
constexpr uint32_t kStableWarpItems = kStableTileItems / kStableWarps;

template <uint32_t kBits>
struct StableShareStorage {
  static constexpr uint32_t kBins = 1u << kBits;

  alignas(16) uint64_t items[kStableTileItems];        // a tile's keys, then its values, in the order of bins
  alignas(16) uint16_t counters[kStableWarps][kBins];  // pairs of a warp; then the place of its next in the tile
  StableBins<kBits> bins;
  uint16_t bin_of[kStableTileItems * kStableTilesMax];  // the share's pairs; of a tile that is sorted, in that order
  uint32_t counts[kBins];                               // of the share; then the place in the output of its next pair
  uint32_t to_place[kBins];                             // place in the output of what lies in the tile, less that there
  unsigned long long least, greatest;                   // key of the share
};

struct StableShareParams {
  const uint64_t *keys_in;
  uint64_t *keys_out;
  const void *values_in;  // NULL: values are places in the input
  void *values_out;
  KeyCodec<uint64_t> codec;
  StableTables tables;
  uint32_t n, share_items;
  uint32_t cell_items;  // of the equal parts of the output that cells are made by
};

// Finds the bins of the share's pairs, and counts them; finds the share's least key and its greatest, too. Ends with a
// barrier.
template <uint32_t kBits>
__device__ __forceinline__ void count_share(const StableShareParams &params, uint32_t begin, uint32_t items,
                                            StableShareStorage<kBits> &storage) {
  constexpr uint32_t kBatch = kStableTileRows;
  uint64_t least = ~uint64_t{0}, greatest = 0;
  for (uint32_t base = threadIdx.x; base - threadIdx.x < items; base += kBatch * kStableThreads) {
    uint64_t keys[kBatch];
    uint32_t bins[kBatch];
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      const uint32_t place = base + i * kStableThreads;
      keys[i] = place < items ? __ldcg(params.keys_in + begin + place) : 0;
    }
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) keys[i] = params.codec.encode(keys[i]);
    find_parts<kBits>(storage.bins.tree, keys, bins);
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      const uint32_t place = base + i * kStableThreads;
      if (place >= items) continue;
      storage.bin_of[place] = static_cast<uint16_t>(bins[i]);
      atomicAdd(&storage.counts[bins[i]], 1u);
      least = min(least, keys[i]);
      greatest = max(greatest, keys[i]);
    }
  }
#pragma unroll
  for (uint32_t lanes = 16; lanes != 0; lanes /= 2) {
    least = min(least, shuffle_xor(least, lanes));
    greatest = max(greatest, shuffle_xor(greatest, lanes));
  }
  if (lane_id() == 0) {
    atomicMin(&storage.least, static_cast<unsigned long long>(least));
    atomicMax(&storage.greatest, static_cast<unsigned long long>(greatest));
  }
  __syncthreads();
}

// Tells the other blocks how many pairs of each bin the share has, and its range.
template <uint32_t kBits>
__device__ __forceinline__ void tell_share(const StableTables &tables, const StableShareStorage<kBits> &storage) {
  if (threadIdx.x == 0) {
    atomicMin(reinterpret_cast<unsigned long long *>(tables.range), storage.least);
    atomicMax(reinterpret_cast<unsigned long long *>(tables.range + 1), storage.greatest);
  }
  if (threadIdx.x >= 1u << kBits) return;
  const uint32_t count = storage.counts[threadIdx.x];
  tables.counts[(blockIdx.x << kBits) + threadIdx.x] = static_cast<uint16_t>(count);
  static_assert(kStableTileItems * kStableTilesMax < 1u << 16, "such counts fit");
  if (count != 0) atomicAdd(&tables.group_counts[(blockIdx.x / kStableGroupBlocks << kBits) + threadIdx.x], count);
}

// Of every row of a tile: the bin of the thread's pair, and above that how many pairs of it come before in the warp's
// part; then its place in the sorted tile.
constexpr uint32_t kStableNumberShift = 16;

// Counts the warp's pairs of each bin in the order of the input. The warp's counters are 0.
template <uint32_t kBits>
__device__ __forceinline__ void number_tile(const uint16_t *bins, uint32_t items, uint16_t *counters,
                                            uint32_t (&numbered)[kStableTileRows]) {
  const uint32_t minus_one = opaque_minus_one(), first = threadIdx.x / 32 * kStableWarpItems + lane_id();
#pragma unroll
  for (uint32_t row = 0; row < kStableTileRows; ++row) {
    const bool is_pair = first + row * 32 < items;
    const uint32_t bin = is_pair ? bins[first + row * 32] : 0;
    const uint32_t peers = match_bits<kBits>(bin, minus_one) & __ballot_sync(kFullWarp, is_pair);
    const uint32_t number = counters[bin] + static_cast<uint32_t>(__popc(peers & lanes_below()));
    __syncwarp();
    // The last lane of each bin writes the new count.
    if (is_pair && (peers & ~lanes_below()) == 1u << lane_id()) counters[bin] = static_cast<uint16_t>(number + 1);
    __syncwarp();
    numbered[row] = bin | number << kStableNumberShift;
  }
}

// Makes the counts of all warps places in the sorted tile, and knows where in the output that of a bin goes. Begins and
// ends with a barrier.
template <uint32_t kBits>
__device__ __forceinline__ void place_tile(StableShareStorage<kBits> &storage) {
  const uint32_t bin = threadIdx.x;
  const bool is_bin = bin < 1u << kBits;
  __syncthreads();
  uint32_t sum = 0, total;
  if (is_bin) {
#pragma unroll 8
    for (uint32_t warp = 0; warp < kStableWarps; ++warp) sum += storage.counters[warp][bin];
  }
  uint32_t place = block_exclusive_sum<kStableThreads>(sum, storage.bins.warp_totals, total);
  if (is_bin) {
    storage.to_place[bin] = storage.counts[bin] - place;
    storage.counts[bin] += sum;
#pragma unroll 8
    for (uint32_t warp = 0; warp < kStableWarps; ++warp) {
      uint16_t &counter = storage.counters[warp][bin];
      const uint32_t own = counter;
      counter = static_cast<uint16_t>(place);
      place += own;
    }
  }
  __syncthreads();
}

// Where this thread's pairs of a tile come from and go to.
struct StableRows {
  uint32_t items, first;              // in the tile; place in it of row 0, the next row is 32 further
  uint32_t places[kStableTileRows];   // in the sorted tile
  uint32_t targets[kStableTileRows];  // in the output, of what lies in the sorted tile at the thread's column

  __device__ __forceinline__ bool has(uint32_t row) const { return first + row * 32 < items; }
  template <class T, class Load>
  __device__ __forceinline__ void load(T (&loaded)[kStableTileRows], Load at) const {
#pragma unroll
    for (uint32_t row = 0; row < kStableTileRows; ++row)
      if (has(row)) loaded[row] = at(first + row * 32);
  }
  // To the room of the tile, which is free.
  template <class T>
  __device__ __forceinline__ void place(const T (&loaded)[kStableTileRows], T *room) const {
#pragma unroll
    for (uint32_t row = 0; row < kStableTileRows; ++row)
      if (has(row)) room[places[row]] = loaded[row];
  }
  // Neighbours in the output together.
  template <class T>
  __device__ __forceinline__ void store(const T *room, T *to) const {
#pragma unroll
    for (uint32_t row = 0; row < kStableTileRows; ++row) {
      const uint32_t place = row * kStableThreads + threadIdx.x;
      if (place < items) to[targets[row]] = room[place];
    }
  }
};

// Moves a tile of the share, whose pairs begin at `begin` of the input.
template <class V, uint32_t kBits>
__device__ __forceinline__ void move_tile(const StableShareParams &params, uint32_t begin, uint32_t items,
                                          uint16_t *bins, StableShareStorage<kBits> &storage) {
  StableRows rows;
  rows.items = items;
  rows.first = threadIdx.x / 32 * kStableWarpItems + lane_id();
  uint64_t keys[kStableTileRows];
  rows.load(keys, [&](uint32_t i) { return __ldcg(params.keys_in + begin + i); });
  uint16_t *const counters = storage.counters[threadIdx.x / 32];
#pragma unroll
  for (uint32_t i = 0; i < (1u << kBits) / 8; i += 32)
    reinterpret_cast<uint4 *>(counters)[i + lane_id()] = make_uint4(0, 0, 0, 0);
  __syncwarp();
  number_tile<kBits>(bins, items, counters, rows.places);
  place_tile(storage);
#pragma unroll
  for (uint32_t row = 0; row < kStableTileRows; ++row) {
    const uint32_t bin = rows.places[row] & ((1u << kStableNumberShift) - 1);
    rows.places[row] = counters[bin] + (rows.places[row] >> kStableNumberShift);
    if (!rows.has(row)) continue;
    bins[rows.places[row]] = static_cast<uint16_t>(bin);  // all have been read
    keys[row] = params.codec.encode(keys[row]);
  }
  rows.place(keys, storage.items);
  V values[kStableTileRows];
  const V *const values_in = static_cast<const V *>(params.values_in);
  rows.load(values, [&](uint32_t i) { return values_in != nullptr ? __ldcg(values_in + begin + i) : V{begin + i}; });
  __syncthreads();
#pragma unroll
  for (uint32_t row = 0; row < kStableTileRows; ++row) {
    const uint32_t place = row * kStableThreads + threadIdx.x;
    rows.targets[row] = place < items ? storage.to_place[bins[place]] + place : 0;
  }
  rows.store(storage.items, params.keys_out);
  __syncthreads();
  V *const room = reinterpret_cast<V *>(storage.items);
  rows.place(values, room);
  __syncthreads();
  rows.store(room, static_cast<V *>(params.values_out));
  __syncthreads();
}

// A cooperative launch. Outputs are not the inputs. Dynamic shared memory: StableShareStorage.
template <class V, uint32_t kBits>
__global__ void __launch_bounds__(kStableThreads, 1)
    stable_share_kernel(const __grid_constant__ StableShareParams params) {
  if constexpr (!kStableSortsHere) return;
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<StableShareStorage<kBits> *>(shared);
  msd::StableState *const state = state_of(params.tables);
  if (state->go == 0) return;
  const auto leave = [&] {
    if (blockIdx.x == 0 && threadIdx.x == 0) state->go = state->sorted = 0;
  };
  if (threadIdx.x < 1u << kBits) storage.counts[threadIdx.x] = 0;
  if (threadIdx.x == 0) storage.least = ~0ull, storage.greatest = 0;
  const uint32_t begin = blockIdx.x * params.share_items, items = min(params.share_items, params.n - begin);
  // All blocks find the same.
  const bool crowded = make_bins(params.tables.sorted, storage.items, storage.bins);
  if (!crowded) {
    count_share(params, begin, items, storage);
    tell_share(params.tables, storage);
  }
  cooperative_groups::this_grid().sync();
  if (crowded) return leave();
  uint32_t share_place;
  const StableBin own = place_bin(params.tables, storage.bins, share_place);
  if (own.is_bin) storage.counts[threadIdx.x] = share_place;
  if (__syncthreads_or(own.count > msd::kStableLargeItems && !own.one_value)) return leave();
  // The last share is the shortest.
  if (blockIdx.x == gridDim.x - 1) {
    tell_cells(params.tables, params.n, params.cell_items, own, storage.to_place, storage.bins.warp_totals);
    __syncthreads();
  }
  for (uint32_t done = 0; done < items; done += kStableTileItems)
    move_tile<V>(params, begin + done, min(kStableTileItems, items - done), storage.bin_of + done, storage);
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_SHARE_CUH_
