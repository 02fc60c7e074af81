// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts keys that lie in the registers of one lane or of a group of lanes. Keys alone: stability does not matter.
#ifndef GSORT_CUDA_PRIMITIVE_LANE_SORT_CUH_
#define GSORT_CUDA_PRIMITIVE_LANE_SORT_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"

namespace gsort_internal {

// min and max of narrow types go through int; these keep the type.
template <class U>
struct LaneKey {
  using type = uint32_t;
};
template <>
struct LaneKey<uint64_t> {
  using type = unsigned long long;
};

template <class Key>
__device__ __forceinline__ void order_two(Key &low, Key &high) {
  if constexpr (sizeof(Key) <= 8) {
    const Key least = min(low, high);
    high = max(low, high);
    low = least;
  } else {
    const Key least = low < high ? low : high;
    high = low < high ? high : low;
    low = least;
  }
}

// Batcher's merge exchange, which takes any number of keys: 19 comparisons of 8 keys, 42 of 12, 63 of 16.
template <uint32_t kKeys, class Key>
__device__ __forceinline__ void sort_in_lane(Key (&keys)[kKeys]) {
#pragma unroll
  for (uint32_t run = 1; run < kKeys; run *= 2) {
#pragma unroll
    for (uint32_t distance = run; distance > 0; distance /= 2) {
#pragma unroll
      for (uint32_t i = 0; i + distance < kKeys; ++i)
        if (i / distance % 2 == (distance == run ? 0 : 1) && i / (2 * run) == (i + distance) / (2 * run))
          order_two(keys[i], keys[i + distance]);
    }
  }
}

// The steps of a bitonic merge within the lane, from `kFirst` keys apart on, of every 2 * kFirst of them.
template <uint32_t kFirst, uint32_t kKeys, class Key>
__device__ __forceinline__ void order_in_lane(Key (&keys)[kKeys]) {
#pragma unroll
  for (uint32_t distance = kFirst; distance > 0; distance /= 2) {
#pragma unroll
    for (uint32_t i = 0; i < kKeys; ++i)
      if ((i & distance) == 0) order_two(keys[i], keys[i + distance]);
  }
}

// Of the lane's keys and those of lane ^ `mask`, the lesser ones if `keep_low`, otherwise the greater ones.
template <bool kMirror, uint32_t kKeys, class Key>
__device__ __forceinline__ void exchange_lanes(Key (&keys)[kKeys], uint32_t mask, bool keep_low) {
  // A comparison and a selection: minimum and maximum with a selection behind them would be three instructions.
  const auto keep = [&](Key &mine, Key other) { mine = (mine < other) == keep_low ? mine : other; };
  if constexpr (kKeys == 1) {
    keep(keys[0], shuffle_xor(keys[0], mask));
  } else {
#pragma unroll
    for (uint32_t i = 0; i < kKeys / 2; ++i) {
      const uint32_t j = kMirror ? kKeys - 1 - i : i + kKeys / 2;
      const Key other_i = shuffle_xor(keys[kMirror ? j : i], mask);
      const Key other_j = shuffle_xor(keys[kMirror ? i : j], mask);
      keep(keys[i], other_i);
      keep(keys[j], other_j);
    }
  }
}

// Merges the sorted lanes of every group of `lanes` (a power of two, the same in the whole warp): afterwards key i of
// lane l of a group is number l * kKeys + i. Bitonic merges whose first step compares in mirror image, so that all runs
// ascend. kUnrolled: for a `lanes` that the compiler knows, steps written one after another.
template <bool kUnrolled, uint32_t kKeys, class Key>
__device__ __forceinline__ void merge_lanes(Key (&keys)[kKeys], uint32_t lanes) {
#pragma unroll(kUnrolled ? 5 : 1)
  for (uint32_t group = 2; group <= lanes; group *= 2) {
    exchange_lanes<true>(keys, group - 1, (lane_id() & (group / 2)) == 0);
#pragma unroll(kUnrolled ? 4 : 1)
    for (uint32_t distance = group / 4; distance > 0; distance /= 2)
      exchange_lanes<false>(keys, distance, (lane_id() & distance) == 0);
    order_in_lane<kKeys / 2>(keys);
  }
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_LANE_SORT_CUH_
