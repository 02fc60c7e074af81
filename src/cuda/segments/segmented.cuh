// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of segments that are not short: a block each for those of 1- and 2-byte keys that fit one, and one cooperative
// kernel of radix passes over memory for all large ones at once, every segment a chain of tiles of its own.
#ifndef GSORT_CUDA_SEGMENTS_SEGMENTED_CUH_
#define GSORT_CUDA_SEGMENTS_SEGMENTED_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "cuda/segments/block_keys.cuh"
#include "cuda/segments/block_sort.cuh"
#include "cuda/segments/check.cuh"
#include "cuda/segments/tiles.cuh"
#include "cuda/sort/lsd/histogram.cuh"
#include "cuda/sort/lsd/radix_pass.cuh"

namespace gsort_internal::segments {

using sort::lsd::load_keys;
using sort::lsd::NoValue;
using sort::lsd::PassStorage;
using sort::lsd::place_digits;
using sort::lsd::sort_tile;
using sort::lsd::store_keys;
using sort::lsd::TileDigits;
using sort::lsd::TileJob;

// One block a listed segment, blocks take segments in turn.
template <class U, class Shape>
__device__ __forceinline__ void sort_listed(BlockSortStorage<U, Shape> &storage, const Params<U> &params,
                                            const List &list) {
  const uint64_t count = *list.count;
  for (uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const uint64_t listed = list.segments[i], begin = params.bounds_of(listed)[0];
    const BlockItems<Shape> items(static_cast<uint32_t>(params.bounds_of(listed)[1] - begin));
    const U *const from = params.source_of(listed) + begin;
    U keys[Shape::kRows];
    const U any_key = params.codec.encode(from[0]);
    load_block_keys<U, Shape>(from, items, params.codec, keys);
    block_sort(storage, items, any_key, keys);
    __syncthreads();  // all have read `storage` for the last time
    store_block_keys<U, Shape>(params.keys_out + begin, items, params.codec, keys);
  }
}

template <class U, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kThreads <= 256 ? 4 : 2)
    block_segments_kernel(const __grid_constant__ Params<U> params, const List list) {
  extern __shared__ __align__(16) unsigned char shared[];
  wait_for_kernel_before();
  allow_next_kernel();
  if (*params.error == 0) sort_listed(*reinterpret_cast<BlockSortStorage<U, Shape> *>(shared), params, list);
}

template <class U>
constexpr uint32_t kDigitsOf = sizeof(U) * 8 / kDigitBits;

// Thread i of the grid clears what passes add to.
template <class U>
__device__ inline void clear_large(const Params<U> &params, uint64_t count, uint64_t tiles) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x, first = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (uint64_t i = first; i < count * kDigitsOf<U> * kDigitBins; i += step) params.large_counts[i] = 0;
  for (uint64_t i = first; i < tiles * kDigitBins; i += step) params.look_back[i] = 0;
}

template <class U>
struct SegmentTile {
  uint64_t large;          // number in the list
  const U *source;         // of the first pass
  uint64_t segment_begin;  // index of the segment's first key
  uint64_t chain_begin;    // number of the segment's first tile
  uint64_t begin;          // index of the tile's first key
  uint32_t items;
};

// False if there is no such tile.
template <class U>
__device__ inline bool find_large_tile(const Params<U> &params, uint64_t tile, uint32_t tile_items,
                                       SegmentTile<U> &found) {
  const uint64_t count = *params.radix.count;
  if (count == 0 || tile >= params.large_tile_begins[count]) return false;
  found.large = last_not_above(count, tile, [&](uint64_t i) { return params.large_tile_begins[i]; });
  const uint64_t listed = params.radix.segments[found.large];
  const uint64_t *const bounds = params.bounds_of(listed);
  found.source = params.source_of(listed);
  found.segment_begin = bounds[0];
  found.chain_begin = params.large_tile_begins[found.large];
  found.begin = found.segment_begin + (tile - found.chain_begin) * tile_items;
  const uint64_t left = bounds[1] - found.begin;
  found.items = left < tile_items ? static_cast<uint32_t>(left) : tile_items;
  return true;
}

// Counts every digit of a tile's keys.
template <class U, class Shape>
__device__ inline void count_tile(const Params<U> &params, const SegmentTile<U> &tile, uint32_t *counters) {
  constexpr uint32_t kCounters = kDigitsOf<U> * kDigitBins;
  for (uint32_t i = threadIdx.x; i < kCounters; i += Shape::kThreads) counters[i] = 0;
  __syncthreads();
  // All loads are under way before the first key is counted: few warps run here, so none may wait row by row.
  const U *from = tile.source + tile.begin;
  U keys[Shape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t at = row * Shape::kThreads + threadIdx.x;
    if (at < tile.items) keys[row] = from[at];
  }
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if (row * Shape::kThreads + threadIdx.x >= tile.items) continue;
    const U key = params.codec.encode(keys[row]);
#pragma unroll
    for (uint32_t digit = 0; digit < kDigitsOf<U>; ++digit)
      atomicAdd(&counters[digit * kDigitBins + digit_of(key, digit * kDigitBits)], 1u);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kCounters; i += Shape::kThreads)
    if (counters[i] != 0)
      atomicAdd(&params.large_counts[tile.large * kCounters + i], static_cast<unsigned long long>(counters[i]));
  __syncthreads();
}

