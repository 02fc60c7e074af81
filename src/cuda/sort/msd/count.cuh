// SPDX-License-Identifier: MIT OR Apache-2.0
// First steps of the MSD sort: look at a sample, count the keys of every cell, turn counts into places.
#ifndef GSORT_CUDA_SORT_MSD_COUNT_CUH_
#define GSORT_CUDA_SORT_MSD_COUNT_CUH_

#include <cstdint>
#include <type_traits>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/clear_memory.cuh"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/sort/msd/lumps.cuh"
#include "cuda/sort/msd/map.cuh"
#include "cuda/sort/msd/sample.cuh"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::msd {

// Clears the counters of cells and the map's weights, by all blocks but the first.
template <class U>
__device__ __forceinline__ void clear_counters(const Arguments<U> &arguments) {
  const uint32_t cells = max(mapped_cells<U>(arguments.plan), 1u << arguments.plan.cell_bits);
  const uint32_t first = (blockIdx.x - 1) * kSampleThreads + threadIdx.x;
  for (uint32_t i = first; i < cells; i += (gridDim.x - 1) * kSampleThreads) arguments.cells[i] = 0;
  if (arguments.plan.mapped_cells == 0) return;
  for (uint32_t i = first; i < kMapWeights; i += (gridDim.x - 1) * kSampleThreads) arguments.weights[i] = 0;
}

// Whether the keys spread evenly enough below a common prefix, and differ enough, for equal cells or the map.
template <class U>
__device__ __forceinline__ State<U> decide(const SampleView<U> &view, const Plan &plan, bool splitters_only) {
  const bool wide_enough = view.range_bits >= plan.cell_bits && view.range_bits > 8;
  // Bytes of the keys that differ: passes of the LSD sort, which is quicker with so few, but for data that is even.
  uint32_t passes = 0;
  for (uint64_t differ = view.differ; differ != 0; differ >>= 8) passes += (differ & 0xff) != 0;
  const bool takes_crowds = sizeof(U) == 4 && plan.takes_crowds;
  const uint32_t few_passes = plan.map_shares == 0 || usual_shares(plan.cell_bits) <= kFewPassShares ? 3 : 2;
  // Keys that crowd where a digit of an equal cell has several values; of the map's cells that is asked when it is
  // made. One pass moves few keys, of which the sort behind it makes no better use.
  const bool crowds = view.closer && !view.crowded && view.range_bits > plan.cell_bits + kFinishBits;
  const bool alike = view.runs && !view.many_equal;
  const bool for_passes = (takes_crowds && view.many_equal && passes <= few_passes) ||
                          (sizeof(U) == 4 && plan.leaves_close && plan.second_bits != 0 && (crowds || alike));
  const bool mapped = (view.crowded || (takes_crowds && view.many_equal)) && plan.mapped_cells != 0;
  State<U> state = {};
  // Uneven keys have rare ones that the sample misses: the smallest of floats in [0, 1) have another prefix.
  state.range_bits = view.range_bits;
  if (view.crowded || mapped) state.range_bits = sizeof(U) == 4 ? 32 : min(view.range_bits + 4, 64u);
  const bool even = !view.crowded && !view.many_equal && wide_enough;
  // Crowded cells that are not the map's have a table for all their values, or they are few.
  const bool served = takes_crowds ? mapped || even || (wide_enough && state.range_bits <= plan.cell_bits + 17)
                                   : (mapped && !view.many_equal && wide_enough) || even;
  state.go = served && !for_passes && !splitters_only;
  state.sorted = state.go;
  state.mapped = mapped;
  state.takes_crowds = takes_crowds;
  state.many_equal = view.many_equal;
  state.few_values = view.few_values;
  state.prefix = common_prefix(view.bits, state.range_bits);
  return state;
}

