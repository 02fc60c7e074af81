// SPDX-License-Identifier: MIT OR Apache-2.0
// Steps of sorts that finish on chip: counters of digits become places, neighbours of one digit are put in order.
#ifndef GSORT_CUDA_SORT_MSD_WINDOW_SORT_CUH_
#define GSORT_CUDA_SORT_MSD_WINDOW_SORT_CUH_

#include <cstdint>

namespace gsort_internal {

// Puts words of equal digit in order, at most kHalo + 1 of each: every thread loads its run of kItems
// neighbouring words and as many on either side as a digit can have, and sorts the whole by odd-even transposition,
// which never moves a word past one of another digit. What happens near the window's ends is cut off as soon as it
// cannot reach the run. kHalo + 1 words before
// the first and as many behind the last are read; if any, they are of no digit of theirs.
template <int kItems, int kHalo, class U>
__device__ __forceinline__ void sort_in_windows(U *words, uint32_t count) {
  constexpr int kWindow = kItems + 2 * kHalo;
  U window[kWindow];
  U *const first = words + threadIdx.x * kItems - kHalo;
  const bool any = threadIdx.x * kItems < count;
  if (any) {
#pragma unroll
    for (int i = 0; i < kWindow; ++i) window[i] = first[i];
#pragma unroll
    for (int round = 0; round <= kHalo; ++round) {
#pragma unroll
      for (int i = round; i <= kWindow - 1 - round && i + 1 < kWindow; i += 2) {
        const U low = window[i] < window[i + 1] ? window[i] : window[i + 1];
        window[i + 1] = window[i] < window[i + 1] ? window[i + 1] : window[i];
        window[i] = low;
      }
    }
  }
  __syncthreads();
  if (any) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) first[kHalo + i] = window[kHalo + i];
  }
  __syncthreads();
}

// Four neighbouring counts become the first places of their digits, the first of which is `first`.
__device__ __forceinline__ void counts_to_places(uint4 *counters, uint32_t first) {
  const uint4 counts = *counters;
  const uint32_t second = first + counts.x, third = second + counts.y;
  *counters = make_uint4(first, second, third, third + counts.z);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_MSD_WINDOW_SORT_CUH_
