// SPDX-License-Identifier: MIT OR Apache-2.0
// Tiles of segments that take many blocks each.
#ifndef GSORT_CUDA_SEGMENTS_TILES_CUH_
#define GSORT_CUDA_SEGMENTS_TILES_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/segments/check.cuh"

namespace gsort_internal::segments {

// One block: numbers the tiles of the listed segments. warp_sums: Shape::kWarps words of shared memory. Ends with a
// barrier.
template <class U, class Shape>
__device__ inline void number_tiles(const Params<U> &params, const List &list, uint64_t *warp_sums) {
  const uint64_t count = *list.count;
  const uint32_t warp = threadIdx.x / 32;
  uint64_t before = 0;
  for (uint64_t base = 0; base < count; base += Shape::kThreads) {
    const uint64_t i = base + threadIdx.x;
    uint64_t tiles = 0;
    if (i < count) {
      const uint64_t *const bounds = params.bounds_of(list.segments[i]);
      tiles = (bounds[1] - bounds[0] + Shape::kItems - 1) / Shape::kItems;
    }
    const uint64_t inclusive = warp_inclusive_sum(tiles);
    if (lane_id() == 31) warp_sums[warp] = inclusive;
    __syncthreads();
    const uint64_t sums = warp_inclusive_sum(lane_id() < Shape::kWarps ? warp_sums[lane_id()] : 0);
    const uint64_t warps_before = __shfl_sync(kFullWarp, sums, warp == 0 ? 0 : warp - 1);
    const uint64_t all = __shfl_sync(kFullWarp, sums, 31);
    if (i < count) params.large_tile_begins[i] = before + (warp == 0 ? 0 : warps_before) + inclusive - tiles;
    before += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) params.large_tile_begins[count] = before;
  __syncthreads();
}

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_TILES_CUH_
