// SPDX-License-Identifier: MIT OR Apache-2.0
// Crowds: bins of more keys than threads put in order in registers (spread_bins.cuh). Warps sort them, if all of them
// are few and small enough to be sooner done so than the whole segment by merges.
#ifndef GSORT_CUDA_SEGMENTS_CROWDS_CUH_
#define GSORT_CUDA_SEGMENTS_CROWDS_CUH_

#include <cstdint>

#include "cuda/primitive/group_sort.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/segments/spread_bins.cuh"

namespace gsort_internal::segments {

// Crowds of more keys, or more crowds than can be listed, leave the segment to merges.
constexpr uint32_t kCrowdKeysMax = 256;
// Where a list has so few segments that all of them are merged at once, putting crowds in order is quicker up to here
// alone.
constexpr uint32_t kFewSegments = 256;
constexpr uint32_t kFewCrowdKeysMax = 64;
template <class Shape>
constexpr uint32_t kFewCrowdsMax = 8 * Shape::kWarps;

// How large and how many crowds may be for warps to put them in order.
struct CrowdLimits {
  uint32_t keys, crowds;
};

// For one of `few` segments less is too much.
template <class Shape>
__device__ __forceinline__ CrowdLimits crowd_limits(bool few) {
  static_assert(kFewCrowdsMax<Shape> <= kCrowdsMax, "they are listed");
  return few ? CrowdLimits{kFewCrowdKeysMax, kFewCrowdsMax<Shape>} : CrowdLimits{kCrowdKeysMax, kCrowdsMax};
}

constexpr uint32_t kLargeCrowd = 0x10000;  // in crowd_count: how many of the crowds have too many keys

// Lists a crowd, a bin of more than kBinWindow keys: `keys` of them from sorted key `first` on. Returns false if as
// many as the limit are listed already.
template <class U, class Shape>
__device__ __forceinline__ bool list_crowd(SpreadStorage<U, Shape> &storage, uint32_t first, uint32_t keys,
                                           const CrowdLimits &limits) {
  const uint32_t at = atomicAdd(&storage.crowd_count, keys > limits.keys ? kLargeCrowd + 1 : 1) % kLargeCrowd;
  if (at >= limits.crowds) return false;
  storage.crowds[at] = first | keys << 16;
  return true;
}

// By a warp: whether the crowd has one value.
template <class U>
__device__ __forceinline__ bool has_one_value(const U *keys, uint32_t crowd) {
  const U one = keys[0];
  bool differ = false;
  for (uint32_t i = lane_id(); i < crowd; i += 32) differ |= keys[i] != one;
  return !__any_sync(kFullWarp, differ);
}

// Puts the listed crowds in order, a warp each, but those of one value. Returns false if one of the rest has more keys
// than the limit; then none has been sorted in vain. Begins and ends with a barrier.
template <class U, class Shape>
__device__ __forceinline__ bool sort_listed_crowds(SpreadStorage<U, Shape> &storage, const CrowdLimits &limits) {
  const uint32_t listed = storage.crowd_count % kLargeCrowd;
  bool large = storage.crowd_count != listed;  // first those with too many keys, if there are any
  do {
    bool too_many = false;
    for (uint32_t c = threadIdx.x / 32; c < listed; c += Shape::kWarps) {
      U *const keys = storage.padded_keys + kBinWindow + (storage.crowds[c] & 0xffffu);
      const uint32_t crowd = storage.crowds[c] >> 16;
      if ((crowd > limits.keys) != large || has_one_value(keys, crowd)) continue;
      if (large) {
        too_many = true;
      } else if (crowd <= 32) {
        sort_few(keys, crowd);
      } else {
        network_sort<ByWarp>(keys, crowd);
      }
    }
    if (__syncthreads_or(too_many)) return false;
    large = !large;
  } while (!large);
  return true;
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_CROWDS_CUH_
