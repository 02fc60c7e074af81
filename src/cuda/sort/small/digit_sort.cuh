// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts keys of 1 and 2 bytes in one block and one launch, by a radix pass for every 8 bits in which keys differ: a
// time that no other property of the keys changes.
#ifndef GSORT_CUDA_SORT_SMALL_DIGIT_SORT_CUH_
#define GSORT_CUDA_SORT_SMALL_DIGIT_SORT_CUH_

#include <cstdint>

#include "cuda/primitive/digit_places.cuh"
#include "cuda/primitive/digit_rank.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/small/output.cuh"
#include "cuda/sort/small/plan.h"

namespace gsort_internal::sort::small {

// What passes move: a key in ordered bits, and under it its place in the input.
constexpr uint32_t kDigitPlaceBits = 16;

// Shape: a TileShape.
template <class Shape>
struct DigitSortStorage {
  static_assert(Shape::kItems < 1u << kDigitPlaceBits, "a word holds a key and its place");
  union {
    uint32_t items[Shape::kItems];
    uint32_t varying[Shape::kWarps];
    DigitPlaces<Shape::kWarps> places;
  };
  uint16_t counters[Shape::kWarps][kDigitBins];
};

// The items of a warp: rows of 32 that follow each other, as few a warp as all warps together need.
template <class Shape>
struct DigitSortRows {
  uint32_t first, n;
  uint32_t count;  // of this warp, the same in all its lanes

  __device__ __forceinline__ explicit DigitSortRows(uint32_t items) : first(0), n(items), count(0) {
    const uint32_t most = (n + Shape::kThreads - 1) / Shape::kThreads;
    const uint32_t begin = threadIdx.x / 32 * most * 32;
    if (begin < n) count = min(most, (n - begin + 31) / 32);
    first = begin + lane_id();
  }
  __device__ __forceinline__ uint32_t place(uint32_t row) const { return first + row * 32; }
  __device__ __forceinline__ bool has(uint32_t row) const { return row < count && place(row) < n; }
};

// Loads the items, greater ones in the lanes behind the last, which stay last. Returns the bits in which this thread's
// keys differ from the first of all.
template <class Shape, class U>
__device__ __forceinline__ uint32_t load_digit_items(const Params<U> &params, const DigitSortRows<Shape> &rows,
                                                     uint32_t (&items)[Shape::kRows]) {
  U keys[Shape::kRows];
  const U first_key = params.keys_in[0];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    keys[row] = rows.has(row) ? params.keys_in[rows.place(row)] : first_key;
  const uint32_t first = params.codec.encode(first_key);
  uint32_t varying = 0;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if (row < rows.count) {
      const uint32_t key = params.codec.encode(keys[row]);
      varying |= key ^ first;
      items[row] = rows.has(row) ? key << kDigitPlaceBits | rows.place(row) : ~uint32_t{0};
    }
  }
  return varying;
}

// Of the whole block what it is of each thread. Ends behind a barrier.
template <class Shape>
__device__ __forceinline__ uint32_t block_varying(DigitSortStorage<Shape> &storage, uint32_t varying) {
  varying = static_cast<uint32_t>(warp_or(uint64_t{varying}));
  if (lane_id() == 0) storage.varying[threadIdx.x / 32] = varying;
  __syncthreads();
  return static_cast<uint32_t>(warp_or(uint64_t{lane_id() < Shape::kWarps ? storage.varying[lane_id()] : 0}));
}

// Moves the items to storage.items in the order of the digit at `shift`, stably. Ends with a barrier.
template <class Shape>
__device__ __forceinline__ void move_by_digit(DigitSortStorage<Shape> &storage, const DigitSortRows<Shape> &rows,
                                              uint32_t shift, const uint32_t (&items)[Shape::kRows]) {
  uint16_t *const counters = storage.counters[threadIdx.x / 32];
  PackedPlaces<Shape::kRows> places;
  rank_rows<Shape::kRows>(items, rows.count, shift, counters, places);
  __syncthreads();
  place_digits(storage.counters, storage.places);
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (row < rows.count) storage.items[counters[digit_of(items[row], shift)] + places.get(row)] = items[row];
  __syncthreads();
}

// Sorts the items into storage.items; `varying`: bits in which keys differ. Ends with a barrier.
template <class Shape>
__device__ __forceinline__ void sort_digits(DigitSortStorage<Shape> &storage, const DigitSortRows<Shape> &rows,
                                            uint32_t varying, uint32_t (&items)[Shape::kRows]) {
  if (varying == 0) {
    __syncthreads();  // others may read what lies there
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; ++row)
      if (row < rows.count) storage.items[rows.place(row)] = items[row];
    __syncthreads();
    return;
  }
#pragma unroll 1
  while (true) {
    const uint32_t bit = static_cast<uint32_t>(__ffs(static_cast<int>(varying))) - 1;
    varying &= ~((kDigitBins - 1) << bit);
    move_by_digit(storage, rows, bit + kDigitPlaceBits, items);
    if (varying == 0) return;
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; ++row)
      if (row < rows.count) items[row] = storage.items[rows.place(row)];
  }
}

