// SPDX-License-Identifier: MIT OR Apache-2.0
// Counters in shared memory, of digits or bins, become the places of their first items: an exclusive sum over more
// counters than a block has threads.
#ifndef GSORT_CUDA_PRIMITIVE_COUNTER_SCAN_CUH_
#define GSORT_CUDA_PRIMITIVE_COUNTER_SCAN_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"

namespace gsort_internal {

// Four neighbouring counts become the first places of their digits, the first of which is `first`.
__device__ __forceinline__ void put_places(uint4 *counters, const uint4 counts, uint32_t first) {
  const uint32_t second = first + counts.x, third = second + counts.y;
  *counters = make_uint4(first, second, third, third + counts.z);
}

__device__ __forceinline__ void counts_to_places(uint4 *counters, uint32_t first) {
  put_places(counters, *counters, first);
}

__device__ __forceinline__ uint32_t sum_of(const uint4 &counts) { return counts.x + counts.y + counts.z + counts.w; }

// Whether a thread holds its counters between the two looks at them, or reads them again: with what the kernel holds
// besides they might not fit the registers.
enum class CounterScan { kHold, kReadAgain };

// All kThreads threads call it, behind a barrier, and it ends with one. Of kThreads * 4 * kQuads counters, which add up
// to less than 65536. A warp takes neighbouring counters, a thread quadruples of them that lie 128 apart, so that its
// accesses of 16 bytes meet no conflict; one scan of a warp serves two quadruples, in halves of a word.
// warp_totals: kThreads / 32 words.
template <uint32_t kThreads, uint32_t kQuads, CounterScan kHow>
__device__ __forceinline__ void scan_counters(uint4 *counters, uint32_t *warp_totals) {
  static_assert(kThreads % 32 == 0 && kThreads <= 1024, "a warp adds up the totals of all warps");
  constexpr uint32_t kPairs = (kQuads + 1) / 2;
  uint4 *const own = counters + threadIdx.x / 32 * (32 * kQuads) + lane_id();
  uint4 counts[2 * kPairs];
  uint32_t before[kPairs], last[kPairs], warp_total = 0;
#pragma unroll
  for (uint32_t pair = 0; pair < kPairs; ++pair) {
    const uint32_t a = 2 * pair, b = a + 1;
    counts[a] = own[a * 32];
    if (b < kQuads) counts[b] = own[b * 32];
    const uint32_t sums = b < kQuads ? sum_of(counts[a]) | sum_of(counts[b]) << 16 : sum_of(counts[a]);
    const uint32_t inclusive = warp_inclusive_sum(sums);
    before[pair] = inclusive - sums;
    last[pair] = __shfl_sync(kFullWarp, inclusive, 31);
    warp_total += (last[pair] & 0xffffu) + (last[pair] >> 16);
  }
  if (lane_id() == 31) warp_totals[threadIdx.x / 32] = warp_total;
  __syncthreads();
  uint32_t first = warp_sum(lane_id() < threadIdx.x / 32 ? warp_totals[lane_id()] : 0);
  const auto put = [&](uint32_t quad, uint32_t place) {
    if constexpr (kHow == CounterScan::kHold)
      put_places(own + quad * 32, counts[quad], place);
    else
      counts_to_places(own + quad * 32, place);
  };
#pragma unroll
  for (uint32_t pair = 0; pair < kPairs; ++pair) {
    const uint32_t a = 2 * pair, b = a + 1;
    if constexpr (kHow == CounterScan::kReadAgain) asm volatile("" ::: "memory");
    put(a, first + (before[pair] & 0xffffu));
    if (b >= kQuads) break;
    if constexpr (kHow == CounterScan::kReadAgain) asm volatile("" ::: "memory");
    put(b, first + (before[pair] >> 16) + (last[pair] & 0xffffu));
    first += (last[pair] & 0xffffu) + (last[pair] >> 16);
  }
  __syncthreads();
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_COUNTER_SCAN_CUH_
