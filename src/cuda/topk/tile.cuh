// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows that a block holds in its registers, for k of a hundred and more: the sort of a tile by counting
// (cuda/sort/small/tile_sort.cuh), of which only the bins are filled that have some of the best k. So the row is
// chosen from and sorted by one count.
//
// Work whatever the data: as of the sort, which ends with a network where bins are crowded.
#ifndef GSORT_CUDA_TOPK_TILE_CUH_
#define GSORT_CUDA_TOPK_TILE_CUH_

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/sort/small/tile_sort.cuh"
#include "cuda/topk/common.cuh"
#include "cuda/topk/problem.h"
#include "cuda/topk/tile_plan.h"

namespace gsort_internal::topk {

namespace small = sort::small;

template <class U, uint32_t kThreads>
using TileShape = small::TileSortShape<small::ItemCodecOf<U, true>, kThreads, kTileEach, kThreads * kTileEach>;

template <class Shape>
struct TileStorage {
  small::TileSortStorage<Shape> sort;
  uint32_t greatest;  // of the items' places in the row; set by whoever has the items
  uint32_t kept;      // items of the bins that are filled
  uint32_t crowd;     // of these, the most items of one, less one
};

// Puts the items of all bins that begin before place k into storage.sort.items() by bin, and tells how many there are
// and how crowded they are. Ends with a barrier.
template <class Shape>
__device__ __forceinline__ void keep_tile_bins(TileStorage<Shape> &storage,
                                               const typename Shape::Item (&items)[Shape::kRows],
                                               const uint32_t (&spots)[Shape::kRows], uint32_t count, uint32_t k) {
  uint32_t kept = 0, crowd = 0;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if (row * Shape::kThreads + threadIdx.x >= count) continue;
    const uint32_t first = storage.sort.counters[small::bin_of_spot(spots[row])];
    const uint32_t number = small::number_of_spot(spots[row]);
    if (first >= k) continue;
    storage.sort.items()[first + number] = items[row];
    kept = max(kept, first + number + 1), crowd = max(crowd, number);
  }
  kept = warp_greatest(kept), crowd = warp_greatest(crowd);
  if (lane_id() == 0) {
    shared_max(&storage.kept, kept);
    if (crowd != 0) shared_max(&storage.crowd, crowd);
  }
  __syncthreads();
}

// Finds the bins whose items have different keys, of rows that are open. Ends with a barrier.
template <class Shape>
__device__ __forceinline__ void find_mixed(small::TileSortStorage<Shape> &storage,
                                           const typename Shape::Item (&items)[Shape::kRows],
                                           const uint32_t (&spots)[Shape::kRows], uint32_t open) {
  using ItemCodec = typename Shape::ItemCodec;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if ((open >> row & 1) == 0) continue;
    const uint32_t bin = small::bin_of_spot(spots[row]), bit = 1u << bin % 32;
    volatile uint32_t &word = storage.mixed_bins[bin / 32];
    if (ItemCodec::key(storage.items()[storage.counters[bin]]) != ItemCodec::key(items[row]) && (word & bit) == 0)
      atomicOr(&storage.mixed_bins[bin / 32], bit);
  }
  __syncthreads();
}

// With some items a thread, two rounds of finer bins take longer than the network.
constexpr uint32_t kTileRounds = 1;

