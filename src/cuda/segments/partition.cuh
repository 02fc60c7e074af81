// SPDX-License-Identifier: MIT OR Apache-2.0
// Segments that no block holds: one step moves their keys to buckets that a block holds, each by the splitters of a
// sorted sample of its own (Frazer and McKellar, "Samplesort" (1970)). The counts of all buckets are known before a key
// is moved, so that a sample that misleads costs time alone: a bucket that is too long is partitioned once more, and
// goes through radix passes if it is too long then. A value that is a bucket of its own is counted and written, not
// moved. One cooperative kernel, in which all segments go side by side.
#ifndef GSORT_CUDA_SEGMENTS_PARTITION_CUH_
#define GSORT_CUDA_SEGMENTS_PARTITION_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/hash.cuh"
#include "cuda/primitive/merge_sort.cuh"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/primitive/search.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/segments/buckets.cuh"
#include "cuda/segments/check.cuh"
#include "cuda/segments/tiles.cuh"

namespace gsort_internal::segments {

template <class U>
constexpr uint32_t kSampleRows = sample_rows(sizeof(U));
template <class U>
constexpr uint32_t kSampleItems = sample_items_max(sizeof(U));

template <class U, class Shape>
union PartitionStorage {
  uint64_t tile_sums[Shape::kWarps];
  U sample[merge_room<U>(kSampleItems<U>)];
  MoveStorage<U, Shape> move;
};

// A round of partitions.
template <class U>
struct Round {
  const List *list;
  U *keys_to;
  bool first;
};

// ---- splitters ----

template <class U>
constexpr uint32_t kBucketItems = bucket_items(sizeof(U));

// Place of the i-th sampled key, anywhere in its part of the segment: no period of the data meets the sample's. step:
// the keys of a part, 16 bits of which lie behind the point.
__device__ __forceinline__ uint64_t sampled_place(uint64_t step, uint32_t i) {
  return (step * i >> 16) + __umulhi(mix_bits(i), static_cast<uint32_t>(min(step >> 16, uint64_t{~0u})));
}

// Sorts `count` sampled keys, of which key i lies at run_place(i) afterwards. Begins and ends with a barrier.
template <class U, class Shape, class KeyAt>
__device__ __noinline__ void sort_sample(U *sample, uint32_t count, const KeyAt &key_at) {
  constexpr uint32_t kRows = kSampleRows<U>;
  static_assert(Shape::kThreads * kRows >= kSampleItems<U>, "the block has room for all");
  const uint32_t warp = threadIdx.x / 32;
  U keys[kRows];
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    const uint32_t i = (warp * kRows + row) * 32 + lane_id();
    keys[row] = i < count ? key_at(i) : static_cast<U>(~U{0});
  }
  const uint32_t runs = (count + kRunKeys<kRows> - 1) / kRunKeys<kRows>;
  merge_sort<kRows>({warp, 1, Shape::kWarps}, sample, runs, keys);
  __syncthreads();
}

// By a block: sorts a sample of a segment and takes the starts of its buckets from it. Of every share-th sampled key,
// the last of some equal ones stands for the next value, so that the bucket before is theirs alone; those between are
// empty. Ends with a barrier.
template <class U, class Shape>
__device__ __forceinline__ void sample_part(const Params<U> &params, uint64_t listed, Part *part, U *sample,
                                            Part &own) {
  const uint64_t *const bounds = params.bounds_of(listed);
  const uint64_t length = bounds[1] - bounds[0];
  const U *const from = params.source_of(listed) + bounds[0];
  const uint64_t wanted = (length + kBucketItems<U> - 1) / kBucketItems<U>;
  const uint32_t buckets = static_cast<uint32_t>(min(max(wanted, uint64_t{kBucketsMin}), uint64_t{kBucketsMax}));
  const uint32_t share = min(kSampleShare, kSampleItems<U> / buckets), count = buckets * share;
  if (threadIdx.x == 0) {
    own = {atomicAdd(params.buckets_used, static_cast<unsigned long long>(buckets + 1)), buckets};
    *part = own;
  }
  const uint64_t step = (length << 16) / count;
  sort_sample<U, Shape>(sample, count, [&](uint32_t i) { return params.codec.encode(from[sampled_place(step, i)]); });
  const auto sorted = [&](uint32_t i) { return sample[run_place<U>(i)]; };
  const Part to = own;
  for (uint32_t b = threadIdx.x; b < buckets; b += Shape::kThreads) {
    const U key = sorted(b * share);
    const bool same_before = b > 1 && sorted((b - 1) * share) == key;
    const bool same_behind = b + 1 < buckets && sorted((b + 1) * share) == key;
    const U next = key != static_cast<U>(~U{0}) ? static_cast<U>(key + 1) : key;
    params.bucket_starts[to.base + b] = b == 0 ? U{0} : same_before && !same_behind ? next : key;
    params.bucket_counts[to.base + b] = 0;
  }
  __syncthreads();  // all have read `sample` and `own`
}