// One warp a segment and digit: counts become first places.
template <class U, class Shape>
__device__ inline void place_large(const Params<U> &params, uint64_t count) {
  const uint64_t step = uint64_t{gridDim.x} * Shape::kWarps;
  const uint64_t digits = count * kDigitsOf<U>;
  for (uint64_t i = uint64_t{blockIdx.x} * Shape::kWarps + threadIdx.x / 32; i < digits; i += step) {
    unsigned long long *counts = params.large_counts + i * kDigitBins;
    (void)place_digits(counts, reinterpret_cast<uint64_t *>(counts), 0);
  }
}

// The tile that a block works on. It lies in shared memory so that threads need not keep it in registers, which are
// scarce while keys are ranked.
template <class U>
struct LargeJob {
  TileJob<uint64_t> job;
  const U *source;
  uint64_t segment_begin;
  bool found;
};

// One thread takes the next tile of a pass.
template <class U, class Shape>
__device__ __forceinline__ void take_large_tile(const Params<U> &params, uint32_t digit, LargeJob<U> &taken) {
  const uint32_t number = atomicAdd(&params.tickets[digit], 1u);
  SegmentTile<U> tile;
  taken.found = find_large_tile(params, number, Shape::kItems, tile);
  if (!taken.found) return;
  TileJob<uint64_t> &job = taken.job;
  job.begin = tile.begin;
  job.items = tile.items;
  job.tile = static_cast<uint32_t>(number - tile.chain_begin);
  job.look_back = params.look_back + tile.chain_begin * kDigitBins;
  job.bases =
      reinterpret_cast<const uint64_t *>(params.large_counts) + (tile.large * kDigitsOf<U> + digit) * kDigitBins;
  job.bases_after = nullptr;
  job.shift = digit * kDigitBits;
  job.sort_parity = digit % 2;
  taken.source = digit == 0 ? tile.source : digit % 2 == 0 ? params.keys_out : params.keys_y;
  taken.segment_begin = tile.segment_begin;
}

// Takes tiles until there are no more. Passes go input -> y -> output -> y ... ; with an even number of digits they end
// in the output.
template <class U, class Shape>
__device__ __forceinline__ void pass_large(PassStorage<U, NoValue, Shape> &storage, LargeJob<U> &taken,
                                           const Params<U> &params, uint32_t digit) {
  const bool first = digit == 0, last = digit == kDigitsOf<U> - 1;
  for (;;) {
    if (threadIdx.x == 0) take_large_tile<U, Shape>(params, digit, taken);
    __syncthreads();
    if (!taken.found) return;
    const U *const target = digit % 2 == 0 ? params.keys_y : params.keys_out;
    {
      U keys[Shape::kRows];
      PackedPlaces<Shape::kRows> places;
      load_keys<Shape>(taken.source + taken.job.begin, taken.job.items, first ? &params.codec : nullptr, keys);
      sort_tile<U, NoValue, Shape>(storage, taken.job, keys, target + taken.segment_begin, places);
    }
    TileDigits<Shape> digits;
    store_keys(storage, taken.job.items, taken.job.shift, last ? &params.codec : nullptr, digits);
    __syncthreads();  // all have read `storage` and `taken`
  }
}

// All large segments that no partition has cut. The grid's barriers order what its blocks
// wrote to memory before what they read behind. Look-back waits only for tiles that were taken before, each by a block
// that runs.
template <class U, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 2) large_segments_kernel(const __grid_constant__ Params<U> params) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ LargeJob<U> taken;
  auto &storage = *reinterpret_cast<PassStorage<U, NoValue, Shape> *>(shared);
  if (*params.error != 0) return;
  const uint64_t count = *params.radix.count;
  if (count == 0) return;  // the whole grid, so that nobody waits
  const auto grid = cooperative_groups::this_grid();
  constexpr uint32_t kDigits = kDigitsOf<U>;
  clear_large(params, count, params.n / Shape::kItems + count);
  if (blockIdx.x == 0) number_tiles<U, Shape>(params, params.radix, reinterpret_cast<uint64_t *>(shared));
  grid.sync();
  SegmentTile<U> tile;
  for (uint64_t i = blockIdx.x; find_large_tile(params, i, Shape::kItems, tile); i += gridDim.x)
    count_tile<U, Shape>(params, tile, reinterpret_cast<uint32_t *>(shared));
  grid.sync();
  place_large<U, Shape>(params, count);
  grid.sync();
#pragma unroll 1
  for (uint32_t digit = 0; digit < kDigits; ++digit) {
    if (digit != 0) grid.sync();
    pass_large(storage, taken, params, digit);
  }
  if constexpr (kDigits % 2 == 1) {
    grid.sync();
    for (uint64_t i = blockIdx.x; find_large_tile(params, i, Shape::kItems, tile); i += gridDim.x)
      for (uint32_t at = threadIdx.x; at < tile.items; at += Shape::kThreads)
        params.keys_out[tile.begin + at] = params.keys_y[tile.begin + at];
  }
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_SEGMENTED_CUH_