// The first block decides, the others clear. done, cleared: see Sort. Dynamic shared memory: a bit table of
// 2^Sample::kMeetingBits bits.
template <class U, class Sample>
__global__ void __launch_bounds__(kSampleThreads)
    msd_sample_kernel(const U *keys_in, uint64_t n, KeyCodec<U> codec, const uint32_t *done, bool splitters_only,
                      uint32_t *split_tickets, Cleared cleared, Arguments<U> arguments) {
  wait_for_kernel_before();
  if (blockIdx.x != 0)
    clear_memory(cleared, (blockIdx.x - 1) * kSampleThreads + threadIdx.x, (gridDim.x - 1) * kSampleThreads);
  if constexpr (!kFitsHere<kSharedBytesMin>) {
    // Should it be chosen all the same, every input is turned away.
    if (blockIdx.x == 0 && threadIdx.x == 0)
      arguments.state->go = 0, arguments.state->sorted = done != nullptr && *done != 0;
    return;
  }
  extern __shared__ __align__(16) uint32_t seen[];
  if (done != nullptr && *done != 0) {
    if (blockIdx.x == 0 && threadIdx.x == 0) arguments.state->go = 0, arguments.state->sorted = 1;
    return;
  }
  if (blockIdx.x != 0) return clear_counters(arguments);
  const SampleView<U> view = look_at_sample<Sample, kSampleThreads, true>(keys_in, n, codec, seen);
  State<U> state = decide(view, arguments.plan, splitters_only);
  if constexpr (sizeof(U) == 4 && std::is_same<Sample, SmallSample>::value) {
    const uint32_t shares = usual_shares(arguments.plan.cell_bits);
    const bool looks = state.mapped != 0 && state.many_equal != 0 && shares <= kHeavyCellsMax;
    if (state.go != 0 && looks && has_heavy_values<Sample, kSampleThreads>(keys_in, n, codec, shares, seen))
      state.go = state.sorted = 0;
  }
  if (threadIdx.x != 0) return;
  *arguments.state = state;
  if (split_tickets != nullptr) *split_tickets = 0;
}

// Lists a cell with more keys than the finish takes, if such cells are taken.
template <class U>
__device__ __forceinline__ bool list_crowded_cell([[maybe_unused]] const Arguments<U> &arguments,
                                                  [[maybe_unused]] uint32_t cell, [[maybe_unused]] uint32_t count) {
  if constexpr (sizeof(U) == 4) {
    if (arguments.state->takes_crowds == 0) return false;
    const KeyRange range = range_of_cell(arguments, cell);
    if (count <= kCrowdKeysMax || !is_huge(count, range)) {
      // Frequent values are counted here, though they are not moved.
      if (count > kLoneBlockChunks * arguments.plan.huge_chunk && arguments.state->frequent == 0) return false;
      arguments.crowded[atomicAdd(&arguments.state->crowded, 1u)] = cell;
      return true;
    }
    const HugeCounts number(atomicAdd(&arguments.state->huge, HugeCounts::of_cell(count, range, arguments.plan)));
    HugeCell &huge = arguments.huge[number.cells];
    huge.cell = cell;
    huge.first_count = number.counts, huge.first_piece = number.pieces;
    huge.begin = range.begin, huge.last = range.last;
    for (uint32_t part = 0; part < kValueParts; ++part) huge.totals[part] = 0;
    return true;
  }
  return false;
}

