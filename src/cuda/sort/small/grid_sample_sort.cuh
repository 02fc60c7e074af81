// SPDX-License-Identifier: MIT OR Apache-2.0
// Sample sort of an input of which every block of a grid can hold a few times its share, in one launch. All blocks draw
// the same sample and sort it; from it come the splitters that cut the input into as many buckets as there are blocks.
// Every block puts its share in the order of buckets, and after one barrier of the grid sorts one bucket.
//
// The splitters are items with their places, all distinct, so that many equal keys are cut like any others: how even
// the buckets are depends on the sample alone.
#ifndef GSORT_CUDA_SORT_SMALL_GRID_SAMPLE_SORT_CUH_
#define GSORT_CUDA_SORT_SMALL_GRID_SAMPLE_SORT_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/sort/small/block_sort.cuh"
#include "cuda/sort/small/output.cuh"
#include "cuda/sort/small/plan.h"
#include "cuda/sort/small/tile_sort.cuh"

namespace gsort_internal::sort::small {

template <class U>
struct GridParams {
  Params<U> arrays;
  void *staged;      // n items: every block's share in the order of buckets
  void *spare;       // n items: buckets that no block can hold; of keys alone the output
  uint32_t *starts;  // [block][bucket]: place in the block's share; kGridStartsStride words a block
  uint32_t share;    // items of a block but the last, which may have fewer
  uint32_t samples;  // a multiple of the number of blocks
  uint32_t sampled;  // the sample is drawn from so many leading items: all of them, but for tests
  uint32_t seed;
};

template <class U, bool kWithSources, bool kLong>
struct GridShape {
  static constexpr uint32_t kItemBytes = bytes_of_item(sizeof(U), kWithSources);
  static constexpr uint32_t kThreads = kGridThreads;
  static constexpr uint32_t kRows = kLong ? kLongGridRows : kGridRows;
  static constexpr uint32_t kSharedBytes = kLong ? kLongGridSharedBytes : kGridSharedBytesMin;
  static constexpr bool kSources = kWithSources;
  using ItemCodec = ItemCodecOf<U, kSources>;
  using Item = typename ItemCodec::Item;
  using Placed = ItemCodecOf<U, true>;  // splitters are distinct
  using Splitter = typename Placed::Item;
  static constexpr uint32_t kSampleRows = kGridBlocksMax * kGridSamplesEach / kThreads;
  using BucketShape = TileSortShape<ItemCodec, kThreads, kRows, kLong ? 16384 : 4096>;
  using SampleShape = TileSortShape<Placed, kThreads, kSampleRows, 4096>;
};

template <class Shape>
struct GridStorage {
  union {
    TileSortStorage<typename Shape::SampleShape> sample;
    TileSortStorage<typename Shape::BucketShape> bucket;
  };
  typename Shape::Splitter splitters[kGridBlocksMax];
  alignas(16) uint32_t counts[kGridBlocksMax];  // of the block's items in each bucket; then first places
  uint32_t run_begin[kGridBlocksMax];           // in the bucket, of what came from each block
  uint32_t run_source[kGridBlocksMax];          // in `staged`, less run_begin
  uint32_t warp_totals[4], warp_places[4];
};

// A number that an input cannot be made against: it depends on the seed.
__device__ __forceinline__ uint32_t scrambled(uint32_t i, uint32_t seed) {
  uint32_t x = (i + 1) * 0x9e3779b9u ^ seed;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

// Every block's sample is the same: one item of each of params.samples equal parts of the input.
template <class Shape, class U>
__device__ __forceinline__ void find_splitters(const GridParams<U> &params, GridStorage<Shape> &storage) {
  using SampleShape = typename Shape::SampleShape;
  typename Shape::Splitter sample[SampleShape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < SampleShape::kRows; ++row) {
    const uint32_t i = row * SampleShape::kThreads + threadIdx.x;
    if (i < params.samples) {
      const uint32_t begin = static_cast<uint32_t>(uint64_t{i} * params.sampled / params.samples);
      const uint32_t end = static_cast<uint32_t>(uint64_t{i + 1} * params.sampled / params.samples);
      const uint32_t place = begin + __umulhi(scrambled(i, params.seed), end - begin);
      sample[row] = Shape::Placed::make(params.arrays.codec.encode(params.arrays.keys_in[place]), place);
    }
  }
  const uint32_t each = params.samples / gridDim.x;
  if (threadIdx.x < kGridBlocksMax) {
    storage.counts[threadIdx.x] = 0;
    storage.splitters[threadIdx.x] = greatest_item<typename Shape::Splitter>();
  }
  // The sort's first barrier lies between that and what follows.
  tile_sort(storage.sample, sample, params.samples, params.arrays.n,
            [&](uint32_t place, const typename Shape::Splitter &item) {
              if (place % each == 0 && place != 0) storage.splitters[place / each - 1] = item;
            });
  __syncthreads();
}

// Range of an item: splitters that are not above it.
template <class Splitter>
__device__ __forceinline__ uint32_t bucket_of(const Splitter *splitters, const Splitter &item) {
  uint32_t bucket = 0;
#pragma unroll
  for (uint32_t step = kGridBlocksMax / 2; step != 0; step /= 2)
    if (!(item < splitters[bucket + step - 1])) bucket += step;
  return bucket;
}

// Warp 0 replaces counts by first places, and tells them to all blocks.
template <class Shape, class U>
__device__ __forceinline__ void publish_starts(const GridParams<U> &params, GridStorage<Shape> &storage,
                                               uint32_t count) {
  if (threadIdx.x < 32) {
    uint4 &own = reinterpret_cast<uint4 *>(storage.counts)[lane_id()];
    const uint4 counts = own;
    const uint32_t sum = counts.x + counts.y + counts.z + counts.w;
    const uint32_t x = warp_inclusive_sum(sum) - sum, y = x + counts.x, z = y + counts.y;
    own = make_uint4(x, y, z, z + counts.z);
    reinterpret_cast<uint4 *>(params.starts + blockIdx.x * kGridStartsStride)[lane_id()] = own;
    if (lane_id() == 0) params.starts[blockIdx.x * kGridStartsStride + kGridBlocksMax] = count;
  }
  __syncthreads();
}

// Writes what lies in shared memory.
template <class Shape>
__device__ __forceinline__ void stage_items(const typename Shape::Item *ordered, uint32_t count,
                                            typename Shape::Item *staged) {
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < count) staged[i] = ordered[i];
  }
}

