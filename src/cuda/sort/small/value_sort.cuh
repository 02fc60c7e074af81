// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts keys of 2 bytes alone in one block and one launch, without moving any: a bitmap says which of all values there
// are, its counts of bits number them, keys are counted by these numbers, and the output is filled with what the counts
// say.
#ifndef GSORT_CUDA_SORT_SMALL_VALUE_SORT_CUH_
#define GSORT_CUDA_SORT_SMALL_VALUE_SORT_CUH_

#include <cstdint>

#include "cuda/primitive/counter_scan.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/small/output.cuh"
#include "cuda/sort/small/plan.h"

namespace gsort_internal::sort::small {

template <uint32_t Threads, uint32_t Each>
struct ValueSortShape {
  static constexpr uint32_t kThreads = Threads;
  static constexpr uint32_t kEach = Each;  // neighbouring keys, and neighbouring places, that a thread has
  static constexpr uint32_t kItems = Threads * Each;
  static constexpr uint32_t kMapWords = 65536 / 32;
  static constexpr uint32_t kOwnWords = kMapWords / Threads;
  static_assert(Each % 4 == 0 && kOwnWords % 2 == 0, "they are accessed by vectors");
};

template <class Shape>
struct ValueSortStorage {
  union {
    struct {
      uint32_t bits[Shape::kMapWords];    // of values that there are
      uint16_t before[Shape::kMapWords];  // how many of these are in the words before
    } map;
    uint16_t marks[Shape::kItems];  // where another value begins, this value, elsewhere 0
  };
  alignas(16) uint32_t counts[Shape::kItems];  // of each of these values, then where it begins in the sorted keys
  uint32_t warp_totals[32];
  uint32_t warp_last[32];
};

// Keys in ordered bits, neighbours of the input.
template <class Shape>
__device__ __forceinline__ void load_neighbours(const Params<uint16_t> &params, uint32_t first,
                                                uint32_t (&keys)[Shape::kEach]) {
  const uint16_t *const in = params.keys_in + first;
  if (first + Shape::kEach <= params.n && reinterpret_cast<uintptr_t>(params.keys_in) % 8 == 0) {
#pragma unroll
    for (uint32_t i = 0; i < Shape::kEach; i += 4) {
      const uint2 four = reinterpret_cast<const uint2 *>(in)[i / 4];
      keys[i] = four.x & 0xffff, keys[i + 1] = four.x >> 16;
      keys[i + 2] = four.y & 0xffff, keys[i + 3] = four.y >> 16;
    }
  } else {
#pragma unroll
    for (uint32_t i = 0; i < Shape::kEach; ++i) keys[i] = first + i < params.n ? in[i] : 0;
  }
#pragma unroll
  for (uint32_t i = 0; i < Shape::kEach; ++i) keys[i] = params.codec.encode(static_cast<uint16_t>(keys[i]));
}

template <class Shape>
__device__ __forceinline__ void clear_map(ValueSortStorage<Shape> &storage) {
#pragma unroll
  for (uint32_t i = 0; i < Shape::kOwnWords / 2; ++i)
    reinterpret_cast<uint2 *>(storage.map.bits)[i * Shape::kThreads + threadIdx.x] = make_uint2(0, 0);
#pragma unroll
  for (uint32_t i = 0; i < Shape::kEach / 4; ++i)
    reinterpret_cast<uint4 *>(storage.counts)[i * Shape::kThreads + threadIdx.x] = make_uint4(0, 0, 0, 0);
}

template <class Shape>
__device__ __forceinline__ bool set_bit(ValueSortStorage<Shape> &storage, uint32_t key) {
  const uint32_t bit = 1u << (key & 31);
  return (atomicOr(&storage.map.bits[key / 32], bit) & bit) == 0;
}

// Sets the bits of keys that there are. Returns which of the thread's own set one first. Additions to one word wait for
// each other, and keys may crowd in few values: so each thread's first key goes ahead, unless its neighbour has the
// same, and others follow where their bits are not set by then. Ends with a barrier.
template <class Shape>
__device__ __forceinline__ uint32_t mark_values(ValueSortStorage<Shape> &storage, const uint32_t (&keys)[Shape::kEach],
                                                uint32_t count) {
  uint32_t owned = 0;
  const uint32_t neighbour = __shfl_up_sync(kFullWarp, keys[0], 1);
  if (count != 0 && (lane_id() == 0 || neighbour != keys[0])) owned = set_bit(storage, keys[0]) ? 1 : 0;
  __syncthreads();
  uint32_t missing = 0;
#pragma unroll
  for (uint32_t i = 1; i < Shape::kEach; ++i)
    if (i < count && (storage.map.bits[keys[i] / 32] >> (keys[i] & 31) & 1) == 0) missing |= 1u << i;
  __syncthreads();
#pragma unroll
  for (uint32_t i = 1; i < Shape::kEach; ++i)
    if ((missing >> i & 1) != 0 && set_bit(storage, keys[i])) owned |= 1u << i;
  __syncthreads();
  return owned;
}

// Numbers the words' bits. Ends with a barrier.
template <class Shape>
__device__ __forceinline__ void number_values(ValueSortStorage<Shape> &storage) {
  uint32_t ones[Shape::kOwnWords], sum = 0;
  const auto *const own = reinterpret_cast<const uint2 *>(storage.map.bits) + threadIdx.x * (Shape::kOwnWords / 2);
#pragma unroll
  for (uint32_t i = 0; i < Shape::kOwnWords; i += 2) {
    const uint2 two = own[i / 2];
    ones[i] = sum, sum += static_cast<uint32_t>(__popc(two.x));
    ones[i + 1] = sum, sum += static_cast<uint32_t>(__popc(two.y));
  }
  const uint32_t inclusive = warp_inclusive_sum(sum);
  if (lane_id() == 31) storage.warp_totals[threadIdx.x / 32] = inclusive;
  __syncthreads();
  const uint32_t first = warp_sum(lane_id() < threadIdx.x / 32 ? storage.warp_totals[lane_id()] : 0) + inclusive - sum;
  auto *const before = reinterpret_cast<uint32_t *>(storage.map.before) + threadIdx.x * (Shape::kOwnWords / 2);
#pragma unroll
  for (uint32_t i = 0; i < Shape::kOwnWords; i += 2) before[i / 2] = (first + ones[i]) | (first + ones[i + 1]) << 16;
  __syncthreads();
}

template <class Shape>
__device__ __forceinline__ uint32_t number_of(const ValueSortStorage<Shape> &storage, uint32_t key) {
  const uint32_t below = storage.map.bits[key / 32] & ((1u << (key & 31)) - 1);
  return storage.map.before[key / 32] + static_cast<uint32_t>(__popc(below));
}

// The sorted keys at the thread's places: each the last mark up to it, which is the greatest. All threads call it,
// behind a barrier.
template <class Shape>
__device__ __forceinline__ void read_marks(ValueSortStorage<Shape> &storage, uint32_t (&keys)[Shape::kEach]) {
  uint32_t last = 0;
#pragma unroll
  for (uint32_t i = 0; i < Shape::kEach; i += 4) {
    const uint2 four = reinterpret_cast<const uint2 *>(storage.marks)[threadIdx.x * (Shape::kEach / 4) + i / 4];
    keys[i] = last = max(last, four.x & 0xffff);
    keys[i + 1] = last = max(last, four.x >> 16);
    keys[i + 2] = last = max(last, four.y & 0xffff);
    keys[i + 3] = last = max(last, four.y >> 16);
  }
  const uint32_t of_warp = warp_greatest(last);
  if (lane_id() == 0) storage.warp_last[threadIdx.x / 32] = of_warp;
  const uint32_t before = __ballot_sync(kFullWarp, last != 0) & lanes_below();
  const uint32_t carried = __shfl_sync(kFullWarp, last, before == 0 ? 0 : 31 - __clz(static_cast<int>(before)));
  __syncthreads();
  uint32_t least = warp_greatest(lane_id() < threadIdx.x / 32 ? storage.warp_last[lane_id()] : 0);
  if (before != 0) least = carried;
#pragma unroll
  for (uint32_t i = 0; i < Shape::kEach; ++i) keys[i] = max(keys[i], least);
}

template <class Shape>
__device__ __forceinline__ void put_neighbours(const Params<uint16_t> &params, uint32_t first,
                                               uint32_t (&keys)[Shape::kEach]) {
#pragma unroll
  for (uint32_t i = 0; i < Shape::kEach; ++i) keys[i] = params.codec.decode(static_cast<uint16_t>(keys[i]));
  uint16_t *const out = params.keys_out + first;
  if (first + Shape::kEach <= params.n && reinterpret_cast<uintptr_t>(params.keys_out) % 8 == 0) {
#pragma unroll
    for (uint32_t i = 0; i < Shape::kEach; i += 4)
      reinterpret_cast<uint2 *>(out)[i / 4] = make_uint2(keys[i] | keys[i + 1] << 16, keys[i + 2] | keys[i + 3] << 16);
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < Shape::kEach; ++i)
    if (first + i < params.n) out[i] = static_cast<uint16_t>(keys[i]);
}

// All keys are read before any is written.
template <class Shape>
__device__ __forceinline__ void value_sort(const Params<uint16_t> &params, ValueSortStorage<Shape> &storage) {
  const uint32_t first = threadIdx.x * Shape::kEach;
  const uint32_t count = first < params.n ? min(params.n - first, Shape::kEach) : 0;
  uint32_t keys[Shape::kEach], numbers[Shape::kEach];
  load_neighbours<Shape>(params, first, keys);
  clear_map(storage);
  __syncthreads();
  const uint32_t owned = mark_values(storage, keys, count);
  number_values(storage);
#pragma unroll
  for (uint32_t i = 0; i < Shape::kEach; ++i) {
    numbers[i] = i < count ? number_of(storage, keys[i]) : 0;
    if (i < count) atomicAdd(&storage.counts[numbers[i]], 1u);
  }
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < Shape::kEach / 4; ++i)
    reinterpret_cast<uint2 *>(storage.marks)[i * Shape::kThreads + threadIdx.x] = make_uint2(0, 0);
  scan_counters<Shape::kThreads, Shape::kEach / 4, CounterScan::kHold>(reinterpret_cast<uint4 *>(storage.counts),
                                                                       storage.warp_totals);
#pragma unroll
  for (uint32_t i = 0; i < Shape::kEach; ++i)
    if ((owned >> i & 1) != 0) storage.marks[storage.counts[numbers[i]]] = static_cast<uint16_t>(keys[i]);
  __syncthreads();
  read_marks(storage, keys);
  put_neighbours<Shape>(params, first, keys);
}

// U: uint16_t.
template <class U, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1) value_sort_kernel(const __grid_constant__ Params<U> params) {
  extern __shared__ __align__(16) unsigned char shared[];
  value_sort(params, *reinterpret_cast<ValueSortStorage<Shape> *>(shared));
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_VALUE_SORT_CUH_
