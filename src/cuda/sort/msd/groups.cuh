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
  uint32_t listed;  // see count_large_groups
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
__device__ __forceinline__ void sort_large_groups(U *keys, uint32_t count, const uint32_t *counters,
                                                  Groups<U> &groups) {
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

// Where at most kLowBitsMax bits of a key lie below its digit, keys of one digit are counted by them instead of
// compared: a thread counts a group of up to kThreadGroup keys in bytes of its own, a warp a larger one.
constexpr uint32_t kLowBitsMax = 5;
constexpr uint32_t kThreadGroup = 64;
constexpr uint32_t kGroupThreads = 1024;
static_assert(kFinishDigits == 8 * kGroupThreads, "a thread has eight words of counters");

// By one thread. counters: the first of its eight words, kGroupThreads apart.
__device__ __forceinline__ void count_group_by_thread(uint32_t *keys, uint32_t size, uint32_t low_mask,
                                                      uint32_t *counters) {
#pragma unroll
  for (uint32_t word = 0; word < 8; ++word) counters[word * kGroupThreads] = 0;
  const uint32_t high = keys[0] & ~low_mask;
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t low = keys[i] & low_mask;
    counters[low / 4 * kGroupThreads] += 1u << (low % 4 * 8);
  }
  uint32_t place = 0;
  for (uint32_t word = 0; word <= low_mask / 4; ++word) {
    for (uint32_t left = counters[word * kGroupThreads]; left != 0;) {
      const uint32_t byte = (__ffs(static_cast<int>(left)) - 1) / 8, count = left >> (byte * 8) & 0xffu;
      left &= ~(0xffu << (byte * 8));
      for (uint32_t end = place + count; place < end; ++place) keys[place] = high | (word * 4 + byte);
    }
  }
}

// By one warp. counters: 32 words. Begins and ends with the warp together.
__device__ __forceinline__ void count_group_by_warp(uint32_t *keys, uint32_t size, uint32_t low_mask,
                                                    uint32_t *counters) {
  const uint32_t first = keys[0], high = first & ~low_mask;
  bool differ = false;
  for (uint32_t i = lane_id(); i < size; i += 32) differ |= keys[i] != first;
  if (!__any_sync(kFullWarp, differ)) return;
  counters[lane_id()] = 0;
  __syncwarp();
  for (uint32_t i = lane_id(); i < size; i += 32) atomicAdd(&counters[keys[i] & low_mask], 1u);
  __syncwarp();
  // Every lane has one value, and the place behind its last key.
  const uint32_t ends = warp_inclusive_sum(counters[lane_id()]);
  for (uint32_t base = 0; base < size; base += 32) {
    const uint32_t place = base + lane_id();
    uint32_t value = 0;  // how many values end at this place or before
#pragma unroll
    for (uint32_t step = 16; step != 0; step /= 2)
      if (__shfl_sync(kFullWarp, ends, value + step - 1) <= place) value += step;
    if (place < size) keys[place] = high | value;
  }
}

// Whether one thread finds all keys of a group to be equal.
__device__ __forceinline__ bool all_equal(const uint32_t *keys, uint32_t size) {
  const uint32_t first = keys[0];
  bool equal = true;
#pragma unroll 4
  for (uint32_t i = 1; i < size; ++i) equal &= keys[i] == first;
  return equal;
}

// Lists the groups of more keys than the windows order, but those that a thread finds to be of equal keys: most, where
// values repeat. Returns their number.
__device__ __forceinline__ uint32_t list_unequal_groups(const uint32_t *keys, uint32_t count, const uint32_t *counters,
                                                        Groups<uint32_t> &groups) {
  for (uint32_t i = threadIdx.x; i < kFinishDigits; i += kGroupThreads) {
    const uint32_t begin = counters[i], end = i + 1 < kFinishDigits ? counters[i + 1] : count;
    if (end - begin > kWindowGroup) groups.large[atomicAdd(&groups.listed, 1u)] = begin | (end - begin) << 16;
  }
  __syncthreads();
  const uint32_t number = groups.listed, group = threadIdx.x < number ? groups.large[threadIdx.x] : 0;
  const uint32_t size = group >> 16;
  const bool kept = size > kThreadGroup || (size != 0 && !all_equal(keys + (group & 0xffffu), size));
  __syncthreads();
  if (threadIdx.x == 0) groups.listed = 0;
  __syncthreads();
  if (kept) groups.large[atomicAdd(&groups.listed, 1u)] = group;
  __syncthreads();
  return groups.listed;
}

// Puts the keys of every digit that has more than the windows order in order. keys, counters: as for
// sort_large_groups; the counters are overwritten. groups.listed is 0 on entry.
__device__ __forceinline__ void count_large_groups(uint32_t *keys, uint32_t count, uint32_t low_bits,
                                                   uint32_t *counters, Groups<uint32_t> &groups) {
  const uint32_t low_mask = (1u << low_bits) - 1, number = list_unequal_groups(keys, count, counters, groups);
  if (threadIdx.x < number) {
    const uint32_t group = groups.large[threadIdx.x], size = group >> 16;
    if (size <= kThreadGroup) count_group_by_thread(keys + (group & 0xffffu), size, low_mask, counters + threadIdx.x);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x / 32; i < number; i += kGroupThreads / 32) {
    const uint32_t group = groups.large[i], size = group >> 16;
    if (size > kThreadGroup)
      count_group_by_warp(keys + (group & 0xffffu), size, low_mask, counters + threadIdx.x / 32 * 32);
    __syncwarp();
  }
  __syncthreads();
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_GROUPS_CUH_
