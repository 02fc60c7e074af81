// SPDX-License-Identifier: MIT OR Apache-2.0
// What a sample says about the keys: ascending, descending, combinations of few bits, or few values. All keys are
// compared with it afterwards, so a sample that misleads costs time only.
#ifndef GSORT_CUDA_SORT_FAST_PATH_SAMPLE_CUH_
#define GSORT_CUDA_SORT_FAST_PATH_SAMPLE_CUH_

#include <cstdint>

#include "cuda/sort/fast_path/storage.cuh"
#include "cuda/sort/fast_path/values.cuh"

namespace gsort_internal::sort::fast_path {

template <class U>
__device__ __forceinline__ uint32_t count_bits(U word) {
  return static_cast<uint32_t>(sizeof(U) == 8 ? __popcll(word) : __popc(static_cast<uint32_t>(word)));
}

template <class U>
__device__ __forceinline__ U leading_bit(U word) {
  return sizeof(U) == 8 ? U{1} << (63 - __clzll(static_cast<long long>(word)))
                        : U{1} << (31 - __clz(static_cast<int>(word)));
}

// Words of one bit each, in `few.words`, not in order.
template <class U>
__device__ __forceinline__ void take_single_bits(FewBits<U> &few, U varying) {
  U left = varying;
  for (uint32_t i = 0; i < threadIdx.x && left != 0; ++i) left &= left - 1;
  if (threadIdx.x < kBitsMax && left != 0) few.words[threadIdx.x] = left & (~left + 1);
  if (threadIdx.x == 0) few.count = count_bits(varying);
}

// Words with leading bits of their own that span all differences of the sample (`difference` is this thread's), not in
// order. False: there are too many. All threads.
template <class U>
__device__ __forceinline__ bool eliminate(Storage<U> &storage, U difference) {
  for (uint32_t count = 0; count <= kBitsMax; ++count) {
    if (threadIdx.x == 0) storage.picked = UINT32_MAX;
    __syncthreads();
    if (difference != 0) atomicMin(&storage.picked, threadIdx.x);
    __syncthreads();
    const uint32_t picked = storage.picked;
    if (picked == UINT32_MAX) {
      if (threadIdx.x == 0) storage.few.count = count;
      return true;
    }
    if (count == kBitsMax) return false;
    if (threadIdx.x == picked) storage.few.words[count] = difference;
    __syncthreads();
    const U word = storage.few.words[count];
    if ((difference & leading_bit(word)) != 0) difference ^= word;
  }
  return false;
}

// Clears in `word` the pivots of the words below `below`. `words` ascend, and none reaches above its leading bit.
template <class U>
__device__ __forceinline__ U without_pivots(const U *words, uint32_t below, U word) {
  for (uint32_t i = below; i-- > 0;)
    if ((word & leading_bit(words[i])) != 0) word ^= words[i];
  return word;
}

// By one thread: all that follows from the words.
template <class U>
__device__ __forceinline__ void describe_words(FewBits<U> &few) {
  constexpr uint32_t kSteps = sizeof(few.moves) / sizeof(U);
  U pivots = 0, varying = 0;
  for (uint32_t i = 0; i < few.count; ++i) {
    pivots |= leading_bit(few.words[i]);
    varying |= few.words[i];
  }
  few.pivots = pivots;
  few.varying = varying;
  few.shift = count_bits(static_cast<U>((pivots & (~pivots + 1)) - 1));
  few.neighbours = ((pivots >> few.shift) & ((pivots >> few.shift) + 1)) == 0;
  U gaps = static_cast<U>(~pivots << 1), left = pivots;
  for (uint32_t step = 0; step < kSteps; ++step) {
    U odd = gaps;  // bits with an odd number of gaps below, by a prefix sum modulo 2
    for (uint32_t distance = 1; distance < sizeof(U) * 8; distance *= 2) odd ^= static_cast<U>(odd << distance);
    few.moves[step] = odd & left;
    left = (left ^ few.moves[step]) | few.moves[step] >> (1u << step);
    gaps &= ~odd;
  }
}

// From words with leading bits of their own to the form that FewBits describes. All threads.
template <class U>
__device__ __forceinline__ void finish_words(Storage<U> &storage) {
  FewBits<U> &few = storage.few;
  const uint32_t count = few.count, thread = threadIdx.x;
  const U own = thread < count ? few.words[thread] : U{0};
  uint32_t rank = 0;
  for (uint32_t i = 0; i < count; ++i) rank += few.words[i] < own;  // leading bits differ, so their order is this
  __syncthreads();
  if (thread < count) few.words[rank] = own;
  __syncthreads();
  U clear = 0;
  if (thread < count) clear = without_pivots(few.words, rank, own);
  if (thread == count) few.origin = without_pivots(few.words, count, storage.sample[0]);
  __syncthreads();
  if (thread < count) few.words[rank] = clear;
  __syncthreads();
  if (thread < 512) {
    const uint32_t number = thread % 256, first = thread / 256 * 8;
    U key = first == 0 ? few.origin : U{0};
    for (uint32_t i = 0; i < 8 && first + i < count; ++i)
      if (number >> i & 1) key ^= few.words[first + i];
    (first == 0 ? few.low : few.high)[number] = key;
  } else if (thread == 512) {
    describe_words(few);
  }
  __syncthreads();
}

// Whether the sample is of combinations of few bits. `key` is this thread's of the sample, if it has one. All threads.
template <class U>
__device__ __forceinline__ bool find_few_bits(const Params<U> &params, Storage<U> &storage, bool samples, U key) {
  const U difference = samples ? key ^ storage.sample[0] : U{0};
  U varying = difference;
#pragma unroll
  for (uint32_t distance = 16; distance != 0; distance /= 2) varying |= __shfl_xor_sync(kFullWarp, varying, distance);
  if (samples && lane_id() == 0) atomicOr(&storage.varying, static_cast<unsigned long long>(varying));
  // The first sampled key is met again in keys of few values, and hardly ever in others.
  const int met = __syncthreads_count(samples && difference == 0);
  varying = static_cast<U>(storage.varying);
  if (met >= static_cast<int>(kSamples / 64)) {
    if (!eliminate(storage, difference)) return false;
  } else {
    if (count_bits(varying) > kBitsMax) return false;
    take_single_bits(storage.few, varying);
  }
  __syncthreads();
  if (storage.few.count > params.plan.number_bits) return false;
  finish_words(storage);
  return true;
}

// Reads the sample; the same for every block that runs while the keys are as the caller gave them. `counters` are the
// block's, not in use yet. With values, keys of which many are equal are not called descending. All threads.
template <bool kWithValues, class U>
__device__ __forceinline__ Pattern find_pattern(const Params<U> &params, Storage<U> &storage, uint32_t *counters) {
  const Arrays<U> &work = params.work;
  const uint32_t thread = threadIdx.x;
  const bool samples = thread < kSamples;
  U key = 0;
  if (thread == 0) storage.varying = 0;
  if (samples) {
    key = work.codec.encode(work.keys_in[sample_place(thread, kSamples, work.n)]);
    storage.sample[thread] = key;
  }
  __syncthreads();
  const U next = samples && thread + 1 < kSamples ? storage.sample[thread + 1] : key;
  const bool last = !samples || thread + 1 == kSamples;
  if (!__syncthreads_or(next < key)) return Pattern::kAscending;
  if (!__syncthreads_or(next > key || (kWithValues && !last && next == key)))
    return params.reversible ? Pattern::kDescending : Pattern::kNone;
  if (params.plan.counter_bits == 0) return Pattern::kNone;
  if constexpr (!kWithValues)
    if (find_few_bits(params, storage, samples, key)) return Pattern::kFewBits;
  return find_few_values(params, storage, counters, samples, key) ? Pattern::kFewValues : Pattern::kNone;
}

}  // namespace gsort_internal::sort::fast_path

#endif  // GSORT_CUDA_SORT_FAST_PATH_SAMPLE_CUH_
