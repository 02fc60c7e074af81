// SPDX-License-Identifier: MIT OR Apache-2.0
// How a block sorts keys that crowd however they are cut: by radix passes in shared memory over the bits in which they
// differ, in a time that depends on nothing else.
#ifndef GSORT_CUDA_SORT_MSD_PASS_SORT_CUH_
#define GSORT_CUDA_SORT_MSD_PASS_SORT_CUH_

#include <cstddef>
#include <cstdint>

#include "cuda/primitive/digit_rank.cuh"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal::sort::msd {

// Bits in which the keys differ. Ends with a barrier before its last reads, in `rank`.
template <uint32_t kThreads, class U>
__device__ __forceinline__ uint64_t differing_bits(const U *keys, uint32_t count,
                                                   DigitRankStorage<kThreads / 32> &rank) {
  uint64_t *const warp_bits = reinterpret_cast<uint64_t *>(rank.run_begin);
  static_assert(
      sizeof(rank.run_begin) >= kThreads / 32 * 8 && offsetof(DigitRankStorage<kThreads / 32>, run_begin) % 8 == 0,
      "room for a word a warp");
  uint64_t any = 0;
  const U first = keys[0];
  for (uint32_t i = threadIdx.x; i < count; i += kThreads) any |= keys[i] ^ first;
  any = warp_or(any);
  if (lane_id() == 0) warp_bits[threadIdx.x / 32] = any;
  __syncthreads();
  return warp_or(lane_id() < kThreads / 32 ? warp_bits[lane_id()] : uint64_t{0});
}

// Puts `count` keys, behind a barrier, in the order of their bits from lowest_bit on, equal ones in the order in which
// they lie. Ends with a barrier.
template <uint32_t kThreads, uint32_t kItems, class U>
__device__ __noinline__ void sort_by_passes(U *keys, uint32_t count, uint32_t lowest_bit,
                                            DigitRankStorage<kThreads / 32> &rank) {
  const uint32_t warp = threadIdx.x / 32, rows = (count + kThreads - 1) / kThreads;
  const uint32_t first = warp * rows * 32 + lane_id();
  uint64_t left = differing_bits<kThreads>(keys, count, rank) >> lowest_bit << lowest_bit;
  __syncthreads();
  while (left != 0) {
    const uint32_t shift = static_cast<uint32_t>(__ffsll(static_cast<long long>(left))) - 1;
    left &= ~(uint64_t{kDigitBins - 1} << shift);
    U own[kItems];
#pragma unroll
    for (uint32_t row = 0; row < kItems; ++row) {
      own[row] = static_cast<U>(~U{0});  // behind all others
      if (row < rows && first + row * 32 < count) own[row] = keys[first + row * 32];
    }
    PackedPlaces<kItems> places;
    rank_rows<kItems>(own, rows, shift, rank.counters[warp], places);
    __syncthreads();
    scan_counters<true>(rank, [](uint32_t, uint32_t, uint32_t) {});
#pragma unroll
    for (uint32_t row = 0; row < kItems; ++row)
      if (row < rows && first + row * 32 < count)
        keys[rank.counters[warp][digit_of(own[row], shift)] + places.get(row)] = own[row];
    __syncthreads();
  }
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_PASS_SORT_CUH_
