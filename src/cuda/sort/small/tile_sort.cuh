// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts the items that a block holds in registers. The range between the least and the greatest item is cut into equal
// bins, of which there are more than items; counting puts every item into its bin, and a look at a few neighbours into
// its place. Where some bin has many items, a network sorts the tile instead.
#ifndef GSORT_CUDA_SORT_SMALL_TILE_SORT_CUH_
#define GSORT_CUDA_SORT_SMALL_TILE_SORT_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/primitive/counter_scan.cuh"
#include "cuda/sort/small/item.cuh"
#include "cuda/sort/small/tile_network.cuh"

namespace gsort_internal::sort::small {

// Looks at up to this many neighbours on either side; more of them would take longer than the network.
constexpr uint32_t kTileLooksMax = 24;

// With more items in a bin than this, and one, counting once more by finer bins is quicker than looking.
constexpr uint32_t kTileCrowdMax = 10;

template <class Codec, uint32_t Threads, uint32_t Rows, uint32_t Bins>
struct TileSortShape {
  using ItemCodec = Codec;
  using Item = typename ItemCodec::Item;
  static constexpr uint32_t kThreads = Threads;
  static constexpr uint32_t kRows = Rows;  // row by row, items i * kThreads + thread
  static constexpr uint32_t kItems = Threads * Rows;
  static constexpr uint32_t kBins = Bins;
  static constexpr uint32_t kOwnQuads = Bins / Threads / 4;  // quadruples of counters a thread scans
  // Rounds of finer bins before the network: every round cuts a crowded bin into 22 parts at least.
  static constexpr uint32_t kRoundsMax = sizeof(Item) == 4 ? 6 : 10;
  static_assert(kItems < 65536 && Bins <= 65536, "a bin and a number share a word, and two sums of counters");
  static_assert(Bins % (Threads * 4) == 0, "counters are scanned by quadruples");
  static_assert(kOwnQuads == 1 || kOwnQuads % 2 == 0, "sums of counters go in pairs");
};

template <class Shape>
struct alignas(16) TileSortStorage {
  using Item = typename Shape::Item;
  using Head = ItemHead<Item>;
  uint32_t counters[Shape::kBins];
  uint32_t mixed_bins[Shape::kBins / 32];  // a bit a bin: its items have different keys
  Item padded[Shape::kItems + 2 * kTileLooksMax];
  Head least[32], greatest[32];
  uint32_t warp_totals[32];
  uint32_t crowd;        // the most items of a bin, less one
  uint32_t mixed_crowd;  // of those bins whose keys are not all equal
  // Of bins that were left as they are, in any round, those whose items may be out of order.
  uint32_t closed_crowd;

  __device__ __forceinline__ Item *items() { return padded + kTileLooksMax; }
};

// The equal bins of a range: the upper part of the product of an item's distance from the least one and a scale is its
// bin, the lower part its place within the bin.
template <class Head, uint32_t kBins>
struct TileBins {
  Head least, range;
  uint32_t shift;  // of distances of 64 bits, so that the greatest has its top bit set
  uint32_t scale;  // 0: a bin for every value