template <class U, class Shape>
__device__ __forceinline__ void sample_parts(const Params<U> &params, const List &list, U *sample) {
  __shared__ Part own;
  const uint64_t count = *list.count;
  // From the last block on: the first one numbers the tiles besides.
  for (uint64_t i = gridDim.x - 1 - blockIdx.x; i < count; i += gridDim.x)
    sample_part<U, Shape>(params, list.segments[i], params.parts + i, sample, own);
}

// ---- counts ----

// Row i of a thread has a key if i * (the block's threads) is below this. So compared, no row's number takes a
// register.
__device__ __forceinline__ int keys_left(uint32_t items) {
  return static_cast<int>(items) - static_cast<int>(threadIdx.x);
}

// Keys whose buckets a thread finds side by side.
constexpr uint32_t kFindRows = 4;

// Rows without a key have some value.
template <class U, class Shape>
__device__ __forceinline__ void load_tile(const TileCursor<U> &cursor, U (&keys)[Shape::kRows]) {
  const U *const from = cursor.source + cursor.key + threadIdx.x;
  const int left = keys_left(cursor.items);
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    keys[row] = static_cast<int>(row * Shape::kThreads) < left ? from[row * Shape::kThreads] : U{0};
}

template <class U, uint32_t kRows>
__device__ __forceinline__ void find_rows(const KeyCodec<U> &codec, const BucketFinder<U> &finder,
                                          const U (&keys)[kRows], uint32_t row, uint32_t (&buckets)[kFindRows]) {
  U encoded[kFindRows];
#pragma unroll
  for (uint32_t i = 0; i < kFindRows; ++i) encoded[i] = codec.encode(keys[row + i]);
  finder.find(encoded, buckets);
}

template <class U>
__device__ __forceinline__ void add_counts(const Params<U> &params, const Part &part, const uint32_t *counts) {
  if (threadIdx.x < part.buckets && counts[threadIdx.x] != 0)
    atomicAdd(&params.bucket_counts[part.base + threadIdx.x], static_cast<unsigned long long>(counts[threadIdx.x]));
}

// Counts the keys of all buckets.
template <class U, class Shape>
__device__ __forceinline__ void count_parts(const Params<U> &params, const Round<U> &round, TileCursor<U> &cursor,
                                            MoveStorage<U, Shape> &storage) {
  static_assert(Shape::kThreads >= kBucketsMax, "a thread has one bucket");
  static_assert(Shape::kRows % kFindRows == 0, "rows are found together");
  if (threadIdx.x == 0) start_tiles<U, Shape>(params, *round.list, cursor);
  if (threadIdx.x < kBucketsMax) storage.first[threadIdx.x] = 0;
  Part part = {0, 0};
  for (;;) {
    __syncthreads();  // all have counted
    if (threadIdx.x == 0) next_tile<U, Shape>(params, *round.list, cursor);
    __syncthreads();
    if (cursor.items == 0 || cursor.entered) {
      add_counts(params, part, storage.first);
      if (cursor.items == 0) break;
      part = params.parts[cursor.part];
      if (threadIdx.x < kBucketsMax) storage.first[threadIdx.x] = 0;
      load_buckets<U, Shape::kThreads>(params, part, storage.finder);
    }
    U keys[Shape::kRows];
    load_tile<U, Shape>(cursor, keys);
    if (threadIdx.x == 0 && cursor.tile < cursor.tiles_end)
      prefetch_to_l2(cursor.source, cursor.next_key, Shape::kItems, cursor.keys_end);
    const int left = keys_left(cursor.items);
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; row += kFindRows) {
      uint32_t buckets[kFindRows];
      find_rows(params.codec, storage.finder, keys, row, buckets);
#pragma unroll
      for (uint32_t i = 0; i < kFindRows; ++i)
        if (static_cast<int>((row + i) * Shape::kThreads) < left) atomicAdd(&storage.first[buckets[i]], 1u);
    }
  }
  __syncthreads();
}

