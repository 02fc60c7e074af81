// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts of digits that warps have each, as of digit_rank.cuh, become places, by groups of warps at a time: where a
// block is alone on its multiprocessor, 128 threads that go through all warps' counters take twice as long.
#ifndef GSORT_CUDA_PRIMITIVE_DIGIT_PLACES_CUH_
#define GSORT_CUDA_PRIMITIVE_DIGIT_PLACES_CUH_

#include <cstdint>

#include "cuda/primitive/tile_shape.h"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal {

// What the groups tell each other. More groups share the work, and each looks at all of them.
template <uint32_t kWarps>
struct DigitPlaces {
  static constexpr uint32_t kGroupWarps = kWarps < 16 ? 4 : kWarps / 4;
  static constexpr uint32_t kGroups = kWarps / kGroupWarps;

  uint32_t groups[kGroups][kDigitBins / 2];  // counts of two digits, in halves of a word
  uint32_t parts[kGroups * 4];               // sums of a quarter of these
};

// Turns the warps' counts into the places of their first keys of every digit. For a group of warps 128 threads read its
// counters, two digits each; then each knows the counts of all groups. By the whole block, behind a barrier; ends with
// one.
template <uint32_t kWarps>
__device__ __forceinline__ void place_digits(uint16_t (&warp_counters)[kWarps][kDigitBins], DigitPlaces<kWarps> &told) {
  using Told = DigitPlaces<kWarps>;
  constexpr uint32_t kPairs = kDigitBins / 2, kParts = kPairs / 32;
  const uint32_t pair = threadIdx.x % kPairs, group = threadIdx.x / kPairs, part = threadIdx.x / 32 % kParts;
  const bool takes_part = group < Told::kGroups;
  uint32_t counts[Told::kGroupWarps];
  const auto counters = [&](uint32_t i) -> uint32_t & {
    return reinterpret_cast<uint32_t *>(warp_counters[group * Told::kGroupWarps + i])[pair];
  };
  if (takes_part) {
    uint32_t of_group = 0;
#pragma unroll
    for (uint32_t i = 0; i < Told::kGroupWarps; ++i) counts[i] = counters(i), of_group += counts[i];
    told.groups[group][pair] = of_group;
    const uint32_t of_part = warp_sum((of_group & 0xffffu) + (of_group >> 16));
    if (lane_id() == 0) told.parts[threadIdx.x / 32] = of_part;
  }
  __syncthreads();
  if (takes_part) {
    uint32_t total = 0, before = 0;
#pragma unroll
    for (uint32_t i = 0; i < Told::kGroups; ++i) {
      if (i == group) before = total;
      total += told.groups[i][pair];
    }
    const bool is_lower = lane_id() < Told::kGroups * kParts && lane_id() % kParts < part;
    const uint32_t lower = warp_sum(is_lower ? told.parts[lane_id()] : 0);
    const uint32_t both = (total & 0xffffu) + (total >> 16);
    const uint32_t first = lower + warp_inclusive_sum(both) - both;
    // Neither half overflows, since a tile has fewer than 65,536 items.
    uint32_t places = before + (first | (first + (total & 0xffffu)) << 16);
#pragma unroll
    for (uint32_t i = 0; i < Told::kGroupWarps; ++i) counters(i) = places, places += counts[i];
  }
  __syncthreads();
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_DIGIT_PLACES_CUH_
