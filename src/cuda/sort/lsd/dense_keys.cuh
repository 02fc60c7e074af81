// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels around passes by dense keys (dense_codes.cuh): one makes these and counts their digits, one makes them keys
// again. Both return at once where the histogram has chosen to leave the keys as they are.
#ifndef GSORT_CUDA_SORT_LSD_DENSE_KEYS_CUH_
#define GSORT_CUDA_SORT_LSD_DENSE_KEYS_CUH_

#include <cstdint>

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/sort/lsd/dense_codes.cuh"
#include "cuda/sort/lsd/histogram.cuh"

namespace gsort_internal::sort::lsd {

constexpr uint32_t kDenseThreads = 1024;
constexpr uint32_t kDenseKeysEach = 4;  // loads in flight a thread
// Dense keys save one pass at least.
constexpr uint32_t kDenseDigitsMax = kDenseBytes - 1;
constexpr uint32_t kRestoreThreads = 256;
constexpr uint32_t kRestoreKeysEach = 2;

template <class U>
struct DenseParams : Arrays<U> {
  HistogramParams<U> histogram;  // of which counts and blocks_done are 0 again
};

template <uint32_t kCopies>
struct DenseStorage {
  uint32_t counters[kDenseDigitsMax * kDigitBins * kCopies];
  uint8_t number[kDenseBytes][kDigitBins];
};
// Many copies of the counters where they fit a block, few elsewhere.
constexpr uint32_t kDenseCopiesMany = histogram_copies_many(kDenseBytes);
constexpr uint32_t kDenseCopiesFew = histogram_copies_few(kDenseBytes);
constexpr uint32_t kDenseManyBytes = sizeof(DenseStorage<kDenseCopiesMany>) + 1024;  // with the kernel's own

__device__ __forceinline__ void load_table(const uint8_t (&from)[kDenseBytes][kDigitBins],
                                           uint8_t (&to)[kDenseBytes][kDigitBins]) {
  const auto *words = reinterpret_cast<const uint32_t *>(&from[0][0]);
  auto *shared = reinterpret_cast<uint32_t *>(&to[0][0]);
  for (uint32_t i = threadIdx.x; i < sizeof(to) / 4; i += blockDim.x) shared[i] = words[i];
}

// put(index, key) for all keys, kEach of a thread on the way at once. By all blocks, of kThreads.
template <uint32_t kThreads, uint32_t kEach, class U, class Put>
__device__ __forceinline__ void visit_keys(const U *keys, uint64_t n, Put put) {
  const uint64_t threads = uint64_t{gridDim.x} * kThreads;
  for (uint64_t i = uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += kEach * threads) {
    U loaded[kEach];
#pragma unroll
    for (uint32_t k = 0; k < kEach; ++k)
      if (i + k * threads < n) loaded[k] = __ldcs(keys + i + k * threads);
#pragma unroll
    for (uint32_t k = 0; k < kEach; ++k) {
      if (i + k * threads >= n) break;
      put(i + k * threads, loaded[k]);
    }
  }
}

// Makes dense keys of all keys, each in its own place of the array that the codes name, which may be the keys' own.
template <class U, uint32_t kCopies>
__device__ __forceinline__ void make_dense(const DenseParams<U> &params, const DenseCodes &codes,
                                           DenseStorage<kCopies> &storage) {
  const HistogramParams<U> &input = params.histogram;
  const HalfCodes low(&storage.number[0][0], codes.bits), high(&storage.number[4][0], codes.bits + 4);
  const uint32_t low_bits = low.all_bits(), digits = codes.digits;
  U *const target = params.keys[codes.source];
  uint32_t *const own = storage.counters + lane_id() % kCopies;
  visit_keys<kDenseThreads, kDenseKeysEach>(input.keys, input.n, [&](uint64_t index, U given) {
    const U key = input.codec.encode(given);
    const U dense = U{high.dense(static_cast<uint32_t>(key >> 32))} << low_bits | low.dense(static_cast<uint32_t>(key));
    target[index] = dense;
#pragma unroll
    for (uint32_t digit = 0; digit < kDenseDigitsMax; ++digit) {
      const uint32_t bin = static_cast<uint32_t>(dense >> (digit * kDigitBits)) & (kDigitBins - 1);
      if (digit < digits) atomicAdd(own + (digit * kDigitBins + bin) * kCopies, 1u);
    }
  });
}

// Whether the histogram has chosen dense keys; where nothing is left to sort it has chosen nothing.
__device__ __forceinline__ bool dense_chosen(const uint32_t *sorted, const DenseCodes &codes) {
  return (sorted == nullptr || *sorted == 0) && codes.active != 0;
}

template <class U, uint32_t kCopies>
__device__ __forceinline__ void dense_keys(const DenseParams<U> &params, DenseStorage<kCopies> &storage) {
  const HistogramParams<U> &input = params.histogram;
  const DenseCodes &codes = *input.dense.codes;
  if (!dense_chosen(input.sorted, codes)) return;
  const uint32_t bins = codes.digits * kDigitBins;
  for (uint32_t i = threadIdx.x; i < bins * kCopies; i += kDenseThreads) storage.counters[i] = 0;
  load_table(codes.number, storage.number);
  __syncthreads();
  make_dense(params, codes, storage);
  __syncthreads();
  add_counts<kCopies>(storage.counters, bins, input.counts);
  if (!is_last_block(input.blocks_done, gridDim.x)) return;

  const uint32_t warp = threadIdx.x / 32;
  if (warp < codes.digits) place_digits(input.counts + warp * kDigitBins, input.bases + warp * 2 * kDigitBins, input.n);
  if (threadIdx.x == 0)
    decide_dense_actions(input.actions, codes.digits, input.dense.values_aliased, input.keys_wanted,
                         input.values_as_sorted);
}

template <class U, uint32_t kCopies>
__global__ void __launch_bounds__(kDenseThreads) dense_keys_kernel(const __grid_constant__ DenseParams<U> params) {
  using Storage = DenseStorage<kCopies>;
  if constexpr (!kFitsHere<sizeof(Storage) + 1024>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  wait_for_kernel_before();
  dense_keys(params, *reinterpret_cast<Storage *>(shared));
}

template <class U>
struct RestoreParams {
  U *keys;  // dense ones, which become those that they stand for
  uint64_t n;
  KeyCodec<U> codec;
  const DenseCodes *codes;
  const uint32_t *sorted;  // as for the histogram
};

template <class U>
__device__ __forceinline__ void restore_keys(const RestoreParams<U> &params,
                                             uint8_t (&values)[kDenseBytes][kDigitBins]) {
  if (!dense_chosen(params.sorted, *params.codes)) return;
  load_table(params.codes->value, values);
  __syncthreads();
  const HalfCodes low(&values[0][0], params.codes->bits), high(&values[4][0], params.codes->bits + 4);
  const uint32_t low_bits = low.all_bits();
  visit_keys<kRestoreThreads, kRestoreKeysEach>(params.keys, params.n, [&](uint64_t index, U dense) {
    const U key = U{high.word(static_cast<uint32_t>(dense >> low_bits))} << 32 | low.word(static_cast<uint32_t>(dense));
    params.keys[index] = params.codec.decode(key);
  });
}

template <class U>
__global__ void __launch_bounds__(kRestoreThreads) restore_keys_kernel(const RestoreParams<U> params) {
  __shared__ uint8_t values[kDenseBytes][kDigitBins];
  wait_for_kernel_before();
  restore_keys(params, values);
}

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_DENSE_KEYS_CUH_
