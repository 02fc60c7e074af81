// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts all short segments, and copies the keys outside all segments. A block takes a tile of keys with the segments
// that begin there: it reads the tile's part of the bitmap of bounds, brings the keys to shared memory in rows, and
// sorts segments of like length together, as many lanes a segment as it needs.
#ifndef GSORT_CUDA_SEGMENTS_SHORT_CUH_
#define GSORT_CUDA_SEGMENTS_SHORT_CUH_

#include <cstdint>

#include "cuda/primitive/copy_async.cuh"
#include "cuda/primitive/lane_sort.cuh"
#include "cuda/primitive/ptx.cuh"
#include "cuda/segments/check.cuh"

namespace gsort_internal::segments {

// Classes of segments: one lane with 4, 8, 12 or 16 keys, then 2, 4, 8, 16 or 32 lanes with 16 keys each.
struct ShortClass {
  static constexpr uint32_t kCount = 9;
  static constexpr uint32_t kOneLane = 3;  // the last that takes one lane

  // `items` from 2 to kShortSegmentItemsMax.
  static __device__ __forceinline__ uint32_t of(uint32_t items) {
    static_assert(kShortLaneItems == 16 && kShortSegmentItemsMax == 512, "one class for every doubling from 8 to 512");
    const uint32_t doublings = 32 - __clz(static_cast<int>((items - 1) / 8));
    return items <= 4 ? 0 : items <= 12 ? doublings + 1 : doublings + 2;
  }
  static __device__ __forceinline__ uint32_t lane_bits(uint32_t of_class) {
    return of_class <= kOneLane ? 0 : of_class - kOneLane;
  }
  // The least length of a class, less one.
  static GSORT_HOST_DEVICE constexpr uint32_t items_below(uint32_t of_class) {
    return of_class == 0 ? 1 : of_class <= kOneLane ? 4 * of_class : 16u << (of_class - kOneLane - 1);
  }
};

template <class U>
struct ShortTile {
  using Key = typename LaneKey<U>::type;
  static constexpr uint32_t kItems = short_tile_items(sizeof(U));
  // Blocks an SM, as many as sm_75 has threads for. With keys of 4 bytes five run as fast; six spill registers and take
  // a fifth longer (H200, 2026-11-21).
  static constexpr uint32_t kBlocks = 4;
  static constexpr uint32_t kReach = kItems + kShortSegmentItemsMax;  // the last segment's end
  static constexpr uint32_t kBoundWarps = kItems / (32 * 32);         // a thread reads one word of the bitmap
  static constexpr uint32_t kNoBound = 0xffff;
  // Lanes that read 16 keys each would all meet in one bank; a key of padding a row of banks sends them apart.
  static constexpr uint32_t kRowShift = sizeof(Key) == 8 ? 4 : 5;
  // A list holds as many segments as the tile has room for.
  static GSORT_HOST_DEVICE constexpr uint32_t list_begin(uint32_t of_class) {
    uint32_t begin = 0;
    for (uint32_t c = 0; c < of_class; ++c) begin += kItems / (ShortClass::items_below(c) + 1) + 1;
    return begin;
  }

  Key keys[kReach + (kReach >> kRowShift)];
  uint16_t begins[kItems + 1];  // of the segments, from the tile's begin, and the end of the last one
  uint16_t lists[list_begin(ShortClass::kCount)];
  uint16_t list_begins[ShortClass::kCount];
  uint32_t list_counts[ShortClass::kCount];
  uint32_t warp_sums[kBoundWarps];

