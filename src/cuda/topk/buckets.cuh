// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of one row of some hundred thousand elements, k of some thousands and more: the sample sort of a grid
// (cuda/sort/small/grid_sample_sort.cuh) of which only the first buckets are kept.
//
//   all blocks sort the same sample -> an item of it bounds the best k, others cut what is under it into buckets ->
//   each block stores what is under the bound in the order of buckets -> one barrier -> each block sorts a bucket
//
// Work whatever the data: items are keys with their places, all distinct, so that the buckets depend on the sample
// alone. Where it let too few through, all is done again with a bound of twice the rank.
#ifndef GSORT_CUDA_TOPK_BUCKETS_CUH_
#define GSORT_CUDA_TOPK_BUCKETS_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/sort/small/grid_sample_sort.cuh"
#include "cuda/topk/buckets_plan.h"

namespace gsort_internal::topk {

namespace small = sort::small;

template <class U>
struct BucketsParams {
  small::GridParams<U> grid;
  uint32_t k;
  uint32_t rank;  // of the bound in the sample
};

template <class U>
struct BucketsShape : small::GridShape<U, true, false> {
  using Base = small::GridShape<U, true, false>;
  static constexpr uint32_t kShareRows = kBucketsShareRows, kSampleRows = kBucketsSampleRows;
  using SampleShape = small::TileSortShape<typename Base::Placed, Base::kThreads, kSampleRows, 4096>;
};

// What is at or above it is dropped. No bucket ends there: the search for buckets does not read it.
template <class Shape>
__device__ __forceinline__ typename Shape::Splitter &buckets_bound(small::GridStorage<Shape> &storage) {
  return storage.splitters[small::kGridBlocksMax - 1];
}

// How many of the block's share are under it.
template <class Shape>
__device__ __forceinline__ uint32_t &buckets_kept(small::GridStorage<Shape> &storage) {
  return storage.warp_totals[0];
}

// Every block's sample is the same: one item of each of params.samples equal parts of the input.
template <class Shape, class U>
__device__ __forceinline__ void buckets_split(const small::GridParams<U> &params, uint32_t rank,
                                              small::GridStorage<Shape> &storage) {
  typename Shape::Splitter sample[Shape::kSampleRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kSampleRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < params.samples) {
      const uint32_t begin = static_cast<uint32_t>(uint64_t{i} * params.sampled / params.samples);
      const uint32_t end = static_cast<uint32_t>(uint64_t{i + 1} * params.sampled / params.samples);
      const uint32_t place = begin + __umulhi(small::scrambled(i, params.seed), end - begin);
      sample[row] = Shape::Placed::make(params.arrays.codec.encode(params.arrays.keys_in[place]), place);
    }
  }
  const BucketsCut cut = cut_buckets(rank, gridDim.x);
  if (threadIdx.x == 0) buckets_kept(storage) = 0;
  if (threadIdx.x < small::kGridBlocksMax) {
    storage.counts[threadIdx.x] = 0;
    storage.splitters[threadIdx.x] = small::greatest_item<typename Shape::Splitter>();
  }
  // The sort's first barrier lies between that and what follows.
  tile_sort(storage.sample, sample, params.samples, params.arrays.n,
            [&](uint32_t place, const typename Shape::Splitter &item) {
              if (place > rank || place == 0) return;
              if (place == rank)
                buckets_bound(storage) = item;
              else if (place % cut.each == 0)
                storage.splitters[place / cut.each - 1] = item;
            });
  __syncthreads();
}

constexpr uint32_t kDropped = ~uint32_t{0};

// Encodes the block's share, and numbers what of it is under the bound within its buckets: places are a bucket and a
// number, or kDropped.
template <class Shape, class U>
__device__ __forceinline__ void buckets_number(const small::GridParams<U> &params, uint32_t begin, uint32_t count,
                                               U (&keys)[Shape::kShareRows], uint32_t (&places)[Shape::kShareRows],
                                               small::GridStorage<Shape> &storage) {
  const auto bound = buckets_bound(storage);
  uint32_t kept = 0;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kShareRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    places[row] = kDropped;
    if (i >= count) continue;
    keys[row] = params.arrays.codec.encode(keys[row]);
    const auto item = Shape::Placed::make(keys[row], begin + i);
    if (!(item < bound)) continue;
    const uint32_t bucket = small::bucket_of(storage.splitters, item);
    places[row] = bucket << 16 | atomicAdd(&storage.counts[bucket], 1u);
    ++kept;
  }
  __syncwarp();
  kept = warp_sum(kept);
  if (lane_id() == 0 && kept != 0) atomicAdd(&buckets_kept(storage), kept);
  __syncthreads();
}

