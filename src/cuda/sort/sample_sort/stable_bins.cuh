// SPDX-License-Identifier: MIT OR Apache-2.0
// The bins of the stable sample sort, out of the sorted sample.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_BINS_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_BINS_CUH_

#include <cstdint>

#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/sort/sample_sort/splitters.cuh"
#include "cuda/sort/sample_sort/stable_plan.h"

namespace gsort_internal::sort::sample_sort {

// In shared memory. A bin has the keys from its start to the next one's.
template <uint32_t kBits>
struct StableBins {
  static constexpr uint32_t kBins = 1u << kBits;
  static constexpr uint32_t kApart = stable_apart(kBits), kSplitters = (kStableSample + kApart - 1) / kApart;
  static_assert(kBins <= kStableThreads && kSplitters < kBins, "a thread a bin, and some to spare");

  uint64_t tree[kBins];
  uint64_t starts[kBins + 1];  // 0 behind the last
  uint32_t warp_totals[32];
};

// The sampled keys that are the one at `place` of the sorted sample: how many lie before it, and how many from it on.
// Those `apart` places before and behind are others.
struct SampledRun {
  uint32_t before, from;
};
__device__ __forceinline__ SampledRun sampled_run(const uint64_t *sorted, uint32_t place, uint32_t apart,
                                                  uint64_t key) {
  const bool before = place > 0 && __ldcg(sorted + place - 1) == key;
  const bool behind = place + 1 < kStableSample && __ldcg(sorted + place + 1) == key;
  if (!before && !behind) return {0, 1};
  uint32_t first = place - min(place, apart - 1), end = min(place + apart, kStableSample);
  for (uint32_t last = place; first < last;) {
    const uint32_t middle = (first + last) / 2;
    if (__ldcg(sorted + middle) == key)
      last = middle;
    else
      first = middle + 1;
  }
  for (uint32_t begin = place + 1; begin < end;) {
    const uint32_t middle = (begin + end) / 2;
    if (__ldcg(sorted + middle) == key)
      begin = middle + 1;
    else
      end = middle;
  }
  return {place - first, end - place};
}

// Where the widest gap among the sampled keys of a bin ends: `places` of them from `place` on, and the next bin's
// first.
__device__ __forceinline__ uint32_t widest_gap(const uint64_t *sorted, uint32_t place, uint32_t places) {
  uint64_t before = __ldcg(sorted + place), widest = 0;
  uint32_t end = place + 1;
#pragma unroll 8
  for (uint32_t i = place + 1; i <= place + places; ++i) {
    const uint64_t key = __ldcg(sorted + i);
    if (key - before > widest) widest = key - before, end = i;
    before = key;
  }
  return end;
}

__device__ __forceinline__ bool is_wide(uint64_t start, uint64_t next_start) {
  return next_start != start && (next_start - start - 1) >> kStableWideBits != 0;
}

// A splitter, its neighbours, and what becomes of it. By a thread each.
struct StableSplitter {
  uint64_t key, before, behind;
  uint64_t next;  // sampled key
  bool exists, is_first, is_last;

