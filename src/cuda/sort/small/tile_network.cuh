// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts an array in a time that does not depend on the items: Batcher's bitonic network in the form whose comparators
// all point one way, so that the missing items of a count that is no power of two need no padding. The same network as
// network_sort() of primitive/group_sort.cuh, which has all its steps in shared memory, a barrier each: here steps
// within 128 items are in a warp's registers, 63 of the 78 of 2^12 items, for five times the machine code.
#ifndef GSORT_CUDA_SORT_SMALL_TILE_NETWORK_CUH_
#define GSORT_CUDA_SORT_SMALL_TILE_NETWORK_CUH_

#include <cstdint>

#include "cuda/sort/small/item.cuh"

namespace gsort_internal::sort::small {

constexpr int kChunkRows = 4;  // of 32 items, of which a warp holds each lane's in registers
constexpr uint32_t kChunkItems = kChunkRows * 32;

template <class Item>
__device__ __forceinline__ Item lesser_or_greater(bool lesser, const Item &a, const Item &b) {
  return (b < a) == lesser ? b : a;
}
__device__ __forceinline__ uint32_t lesser_or_greater(bool lesser, uint32_t a, uint32_t b) {
  return lesser ? min(a, b) : max(a, b);
}

// Compares every item with the one of lane ^ mask in the same row; `top` is the highest bit of the mask. The less goes
// to the lower lane.
template <class Item>
__device__ __forceinline__ void lane_step(Item (&items)[kChunkRows], uint32_t mask, uint32_t top) {
  const bool lower = (lane_id() & top) == 0;
#pragma unroll
  for (int row = 0; row < kChunkRows; ++row)
    items[row] = lesser_or_greater(lower, items[row], shuffle_item(items[row], mask));
}

// Compares item row * 32 + lane with the one at (row ^ kRowMask) * 32 + (lane ^ kLaneMask).
template <int kRowMask, int kLaneMask, class Item>
__device__ __forceinline__ void row_step(Item (&items)[kChunkRows]) {
  constexpr int kRowTop = kRowMask & ~(kRowMask >> 1);
  Item others[kChunkRows];
#pragma unroll
  for (int row = 0; row < kChunkRows; ++row) {
    others[row] = items[row ^ kRowMask];
    if (kLaneMask != 0) others[row] = shuffle_item(others[row], kLaneMask);
  }
#pragma unroll
  for (int row = 0; row < kChunkRows; ++row)
    items[row] = lesser_or_greater((row & kRowTop) == 0, items[row], others[row]);
}

// The last steps of a merge, within 32 items. Loops stay loops: the network is the way for few inputs, and long.
template <class Item>
__device__ __forceinline__ void merge_within_lanes(Item (&items)[kChunkRows], uint32_t stride) {
#pragma unroll 1
  for (; stride != 0; stride /= 2) lane_step(items, stride, stride);
}

template <class Item>
__device__ __forceinline__ void sort_chunk(Item (&items)[kChunkRows]) {
  static_assert(kChunkRows == 4, "two merges of rows");
#pragma unroll 1
  for (uint32_t size = 2; size <= 32; size *= 2) {
    lane_step(items, size - 1, size / 2);
    merge_within_lanes(items, size / 4);
  }
  row_step<1, 31>(items);
  merge_within_lanes(items, 16);
  row_step<3, 31>(items);
  row_step<1, 0>(items);
  merge_within_lanes(items, 16);
}

template <class Item>
__device__ __forceinline__ void merge_chunk(Item (&items)[kChunkRows]) {
  row_step<2, 0>(items);
  row_step<1, 0>(items);
  merge_within_lanes(items, 16);
}

// Sorts or merges all chunks of the array, each by one warp. Ends with a barrier.
template <bool kSort, class Item>
__device__ __forceinline__ void do_chunks(Item *array, uint32_t count) {
  for (uint32_t begin = threadIdx.x / 32 * kChunkItems; begin < count; begin += blockDim.x * kChunkRows) {
    Item items[kChunkRows];
#pragma unroll
    for (int row = 0; row < kChunkRows; ++row) {
      const uint32_t i = begin + row * 32 + lane_id();
      items[row] = i < count ? array[i] : greatest_item<Item>();
    }
    kSort ? sort_chunk(items) : merge_chunk(items);
#pragma unroll
    for (int row = 0; row < kChunkRows; ++row) {
      const uint32_t i = begin + row * 32 + lane_id();
      if (i < count) array[i] = items[row];
    }
  }
  __syncthreads();
}

// Sorts array[0 .. count), of shared or of global memory. All threads call it, after a barrier; it ends with one.
template <class Item>
__device__ __noinline__ void network_sort_tile(Item *array, uint32_t count) {
  const auto exchange = [&](uint32_t low, uint32_t high) {
    if (high >= count) return;
    const Item a = array[low], b = array[high];
    if (b < a) array[low] = b, array[high] = a;
  };
  do_chunks<true>(array, count);
  for (uint32_t size = 2 * kChunkItems; size / 2 < count; size *= 2) {
    const uint32_t halves = (count + size - 1) / size * (size / 2);
    for (uint32_t i = threadIdx.x; i < halves; i += blockDim.x) {
      const uint32_t within = i & (size / 2 - 1), begin = (i - within) * 2;
      exchange(begin + within, begin + size - 1 - within);
    }
    __syncthreads();
    for (uint32_t stride = size / 4; stride >= kChunkItems; stride /= 2) {
      for (uint32_t i = threadIdx.x; i < halves; i += blockDim.x) {
        const uint32_t low = 2 * i - (i & (stride - 1));
        exchange(low, low + stride);
      }
      __syncthreads();
    }
    do_chunks<false>(array, count);
  }
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_TILE_NETWORK_CUH_
