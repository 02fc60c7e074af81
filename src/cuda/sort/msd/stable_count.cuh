// SPDX-License-Identifier: MIT OR Apache-2.0
// First steps of the stable MSD sort: look at a sample, count the keys of every cell, turn counts into places.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_COUNT_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_COUNT_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/clear_memory.cuh"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/sort/msd/sample.cuh"
#include "cuda/sort/msd/sampled_bytes.cuh"
#include "cuda/sort/msd/stable_map.cuh"
#include "cuda/sort/msd/stable_state.cuh"

namespace gsort_internal::sort::msd {

// Bits of an 8-byte key that the map is of. Uneven keys have rare ones that the sample misses: the smallest of floats
// in [0, 1) have another prefix, and floats whose exponents differ may have a zero or a NaN among them.
__device__ __forceinline__ uint32_t stable_range_bits(uint32_t sampled_bits, bool floats) {
  constexpr uint32_t kMantissaBits = 52;
  if (floats && sampled_bits > kMantissaBits) return 64;
  return min(max(sampled_bits + 4, kStableRangeBitsMin), 64u);
}

// Whether the keys spread evenly enough below a common prefix, and differ enough, for equal cells or the map; others
// are for the splitters. Keys that differ in few bytes are sorted as quickly by as many passes.
// So are keys of which each value comes twice and more, and few keys in clumps, which the finish of equal cells would
// put in order digit by digit. (H200, 2026-11-27: u64 + u64 of 3,000 leading halves with small numbers in the other
// half, 10 to 24 million, 2.0 to 1.4 times as long as by passes, 67 million 0.9; argsorts of u32 of 24 bits, 39 to 154
// million, 1.24 to 1.6.) Where bytes have so little entropy that values come again and again, they crowd in cells of
// the map, too (H200, 2026-11-29: 16.8 million doubles that are whole numbers below a million, argsorts 1,077 us by the
// map and 629 by four passes).
template <class U>
__device__ __forceinline__ StableState decide_stable(const SampleView<U> &view, const SampledBytes &bytes,
                                                     const StablePlan &plan, bool floats, uint64_t n) {
  StableState state = {};
  uint32_t passes = 0;
  for (uint64_t differ = view.differ; differ != 0; differ >>= 8) passes += (differ & 0xff) != 0;
  const bool spread = view.range_bits >= plan.cell_bits && !view.many_equal;
  const bool repeat_by_bytes = bytes.entropy < static_cast<float>(bit_width(n) - 1);
  const bool mapped = kStableMapHasCode<U> && view.crowded && plan.mapped_cells != 0 && passes > 3 && !repeat_by_bytes;
  state.passes = min(passes, (bytes.dense_bits + kDigitBits - 1) / kDigitBits + plan.dense_passes);
  state.mostly_equal = view.mostly_equal;
  state.entropy = bytes.entropy;
  state.has_splitters = kStableMapHasCode<U> && plan.split_bins != 0 &&
                        state.passes >= (view.mostly_equal ? kStableEqualPasses : plan.split_passes);
  state.way = !spread || (view.crowded && !mapped) ? StableWay::kSplitters
              : mapped                             ? StableWay::kMapped
                                                   : StableWay::kEven;
  const bool clumped = view.clumped && n <= kSmallSampleItemsMax,
             repeat = view.range_bits < 64 && n >> view.range_bits > 1;
  state.go =
      state.way == StableWay::kEven ? !clumped && !repeat : state.way == StableWay::kMapped || state.has_splitters != 0;
  state.sorted = state.go;
  state.range_bits = mapped ? stable_range_bits(view.range_bits, floats) : view.range_bits;
  state.prefix = common_prefix(view.bits, state.range_bits);
  return state;
}

// What later kernels read where there is nothing to do: all of it, for the workspace holds garbage. By one thread.
__device__ __forceinline__ void leave_undone(StableState *state, bool sorted_before) {
  StableState undone = {};
  undone.sorted = sorted_before;
  *state = undone;
}

// The first block decides, and clears the counters of cells and the map's weights; the others clear what is told. done:
// see launch_stable(). Dynamic shared memory: a bit table of 2^Sample::kMeetingBits bits.
template <class U, class Sample>
__global__ void __launch_bounds__(kStableCountThreads)
    stable_sample_kernel(const U *keys_in, uint64_t n, KeyCodec<U> codec, const uint32_t *done, Cleared cleared,
                         StableArguments arguments) {
  wait_for_kernel_before();
  if (blockIdx.x != 0)
    clear_memory(cleared, (blockIdx.x - 1) * kStableCountThreads + threadIdx.x, (gridDim.x - 1) * kStableCountThreads);
  if constexpr (!kStableHasCode) {
    if (blockIdx.x == 0 && threadIdx.x == 0) leave_undone(arguments.state, done != nullptr && *done != 0);
    return;
  }
  if (blockIdx.x != 0) return;
  extern __shared__ __align__(16) uint32_t seen[];
  if (done != nullptr && *done != 0) {
    if (threadIdx.x == 0) leave_undone(arguments.state, true);
    return;
  }
  const SampleView<U> view = look_at_sample<Sample, kStableCountThreads, false>(keys_in, n, codec, seen);
  SampledBytes bytes = kRandomBytes;
  if constexpr (kStableMapHasCode<U>) {
    if (view.crowded || view.many_equal)
      bytes = look_at_bytes<kStableCountThreads>(
          [&](uint32_t i) { return codec.encode(keys_in[sample_place<kSampledBytesKeys / 4>(i, n)]); });
  }
  const StableState state = decide_stable(view, bytes, arguments.plan, codec.mask_positive != codec.mask_negative, n);
  if (threadIdx.x == 0) *arguments.state = state;
  if (state.go == 0 || state.way == StableWay::kSplitters) return;
  const bool mapped = state.way == StableWay::kMapped;
  const uint32_t cells = mapped ? arguments.plan.mapped_cells : 1u << arguments.plan.cell_bits;
  for (uint32_t i = threadIdx.x; i < cells; i += kStableCountThreads) arguments.cells[i] = 0;
  if (!mapped) return;
  for (uint32_t i = threadIdx.x; i < kMapWeights; i += kStableCountThreads) arguments.weights[i] = 0;
}

// A word more after every 32 spreads the threads over the banks.
__device__ __forceinline__ constexpr uint32_t padded_cell(uint32_t cell) { return cell + cell / 32; }

// Pairs that the finish takes of a cell.
template <class U>
__device__ __forceinline__ uint32_t stable_items_max(const StableArguments &arguments, uint32_t cell) {
  if (!kStableMapHasCode<U> || arguments.state->way == StableWay::kEven) return arguments.plan.cell_items_max;
  // Written by this kernel's blocks.
  const uint32_t rest_bits = stable_mapped_rest_bits(arguments.state->range_bits, __ldcg(&arguments.ranges[cell].y));
  return min(kStableFinishItems, 1u << stable_mapped_place_bits<U>(rest_bits));
}

// Makes the counts in `staged` first places. Returns whether one of this thread's cells has more pairs than the finish
// holds.
template <class U>
__device__ __forceinline__ bool place_staged_cells(const StableArguments &arguments, uint32_t cells, uint32_t *staged,
                                                   uint32_t *warp_totals, uint32_t &total) {
  // Every thread takes neighbouring cells, so that one scan over the block does.
  const uint32_t own = (cells + kStableCountThreads - 1) / kStableCountThreads, own_first = threadIdx.x * own;
  const uint32_t own_end = min(own_first + own, cells);
  uint32_t sum = 0;
  bool overfull = false;
  for (uint32_t cell = own_first; cell < own_end; ++cell) {
    const uint32_t count = staged[padded_cell(cell)];
    overfull |= count > kStableCellItemsLeast && count > stable_items_max<U>(arguments, cell);
    sum += count;
  }
  uint32_t place = block_exclusive_sum<kStableCountThreads>(sum, warp_totals, total);
  for (uint32_t cell = own_first; cell < own_end; ++cell) {
    const uint32_t count = staged[padded_cell(cell)];
    staged[padded_cell(cell)] = place;
    place += count;
  }
  return overfull;
}

// Tiles of the second pass.
__device__ __forceinline__ void place_stable_tiles(const StableArguments &arguments, const StableCut &cut,
                                                   const uint32_t *staged, uint32_t *warp_totals, uint32_t total) {
  const uint32_t bins = cut.bins(), second_bits = cut.second_bits;
  uint32_t tiles = 0;
  if (threadIdx.x < bins) {
    const uint32_t first = staged[padded_cell(threadIdx.x << second_bits)];
    const uint32_t end = threadIdx.x + 1 < bins ? staged[padded_cell((threadIdx.x + 1) << second_bits)] : total;
    tiles = (end - first + arguments.tile_items - 1) / arguments.tile_items;
  }
  uint32_t all_tiles;
  const uint32_t first_tile = block_exclusive_sum<kStableCountThreads>(tiles, warp_totals, all_tiles);
  if (threadIdx.x < bins) arguments.first_tile[threadIdx.x] = first_tile;
  if (threadIdx.x == 0) arguments.first_tile[bins] = all_tiles;
}

// Places of cells and tiles of the second pass, by the last block of the histogram. A cell with more pairs than the
// finish holds, or a foreign key, turns all away. staged: room for the counts and a 32nd more.
template <class U>
__device__ __forceinline__ void place_stable_cells(const StableArguments &arguments, uint32_t *staged,
                                                   uint32_t *warp_totals) {
  const bool mapped = kStableMapHasCode<U> && arguments.state->way == StableWay::kMapped;
  const StableCut cut = mapped ? stable_cut<StableWay::kMapped>(arguments) : stable_cut<StableWay::kEven>(arguments);
  for (uint32_t i = threadIdx.x; i < cut.cells; i += kStableCountThreads)
    staged[padded_cell(i)] = __ldcg(&arguments.cells[i]);
  __syncthreads();
  uint32_t total;
  const bool overfull = place_staged_cells<U>(arguments, cut.cells, staged, warp_totals, total);
  if (__syncthreads_or(overfull || *static_cast<volatile uint32_t *>(&arguments.state->foreign) != 0)) {
    if (threadIdx.x == 0) turn_away(arguments.state);
    return;
  }
  for (uint32_t i = threadIdx.x; i < cut.cells; i += kStableCountThreads) arguments.cells[i] = staged[padded_cell(i)];
  place_stable_tiles(arguments, cut, staged, warp_totals, total);
  if (threadIdx.x == 0) arguments.cells[cut.cells] = total;
}

// Counts the block's share of the keys in `counts`, behind which the map has its place. Returns whether a key has
// another prefix than the sample's.
template <class U, bool kMapped>
__device__ __forceinline__ bool count_stable_cells(const U *keys_in, uint64_t n, const KeyCodec<U> &codec,
                                                   const StableArguments &arguments, uint32_t *counts) {
  const uint32_t cells = kMapped ? arguments.plan.mapped_cells : 1u << arguments.plan.cell_bits;
  const uint32_t shift = kMapped ? stable_map_align<U>(arguments) : stable_cell_shift(arguments);
  const uint32_t range_bits = arguments.state->range_bits;
  const U prefix = static_cast<U>(arguments.state->prefix);
  const U prefix_mask = range_bits >= sizeof(U) * 8 ? U{0} : static_cast<U>(~U{0} << range_bits);
  uint32_t *const map = counts + cells;
  for (uint32_t i = threadIdx.x; i < cells; i += kStableCountThreads) counts[i] = 0;
  if constexpr (kMapped)
    for (uint32_t i = threadIdx.x; i < kStableMapEntries; i += kStableCountThreads) map[i] = arguments.map[i];
  __syncthreads();
  if constexpr (kMapped) describe_stable_cells(arguments, map);
  bool foreign = false;
  const uint64_t tile = kStableCountThreads * kStableCountItems;
  for (uint64_t base = blockIdx.x * tile; base < n; base += gridDim.x * tile) {
    U key[kStableCountItems];
    const bool whole = base + tile <= n;
#pragma unroll
    for (uint32_t i = 0; i < kStableCountItems; ++i) {
      const uint64_t place = base + i * kStableCountThreads + threadIdx.x;
      if (whole || place < n) key[i] = keys_in[place];
    }
#pragma unroll
    for (uint32_t i = 0; i < kStableCountItems; ++i) {
      if (!whole && base + i * kStableCountThreads + threadIdx.x >= n) continue;
      const U ordered = codec.encode(key[i]);
      foreign |= ((ordered ^ prefix) & prefix_mask) != 0;
      const uint32_t cell = kMapped ? stable_mapped_cell(map, leading_bits(ordered, shift))
                                    : static_cast<uint32_t>(ordered >> shift) & (cells - 1);
      atomicAdd(&counts[cell], 1);
    }
  }
  return foreign;
}

// Counts the keys of every cell: in shared memory (dynamic, stable_counts_bytes()), then added to `cells`, which is
// zero. A key with another prefix than the sample's sets `foreign`. The last block makes places of the counts.
template <class U>
__global__ void __launch_bounds__(kStableCountThreads, stable_blocks_per_sm(kStableCountThreads))
    stable_histogram_kernel(const U *keys_in, uint64_t n, KeyCodec<U> codec, StableArguments arguments) {
  extern __shared__ __align__(16) uint32_t counts[];
  __shared__ uint32_t warp_totals[kStableCountThreads / 32];
  wait_for_kernel_before();
  if (!kStableHasCode || arguments.state->go == 0 || arguments.state->way == StableWay::kSplitters) return;
  const bool mapped = kStableMapHasCode<U> && arguments.state->way == StableWay::kMapped;
  const uint32_t cells = mapped ? arguments.plan.mapped_cells : 1u << arguments.plan.cell_bits;
  const bool foreign = mapped ? count_stable_cells<U, kStableMapHasCode<U>>(keys_in, n, codec, arguments, counts)
                              : count_stable_cells<U, false>(keys_in, n, codec, arguments, counts);
  if (foreign) arguments.state->foreign = 1;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < cells; i += kStableCountThreads)
    if (counts[i] != 0) atomicAdd(&arguments.cells[i], counts[i]);
  if (is_last_block(&arguments.state->tickets, gridDim.x)) place_stable_cells<U>(arguments, counts, warp_totals);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_COUNT_CUH_
