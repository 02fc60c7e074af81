// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts a segment that fits a block by one step over bins (spread_bins.cuh). Keys that share a bin are put in order in
// registers, or by a warp where they are more. A segment whose keys crowd more is left to merges (merge_segments.cuh).
#ifndef GSORT_CUDA_SEGMENTS_SPREAD_SORT_CUH_
#define GSORT_CUDA_SEGMENTS_SPREAD_SORT_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/group_sort.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/segments/check.cuh"
#include "cuda/segments/crowds.cuh"
#include "cuda/segments/spread_bins.cuh"

namespace gsort_internal::segments {

// Sorts the bins of more than kBinWindow keys that are not all equal, a warp each. Returns false if there are too many
// for that: `few` of them where the segment is one of few. Begins and ends with a barrier.
template <class U, class Shape>
__device__ __noinline__ bool sort_crowds(SpreadStorage<U, Shape> &storage, uint32_t count, bool few,
                                         const Spread<U> &spread) {
  const CrowdLimits limits = crowd_limits<Shape>(few);
  const uint32_t *const first_keys = reinterpret_cast<const uint32_t *>(storage.counters);
  U *const sorted = storage.padded_keys + kBinWindow;
  if (threadIdx.x == 0) storage.crowd_count = 0;
  __syncthreads();
  bool too_many = false;
  // The last key of a bin lists it.
  for (uint32_t i = threadIdx.x; i < count; i += Shape::kThreads) {
    const uint32_t bin = bin_of(storage, spread, sorted[i]), first = first_keys[bin], keys = i + 1 - first;
    if (keys <= kBinWindow || (i + 1 < count && bin_of(storage, spread, sorted[i + 1]) == bin)) continue;
    too_many |= !list_crowd(storage, first, keys, limits);
  }
  return !__syncthreads_or(too_many) && sort_listed_crowds(storage, limits);
}

// Sorts them but for what windows of kBinWindow put in order. Returns false if they crowd too much, which for one of
// `few` segments is less: they are all there, but not in order. Ends with a barrier.
template <class U, class Shape, class KeyAt>
__device__ __forceinline__ bool spread_sort(SpreadStorage<U, Shape> &storage, uint32_t count, bool few,
                                            const KeyAt &key_at) {
  if (!spread_by_bin(storage, count, key_at)) return true;
  return sort_crowds(storage, count, few, Spread<U>(storage.spread));
}

// A block a listed segment, blocks take segments in turn; those whose keys crowd are listed.
template <class U, class Shape>
__device__ __forceinline__ void spread_listed(const Params<U> &params, const List &list, const List &crowded,
                                              SpreadStorage<U, Shape> &storage) {
  if (*params.error != 0) return;
  for (uint32_t i = blockIdx.x; i < *list.count; i += gridDim.x) {
    // Bounds are read anew where they are needed: kept, they would spill.
    const uint64_t listed = list.segments[i];
    const volatile uint64_t *const bounds = params.bounds_of(listed);
    const auto keys = [&] { return static_cast<uint32_t>(bounds[1] - bounds[0]); };
    const U *const from = params.source_of(listed) + bounds[0];
    const bool few = *list.count <= kFewSegments;
    if (spread_sort(storage, keys(), few, [&](uint32_t at) { return params.codec.encode(from[at]); })) {
      U *const sorted = storage.padded_keys + kBinWindow;
      const uint32_t count = keys();
      sort_in_windows<kBinRun<Shape>, kBinWindow - 1>(sorted, count);
      U *const to = params.keys_out + bounds[0];
#pragma unroll
      for (uint32_t row = 0; row < Shape::kRows; ++row) {
        const uint32_t at = row * Shape::kThreads + threadIdx.x;
        if (at < count) to[at] = params.codec.decode(sorted[at]);
      }
    } else if (threadIdx.x == 0) {
      list_segment(crowded, list.segments[i]);
    }
    __syncthreads();  // all have read `storage` for the last time
  }
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_SPREAD_SORT_CUH_
