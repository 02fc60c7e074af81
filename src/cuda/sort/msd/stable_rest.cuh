// SPDX-License-Identifier: MIT OR Apache-2.0
// What the finish of the stable MSD sort leaves: runs of equal keys, which are in order, and cells that take all of an
// SM's shared memory.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_REST_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_REST_CUH_

#include <cstdint>

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/sort/msd/stable_finish.cuh"
#include "cuda/sort/msd/stable_split.cuh"

namespace gsort_internal::sort::msd {

constexpr uint32_t kStableLargeThreads = 1024;

template <class U, class V>
struct StableLargeStorage {
  union {
    U keys[kStableLargeItems];
    V values[kStableLargeItems];
  };
  uint16_t order[kStableLargeItems];
};

// Sorts a large cell as it is, by a network: few are.
template <class U, class V>
__device__ __forceinline__ void finish_large_cell(const StableFinishParams<U> &params, uint32_t number,
                                                  StableLargeStorage<U, V> &storage) {
  const uint32_t first = params.arguments.cells[number], count = params.arguments.cells[number + 1] - first;
  for (uint32_t i = threadIdx.x; i < count; i += kStableLargeThreads) {
    storage.keys[i] = params.keys_in[first + i];
    storage.order[i] = static_cast<uint16_t>(i);
  }
  __syncthreads();
  network_sort_with<ByBlock>(storage.keys, storage.order, count);
  store_by_order(params, first, count, storage.keys, true, storage.values, storage.order);
  __syncthreads();  // the room is free
}

// Equal keys are in order: keys are decoded, and brought to where they go to if they lie elsewhere, values to where and
// what they are to be. All loads of a piece are under way at once: the compiler cannot know that what is stored is not
// loaded.
template <class T, class Store>
__device__ __forceinline__ void move_piece(const T *from, const TwoWords &piece, Store store) {
  constexpr uint32_t kItems = kStablePieceItems / kStableLargeThreads;
  T items[kItems];
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    const uint32_t place = i * kStableLargeThreads + threadIdx.x;
    if (place < piece.y) items[i] = from[piece.x + place];
  }
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    const uint32_t place = i * kStableLargeThreads + threadIdx.x;
    if (place < piece.y) store(piece.x + place, items[i]);
  }
}

template <class U, class V>
__device__ __forceinline__ void finish_piece(const StableFinishParams<U> &params, const TwoWords &piece) {
  if (params.keys_out != nullptr && (params.keys_in != params.keys_out || !params.codec.is_identity()))
    move_piece(params.keys_in, piece, [&](uint32_t at, U key) { params.keys_out[at] = params.codec.decode(key); });
  if (params.values_in != params.values_out || params.final_values != FinalValues::kStore)
    move_piece(static_cast<const V *>(params.values_in), piece,
               [&](uint32_t at, V value) { store_final(params.final_values, params.values_out, at, value); });
}

// A block an SM. Dynamic shared memory: StableLargeStorage.
template <class U, class V>
__global__ void __launch_bounds__(kStableLargeThreads)
    stable_rest_kernel(const __grid_constant__ StableFinishParams<U> params) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<StableLargeStorage<U, V> *>(shared);
  wait_for_kernel_before();
  const StableState &state = *params.arguments.state;
  if (is_for_other<U, StableWay::kSplitters>(state)) return;
  for (uint32_t i = blockIdx.x; i < state.large; i += gridDim.x)
    finish_large_cell(params, params.arguments.large[i], storage);
  for (uint32_t i = blockIdx.x; i < state.pieces; i += gridDim.x)
    finish_piece<U, V>(params, params.arguments.pieces[i]);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_REST_CUH_