// ---- places ----

__device__ __forceinline__ void list_by_warp(const List &list, bool mine, uint64_t entry) {
  const uint32_t lanes = __ballot_sync(kFullWarp, mine);
  if (lanes == 0) return;
  unsigned long long at = 0;
  if (lane_id() == 0) at = atomicAdd(list.count, static_cast<unsigned long long>(__popc(lanes)));
  at = __shfl_sync(kFullWarp, at, 0) + __popc(lanes & ((1u << lane_id()) - 1));
  if (mine) list.segments[at] = entry;
}

// A warp has 32 buckets of a segment: counts become places, and each bucket is listed by its length.
template <class U>
__device__ __forceinline__ void place_buckets(const Params<U> &params, const Round<U> &round, const Part &part,
                                              uint64_t begin, uint32_t first) {
  const unsigned long long *const counts = params.bucket_counts + part.base;
  uint64_t before = 0;
  for (uint32_t b = lane_id(); b < first; b += 32) before += counts[b];
  for (uint32_t distance = 16; distance != 0; distance /= 2) before += __shfl_xor_sync(kFullWarp, before, distance);
  const uint32_t b = first + lane_id();
  const bool is_bucket = b < part.buckets;
  const uint64_t keys = is_bucket ? counts[b] : 0, inclusive = warp_inclusive_sum(keys);
  const uint64_t place = begin + before + inclusive - keys, entry = part.base + b;
  if (is_bucket) params.bucket_begins[entry] = params.bucket_room[entry] = place;
  if (is_bucket && b + 1 == part.buckets) params.bucket_begins[entry + 1] = place + keys;
  const bool fill = is_bucket && has_one_value(params.bucket_starts + part.base, part.buckets, b);
  if (fill && keys != 0) params.any_fill[round.first ? 0 : 1] = 1;
  const uint64_t items = fill ? 0 : keys, listed = kBucket | (round.first ? 0 : kSecondRound) | entry;
  constexpr uint32_t kSmall = small_segment_items(sizeof(U)), kMiddle = middle_segment_items(sizeof(U)),
                     kMedium = medium_segment_items(sizeof(U));
  list_by_warp(params.small, items != 0 && items <= kSmall, listed);
  list_by_warp(params.middle, items > kSmall && items <= kMiddle, listed);
  list_by_warp(params.medium, items > kMiddle && items <= kMedium, listed);
  const bool big = items > kMedium && items <= params.big_items_max;
  list_by_warp(params.big, big, listed);
  list_by_warp(round.first ? params.again : params.radix, items > kMedium && !big, listed);
}

template <class U, class Shape>
__device__ __forceinline__ void place_parts(const Params<U> &params, const Round<U> &round) {
  constexpr uint32_t kPieces = kBucketsMax / 32;
  const uint64_t pieces = *round.list->count * kPieces, step = uint64_t{gridDim.x} * Shape::kWarps;
  for (uint64_t i = uint64_t{blockIdx.x} * Shape::kWarps + threadIdx.x / 32; i < pieces; i += step) {
    const Part part = params.parts[i / kPieces];
    const uint32_t first = static_cast<uint32_t>(i % kPieces) * 32;
    if (first < part.buckets)
      place_buckets(params, round, part, params.bounds_of(round.list->segments[i / kPieces])[0], first);
  }
}

// ---- keys ----

// What a thread keeps of its keys between counting and moving: numbers among their bucket's keys, two a word, and
// buckets, three a word.
template <uint32_t kRows>
struct BucketRanks {
  uint32_t numbers[kRows / 2], buckets[kRows / 3];