// Turns the counts of `cells` neighbouring cells into places, the first of which is `before`; adds them up in `before`.
// Returns whether a cell has more keys than the finish takes and is not listed. staged: room for the counts and a 32nd
// more.
template <class U>
__device__ __forceinline__ bool scan_cells(const Arguments<U> &arguments, uint32_t first_cell, uint32_t cells,
                                           uint32_t *staged, uint32_t *warp_totals, uint32_t &before) {
  constexpr uint32_t kThreads = kHistogramThreads;
  // Every thread takes neighbouring cells, so that one scan over the block does. A word more after every 32 spreads
  // the threads over the banks.
  const auto padded = [](uint32_t cell) { return cell + cell / 32; };
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < cells; i += kThreads) staged[padded(i)] = __ldcg(&arguments.cells[first_cell + i]);
  __syncthreads();
  const uint32_t own = (cells + kThreads - 1) / kThreads, own_first = threadIdx.x * own;
  uint32_t sum = 0, total;
  bool overfull = false;
  for (uint32_t i = 0; i < own && own_first + i < cells; ++i) {
    const uint32_t count = staged[padded(own_first + i)];
    if (count > BlockShape<sizeof(U)>::kFinishKeysMax)
      overfull |= !list_crowded_cell(arguments, first_cell + own_first + i, count);
    sum += count;
  }
  uint32_t place = before + block_exclusive_sum<kThreads>(sum, warp_totals, total);
  before += total;
  for (uint32_t i = 0; i < own && own_first + i < cells; ++i) {
    const uint32_t count = staged[padded(own_first + i)];
    staged[padded(own_first + i)] = place;
    place += count;
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < cells; i += kThreads) {
    const uint32_t first = staged[padded(i)];
    arguments.cells[first_cell + i] = first;
    arguments.room[first_cell + i] = first;
  }
  return overfull;
}

// Places, cursors and tiles of the bins of the first pass, of which a thread has at most one, with `count` keys.
template <class U>
__device__ __forceinline__ void make_bin_places(const Arguments<U> &arguments, uint32_t bins, uint32_t count,
                                                uint32_t *warp_totals) {
  constexpr uint32_t kTile = BlockShape<sizeof(U)>::kPartitionTile;
  uint32_t keys, tiles;
  const uint32_t first = block_exclusive_sum<kHistogramThreads>(count, warp_totals, keys);
  const uint32_t first_tile = block_exclusive_sum<kHistogramThreads>((count + kTile - 1) / kTile, warp_totals, tiles);
  if (threadIdx.x < bins) {
    arguments.bin_first[threadIdx.x] = first;
    arguments.first_room[threadIdx.x] = first;
    arguments.first_tile[threadIdx.x] = first_tile;
  }
  if (threadIdx.x == 0) arguments.bin_first[bins] = keys, arguments.first_tile[bins] = tiles;
}

// Places of cells and cursors of the second pass, by one block of kHistogramThreads, `at_once` cells at a time. A cell
// with more keys than is taken turns the data away. Returns whether it did.
template <class U>
__device__ __forceinline__ bool make_cell_places(const Arguments<U> &arguments, uint32_t cells, uint32_t at_once,
                                                 uint32_t *staged, uint32_t *warp_totals) {
  uint32_t total = 0;
  bool overfull = false;
  for (uint32_t cell = 0; cell < cells; cell += at_once)
    overfull |= scan_cells(arguments, cell, min(at_once, cells - cell), staged, warp_totals, total);
  if (threadIdx.x == 0) arguments.cells[cells] = total;
  // Behind the barrier every thread may read the places.
  overfull = __syncthreads_or(overfull);
  if (overfull && threadIdx.x == 0) turn_away(arguments.state);
  return overfull;
}

// What the last block of the histogram makes of the counts. A foreign key turns the data away.
template <class U>
__device__ __forceinline__ void make_places(const Arguments<U> &arguments, uint32_t *staged, uint32_t *warp_totals) {
  if (*static_cast<volatile uint32_t *>(&arguments.state->foreign) != 0) {
    if (threadIdx.x == 0) turn_away(arguments.state);
    return;
  }
  const Cut cut = cut_of(arguments);
  const uint32_t bins = cut.bins();
  uint32_t count = 0;
  if (arguments.plan.counted_late) {
    if (threadIdx.x < bins) {
      count = __ldcg(&arguments.cells[threadIdx.x]);
      arguments.cells[threadIdx.x] = 0;
    }
  } else {
    if (make_cell_places(arguments, cut.cells, cut.cells, staged, warp_totals)) return;
    if (threadIdx.x < bins)
      count = __ldcg(&arguments.cells[(threadIdx.x + 1) << cut.second_bits]) -
              __ldcg(&arguments.cells[threadIdx.x << cut.second_bits]);
  }
  make_bin_places(arguments, bins, count, warp_totals);
}

