// SPDX-License-Identifier: MIT OR Apache-2.0
// Where a sorted sample is cut, and how a key finds its part: for the splitters of the stable MSD sort.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_CUTS_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_CUTS_CUH_

#include <cstdint>

#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/sort/msd/stable_state.cuh"

namespace gsort_internal::sort::msd {

constexpr uint32_t kStableCutThreads = 1024;

// A sorted sample, in shared memory, and how it is to be cut into parts of `share` of its keys.
struct StableSample {
  const uint64_t *keys;
  uint32_t count, share;

  // A value that has half of a share gets a part of its own. What lies between it and the next such value gets one,
  // too, where a sampled key does, or where the first is so frequent that both together could be too much.
  __device__ __forceinline__ uint32_t often() const { return (share + 1) / 2; }
  __device__ __forceinline__ bool ends_run(uint32_t i, uint32_t length) const {
    return i >= length && keys[i - 1] == keys[i - length];
  }

  // The parts that begin between sampled key i - 1 and sampled key i, at most two: calls begin(start) for each, in
  // ascending order. i: up to `count`.
  template <class Begin>
  __device__ __forceinline__ void visit_cuts(uint32_t i, Begin begin) const {
    const bool is_end = i == count;
    if (i > 0 && !is_end && keys[i] == keys[i - 1]) return;
    bool starts = false;
    if (!is_end) {
      const uint32_t next = (i + share - 1) / share * share;  // where a part of `share` keys would begin
      starts = (i + often() - 1 < count && keys[i + often() - 1] == keys[i]) ||
               (i > 0 && next < count && keys[next] == keys[i]);
      starts &= keys[i] != 0;  // the first part begins there
    }
    if (ends_run(i, often())) {
      const uint64_t behind = keys[i - 1] + 1;
      const bool touches = !is_end && behind == keys[i];
      starts |= touches;
      if (!touches && behind != 0 && (!starts || ends_run(i, 2 * share))) begin(behind);
    }
    if (starts) begin(keys[i]);
  }
};

// Cuts the sample into at most `most` parts and writes where they begin, the first of them at `least`, `stride` words
// apart; returns how many. The share grows until they are few enough. By a block of kStableCutThreads.
__device__ __forceinline__ uint32_t cut_stable_sample(StableSample sample, uint32_t most, uint64_t least,
                                                      uint64_t *starts, uint32_t stride, uint32_t *warp_totals) {
  // A thread has neighbouring keys, and the last one what ends with the sample.
  const uint32_t own = sample.count / kStableCutThreads + 1, first = threadIdx.x * own;
  const uint32_t end = min(first + own, sample.count + 1), share = sample.share;
  uint32_t before, cuts;
  for (uint32_t eighths = 8;; ++eighths) {
    sample.share = share * eighths / 8;
    uint32_t found = 0;
    for (uint32_t i = first; i < end; ++i) sample.visit_cuts(i, [&](uint64_t) { ++found; });
    before = block_exclusive_sum<kStableCutThreads>(found, warp_totals, cuts);
    if (cuts < most) break;
    __syncthreads();  // the totals are read
  }
  if (threadIdx.x == 0) starts[0] = least;
  for (uint32_t i = first; i < end; ++i)
    sample.visit_cuts(i, [&](uint64_t start) { starts[++before * stride] = start; });
  return cuts + 1;
}

// The last keys of all parts but the last, as a tree in the order of its levels, the root at 1: of 256 parts, whose
// empty ones at the end have the last key there can be. Children of node k are nodes 2k and 2k + 1. A search so takes
// eight steps, whatever the data, and the nodes of a level lie side by side, most of them in banks of their own.
// start_at(part), part_node(part): of parts 1 to 255.
__device__ __forceinline__ uint32_t part_node(uint32_t part) {
  const uint32_t zeros = static_cast<uint32_t>(__ffs(static_cast<int>(part))) - 1;
  return (kStableBinsMax / 2 >> zeros) + (part >> zeros >> 1);
}
template <class StartAt>
__device__ __forceinline__ void load_part_tree(uint64_t *tree, StartAt start_at) {
  for (uint32_t part = threadIdx.x + 1; part < kStableBinsMax; part += blockDim.x)
    tree[part_node(part)] = start_at(part) - 1;
}

// The parts of some keys at a time, so that their lookups overlap.
template <uint32_t kItems>
__device__ __forceinline__ void find_parts(const uint64_t *tree, const uint64_t *keys, uint32_t (&parts)[kItems]) {
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) parts[i] = 1;
#pragma unroll
  for (uint32_t level = 1; level < kStableBinsMax; level *= 2)
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) parts[i] = 2 * parts[i] + (keys[i] > tree[parts[i]]);
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) parts[i] -= kStableBinsMax;
}

// Values of a part but one: 0 for a part of one value.
__device__ __forceinline__ uint64_t stable_width(const uint64_t *starts, uint32_t part) {
  return starts[part + 1] - starts[part] - 1;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_CUTS_CUH_
