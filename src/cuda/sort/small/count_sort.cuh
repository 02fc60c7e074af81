// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts keys of 1 byte alone in one block and one launch, without moving any: it counts them, and fills the output with
// what the counts say.
#ifndef GSORT_CUDA_SORT_SMALL_COUNT_SORT_CUH_
#define GSORT_CUDA_SORT_SMALL_COUNT_SORT_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sort/small/output.cuh"
#include "cuda/sort/small/plan.h"

namespace gsort_internal::sort::small {

constexpr uint32_t kByteValues = 256;
constexpr uint32_t kCountSortWords = 4;  // of 4 keys, that a thread loads at once

template <uint32_t kThreads>
struct CountSortStorage {
  static constexpr uint32_t kPart = 4 * kThreads;  // of the output, a word a thread
  static constexpr uint32_t kWarps = kThreads / 32;
  uint32_t counts[kByteValues];
  uint32_t marks[kCountSortItemsMax / 4];  // a byte a place: where another value begins, this value, elsewhere 0
  uint32_t last[kCountSortItemsMax / kPart * kWarps];  // the last mark of every warp in every part
  uint32_t warp_totals[kByteValues / 32];
};

// The same for each key of a word: the codec of integers is one xor.
__device__ __forceinline__ uint32_t order_mask(const KeyCodec<uint8_t> &codec) {
  return codec.mask_positive * 0x01010101u;
}

__device__ __forceinline__ void count_word(uint32_t *counts, uint32_t keys) {
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) atomicAdd(&counts[keys >> 8 * i & 255], 1u);
}

// Counts keys in ordered bits, words of 4 and what an address that is none of a word's leaves before and behind them.
template <uint32_t kThreads>
__device__ __forceinline__ void count_bytes(uint32_t *counts, const Params<uint8_t> &params) {
  const uint32_t mask = order_mask(params.codec);
  const uint8_t *const in = params.keys_in;
  const uint32_t before = min(static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(in) & 3), params.n);
  const uint32_t words = (params.n - before) / 4, behind = before + words * 4;
  const auto *const vectors = reinterpret_cast<const uint32_t *>(in + before);
#pragma unroll 1
  for (uint32_t first = threadIdx.x; first < words; first += kCountSortWords * kThreads) {
    uint32_t keys[kCountSortWords];
#pragma unroll
    for (uint32_t i = 0; i < kCountSortWords; ++i)
      keys[i] = first + i * kThreads < words ? vectors[first + i * kThreads] : 0;
#pragma unroll
    for (uint32_t i = 0; i < kCountSortWords; ++i)
      if (first + i * kThreads < words) count_word(counts, keys[i] ^ mask);
  }
  if (threadIdx.x < before) atomicAdd(&counts[(in[threadIdx.x] ^ mask) & 255], 1u);
  if (behind + threadIdx.x < params.n) atomicAdd(&counts[(in[behind + threadIdx.x] ^ mask) & 255], 1u);
}

// Marks where values begin. Ends with a barrier.
template <uint32_t kThreads>
__device__ __forceinline__ void mark_bytes(CountSortStorage<kThreads> &storage) {
  static_assert(kThreads >= kByteValues, "a thread has one value at most");
  const bool takes_part = threadIdx.x < kByteValues;
  const uint32_t count = takes_part ? storage.counts[threadIdx.x] : 0;
  const uint32_t inclusive = warp_inclusive_sum(count);
  if (takes_part && lane_id() == 31) storage.warp_totals[threadIdx.x / 32] = inclusive;
  __syncthreads();
  const uint32_t before =
      warp_sum(lane_id() < min(threadIdx.x / 32, kByteValues / 32) ? storage.warp_totals[lane_id()] : 0);
  if (count != 0)
    reinterpret_cast<uint8_t *>(storage.marks)[before + inclusive - count] = static_cast<uint8_t>(threadIdx.x);
  __syncthreads();
}

// The last mark of a word, which is its greatest.
__device__ __forceinline__ uint32_t last_mark(uint32_t marks) {
  return marks == 0 ? 0 : marks >> (31 - static_cast<uint32_t>(__clz(static_cast<int>(marks)))) / 8 * 8;
}

// The sorted keys that a word of marks stands for: each the last mark up to it; `least` is the one before the warp's.
__device__ __forceinline__ uint32_t bytes_of_marks(uint32_t marks, uint32_t least) {
  const uint32_t last = last_mark(marks);
  const uint32_t before = __ballot_sync(kFullWarp, marks != 0) & lanes_below();
  const uint32_t carried = __shfl_sync(kFullWarp, last, before == 0 ? 0 : 31 - __clz(static_cast<int>(before)));
  const uint32_t a = max(before == 0 ? least : carried, marks & 255), b = max(a, marks >> 8 & 255);
  const uint32_t c = max(b, marks >> 16 & 255), d = max(c, marks >> 24);
  return a | b << 8 | c << 16 | d << 24;
}

__device__ __forceinline__ void put_word(uint8_t *out, uint32_t place, uint32_t n, uint32_t keys) {
  if (place + 4 <= n && reinterpret_cast<uintptr_t>(out) % 4 == 0) {
    *reinterpret_cast<uint32_t *>(out + place) = keys;
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i)
    if (place + i < n) out[place + i] = static_cast<uint8_t>(keys >> 8 * i);
}

// Fills the output from the marks, part by part.
template <uint32_t kThreads>
__device__ __forceinline__ void fill_bytes(const Params<uint8_t> &params, CountSortStorage<kThreads> &storage) {
  using Storage = CountSortStorage<kThreads>;
  const uint32_t parts = (params.n + Storage::kPart - 1) / Storage::kPart, warp = threadIdx.x / 32;
#pragma unroll 1
  for (uint32_t part = 0; part < parts; ++part) {
    const uint32_t last = warp_greatest(last_mark(storage.marks[part * kThreads + threadIdx.x]));
    if (lane_id() == 0) storage.last[part * Storage::kWarps + warp] = last;
  }
  __syncthreads();
  const uint32_t mask = order_mask(params.codec);
  uint32_t least = 0;  // of the part
#pragma unroll 1
  for (uint32_t part = 0; part < parts; ++part) {
    const uint32_t last = lane_id() < Storage::kWarps ? storage.last[part * Storage::kWarps + lane_id()] : 0;
    const uint32_t of_warp = max(least, warp_greatest(lane_id() < warp ? last : 0));
    const uint32_t keys = bytes_of_marks(storage.marks[part * kThreads + threadIdx.x], of_warp);
    put_word(params.keys_out, part * Storage::kPart + threadIdx.x * 4, params.n, keys ^ mask);
    least = max(least, warp_greatest(last));
  }
}

// All keys are read before any is written.
template <uint32_t kThreads>
__device__ __forceinline__ void count_sort(const Params<uint8_t> &params, CountSortStorage<kThreads> &storage) {
  if (threadIdx.x < kByteValues) storage.counts[threadIdx.x] = 0;
#pragma unroll 1
  for (uint32_t part = 0; part * CountSortStorage<kThreads>::kPart < params.n; ++part)
    storage.marks[part * kThreads + threadIdx.x] = 0;
  __syncthreads();
  count_bytes<kThreads>(storage.counts, params);
  __syncthreads();
  mark_bytes(storage);
  fill_bytes(params, storage);
}

// U: uint8_t.
template <class U, uint32_t kThreads>
__global__ void __launch_bounds__(kThreads, 1) count_sort_kernel(const __grid_constant__ Params<U> params) {
  __shared__ CountSortStorage<kThreads> storage;
  count_sort(params, storage);
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_COUNT_SORT_CUH_
