// SPDX-License-Identifier: MIT OR Apache-2.0
// How the partition sorts draw a sample of the keys, and see whether its keys differ and how they spread.
#ifndef GSORT_CUDA_SORT_MSD_SAMPLE_CUH_
#define GSORT_CUDA_SORT_MSD_SAMPLE_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/hash.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/plan.h"

namespace gsort_internal::sort::msd {

// Place of the j-th of `groups` * 4 sampled keys. Four neighbours are sampled together, for they share a sector; each
// such group comes from its own equal part of the input, at a hashed offset, so that no period of the data meets the
// sample's.
template <uint32_t groups>
__device__ __forceinline__ uint64_t sample_place(uint32_t j, uint64_t n) {
  const uint32_t group = j / 4;
  const uint64_t part = n / groups;
  return group * part + __umulhi(mix_bits(group), static_cast<uint32_t>(part - 3)) + j % 4;
}

// Marks a slot of a table of bits; returns whether it was marked before.
__device__ __forceinline__ bool mark_slot(uint32_t slot, uint32_t *seen) {
  const uint32_t bit = 1u << (slot & 31);
  return (atomicOr(&seen[slot >> 5], bit) & bit) != 0;
}

// Marks a sampled key in a table of 2^bits bits; returns whether another was there before. Hashed, for keys at equal
// distances would meet at a product alone.
__device__ __forceinline__ bool meets_another(uint64_t key, uint32_t bits, uint32_t *seen) {
  const uint32_t folded = static_cast<uint32_t>(key) ^ static_cast<uint32_t>(key >> 32) * 0x9e3779b1u;
  return mark_slot(mix_bits(folded) >> (32 - bits), seen);
}

// Clears such a table, by a block of kThreads.
template <uint32_t kThreads>
__device__ __forceinline__ void clear_slots(uint32_t bits, uint32_t *seen) {
  for (uint32_t i = threadIdx.x; i < (1u << bits) / 128; i += kThreads)
    reinterpret_cast<uint4 *>(seen)[i] = make_uint4(0, 0, 0, 0);
}

// Whether what a thread has of its sampled key is what the one before it has, of the four neighbours.
template <class T>
__device__ __forceinline__ bool repeats(T own) {
  const T before = __shfl_up_sync(kFullWarp, own, 1);
  return threadIdx.x % 4 != 0 && before == own;
}

// What a sample shows.
template <class U>
struct SampleView {
  U bits;               // that all keys have set
  U differ;             // bits in which keys differ
  uint32_t range_bits;  // of a key below the common prefix
  bool crowded;         // some 256th of the range has far more keys than its share
  bool many_equal;      // more keys are equal than chance makes meet
  bool few_values;      // an eighth of the sample meets another: 2^17 values at random, or fewer
  bool mostly_equal;    // three fourths of it do
  bool closer;          // keys that differ lie closer together than coarse bins show, see kCloserMax
  bool clumped;         // so much that most meet another
  bool runs;            // keys are equal to their neighbours, six and more of them
};

// So many of a sample's keys, of which a fourth has no neighbour before it, repeat the one before where runs of equal
// keys are six long and more.
constexpr GSORT_HOST_DEVICE uint32_t runs_least(uint32_t keys) { return keys / 8 * 5; }

// All bits that the block's keys have set in common, and all that one of them has. all_and, all_or: in shared memory.
__device__ __forceinline__ void collect_bits(uint64_t both, uint64_t any, unsigned long long &all_and,
                                             unsigned long long &all_or) {
  // One 64-bit atomic a warp: they are slow under contention.
  for (uint32_t distance = 16; distance != 0; distance /= 2) {
    both &= __shfl_xor_sync(kFullWarp, both, distance);
    any |= __shfl_xor_sync(kFullWarp, any, distance);
  }
  if (lane_id() == 0) {
    atomicAnd(&all_and, static_cast<unsigned long long>(both));
    atomicOr(&all_or, static_cast<unsigned long long>(any));
  }
}

// So many of a thread's sampled keys are under way at once.
constexpr uint32_t kSampleAhead = 8;

// Loads a thread's sampled keys from number `first` on.
template <class Sample, uint32_t kThreads, class U>
__device__ __forceinline__ void load_sampled(const U *keys_in, uint64_t n, const KeyCodec<U> &codec, uint32_t first,
                                             U (&keys)[kSampleAhead]) {
  static_assert(Sample::kItems % kSampleAhead == 0, "whole rounds");
#pragma unroll
  for (uint32_t i = 0; i < kSampleAhead; ++i)
    keys[i] = keys_in[sample_place<Sample::kKeys / 4>((first + i) * kThreads + threadIdx.x, n)];
#pragma unroll
  for (uint32_t i = 0; i < kSampleAhead; ++i) keys[i] = codec.encode(keys[i]);
}

// What the block counts of a sample, in shared memory.
struct SampleCounts {
  uint32_t coarse[kCoarseBins];
  uint32_t meetings, closer;  // of equal keys, and of those that share one of 2^Sample::kMeetingBits parts of the range
  uint32_t repeated;
  unsigned long long all_and, all_or;
};

// Counts a thread's sampled keys by coarse bin, and those that meet another in a fine part of the range; neighbours
// that do are taken for one, as in sorted data. keys: the last of them that were loaded. seen: a clear table.
template <class Sample, uint32_t kThreads, class U>
__device__ __forceinline__ void count_parts(const U *keys_in, uint64_t n, const KeyCodec<U> &codec, uint32_t range_bits,
                                            U (&keys)[kSampleAhead], uint32_t *seen, SampleCounts &counts) {
  constexpr uint32_t kBits = Sample::kMeetingBits;
  const uint32_t shift = range_bits > 8 ? range_bits - 8 : 0, fine_shift = range_bits > kBits ? range_bits - kBits : 0;
#pragma unroll 1
  for (uint32_t first = 0; first < Sample::kItems; first += kSampleAhead) {
    // From the cache, if all do not fit the registers.
    if (Sample::kItems != kSampleAhead) load_sampled<Sample, kThreads>(keys_in, n, codec, first, keys);
#pragma unroll
    for (uint32_t i = 0; i < kSampleAhead; ++i) {
      atomicAdd(&counts.coarse[static_cast<uint32_t>(keys[i] >> shift) & (kCoarseBins - 1)], 1);
      const uint32_t part = static_cast<uint32_t>(keys[i] >> fine_shift) & ((1u << kBits) - 1);
      if (!repeats(part) && mark_slot(part, seen)) atomicAdd(&counts.closer, 1);
    }
  }
}

// Clears what a look at a sample counts.
template <class Sample, uint32_t kThreads>
__device__ __forceinline__ void open_sample(uint32_t *seen, SampleCounts &counts) {
  clear_slots<kThreads>(Sample::kMeetingBits, seen);
  if (threadIdx.x < kCoarseBins) counts.coarse[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    counts.meetings = counts.closer = counts.repeated = 0;
    counts.all_and = ~0ull, counts.all_or = 0;
  }
}

// A block of kThreads looks at a sample; every thread learns the same. kRuns: runs of equal keys are no sign that there
// are few values. seen: a bit table of 2^Sample::kMeetingBits bits in shared memory.
template <class Sample, uint32_t kThreads, bool kRuns, class U>
__device__ __forceinline__ SampleView<U> look_at_sample(const U *keys_in, uint64_t n, const KeyCodec<U> &codec,
                                                        uint32_t *seen) {
  __shared__ SampleCounts counts;
  open_sample<Sample, kThreads>(seen, counts);
  __syncthreads();
  uint64_t both = ~0ull, any = 0;
  uint32_t repeated = 0;
  U keys[kSampleAhead];
#pragma unroll 1
  for (uint32_t first = 0; first < Sample::kItems; first += kSampleAhead) {
    load_sampled<Sample, kThreads>(keys_in, n, codec, first, keys);
#pragma unroll
    for (uint32_t i = 0; i < kSampleAhead; ++i) {
      const U key = keys[i];
      both &= key;
      any |= key;
      if constexpr (kRuns) {
        if (repeats(key)) {
          ++repeated;
          continue;
        }
      }
      if (meets_another(key, Sample::kMeetingBits, seen)) atomicAdd(&counts.meetings, 1);
    }
  }
  collect_bits(both, any, counts.all_and, counts.all_or);
  repeated = warp_sum(repeated);
  if (lane_id() == 0) atomicAdd(&counts.repeated, repeated);
  __syncthreads();
  clear_slots<kThreads>(Sample::kMeetingBits, seen);
  __syncthreads();
  SampleView<U> view;
  view.bits = static_cast<U>(counts.all_and), view.differ = static_cast<U>(counts.all_and ^ counts.all_or);
  view.range_bits = bit_width(view.differ);
  count_parts<Sample, kThreads>(keys_in, n, codec, view.range_bits, keys, seen, counts);
  __syncthreads();
  const bool crowded = threadIdx.x < kCoarseBins && counts.coarse[threadIdx.x] > Sample::kCoarseCountMax;
  view.crowded = __syncthreads_or(crowded);
  view.many_equal = counts.meetings > Sample::kMeetingsMax;
  view.few_values = counts.meetings > Sample::kKeys / 8;
  view.mostly_equal = counts.meetings > Sample::kKeys / 4 * 3;
  view.closer = counts.closer > counts.meetings + Sample::kCloserMax;
  view.clumped = counts.closer > counts.meetings + Sample::kKeys / 8 * 3;
  view.runs = counts.repeated > runs_least(Sample::kKeys);
  return view;
}

// The part of a key that all have in common, where range_bits of it differ.
template <class U>
__device__ __forceinline__ U common_prefix(U bits, uint32_t range_bits) {
  const U below = range_bits >= sizeof(U) * 8 ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << range_bits) - 1);
  return bits & static_cast<U>(~below);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SAMPLE_CUH_
