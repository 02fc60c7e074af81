// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts an input of which every block of a team can hold a few times its share, in one launch. All blocks draw the same
// sample and sort it; from it come the bounds that cut the input into as many ranges as there are blocks. Every block
// puts its share in the order of ranges, and after one barrier of the grid sorts one range.
//
// The bounds are items with their places, all distinct, so that many equal keys are cut like any others: how even the
// ranges are depends on the sample alone.
#ifndef GSORT_CUDA_SORT_SMALL_TEAM_SORT_CUH_
#define GSORT_CUDA_SORT_SMALL_TEAM_SORT_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/sort/small/output.cuh"
#include "cuda/sort/small/small_plan.h"
#include "cuda/sort/small/small_sort.cuh"
#include "cuda/sort/small/tile_sort.cuh"

namespace gsort_internal {

template <class U>
struct TeamParams {
  SmallParams<U> small;
  void *staged;      // n items: every block's share in the order of ranges
  void *spare;       // n items: ranges that no block can hold
  uint32_t *starts;  // [block][range]: place in the block's share; kTeamStartsStride words a block
  uint32_t share;    // items of a block but the last, which may have fewer
  uint32_t samples;  // a multiple of the number of blocks
  uint32_t sampled;  // the sample is drawn from so many leading items: all of them, but for tests
  uint32_t seed;
};

template <class U, bool kWithSources>
struct TeamShape {
  static constexpr uint32_t kThreads = kTeamThreads;
  static constexpr uint32_t kRows = kTeamRows;
  static constexpr bool kSources = kWithSources;
  using Small = SmallItem<U, kSources>;
  using Item = typename Small::Item;
  using Placed = SmallItem<U, true>;  // bounds are distinct
  using Bound = typename Placed::Item;
  static constexpr uint32_t kSampleRows = kTeamBlocksMax * kTeamSamplesEach / kThreads;
  using RangeShape = TileSortShape<Small, kThreads, kRows, 4096>;
  using SampleShape = TileSortShape<Placed, kThreads, kSampleRows, 4096>;
};

template <class Shape>
struct TeamStorage {
  union {
    TileSortStorage<typename Shape::SampleShape> sample;
    TileSortStorage<typename Shape::RangeShape> range;
  };
  typename Shape::Bound bounds[kTeamBlocksMax];
  alignas(16) uint32_t counts[kTeamBlocksMax];  // of the block's items in each range; then first places
  uint32_t run_begin[kTeamBlocksMax];           // in the range, of what came from each block
  uint32_t run_source[kTeamBlocksMax];          // in `staged`, less run_begin
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
__device__ __forceinline__ void find_team_bounds(const TeamParams<U> &params, TeamStorage<Shape> &storage) {
  using SampleShape = typename Shape::SampleShape;
  typename Shape::Bound sample[SampleShape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < SampleShape::kRows; ++row) {
    const uint32_t i = row * SampleShape::kThreads + threadIdx.x;
    if (i < params.samples) {
      const uint32_t begin = static_cast<uint32_t>(uint64_t{i} * params.sampled / params.samples);
      const uint32_t end = static_cast<uint32_t>(uint64_t{i + 1} * params.sampled / params.samples);
      const uint32_t place = begin + __umulhi(scrambled(i, params.seed), end - begin);
      sample[row] = Shape::Placed::make(params.small.codec.encode(params.small.keys_in[place]), place);
    }
  }
  const uint32_t each = params.samples / gridDim.x;
  if (threadIdx.x < kTeamBlocksMax) {
    storage.counts[threadIdx.x] = 0;
    storage.bounds[threadIdx.x] = greatest_item<typename Shape::Bound>();
  }
  // The sort's first barrier lies between that and what follows.
  tile_sort(storage.sample, sample, params.samples, params.small.n,
            [&](uint32_t place, const typename Shape::Bound &item) {
              if (place % each == 0 && place != 0) storage.bounds[place / each - 1] = item;
            });
  __syncthreads();
}

// Range of an item: bounds that are not above it.
template <class Bound>
__device__ __forceinline__ uint32_t range_of(const Bound *bounds, const Bound &item) {
  uint32_t range = 0;
#pragma unroll
  for (uint32_t step = kTeamBlocksMax / 2; step != 0; step /= 2)
    if (!(item < bounds[range + step - 1])) range += step;
  return range;
}

// Warp 0 replaces counts by first places, and tells them to all blocks.
template <class Shape, class U>
__device__ __forceinline__ void publish_starts(const TeamParams<U> &params, TeamStorage<Shape> &storage,
                                               uint32_t count) {
  if (threadIdx.x < 32) {
    uint4 &own = reinterpret_cast<uint4 *>(storage.counts)[lane_id()];
    const uint4 counts = own;
    const uint32_t sum = counts.x + counts.y + counts.z + counts.w;
    const uint32_t x = warp_inclusive_sum(sum) - sum, y = x + counts.x, z = y + counts.y;
    own = make_uint4(x, y, z, z + counts.z);
    reinterpret_cast<uint4 *>(params.starts + blockIdx.x * kTeamStartsStride)[lane_id()] = own;
    if (lane_id() == 0) params.starts[blockIdx.x * kTeamStartsStride + kTeamBlocksMax] = count;
  }
  __syncthreads();
}

// Stores the block's share in the order of ranges.
template <class Shape, class U>
__device__ __forceinline__ void partition_share(const TeamParams<U> &params, TeamStorage<Shape> &storage) {
  using Small = typename Shape::Small;
  const uint32_t begin = blockIdx.x * params.share, count = min(params.share, params.small.n - begin);
  U keys[Shape::kRows];
  uint32_t places[Shape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < count) keys[row] = params.small.keys_in[begin + i];
  }
  find_team_bounds(params, storage);
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < count) {
      keys[row] = params.small.codec.encode(keys[row]);
      const uint32_t range = range_of(storage.bounds, Shape::Placed::make(keys[row], begin + i));
      places[row] = range << 16 | atomicAdd(&storage.counts[range], 1u);
    }
  }
  __syncthreads();
  publish_starts(params, storage, count);
  typename Shape::Item *const ordered = storage.range.padded;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < count)
      ordered[storage.counts[places[row] >> 16] + (places[row] & 0xffffu)] = Small::make(keys[row], begin + i);
  }
  __syncthreads();
  auto *const staged = static_cast<typename Shape::Item *>(params.staged) + begin;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < count) staged[i] = ordered[i];
  }
}