// Puts bins of many items in order, or nearly so, as small::refine_tile_bins() does; the kept items are all there are.
// Returns how far from its place an item may be. Begins and ends with a barrier.
template <class Shape, class Bins>
__device__ __noinline__ uint32_t refine_kept(TileStorage<Shape> &all, uint32_t kept, const Bins &bins) {
  small::TileSortStorage<Shape> &storage = all.sort;
  small::TileRefinement state = {
      kept, Shape::kBins / kept, ~uint32_t{0} / (all.greatest + 1), small::rows_of_tile<Shape>(kept), 0, 0};
  typename Shape::Item items[Shape::kRows];
  small::ItemHead<typename Shape::Item> within[Shape::kRows];
  uint32_t spots[Shape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if ((state.open >> row & 1) == 0) continue;
    const uint32_t at = row * Shape::kThreads + threadIdx.x;
    items[row] = storage.items()[at];
    within[row] = bins.place_in_bin(small::item_head(items[row]));
    const uint32_t bin = bins.bin(small::item_head(items[row]));
    spots[row] = bin << 16 | (at - storage.counters[bin]);
  }
  uint32_t crowd = all.crowd;
#pragma unroll 1
  for (uint32_t round = 0; crowd > small::kTileCrowdMax && round < kTileRounds; ++round) {
    find_mixed(storage, items, spots, state.open);
    state.closed = 0;
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; ++row)
      if ((state.open >> row & 1) != 0)
        small::refine_tile_item(storage, items[row], row, within[row], spots[row], state);
    const uint32_t closed = warp_greatest(state.closed);
    if (lane_id() == 0 && closed != 0) atomicMax(&storage.closed_crowd, closed);
    __syncthreads();
    small::clear_tile_counters(storage);
    __syncthreads();
    small::number_tile_items(storage, spots, state.open, kept);
    small::place_tile_items(storage, items, spots, state.open, kept);
    crowd = storage.crowd;
  }
  return max(crowd, storage.closed_crowd);
}

// Calls put(place, item) for the best k of `count` items, each by some thread.
template <class Shape, class Put>
__device__ __forceinline__ void tile_topk(TileStorage<Shape> &storage, typename Shape::Item (&items)[Shape::kRows],
                                          uint32_t count, uint32_t k, Put put) {
  using Item = typename Shape::Item;
  if (threadIdx.x == 0) storage.kept = 0, storage.crowd = 0;
  const auto bins = small::tile_extent(storage.sort, items, count);
  uint32_t spots[Shape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (row * Shape::kThreads + threadIdx.x < count) spots[row] = bins.bin(small::item_head(items[row]));
  small::number_tile_items(storage.sort, spots, small::rows_of_tile<Shape>(count), count);
  keep_tile_bins(storage, items, spots, count, k);
  Item *const sorted = storage.sort.items();
  const uint32_t kept = storage.kept;
  uint32_t looks = storage.crowd;
  if (looks > small::kTileCrowdMax) looks = refine_kept(storage, kept, bins);
  if (looks > small::kTileLooksMax) {
    looks = 0;
    small::network_sort_tile(sorted, kept);
  } else {
    if (threadIdx.x < small::kTileLooksMax) {
      storage.sort.padded[threadIdx.x] = small::least_item<Item>();
      sorted[kept + threadIdx.x] = small::greatest_item<Item>();
    }
    __syncthreads();
  }
  // Of its neighbours only those of its own bin can be on an item's wrong side, and they are near.
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < kept; i += Shape::kThreads) {
    const Item item = sorted[i];
    uint32_t place = i;
#pragma unroll 4
    for (int distance = 1; distance <= static_cast<int>(looks); ++distance) {
      place -= sorted[static_cast<int>(i) - distance] > item ? 1u : 0u;
      place += sorted[static_cast<int>(i) + distance] < item ? 1u : 0u;
    }
    if (place < k) put(place, item);
  }
}

// A block a row.
template <class U, uint32_t kThreads>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    topk_tile_kernel(const __grid_constant__ Problem<U> problem) {
  using Shape = TileShape<U, kThreads>;
  using Storage = TileStorage<Shape>;
  if constexpr (!kFitsHere<sizeof(Storage)>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<Storage *>(shared);
  const U *const row = problem.in + blockIdx.x * problem.row_stride;
  const uint32_t count = static_cast<uint32_t>(problem.columns), k = static_cast<uint32_t>(problem.k);
  typename Shape::Item items[Shape::kRows];
#pragma unroll
  for (uint32_t i = 0; i < Shape::kRows; ++i) {
    const uint32_t at = i * kThreads + threadIdx.x;
    if (at < count) items[i] = Shape::ItemCodec::make(problem.codec.encode(__ldg(row + at)), at);
  }
  if (threadIdx.x == 0) storage.greatest = count - 1;
  const uint64_t begin = blockIdx.x * problem.k;
  tile_topk(storage, items, count, k, [&](uint32_t place, const typename Shape::Item &item) {
    write_element(problem.output, begin + place, problem.codec.decode(Shape::ItemCodec::key(item)),
                  Shape::ItemCodec::index(item));
  });
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_TILE_CUH_
