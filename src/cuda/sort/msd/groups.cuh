// SPDX-License-Identifier: MIT OR Apache-2.0
// Order within a group of keys that share a digit of the finish.
#ifndef GSORT_CUDA_SORT_MSD_GROUPS_CUH_
#define GSORT_CUDA_SORT_MSD_GROUPS_CUH_

#include <cstdint>

#include "cuda/primitive/group_sort.cuh"
#include "cuda/primitive/lane_sort.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/plan.h"

namespace gsort_internal::sort::msd {

// The most keys of one digit that the windows put in order: with one key a digit on average, 1 cell in 100 has more.
constexpr uint32_t kWindowGroup = 8;
constexpr uint32_t kWindowHalo = kWindowGroup - 1;

// With one key a digit on average every second cell has no more, with 0.8 keys five of six: narrower windows do.
constexpr uint32_t kFewGroup = 6;

// The most keys of one digit that one warp puts in order by a network; more are for the whole block.
constexpr uint32_t kNetworkGroup = 1024;

// Groups of kKeys keys that have more than the windows order. Begin in the lower half of a word, size in the upper
// half.
template <uint32_t kKeys>
struct Groups {
  static_assert(kKeys < 65536, "places have 16 bits");
  uint32_t listed, huge_listed;  // 0 at first
  uint32_t large[kKeys / (kWindowGroup + 1) + 1];
  uint32_t huge[kKeys / (kNetworkGroup + 1) + 1];

  __device__ __forceinline__ void list(uint32_t begin, uint32_t size) {
    large[atomicAdd(&listed, 1u)] = begin | size << 16;
  }
};

// Keys of a group that differ by less than this are counted by value, two values a lane.
constexpr uint32_t kNarrowGroup = 64;

// By one warp. least: of the keys, which are less than kNarrowGroup above it. counters: kNarrowGroup words.
template <class U>
__device__ __forceinline__ void count_group(U *keys, uint32_t size, U least, uint32_t *counters) {
  reinterpret_cast<uint2 *>(counters)[lane_id()] = make_uint2(0, 0);
  __syncwarp();
  for (uint32_t i = lane_id(); i < size; i += 32) atomicAdd(&counters[keys[i] - least], 1u);
  __syncwarp();
  // Every lane has two values, and the places behind their last keys.
  const uint2 own = reinterpret_cast<const uint2 *>(counters)[lane_id()];
  const uint32_t end = warp_inclusive_sum(own.x + own.y), middle = end - own.y;
  for (uint32_t base = 0; base < size; base += 32) {
    const uint32_t place = base + lane_id();
    uint32_t pair = 0;  // how many pairs of values end at this place or before
#pragma unroll
    for (uint32_t step = 16; step != 0; step /= 2)
      if (__shfl_sync(kFullWarp, end, pair + step - 1) <= place) pair += step;
    const bool second = __shfl_sync(kFullWarp, middle, pair) <= place;
    if (place < size) keys[place] = least + (2 * pair + second);
  }
}

// The same of keys that are less than kWide above the least. counters: kWide words.
template <uint32_t kWide, class U>
__device__ __forceinline__ void count_wide_group(U *keys, uint32_t size, U least, uint32_t *counters) {
  constexpr uint32_t kOwn = kWide / 32;
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) counters[i * 32 + lane_id()] = 0;
  __syncwarp();
  for (uint32_t i = lane_id(); i < size; i += 32) atomicAdd(&counters[keys[i] - least], 1u);
  __syncwarp();
  // Every lane has neighbouring values, whose counts become the places behind their last keys.
  uint32_t ends[kOwn], sum = 0;
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) ends[i] = sum += counters[lane_id() * kOwn + i];
  const uint32_t before = warp_inclusive_sum(sum) - sum;
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) counters[lane_id() * kOwn + i] = before + ends[i];
  __syncwarp();
  for (uint32_t place = lane_id(); place < size; place += 32) {
    uint32_t value = 0;  // how many values end at this place or before
#pragma unroll
    for (uint32_t step = kWide / 2; step != 0; step /= 2)
      if (counters[value + step - 1] <= place) value += step;
    keys[place] = least + value;
  }
}

// By one warp. Counts the values of the keys, each by a lane, and writes them in order, if they are few. Returns
// whether they are; the keys are as they were otherwise.
template <class U>
__device__ __forceinline__ bool count_few_values(U *keys, uint32_t size) {
  U value = 0;
  uint32_t count = 0, values = 0;
  for (uint32_t base = 0; base < size; base += 32) {
    const uint32_t i = base + lane_id();
    const U key = keys[min(i, size - 1)];
    uint32_t left = __ballot_sync(kFullWarp, i < size);
    // Of keys that differ so much there are more values behind.
    const uint32_t most = base == 0 ? 16 : 32;
    while (left != 0) {
      const U next = __shfl_sync(kFullWarp, key, __ffs(static_cast<int>(left)) - 1);
      const uint32_t alike = __ballot_sync(kFullWarp, key == next) & left;
      const bool is_known = lane_id() < values && value == next;
      const bool known = __any_sync(kFullWarp, is_known);
      if (!known && values == most) return false;
      if (is_known || (!known && lane_id() == values)) value = next, count += __popc(alike);
      values += known ? 0 : 1;
      left &= ~alike;
    }
  }
  uint32_t begin = 0;
  for (uint32_t i = 0; i < values; ++i) {
    const U other = __shfl_sync(kFullWarp, value, i);
    const uint32_t others = __shfl_sync(kFullWarp, count, i);
    if (other < value) begin += others;
  }
  __syncwarp();
  for (uint32_t i = 0; i < values; ++i) {
    const U run = __shfl_sync(kFullWarp, value, i);
    const uint32_t first = __shfl_sync(kFullWarp, begin, i), end = first + __shfl_sync(kFullWarp, count, i);
    for (uint32_t place = first + lane_id(); place < end; place += 32) keys[place] = run;
  }
  return true;
}

