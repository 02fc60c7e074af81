// SPDX-License-Identifier: MIT OR Apache-2.0
// Exclusive sum over the threads of a block.
#ifndef GSORT_CUDA_PRIMITIVE_EXCLUSIVE_SCAN_CUH_
#define GSORT_CUDA_PRIMITIVE_EXCLUSIVE_SCAN_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"

namespace gsort_internal {

// The inclusive sum over the block, of those over its warps. All threads call it, of so many warps. warp_totals: a word
// a warp, which the caller keeps from other use before the call and, until the next barrier, behind it.
template <class T, class Word>
__device__ __forceinline__ T block_inclusive_sum(T inclusive, uint32_t warps, Word *warp_totals, T &total) {
  if (lane_id() == 31) warp_totals[threadIdx.x / 32] = inclusive;
  __syncthreads();
  // Every warp scans the totals for itself: cheaper than another barrier.
  const T of_warp = lane_id() < warps ? static_cast<T>(warp_totals[lane_id()]) : T{0};
  const T before = warp_inclusive_sum(of_warp);
  total = __shfl_sync(kFullWarp, before, static_cast<int>(warps) - 1);
  const T warp_first = __shfl_sync(kFullWarp, before - of_warp, static_cast<int>(threadIdx.x / 32));
  return warp_first + inclusive;
}

// All `Threads` threads call it. warp_totals: Threads / 32 words of shared memory, free for other use after the next
// barrier that follows the call; the call begins with one, so that it can be repeated on the same words.
template <uint32_t Threads>
__device__ __forceinline__ uint32_t block_exclusive_sum(uint32_t value, uint32_t *warp_totals, uint32_t &total) {
  static_assert(Threads % 32 == 0 && Threads <= 1024, "one warp scans the totals");
  const uint32_t inclusive = warp_inclusive_sum(value);
  __syncthreads();
  return block_inclusive_sum(inclusive, Threads / 32, warp_totals, total) - value;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_EXCLUSIVE_SCAN_CUH_
