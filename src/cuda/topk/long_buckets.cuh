// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k by buckets of a grid (buckets.cuh) of a row that the blocks read tile by tile, for they cannot hold it:
//
//   all blocks draw the same sample and sort what of it may be among the best -> each block lists what of its tiles is
//   under the bound, counted by buckets -> a barrier -> each block knows all counts and stores its list where the
//   buckets lie -> a barrier -> each block sorts a bucket
//
// Only buckets that have some of the best k are stored: k items and the rest of the last one. Where a block's list is
// too short, it reads its tiles once more. All depends on the sample alone, not on where in the row the best lie; where
// it let too few through, or cut a bucket that is too large for a block, all is done again with another.
#ifndef GSORT_CUDA_TOPK_LONG_BUCKETS_CUH_
#define GSORT_CUDA_TOPK_LONG_BUCKETS_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/warp.cuh"
#include "cuda/topk/buckets.cuh"
#include "cuda/topk/buckets_plan.h"

namespace gsort_internal::topk {

template <class U>
struct LongBucketsParams {
  BucketsParams<U> row;  // grid.share is not used
  uint32_t sample_bits;  // grid.samples is 2^sample_bits
  uint32_t rough_rank;   // of a bound of what of the sample is sorted, in a part of it
  uint32_t room;         // items that can be stored
};

template <class U>
struct LongBucketsStorage {
  using Placed = small::ItemCodecOf<U, true>;
  using Item = typename Placed::Item;
  static constexpr uint32_t kTileRows = 32 / sizeof(U);
  static constexpr uint32_t kTileItems = small::kGridThreads * kTileRows;
  using SampleShape = small::TileSortShape<Placed, small::kGridThreads, 2, 4096>;
  static constexpr uint32_t kSampledMost = SampleShape::kItems;
  static constexpr uint32_t kListMost = sizeof(U) == 4 ? 12288 : 8192;
  using TileShape = small::TileSortShape<Placed, small::kGridThreads, small::kGridRows, 8192>;
  static_assert(kListMost >= kTileItems, "a tile that is all among the best can be listed");

