// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of many segments. One kernel checks the offsets and lists the segments by size; then a warp sorts each tiny one
// in registers, a block each small or medium one in shared memory, and radix passes over memory all large ones at once,
// every segment a chain of tiles of its own. Every kernel behind the check does nothing if the offsets were wrong.
#ifndef GSORT_CUDA_KERNELS_SEGMENTED_CUH_
#define GSORT_CUDA_KERNELS_SEGMENTED_CUH_

#include <cstdint>

#include "cuda/block/block_keys.cuh"
#include "cuda/block/block_sort.cuh"
#include "cuda/kernels/histogram.cuh"
#include "cuda/kernels/radix_pass.cuh"

namespace gsort_internal {

constexpr uint32_t kSegmentThreads = 256;

struct SegmentList {
  unsigned long long *count;
  uint64_t *segments;
  uint64_t capacity;
};

template <class U>
struct SegmentParams {
  const U *keys_in;
  U *keys_out;
  U *keys_y;  // between passes
  uint64_t n;
  const uint64_t *offsets;
  uint64_t segments;
  KeyCodec<U> codec;
  uint32_t *error;
  SegmentList small, medium, large;
  uint64_t *large_tile_begins;       // [large + 1]: number of tiles in the large segments before
  unsigned long long *large_counts;  // [large][digits][256]: counts, then first places
  uint64_t *look_back;               // [tiles][256]
  uint32_t *tickets;                 // [digits]
};

__device__ inline void list_segment(const SegmentList &list, uint64_t segment) {
  const uint64_t at = atomicAdd(list.count, 1ull);
  // Wrong offsets can name more large segments than there is room for; the error is found elsewhere.
  if (at < list.capacity) list.segments[at] = segment;
}

template <class U>
__global__ void __launch_bounds__(kSegmentThreads)
    list_segments_kernel(const __grid_constant__ SegmentParams<U> params) {
  constexpr uint32_t kRows = sizeof(U) == 8 ? kSmallRows / 2 : kSmallRows;
  const uint64_t step = uint64_t{gridDim.x} * kSegmentThreads;
  for (uint64_t s = uint64_t{blockIdx.x} * kSegmentThreads + threadIdx.x; s < params.segments; s += step) {
    const uint64_t begin = params.offsets[s], end = params.offsets[s + 1];
    if (begin > end || end > params.n) {
      *params.error = 1;  // any number of threads may write the same word
      continue;
    }
    const uint64_t items = end - begin;
    if (items <= kSegmentWarpItemsMax) continue;
    if (items <= kSmallThreads * kRows) {
      list_segment(params.small, s);
    } else if (items <= kMediumThreads * kRows) {
      list_segment(params.medium, s);
    } else {
      list_segment(params.large, s);
    }
  }
}

// Keys before the first and after the last segment.
template <class U>
__global__ void __launch_bounds__(kSegmentThreads)
    copy_outside_kernel(const __grid_constant__ SegmentParams<U> params) {
  if (*params.error != 0) return;
  const uint64_t first = params.segments == 0 ? 0 : params.offsets[0];
  const uint64_t last = params.segments == 0 ? 0 : params.offsets[params.segments];
  const uint64_t step = uint64_t{gridDim.x} * kSegmentThreads;
  for (uint64_t i = uint64_t{blockIdx.x} * kSegmentThreads + threadIdx.x; i < params.n - (last - first); i += step) {
    const uint64_t at = i < first ? i : i - first + last;
    params.keys_out[at] = params.keys_in[at];
  }
}

// Orders the kItems * 32 keys of a warp; key i of lane l is number l + 32 * i. A bitonic network: stability does not
// matter to keys alone.
template <uint32_t kItems, class U>
__device__ __forceinline__ void warp_sort(U (&keys)[kItems]) {
#pragma unroll
  for (uint32_t size = 2; size <= 32 * kItems; size *= 2) {
#pragma unroll
    for (uint32_t distance = size / 2; distance > 0; distance /= 2) {
#pragma unroll
      for (uint32_t i = 0; i < kItems; ++i) {
        const uint32_t number = lane_id() + 32 * i;
        const bool ascending = (number & size) == 0;
        if (distance >= 32) {
          const uint32_t other = i ^ (distance / 32);
          if (other < i) continue;
          const U low = min(keys[i], keys[other]), high = max(keys[i], keys[other]);
          keys[i] = ascending ? low : high;
          keys[other] = ascending ? high : low;
        } else {
          const U other = __shfl_xor_sync(kFullWarp, keys[i], distance);
          const bool first = (number & distance) == 0;
          keys[i] = first == ascending ? min(keys[i], other) : max(keys[i], other);
        }
      }
    }
  }
}

// min and max of narrow types go through int; these keep the type.
template <class U>
struct WarpKey {
  using type = uint32_t;
};
template <>
struct WarpKey<uint64_t> {
  using type = unsigned long long;
};

// A padding key equals or follows every real one, and equal keys are the same bits.
template <uint32_t kItems, class U>
__device__ __forceinline__ void sort_tiny(const SegmentParams<U> &params, uint64_t begin, uint32_t items) {
  using Key = typename WarpKey<U>::type;
  Key keys[kItems];
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    const uint32_t at = lane_id() + 32 * i;
    keys[i] = at < items ? params.codec.encode(params.keys_in[begin + at]) : static_cast<U>(~U{0});
  }
  warp_sort<kItems>(keys);
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    const uint32_t at = lane_id() + 32 * i;
    if (at < items) params.keys_out[begin + at] = params.codec.decode(static_cast<U>(keys[i]));
  }
}