// By one warp in registers, `kKeys` a lane.
template <uint32_t kKeys, class U>
__device__ __forceinline__ void sort_group_in_registers(U *keys, uint32_t size) {
  using Key = typename LaneKey<U>::type;
  Key own[kKeys];
#pragma unroll
  for (uint32_t i = 0; i < kKeys; ++i) {
    const uint32_t place = i * 32 + lane_id();
    own[i] = place < size ? static_cast<Key>(keys[place]) : static_cast<Key>(~Key{0});
  }
  sort_in_lane(own);
  merge_lanes<false>(own, 32);
  __syncwarp();
#pragma unroll
  for (uint32_t i = 0; i < kKeys; ++i)
    if (lane_id() * kKeys + i < size) keys[lane_id() * kKeys + i] = static_cast<U>(own[i]);
}

constexpr uint32_t kRegisterGroup = 256;  // keys of the largest group that a warp sorts in registers

// By one warp, of 2 to kRegisterGroup keys.
template <class U>
__device__ __forceinline__ void sort_group_in_registers(U *keys, uint32_t size) {
  if (size <= 32)
    sort_group_in_registers<1>(keys, size);
  else if (size <= 64)
    sort_group_in_registers<2>(keys, size);
  else if (size <= 128)
    sort_group_in_registers<4>(keys, size);
  else
    sort_group_in_registers<8>(keys, size);
}

// By one warp. counters: kWide words. Returns false, and leaves the keys, where they are more than kMost and neither
// lie closely nor are of few values.
template <uint32_t kWide, uint32_t kMost, class U>
__device__ __forceinline__ bool sort_group_by_warp(U *keys, uint32_t size, uint32_t *counters) {
  U least = static_cast<U>(~U{0}), most = 0;
#pragma unroll 4
  for (uint32_t i = lane_id(); i < size; i += 32) least = min(least, keys[i]), most = max(most, keys[i]);
  least = warp_least(least), most = warp_greatest(most);
  __syncwarp();
  if (least == most) return true;
  const U width = static_cast<U>(most - least);
  if (width < kNarrowGroup)
    count_group(keys, size, least, counters);
  else if (size <= 32)
    sort_few(keys, size);
  else if (kWide > kNarrowGroup && width < kWide)
    count_wide_group<kWide>(keys, size, least, counters);
  else if (size <= kRegisterGroup)
    sort_group_in_registers(keys, size);
  else if (!count_few_values(keys, size)) {
    if (size > kMost) return false;
    network_sort<ByWarp>(keys, size);
  }
  return true;
}

// By the block, if the keys are not all equal.
template <class U>
__device__ __forceinline__ void sort_group_by_block(U *keys, uint32_t count) {
  const U first = keys[0];
  bool differ = false;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) differ |= keys[i] != first;
  if (__syncthreads_or(differ)) network_sort<ByBlock>(keys, count);
}

// Puts the keys of the groups that are listed, behind a barrier, in order where they are not all equal: most of them by
// a warp. counters: kWide words a warp. By all threads of the block; ends with a barrier.
template <uint32_t kWide, class U, class GroupLists>
__device__ __forceinline__ void sort_listed_groups(U *keys, GroupLists &groups, uint32_t *counters) {
  for (uint32_t i = threadIdx.x / 32; i < groups.listed; i += blockDim.x / 32) {
    const uint32_t group = groups.large[i];
    const bool sorted = sort_group_by_warp<kWide, kNetworkGroup>(keys + (group & 0xffffu), group >> 16,
                                                                 counters + threadIdx.x / 32 * kWide);
    if (!sorted && lane_id() == 0) groups.huge[atomicAdd(&groups.huge_listed, 1u)] = group;
    __syncwarp();
  }
  __syncthreads();
  for (uint32_t i = 0; i < groups.huge_listed; ++i)
    sort_group_by_block(keys + (groups.huge[i] & 0xffffu), groups.huge[i] >> 16);
  __syncthreads();
}

// The same, but groups of more than a warp has registers for are left. Returns whether there are none.
template <uint32_t kWide, class U, class GroupLists>
__device__ __forceinline__ bool sort_listed_groups_of_warps(U *keys, GroupLists &groups, uint32_t *counters) {
  bool left = false;
  for (uint32_t i = threadIdx.x / 32; i < groups.listed; i += blockDim.x / 32) {
    const uint32_t group = groups.large[i];
    left |= !sort_group_by_warp<kWide, kRegisterGroup>(keys + (group & 0xffffu), group >> 16,
                                                       counters + threadIdx.x / 32 * kWide);
    __syncwarp();
  }
  return !__syncthreads_or(left);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_GROUPS_CUH_