  union {
    struct {
      Item drawn[kLongBucketsSamplesMost];
      union {
        Item sampled[kSampledMost];  // what of it is sorted
        small::TileSortStorage<SampleShape> sample;
      };
    };
    struct {
      Item list[kListMost];        // what of the block's tiles is under the bound
      uint32_t places[kListMost];  // of it: bucket << 16 | number
    };
    small::TileSortStorage<TileShape> tile;
    Item bucket[long_bucket_items(sizeof(U))];  // that a tile does not hold
  };
  Item splitters[small::kGridBlocksMax], bound;
  uint32_t counts[small::kGridBlocksMax];  // of the block's items in each bucket
  uint32_t begins[small::kGridBlocksMax];  // of buckets in `staged`, which are their places in the order, too
  uint32_t own[small::kGridBlocksMax];     // where in `staged` the block's items of each bucket lie
  uint32_t sums[2][small::kGridThreads], warp_sums[small::kGridBlocksMax / 32];
  uint32_t kept;
};

// Numbers what the lanes have from *count on, to which it is added. All lanes of the warp take part.
__device__ __forceinline__ uint32_t number_kept(bool kept, uint32_t *count) {
  const uint32_t lanes = __ballot_sync(kFullWarp, kept);
  uint32_t first = 0;
  if (lanes != 0 && lane_id() == 0) first = atomicAdd(count, static_cast<uint32_t>(__popc(lanes)));
  return __shfl_sync(kFullWarp, first, 0) + static_cast<uint32_t>(__popc(lanes & lanes_below()));
}

// The splitters, and at the rank the bound, of a sample that is the same in every block: one item of each of
// params.samples equal parts of the input. Few of it are under the bound: only what is under one of a part of the
// sample, at rough_rank, is sorted. Were that more than fits, which of it is sorted would be each block's own: nothing
// is under the bound then. Ends with a barrier.
template <class U>
__device__ __forceinline__ void long_buckets_split(const LongBucketsParams<U> &params, uint32_t rank, uint32_t seed,
                                                   LongBucketsStorage<U> &storage) {
  using Storage = LongBucketsStorage<U>;
  using Item = typename Storage::Item;
  constexpr uint32_t kThreads = small::kGridThreads, kDrawn = 4;  // loads that are under way at once
  const small::GridParams<U> &grid = params.row.grid;
  for (uint32_t first = threadIdx.x; first < grid.samples; first += kDrawn * kThreads) {
    U keys[kDrawn];
    uint32_t places[kDrawn];
#pragma unroll
    for (uint32_t row = 0; row < kDrawn; ++row) {
      const uint32_t i = min(first + row * kThreads, grid.samples - 1);
      const uint32_t begin = static_cast<uint32_t>(uint64_t{i} * grid.sampled >> params.sample_bits);
      const uint32_t end = static_cast<uint32_t>(uint64_t{i + 1} * grid.sampled >> params.sample_bits);
      places[row] = begin + __umulhi(small::scrambled(i, seed), end - begin);
      keys[row] = grid.arrays.keys_in[places[row]];
    }
#pragma unroll
    for (uint32_t row = 0; row < kDrawn; ++row)
      if (first + row * kThreads < grid.samples)
        storage.drawn[first + row * kThreads] =
            LongBucketsStorage<U>::Placed::make(grid.arrays.codec.encode(keys[row]), places[row]);
  }
  if (threadIdx.x == 0) storage.kept = 0;
  if (threadIdx.x < small::kGridBlocksMax) {
    storage.counts[threadIdx.x] = 0;
    storage.splitters[threadIdx.x] = small::greatest_item<Item>();
  }
  __syncthreads();
  Item sorted[Storage::SampleShape::kRows] = {storage.drawn[threadIdx.x * (grid.samples / kThreads)]};
  uint32_t count = kThreads;
  BucketsCut cut = {1, 0};
#pragma unroll 1
  for (bool rough = true;; rough = false) {
    tile_sort(storage.sample, sorted, count, grid.arrays.n, [&](uint32_t place, const Item &item) {
      if (place == (rough ? params.rough_rank : rank))
        storage.bound = item;
      else if (!rough && place < rank && place != 0 && place % cut.each == 0)
        storage.splitters[place / cut.each - 1] = item;
    });
    __syncthreads();
    if (!rough) return;
    const Item bound = storage.bound;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < grid.samples; i += kThreads) {
      const Item item = storage.drawn[i];
      const bool kept = !(bound < item);
      const uint32_t slot = number_kept(kept, &storage.kept);
      if (kept && slot < Storage::kSampledMost) storage.sampled[slot] = item;
    }
    __syncthreads();
    count = storage.kept;
    __syncthreads();
    if (threadIdx.x == 0) storage.kept = 0;
    if (count > Storage::kSampledMost) {
      if (threadIdx.x == 0) storage.bound = small::least_item<Item>();
      __syncthreads();
      return;
    }
    // Of fewer than the rank the last one: too few will be under it, or enough.
    rank = min(rank, count - 1);
    cut = cut_buckets(max(rank, 1u), gridDim.x);
#pragma unroll
    for (uint32_t row = 0; row < Storage::SampleShape::kRows; ++row)
      if (row * kThreads + threadIdx.x < count) sorted[row] = storage.sampled[row * kThreads + threadIdx.x];
    __syncthreads();
  }
}

// Lists what of a row of a tile is under the bound, by a warp in which some is. Not inline, as it would be there for
// each row.
template <class U>
__device__ __noinline__ void long_buckets_keep(LongBucketsStorage<U> &storage, bool kept,
                                               const typename LongBucketsStorage<U>::Item &item) {
  const uint32_t slot = number_kept(kept, &storage.kept);
  if (!kept) return;
  const uint32_t bucket = small::bucket_of(storage.splitters, item);
  const uint32_t number = atomicAdd(&storage.counts[bucket], 1u);
  if (slot >= storage.kListMost) return;
  storage.list[slot] = item;
  storage.places[slot] = bucket << 16 | number;
}

