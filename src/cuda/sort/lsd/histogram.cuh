// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts of all digits of all keys in one read; the last block to finish turns them into the digits' first places and
// decides what every pass does.
#ifndef GSORT_CUDA_SORT_LSD_HISTOGRAM_CUH_
#define GSORT_CUDA_SORT_LSD_HISTOGRAM_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/lsd/dense_codes.cuh"
#include "cuda/sort/lsd/pass_action.cuh"
#include "cuda/sort/lsd/plan.h"

namespace gsort_internal::sort::lsd {

constexpr uint32_t kHistogramThreads = 1024;
constexpr uint32_t kHistogramVectors = 4;  // 16-byte loads in flight a thread

template <class U>
struct HistogramParams {
  const U *keys;
  uint64_t n;
  KeyCodec<U> codec;
  unsigned long long *counts;  // [digits][256], 0 on entry
  uint32_t *blocks_done;       // 0 on entry
  uint64_t *bases;             // [slots][2][256]: the first half of each slot receives the digits' first places
  PassAction *actions;         // [slots]
  uint32_t slots;              // at least the digits; a slot without a digit can only copy
  bool aliased;                // an input is its output
  bool keys_wanted;            // by the last pass
  bool values_as_sorted;       // for kernels behind, not as the caller wants them
  const uint32_t *sorted;      // device word, not 0: everything is sorted already; NULL: it is not
  DenseChoice dense;           // of keys of 8 bytes
};

// A counter for every digit, bin and lane (or group of lanes): lanes with counters of their own never meet in a bank,
// whatever the keys are.
template <class U, uint32_t kCopies>
struct HistogramShape {
  static constexpr uint32_t kDigits = sizeof(U) * 8 / kDigitBits;
  static constexpr uint32_t kWords = kDigits * kDigitBins * kCopies;
  static constexpr uint32_t kSharedBytes = histogram_counters_bytes(sizeof(U), kCopies);
  static_assert((kCopies & (kCopies - 1)) == 0 && kCopies <= 32, "copies are told apart by low bits of an address");
};

// `own` is the lane's counter of bin 0 of digit 0.
template <class U, uint32_t kCopies>
__device__ __forceinline__ void count_key(uint32_t *own, U key) {
#pragma unroll
  for (uint32_t digit = 0; digit < HistogramShape<U, kCopies>::kDigits; ++digit) {
    const uint32_t bin = static_cast<uint32_t>(key >> (digit * kDigitBits)) & (kDigitBins - 1);
    atomicAdd(own + digit * kDigitBins * kCopies + bin * kCopies, 1u);
  }
}

template <class U, uint32_t kCopies, bool kEncode>
__device__ __forceinline__ void count_vector(uint32_t *own, const uint4 &vector, const KeyCodec<U> &codec) {
  const uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
  const auto count = [&](U key) { count_key<U, kCopies>(own, kEncode ? codec.encode(key) : key); };
  if constexpr (sizeof(U) == 8) {
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) count(words[2 * i] | static_cast<U>(words[2 * i + 1]) << 32);
  } else {
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
#pragma unroll
      for (uint32_t part = 0; part < 4 / sizeof(U); ++part) count(static_cast<U>(words[i] >> (part * sizeof(U) * 8)));
    }
  }
}

// All keys: 16 bytes at a time, those before the first and after the last whole vector one by one.
template <class U, uint32_t kCopies, bool kEncode>
__device__ __forceinline__ void count_all(uint32_t *own, const HistogramParams<U> &params) {
  constexpr uint32_t kPerVector = 16 / sizeof(U);
  const uint64_t thread = uint64_t{blockIdx.x} * kHistogramThreads + threadIdx.x;
  const uint64_t threads = uint64_t{gridDim.x} * kHistogramThreads;
  const uint64_t address = reinterpret_cast<uint64_t>(params.keys);
  const uint64_t head = min(params.n, (16 - address % 16) % 16 / sizeof(U));
  const uint64_t vectors = (params.n - head) / kPerVector;
  const uint64_t tail_begin = head + vectors * kPerVector;
  if (thread < head) count_key<U, kCopies>(own, params.codec.encode(params.keys[thread]));
  if (thread < params.n - tail_begin) count_key<U, kCopies>(own, params.codec.encode(params.keys[tail_begin + thread]));

  const uint4 *body = reinterpret_cast<const uint4 *>(params.keys + head);
  for (uint64_t i = thread; i < vectors; i += kHistogramVectors * threads) {
    uint4 loaded[kHistogramVectors];
#pragma unroll
    for (uint32_t v = 0; v < kHistogramVectors; ++v)
      if (i + v * threads < vectors) loaded[v] = __ldcs(body + i + v * threads);
#pragma unroll
    for (uint32_t v = 0; v < kHistogramVectors; ++v)
      if (i + v * threads < vectors) count_vector<U, kCopies, kEncode>(own, loaded[v], params.codec);
  }
}