  static __device__ __forceinline__ uint32_t padded(uint32_t at) { return at + (at >> kRowShift); }
};
static_assert(sizeof(ShortTile<uint32_t>) <= 40960 && sizeof(ShortTile<uint64_t>) <= 40960,
              "more than the blocks wanted fit an SM of sm_90, one an SM of sm_75");
static_assert(ShortTile<uint32_t>::kBoundWarps < kBlockThreads / 32, "one more warp looks for the last end");
static_assert(ShortTile<uint32_t>::kReach < 0xffff, "places have 16 bits, and no bound is far from all of them");

// One warp: the end of the tile's last segment, kNoBound if it is not short.
template <class U>
__device__ __forceinline__ uint32_t find_last_end(const uint32_t *bounds, uint32_t tile_items) {
  using Tile = ShortTile<U>;
  uint32_t beyond = lane_id() < kShortSegmentItemsMax / 32 ? bounds[tile_items / 32 + lane_id()] : 0;
  const uint32_t words = __ballot_sync(kFullWarp, beyond != 0);
  if (words == 0) return Tile::kNoBound;
  const int word = __ffs(static_cast<int>(words)) - 1;
  beyond = __shfl_sync(kFullWarp, beyond, word);
  return tile_items + word * 32 + __ffs(static_cast<int>(beyond)) - 1;
}

// Fills begins[] and returns how many segments begin in the tile, of tile_items keys. The end of the last one is
// kNoBound where it is not short. Ends with a barrier.
template <class U>
__device__ __forceinline__ uint32_t find_segments(ShortTile<U> &tile, const uint32_t *bounds, uint32_t tile_items) {
  using Tile = ShortTile<U>;
  const uint32_t warp = threadIdx.x / 32;
  uint32_t bits = 0, before = 0, last_end = 0;
  if (warp < Tile::kBoundWarps) {
    bits = threadIdx.x < tile_items / 32 ? bounds[threadIdx.x] : 0;
    const uint32_t own = __popc(bits);
    before = warp_inclusive_sum(own);
    if (lane_id() == 31) tile.warp_sums[warp] = before;
    before -= own;
  } else if (warp == Tile::kBoundWarps) {
    last_end = find_last_end<U>(bounds, tile_items);
  }
  __syncthreads();
  uint32_t count = 0;
#pragma unroll
  for (uint32_t other = 0; other < Tile::kBoundWarps; ++other) {
    if (other < warp) before += tile.warp_sums[other];
    count += tile.warp_sums[other];
  }
  for (; bits != 0; bits &= bits - 1)
    tile.begins[before++] = static_cast<uint16_t>(threadIdx.x * 32 + __ffs(static_cast<int>(bits)) - 1);
  if (threadIdx.x == Tile::kBoundWarps * 32) tile.begins[count] = static_cast<uint16_t>(last_end);
  __syncthreads();
  return count;
}

// Rows of keys on their way between memory and the tile. A thread's next key is kBlockThreads further in either.
template <class U>
struct ShortRows {
  static constexpr uint32_t kUnroll = 6;
  static constexpr uint32_t kTileStep = kBlockThreads + (kBlockThreads >> ShortTile<U>::kRowShift);
  static_assert(kBlockThreads % (1u << ShortTile<U>::kRowShift) == 0, "padding grows by the same in every step");

  // Keys from the first segment's begin to the last short one's end. Those of longer segments in between are read and
  // written back as they are.
  static __device__ __forceinline__ void load(ShortTile<U> &tile, const Params<U> &params, uint64_t begin,
                                              uint32_t first, uint32_t end) {
    if constexpr (sizeof(U) >= 4) {
      if (params.codec.is_identity()) return load_async(tile, params.keys_in + begin, first, end);
    }
    for (uint32_t at = first + threadIdx.x; at < end; at += kUnroll * kBlockThreads) {
      const U *from = params.keys_in + begin + at;
      auto *to = tile.keys + ShortTile<U>::padded(at);
      U keys[kUnroll];
#pragma unroll
      for (uint32_t i = 0; i < kUnroll; ++i)
        if (at + i * kBlockThreads < end) keys[i] = from[i * kBlockThreads];
#pragma unroll
      for (uint32_t i = 0; i < kUnroll; ++i)
        if (at + i * kBlockThreads < end) to[i * kTileStep] = params.codec.encode(keys[i]);
    }
  }

  // All keys are on their way at once and take no registers. Waiting for them is up to the caller.
  static __device__ __forceinline__ void load_async(ShortTile<U> &tile, const U *keys_in, uint32_t first,
                                                    uint32_t end) {
    const U *from = keys_in + first + threadIdx.x;
    uint32_t to = shared_address(tile.keys + ShortTile<U>::padded(first + threadIdx.x));
#pragma unroll 4
    for (uint32_t at = first + threadIdx.x; at < end; at += kBlockThreads) {
      copy_async(to, from);
      from += kBlockThreads;
      to += kTileStep * sizeof(*tile.keys);
    }
  }