template <class U>
__global__ void __launch_bounds__(kSegmentThreads)
    tiny_segments_kernel(const __grid_constant__ SegmentParams<U> params) {
  if (*params.error != 0) return;
  static_assert(kSegmentWarpItemsMax == 128, "a warp sorts up to 4 keys a lane");
  const uint64_t step = uint64_t{gridDim.x} * (kSegmentThreads / 32);
  for (uint64_t s = (uint64_t{blockIdx.x} * kSegmentThreads + threadIdx.x) / 32; s < params.segments; s += step) {
    const uint64_t begin = params.offsets[s], items = params.offsets[s + 1] - begin;
    if (items == 0 || items > kSegmentWarpItemsMax) continue;
    if (items <= 32) {
      sort_tiny<1>(params, begin, static_cast<uint32_t>(items));
    } else if (items <= 64) {
      sort_tiny<2>(params, begin, static_cast<uint32_t>(items));
    } else {
      sort_tiny<4>(params, begin, static_cast<uint32_t>(items));
    }
  }
}

// One block a listed segment, blocks take segments in turn.
template <class U, class Shape>
__global__ void __launch_bounds__(Shape::kThreads)
    block_segments_kernel(const __grid_constant__ SegmentParams<U> params, const SegmentList list) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<BlockSortStorage<U, Shape> *>(shared);
  if (*params.error != 0) return;
  const uint64_t count = *list.count;
  for (uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const uint64_t begin = params.offsets[list.segments[i]];
    const BlockItems<Shape> items(static_cast<uint32_t>(params.offsets[list.segments[i] + 1] - begin));
    U keys[Shape::kRows];
    PackedPlaces<Shape::kRows> no_sources;
    const U any_key = params.codec.encode(params.keys_in[begin]);
    load_block_keys<U, Shape>(params.keys_in + begin, items, params.codec, keys);
    block_sort<false>(storage, items, any_key, keys, no_sources);
    __syncthreads();  // all have read `storage` for the last time
    store_block_keys<U, Shape>(params.keys_out + begin, items, params.codec, keys);
  }
}

// One block: numbers the tiles of the large segments.
template <class U, uint32_t kTileItems>
__global__ void __launch_bounds__(1024) number_tiles_kernel(const __grid_constant__ SegmentParams<U> params) {
  __shared__ uint64_t warp_sums[32];
  if (*params.error != 0) return;
  const uint64_t count = *params.large.count;
  const uint32_t warp = threadIdx.x / 32;
  uint64_t before = 0;
  for (uint64_t base = 0; base < count; base += 1024) {
    const uint64_t i = base + threadIdx.x;
    uint64_t tiles = 0;
    if (i < count) {
      const uint64_t s = params.large.segments[i];
      tiles = (params.offsets[s + 1] - params.offsets[s] + kTileItems - 1) / kTileItems;
    }
    const uint64_t inclusive = warp_inclusive_sum(tiles);
    if (lane_id() == 31) warp_sums[warp] = inclusive;
    __syncthreads();
    const uint64_t sums = warp_inclusive_sum(warp_sums[lane_id()]);
    const uint64_t warps_before = __shfl_sync(kFullWarp, sums, warp == 0 ? 0 : warp - 1);
    const uint64_t all = __shfl_sync(kFullWarp, sums, 31);
    if (i < count) params.large_tile_begins[i] = before + (warp == 0 ? 0 : warps_before) + inclusive - tiles;
    before += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) params.large_tile_begins[count] = before;
}

struct SegmentTile {
  uint64_t large;          // number in the list
  uint64_t segment_begin;  // index of the segment's first key
  uint64_t chain_begin;    // number of the segment's first tile
  uint64_t begin;          // index of the tile's first key
  uint32_t items;
};