  __device__ __forceinline__ TileBins(Head least_head, Head greatest_head)
      : least(least_head), range(greatest_head - least_head), shift(0), scale(0) {
    if (range < kBins) return;
    uint32_t top = static_cast<uint32_t>(range);
    if constexpr (sizeof(Head) == 8) {
      shift = static_cast<uint32_t>(__clzll(static_cast<long long>(range)));
      top = static_cast<uint32_t>((range << shift) >> 32);
    }
    // Rounded down by more than all errors of the computation, so that the greatest item stays below kBins.
    const float bins = static_cast<float>(kBins) * 4294967296.0f * (1.0f - 0x1p-20f);
    scale = __float2uint_rz(__fdividef(bins, static_cast<float>(top) + 1.0f));
  }
  __device__ __forceinline__ uint32_t bin(Head head) const {
    if (scale == 0) return static_cast<uint32_t>(head - least);
    if constexpr (sizeof(Head) == 8)
      return static_cast<uint32_t>(__umul64hi((head - least) << shift, scale));
    else
      return __umulhi(head - least, scale);
  }
  __device__ __forceinline__ Head place_in_bin(Head head) const {
    return static_cast<Head>(((head - least) << shift) * scale);
  }
};

template <class Shape>
__device__ __forceinline__ void clear_tile_counters(TileSortStorage<Shape> &storage) {
#pragma unroll
  for (uint32_t i = 0; i < Shape::kOwnQuads; ++i)
    reinterpret_cast<uint4 *>(storage.counters)[i * Shape::kThreads + threadIdx.x] = make_uint4(0, 0, 0, 0);
  for (uint32_t i = threadIdx.x; i < Shape::kBins / 32; i += Shape::kThreads) storage.mixed_bins[i] = 0;
  if (threadIdx.x == 0) storage.crowd = 0, storage.mixed_crowd = 0;
}

// Least and greatest of the block's items; clears the counters. Ends with a barrier.
template <class Shape>
__device__ __forceinline__ auto tile_extent(TileSortStorage<Shape> &storage,
                                            const typename Shape::Item (&items)[Shape::kRows], uint32_t count) {
  using Head = typename TileSortStorage<Shape>::Head;
  constexpr uint32_t kWarps = Shape::kThreads / 32;
  clear_tile_counters(storage);
  if (threadIdx.x == 0) storage.closed_crowd = 0;
  Head least = ~Head{0}, greatest = 0;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if (row * Shape::kThreads + threadIdx.x < count) {
      const Head head = item_head(items[row]);
      least = head < least ? head : least;
      greatest = head > greatest ? head : greatest;
    }
  }
  least = warp_least(least), greatest = warp_greatest(greatest);
  if (lane_id() == 0) storage.least[threadIdx.x / 32] = least, storage.greatest[threadIdx.x / 32] = greatest;
  __syncthreads();
  least = warp_least(lane_id() < kWarps ? storage.least[lane_id()] : ~Head{0});
  greatest = warp_greatest(lane_id() < kWarps ? storage.greatest[lane_id()] : Head{0});
  return TileBins<Head, Shape::kBins>(least, greatest);
}

// Where an item goes: its bin in the upper half of a word, its number among the bin's items in the lower half.
__device__ __forceinline__ uint32_t bin_of_spot(uint32_t spot) { return spot >> 16; }
__device__ __forceinline__ uint32_t number_of_spot(uint32_t spot) { return spot & 0xffffu; }

// Numbers the items of every bin, spots[row] being an item's bin, and turns the counters into first places. Of rows
// whose bit in `open` is not set, an item is alone in its bin. Ends with a barrier.
template <class Shape>
__device__ __forceinline__ void number_tile_items(TileSortStorage<Shape> &storage, uint32_t (&spots)[Shape::kRows],
                                                  uint32_t open, uint32_t count) {
  uint32_t crowd = 0;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if ((open >> row & 1) != 0) {
      const uint32_t number = atomicAdd(&storage.counters[spots[row]], 1u);
      spots[row] = spots[row] << 16 | number;
      crowd = max(crowd, number);
    } else if (row * Shape::kThreads + threadIdx.x < count) {
      storage.counters[spots[row]] = 1;
    }
  }
  crowd = warp_greatest(crowd);
  if (lane_id() == 0 && crowd != 0) atomicMax(&storage.crowd, crowd);
  __syncthreads();
  scan_counters<Shape::kThreads, Shape::kOwnQuads, CounterScan::kHold>(reinterpret_cast<uint4 *>(storage.counters),
                                                                       storage.warp_totals);
}

// Puts the items of rows whose bit in `open` is set into storage.items() by bin. Ends with a barrier.
template <class Shape>
__device__ __forceinline__ void place_tile_items(TileSortStorage<Shape> &storage,
                                                 const typename Shape::Item (&items)[Shape::kRows],
                                                 const uint32_t (&spots)[Shape::kRows], uint32_t open, uint32_t count) {
  using Item = typename Shape::Item;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if ((open >> row & 1) != 0)
      storage.items()[storage.counters[bin_of_spot(spots[row])] + number_of_spot(spots[row])] = items[row];
  if (threadIdx.x < kTileLooksMax) {
    storage.padded[threadIdx.x] = least_item<Item>();
    storage.items()[count + threadIdx.x] = greatest_item<Item>();
  }
  __syncthreads();
}

