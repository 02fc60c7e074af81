// SPDX-License-Identifier: MIT OR Apache-2.0
// How the stable sample sort makes cells of bins once these are counted.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_CELLS_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_CELLS_CUH_

#include <cstdint>

#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/sample_sort/stable_bins.cuh"
#include "cuda/sort/sample_sort/stable_sample.cuh"

namespace gsort_internal::sort::sample_sort {

// What a thread knows of its bin.
struct StableBin {
  bool is_bin;     // some threads have none
  uint64_t start;  // its least key
  bool one_value, is_wide;
  uint32_t count, place;  // of all pairs; in the output
};

// Behind a barrier of the grid: the thread's bin. share_place: the place in the output of the share's first pair of it.
// Has a barrier.
template <uint32_t kBits>
__device__ __forceinline__ StableBin place_bin(const StableTables &tables, StableBins<kBits> &bins,
                                               uint32_t &share_place) {
  const uint32_t bin = threadIdx.x, own_group = blockIdx.x / kStableGroupBlocks;
  const bool is_bin = bin < StableBins<kBits>::kBins;
  uint32_t of_group[kStableGroups], of_block[kStableGroupBlocks];
#pragma unroll
  for (uint32_t i = 0; i < kStableGroups; ++i)
    of_group[i] = is_bin ? __ldcg(tables.group_counts + (i << kBits) + bin) : 0;
#pragma unroll
  for (uint32_t i = 0; i < kStableGroupBlocks; ++i) {
    const uint32_t block = own_group * kStableGroupBlocks + i;
    of_block[i] = is_bin && block < blockIdx.x ? __ldcg(tables.counts + (block << kBits) + bin) : 0;
  }
  uint32_t count = 0, before = 0, total;
#pragma unroll
  for (uint32_t i = 0; i < kStableGroups; ++i) {
    count += of_group[i];
    before += i < own_group ? of_group[i] : 0;
  }
#pragma unroll
  for (uint32_t i = 0; i < kStableGroupBlocks; ++i) before += of_block[i];
  const uint32_t place = block_exclusive_sum<kStableThreads>(count, bins.warp_totals, total);
  share_place = place + before;
  if (!is_bin) return {false, 0, false, false, 0, place};
  const uint64_t start = bins.starts[bin], next_start = bins.starts[bin + 1];
  return {true, start, has_one_value(start, next_start), is_wide(start, next_start), count, place};
}

// Numbers the cells, tells where each begins, and lists what is to be done in it. A bin of one value, a wide one, or
// one of many pairs is a cell alone; other bins are together that end in the same part of the output. By one block.
// cell_items: of these parts. firsts: room for as many words as there are bins.
__device__ __forceinline__ void tell_cells(const StableTables &tables, uint32_t n, uint32_t cell_items,
                                           const StableBin &own, uint32_t *firsts, uint32_t *warp_totals) {
  __shared__ bool warp_ends_alone[kStableThreads / 32];
  __shared__ uint32_t finished, large, pieces;
  constexpr uint32_t kRunMark = 1u << 31;
  static_assert(kStableItemsMax < kRunMark, "places leave a bit");
  const bool alone = own.one_value || own.count > cell_items || own.is_wide;
  bool behind_alone = __shfl_up_sync(kFullWarp, alone, 1);
  if (lane_id() == 31) warp_ends_alone[threadIdx.x / 32] = alone;
  if (threadIdx.x == 0) finished = large = pieces = 0;
  __syncthreads();
  if (lane_id() == 0) behind_alone = threadIdx.x == 0 || warp_ends_alone[threadIdx.x / 32 - 1];
  const uint32_t end = own.place + own.count;
  const bool in_new_part = own.count != 0 && (own.place == 0 || (end - 1) / cell_items != (own.place - 1) / cell_items);
  const bool begins = own.is_bin && (alone || behind_alone || in_new_part);
  uint32_t cells;
  const uint32_t number = block_exclusive_sum<kStableThreads>(begins, warp_totals, cells);
  if (begins) {
    firsts[number] = own.place | (own.one_value ? kRunMark : 0);
    // The outermost cells are as wide as their keys need; behind the last there may be empty ones.
    tables.starts[number] = number == 0      ? __ldcg(tables.range)
                            : own.place == n ? __ldcg(tables.range + 1) + 1
                                             : own.start;
    tables.cells[number] = own.place;
  }
  if (threadIdx.x == 0) {
    tables.starts[cells] = __ldcg(tables.range + 1) + 1;
    tables.cells[cells] = n;
  }
  __syncthreads();
  if (threadIdx.x < cells) {
    const uint32_t cell = threadIdx.x, first = firsts[cell] & ~kRunMark;
    const uint32_t count = (cell + 1 < cells ? firsts[cell + 1] & ~kRunMark : n) - first;
    if ((firsts[cell] & kRunMark) != 0) {
      uint32_t piece = atomicAdd(&pieces, (count + msd::kStablePieceItems - 1) / msd::kStablePieceItems);
      for (uint32_t done = 0; done < count; done += msd::kStablePieceItems)
        tables.pieces[piece++] = {first + done, min(msd::kStablePieceItems, count - done)};
    } else if (count > msd::kStableFinishItems) {
      tables.large[atomicAdd(&large, 1u)] = cell;
    } else if (count != 0) {
      tables.finished[atomicAdd(&finished, 1u)] = cell;
    }
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  msd::StableState *const state = state_of(tables);
  state->finished = finished;
  state->large = large;
  state->pieces = pieces;
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_CELLS_CUH_
