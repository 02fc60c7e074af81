// SPDX-License-Identifier: MIT OR Apache-2.0
// First kernels of the stable sample sort: blocks sort runs of a sample, and find every key's place in all of it.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_SAMPLE_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_SAMPLE_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/clear_memory.cuh"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/hash.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/stable_state.cuh"
#include "cuda/sort/sample_sort/splitters.cuh"
#include "cuda/sort/sample_sort/stable_tables.h"

namespace gsort_internal::sort::sample_sort {

// A device that takes this sort has clusters, and as much shared memory as the finish with splitters wants.
constexpr bool kStableSortsHere = kClustersHere && kFitsHere<msd::kStableMapSharedBytesMin>;

GSORT_HOST_DEVICE msd::StableState *state_of(const StableTables &tables) {
  return reinterpret_cast<msd::StableState *>(tables.state);
}

// A sampled key: one of each of equal parts of the input, at hashed places, which no period of the data meets.
__device__ __forceinline__ uint32_t stable_sampled_place(uint32_t number, uint32_t n) {
  const auto begin = [n](uint32_t part) { return static_cast<uint32_t>(uint64_t{part} * n / kStableSample); };
  return begin(number) + __umulhi(mix_bits(number), begin(number + 1) - begin(number));
}

// Four blocks a run, which they sort; they also tell the bits that all its keys have, and some. Clears what later
// kernels count in.
constexpr uint32_t kStableDrawThreads = kStableRun / 4;
constexpr uint32_t kStableDrawBlocks = kStableSample / kStableDrawThreads;
__global__ void __launch_bounds__(kStableDrawThreads)
    stable_draw_kernel(const uint64_t *keys_in, uint32_t n, KeyCodec<uint64_t> codec, Cleared cleared,
                       StableTables tables) {
  if constexpr (!kStableSortsHere) return;
  __shared__ __align__(16) uint64_t run[kStableRun];
  __shared__ unsigned long long all, some;
  wait_for_kernel_before();
  const uint32_t number = blockIdx.x / 4, first = number * kStableRun, own = blockIdx.x % 4 * kStableDrawThreads;
  uint64_t keys[4];
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i)
    keys[i] = __ldcg(keys_in + stable_sampled_place(first + i * kStableDrawThreads + threadIdx.x, n));
  const uint32_t thread = blockIdx.x * kStableDrawThreads + threadIdx.x;
  clear_memory(cleared, thread, gridDim.x * kStableDrawThreads);
  static_assert(kStableSample >= kStableGroups << kStableBinBits, "a thread a counter");
  if (thread < kStableGroups << kStableBinBits) tables.group_counts[thread] = 0;
  if (thread == 0) tables.range[0] = ~uint64_t{0}, tables.range[1] = 0;
  if (threadIdx.x == 0) all = ~0ull, some = 0;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) keys[i] = run[i * kStableDrawThreads + threadIdx.x] = codec.encode(keys[i]);
  __syncthreads();
  tables.sample[first + rank_in_slice(run, 0, kStableRun, own + threadIdx.x)] = run[own + threadIdx.x];
  if (own != 0) return;
  const uint64_t warp_some = warp_or(keys[0] | keys[1] | keys[2] | keys[3]);
  const uint64_t warp_all = ~warp_or(~(keys[0] & keys[1] & keys[2] & keys[3]));
  if (lane_id() == 0) atomicAnd(&all, warp_all), atomicOr(&some, warp_some);
  __syncthreads();
  if (threadIdx.x == 0) tables.run_bits[2 * number] = all, tables.run_bits[2 * number + 1] = some;
}

// How many of a sorted run's keys are less than `key`, or with or_equal not greater.
__device__ __forceinline__ uint32_t count_in_run(const uint64_t *run, uint64_t key, bool or_equal) {
  uint32_t before = 0;
#pragma unroll
  for (uint32_t step = kStableRun / 2; step != 0; step /= 2) {
    const uint64_t other = run[before + step - 1];
    before += other < key || (or_equal && other == key) ? step : 0;
  }
  return before + (run[before] < key || (or_equal && run[before] == key) ? 1 : 0);
}

constexpr uint32_t kStableRanked = 192;  // sampled keys that a block finds the ranks of
constexpr uint32_t kStableRankBlocks = kStableSample / kStableRanked;
constexpr uint32_t kStableRankThreads = 5 * kStableRanked;
constexpr uint32_t kStableSampleBytes = kStableSample * 8;
static_assert(kStableRankBlocks * kStableRanked == kStableSample && kStableRuns * kStableRun == kStableSample,
              "all are ranked");

// Digits of eight bits in which sampled keys differ: a radix sort takes a pass for each. By a whole warp.
__device__ __forceinline__ uint32_t varying_digits(const uint64_t *run_bits) {
  uint64_t not_all = 0, some = 0;
  for (uint32_t run = lane_id(); run < kStableRuns; run += 32) {
    not_all |= ~__ldcg(run_bits + 2 * run);
    some |= __ldcg(run_bits + 2 * run + 1);
  }
  uint32_t digits = 0;
  for (uint64_t bits = warp_or(not_all) & warp_or(some); bits != 0; bits >>= 8) digits += (bits & 0xff) != 0;
  return digits;
}

// Sorts the sample, and begins the state. Dynamic shared memory: the sample.
__global__ void __launch_bounds__(kStableRankThreads) stable_rank_kernel(StableTables tables) {
  if constexpr (!kStableSortsHere) return;
  extern __shared__ __align__(16) uint64_t sample[];
  __shared__ uint32_t ranks[kStableRanked];
  wait_for_kernel_before();
  const uint32_t digits = varying_digits(tables.run_bits);
  const bool go = digits > kStablePassesMax;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    msd::StableState begun = {};
    begun.go = begun.sorted = go;
    begun.way = msd::StableWay::kSplitters;
    begun.passes = digits;
    *state_of(tables) = begun;
  }
  if (!go) return;
#pragma unroll 4
  for (uint32_t i = threadIdx.x; i < kStableSample / 2; i += kStableRankThreads)
    reinterpret_cast<uint4 *>(sample)[i] = __ldcg(reinterpret_cast<const uint4 *>(tables.sample) + i);
  if (threadIdx.x < kStableRanked) ranks[threadIdx.x] = 0;
  __syncthreads();
  const uint32_t ranked = threadIdx.x % kStableRanked, own = blockIdx.x * kStableRanked + ranked;
  const uint64_t key = sample[own];
  uint32_t before = 0;
#pragma unroll 5
  for (uint32_t run = threadIdx.x / kStableRanked; run < kStableRuns; run += kStableRankThreads / kStableRanked) {
    // Equal keys in the order of the runs.
    before += run == own / kStableRun ? own % kStableRun
                                      : count_in_run(sample + run * kStableRun, key, run < own / kStableRun);
  }
  atomicAdd(&ranks[ranked], before);
  __syncthreads();
  if (threadIdx.x < kStableRanked) tables.sorted[ranks[threadIdx.x]] = key;
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_SAMPLE_CUH_