  static __device__ __forceinline__ void store(const ShortTile<U> &tile, const Params<U> &params, uint64_t begin,
                                               uint32_t first, uint32_t end) {
    const bool plain = params.codec.is_identity();
    for (uint32_t at = first + threadIdx.x; at < end; at += kUnroll * kBlockThreads) {
      const auto *from = tile.keys + ShortTile<U>::padded(at);
      U *to = params.keys_out + begin + at;
      U keys[kUnroll];
#pragma unroll
      for (uint32_t i = 0; i < kUnroll; ++i)
        if (at + i * kBlockThreads < end) keys[i] = static_cast<U>(from[i * kTileStep]);
      if (!plain) {
#pragma unroll
        for (uint32_t i = 0; i < kUnroll; ++i) keys[i] = params.codec.decode(keys[i]);
      }
#pragma unroll
      for (uint32_t i = 0; i < kUnroll; ++i)
        if (at + i * kBlockThreads < end) to[i * kBlockThreads] = keys[i];
    }
  }
};

// Puts every short segment of two keys or more on the list of its class.
template <class U>
__device__ __forceinline__ void classify_segments(ShortTile<U> &tile, uint32_t count) {
  for (uint32_t base = 0; base < count; base += kBlockThreads) {
    const uint32_t s = base + threadIdx.x;
    uint32_t of_class = ShortClass::kCount;
    if (s < count) {
      const uint32_t items = uint32_t{tile.begins[s + 1]} - tile.begins[s];
      if (items >= 2 && items <= kShortSegmentItemsMax) of_class = ShortClass::of(items);
    }
    // One addition a warp and class; most often there is but one class.
    uint32_t peers = 0;
    for (uint32_t left = __ballot_sync(kFullWarp, of_class < ShortClass::kCount); left != 0;) {
      const uint32_t lead = __shfl_sync(kFullWarp, of_class, __ffs(static_cast<int>(left)) - 1);
      const uint32_t lanes = __ballot_sync(kFullWarp, of_class == lead);
      if (of_class == lead) peers = lanes;
      left &= ~lanes;
    }
    const uint32_t rank = __popc(peers & lanes_below());
    uint32_t first = 0;
    if (of_class < ShortClass::kCount && rank == 0)
      first = atomicAdd(&tile.list_counts[of_class], static_cast<uint32_t>(__popc(peers)));
    first = __shfl_sync(kFullWarp, first, peers == 0 ? 0 : __ffs(static_cast<int>(peers)) - 1);
    if (of_class < ShortClass::kCount) tile.lists[tile.list_begins[of_class] + first + rank] = static_cast<uint16_t>(s);
  }
}

// Where a lane's keys lie in the tile: up to 16 in a row, so at most one key of padding in between.
template <class U>
struct LaneKeys {
  using Key = typename ShortTile<U>::Key;
  uint32_t before, behind;  // shared addresses of key 0 as seen from before and from behind the padding
  uint32_t crossing;        // the first key behind it

