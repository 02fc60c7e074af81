// SPDX-License-Identifier: MIT OR Apache-2.0
// Order within a group of keys that share a digit of the finish.
#ifndef GSORT_CUDA_SORT_MSD_GROUPS_CUH_
#define GSORT_CUDA_SORT_MSD_GROUPS_CUH_

#include <cstdint>

#include "cuda/primitive/group_sort.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/plan.h"

namespace gsort_internal::sort::msd {

// The most keys of one digit that the windows put in order: with one key a digit on average, 1 cell in 100 has more.
constexpr uint32_t kWindowGroup = 8;
constexpr uint32_t kWindowHalo = kWindowGroup - 1;

// With one key a digit on average every second cell has no more, with 0.8 keys five of six: narrower windows do.
constexpr uint32_t kFewGroup = 6;

// The most keys of one digit that one warp puts in order; more are for the whole block.
constexpr uint32_t kWarpGroup = 1024;

template <class U>
struct Groups {
  static constexpr uint32_t kKeys = BlockShape<sizeof(U)>::kFinishKeysMax;
  // Groups of more than m keys begin more than m apart, so the place of its begin over m + 1 is a slot of its own.
  // Begin in the lower half of a word, size in the upper half; 0: no group.
  uint32_t large[kKeys / (kWindowGroup + 1) + 1];
  uint32_t huge[kKeys / (kWarpGroup + 1) + 1];
};

// By one warp. Returns whether the group is left to the whole block.
template <class U>
__device__ __forceinline__ bool sort_group_by_warp(U *keys, uint32_t count) {
  if (count > kWarpGroup) return true;
  const U first = keys[0];
  bool differ = false;
  for (uint32_t i = lane_id(); i < count; i += 32) differ |= keys[i] != first;
  if (!__any_sync(kFullWarp, differ)) return false;
  if (count <= 32)
    sort_few(keys, count);
  else
    network_sort<WarpTeam>(keys, count);
  return false;
}

// By the block, if the keys are not all equal.
template <class U>
__device__ __forceinline__ void sort_group_by_block(U *keys, uint32_t count) {
  const U first = keys[0];
  bool differ = false;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) differ |= keys[i] != first;
  if (__syncthreads_or(differ)) network_sort<BlockTeam>(keys, count);
}

// Sorts the groups that are listed, most of which a warp can. Begins and ends with a barrier.
template <class U>
__device__ __forceinline__ void sort_listed_groups(U *keys, Groups<U> &groups) {
  constexpr uint32_t kLarge = sizeof(groups.large) / 4, kHuge = sizeof(groups.huge) / 4;
  __syncthreads();
  // A warp takes 32 neighbouring slots at a time, which have about equally many keys.
  for (uint32_t base = threadIdx.x / 32 * 32; base < kLarge; base += blockDim.x) {
    const uint32_t own = base + lane_id() < kLarge ? groups.large[base + lane_id()] : 0;
    for (uint32_t left = __ballot_sync(kFullWarp, own != 0); left != 0; left &= left - 1) {
      const uint32_t group = __shfl_sync(kFullWarp, own, __ffs(static_cast<int>(left)) - 1), begin = group & 0xffffu;
      if (sort_group_by_warp(keys + begin, group >> 16) && lane_id() == 0)
        groups.huge[begin / (kWarpGroup + 1)] = group;
    }
  }
  __syncthreads();
  for (uint32_t i = 0; i < kHuge; ++i)
    if (groups.huge[i] != 0) sort_group_by_block(keys + (groups.huge[i] & 0xffffu), groups.huge[i] >> 16);
  __syncthreads();
}

// Puts the keys of every digit that has more than the windows order in order, where they are not all equal. keys: by
// digit; counters: place of each digit's first key. All threads of the block call it, behind a barrier.
template <class U>
__device__ __noinline__ void sort_large_groups(U *keys, uint32_t count, const uint32_t *counters, Groups<U> &groups) {
  constexpr uint32_t kLarge = sizeof(groups.large) / 4, kHuge = sizeof(groups.huge) / 4;
  for (uint32_t i = threadIdx.x; i < kLarge; i += blockDim.x) groups.large[i] = 0;
  if (threadIdx.x < kHuge) groups.huge[threadIdx.x] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kFinishDigits; i += blockDim.x) {
    const uint32_t begin = counters[i], end = i + 1 < kFinishDigits ? counters[i + 1] : count;
    if (end - begin > kWindowGroup) groups.large[begin / (kWindowGroup + 1)] = begin | (end - begin) << 16;
  }
  sort_listed_groups(keys, groups);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_GROUPS_CUH_