template <uint32_t kCopies>
__device__ __forceinline__ void add_counts(const uint32_t *counters, uint32_t bins, unsigned long long *counts) {
  for (uint32_t bin = threadIdx.x; bin < bins; bin += kHistogramThreads) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < kCopies; ++i)
      sum += counters[bin * kCopies + (i + threadIdx.x) % kCopies];  // turned: no two lanes in a bank
    if (sum != 0) atomicAdd(&counts[bin], static_cast<unsigned long long>(sum));
  }
}

// One warp: the exclusive sums of a digit's counts. Returns whether the digit varies.
__device__ inline bool place_digits(const unsigned long long *counts, uint64_t *bases, uint64_t n) {
  constexpr uint32_t kEach = kDigitBins / 32;
  uint64_t own[kEach];
  uint64_t sum = 0;
  bool constant = false;
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) {
    own[i] = __ldcg(&counts[lane_id() * kEach + i]);
    constant |= own[i] == n;
    sum += own[i];
  }
  uint64_t base = warp_inclusive_sum(sum) - sum;
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) {
    bases[lane_id() * kEach + i] = base;
    base += own[i];
  }
  return !__any_sync(kFullWarp, constant);
}

// The last block, where dense keys may be chosen: whether they are. Counts are 0 again then, for those of dense keys.
template <uint32_t kDigits>
__device__ __forceinline__ bool turns_to_dense(const DenseChoice &choice, uint32_t varying_digits,
                                               unsigned long long *counts, uint32_t *blocks_done) {
  const uint32_t warp = threadIdx.x / 32;
  if (warp < kDigits) number_values(counts + warp * kDigitBins, *choice.codes, warp);
  __syncthreads();
  bool dense = false;
  if (threadIdx.x == 0) dense = choose_dense(choice, varying_digits);
  if (__syncthreads_or(dense) == 0) return false;
  for (uint32_t i = threadIdx.x; i < kDigits * kDigitBins; i += kHistogramThreads) counts[i] = 0;
  if (threadIdx.x == 0) *blocks_done = 0;
  return true;
}

template <class U, uint32_t kCopies>
__global__ void __launch_bounds__(kHistogramThreads) histogram_kernel(HistogramParams<U> params) {
  using Shape = HistogramShape<U, kCopies>;
  if constexpr (!kFitsHere<Shape::kSharedBytes + 1024>) return;  // as plans ask
  extern __shared__ __align__(16) uint32_t counters[];
  wait_for_kernel_before();
  if (params.sorted != nullptr && *params.sorted != 0) return;
  for (uint32_t i = threadIdx.x; i < Shape::kWords; i += kHistogramThreads) counters[i] = 0;
  __syncthreads();
  uint32_t *own = counters + lane_id() % kCopies;
  if (params.codec.is_identity()) {
    count_all<U, kCopies, false>(own, params);
  } else {
    count_all<U, kCopies, true>(own, params);
  }
  __syncthreads();
  add_counts<kCopies>(counters, Shape::kDigits * kDigitBins, params.counts);
  if (!is_last_block(params.blocks_done, gridDim.x)) return;

  __shared__ uint32_t varying_digits;
  if (threadIdx.x == 0) varying_digits = 0;
  __syncthreads();
  const uint32_t warp = threadIdx.x / 32;
  if (warp < Shape::kDigits) {
    const bool varies = place_digits(params.counts + warp * kDigitBins, params.bases + warp * 2 * kDigitBins, params.n);
    if (lane_id() == 0 && varies) atomicOr(&varying_digits, 1u << warp);
  }
  __syncthreads();
  if constexpr (sizeof(U) == kDenseBytes) {
    if (params.dense.codes != nullptr &&
        turns_to_dense<Shape::kDigits>(params.dense, varying_digits, params.counts, params.blocks_done))
      return;
  }
  if (threadIdx.x == 0)
    decide_actions(params.actions, params.slots, varying_digits, params.aliased, params.keys_wanted,
                   params.values_as_sorted);
}

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_HISTOGRAM_CUH_