// False if there is no such tile.
template <class U>
__device__ inline bool find_large_tile(const SegmentParams<U> &params, uint64_t tile, uint32_t tile_items,
                                       SegmentTile &found) {
  uint64_t low = 0, high = *params.large.count;
  if (high == 0 || tile >= params.large_tile_begins[high]) return false;
  while (high - low > 1) {
    const uint64_t middle = (low + high) / 2;
    if (params.large_tile_begins[middle] <= tile) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const uint64_t s = params.large.segments[low];
  found.large = low;
  found.segment_begin = params.offsets[s];
  found.chain_begin = params.large_tile_begins[low];
  found.begin = found.segment_begin + (tile - found.chain_begin) * tile_items;
  const uint64_t left = params.offsets[s + 1] - found.begin;
  found.items = left < tile_items ? static_cast<uint32_t>(left) : tile_items;
  return true;
}

template <class U, uint32_t kTileItems>
__global__ void __launch_bounds__(512) count_large_kernel(const __grid_constant__ SegmentParams<U> params) {
  constexpr uint32_t kCounters = sizeof(U) * 8 / kDigitBits * kDigitBins;
  __shared__ uint32_t counters[kCounters];
  SegmentTile tile;
  if (*params.error != 0 || !find_large_tile(params, blockIdx.x, kTileItems, tile)) return;
  for (uint32_t i = threadIdx.x; i < kCounters; i += 512) counters[i] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < tile.items; i += 512) {
    const U key = params.codec.encode(params.keys_in[tile.begin + i]);
#pragma unroll
    for (uint32_t digit = 0; digit < kCounters / kDigitBins; ++digit)
      atomicAdd(&counters[digit * kDigitBins + digit_of(key, digit * kDigitBits)], 1u);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kCounters; i += 512)
    if (counters[i] != 0)
      atomicAdd(&params.large_counts[tile.large * kCounters + i], static_cast<unsigned long long>(counters[i]));
}

// One warp a segment and digit: counts become first places.
template <class U>
__global__ void __launch_bounds__(kSegmentThreads) place_large_kernel(const __grid_constant__ SegmentParams<U> params) {
  if (*params.error != 0) return;
  constexpr uint32_t kDigits = sizeof(U) * 8 / kDigitBits;
  const uint64_t step = uint64_t{gridDim.x} * (kSegmentThreads / 32);
  const uint64_t count = *params.large.count * kDigits;
  for (uint64_t i = (uint64_t{blockIdx.x} * kSegmentThreads + threadIdx.x) / 32; i < count; i += step) {
    unsigned long long *counts = params.large_counts + i * kDigitBins;
    (void)place_digits(counts, reinterpret_cast<uint64_t *>(counts), 0);
  }
}

// Passes go input -> y -> output -> y ... ; with an even number of digits they end in the output.
template <class U, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 2)
    segment_pass_kernel(const __grid_constant__ SegmentParams<U> params, const uint32_t digit) {
  constexpr uint32_t kDigits = sizeof(U) * 8 / kDigitBits;
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<PassStorage<U, NoValue, Shape> *>(shared);
  if (*params.error != 0) return;
  if (threadIdx.x == 0) {
    storage.tile = atomicAdd(&params.tickets[digit], 1u);
    storage.runs.long_runs = 0;
  }
  __syncthreads();
  SegmentTile tile;
  if (!find_large_tile(params, storage.tile, Shape::kItems, tile)) return;
  TileJob<uint64_t> job{};
  job.begin = tile.begin;
  job.items = tile.items;
  job.tile = static_cast<uint32_t>(storage.tile - tile.chain_begin);
  job.look_back = params.look_back + tile.chain_begin * kDigitBins;
  job.bases = reinterpret_cast<const uint64_t *>(params.large_counts) + (tile.large * kDigits + digit) * kDigitBins;
  job.shift = digit * kDigitBits;
  job.sort_parity = digit % 2;

  const bool first = digit == 0, last = digit == kDigits - 1;
  const U *source = first ? params.keys_in : digit % 2 == 0 ? params.keys_out : params.keys_y;
  U *target = digit % 2 == 0 ? params.keys_y : params.keys_out;
  U keys[Shape::kRows];
  PackedPlaces<Shape::kRows> places;
  load_keys<Shape>(source + job.begin, job.items, first ? &params.codec : nullptr, keys);
  sort_tile<U, NoValue, Shape>(storage, job, keys, places);
  store_keys(storage, job.items, target + tile.segment_begin, last ? &params.codec : nullptr);
}

// After an odd number of passes.
template <class U, uint32_t kTileItems>
__global__ void __launch_bounds__(512) copy_large_kernel(const __grid_constant__ SegmentParams<U> params) {
  SegmentTile tile;
  if (*params.error != 0 || !find_large_tile(params, blockIdx.x, kTileItems, tile)) return;
  for (uint32_t i = threadIdx.x; i < tile.items; i += 512)
    params.keys_out[tile.begin + i] = params.keys_y[tile.begin + i];
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_SEGMENTED_CUH_
