// SPDX-License-Identifier: MIT OR Apache-2.0
// First kernel of the sample sort: every block draws the same sample and finds the ranks of some of its keys.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_SAMPLE_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_SAMPLE_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/hash.cuh"
#include "cuda/sort/msd/count.cuh"
#include "cuda/sort/sample_sort/splitters.cuh"
#include "cuda/sort/sample_sort/tables.h"

namespace gsort_internal::sort::sample_sort {

constexpr uint32_t kSampleThreads = 1024;
constexpr uint32_t kRanked = 32;  // sampled keys that a block finds the ranks of
constexpr uint32_t kSampleBlocks = kSample / kRanked;

// 4-byte keys are sorted where the blocks of a grid hold them, and nowhere else.
template <class U>
constexpr bool kSortsHere = kFitsHere<msd::kSharedBytesMin> && (sizeof(U) == 8 || kClustersHere);

template <class U>
struct SampleStorage {
  union {
    alignas(16) U sample[kSample];
    alignas(16) uint32_t seen[(1u << msd::SmallSample::kMeetingBits) / 32];  // by the look at even keys
  };
  uint32_t ranks[kRanked];
};

// Sampled keys are one of each of equal parts of the input, at hashed places, which no period of the data meets.
template <class U>
__device__ __forceinline__ void draw_sample(const U *keys_in, uint32_t n, const KeyCodec<U> &codec, U *sample) {
  constexpr uint32_t kItems = kSample / kSampleThreads;
  const uint32_t part = n / kSample;
  U keys[kItems];
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    const uint32_t number = i * kSampleThreads + threadIdx.x;
    keys[i] = __ldcg(keys_in + number * part + __umulhi(mix_bits(number), part));
  }
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) sample[i * kSampleThreads + threadIdx.x] = codec.encode(keys[i]);
}

template <class U>
__device__ __forceinline__ bool are_sorted(const Arguments<U> &arguments) {
  return arguments.sorted != nullptr && *arguments.sorted != 0;
}

// Looks whether keys spread evenly, for the kernels of the MSD sort behind this one, and clears what they count in.
template <class U>
__device__ __forceinline__ void look_for_even_keys(const U *keys_in, uint32_t n, const KeyCodec<U> &codec,
                                                   const msd::Arguments<U> &even, SampleStorage<U> &storage) {
  static_assert(msd::kSampleThreads == kSampleThreads && msd::kBinsMax <= kSampleThreads, "a thread a cell");
  if (threadIdx.x < 1u << even.plan.cell_bits) even.cells[threadIdx.x] = 0;
  const msd::SampleView<U> view =
      msd::look_at_sample<msd::SmallSample, kSampleThreads, true>(keys_in, n, codec, storage.seen);
  if (threadIdx.x == 0) *even.state = msd::decide(view, even.plan, false);
}

// Also clears what later kernels count in. One block more than kSampleBlocks, if even keys are looked for; `even` is of
// a sort by one pass then.
template <class U>
__global__ void __launch_bounds__(kSampleThreads)
    sample_kernel(const U *keys_in, uint32_t n, KeyCodec<U> codec, Arguments<U> arguments, msd::Arguments<U> even) {
  if constexpr (!kSortsHere<U>) return;
  __shared__ SampleStorage<U> storage;
  wait_for_kernel_before();
  if (!arguments.looks && are_sorted(arguments)) return;
  if (blockIdx.x == kSampleBlocks) return look_for_even_keys(keys_in, n, codec, even, storage);
  if (blockIdx.x == 0) {
    static_assert(kBins == kSampleThreads, "a thread a bin");
    arguments.bin_counts[threadIdx.x] = arguments.room[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
      State &state = *arguments.state;
      state.tickets = state.differing = state.equal = state.repeated = 0;
    }
  }
  if (threadIdx.x < kRanked) storage.ranks[threadIdx.x] = 0;
  draw_sample(keys_in, n, codec, storage.sample);
  __syncthreads();
  constexpr uint32_t kSlice = kSample / (kSampleThreads / 32);
  const uint32_t own = blockIdx.x * kRanked + lane_id(), begin = threadIdx.x / 32 * kSlice;
  atomicAdd(&storage.ranks[lane_id()], rank_in_slice(storage.sample, begin, begin + kSlice, own));
  __syncthreads();
  if (threadIdx.x >= kRanked) return;
  const uint32_t rank = storage.ranks[threadIdx.x];
  arguments.sample[rank] = storage.sample[own];
  if (rank % (kSample / kBins) == 0) arguments.splitters[rank / (kSample / kBins)] = storage.sample[own];
}

// The least key of bin `bin`.
template <class U>
__device__ __forceinline__ U bin_start(const U *splitters, uint32_t bin) {
  return part_start<kBins, U>(bin, [&](uint32_t i) { return __ldcg(splitters + i); });
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_SAMPLE_CUH_
