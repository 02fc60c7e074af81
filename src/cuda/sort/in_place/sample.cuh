// SPDX-License-Identifier: MIT OR Apache-2.0
// The sample and the splitters that it gives.
#ifndef GSORT_CUDA_SORT_IN_PLACE_SAMPLE_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_SAMPLE_CUH_

#include <cstdint>

#include "cuda/primitive/hash.cuh"
#include "cuda/sort/in_place/job.cuh"

namespace gsort_internal::sort::in_place {

constexpr uint32_t kSampleThreads = 256;
constexpr uint32_t kSplitterThreads = 32;

// What decides between equal keys: they go to both sides of a splitter in the proportion of the sample, so that a value
// that fills buckets fills them evenly. 31 bits: below the tie of a splitter that nothing reaches.
__device__ __forceinline__ uint32_t tie_of(uint64_t place) { return mix_bits(static_cast<uint32_t>(place)) >> 1; }
constexpr uint32_t kNoTie = ~0u;

// One key of every equal part of the input, at any place of the part: no period of the input meets the sample's, and
// its error is at most that of as many keys drawn from anywhere.
template <class U>
__global__ void __launch_bounds__(kSampleThreads) sample_kernel(Job<U> job) {
  const uint64_t i = uint64_t{blockIdx.x} * kSampleThreads + threadIdx.x;
  if (i >= job.samples) return;
  job.sample[i] = job.keys_in[i * job.sample_part + mix_bits(i) % job.sample_part];
}

// The number of sorted keys below `key`, or not above it.
template <bool kEqualToo, class U>
__device__ __forceinline__ uint64_t count_below(const Job<U> &job, U key) {
  uint64_t begin = 0, end = job.samples;
  while (begin < end) {
    const uint64_t middle = (begin + end) / 2;
    const U other = job.codec.encode(job.sample[middle]);
    if (kEqualToo ? other <= key : other < key)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// A warp: a splitter each. The sample is sorted.
template <class U>
__global__ void __launch_bounds__(kSplitterThreads) splitters_kernel(Job<U> job) {
  const uint32_t i = threadIdx.x;
  uint32_t tie = kNoTie;
  if (i < kBucketsMax) {
    U key = static_cast<U>(~U{0});
    if (i + 1 < job.buckets) {
      const uint64_t place = job.samples * (i + 1) / job.buckets;
      key = job.codec.encode(job.sample[place]);
      const uint64_t below = count_below<false>(job, key), upto = count_below<true>(job, key);
      tie = static_cast<uint32_t>(((place - below) << 31) / (upto - below));
    }
    job.state->splitter[i] = key;
    job.state->splitter_tie[i] = tie;
  }
  const bool asks = __any_sync(~0u, tie != 0 && tie != kNoTie);
  if (i == 0) job.state->has_ties = asks;
}

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_SAMPLE_CUH_
