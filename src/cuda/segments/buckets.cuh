// SPDX-License-Identifier: MIT OR Apache-2.0
// The parts that a partition of segments stands on: tiles in the order of their segments, and how a key finds its
// bucket.
#ifndef GSORT_CUDA_SEGMENTS_BUCKETS_CUH_
#define GSORT_CUDA_SEGMENTS_BUCKETS_CUH_

#include <cstdint>

#include "cuda/primitive/search.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/segments/check.cuh"

namespace gsort_internal::segments {

// A block's tiles, neighbours all, so that tables of a segment serve as many as possible. One thread goes on; it lies
// in shared memory so that threads need not keep it in registers.
template <class U>
struct TileCursor {
  uint64_t tile, tiles_end;            // the next, and behind this block's last
  uint64_t next_part, part, part_end;  // numbers in the list, and behind the segment's last tile
  uint64_t next_key, key, keys_end;    // the next tile's first key, this one's, the segment's end
  const U *source;
  uint32_t items;  // 0: no tile is left
  bool entered;    // the tile is the first of its segment here
};

template <class U, class Shape>
__device__ __noinline__ void start_tiles(const Params<U> &params, const List &list, TileCursor<U> &cursor) {
  const uint64_t count = *list.count, tiles = params.large_tile_begins[count];
  cursor.tile = tiles * blockIdx.x / gridDim.x;
  cursor.tiles_end = tiles * (blockIdx.x + 1) / gridDim.x;
  cursor.part_end = 0;
  cursor.next_part = last_not_above(count, cursor.tile, [&](uint64_t i) { return params.large_tile_begins[i]; });
}

template <class U, class Shape>
__device__ __noinline__ void next_tile(const Params<U> &params, const List &list, TileCursor<U> &cursor) {
  cursor.items = 0;
  if (cursor.tile >= cursor.tiles_end) return;
  cursor.entered = cursor.tile >= cursor.part_end;
  if (cursor.entered) {
    cursor.part = cursor.next_part++;
    const uint64_t listed = list.segments[cursor.part];
    const uint64_t *const bounds = params.bounds_of(listed);
    cursor.source = params.source_of(listed);
    cursor.next_key = bounds[0] + (cursor.tile - params.large_tile_begins[cursor.part]) * Shape::kItems;
    cursor.keys_end = bounds[1];
    cursor.part_end = params.large_tile_begins[cursor.part + 1];
  }
  cursor.key = cursor.next_key;
  cursor.items = static_cast<uint32_t>(min(cursor.keys_end - cursor.key, uint64_t{Shape::kItems}));
  cursor.next_key += Shape::kItems;
  ++cursor.tile;
}

// Whether a bucket's keys all are equal, if it has any: its start is the only key before the next. The last bucket ends
// with the greatest key, behind which comes 0.
template <class U>
__device__ __forceinline__ bool has_one_value(const U *starts, uint32_t buckets, uint32_t bucket) {
  const U next = bucket + 1 < buckets ? starts[bucket + 1] : U{0};
  return static_cast<U>(next - starts[bucket]) == 1;
}

// Finds a key's bucket: the last whose start is not above. A table of the range says between which starts those lie
// that can be near a key; in most of its words there is one at most.
template <class U>
struct BucketFinder {
  static constexpr uint32_t kTableBits = 11;
  uint32_t table[1u << kTableBits];  // the first bucket | how many starts are in question behind its own << 16
  U starts[kBucketsMax + 1];         // one more to be read
  U least, range;                    // from the second bucket's start to the last one's
  uint32_t shift;
  uint32_t any_fill;
  uint8_t fill[kBucketsMax];  // buckets of one value

  __device__ __forceinline__ uint32_t find(U key) const {
    const U above = min(static_cast<U>(max(key, least) - least), range);
    const uint32_t word = table[above >> shift];
    uint32_t bucket = word & 0xffffu;
    for (uint32_t left = word >> 16; left != 0;) {
      const uint32_t half = (left + 1) / 2;
      const bool behind = starts[bucket + half] <= key;
      bucket += behind ? half : 0;
      left = behind ? left - half : half - 1;
    }
    return bucket;
  }

  // The same of several keys side by side, without a branch where no more than one start is in question.
  template <uint32_t kKeys>
  __device__ __forceinline__ void find(const U (&keys)[kKeys], uint32_t (&buckets)[kKeys]) const {
    bool more = false;
#pragma unroll
    for (uint32_t i = 0; i < kKeys; ++i) {
      const U above = min(static_cast<U>(max(keys[i], least) - least), range);
      const uint32_t word = table[above >> shift], bucket = word & 0xffffu;
      more |= word >= 2u << 16;
      buckets[i] = bucket + (word >= 1u << 16 && starts[bucket + 1] <= keys[i] ? 1 : 0);
    }
    if (!more) return;
#pragma unroll
    for (uint32_t i = 0; i < kKeys; ++i) buckets[i] = find(keys[i]);
  }
};

// By a block of kThreads. Begins and ends with a barrier.
template <class U, uint32_t kThreads>
__device__ __forceinline__ void load_buckets(const Params<U> &params, const Part &part, BucketFinder<U> &finder) {
  __syncthreads();
  for (uint32_t b = threadIdx.x; b < part.buckets; b += kThreads)
    finder.starts[b] = params.bucket_starts[part.base + b];
  __syncthreads();
  const U least = finder.starts[1], range = static_cast<U>(finder.starts[part.buckets - 1] - least);
  const uint32_t bits = bit_width(range);
  const uint32_t shift = bits > BucketFinder<U>::kTableBits ? bits - BucketFinder<U>::kTableBits : 0;
  bool any_fill = false;
  for (uint32_t b = threadIdx.x; b < part.buckets; b += kThreads) {
    finder.fill[b] = has_one_value(finder.starts, part.buckets, b);
    any_fill |= finder.fill[b] != 0;
  }
  // Starts that are not above the last key of the word before are behind no key of a word.
  const uint32_t words = static_cast<uint32_t>(range >> shift) + 1;
  for (uint32_t i = threadIdx.x; i < words; i += kThreads) {
    const U from = static_cast<U>(least + (static_cast<U>(i) << shift));
    const U last = static_cast<U>(from + static_cast<U>(static_cast<U>(U{1} << shift) - 1));
    const auto starts_before = [&](U key) {  // those that are not above it, but the first
      return first_that(part.buckets - 1, [&](uint32_t b) { return finder.starts[b + 1] > key; });
    };
    const uint32_t first = i == 0 ? 0 : starts_before(from);
    const uint32_t end = i + 1 == words ? part.buckets - 1 : starts_before(last);
    finder.table[i] = first | (end - first) << 16;
  }
  any_fill = __syncthreads_or(any_fill);
  if (threadIdx.x == 0) finder.least = least, finder.range = range, finder.shift = shift, finder.any_fill = any_fill;
  __syncthreads();
}

// What a block that moves a tile needs.
template <class U, class Shape>
struct MoveStorage {
  U keys[Shape::kItems];
  uint16_t buckets[Shape::kItems];  // of the keys
  BucketFinder<U> finder;
  uint64_t to_place[kBucketsMax];  // where keys[0] would go if it were of this bucket
  uint32_t first[kBucketsMax];     // counts, then place in `keys` of each bucket's first key
  uint32_t warp_totals[Shape::kWarps];
};

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_BUCKETS_CUH_
