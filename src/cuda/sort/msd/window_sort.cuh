// SPDX-License-Identifier: MIT OR Apache-2.0
// A step of sorts that finish on chip: counters of digits become places.
#ifndef GSORT_CUDA_SORT_MSD_WINDOW_SORT_CUH_
#define GSORT_CUDA_SORT_MSD_WINDOW_SORT_CUH_

#include <cstdint>

#include "cuda/primitive/counter_scan.cuh"
#include "cuda/primitive/group_sort.cuh"
#include "cuda/sort/msd/plan.h"

namespace gsort_internal::sort::msd {

// Replaces counts of digits by first places; see scan_counters. The counters are read again rather than kept: with the
// keys they would not fit the registers.
template <uint32_t kThreads, uint32_t kDigits = kFinishDigits>
__device__ __forceinline__ void scan_finish_counters(uint32_t *counters, uint32_t *warp_totals) {
  scan_counters<kThreads, kDigits / 4 / kThreads, CounterScan::kReadAgain>(reinterpret_cast<uint4 *>(counters),
                                                                           warp_totals);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_WINDOW_SORT_CUH_