// Looks at every element of the block's tiles.
template <class U>
__device__ __forceinline__ void long_buckets_read(const small::GridParams<U> &params, LongBucketsStorage<U> &storage) {
  using Storage = LongBucketsStorage<U>;
  constexpr uint32_t kThreads = small::kGridThreads, kRows = Storage::kTileRows;
  const uint32_t n = params.arrays.n, step = gridDim.x * Storage::kTileItems;
  const auto bound = storage.bound;
  U next[kRows];
  // Without a condition to each, and so without an address, the loads of a tile are under way while one before it is
  // looked at.
  const auto load = [&](uint32_t begin) {
    const U *const from = params.arrays.keys_in + begin + threadIdx.x;
    if (begin + Storage::kTileItems <= n) {
#pragma unroll
      for (uint32_t row = 0; row < kRows; ++row) next[row] = from[row * kThreads];
    } else {
#pragma unroll
      for (uint32_t row = 0; row < kRows; ++row)
        if (begin + row * kThreads + threadIdx.x < n) next[row] = from[row * kThreads];
    }
  };
  load(blockIdx.x * Storage::kTileItems);
#pragma unroll 1
  for (uint32_t begin = blockIdx.x * Storage::kTileItems; begin < n; begin += step) {
    U keys[kRows];
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) keys[row] = next[row];
    load(begin + step);
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint32_t at = begin + row * kThreads + threadIdx.x;
      const auto item = Storage::Placed::make(params.arrays.codec.encode(keys[row]), at);
      const bool kept = at < n && item < bound;
      if (__any_sync(kFullWarp, kept)) long_buckets_keep(storage, kept, item);
    }
  }
}

// Lists what of the block's tiles is under the bound of a sample, and tells how much each bucket has of it.
template <class U>
__device__ __forceinline__ void long_buckets_list(const LongBucketsParams<U> &params, uint32_t rank, uint32_t seed,
                                                  LongBucketsStorage<U> &storage) {
  long_buckets_split(params, rank, seed, storage);
  long_buckets_read(params.row.grid, storage);
  __syncthreads();
  if (threadIdx.x < small::kGridBlocksMax)
    params.row.grid.starts[blockIdx.x * small::kGridStartsStride + threadIdx.x] = storage.counts[threadIdx.x];
}

enum class LongBucketsHave { kEnough, kTooFew, kTooMany };

// From the counts of all blocks: where each bucket begins, and what the block has of it; its counts are cleared. The
// same answer in all blocks. Ends with a barrier.
template <class U>
__device__ __forceinline__ LongBucketsHave long_buckets_place(const LongBucketsParams<U> &params,
                                                              LongBucketsStorage<U> &storage) {
  constexpr uint32_t kBuckets = small::kGridBlocksMax, kGroups = small::kGridThreads / kBuckets;
  const uint32_t bucket = threadIdx.x % kBuckets, group = threadIdx.x / kBuckets;
  uint32_t all = 0, before = 0;
#pragma unroll
  for (uint32_t i = 0; i < kBuckets / kGroups; ++i) {
    const uint32_t block = group * (kBuckets / kGroups) + i;
    if (block >= gridDim.x) continue;
    const uint32_t count = params.row.grid.starts[block * small::kGridStartsStride + bucket];
    all += count;
    if (block < blockIdx.x) before += count;
  }
  storage.sums[0][threadIdx.x] = all, storage.sums[1][threadIdx.x] = before;
  __syncthreads();
  uint32_t inclusive = 0;
  if (group == 0) {
#pragma unroll
    for (uint32_t i = 1; i < kGroups; ++i)
      all += storage.sums[0][i * kBuckets + bucket], before += storage.sums[1][i * kBuckets + bucket];
    inclusive = warp_inclusive_sum(all);
    if (lane_id() == 31) storage.warp_sums[threadIdx.x / 32] = inclusive;
  }
  __syncthreads();
  uint32_t begin = inclusive - all, sum = 0;
#pragma unroll
  for (uint32_t warp = 0; warp < kBuckets / 32; ++warp) {
    if (warp < threadIdx.x / 32) begin += storage.warp_sums[warp];
    sum += storage.warp_sums[warp];
  }
  if (group == 0) {
    storage.begins[bucket] = begin;
    storage.own[bucket] = begin + before;
    storage.counts[bucket] = 0;
  }
  const bool is_wanted = group == 0 && begin < params.row.k;
  const bool is_too_large = is_wanted && (all > long_bucket_items(sizeof(U)) || begin + all > params.room);
  if (__syncthreads_or(is_too_large)) return LongBucketsHave::kTooMany;
  return sum < params.row.k ? LongBucketsHave::kTooFew : LongBucketsHave::kEnough;
}

