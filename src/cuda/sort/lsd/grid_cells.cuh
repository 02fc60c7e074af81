// SPDX-License-Identifier: MIT OR Apache-2.0
// How the radix sort by a grid sees whether keys spread evenly, so that one pass moves them to cells: by a sample
// before that pass, and by its counts before anything is moved.
#ifndef GSORT_CUDA_SORT_LSD_GRID_CELLS_CUH_
#define GSORT_CUDA_SORT_LSD_GRID_CELLS_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/hash.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/lsd/grid_share.cuh"

namespace gsort_internal::sort::lsd {

// Bits in which the block's sampled keys differ. Clears the marks. Ends with a barrier.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ uint64_t differing_bits(GridStorage<U, V, kRows> &storage, U sampled) {
  static_assert(1u << kGridMarkBits <= kDigitBins * 32, "marks take the place of totals");
  if (threadIdx.x < (1u << kGridMarkBits) / 32) storage.totals[0][threadIdx.x] = 0;
  const uint64_t any = warp_or(uint64_t{sampled}), zero = warp_or(uint64_t{static_cast<U>(~sampled)});
  if (lane_id() == 0) storage.varying[threadIdx.x / 32] = any, storage.zeros[threadIdx.x / 32] = zero;
  __syncthreads();
  return warp_or(storage.varying[lane_id()]) & warp_or(storage.zeros[lane_id()]);
}

// What a sample shows. range_bits: bits of its keys below what they have in common.
struct GridView {
  uint32_t range_bits, passes;
  bool even;
};

// Ends with a barrier.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ GridView look_at_sample(const GridParams<U> &params, GridStorage<U, V, kRows> &storage) {
  // One key of each of equal parts of the input.
  const uint32_t part = params.n / kGridThreads;
  const U sampled =
      params.codec.encode(__ldcg(params.keys[0] + threadIdx.x * part + __umulhi(mix_bits(threadIdx.x), part)));
  const uint64_t differ = differing_bits(storage, sampled);
  const uint32_t range_bits = bit_width(static_cast<U>(differ));
  const uint32_t shift = range_bits > kGridMarkBits ? range_bits - kGridMarkBits : 0;
  const uint32_t mark = static_cast<uint32_t>(sampled >> shift) & ((1u << kGridMarkBits) - 1);
  const bool met = (atomicOr(&storage.totals[0][mark / 32], 1u << mark % 32) >> mark % 32 & 1) != 0;
  const bool even = static_cast<uint32_t>(__syncthreads_count(met)) <= kGridMeetingsMax;
  return {range_bits, digits_of_bits(differ), even};
}

// Whether all keys have what the sampled ones have in common, and no cell more than a block finishes. Told by the
// counts of groups, which stay for a round: blocks that are ahead may write counts of their own.
template <class U, class V, uint32_t kRows>
__device__ __forceinline__ bool cells_are_good(const GridParams<U> &params, const GridStorage<U, V, kRows> &storage,
                                               const Share &share, const GridPass<U> &pass) {
  const uint32_t cell = threadIdx.x;
  uint32_t count = 0;
  if (cell < kDigitBins) {
#pragma unroll
    for (uint32_t group = 0; group < kGridGroups; ++group) count += storage.totals[group][cell];
  }
  // What stands for keys behind the last lies in the last cell.
  if (cell == kDigitBins - 1) count -= gridDim.x * share.rows * kGridThreads - params.n;
  return !__syncthreads_or(bit_width(static_cast<U>(pass.left)) != pass.range_bits ||
                           count > msd::BlockShape<sizeof(U)>::kFinishKeysMax);
}

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_GRID_CELLS_CUH_
