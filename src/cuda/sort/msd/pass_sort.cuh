// SPDX-License-Identifier: MIT OR Apache-2.0
// How a block sorts keys that crowd however they are cut: by radix passes in shared memory over the bits in which they
// differ, in a time that depends on nothing else.
#ifndef GSORT_CUDA_SORT_MSD_PASS_SORT_CUH_
#define GSORT_CUDA_SORT_MSD_PASS_SORT_CUH_

#include <cstdint>

#include "cuda/primitive/digit_places.cuh"
#include "cuda/primitive/digit_rank.cuh"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal::sort::msd {

template <uint32_t kThreads>
struct PassSortStorage {
  static constexpr uint32_t kWarps = kThreads / 32;

  alignas(8) uint16_t counters[kWarps][kDigitBins];
  union {
    DigitPlaces<kWarps> places;
    uint64_t warp_bits[kWarps];
  };
};

// Bits in which the keys differ. Ends with a barrier before its last reads.
template <uint32_t kThreads, class U>
__device__ __forceinline__ uint64_t differing_bits(const U *keys, uint32_t count, PassSortStorage<kThreads> &storage) {
  uint64_t any = 0;
  const U first = keys[0];
  for (uint32_t i = threadIdx.x; i < count; i += kThreads) any |= keys[i] ^ first;
  any = warp_or(any);
  if (lane_id() == 0) storage.warp_bits[threadIdx.x / 32] = any;
  __syncthreads();
  return warp_or(lane_id() < kThreads / 32 ? storage.warp_bits[lane_id()] : uint64_t{0});
}

// Puts `count` keys, behind a barrier, in the order of `bits`, equal ones in the order in which they lie. Ends with a
// barrier.
template <uint32_t kThreads, uint32_t kItems, class U>
__device__ __noinline__ void sort_by_bits(U *keys, uint32_t count, uint64_t bits, PassSortStorage<kThreads> &storage) {
  const uint32_t warp = threadIdx.x / 32, rows = (count + kThreads - 1) / kThreads;
  const uint32_t first = warp * rows * 32 + lane_id();
  while (bits != 0) {
    const uint32_t shift = static_cast<uint32_t>(__ffsll(static_cast<long long>(bits))) - 1;
    bits &= ~(uint64_t{kDigitBins - 1} << shift);
    U own[kItems];
#pragma unroll
    for (uint32_t row = 0; row < kItems; ++row) {
      own[row] = static_cast<U>(~U{0});  // behind all others
      if (row < rows && first + row * 32 < count) own[row] = keys[first + row * 32];
    }
    PackedPlaces<kItems> places;
    rank_rows<kItems>(own, rows, shift, storage.counters[warp], places);
    __syncthreads();
    place_digits(storage.counters, storage.places);
#pragma unroll
    for (uint32_t row = 0; row < kItems; ++row)
      if (row < rows && first + row * 32 < count)
        keys[storage.counters[warp][digit_of(own[row], shift)] + places.get(row)] = own[row];
    __syncthreads();
  }
}

// The same by all bits from lowest_bit on in which the keys differ.
template <uint32_t kThreads, uint32_t kItems, class U>
__device__ __forceinline__ void sort_by_passes(U *keys, uint32_t count, uint32_t lowest_bit,
                                               PassSortStorage<kThreads> &storage) {
  const uint64_t bits = differing_bits<kThreads>(keys, count, storage) >> lowest_bit << lowest_bit;
  __syncthreads();
  sort_by_bits<kThreads, kItems>(keys, count, bits, storage);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_PASS_SORT_CUH_
