// SPDX-License-Identifier: MIT OR Apache-2.0
// First steps of the stable MSD sort: look at a sample, count the keys of every cell, turn counts into places.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_COUNT_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_COUNT_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/sort/msd/sample.cuh"
#include "cuda/sort/msd/stable_state.cuh"

namespace gsort_internal::sort::msd {

// One block. Decides whether the keys spread evenly enough below a common prefix, and differ enough, for cells; also
// clears the counters of cells. done: see launch_stable(). Dynamic shared memory: a bit table of 2^Sample::kMeetingBits
// bits.
template <class U, class Sample>
__global__ void __launch_bounds__(kStableCountThreads)
    stable_sample_kernel(const U *keys_in, uint64_t n, KeyCodec<U> codec, const uint32_t *done,
                         StableArguments arguments) {
  if constexpr (!kStableHasCode) {
    wait_for_kernel_before();
    if (blockIdx.x == 0 && threadIdx.x == 0)
      arguments.state->go = 0, arguments.state->sorted = done != nullptr && *done != 0;
    return;
  }
  extern __shared__ __align__(16) uint32_t seen[];
  wait_for_kernel_before();
  if (done != nullptr && *done != 0) {
    if (threadIdx.x == 0) arguments.state->go = 0, arguments.state->sorted = 1;
    return;
  }
  for (uint32_t i = threadIdx.x; i < 1u << arguments.plan.cell_bits; i += kStableCountThreads) arguments.cells[i] = 0;
  const SampleView<U> view = look_at_sample<Sample, kStableCountThreads, false>(keys_in, n, codec, seen);
  if (threadIdx.x != 0) return;
  StableState state = {};
  state.go = !view.crowded && view.range_bits >= arguments.plan.cell_bits && !view.many_equal;
  state.sorted = state.go;
  state.range_bits = view.range_bits;
  state.prefix = common_prefix(view.bits, view.range_bits);
  *arguments.state = state;
}

// A word more after every 32 spreads the threads over the banks.
__device__ __forceinline__ constexpr uint32_t padded_cell(uint32_t cell) { return cell + cell / 32; }

// Makes the counts in `staged` first places. Returns whether one of this thread's cells has more pairs than the finish
// holds.
__device__ __forceinline__ bool place_staged_cells(const StableArguments &arguments, uint32_t *staged,
                                                   uint32_t *warp_totals, uint32_t &total) {
  // Every thread takes neighbouring cells, so that one scan over the block does.
  const uint32_t own = (1u << arguments.plan.cell_bits) / kStableCountThreads, own_first = threadIdx.x * own;
  uint32_t sum = 0;
  bool overfull = false;
  for (uint32_t i = 0; i < own; ++i) {
    const uint32_t count = staged[padded_cell(own_first + i)];
    overfull |= count > arguments.plan.cell_items_max;
    sum += count;
  }
  uint32_t place = block_exclusive_sum<kStableCountThreads>(sum, warp_totals, total);
  for (uint32_t i = 0; i < own; ++i) {
    const uint32_t count = staged[padded_cell(own_first + i)];
    staged[padded_cell(own_first + i)] = place;
    place += count;
  }
  return overfull;
}

// Tiles of the second pass.
__device__ __forceinline__ void place_stable_tiles(const StableArguments &arguments, const uint32_t *staged,
                                                   uint32_t *warp_totals, uint32_t total) {
  const uint32_t bins = 1u << arguments.plan.first_bits, second_bits = arguments.plan.second_bits;
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
// finish holds, or a foreign key, clears `go`. staged: room for the counts and a 32nd more.
__device__ inline void place_stable_cells(const StableArguments &arguments, uint32_t *staged, uint32_t *warp_totals) {
  const uint32_t cells = 1u << arguments.plan.cell_bits;
  for (uint32_t i = threadIdx.x; i < cells; i += kStableCountThreads)
    staged[padded_cell(i)] = __ldcg(&arguments.cells[i]);
  __syncthreads();
  uint32_t total;
  const bool overfull = place_staged_cells(arguments, staged, warp_totals, total);
  if (__syncthreads_or(overfull || *static_cast<volatile uint32_t *>(&arguments.state->foreign) != 0)) {
    if (threadIdx.x == 0) arguments.state->go = 0, arguments.state->sorted = 0;
    return;
  }
  for (uint32_t i = threadIdx.x; i < cells; i += kStableCountThreads) arguments.cells[i] = staged[padded_cell(i)];
  place_stable_tiles(arguments, staged, warp_totals, total);
  if (threadIdx.x == 0) arguments.cells[cells] = total;
}
static_assert((1u << kStableCellBitsMin) >= kStableCountThreads, "every thread takes cells");

// Counts the keys of every cell: in shared memory (dynamic, stable_counts_bytes()), then added to `cells`, which is
// zero. A key with another prefix than the sample's sets `foreign`. The last block makes places of the counts.
template <class U>
__global__ void __launch_bounds__(kStableCountThreads)
    stable_histogram_kernel(const U *keys_in, uint64_t n, KeyCodec<U> codec, StableArguments arguments) {
  extern __shared__ __align__(16) uint32_t counts[];
  __shared__ uint32_t warp_totals[kStableCountThreads / 32];
  wait_for_kernel_before();
  if (!kStableHasCode || arguments.state->go == 0) return;
  const uint32_t cells = 1u << arguments.plan.cell_bits, shift = stable_cell_shift(arguments);
  const uint32_t range_bits = arguments.state->range_bits;
  const U prefix = static_cast<U>(arguments.state->prefix);
  const U prefix_mask = range_bits >= sizeof(U) * 8 ? U{0} : static_cast<U>(~U{0} << range_bits);
  for (uint32_t i = threadIdx.x; i < cells; i += kStableCountThreads) counts[i] = 0;
  __syncthreads();
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
      atomicAdd(&counts[static_cast<uint32_t>(ordered >> shift) & (cells - 1)], 1);
    }
  }
  if (foreign) arguments.state->foreign = 1;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < cells; i += kStableCountThreads)
    if (counts[i] != 0) atomicAdd(&arguments.cells[i], counts[i]);
  if (is_last_block(&arguments.state->tickets, gridDim.x)) place_stable_cells(arguments, counts, warp_totals);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_COUNT_CUH_