// Sorted items of a thread, of which it stores so many at once.
constexpr uint32_t kDigitItemsAtOnce = 4;
template <uint32_t kThreads>
struct SortedItems {
  uint32_t first, n;
  uint32_t items[kDigitItemsAtOnce];

  __device__ __forceinline__ SortedItems(const uint32_t *sorted, uint32_t first_place, uint32_t count)
      : first(first_place), n(count) {
#pragma unroll
    for (uint32_t i = 0; i < kDigitItemsAtOnce; ++i)
      if (has(i)) items[i] = sorted[place(i)];
  }
  __device__ __forceinline__ uint32_t place(uint32_t i) const { return first + i * kThreads; }
  __device__ __forceinline__ bool has(uint32_t i) const { return place(i) < n; }
  __device__ __forceinline__ uint32_t key(uint32_t i) const { return items[i] >> kDigitPlaceBits; }
  __device__ __forceinline__ uint32_t source(uint32_t i) const { return items[i] & ((1u << kDigitPlaceBits) - 1); }
};

// All loads of a unit before its stores, which the compiler must think could change what is loaded.
template <class Unit, class U, class Items>
__device__ __forceinline__ void copy_values(const Params<U> &params, const Items &items) {
  const auto *const from = static_cast<const Unit *>(params.values_in);
  auto *const to = static_cast<Unit *>(params.values_out);
  const uint32_t units = params.value_bytes / static_cast<uint32_t>(sizeof(Unit));
#pragma unroll 1
  for (uint32_t unit = 0; unit < units; ++unit) {
    Unit values[kDigitItemsAtOnce];
#pragma unroll
    for (uint32_t i = 0; i < kDigitItemsAtOnce; ++i)
      if (items.has(i)) values[i] = from[items.source(i) * units + unit];
#pragma unroll
    for (uint32_t i = 0; i < kDigitItemsAtOnce; ++i)
      if (items.has(i)) to[items.place(i) * units + unit] = values[i];
  }
}

template <class Index, class Items>
__device__ __forceinline__ void put_indices(void *indices, const Items &items) {
#pragma unroll
  for (uint32_t i = 0; i < kDigitItemsAtOnce; ++i)
    if (items.has(i)) static_cast<Index *>(indices)[items.place(i)] = items.source(i);
}

// Stores what belongs to sorted items.
template <class U, class Items>
__device__ __forceinline__ void put_items(const Params<U> &params, const Items &items) {
  if (params.keys_out != nullptr) {
#pragma unroll
    for (uint32_t i = 0; i < kDigitItemsAtOnce; ++i)
      if (items.has(i)) params.keys_out[items.place(i)] = params.codec.decode(static_cast<U>(items.key(i)));
  }
  if (params.values_out != nullptr) {
    if (params.value_unit_bytes == 8) copy_values<uint64_t>(params, items);
    if (params.value_unit_bytes == 4) copy_values<uint32_t>(params, items);
    if (params.value_unit_bytes == 2) copy_values<uint16_t>(params, items);
    if (params.value_unit_bytes == 1) copy_values<uint8_t>(params, items);
  }
  void *const indices = params.indices != nullptr ? params.indices : params.ranks;
  if (indices == nullptr) return;
  if (params.wide)
    put_indices<uint64_t>(indices, items);
  else
    put_indices<uint32_t>(indices, items);
}

// The place of every source in place of the source of every place, so that ranks are stored as sources are. Ends with a
// barrier.
template <class Shape>
__device__ __forceinline__ void invert_sources(DigitSortStorage<Shape> &storage, const DigitSortRows<Shape> &rows,
                                               uint32_t (&items)[Shape::kRows]) {
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (rows.has(row)) items[row] = storage.items[rows.place(row)];
  __syncthreads();
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (rows.has(row)) storage.items[items[row] & ((1u << kDigitPlaceBits) - 1)] = rows.place(row);
  __syncthreads();
}

// All keys are read before any is written.
template <class U, class Shape>
__device__ __forceinline__ void digit_sort(const Params<U> &params, DigitSortStorage<Shape> &storage) {
  const DigitSortRows<Shape> rows(params.n);
  uint32_t items[Shape::kRows];
  const uint32_t varying = block_varying(storage, load_digit_items(params, rows, items));
  sort_digits(storage, rows, varying, items);
  if (params.ranks != nullptr) invert_sources(storage, rows, items);
#pragma unroll 1
  for (uint32_t first = threadIdx.x; first < params.n; first += kDigitItemsAtOnce * Shape::kThreads)
    put_items(params, SortedItems<Shape::kThreads>(storage.items, first, params.n));
}

template <class U, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1) digit_sort_kernel(const __grid_constant__ Params<U> params) {
  extern __shared__ __align__(16) unsigned char shared[];
  digit_sort(params, *reinterpret_cast<DigitSortStorage<Shape> *>(shared));
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_DIGIT_SORT_CUH_
