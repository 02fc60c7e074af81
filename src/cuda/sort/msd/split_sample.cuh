// SPDX-License-Identifier: MIT OR Apache-2.0
// The sample that splitters are taken from: every warp finds the rank of one of its keys.
#ifndef GSORT_CUDA_SORT_MSD_SPLIT_SAMPLE_CUH_
#define GSORT_CUDA_SORT_MSD_SPLIT_SAMPLE_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/hash.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/sort/msd/split_bins.cuh"

namespace gsort_internal::sort::msd {

// The number of sampled keys before the warp's own, those that are equal in the order of the sample.
template <class U>
__device__ __forceinline__ uint32_t sampled_rank(const U *sample, uint32_t count, uint32_t own) {
  const U key = sample[own];
  uint32_t before = 0;
#pragma unroll 8
  for (uint32_t i = lane_id(); i < count; i += 32) before += sample[i] < key || (sample[i] == key && i < own);
  return warp_sum(before);
}

// How many keys of a sorted sample lie in clusters of clusters, by its distances: of smooth densities few differ much
// from the next one, see kSplitCrowdedBits. Equal keys have none. By a whole block of kSplitThreads.
template <class U>
__device__ __forceinline__ uint32_t crowded_keys(const U *sample, uint32_t count) {
  uint32_t crowded = 0;
  for (uint32_t first = 1; first + 1 < count; first += kSplitThreads) {
    const uint32_t i = first + threadIdx.x;
    bool differ = false;
    if (i + 1 < count) {
      const U before = static_cast<U>(sample[i] - sample[i - 1]), behind = static_cast<U>(sample[i + 1] - sample[i]);
      const U least = min(before, behind);
      differ = least != 0 && max(before, behind) >> kSplitCrowdedBits > least;
    }
    crowded += static_cast<uint32_t>(__syncthreads_count(differ));
  }
  return crowded;
}

// Whether the keys of a sample differ in so few bytes that the LSD sort, which makes a pass for each, is quicker. By a
// whole block of kSplitThreads.
template <class U>
__device__ __forceinline__ bool differ_in_few_bytes(const U *sample, uint32_t count) {
  U bits = 0;
  for (uint32_t i = threadIdx.x; i < count; i += kSplitThreads) bits |= static_cast<U>(sample[i] ^ sample[0]);
  uint32_t bytes = 0;
#pragma unroll
  for (uint32_t shift = 0; shift < sizeof(U) * 8; shift += 8)
    bytes += __syncthreads_or((bits >> shift & 0xff) != 0) != 0 ? 1 : 0;
  return bytes <= kSplitFewBytes;
}

// A block for as many sampled keys as it has warps. The last one also decides whether the LSD sort is to do the work.
// Dynamic shared memory: SplitStorage.
template <class U>
__global__ void __launch_bounds__(kSplitThreads)
    split_sample_kernel(const U *keys_in, uint64_t n, KeyCodec<U> codec, SplitArguments<U> arguments) {
  extern __shared__ __align__(16) unsigned char shared[];
  SplitStorage<U> &storage = *reinterpret_cast<SplitStorage<U> *>(shared);
  wait_for_kernel_before();
  // Should it be chosen where it does not fit, every input is turned away.
  if (!kFitsHere<kSharedBytesMin> || *arguments.sorted != 0) {
    if (blockIdx.x == 0 && threadIdx.x == 0) arguments.state->go = 0, arguments.state->sorted = *arguments.sorted;
    return;
  }
  const uint32_t count = arguments.plan.sample, part = static_cast<uint32_t>(n / count);
  for (uint32_t i = threadIdx.x; i < count; i += kSplitThreads)
    storage.sample[i] = codec.encode(keys_in[uint64_t{i} * part + __umulhi(mix_bits(i), part)]);
  __syncthreads();
  const uint32_t own = blockIdx.x * (kSplitThreads / 32) + threadIdx.x / 32;
  const uint32_t rank = sampled_rank(storage.sample, count, own);
  if (lane_id() == 0) arguments.sample[rank] = storage.sample[own];
  if (!is_last_block(&arguments.state->tickets, gridDim.x)) return;
  for (uint32_t i = threadIdx.x; i < count; i += kSplitThreads) storage.sample[i] = __ldcg(&arguments.sample[i]);
  __syncthreads();
  const bool go = arguments.always || (!differ_in_few_bytes(storage.sample, count) &&
                                       crowded_keys(storage.sample, count) <= count / kSplitCrowdedShare);
  if (threadIdx.x == 0) arguments.state->go = arguments.state->sorted = go;
  if (!go) return;
  SplitMaker<U>(arguments, storage).make();
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SPLIT_SAMPLE_CUH_
