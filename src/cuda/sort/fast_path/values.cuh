// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys of few values, wherever those lie: a sample names them, a hash table numbers them in their order.
#ifndef GSORT_CUDA_SORT_FAST_PATH_VALUES_CUH_
#define GSORT_CUDA_SORT_FAST_PATH_VALUES_CUH_

#include <cstdint>

#include "cuda/sort/fast_path/storage.cuh"

namespace gsort_internal::sort::fast_path {

// Buckets of two values; a multiplier is sought with which no more meet in any.
template <class U>
struct ValueTable {
  static constexpr uint32_t kBucketBits = sizeof(U) == 8 ? 11 : 12;
  static constexpr uint32_t kBuckets = 1u << kBucketBits;

  alignas(16) U keys[kBuckets][2];
  uint16_t numbers[kBuckets][2];  // kNoNumber: there is no such value
  U values[kValuesMax];           // ascending
};
constexpr uint16_t kNoNumber = 0xffff;

// While the sample is looked at, where counters are later.
template <class U>
struct ValueSample {
  U keys[kValueSamples];
  uint32_t first[2 * kValuesSlots];  // the key that has a slot, or UINT32_MAX; then a bucket's values
  uint32_t met[kValuesSlots];
  U found[kValuesMax];
};
static_assert(sizeof(ValueSample<uint64_t>) <= 4u << kValueCounterBits, "it lies where the counters lie");
static_assert((4u << kValueCounterBits) + sizeof(ValueTable<uint64_t>) <= 4u << kCounterBitsMax, "so does the table");
static_assert((4u << kValueCounterBits) + sizeof(ValueTable<uint32_t>) <= 4u << kCounterBitsMax, "so does the table");
static_assert(ValueTable<uint32_t>::kBuckets <= 2 * kValuesSlots, "counters of buckets");

template <class U>
__device__ __forceinline__ ValueTable<U> &value_table(uint32_t *counters) {
  return *reinterpret_cast<ValueTable<U> *>(counters + (1u << kValueCounterBits));
}

template <class U>
__device__ __forceinline__ uint32_t hash_key(U key, uint32_t multiplier, uint32_t bits) {
  if constexpr (sizeof(U) == 8)
    return static_cast<uint32_t>(key * (uint64_t{multiplier} << 32 | 0x7f4a7c15u) >> (64 - bits));
  else
    return static_cast<uint32_t>(key) * multiplier >> (32 - bits);
}

// Whether the first sample has so few different keys that another look pays: it hashes them to bits.
template <class U>
__device__ __forceinline__ bool may_have_few_values(Storage<U> &storage, uint32_t *bits, bool samples, U key,
                                                    uint32_t most) {
  constexpr uint32_t kHashBits = 12, kWords = 1u << (kHashBits - 5);
  if (threadIdx.x < kWords) bits[threadIdx.x] = 0;
  if (threadIdx.x == 0) storage.values = 0;
  __syncthreads();
  const uint32_t hash = hash_key(key, 0x9e3779b1u, kHashBits);
  if (samples) atomicOr(&bits[hash / 32], 1u << hash % 32);
  __syncthreads();
  if (threadIdx.x < kWords) atomicAdd(&storage.values, __popc(bits[threadIdx.x]));
  __syncthreads();
  const uint32_t different = storage.values;
  __syncthreads();  // before it is used again
  return different <= most;
}

// Names the values of a larger sample, in any order. False: there are too many, or one was met once only, so that
// others may not have been met. most: up to kValuesMax.
template <class U>
__device__ __forceinline__ bool name_values(const Arrays<U> &work, Storage<U> &storage, ValueSample<U> &sample,
                                            uint32_t most) {
  for (uint32_t i = threadIdx.x; i < kValuesSlots; i += kThreads) sample.first[i] = UINT32_MAX, sample.met[i] = 0;
  for (uint32_t i = threadIdx.x; i < kValueSamples; i += kThreads)
    sample.keys[i] = work.codec.encode(work.keys_in[sample_place(i, kValueSamples, work.n)]);
  if (threadIdx.x == 0) storage.values = 0;
  __syncthreads();
  const volatile uint32_t *const values = &storage.values;
  for (uint32_t i = threadIdx.x; i < kValueSamples && *values <= most; i += kThreads) {
    const U key = sample.keys[i];
    uint32_t slot = hash_key(key, 0x9e3779b1u, kValuesSlotBits);
    for (;; slot = (slot + 1) % kValuesSlots) {
      const uint32_t first = atomicCAS(&sample.first[slot], UINT32_MAX, i);
      if (first == UINT32_MAX) {
        const uint32_t number = atomicAdd(&storage.values, 1u);
        if (number < most) sample.found[number] = key;
      } else if (sample.keys[first] != key) {
        if (*values > most) break;  // a full table has no end
        continue;
      }
      atomicAdd(&sample.met[slot], 1u);
      break;
    }
  }
  bool once = false;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kValuesSlots; i += kThreads) once |= sample.met[i] == 1;
  return !__syncthreads_or(once || storage.values > most);
}

// Puts the values in order and into buckets by a hash with which they fit. False: none of those tried does it.
template <class U>
__device__ __forceinline__ bool build_table(Storage<U> &storage, ValueSample<U> &sample, ValueTable<U> &table) {
  constexpr uint32_t kTries = 16;
  const uint32_t count = storage.values, thread = threadIdx.x;
  const U own = thread < count ? sample.found[thread] : U{0};
  uint32_t rank = 0;
  if (thread < count)
    for (uint32_t i = 0; i < count; ++i) rank += sample.found[i] < own;
  if (thread < count) table.values[rank] = own;
  for (uint32_t turn = 0; turn < kTries; ++turn) {
    const uint32_t multiplier = 0x9e3779b1u * (2 * turn + 1);
    for (uint32_t i = thread; i < table.kBuckets; i += kThreads) {
      sample.first[i] = 0;
      table.numbers[i][0] = table.numbers[i][1] = kNoNumber;
    }
    if (thread == 0) storage.multiplier = multiplier;
    __syncthreads();
    bool full = false;
    if (thread < count) {
      const uint32_t bucket = hash_key(own, multiplier, table.kBucketBits), slot = atomicAdd(&sample.first[bucket], 1u);
      full = slot >= 2;
      if (!full) table.keys[bucket][slot] = own, table.numbers[bucket][slot] = static_cast<uint16_t>(rank);
    }
    if (!__syncthreads_or(full)) return true;
  }
  return false;
}

// All threads. `key`: this thread's of the first sample, if it has one. Called, not inlined: see sort_values_alone().
template <class U>
__device__ __noinline__ bool find_few_values(const Params<U> &params, Storage<U> &storage, uint32_t *counters,
                                             bool samples, U key) {
  __builtin_assume(__isShared(&storage));
  __builtin_assume(__isShared(counters));
  if (params.plan.counter_bits != kCounterBitsMax) return false;
  auto &sample = *reinterpret_cast<ValueSample<U> *>(counters);
  const uint32_t most = min(kValuesMax, 1u << params.plan.number_bits);
  const uint32_t different = most <= 256 ? kSamplesOf256Values : kSamplesOf512Values;
  return may_have_few_values(storage, counters, samples, key, different) &&
         name_values(params.work, storage, sample, most) && build_table(storage, sample, value_table<U>(counters));
}

}  // namespace gsort_internal::sort::fast_path

#endif  // GSORT_CUDA_SORT_FAST_PATH_VALUES_CUH_
