// SPDX-License-Identifier: MIT OR Apache-2.0
// Exclusive sum over the threads of a block.
#ifndef GSORT_CUDA_PRIMITIVE_EXCLUSIVE_SCAN_CUH_
#define GSORT_CUDA_PRIMITIVE_EXCLUSIVE_SCAN_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"

namespace gsort_internal {

// All `Threads` threads call it. warp_totals: Threads / 32 words of shared memory, free for other use after the next
// barrier that follows the call; the call begins with one, so that it can be repeated on the same words.
template <uint32_t Threads>
__device__ __forceinline__ uint32_t block_exclusive_sum(uint32_t value, uint32_t *warp_totals, uint32_t &total) {
  constexpr uint32_t kWarps = Threads / 32;
  static_assert(kWarps <= 32 && (kWarps & (kWarps - 1)) == 0, "one warp scans the totals");
  const uint32_t inclusive = warp_inclusive_sum(value);
  __syncthreads();
  if (lane_id() == 31) warp_totals[threadIdx.x / 32] = inclusive;
  __syncthreads();
  // Every warp scans the totals for itself: cheaper than another barrier.
  const uint32_t of_warp = lane_id() < kWarps ? warp_totals[lane_id()] : 0;
  const uint32_t before = warp_inclusive_sum(of_warp);
  total = __shfl_sync(kFullWarp, before, kWarps - 1);
  const uint32_t warp_first = __shfl_sync(kFullWarp, before - of_warp, threadIdx.x / 32);
  return warp_first + inclusive - value;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_EXCLUSIVE_SCAN_CUH_