// Clears the block's counts of cells, and loads the map behind them where there is one. Ends with a barrier.
template <class U, bool kMapped>
__device__ __forceinline__ void open_counts(const Arguments<U> &arguments, uint32_t cells, uint32_t *counts) {
  uint32_t *const map = counts + cells;
  for (uint32_t i = threadIdx.x; i < cells; i += kHistogramThreads) counts[i] = 0;
  if constexpr (kMapped)
    for (uint32_t i = threadIdx.x; i < kMapEntries; i += kHistogramThreads) map[i] = arguments.map[i];
  __syncthreads();
  if constexpr (kMapped) describe_mapped_cells(arguments, map);
}

// Adds the block's counts to the grid's. Begins with a barrier.
template <class U>
__device__ __forceinline__ void close_counts(const Arguments<U> &arguments, uint32_t cells, const uint32_t *counts) {
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < cells; i += kHistogramThreads)
    if (counts[i] != 0) atomicAdd(&arguments.cells[i], counts[i]);
}

// This thread's keys of the tile that begins at `base`. kWhole: all of the tile lies before n.
template <uint32_t kItems, bool kWhole, class U>
__device__ __forceinline__ void load_counted_keys(const U *keys_in, uint64_t n, uint64_t base, U (&keys)[kItems]) {
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    const uint64_t place = base + i * kHistogramThreads + threadIdx.x;
    if (kWhole || place < n) keys[i] = keys_in[place];
  }
}

// Counts keys by cell, or by bin if cells are counted late, in `counts`. kItems: loads in flight a thread.
template <class U, uint32_t kItems, bool kMapped>
__device__ __forceinline__ void count_keys(const U *keys_in, uint64_t n, const KeyCodec<U> &codec,
                                           const Arguments<U> &arguments, uint32_t *counts) {
  const Plan &plan = arguments.plan;
  const uint32_t range_bits = arguments.state->range_bits, align = map_align(arguments);
  const uint32_t late_bits = plan.counted_late ? plan.second_bits : 0;
  const uint32_t cells = kMapped ? mapped_cells<U>(plan) : even_cells(plan, sizeof(U)) >> late_bits;
  const EvenCells<U> even(arguments, late_bits);
  const U prefix = arguments.state->prefix;
  const U prefix_mask = range_bits >= sizeof(U) * 8 ? U{0} : static_cast<U>(~U{0} << range_bits);
  uint32_t *const map = counts + cells;
  open_counts<U, kMapped>(arguments, cells, counts);
  bool foreign = false;
  const uint64_t tile = kHistogramThreads * kItems;
  // Two bodies, named: left to the compiler, whole tiles were tested key by key (H200: 0.52 ms in place of 0.36).
  const auto count_tile = [&](auto whole, uint64_t base) {
    constexpr bool kWhole = decltype(whole)::value;
    U keys[kItems];
    load_counted_keys<kItems, kWhole>(keys_in, n, base, keys);
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) {
      if (!kWhole && base + i * kHistogramThreads + threadIdx.x >= n) continue;
      const U ordered = codec.encode(keys[i]);
      foreign |= ((ordered ^ prefix) & prefix_mask) != 0;
      const uint32_t cell = kMapped ? mapped_cell<U>(map, leading_bits(ordered, align)) : even(ordered);
      atomicAdd(&counts[cell], 1);
    }
  };
  for (uint64_t base = blockIdx.x * tile; base < n; base += gridDim.x * tile) {
    if (base + tile <= n)
      count_tile(std::true_type(), base);
    else
      count_tile(std::false_type(), base);
  }
  if (foreign) arguments.state->foreign = 1;
  close_counts(arguments, cells, counts);
}