  __device__ __forceinline__ void put(uint32_t row, uint32_t number, uint32_t bucket) {
    numbers[row / 2] = row % 2 == 0 ? number : __byte_perm(numbers[row / 2], number, 0x5410);
    buckets[row / 3] = row % 3 == 0 ? bucket : buckets[row / 3] | bucket << (row % 3 * 10);
  }
  __device__ __forceinline__ uint32_t number(uint32_t row) const {
    return row % 2 == 0 ? numbers[row / 2] & 0xffffu : numbers[row / 2] >> 16;
  }
  __device__ __forceinline__ uint32_t bucket(uint32_t row) const { return buckets[row / 3] >> (row % 3 * 10) & 0x3ffu; }
};
constexpr uint32_t kNoBucket = 1023;  // of keys that are not moved

// Numbers the keys of a bucket where the warp's lanes have keys all, and often of one bucket, as in sorted data, where
// atomics would queue up at one counter: those of the first lane's bucket count with one.
__device__ __forceinline__ uint32_t number_alike(uint32_t *counts, uint32_t bucket) {
  const uint32_t first_bucket = __shfl_sync(kFullWarp, bucket, 0);
  const uint32_t same = __ballot_sync(kFullWarp, bucket == first_bucket);
  uint32_t number = 0;
  if ((bucket != first_bucket || lane_id() == 0) && bucket != kNoBucket)
    number = atomicAdd(&counts[bucket], lane_id() == 0 ? __popc(same) : 1u);
  const uint32_t taken = __shfl_sync(kFullWarp, number, 0);
  return bucket == first_bucket ? taken + __popc(same & ((1u << lane_id()) - 1)) : number;
}

template <class U, class Shape>
__device__ __forceinline__ void rank_keys(const KeyCodec<U> &codec, uint32_t items, const U (&keys)[Shape::kRows],
                                          MoveStorage<U, Shape> &storage, BucketRanks<Shape::kRows> &ranks) {
  const BucketFinder<U> &finder = storage.finder;
  const bool skips = finder.any_fill != 0;
  const int left = keys_left(items);
  bool alike = false;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; row += kFindRows) {
    uint32_t buckets[kFindRows], numbers[kFindRows];
    find_rows(codec, finder, keys, row, buckets);
#pragma unroll
    for (uint32_t i = 0; i < kFindRows; ++i) {
      if (skips && finder.fill[buckets[i]] != 0) buckets[i] = kNoBucket;
      if (static_cast<int>((row + i) * Shape::kThreads) >= left) buckets[i] = kNoBucket;
    }
    if (row == 0 && items == Shape::kItems)
      alike = __popc(__ballot_sync(kFullWarp, buckets[0] == __shfl_sync(kFullWarp, buckets[0], 0))) >= 8;
    if (alike) {
#pragma unroll
      for (uint32_t i = 0; i < kFindRows; ++i) numbers[i] = number_alike(storage.first, buckets[i]);
    } else {
#pragma unroll
      for (uint32_t i = 0; i < kFindRows; ++i)
        numbers[i] = buckets[i] != kNoBucket ? atomicAdd(&storage.first[buckets[i]], 1u) : 0;
    }
#pragma unroll
    for (uint32_t i = 0; i < kFindRows; ++i) ranks.put(row + i, numbers[i], buckets[i]);
  }
}

// Moves a tile's keys to the room of their buckets. Begins and ends with a barrier; counters are clear at both.
template <class U, class Shape>
__device__ __forceinline__ void move_tile(const Params<U> &params, U *keys_to, const TileCursor<U> &cursor,
                                          uint64_t base, MoveStorage<U, Shape> &storage) {
  U keys[Shape::kRows];
  BucketRanks<Shape::kRows> ranks;
  load_tile<U, Shape>(cursor, keys);
  rank_keys<U, Shape>(params.codec, cursor.items, keys, storage, ranks);
  __syncthreads();
  const uint32_t counted = threadIdx.x < kBucketsMax ? storage.first[threadIdx.x] : 0;
  unsigned long long room = 0;
  if (counted != 0) room = atomicAdd(&params.bucket_room[base + threadIdx.x], static_cast<unsigned long long>(counted));
  uint32_t moved;
  const uint32_t first = block_exclusive_sum<Shape::kThreads>(counted, storage.warp_totals, moved);
  if (threadIdx.x < kBucketsMax) {
    storage.first[threadIdx.x] = first;
    storage.to_place[threadIdx.x] = room - first;
  }
  __syncthreads();
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t bucket = ranks.bucket(row);
    if (bucket == kNoBucket) continue;
    const uint32_t place = storage.first[bucket] + ranks.number(row);
    storage.keys[place] = keys[row];
    storage.buckets[place] = static_cast<uint16_t>(bucket);
  }
  __syncthreads();
  if (threadIdx.x < kBucketsMax) storage.first[threadIdx.x] = 0;
  U *const to = keys_to + threadIdx.x;
  const U *const own = storage.keys + threadIdx.x;
  const uint16_t *const own_buckets = storage.buckets + threadIdx.x;
  const int left = keys_left(moved);
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    constexpr uint32_t kThreads = Shape::kThreads;
    if (static_cast<int>(row * kThreads) < left)
      to[storage.to_place[own_buckets[row * kThreads]] + row * kThreads] = own[row * kThreads];
  }
  __syncthreads();
}