// Stores the block's share in the order of buckets.
template <class Shape, class U>
__device__ __forceinline__ void partition_share(const GridParams<U> &params, GridStorage<Shape> &storage) {
  using ItemCodec = typename Shape::ItemCodec;
  const uint32_t begin = blockIdx.x * params.share, count = min(params.share, params.arrays.n - begin);
  U keys[Shape::kRows];
  uint32_t places[Shape::kRows];
  const auto load_keys = [&] {
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; ++row) {
      const uint32_t i = row * Shape::kThreads + threadIdx.x;
      if (i < count) keys[row] = params.arrays.keys_in[begin + i];
    }
  };
  // Few are on their way meanwhile; many would only take registers that the sample's sort wants.
  if constexpr (Shape::kRows <= kGridRows) load_keys();
  find_splitters(params, storage);
  if constexpr (Shape::kRows > kGridRows) load_keys();
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < count) {
      keys[row] = params.arrays.codec.encode(keys[row]);
      const uint32_t bucket = bucket_of(storage.splitters, Shape::Placed::make(keys[row], begin + i));
      places[row] = bucket << 16 | atomicAdd(&storage.counts[bucket], 1u);
    }
  }
  __syncthreads();
  publish_starts(params, storage, count);
  typename Shape::Item *const ordered = storage.bucket.padded;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < count)
      ordered[storage.counts[places[row] >> 16] + (places[row] & 0xffffu)] = ItemCodec::make(keys[row], begin + i);
  }
  __syncthreads();
  stage_items<Shape>(ordered, count, static_cast<typename Shape::Item *>(params.staged) + begin);
}