// Counts all keys in shared memory (dynamic, histogram_bytes()), then adds to `cells`, which is zero. A key with
// another prefix than the sample's sets `foreign`. The last block makes places of the counts.
template <class U, uint32_t kItems>
__global__ void __launch_bounds__(kHistogramThreads)
    msd_histogram_kernel(const U *keys_in, uint64_t n, KeyCodec<U> codec, Arguments<U> arguments) {
  if constexpr (!kFitsHere<kSharedBytesMin>) return;
  extern __shared__ __align__(16) uint32_t counts[];
  __shared__ uint32_t warp_totals[kHistogramThreads / 32];
  wait_for_kernel_before();
  if (arguments.state->go == 0) return;
  if (arguments.state->mapped != 0)
    count_keys<U, kItems, true>(keys_in, n, codec, arguments, counts);
  else
    count_keys<U, kItems, false>(keys_in, n, codec, arguments, counts);
  if (is_last_block(&arguments.state->tickets, gridDim.x)) make_places(arguments, counts, warp_totals);
}

// Counts the keys of one bin that lie at [begin, end) by cell, and adds to `cells`.
template <class U>
__device__ __forceinline__ void count_bin(const U *keys, uint32_t begin, uint32_t end, const EvenCells<U> &even,
                                          uint32_t mask, uint32_t *counts, uint32_t *cells) {
  for (uint32_t i = threadIdx.x; i <= mask; i += kHistogramThreads) counts[i] = 0;
  __syncthreads();
  for (uint64_t base = begin; base < end; base += kHistogramThreads * kHistogramItems) {
    U key[kHistogramItems];
#pragma unroll
    for (uint32_t i = 0; i < kHistogramItems; ++i) {
      const uint64_t place = base + i * kHistogramThreads + threadIdx.x;
      if (place < end) key[i] = keys[place];
    }
#pragma unroll
    for (uint32_t i = 0; i < kHistogramItems; ++i)
      if (base + i * kHistogramThreads + threadIdx.x < end) atomicAdd(&counts[even(key[i]) & mask], 1);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i <= mask; i += kHistogramThreads)
    if (counts[i] != 0) atomicAdd(&cells[i], counts[i]);
  __syncthreads();
}

// The late count: of the cells of keys that the first pass has moved to their bins. Every block counts an equal share
// of the keys; the last one makes places of the counts. Dynamic shared memory: kLateCells words and a 32nd more.
template <class U>
__global__ void __launch_bounds__(kHistogramThreads)
    msd_late_count_kernel(const U *keys, uint32_t n, Arguments<U> arguments) {
  if constexpr (!kFitsHere<kSharedBytesMin>) return;
  extern __shared__ __align__(16) uint32_t counts[];
  __shared__ uint32_t warp_totals[kHistogramThreads / 32];
  wait_for_kernel_before();
  if (arguments.state->go == 0) return;
  const uint32_t second_bits = arguments.plan.second_bits, bins = even_cells(arguments.plan, sizeof(U)) >> second_bits;
  uint32_t begin = static_cast<uint32_t>(uint64_t{n} * blockIdx.x / gridDim.x);
  const uint32_t share_end = static_cast<uint32_t>(uint64_t{n} * (blockIdx.x + 1) / gridDim.x);
  for (uint32_t bin = 0; bin < bins && begin < share_end; ++bin) {
    const uint32_t bin_end = arguments.bin_first[bin + 1];
    if (bin_end <= begin) continue;
    const uint32_t end = min(bin_end, share_end);
    count_bin(keys, begin, end, EvenCells<U>(arguments, 0), (1u << second_bits) - 1, counts,
              arguments.cells + (bin << second_bits));
    begin = end;
  }
  if (is_last_block(&arguments.state->late_tickets, gridDim.x))
    make_cell_places(arguments, bins << second_bits, kLateCells, counts, warp_totals);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_COUNT_CUH_
