// SPDX-License-Identifier: MIT OR Apache-2.0
// The sample and the splitters that it gives. Items are ordered by key and then by place, so that no two are equal:
// every bucket is as large as planned, whatever the keys, and equal keys stay in their order.
#ifndef GSORT_CUDA_SORT_IN_PLACE_SPLITTERS_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_SPLITTERS_CUH_

#include <cstdint>

#include "cuda/primitive/hash.cuh"
#include "cuda/primitive/search.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/in_place/job.cuh"

namespace gsort_internal::sort::in_place {

constexpr uint32_t kSampleThreads = 256;
constexpr uint32_t kSplitterThreads = 512;

// One key of every equal part of the input, at any place of the part: no period of the input meets the sample's, and
// its error is at most that of as many keys drawn from anywhere.
template <class U>
__device__ __forceinline__ uint64_t sampled_place(const KeyJob<U> &job, uint64_t i) {
  return i * job.sample_part + mix_bits(i) % job.sample_part;
}

template <class U>
__global__ void __launch_bounds__(kSampleThreads) sample_kernel(const __grid_constant__ KeyJob<U> job) {
  if constexpr (!kHasCodeHere<sizeof(U)>) return;
  const uint64_t i = uint64_t{blockIdx.x} * kSampleThreads + threadIdx.x;
  if (i < job.samples && !job.is_done()) job.sample[i] = job.keys_in[sampled_place(job, i)];
}

// The number of the sample's sorted keys below `key`, or not above it.
template <bool kEqualToo, class U>
__device__ __forceinline__ uint64_t count_below(const KeyJob<U> &job, U key) {
  return first_that(job.samples, [&](uint64_t i) {
    const U other = job.codec.encode(job.sample_sorted[i]);
    return kEqualToo ? other > key : other >= key;
  });
}

// Of the sample as it was drawn, the number of the `wanted`-th key with the bits of `key`. By a block, the answer in
// `found`, in shared memory, after a barrier.
template <class U>
__device__ __forceinline__ void find_equal(const KeyJob<U> &job, U key, uint64_t wanted, uint64_t *found) {
  __shared__ uint64_t warp_counts[kSplitterThreads / 32];
  const uint64_t each = (job.samples + kSplitterThreads - 1) / kSplitterThreads;
  const uint64_t begin = min(threadIdx.x * each, job.samples), end = min(begin + each, job.samples);
  uint64_t count = 0;
#pragma unroll 4
  for (uint64_t i = begin; i < end; ++i) count += job.sample[i] == key;
  const uint64_t inclusive = warp_inclusive_sum(count);
  if (lane_id() == 31) warp_counts[threadIdx.x / 32] = inclusive;
  __syncthreads();
  uint64_t before = inclusive - count;
  for (uint32_t i = 0; i < threadIdx.x / 32; ++i) before += warp_counts[i];
  if (before <= wanted && wanted < before + count) {
    uint64_t i = begin;
    for (uint64_t left = wanted - before;; ++i)
      if (job.sample[i] == key && left-- == 0) break;
    *found = i;
  }
  __syncthreads();
}

// A block a splitter. Where the sample has its key once, items of that key are so few that all may go to one side.
template <class U>
__global__ void __launch_bounds__(kSplitterThreads) splitters_kernel(const __grid_constant__ KeyJob<U> job) {
  if constexpr (!kHasCodeHere<sizeof(U)>) return;
  __shared__ uint64_t found;
  if (job.is_done()) return;
  const uint32_t i = blockIdx.x;
  U key = static_cast<U>(~U{0});
  uint64_t place = ~uint64_t{0};  // past the last bucket: nothing reaches it
  if (i + 1 < job.buckets) {
    const uint64_t rank = job.samples * (i + 1) / job.buckets;
    const U raw = job.sample_sorted[rank];
    key = job.codec.encode(raw);
    place = 0;
    const uint64_t below = count_below<false>(job, key), upto = count_below<true>(job, key);
    if (upto - below > 1) {
      find_equal(job, raw, rank - below, &found);
      place = sampled_place(job, found);
    }
  }
  if (threadIdx.x != 0) return;
  job.state->splitter[i] = key;
  job.state->splitter_place[i] = place;
}

// Splitters in shared memory.
template <class U>
struct Splitters {
  U key[kBucketsMax];
  uint64_t place[kBucketsMax];

  // By the first threads of a block; ends without a barrier.
  __device__ __forceinline__ void load(const State &state) {
    if (threadIdx.x >= kBucketsMax) return;
    key[threadIdx.x] = static_cast<U>(__ldcg(&state.splitter[threadIdx.x]));
    place[threadIdx.x] = __ldcg(&state.splitter_place[threadIdx.x]);
  }

  // The number of splitters that the item reaches.
  __device__ __forceinline__ uint32_t bucket_of(U ordered, uint64_t at) const {
    uint32_t bucket = 0;
#pragma unroll
    for (uint32_t step = kBucketsMax / 2; step != 0; step /= 2) bucket += key[bucket + step - 1] < ordered ? step : 0;
    while (key[bucket] == ordered && at >= place[bucket]) ++bucket;  // ends at the last, whose place is past all
    return bucket;
  }
};

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_SPLITTERS_CUH_