template <class U, class Shape>
__device__ __forceinline__ void move_parts(const Params<U> &params, const Round<U> &round, TileCursor<U> &cursor,
                                           MoveStorage<U, Shape> &storage) {
  if (threadIdx.x == 0) start_tiles<U, Shape>(params, *round.list, cursor);
  if (threadIdx.x < kBucketsMax) storage.first[threadIdx.x] = 0;
  uint64_t base = 0;
  for (;;) {
    if (threadIdx.x == 0) next_tile<U, Shape>(params, *round.list, cursor);
    __syncthreads();
    if (cursor.items == 0) break;
    if (cursor.entered) {
      const Part part = params.parts[cursor.part];
      base = part.base;
      load_buckets<U, Shape::kThreads>(params, part, storage.finder);
    }
    move_tile<U, Shape>(params, round.keys_to, cursor, base, storage);
  }
  __syncthreads();
}

// Writes the buckets of one value, where no block reads keys any more.
template <class U, class Shape>
__device__ __forceinline__ void fill_parts(const Params<U> &params, const Round<U> &round, TileCursor<U> &cursor) {
  if (threadIdx.x == 0) start_tiles<U, Shape>(params, *round.list, cursor);
  for (;;) {
    if (threadIdx.x == 0) next_tile<U, Shape>(params, *round.list, cursor);
    __syncthreads();
    if (cursor.items == 0) break;
    const Part part = params.parts[cursor.part];
    const uint64_t *const begins = params.bucket_begins + part.base, first = cursor.key, end = first + cursor.items;
    const U *const starts = params.bucket_starts + part.base;
    uint32_t b = first_that(part.buckets, [&](uint32_t i) { return begins[i + 1] > first; });
    for (; b < part.buckets && begins[b] < end; ++b) {
      if (!has_one_value(starts, part.buckets, b)) continue;
      const U value = params.codec.decode(starts[b]);
      const uint64_t to = min(begins[b + 1], end);
      for (uint64_t i = max(begins[b], first) + threadIdx.x; i < to; i += Shape::kThreads) params.keys_out[i] = value;
    }
    __syncthreads();  // all have read `cursor`
  }
  __syncthreads();
}

// All segments that no block holds. The grid's barriers order what its blocks wrote to memory before what they read
// behind. shared: of sizeof(PartitionStorage) bytes.
template <class U, class Shape>
__device__ __forceinline__ void partition_segments(const Params<U> &params, PartitionStorage<U, Shape> &shared) {
  __shared__ TileCursor<U> cursor;
  if (*params.error != 0) return;
  const auto grid = cooperative_groups::this_grid();
#pragma unroll 1
  for (uint32_t number = 0; number < kPartitionRounds; ++number) {
    const bool first = number == 0;
    const Round<U> round = {first ? &params.large : &params.again, first ? params.keys_y : params.keys_out, first};
    if (*round.list->count == 0) return;  // the whole grid, so that nobody waits
    if (blockIdx.x == 0) number_tiles<U, Shape>(params, *round.list, shared.tile_sums);
    sample_parts<U, Shape>(params, *round.list, shared.sample);
    grid.sync();
    count_parts(params, round, cursor, shared.move);
    grid.sync();
    place_parts<U, Shape>(params, round);
    grid.sync();
    move_parts(params, round, cursor, shared.move);
    grid.sync();
    if (params.any_fill[number] == 0) continue;
    fill_parts<U, Shape>(params, round, cursor);
    grid.sync();
  }
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_PARTITION_CUH_
