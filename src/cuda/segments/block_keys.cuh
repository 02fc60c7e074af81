// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads and stores of what block_sort() sorts.
#ifndef GSORT_CUDA_SEGMENTS_BLOCK_KEYS_CUH_
#define GSORT_CUDA_SEGMENTS_BLOCK_KEYS_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/segments/block_sort.cuh"

namespace gsort_internal::segments {

template <class U, class Shape>
__device__ __forceinline__ void load_block_keys(const U *array, const BlockItems<Shape> &items,
                                                const KeyCodec<U> &codec, U (&keys)[Shape::kRows]) {
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    keys[row] = static_cast<U>(~U{0});
    if (row < items.rows && items.index(row) < items.count) keys[row] = codec.encode(array[items.index(row)]);
  }
}

template <class U, class Shape>
__device__ __forceinline__ void store_block_keys(U *array, const BlockItems<Shape> &items, const KeyCodec<U> &codec,
                                                 const U (&keys)[Shape::kRows]) {
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row)
    if (row < items.rows && items.index(row) < items.count) array[items.index(row)] = codec.decode(keys[row]);
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_BLOCK_KEYS_CUH_
