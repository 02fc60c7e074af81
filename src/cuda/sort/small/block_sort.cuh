// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts a whole input in one block and one launch.
#ifndef GSORT_CUDA_SORT_SMALL_BLOCK_SORT_CUH_
#define GSORT_CUDA_SORT_SMALL_BLOCK_SORT_CUH_

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/sort/small/output.cuh"
#include "cuda/sort/small/tile_sort.cuh"

namespace gsort_internal::sort::small {

// Stores what belongs to a sorted item.
template <class U, bool kSources, class Item>
__device__ __forceinline__ void put_item(const Params<U> &params, uint32_t place, const Item &item) {
  using ItemCodec = ItemCodecOf<U, kSources>;
  if (params.keys_out != nullptr) params.keys_out[place] = params.codec.decode(ItemCodec::key(item));
  if constexpr (kSources) put_companions(params, place, ItemCodec::index(item));
}

// kSources: the order of the input is wanted, not the keys alone. All keys are read before any is written.
template <class U, class Shape, bool kSources>
__global__ void __launch_bounds__(Shape::kThreads, 1) block_sort_kernel(const __grid_constant__ Params<U> params) {
  if constexpr (!kFitsHere<sizeof(TileSortStorage<Shape>)>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<TileSortStorage<Shape> *>(shared);
  typename Shape::Item items[Shape::kRows];
#pragma unroll
  for (uint32_t row = 0; row < Shape::kRows; ++row) {
    const uint32_t i = row * Shape::kThreads + threadIdx.x;
    if (i < params.n) items[row] = ItemCodecOf<U, kSources>::make(params.codec.encode(params.keys_in[i]), i);
  }
  tile_sort(storage, items, params.n, params.n,
            [&](uint32_t place, const typename Shape::Item &item) { put_item<U, kSources>(params, place, item); });
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_BLOCK_SORT_CUH_