template <class Shape>
__device__ __forceinline__ uint32_t first_of_bin(const TileSortStorage<Shape> &storage, uint32_t bin, uint32_t count) {
  return bin < Shape::kBins ? storage.counters[bin] : count;
}

// Finds the bins whose items have different keys, of the rows whose bit in `open` is set. Returns the most items, less
// one, of a bin that is not in order: of keys alone, those that are equal are. Ends with a barrier.
template <class Shape>
__device__ __forceinline__ uint32_t find_mixed_bins(TileSortStorage<Shape> &storage,
                                                    const typename Shape::Item (&items)[Shape::kRows],
                                                    const uint32_t (&spots)[Shape::kRows], uint32_t open,
                                                    uint32_t count) {
  using ItemCodec = typename Shape::ItemCodec;
  uint32_t crowd = 0;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if ((open >> row & 1) != 0) {
      const uint32_t bin = bin_of_spot(spots[row]), first = first_of_bin(storage, bin, count);
      if (ItemCodec::key(storage.items()[first]) != ItemCodec::key(items[row])) {
        atomicOr(&storage.mixed_bins[bin / 32], 1u << bin % 32);
        if (!ItemCodec::kPlaced) crowd = max(crowd, first_of_bin(storage, bin + 1, count) - first - 1);
      }
    }
  }
  if (!ItemCodec::kPlaced) {
    crowd = warp_greatest(crowd);
    if (lane_id() == 0 && crowd != 0) atomicMax(&storage.mixed_crowd, crowd);
  }
  __syncthreads();
  return ItemCodec::kPlaced ? storage.crowd : storage.mixed_crowd;
}

// Rows that have an item of this thread.
template <class Shape>
__device__ __forceinline__ uint32_t rows_of_tile(uint32_t count) {
  uint32_t rows = 0;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (row * Shape::kThreads + threadIdx.x < count) rows |= 1u << row;
  return rows;
}

// Where refine_tile_bins() stands.
struct TileRefinement {
  uint32_t count, parts_each, place_step;
  uint32_t open;      // rows whose items' bins are cut
  uint32_t by_place;  // of these, by place
  uint32_t closed;    // of bins that a round has closed, most items beside one
};

// Gives an item of a row that is open its part of its bin, or closes the row.
template <class Shape>
__device__ __forceinline__ void refine_tile_item(const TileSortStorage<Shape> &storage,
                                                 const typename Shape::Item &item, uint32_t row,
                                                 ItemHead<typename Shape::Item> &within, uint32_t &spot,
                                                 TileRefinement &state) {
  using ItemCodec = typename Shape::ItemCodec;
  using Head = ItemHead<typename Shape::Item>;
  constexpr uint32_t kHeadBits = sizeof(Head) * 8;
  const uint32_t bin = bin_of_spot(spot), first = first_of_bin(storage, bin, state.count);
  const uint32_t size = first_of_bin(storage, bin + 1, state.count) - first;
  const bool mixed = (storage.mixed_bins[bin / 32] >> bin % 32 & 1) != 0;
  if ((!ItemCodec::kPlaced && !mixed) || size <= kTileCrowdMax + 1) {
    state.open &= ~(1u << row);
    if (ItemCodec::kPlaced || mixed) state.closed = max(state.closed, size - 1);
    spot = (first + number_of_spot(spot)) * state.parts_each;
    return;
  }
  if (ItemCodec::kPlaced && (state.by_place >> row & 1) == 0 && !mixed) {
    state.by_place |= 1u << row;
    within = static_cast<Head>(ItemCodec::index(item) * state.place_step) << (kHeadBits - 32);
  }
  const uint32_t parts = size * state.parts_each;
  if constexpr (kHeadBits == 64)
    spot = first * state.parts_each + static_cast<uint32_t>(__umul64hi(within, parts));
  else
    spot = first * state.parts_each + __umulhi(within, parts);
  within *= parts;
}