struct Bucket {
  uint32_t place, count;
};

// Where the block's bucket begins in the output, how many items it has, and which of them lie where.
template <class Shape, class U>
__device__ __forceinline__ Bucket find_bucket(const GridParams<U> &params, GridStorage<Shape> &storage) {
  static_assert(kGridBlocksMax == 128, "four warps scan the parts of a bucket");
  const uint32_t from = threadIdx.x, warp = threadIdx.x / 32;
  uint32_t start = 0, items = 0, before = 0;
  if (from < kGridBlocksMax) {
    if (from < gridDim.x) {
      const uint32_t *const starts = params.starts + from * kGridStartsStride + blockIdx.x;
      start = starts[0], items = starts[1] - start;
    }
    const uint32_t inclusive = warp_inclusive_sum(items), places = warp_sum(start);
    before = inclusive - items;
    if (lane_id() == 31) storage.warp_totals[warp] = inclusive, storage.warp_places[warp] = places;
  }
  __syncthreads();
  Bucket bucket = {0, 0};
#pragma unroll
  for (uint32_t i = 0; i < kGridBlocksMax / 32; ++i) {
    if (i < warp) before += storage.warp_totals[i];
    bucket.place += storage.warp_places[i];
    bucket.count += storage.warp_totals[i];
  }
  if (from < kGridBlocksMax) {
    storage.run_begin[from] = before;
    storage.run_source[from] = from * params.share + start - before;
  }
  __syncthreads();
  return bucket;
}

// Place in `staged` of item i of the block's bucket. The last run that begins at or before it has it: runs of no items
// begin where the next one does.
template <class Shape>
__device__ __forceinline__ uint32_t source_of(const GridStorage<Shape> &storage, uint32_t i) {
  uint32_t run = 0;
#pragma unroll
  for (uint32_t step = kGridBlocksMax / 2; step != 0; step /= 2)
    if (storage.run_begin[run + step] <= i) run += step;
  return storage.run_source[run] + i;
}

// A bucket larger than the block can hold is sorted in global memory.
template <class Shape, class U, class Put>
__device__ __forceinline__ void sort_long_bucket(const GridParams<U> &params, const GridStorage<Shape> &storage,
                                                 Bucket bucket, Put put) {
  using Item = typename Shape::Item;
  const auto *const staged = static_cast<const Item *>(params.staged);
  Item *const sorted = static_cast<Item *>(params.spare) + bucket.place;
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < bucket.count; i += Shape::kThreads) sorted[i] = staged[source_of(storage, i)];
  __syncthreads();
  network_sort_tile(sorted, bucket.count);
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < bucket.count; i += Shape::kThreads) put(i, sorted[i]);
}

template <class Shape, class U>
__device__ __forceinline__ void sort_bucket(const GridParams<U> &params, GridStorage<Shape> &storage) {
  using Item = typename Shape::Item;
  const Bucket bucket = find_bucket(params, storage);
  const auto put = [&](uint32_t place, const Item &item) {
    put_item<U, Shape::kSources>(params.arrays, bucket.place + place, item);
  };
  if (bucket.count > Shape::kRows * Shape::kThreads) return sort_long_bucket(params, storage, bucket, put);
  const auto *const staged = static_cast<const Item *>(params.staged);
  Item items[Shape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < bucket.count) items[row] = staged[source_of(storage, i)];
  }
  tile_sort(storage.bucket, items, bucket.count, params.arrays.n, put);
}

// A cooperative launch: the barrier needs all blocks at once. Output is written behind it, when all input is read.
template <class U, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    grid_sample_sort_kernel(const __grid_constant__ GridParams<U> params) {
  // Smaller chips than those with clusters were not measured, and take other ways.
  if constexpr (!kFitsHere<Shape::kSharedBytes> || !kClustersHere) return;
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<GridStorage<Shape> *>(shared);
  partition_share(params, storage);
  // Release and acquire: every block's items and starts are seen behind the barrier.
  cooperative_groups::this_grid().sync();
  sort_bucket(params, storage);
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_GRID_SAMPLE_SORT_CUH_