// Stores what of the block's share is under the bound, in the order of buckets.
template <class Shape, class U>
__device__ __forceinline__ void buckets_partition(const small::GridParams<U> &params, uint32_t rank,
                                                  small::GridStorage<Shape> &storage) {
  constexpr bool kAhead = sizeof(U) == 4;  // as in the sort
  const uint32_t begin = blockIdx.x * params.share, count = min(params.share, params.arrays.n - begin);
  U keys[Shape::kShareRows];
  uint32_t places[Shape::kShareRows];
  const auto load_keys = [&] {
#pragma unroll
    for (uint32_t row = 0; row < Shape::kShareRows; ++row) {
      const uint32_t i = row * Shape::kThreads + threadIdx.x;
      if (i < count) keys[row] = params.arrays.keys_in[begin + i];
    }
  };
  if constexpr (kAhead) load_keys();
  buckets_split(params, rank, storage);
  if constexpr (!kAhead) load_keys();
  buckets_number(params, begin, count, keys, places, storage);
  publish_starts(params, storage, buckets_kept(storage));
  auto *const staged = static_cast<typename Shape::Item *>(params.staged) + begin;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kShareRows; ++row)
    if (places[row] != kDropped)
      staged[storage.counts[places[row] >> 16] + (places[row] & 0xffffu)] =
          Shape::ItemCodec::make(keys[row], begin + row * Shape::kThreads + threadIdx.x);
}

// Adds up what all blocks have kept, by warps that find_bucket() leaves alone. Complete behind a barrier.
template <class Shape, class U>
__device__ __forceinline__ void buckets_add_up(const small::GridParams<U> &params, small::GridStorage<Shape> &storage) {
  constexpr uint32_t kFirst = Shape::kThreads - small::kGridBlocksMax;
  if (threadIdx.x < kFirst) return;
  const uint32_t from = threadIdx.x - kFirst;
  const uint32_t kept =
      warp_sum(from < gridDim.x ? params.starts[from * small::kGridStartsStride + small::kGridBlocksMax] : 0u);
  if (lane_id() == 0) storage.counts[from / 32] = kept;
}
template <class Shape>
__device__ __forceinline__ uint32_t buckets_sum(const small::GridStorage<Shape> &storage) {
  static_assert(small::kGridBlocksMax == 128, "four warps add up");
  return storage.counts[0] + storage.counts[1] + storage.counts[2] + storage.counts[3];
}

// A bucket larger than a block can hold: an item's place is the number of lower ones. So rare that it may take long.
template <class Shape, class U, class Put>
__device__ __forceinline__ void buckets_count(const small::GridParams<U> &params, small::GridStorage<Shape> &storage,
                                              uint32_t count, Put put) {
  using Item = typename Shape::Item;
  constexpr uint32_t kTile = Shape::BucketShape::kItems;
  const auto *const staged = static_cast<const Item *>(params.staged);
  Item *const tile = storage.bucket.padded;
#pragma unroll 1
  for (uint32_t first = threadIdx.x; first - threadIdx.x < count; first += Shape::kThreads) {
    const Item item = first < count ? staged[source_of(storage, first)] : small::least_item<Item>();
    uint32_t place = 0;
#pragma unroll 1
    for (uint32_t from = 0; from < count; from += kTile) {
      const uint32_t items = min(kTile, count - from);
      __syncthreads();
#pragma unroll 1
      for (uint32_t i = threadIdx.x; i < items; i += Shape::kThreads) tile[i] = staged[source_of(storage, from + i)];
      __syncthreads();
#pragma unroll 4
      for (uint32_t i = 0; i < items; ++i) place += tile[i] < item ? 1u : 0u;
    }
    if (first < count) put(place, item);
  }
}

// Sorts the block's bucket and writes what of it is among the best k. False, in all blocks: there are fewer than k.
template <class Shape, class U>
__device__ __forceinline__ bool buckets_sort(const BucketsParams<U> &params, small::GridStorage<Shape> &storage) {
  using Item = typename Shape::Item;
  buckets_add_up(params.grid, storage);
  const small::Bucket bucket = find_bucket(params.grid, storage);
  if (buckets_sum(storage) < params.k) return false;
  if (bucket.count == 0 || bucket.place >= params.k) return true;
  const auto put = [&](uint32_t place, const Item &item) {
    if (bucket.place + place < params.k) small::put_item<U, true>(params.grid.arrays, bucket.place + place, item);
  };
  if (bucket.count > Shape::kRows * Shape::kThreads) {
    buckets_count(params.grid, storage, bucket.count, put);
    return true;
  }
  const auto *const staged = static_cast<const Item *>(params.grid.staged);
  Item items[Shape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < bucket.count) items[row] = staged[source_of(storage, i)];
  }
  tile_sort(storage.bucket, items, bucket.count, params.grid.arrays.n, put);
  return true;
}

// A cooperative launch: the barrier needs all blocks at once.
template <class U>
__global__ void __launch_bounds__(small::kGridThreads, 1)
    topk_buckets_kernel(const __grid_constant__ BucketsParams<U> params) {
  using Shape = BucketsShape<U>;
  if constexpr (!kFitsHere<Shape::kSharedBytes> || !kClustersHere) return;
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<small::GridStorage<Shape> *>(shared);
  for (uint32_t rank = params.rank;;) {
    buckets_partition(params.grid, rank, storage);
    // Release and acquire: every block's items and starts are seen behind the barrier.
    cooperative_groups::this_grid().sync();
    if (buckets_sort(params, storage)) return;
    cooperative_groups::this_grid().sync();
    // At a rank of the whole sample nothing is dropped.
    rank = min(2 * rank, params.grid.samples);
  }
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_BUCKETS_CUH_