// Cuts bins of many items into as many parts as they have items, times what the counters leave room for, until there
// are none. A bin is cut by what its items' keys are within it, or, once they are all equal, by their places, of which
// there are `places`. Items of other bins stay where they are, each alone in a part that no other can have. Returns how
// far from its place an item may be.
template <class Shape, class Bins>
__device__ __forceinline__ uint32_t refine_tile_bins(TileSortStorage<Shape> &storage,
                                                     const typename Shape::Item (&items)[Shape::kRows],
                                                     uint32_t (&spots)[Shape::kRows], uint32_t count, uint32_t places,
                                                     const Bins &bins) {
  TileRefinement state = {count, Shape::kBins / count, ~uint32_t{0} / places, rows_of_tile<Shape>(count), 0, 0};
  ItemHead<typename Shape::Item> within[Shape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if ((state.open >> row & 1) != 0) within[row] = bins.place_in_bin(item_head(items[row]));
#pragma unroll 1
  for (uint32_t round = 0;; ++round) {
    const uint32_t crowd = find_mixed_bins(storage, items, spots, state.open, count);
    if (crowd <= kTileCrowdMax || state.parts_each == 0 || round == Shape::kRoundsMax)
      return max(crowd, storage.closed_crowd);
    state.closed = 0;
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; ++row)
      if ((state.open >> row & 1) != 0) refine_tile_item(storage, items[row], row, within[row], spots[row], state);
    const uint32_t closed = warp_greatest(state.closed);
    if (lane_id() == 0 && closed != 0) atomicMax(&storage.closed_crowd, closed);
    __syncthreads();
    clear_tile_counters(storage);
    __syncthreads();
    number_tile_items(storage, spots, state.open, count);
    place_tile_items(storage, items, spots, state.open, count);
  }
}

// Puts the items into storage.items() by bin. Returns how far from its place an item may be. Ends with a barrier.
template <class Shape, class Bins>
__device__ __forceinline__ uint32_t fill_tile_bins(TileSortStorage<Shape> &storage,
                                                   const typename Shape::Item (&items)[Shape::kRows], uint32_t count,
                                                   uint32_t places, const Bins &bins) {
  constexpr bool kWide = std::is_same<typename Shape::Item, WideItem>::value;
  uint32_t spots[Shape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (row * Shape::kThreads + threadIdx.x < count) spots[row] = bins.bin(item_head(items[row]));
  const uint32_t rows = rows_of_tile<Shape>(count);
  number_tile_items(storage, spots, rows, count);
  place_tile_items(storage, items, spots, rows, count);
  if (bins.scale == 0 && !kWide) return 0;  // items of one bin are equal
  if (storage.crowd <= kTileCrowdMax) return storage.crowd;
  return refine_tile_bins(storage, items, spots, count, places, bins);
}

// Sorts `count` items whose places in the input, if they have them, are below `places`; put(place, item) is called for
// each of them by some thread. All threads call it, with storage that nobody uses any more; before it is used again
// there must be a barrier.
template <class Shape, class Put>
__device__ __forceinline__ void tile_sort(TileSortStorage<Shape> &storage,
                                          const typename Shape::Item (&items)[Shape::kRows], uint32_t count,
                                          uint32_t places, Put put) {
  using Item = typename Shape::Item;
  constexpr bool kWide = std::is_same<Item, WideItem>::value;
  const auto bins = tile_extent(storage, items, count);
  Item *const sorted = storage.items();
  uint32_t looks = 0;
  if (bins.range == 0 && !kWide) {
    // All are equal: counting would make every addition wait for the one before.
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; ++row)
      if (row * Shape::kThreads + threadIdx.x < count) sorted[row * Shape::kThreads + threadIdx.x] = items[row];
    __syncthreads();
  } else {
    looks = fill_tile_bins(storage, items, count, places, bins);
    if (looks > kTileLooksMax) {
      looks = 0;
      network_sort_tile(sorted, count);
    }
  }
  // Of its neighbours only those of its own bin can be on an item's wrong side, and they are near.
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < count; i += Shape::kThreads) {
    const Item item = sorted[i];
    uint32_t place = i;
#pragma unroll 4
    for (int distance = 1; distance <= static_cast<int>(looks); ++distance) {
      place -= sorted[static_cast<int>(i) - distance] > item ? 1u : 0u;
      place += sorted[static_cast<int>(i) + distance] < item ? 1u : 0u;
    }
    put(place, item);
  }
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_TILE_SORT_CUH_
