// SPDX-License-Identifier: MIT OR Apache-2.0
// How the sample sort makes cells of bins once they are counted; every block that moves keys does, so that none waits
// for another.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_LAYOUT_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_LAYOUT_CUH_

#include <cstdint>

#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/sample_sort/splitters.cuh"
#include "cuda/sort/sample_sort/tables.h"

namespace gsort_internal::sort::sample_sort {

// In shared memory, of blocks of up to 1,024 threads.
struct Layout {
  uint16_t bin_cell[kBins];        // or kSplitNoBin: keys of one value are not moved
  uint32_t cell_first[kBins + 1];  // place in the output
  uint32_t cell_keys[kBins];
  uint32_t warp_totals[32];
  bool ends_in_value[32];  // the last bin of each warp
};

// What a thread knows of its bins, of which it has kOwn neighbouring ones.
template <class U, uint32_t kOwn>
struct OwnBins {
  static constexpr uint32_t kThreads = kBins / kOwn;

  U starts[kOwn];
  uint32_t counts[kOwn], places[kOwn];
  bool one_value[kOwn];
};

// All bins are counted. start(bin): the least key of a bin; behind the last comes 0. Has a barrier.
template <uint32_t kOwn, class U, class Start>
__device__ __forceinline__ OwnBins<U, kOwn> look_at_bins(const Arguments<U> &arguments, Start start, Layout &layout) {
  OwnBins<U, kOwn> own;
  const uint32_t first = kOwn * threadIdx.x;
  uint32_t sum = 0, total;
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) {
    own.starts[i] = start(first + i);
    own.one_value[i] = has_one_value(own.starts[i], first + i + 1 < kBins ? start(first + i + 1) : U{0});
    own.counts[i] = __ldcg(arguments.bin_counts + first + i);
    sum += own.counts[i];
  }
  if (lane_id() == 31) layout.ends_in_value[threadIdx.x / 32] = own.one_value[kOwn - 1];
  uint32_t place = block_exclusive_sum<OwnBins<U, kOwn>::kThreads>(sum, layout.warp_totals, total);
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) {
    own.places[i] = place;
    place += own.counts[i];
  }
  return own;
}

// Whether a bin is apart from the one before, which ends in the same part but reaches so far back that together they
// might be more than a block holds.
__device__ __forceinline__ bool is_apart(uint32_t place, uint32_t place_before, uint32_t part_keys) {
  const uint32_t part = place == 0 ? 0 : (place - 1) / part_keys;
  return place_before < part * part_keys && (part + 1) * part_keys - place_before > kCellKeysMax;
}

// Which of a thread's bins begin a cell: the first that ends in its part of the output, the first behind a value, and,
// where `apart`, such as are apart. Returns how many do.
template <uint32_t kOwn, class U>
__device__ __forceinline__ uint32_t find_begins(const OwnBins<U, kOwn> &own, uint32_t part_keys, bool apart,
                                                const Layout &layout, bool (&begins)[kOwn]) {
  bool behind_value = __shfl_up_sync(kFullWarp, own.one_value[kOwn - 1], 1);
  uint32_t place_before = __shfl_up_sync(kFullWarp, own.places[kOwn - 1], 1);
  if (lane_id() == 0) {
    behind_value = threadIdx.x == 0 || layout.ends_in_value[threadIdx.x / 32 - 1];
    place_before = own.places[0];  // not known: such cells may be large
  }
  uint32_t begun = 0;
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) {
    const uint32_t place = own.places[i], end = place + own.counts[i];
    const bool in_new_part = end != place && (place == 0 || (end - 1) / part_keys != (place - 1) / part_keys);
    const bool parted = apart && end != place && is_apart(place, place_before, part_keys);
    begins[i] = !own.one_value[i] && (behind_value || in_new_part || parted);
    begun += begins[i];
    behind_value = own.one_value[i];
    place_before = place;
  }
  return begun;
}

// Numbers the cells: each has neighbouring bins that end in the same part of the output, of no single value. Every
// block does. Returns the number of cells; ends with a barrier.
template <uint32_t kOwn, class U>
__device__ __forceinline__ uint32_t number_cells(const OwnBins<U, kOwn> &own, uint32_t part_keys, Layout &layout) {
  constexpr uint32_t kThreads = OwnBins<U, kOwn>::kThreads;
  for (uint32_t i = threadIdx.x; i < kBins; i += kThreads) layout.cell_keys[i] = 0;
  bool begins[kOwn];
  uint32_t cells;
  uint32_t number =
      block_exclusive_sum<kThreads>(find_begins(own, part_keys, true, layout, begins), layout.warp_totals, cells);
  if (cells > kCellsMax)
    number =
        block_exclusive_sum<kThreads>(find_begins(own, part_keys, false, layout, begins), layout.warp_totals, cells);
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) {
    if (begins[i]) layout.cell_first[number++] = own.places[i];
    const bool moved = !own.one_value[i];
    layout.bin_cell[kOwn * threadIdx.x + i] = static_cast<uint16_t>(moved ? number - 1 : msd::kSplitNoBin);
    if (moved && own.counts[i] != 0) atomicAdd(&layout.cell_keys[number - 1], own.counts[i]);
  }
  __syncthreads();
  return cells;
}

// For the kernel behind this one, by one block: the cells, and what is to be written of values that are not moved.
template <uint32_t kOwn, class U>
__device__ __forceinline__ void tell_cells(const Arguments<U> &arguments, const OwnBins<U, kOwn> &own, uint32_t cells,
                                           Layout &layout) {
  constexpr uint32_t kThreads = OwnBins<U, kOwn>::kThreads;
  __shared__ uint32_t bigs;
  if (threadIdx.x == 0) bigs = 0;
  uint32_t chunks[kOwn], sum = 0, all_chunks;
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) {
    chunks[i] = own.one_value[i] ? (own.counts[i] + kFillKeys - 1) / kFillKeys : 0;
    sum += chunks[i];
  }
  uint32_t chunk = block_exclusive_sum<kThreads>(sum, layout.warp_totals, all_chunks);
#pragma unroll
  for (uint32_t i = 0; i < kOwn; ++i) {
    const uint32_t bin = kOwn * threadIdx.x + i;
    arguments.starts[bin] = own.starts[i];
    for (uint32_t j = 0; j < chunks[i]; ++j, ++chunk) {
      const uint32_t offset = j * kFillKeys;
      arguments.fills[chunk] = {own.places[i] + offset, min(kFillKeys, own.counts[i] - offset), bin};
    }
  }
  for (uint32_t cell = threadIdx.x; cell < cells; cell += kThreads) {
    arguments.cells[cell] = {layout.cell_first[cell], layout.cell_keys[cell]};
    if (layout.cell_keys[cell] > kCellKeysMax) arguments.big[atomicAdd(&bigs, 1u)] = cell;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  arguments.state->cells = cells;
  arguments.state->fills = all_chunks;
  arguments.state->bigs = bigs;
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_LAYOUT_CUH_