  __device__ __forceinline__ LaneKeys(const ShortTile<U> &tile, uint32_t begin) {
    constexpr uint32_t kRow = 1u << ShortTile<U>::kRowShift;
    static_assert(kShortLaneItems <= kRow, "one key of padding at most");
    before = shared_address(tile.keys + ShortTile<U>::padded(begin));
    behind = before + sizeof(Key);
    crossing = kRow - begin % kRow;
    // Otherwise the compiler would work out every address from `begin`.
    asm volatile("" : "+r"(behind), "+r"(crossing));
  }
  // `i` is a constant after unrolling.
  __device__ __forceinline__ uint32_t address(uint32_t i) const {
    return (i < crossing ? before : behind) + i * static_cast<uint32_t>(sizeof(Key));
  }
};

// One warp sorts the segments of a class that its lanes hold; a lane that has keys has `kSure` at least. Padding keys
// equal or follow every real one, and equal keys are the same bits.
template <uint32_t kKeys, uint32_t kSure, class U>
__device__ __forceinline__ void sort_batch(ShortTile<U> &tile, const uint16_t *list, uint32_t listed,
                                           uint32_t lane_bits) {
  using Key = typename ShortTile<U>::Key;
  const uint32_t lanes = 1u << lane_bits;
  const uint32_t group = lane_id() >> lane_bits, first = (lane_id() & (lanes - 1)) * kKeys;
  uint32_t begin = 0, items = 0;
  if (group < listed) {
    begin = tile.begins[list[group]];
    items = tile.begins[list[group] + 1] - begin;
  }
  items = items < first ? 0 : items - first;
  LaneKeys<U> lane(tile, begin + first);
  Key keys[kKeys];
#pragma unroll
  for (uint32_t i = 0; i < kKeys; ++i) {
    keys[i] = static_cast<Key>(~Key{0});
    if (i < kSure ? items != 0 : i < items) load_shared(lane.address(i), keys[i]);
  }
  sort_in_lane(keys);
  if constexpr (kKeys == kShortLaneItems) merge_lanes<false>(keys, lanes);
  // Addresses and tests are worked out again: kept, they would take twice the registers of the keys.
  asm volatile("" : "+r"(lane.crossing), "+r"(items));
#pragma unroll
  for (uint32_t i = 0; i < kKeys; ++i)
    if (i < kSure ? items != 0 : i < items) store_shared(lane.address(i), keys[i]);
}

// Warps take batches of 32 lanes in turn, those of long segments first.
template <class U>
__device__ __forceinline__ void sort_classes(ShortTile<U> &tile) {
  constexpr uint32_t kLast = ShortClass::kCount - 1;
  // Lane i knows class kLast - i: the end of its batches, and their begin and its segments in one word.
  const uint32_t own_class = lane_id() <= kLast ? kLast - lane_id() : 0;
  const uint32_t own_count = lane_id() <= kLast ? tile.list_counts[own_class] : 0;
  const uint32_t own_batches = ((own_count << ShortClass::lane_bits(own_class)) + 31) / 32;
  const uint32_t own_end = warp_inclusive_sum(own_batches);
  const uint32_t own_begin_count = (own_end - own_batches) << 16 | own_count;
  const uint32_t batches = __shfl_sync(kFullWarp, own_end, kLast);
  for (uint32_t batch = threadIdx.x / 32; batch < batches; batch += kBlockThreads / 32) {
    const uint32_t lane = __popc(__ballot_sync(kFullWarp, own_end <= batch));
    const uint32_t of_class = kLast - lane, lane_bits = ShortClass::lane_bits(of_class);
    const uint32_t begin_count = __shfl_sync(kFullWarp, own_begin_count, lane);
    const uint32_t done = (batch - (begin_count >> 16)) * (32u >> lane_bits);
    const uint32_t listed = (begin_count & 0xffffu) - done;
    const uint16_t *list = tile.lists + tile.list_begins[of_class] + done;
    if (of_class == 0) {
      sort_batch<4, 2>(tile, list, listed, 0);
    } else if (of_class == 1) {
      sort_batch<8, 5>(tile, list, listed, 0);
    } else if (of_class == 2) {
      sort_batch<12, 9>(tile, list, listed, 0);
    } else {
      sort_batch<kShortLaneItems, 1>(tile, list, listed, lane_bits);
    }
  }
}

// Whether a tile has short segments. Where it has many segments, nobody looks: some of them are short.
template <class U>
__device__ __forceinline__ bool has_short_segments(const ShortTile<U> &tile, uint32_t count) {
  if (count > 32) return true;
  const uint32_t s = lane_id();
  return __any_sync(kFullWarp, s < count && tile.begins[s + 1] - tile.begins[s] <= kShortSegmentItemsMax);
}

template <class U>
__device__ __forceinline__ void sort_short_tile(ShortTile<U> &tile, const Params<U> &params, uint64_t begin,
                                                const uint32_t *bounds, uint32_t tile_items) {
  const uint32_t count = find_segments(tile, bounds, tile_items);
  if (count == 0 || !has_short_segments(tile, count)) return;
  if (threadIdx.x < ShortClass::kCount) tile.list_counts[threadIdx.x] = 0;
  const uint32_t first = tile.begins[0];
  const uint32_t last = tile.begins[count - 1];
  const uint32_t end = tile.begins[count] - last <= kShortSegmentItemsMax ? tile.begins[count] : last;
  ShortRows<U>::load(tile, params, begin, first, end);
  __syncthreads();  // the lists are clear
  classify_segments(tile, count);
  copy_async_wait_all();
  __syncthreads();
  sort_classes(tile);
  __syncthreads();
  ShortRows<U>::store(tile, params, begin, first, end);
}

// Keys before the first and after the last segment, several a thread in flight.
template <class U>
__device__ __forceinline__ void copy_outside(const Params<U> &params) {
  constexpr uint32_t kUnroll = 8;
  const uint64_t first = params.offsets[0], segmented = params.offsets[params.segments] - first;
  const uint64_t outside = params.n - segmented, step = uint64_t{gridDim.x} * kBlockThreads;
  for (uint64_t i = uint64_t{blockIdx.x} * kBlockThreads + threadIdx.x; i < outside; i += kUnroll * step) {
    U keys[kUnroll];
#pragma unroll
    for (uint32_t row = 0; row < kUnroll; ++row) {
      const uint64_t at = i + row * step;
      if (at < outside) keys[row] = params.keys_in[at < first ? at : at + segmented];
    }
#pragma unroll
    for (uint32_t row = 0; row < kUnroll; ++row) {
      const uint64_t at = i + row * step;
      if (at < outside) params.keys_out[at < first ? at : at + segmented] = keys[row];
    }
  }
}

// One block prepares for the kernels behind what others find cleared.
template <class U>
__device__ __forceinline__ void clear_for_whole(const Params<U> &params) {
  if (threadIdx.x < kListCountsBytes / 8) params.list_counts[threadIdx.x] = 0;
  if (threadIdx.x < sizeof(U)) params.tickets[threadIdx.x] = 0;
  __syncthreads();
}

// Whether the offsets are wrong, which one thread tells. In a whole call each block finds out, with the bounds of its
// tile. Every thread of a block returns the same.
template <class U>
__device__ __forceinline__ bool check_or_look(const Params<U> &params, const Notice &notice, uint32_t *own_bounds) {
  bool wrong;
  if (params.whole) {
    if (blockIdx.x == 0) clear_for_whole(params);
    wrong = check_whole(params, uint64_t{blockIdx.x} * kWholeTileItems, blockIdx.x == 0, own_bounds);
  } else {
    wrong = *params.error != 0;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) tell_verdict(params.verdict, notice, wrong ? 1 : 0);
  return wrong;
}

// tiles: in a whole call as many as blocks.
template <class U>
__global__ void __launch_bounds__(kBlockThreads, ShortTile<U>::kBlocks)
    short_segments_kernel(const __grid_constant__ Params<U> params, uint32_t tiles,
                          const __grid_constant__ Notice notice) {
  __shared__ ShortTile<U> tile;
  __shared__ uint32_t own_bounds[kWholeBoundWords];
  wait_for_kernel_before();
  allow_next_kernel();
  if (check_or_look(params, notice, own_bounds)) return;
  if (params.keys_in != params.keys_out) copy_outside(params);
  if (!params.whole && *params.any_short == 0) return;
#pragma unroll
  for (uint32_t c = 0; c < ShortClass::kCount; ++c)
    if (threadIdx.x == c) tile.list_begins[c] = static_cast<uint16_t>(ShortTile<U>::list_begin(c));
  const uint32_t tile_items = params.whole ? kWholeTileItems : ShortTile<U>::kItems;
  for (uint32_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const uint64_t begin = uint64_t{number} * tile_items;
    sort_short_tile(tile, params, begin, params.whole ? own_bounds : params.bounds + begin / 32, tile_items);
  }
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_SHORT_CUH_
