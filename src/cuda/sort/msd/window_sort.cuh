// SPDX-License-Identifier: MIT OR Apache-2.0
// A step of sorts that finish on chip: counters of digits become places.
#ifndef GSORT_CUDA_SORT_MSD_WINDOW_SORT_CUH_
#define GSORT_CUDA_SORT_MSD_WINDOW_SORT_CUH_

#include <cstdint>

#include "cuda/primitive/group_sort.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/plan.h"

namespace gsort_internal::sort::msd {

// Replaces counts by first places. All threads call it, and it ends with a barrier. A warp takes the counters of
// neighbouring digits, a thread groups of four of them, 128 apart, so that its 16-byte accesses meet no conflict; one
// scan serves two groups, in halves of a word.
template <uint32_t kThreads>
__device__ __forceinline__ void scan_finish_counters(uint32_t *counters, uint32_t *warp_totals) {
  constexpr uint32_t kGroups = kFinishDigits / 4 / kThreads, kPairs = kGroups / 2;
  static_assert(kGroups % 2 == 0 && kThreads % 32 == 0, "groups are scanned in pairs");
  uint4 *const own = reinterpret_cast<uint4 *>(counters) + threadIdx.x / 32 * (32 * kGroups) + lane_id();
  uint32_t before[kPairs], last[kPairs], warp_total = 0;
#pragma unroll
  for (uint32_t pair = 0; pair < kPairs; ++pair) {
    const uint4 a = own[pair * 64], b = own[pair * 64 + 32];
    const uint32_t sums = (a.x + a.y + a.z + a.w) | (b.x + b.y + b.z + b.w) << 16;
    const uint32_t inclusive = warp_inclusive_sum(sums);
    before[pair] = inclusive - sums;
    last[pair] = __shfl_sync(kFullWarp, inclusive, 31);
    warp_total += (last[pair] & 0xffffu) + (last[pair] >> 16);
  }
  if (lane_id() == 31) warp_totals[threadIdx.x / 32] = warp_total;
  __syncthreads();
  uint32_t first = warp_sum(lane_id() < threadIdx.x / 32 ? warp_totals[lane_id()] : 0);
#pragma unroll
  for (uint32_t pair = 0; pair < kPairs; ++pair) {
    // The counters are read again rather than held: with the keys they would not fit the registers.
    asm volatile("" ::: "memory");
    counts_to_places(own + pair * 64, first + (before[pair] & 0xffffu));
    asm volatile("" ::: "memory");
    counts_to_places(own + pair * 64 + 32, first + (before[pair] >> 16) + (last[pair] & 0xffffu));
    first += (last[pair] & 0xffffu) + (last[pair] >> 16);
  }
  __syncthreads();
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_WINDOW_SORT_CUH_
