// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts the keys that a block holds in registers, stably, by radix passes through shared memory.
#ifndef GSORT_CUDA_SEGMENTS_BLOCK_SORT_CUH_
#define GSORT_CUDA_SEGMENTS_BLOCK_SORT_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/primitive/digit_places.cuh"
#include "cuda/primitive/digit_rank.cuh"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal::segments {

template <class U>
using VaryingBits = typename std::conditional<sizeof(U) == 8, unsigned long long, uint32_t>::type;

template <class U, class Shape>
struct BlockSortStorage {
  U keys[Shape::kItems];
  alignas(4) uint16_t counters[Shape::kWarps][kDigitBins];
  DigitPlaces<Shape::kWarps> places;
  VaryingBits<U> varying;
};

// Items that a block with fewer items than kItems holds: `rows` rows a warp, so that all warps share the work.
template <class Shape>
struct BlockItems {
  uint32_t count;
  uint32_t rows;

  __device__ __forceinline__ explicit BlockItems(uint32_t items)
      : count(items), rows((items + Shape::kThreads - 1) / Shape::kThreads) {}
  __device__ __forceinline__ uint32_t index(uint32_t row) const {
    return (threadIdx.x / 32 * rows + row) * 32 + lane_id();
  }
};

// The bits in which any two of the block's keys differ. Ends with a barrier.
template <class U, class Shape>
__device__ __forceinline__ VaryingBits<U> varying_bits(BlockSortStorage<U, Shape> &storage,
                                                       const BlockItems<Shape> &items, U any_key,
                                                       const U (&keys)[Shape::kRows]) {
  if (threadIdx.x == 0) storage.varying = 0;
  __syncthreads();
  VaryingBits<U> varying = 0;
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (row < items.rows && items.index(row) < items.count) varying |= static_cast<U>(keys[row] ^ any_key);
#pragma unroll
  for (uint32_t distance = 16; distance > 0; distance /= 2) varying |= __shfl_xor_sync(kFullWarp, varying, distance);
  if (lane_id() == 0 && varying != 0) atomicOr(&storage.varying, varying);
  __syncthreads();
  return storage.varying;
}

// Moves the keys to their places: `places` holds their ranks among the warp's keys of that digit. Ends with a barrier.
template <class U, class Shape>
__device__ __forceinline__ void move_keys(BlockSortStorage<U, Shape> &storage, const BlockItems<Shape> &items,
                                          uint32_t shift, U (&keys)[Shape::kRows],
                                          const PackedPlaces<Shape::kRows> &places) {
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    if (row < items.rows)
      storage.keys[storage.counters[threadIdx.x / 32][digit_of(keys[row], shift)] + places.get(row)] = keys[row];
  }
  __syncthreads();
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (row < items.rows) keys[row] = storage.keys[items.index(row)];
  __syncthreads();
}

// Sorts keys[row] of item items.index(row). Rows past items.count must hold the greatest key: being last, they stay
// last. `any_key` is one of the keys.
template <class U, class Shape>
__device__ __forceinline__ void block_sort(BlockSortStorage<U, Shape> &storage, const BlockItems<Shape> &items,
                                           U any_key, U (&keys)[Shape::kRows]) {
  const uint32_t warp = threadIdx.x / 32;
  VaryingBits<U> varying = varying_bits(storage, items, any_key, keys);
  while (varying != 0) {
    const uint32_t shift =
        sizeof(U) == 8 ? __ffsll(static_cast<long long>(varying)) - 1 : __ffs(static_cast<int>(varying)) - 1;
    varying &= ~(VaryingBits<U>{kDigitBins - 1} << shift);
    PackedPlaces<Shape::kRows> places;
    rank_rows<Shape::kRows>(keys, items.rows, shift, storage.counters[warp], places);
    __syncthreads();
    place_digits(storage.counters, storage.places);
    move_keys(storage, items, shift, keys, places);
  }
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_BLOCK_SORT_CUH_