// Stores what the block has of the buckets that have some of the best k.
template <class U>
__device__ __forceinline__ void long_buckets_store(const LongBucketsParams<U> &params, LongBucketsStorage<U> &storage) {
  using Storage = LongBucketsStorage<U>;
  const small::GridParams<U> &grid = params.row.grid;
  auto *const staged = static_cast<typename Storage::Item *>(grid.staged);
  if (storage.kept <= storage.kListMost) {
    for (uint32_t slot = threadIdx.x; slot < storage.kept; slot += small::kGridThreads) {
      const uint32_t bucket = storage.places[slot] >> 16, number = storage.places[slot] & 0xffffu;
      if (storage.begins[bucket] < params.row.k) staged[storage.own[bucket] + number] = storage.list[slot];
    }
    return;
  }
  // More than the list has room for: read once more, which is as rare as that several tiles are among the best.
  const uint32_t step = gridDim.x * Storage::kTileItems;
  for (uint32_t begin = blockIdx.x * Storage::kTileItems; begin < grid.arrays.n; begin += step) {
    const uint32_t end = min(begin + Storage::kTileItems, grid.arrays.n);
    for (uint32_t at = begin + threadIdx.x; at < end; at += small::kGridThreads) {
      const auto item = Storage::Placed::make(grid.arrays.codec.encode(grid.arrays.keys_in[at]), at);
      if (!(item < storage.bound)) continue;
      const uint32_t bucket = small::bucket_of(storage.splitters, item);
      if (storage.begins[bucket] < params.row.k)
        staged[storage.own[bucket] + atomicAdd(&storage.counts[bucket], 1u)] = item;
    }
  }
}

// Sorts the block's bucket and writes what of it is among the best k.
template <class U>
__device__ __forceinline__ void long_buckets_sort(const LongBucketsParams<U> &params, LongBucketsStorage<U> &storage) {
  using Storage = LongBucketsStorage<U>;
  using Item = typename Storage::Item;
  constexpr uint32_t kThreads = small::kGridThreads;
  const uint32_t begin = storage.begins[blockIdx.x], k = params.row.k;
  uint32_t end = 0;  // of the last bucket: of all
  if (blockIdx.x + 1 < small::kGridBlocksMax) {
    end = storage.begins[blockIdx.x + 1];
  } else {
    for (const uint32_t sum : storage.warp_sums) end += sum;
  }
  if (begin >= k || begin == end) return;
  const uint32_t count = end - begin;
  const auto *const staged = static_cast<const Item *>(params.row.grid.staged) + begin;
  if (count > Storage::TileShape::kItems) {
    for (uint32_t i = threadIdx.x; i < count; i += kThreads) storage.bucket[i] = staged[i];
    __syncthreads();
    small::network_sort_tile(storage.bucket, count);
    for (uint32_t i = threadIdx.x; i < min(count, k - begin); i += kThreads)
      small::put_item<U, true>(params.row.grid.arrays, begin + i, storage.bucket[i]);
    return;
  }
  Item items[Storage::TileShape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Storage::TileShape::kRows; ++row)
    if (row * kThreads + threadIdx.x < count) items[row] = staged[row * kThreads + threadIdx.x];
  tile_sort(storage.tile, items, count, params.row.grid.arrays.n, [&](uint32_t place, const Item &item) {
    if (begin + place < k) small::put_item<U, true>(params.row.grid.arrays, begin + place, item);
  });
}

// A cooperative launch: the barriers need all blocks at once.
template <class U>
__global__ void __launch_bounds__(small::kGridThreads, 1)
    topk_long_buckets_kernel(const __grid_constant__ LongBucketsParams<U> params) {
  if constexpr (!kFitsHere<kLongBucketsSharedBytes> || !kClustersHere) return;
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<LongBucketsStorage<U> *>(shared);
  const auto grid = cooperative_groups::this_grid();
  uint32_t rank = params.row.rank;
  for (uint32_t seed = params.row.grid.seed;; seed += 0x9e3779b9u) {
    long_buckets_list(params, rank, seed, storage);
    grid.sync();  // all counts are seen behind it
    const LongBucketsHave have = long_buckets_place(params, storage);
    if (have == LongBucketsHave::kEnough) break;
    grid.sync();
    rank = have == LongBucketsHave::kTooFew ? min(2 * rank, kLongBucketsRankMax) : params.row.rank;
  }
  long_buckets_store(params, storage);
  grid.sync();  // and all that is stored
  long_buckets_sort(params, storage);
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_LONG_BUCKETS_CUH_