struct TeamRange {
  uint32_t place, count;
};

// Where the block's range begins in the output, how many items it has, and which of them lie where.
template <class Shape, class U>
__device__ __forceinline__ TeamRange find_range(const TeamParams<U> &params, TeamStorage<Shape> &storage) {
  static_assert(kTeamBlocksMax == 128, "four warps scan the parts of a range");
  const uint32_t from = threadIdx.x, warp = threadIdx.x / 32;
  uint32_t start = 0, items = 0, before = 0;
  if (from < kTeamBlocksMax) {
    if (from < gridDim.x) {
      const uint32_t *const starts = params.starts + from * kTeamStartsStride + blockIdx.x;
      start = starts[0], items = starts[1] - start;
    }
    const uint32_t inclusive = warp_inclusive_sum(items), places = warp_sum(start);
    before = inclusive - items;
    if (lane_id() == 31) storage.warp_totals[warp] = inclusive, storage.warp_places[warp] = places;
  }
  __syncthreads();
  TeamRange range = {0, 0};
#pragma unroll
  for (uint32_t i = 0; i < kTeamBlocksMax / 32; ++i) {
    if (i < warp) before += storage.warp_totals[i];
    range.place += storage.warp_places[i];
    range.count += storage.warp_totals[i];
  }
  if (from < kTeamBlocksMax) {
    storage.run_begin[from] = before;
    storage.run_source[from] = from * params.share + start - before;
  }
  __syncthreads();
  return range;
}

// Place in `staged` of item i of the block's range. The last run that begins at or before it has it: runs of no items
// begin where the next one does.
template <class Shape>
__device__ __forceinline__ uint32_t source_of(const TeamStorage<Shape> &storage, uint32_t i) {
  uint32_t run = 0;
#pragma unroll
  for (uint32_t step = kTeamBlocksMax / 2; step != 0; step /= 2)
    if (storage.run_begin[run + step] <= i) run += step;
  return storage.run_source[run] + i;
}

// A range larger than the block can hold is sorted in global memory.
template <class Shape, class U, class Put>
__device__ __forceinline__ void sort_long_range(const TeamParams<U> &params, const TeamStorage<Shape> &storage,
                                                TeamRange range, Put put) {
  using Item = typename Shape::Item;
  const auto *const staged = static_cast<const Item *>(params.staged);
  Item *const sorted = static_cast<Item *>(params.spare) + range.place;
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < range.count; i += Shape::kThreads) sorted[i] = staged[source_of(storage, i)];
  __syncthreads();
  network_sort_tile(sorted, range.count);
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < range.count; i += Shape::kThreads) put(i, sorted[i]);
}

template <class Shape, class U>
__device__ __forceinline__ void sort_range(const TeamParams<U> &params, TeamStorage<Shape> &storage) {
  using Item = typename Shape::Item;
  const TeamRange range = find_range(params, storage);
  const auto put = [&](uint32_t place, const Item &item) {
    put_small<U, Shape::kSources>(params.small, range.place + place, item);
  };
  if (range.count > Shape::kRows * Shape::kThreads) return sort_long_range(params, storage, range, put);
  const auto *const staged = static_cast<const Item *>(params.staged);
  Item items[Shape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < range.count) items[row] = staged[source_of(storage, i)];
  }
  tile_sort(storage.range, items, range.count, params.small.n, put);
}

// A cooperative launch: the barrier needs all blocks at once. Output is written behind it, when all input is read.
template <class U, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1) team_sort_kernel(const __grid_constant__ TeamParams<U> params) {
  // Smaller chips than those with clusters were not measured, and take other ways.
  if constexpr (!kFitsHere<kTeamSharedBytesMin> || !kClustersHere) return;
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<TeamStorage<Shape> *>(shared);
  partition_share(params, storage);
  // Release and acquire: every block's items and starts are seen behind the barrier.
  cooperative_groups::this_grid().sync();
  sort_range(params, storage);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_SMALL_TEAM_SORT_CUH_
