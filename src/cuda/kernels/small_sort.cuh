// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts a whole input in one block and one launch.
#ifndef GSORT_CUDA_KERNELS_SMALL_SORT_CUH_
#define GSORT_CUDA_KERNELS_SMALL_SORT_CUH_

#include <cstdint>

#include "cuda/block/block_sort.cuh"
#include "cuda/kernels/small_output.cuh"

namespace gsort_internal {

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

// kSources: the order of the input is wanted, not the keys alone. All keys are read before any is written.
template <class U, class Shape, bool kSources>
__global__ void __launch_bounds__(Shape::kThreads) small_sort_kernel(const __grid_constant__ SmallParams<U> params) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<BlockSortStorage<U, Shape> *>(shared);
  const BlockItems<Shape> items(params.n);
  U keys[Shape::kRows];
  PackedPlaces<Shape::kRows> sources;
  load_block_keys<U, Shape>(params.keys_in, items, params.codec, keys);
  const U any_key = params.codec.encode(params.keys_in[0]);
  block_sort<kSources>(storage, items, any_key, keys, sources);
  if (params.keys_out != nullptr) store_block_keys<U, Shape>(params.keys_out, items, params.codec, keys);
  if constexpr (kSources) {
#pragma unroll
    for (uint32_t row = 0; row < Shape::kRows; ++row)
      if (row < items.rows) storage.places[items.index(row)] = static_cast<uint16_t>(sources.get(row));
    __syncthreads();
#pragma unroll 1  // the many ways to put a companion are long: once is enough
    for (uint32_t place = threadIdx.x; place < params.n; place += Shape::kThreads)
      put_companions(params, place, storage.places[place]);
  }
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_SMALL_SORT_CUH_
