// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts keys of 1 or 2 bytes without moving any: counts every value, then writes each as often as it was counted.
#ifndef GSORT_CUDA_SORT_FAST_PATH_COUNT_FILL_CUH_
#define GSORT_CUDA_SORT_FAST_PATH_COUNT_FILL_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/fast_path/plan.h"
#include "cuda/sort/lsd/histogram.cuh"

namespace gsort_internal::sort::fast_path {

constexpr uint32_t kCountThreads = 1024;
constexpr uint32_t kCountHalfBins = kCountFillSharedBytes / 4;

struct CountParams {
  const uint16_t *keys;
  uint64_t n;
  KeyCodec<uint16_t> codec;
  unsigned long long *counts;  // [65536] by the keys' own bits, 0 on entry
  uint64_t *bases;             // [65536] by encoded key: receives the first place of every value
  uint32_t *blocks_done;       // 0 on entry
};

__device__ __forceinline__ void count_in_half(uint32_t *counters, uint32_t half, uint32_t key, uint32_t times) {
  if (key / kCountHalfBins == half) atomicAdd(&counters[key % kCountHalfBins], times);
}

// Eight keys. Where all are equal, as in sorted or constant data, one addition does: many lanes that add to one counter
// wait for each other.
__device__ __forceinline__ void count_eight(uint32_t *counters, uint32_t half, const uint4 &keys) {
  const uint32_t words[4] = {keys.x, keys.y, keys.z, keys.w};
  const bool equal =
      keys.x == keys.y && keys.x == keys.z && keys.x == keys.w && keys.x == (keys.x & 0xffffu) * 0x10001u;
  if (equal) return count_in_half(counters, half, keys.x & 0xffffu, 8);
#pragma unroll
  for (uint32_t i = 0; i < 8; ++i)
    count_in_half(counters, half, i % 2 == 0 ? words[i / 2] & 0xffffu : words[i / 2] >> 16, 1);
}

// One block: exclusive sums of all counts in the order of the encoded keys. Every warp takes 2,048 values in a row.
__device__ inline void place_values(const CountParams &params) {
  constexpr uint32_t kRows = kCountFillBins / kCountThreads;
  __shared__ uint64_t warp_sums[kCountThreads / 32];
  const uint32_t first = threadIdx.x / 32 * 32 * kRows + lane_id();
  const auto count_of = [&](uint32_t row) -> uint64_t {
    return __ldcg(&params.counts[params.codec.decode(static_cast<uint16_t>(first + row * 32))]);
  };
  uint64_t sum = 0;
#pragma unroll 16
  for (uint32_t row = 0; row < kRows; ++row) sum += count_of(row);
  const uint64_t inclusive = warp_inclusive_sum(sum);
  if (lane_id() == 31) warp_sums[threadIdx.x / 32] = inclusive;
  __syncthreads();
  const uint64_t own = warp_sums[lane_id()];
  uint64_t base = __shfl_sync(kFullWarp, warp_inclusive_sum(own) - own, threadIdx.x / 32);
#pragma unroll 4
  for (uint32_t row = 0; row < kRows; ++row) {
    const uint64_t count = count_of(row), up_to = warp_inclusive_sum(count);
    params.bases[first + row * 32] = base + up_to - count;
    base += __shfl_sync(kFullWarp, up_to, 31);
  }
}

// Blocks of even and odd number read all keys between them, each for its half of the values. (A template so that files
// which do not launch it do not compile it.)
template <class U>
__global__ void __launch_bounds__(kCountThreads) count_values_kernel(const __grid_constant__ CountParams params) {
  extern __shared__ __align__(16) uint32_t counters[];
  for (uint32_t i = threadIdx.x; i < kCountHalfBins; i += kCountThreads) counters[i] = 0;
  __syncthreads();
  const uint32_t half = blockIdx.x % 2;
  const uint64_t thread = uint64_t{blockIdx.x / 2} * kCountThreads + threadIdx.x;
  const uint64_t threads = uint64_t{gridDim.x / 2} * kCountThreads;
  const uint64_t head = min(params.n, (16 - reinterpret_cast<uint64_t>(params.keys) % 16) % 16 / 2);
  const uint64_t vectors = (params.n - head) / 8, tail_begin = head + vectors * 8;
  if (thread < head) count_in_half(counters, half, params.keys[thread], 1);
  if (thread < params.n - tail_begin) count_in_half(counters, half, params.keys[tail_begin + thread], 1);
  static_assert(sizeof(U) == 2, "eight keys a vector");
  const uint4 *body = reinterpret_cast<const uint4 *>(params.keys + head);
  for (uint64_t i = thread; i < vectors; i += 4 * threads) {
    uint4 loaded[4];
#pragma unroll
    for (uint32_t v = 0; v < 4; ++v)
      if (i + v * threads < vectors) loaded[v] = body[i + v * threads];
#pragma unroll
    for (uint32_t v = 0; v < 4; ++v)
      if (i + v * threads < vectors) count_eight(counters, half, loaded[v]);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kCountHalfBins; i += kCountThreads)
    if (counters[i] != 0)
      atomicAdd(&params.counts[half * kCountHalfBins + i], static_cast<unsigned long long>(counters[i]));
  if (is_last_block(params.blocks_done, gridDim.x)) place_values(params);
}

constexpr uint32_t kFillThreads = 512;
constexpr uint32_t kFillVectors = 8;  // 16-byte stores a thread

template <class U>
struct FillParams {
  U *out;
  uint64_t n;
  KeyCodec<U> codec;
  const uint64_t *bases;  // [bins], ascending
  uint32_t bins;
};

// The last value in [low, high) whose first place is not after `place`. bases[low] <= place.
template <class Place>
__device__ __forceinline__ uint32_t find_value(const Place *bases, uint32_t low, uint32_t high, uint64_t place) {
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (bases[middle] <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// The same where value `low` holds a place before it. Most often the next value has it, but between two values that
// occur there may be many that do not: steps grow until they are past.
template <class Place>
__device__ __forceinline__ uint32_t find_later_value(const Place *bases, uint32_t low, uint32_t high, uint64_t place) {
  uint32_t step = 1;
  while (step < high - low && bases[low + step] <= place) {
    low += step;
    step *= 2;
  }
  return find_value(bases, low, min(high - low, step) + low, place);
}

// Vectors lie at multiples of 16 bytes; the first and the last may reach past the array.
template <class U>
__global__ void __launch_bounds__(kFillThreads) fill_kernel(const __grid_constant__ FillParams<U> params) {
  constexpr uint32_t kPerVector = 16 / sizeof(U);
  constexpr uint64_t kPerBlock = uint64_t{kFillThreads} * kFillVectors * kPerVector;
  __shared__ uint32_t range[2];
  const uint64_t skew = reinterpret_cast<uint64_t>(params.out) % 16 / sizeof(U);  // places are counted from out - skew
  const uint64_t end = params.n + skew;
  const uint64_t block_begin = blockIdx.x * kPerBlock;
  if (threadIdx.x < 2) {
    const uint64_t last = min(end, block_begin + kPerBlock) - 1;
    const uint64_t at = threadIdx.x == 0 ? max(block_begin, skew) : last;
    range[threadIdx.x] = find_value(params.bases, 0, params.bins, at - skew);
  }
  __syncthreads();
  const uint32_t low = range[0], high = range[1] + 1;
  for (uint32_t v = 0; v < kFillVectors; ++v) {
    const uint64_t begin = block_begin + (uint64_t{v} * kFillThreads + threadIdx.x) * kPerVector;
    if (begin >= end) break;
    const uint64_t first = max(begin, skew) - skew, after = min(begin + kPerVector, end) - skew;
    uint32_t value = find_value(params.bases, low, high, first);
    uint64_t value_end = value + 1 < params.bins ? params.bases[value + 1] : params.n;
    if (after - first == kPerVector && value_end >= after) {
      const U key = params.codec.decode(static_cast<U>(value));
      const uint32_t word = key * (sizeof(U) == 1 ? 0x01010101u : 0x00010001u);
      *reinterpret_cast<uint4 *>(params.out + first) = make_uint4(word, word, word, word);
      continue;
    }
    for (uint64_t place = first; place < after; ++place) {
      if (place >= value_end) {
        value = find_later_value(params.bases, value, high, place);
        value_end = value + 1 < params.bins ? params.bases[value + 1] : params.n;
      }
      params.out[place] = params.codec.decode(static_cast<U>(value));
    }
  }
}

}  // namespace gsort_internal::sort::fast_path

#endif  // GSORT_CUDA_SORT_FAST_PATH_COUNT_FILL_CUH_