  __device__ __forceinline__ bool repeats() const { return !is_first && before == key; }
  __device__ __forceinline__ bool ends() const { return is_last || behind != key; }
  // Whether a bin can begin behind its value.
  __device__ __forceinline__ bool may_move() const { return exists && !is_first && ends() && key != ~uint64_t{0}; }
  // Whether the distances to its neighbours differ much, as they do in clusters of clusters.
  __device__ __forceinline__ bool is_crowded() const {
    if (!exists || is_first || is_last) return false;
    const uint64_t least = min(key - before, behind - key), most = max(key - before, behind - key);
    return least != 0 && most >> kStableCrowdedBits > least;
  }
  // Whether the next sampled key is far closer than keys of the bin are on average, as where few leading values come
  // with many following ones. apart: sampled keys from one splitter to the next.
  __device__ __forceinline__ bool is_dense(uint32_t apart) const {
    if (!exists || is_last) return false;
    return next != key && (behind - key) / apart >> kStableDenseBits > next - key;
  }
};

template <uint32_t kBits>
__device__ __forceinline__ StableSplitter load_splitter(const uint64_t *sorted, uint64_t *splitters) {
  constexpr uint32_t kApart = StableBins<kBits>::kApart, kSplitters = StableBins<kBits>::kSplitters;
  const uint32_t own = threadIdx.x;
  StableSplitter splitter = {0, 0, 0, 0, own < kSplitters, own == 0, own + 1 >= kSplitters};
  static_assert(kApart > 1, "there are keys between splitters");
  if (splitter.exists) {
    splitters[own] = splitter.key = __ldcg(sorted + own * kApart);
    splitter.next = __ldcg(sorted + own * kApart + 1);
  }
  __syncthreads();
  splitter.before = splitters[splitter.is_first ? 0 : min(own, kSplitters) - 1];
  splitter.behind = splitters[splitter.is_last ? kSplitters - 1 : own + 1];
  return splitter;
}

// Makes the bins out of the sorted sample, every block for itself: one begins at each splitter. The last of several
// equal ones stands for the next value, so that the bin before has one value alone. While there is room, a value that
// has a third of a bin's sampled keys and a splitter has a bin of its own, and so has a gap in a wide bin. Other
// splitters whose value comes more than once stand where fewer of its keys are on the wrong side. Returns whether the
// keys are crowded. splitters: room for as many words as there are bins. By kStableThreads; ends with a barrier.
template <uint32_t kBits>
__device__ __forceinline__ bool make_bins(const uint64_t *sorted, uint64_t *splitters, StableBins<kBits> &bins) {
  using Bins = StableBins<kBits>;
  const uint32_t own = threadIdx.x, place = own * Bins::kApart;
  if (own < Bins::kBins) bins.starts[own] = ~uint64_t{0};
  if (own == 0) bins.starts[Bins::kBins] = 0;
  const StableSplitter splitter = load_splitter<kBits>(sorted, splitters);
  const uint32_t crowded =
      static_cast<uint32_t>(__syncthreads_count(splitter.is_crowded() || splitter.is_dense(Bins::kApart)));
  SampledRun run = {0, 1};
  if (splitter.may_move() && !splitter.repeats()) run = sampled_run(sorted, place, Bins::kApart, splitter.key);
  const bool comes_often = run.before + run.from >= Bins::kApart / 3;
  const bool may_have_gap = splitter.exists && !splitter.is_last && is_wide(splitter.key, splitter.behind);
  uint32_t more = comes_often ? 1 : may_have_gap ? 2 : 0, total;
  const uint32_t wanted_before = block_exclusive_sum<kStableThreads>(more, bins.warp_totals, total);
  if (wanted_before + more > Bins::kBins - Bins::kSplitters) more = 0;  // no room
  const uint32_t more_before = block_exclusive_sum<kStableThreads>(more, bins.warp_totals, total);
  if (splitter.exists) {
    uint64_t *const starts = bins.starts + own + more_before;
    const bool is_behind = splitter.repeats() || (more == 0 && run.before > run.from);
    starts[0] = splitter.is_first ? 0 : splitter.key + (splitter.may_move() && is_behind ? 1 : 0);
    if (more == 1) starts[1] = splitter.key + 1;
    if (more == 2) {
      const uint32_t end = widest_gap(sorted, place, Bins::kApart);
      starts[1] = __ldcg(sorted + end - 1) + 1;
      starts[2] = __ldcg(sorted + end);
    }
  }
  __syncthreads();
  if (own > 0 && own < Bins::kBins) bins.tree[own] = bins.starts[part_of_node<kBits>(own)];
  __syncthreads();
  return crowded > Bins::kSplitters / kStableCrowdedShare;
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_BINS_CUH_
