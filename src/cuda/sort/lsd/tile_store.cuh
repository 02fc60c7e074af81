// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes a tile that is sorted by digit in shared memory to the places of its digits in memory.
#ifndef GSORT_CUDA_SORT_LSD_TILE_STORE_CUH_
#define GSORT_CUDA_SORT_LSD_TILE_STORE_CUH_

#include <cstdint>

#include "cuda/primitive/digit_rank.cuh"
#include "cuda/primitive/tile_shape.h"

namespace gsort_internal::sort::lsd {

// Neighbouring threads write neighbours of the tile, whatever digits they have, so that all threads have the same work
// and all their rows are under way at once. Writing run by run in aligned pieces touches fewer lines of memory where
// digits are evenly frequent, but was slower there (H200, 2026-11-23: 1.05 ms in place of 0.96 a pass over 2^28 keys
// of 4 bytes), and more so where they are not (1.22 in place of 0.97). Pairs alone were 4% quicker by it where digits
// are evenly frequent, and 15% slower where they are not.
//
// runs[digit]: the address to which the item of place 0 of the tile would go if it had this digit, so that every row
// takes one addition. It may lie before the array, and is a number, not a pointer.
template <class T>
__device__ __forceinline__ uint64_t address_of_run(const T *target, uint64_t index) {
  return reinterpret_cast<uint64_t>(target) + index * sizeof(T);
}
template <class T>
__device__ __forceinline__ uint64_t index_of_run(const T *target, uint64_t address) {
  return static_cast<uint64_t>(static_cast<int64_t>(address - reinterpret_cast<uint64_t>(target)) /
                               static_cast<int64_t>(sizeof(T)));
}

// Digits of the items that a thread writes, four a word: where values follow, their keys are gone by then.
template <class Shape>
struct TileDigits {
  uint32_t words[(Shape::kRows + 3) / 4];

  // `row` is a constant after unrolling; rows are set in ascending order.
  __device__ __forceinline__ void set(uint32_t row, uint32_t digit) {
    words[row / 4] = row % 4 == 0 ? digit : words[row / 4] | digit << (row % 4 * 8);
  }
  __device__ __forceinline__ uint32_t get(uint32_t row) const { return words[row / 4] >> (row % 4 * 8) & 0xffu; }
};

// Place in the sorted tile of this thread's item of a row.
template <class Shape>
__device__ __forceinline__ uint32_t tile_place(uint32_t row) {
  return row * Shape::kThreads + threadIdx.x;
}

// Where the item at tile_place(row) goes that is of `run`.
template <class Shape, class T>
__device__ __forceinline__ T *tile_target(uint64_t run, uint32_t row) {
  return reinterpret_cast<T *>(run + threadIdx.x * sizeof(T)) + row * Shape::kThreads;
}

// Writes keys[place] as convert(key) for every place below `items`, and notes their digits.
template <class Shape, class U, class Convert>
__device__ __forceinline__ void store_tile_keys(const U *keys, uint32_t items, uint32_t shift, const uint64_t *runs,
                                                TileDigits<Shape> &digits, Convert convert) {
  __builtin_assume(__isShared(keys) && __isShared(runs));
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t place = tile_place<Shape>(row);
    const U key = keys[place];
    const uint32_t digit = digit_of(key, shift);
    digits.set(row, digit);
    if (place < items) *tile_target<Shape, U>(runs[digit], row) = convert(key);
  }
}

// The same without writing keys.
template <class Shape, class U>
__device__ __forceinline__ void note_tile_digits(const U *keys, uint32_t shift, TileDigits<Shape> &digits) {
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) digits.set(row, digit_of(keys[tile_place<Shape>(row)], shift));
}

// Writes values[place] for every place below `items`.
template <class Shape, class V>
__device__ __forceinline__ void store_tile_values(const V *values, uint32_t items, const uint64_t *runs,
                                                  const TileDigits<Shape> &digits) {
  __builtin_assume(__isShared(values) && __isShared(runs));
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (tile_place<Shape>(row) < items)
      *tile_target<Shape, V>(runs[digits.get(row)], row) = values[tile_place<Shape>(row)];
}

// put(index in memory, values[place]) for every place below `items`; indices[digit]: that of place 0.
template <class Shape, class V, class Put>
__device__ __forceinline__ void visit_tile_values(const V *values, uint32_t items, const uint64_t *indices,
                                                  const TileDigits<Shape> &digits, Put put) {
  __builtin_assume(__isShared(values) && __isShared(indices));
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t place = tile_place<Shape>(row);
    if (place < items) put(indices[digits.get(row)] + place, values[place]);
  }
}

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_TILE_STORE_CUH_
