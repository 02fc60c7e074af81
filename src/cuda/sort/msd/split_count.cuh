// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts of the MSD sort by splitters: of bins before the first pass, of the digits of every bin behind it, which make
// its cells.
#ifndef GSORT_CUDA_SORT_MSD_SPLIT_COUNT_CUH_
#define GSORT_CUDA_SORT_MSD_SPLIT_COUNT_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/sort/msd/plan.h"
#include "cuda/sort/msd/split_state.cuh"

namespace gsort_internal::sort::msd {

constexpr uint32_t kSplitCountThreads = 1024;
constexpr uint32_t kSplitCountItems = 4;  // loads in flight a thread

template <class U>
struct SplitCountStorage {
  SplitTables<U> tables;
  uint32_t warp_totals[kSplitCountThreads / 32];
  uint32_t chunks[kSplitBinsMax + 1];
  uint32_t counts[1];  // bins_max << copy_bits
};

template <class U>
constexpr uint32_t split_count_bytes(const SplitPlan &plan) {
  return static_cast<uint32_t>(sizeof(SplitCountStorage<U>)) + (plan.bins_max << plan.copy_bits) * 4;
}

template <class U>
__device__ __forceinline__ SplitBins<U> load_split_bins(const SplitArguments<U> &arguments, SplitTables<U> &tables) {
  const SplitState<U> &state = *arguments.state;
  const uint32_t words = state.subs == 0 ? kSplitRoots : kSplitTableWords;
  for (uint32_t i = threadIdx.x; i < words / 4; i += blockDim.x)
    reinterpret_cast<uint4 *>(tables.root)[i] = reinterpret_cast<const uint4 *>(arguments.root)[i];
  for (uint32_t i = threadIdx.x; i <= state.bins; i += blockDim.x) tables.starts[i] = arguments.starts[i];
  if (threadIdx.x < kSplitSubsMax) {
    tables.sub_least[threadIdx.x] = arguments.sub_least[threadIdx.x];
    tables.sub_words[threadIdx.x] = arguments.sub_words[threadIdx.x];
  }
  return {state.least, state.most, state.shift, &tables};
}

// Lists what is to be written of values that are not moved, by one block that knows the bins' counts and places.
template <class U>
__device__ __forceinline__ void list_fills(const SplitArguments<U> &arguments, const SplitCountStorage<U> &storage,
                                           uint32_t bins) {
  for (uint32_t filled = 0; filled < bins; ++filled) {
    const uint32_t first = storage.chunks[filled], end = storage.chunks[filled + 1];
    for (uint32_t i = threadIdx.x; i < end - first; i += kSplitCountThreads) {
      const uint32_t offset = i * kSplitFillKeys;
      arguments.fills[first + i] = {storage.tables.root[filled] + offset,
                                    min(kSplitFillKeys, storage.counts[filled] - offset), filled};
    }
  }
}

// Places of bins, by the histogram's last block, and what is to be written of values that are not moved.
template <class U>
__device__ __forceinline__ void place_split_bins(const SplitArguments<U> &arguments, SplitCountStorage<U> &storage) {
  constexpr uint32_t kTile = BlockShape<sizeof(U)>::kPartitionTile;
  static_assert(kSplitBinsMax <= kSplitCountThreads, "a thread a bin");
  SplitState<U> &state = *arguments.state;
  const uint32_t bins = state.bins, bin = threadIdx.x;
  const uint32_t count = bin < bins ? __ldcg(&arguments.bin_counts[bin]) : 0;
  const SplitKind kind = bin < bins ? arguments.kinds[bin] : SplitKind::kValue;
  const uint32_t moved = kind == SplitKind::kValue ? 0 : count;
  const uint32_t tiles = kind == SplitKind::kWide ? (count + kTile - 1) / kTile : 0;
  const uint32_t chunks = kind == SplitKind::kValue ? (count + kSplitFillKeys - 1) / kSplitFillKeys : 0;
  uint32_t total_moved, total, total_tiles, total_chunks;
  const uint32_t scratch_first = block_exclusive_sum<kSplitCountThreads>(moved, storage.warp_totals, total_moved);
  const uint32_t out_first = block_exclusive_sum<kSplitCountThreads>(count, storage.warp_totals, total);
  const uint32_t first_tile = block_exclusive_sum<kSplitCountThreads>(tiles, storage.warp_totals, total_tiles);
  const uint32_t first_chunk = block_exclusive_sum<kSplitCountThreads>(chunks, storage.warp_totals, total_chunks);
  if (bin < bins) {
    arguments.scratch_first[bin] = scratch_first;
    arguments.first_room[bin] = scratch_first;
    arguments.out_first[bin] = out_first;
    arguments.first_tile[bin] = first_tile;
    arguments.bin_done[bin] = 0;
    arguments.bin_cells[bin] = {0, 0};
    storage.chunks[bin] = first_chunk;
    storage.counts[bin] = count;
    storage.tables.root[bin] = out_first;
  }
  if (bin == 0) {
    arguments.scratch_first[bins] = total_moved;
    arguments.first_tile[bins] = total_tiles;
    storage.chunks[bins] = total_chunks;
    state.moved = total_moved;
    state.fills = total_chunks;
  }
  __syncthreads();
  list_fills(arguments, storage, bins);
}

// Clears the block's counts of bins, and with the other blocks those of digits in memory.
template <class U>
__device__ __forceinline__ void clear_split_counts(const SplitArguments<U> &arguments, uint32_t bins,
                                                   uint32_t *counts) {
  for (uint32_t i = threadIdx.x; i < bins << arguments.plan.copy_bits; i += kSplitCountThreads) counts[i] = 0;
  const uint32_t digits = bins << arguments.plan.digit_bits;
  for (uint32_t i = blockIdx.x * kSplitCountThreads + threadIdx.x; i < digits / 4; i += gridDim.x * kSplitCountThreads)
    reinterpret_cast<uint4 *>(arguments.digits)[i] = make_uint4(0, 0, 0, 0);
}

// Counts the keys of the block's tiles by bin; neighbouring threads count in different copies.
template <class U>
__device__ __forceinline__ void count_split_tiles(const U *keys_in, uint64_t n, const KeyCodec<U> &codec,
                                                  const SplitBins<U> &tables, uint32_t copy_bits, uint32_t *counts) {
  const uint32_t copy = lane_id() & ((1u << copy_bits) - 1);
  constexpr uint32_t kItems = kSplitCountItems;
  constexpr uint64_t kTile = kSplitCountThreads * kItems;
  for (uint64_t base = blockIdx.x * kTile; base < n; base += gridDim.x * kTile) {
    constexpr uint32_t kBatch = 4;
    U key[kItems];
    const bool whole = base + kTile <= n;
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) {
      const uint64_t place = base + i * kSplitCountThreads + threadIdx.x;
      key[i] = codec.encode(whole || place < n ? keys_in[place] : U{0});
    }
#pragma unroll
    for (uint32_t first = 0; first < kItems; first += kBatch) {
      uint32_t bin[kBatch];
      tables.template find<false>(&key[first], bin);
#pragma unroll
      for (uint32_t i = 0; i < kBatch; ++i)
        if (whole || base + (first + i) * kSplitCountThreads + threadIdx.x < n)
          atomicAdd(&counts[bin[i] << copy_bits | copy], 1);
    }
  }
}

// Counts all keys by bin and clears the counts of digits.
template <class U>
__global__ void __launch_bounds__(kSplitCountThreads, blocks_here(kSplitCountThreads, 2))
    split_histogram_kernel(const U *keys_in, uint64_t n, KeyCodec<U> codec, SplitArguments<U> arguments) {
  if constexpr (!kFitsHere<kSharedBytesMin>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  SplitCountStorage<U> &storage = *reinterpret_cast<SplitCountStorage<U> *>(shared);
  wait_for_kernel_before();
  if (arguments.state->go == 0) return;
  const uint32_t bins = arguments.state->bins, copy_bits = arguments.plan.copy_bits, copies = 1u << copy_bits;
  uint32_t *const counts = storage.counts;
  const SplitBins<U> tables = load_split_bins(arguments, storage.tables);
  clear_split_counts(arguments, bins, counts);
  __syncthreads();
  count_split_tiles(keys_in, n, codec, tables, copy_bits, counts);
  __syncthreads();
  for (uint32_t bin = threadIdx.x; bin < bins; bin += kSplitCountThreads) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < copies; ++i) sum += counts[bin << copy_bits | ((i + threadIdx.x) & (copies - 1))];
    if (sum != 0) atomicAdd(&arguments.bin_counts[bin], sum);
  }
  if (is_last_block(&arguments.state->tickets, gridDim.x)) place_split_bins(arguments, storage);
}

struct SplitDigitStorage {
  uint32_t counts[4096];
  uint32_t cell_first[kSplitCellsMax + 1];
  uint32_t warp_totals[kSplitCountThreads / 32];
  uint32_t base;
};

// Of a narrow bin, whose digits are values: their first places, and chunks of output for blocks that fill.
template <class U>
__device__ __forceinline__ void place_values(const SplitArguments<U> &arguments, uint32_t bin, uint32_t count,
                                             SplitDigitStorage &storage) {
  const uint32_t digit_bits = arguments.plan.digit_bits, own = max((1u << digit_bits) / kSplitCountThreads, 1u);
  uint32_t sum = 0, total;
  const uint32_t first = threadIdx.x * own;
  for (uint32_t i = 0; i < own; ++i) sum += storage.counts[first + i];
  uint32_t place = block_exclusive_sum<kSplitCountThreads>(sum, storage.warp_totals, total);
  for (uint32_t i = 0; i < own; ++i) {
    arguments.digits[(bin << digit_bits) + first + i] = place;
    place += storage.counts[first + i];
  }
  const uint32_t chunks = (count + kSplitFillKeys - 1) / kSplitFillKeys;
  if (threadIdx.x == 0) storage.base = atomicAdd(&arguments.state->fills, chunks);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < chunks; i += kSplitCountThreads)
    arguments.fills[storage.base + i] = {arguments.out_first[bin] + i * kSplitFillKeys,
                                         min(kSplitFillKeys, count - i * kSplitFillKeys), bin};
}

// Numbers of the cells of a thread's digits, by neighbours that are put together. `scale`: how much larger cells are
// than the finish takes, where there would be too many. Returns the number of cells.
__device__ __forceinline__ uint32_t number_cells(const uint32_t *counts, uint32_t own, uint32_t place, uint32_t scale,
                                                 uint32_t *warp_totals, uint32_t &first_number) {
  const uint32_t cell_keys = kSplitCellKeys * scale, most = kSplitDigitKeys * scale, first = threadIdx.x * own;
  uint32_t begins = 0, cells;
  uint32_t before = first == 0 ? 0 : counts[first - 1], at = place;
  for (uint32_t i = 0; i < own; ++i) {
    const uint32_t count = counts[first + i];
    begins += first + i == 0 || count > most || before > most || at / cell_keys != (at - before) / cell_keys;
    at += count;
    before = count;
  }
  first_number = block_exclusive_sum<kSplitCountThreads>(begins, warp_totals, cells);
  return cells;
}

// Makes cells of the counts of a wide bin's digits, which are staged.
template <class U>
__device__ __forceinline__ void place_cells(const SplitArguments<U> &arguments, uint32_t bin, uint32_t count,
                                            SplitDigitStorage &storage) {
  const uint32_t digit_bits = arguments.plan.digit_bits, own = max((1u << digit_bits) / kSplitCountThreads, 1u);
  const uint32_t first = threadIdx.x * own;
  uint32_t sum = 0, total, number, scale = 1;
  for (uint32_t i = 0; i < own; ++i) sum += storage.counts[first + i];
  const uint32_t place = block_exclusive_sum<kSplitCountThreads>(sum, storage.warp_totals, total);
  uint32_t cells = number_cells(storage.counts, own, place, scale, storage.warp_totals, number);
  while (cells > kSplitCellsMax)
    cells = number_cells(storage.counts, own, place, scale *= 2, storage.warp_totals, number);
  const uint32_t cell_keys = kSplitCellKeys * scale, most = kSplitDigitKeys * scale;
  uint32_t before = first == 0 ? 0 : storage.counts[first - 1], at = place;
  for (uint32_t i = 0; i < own; ++i) {
    const uint32_t keys = storage.counts[first + i];
    if (first + i == 0 || keys > most || before > most || at / cell_keys != (at - before) / cell_keys)
      storage.cell_first[number++] = at;
    arguments.digit_cell[(bin << digit_bits) + first + i] = static_cast<uint16_t>(number - 1);
    at += keys;
    before = keys;
  }
  if (threadIdx.x == 0) {
    storage.cell_first[cells] = count;
    storage.base = atomicAdd(&arguments.state->cells, cells);
    arguments.bin_cells[bin] = {storage.base, cells};
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < cells; i += kSplitCountThreads) {
    const uint32_t keys = storage.cell_first[i + 1] - storage.cell_first[i], cell = storage.base + i;
    const uint32_t out = arguments.out_first[bin] + storage.cell_first[i];
    arguments.cells[cell] = {out, keys};
    arguments.room[cell] = out;
    if (keys > kSplitFinishKeysMax) arguments.big[atomicAdd(&arguments.state->bigs, 1)] = cell;
  }
}

// Counts keys at [begin, end) by digit.
template <class U, class Digits>
__device__ __forceinline__ void count_digits(const U *keys, uint32_t begin, uint32_t end, const Digits &digits,
                                             uint32_t *counts) {
  constexpr uint32_t kItems = kSplitCountItems;
  for (uint64_t base = begin; base < end; base += kSplitCountThreads * kItems) {
    U key[kItems];
    const bool whole = base + kSplitCountThreads * kItems <= end;
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) {
      const uint64_t place = base + i * kSplitCountThreads + threadIdx.x;
      if (whole || place < end) key[i] = keys[place];
    }
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i)
      if (whole || base + i * kSplitCountThreads + threadIdx.x < end) atomicAdd(&counts[digits(key[i])], 1);
  }
}

// The same in cleared counters, for one bin, to whose counts they are added.
template <class U>
__device__ __forceinline__ void count_bin_digits(const U *keys, uint32_t begin, uint32_t end, uint32_t bin,
                                                 const SplitArguments<U> &arguments, SplitKnots<U> &knots,
                                                 uint32_t *counts) {
  const uint32_t digit_bits = arguments.plan.digit_bits, shift = arguments.digit_shift[bin];
  for (uint32_t i = threadIdx.x; i < 1u << digit_bits; i += kSplitCountThreads) counts[i] = 0;
  if (shift == kSplitUneven) load_knots(arguments, bin, knots);
  __syncthreads();
  if (shift == kSplitUneven)
    count_digits(keys, begin, end, SplitUnevenDigits<U>{&knots, digit_bits}, counts);
  else
    count_digits(keys, begin, end, SplitEvenDigits<U>{arguments.digit_least[bin], shift, digit_bits}, counts);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < 1u << digit_bits; i += kSplitCountThreads)
    if (counts[i] != 0) atomicAdd(&arguments.digits[(bin << digit_bits) + i], counts[i]);
}

// Every block counts an equal share of the keys that the first pass has moved; who completes a bin makes its cells.
template <class U>
__global__ void __launch_bounds__(kSplitCountThreads, blocks_here(kSplitCountThreads, 2))
    split_digits_kernel(const U *keys, SplitArguments<U> arguments) {
  if constexpr (!kFitsHere<kSharedBytesMin>) return;
  __shared__ SplitDigitStorage storage;
  __shared__ SplitKnots<U> knots;
  wait_for_kernel_before();
  if (arguments.state->go == 0) return;
  const uint32_t bins = arguments.state->bins, moved = arguments.state->moved, digit_bits = arguments.plan.digit_bits;
  uint32_t begin = static_cast<uint32_t>(uint64_t{moved} * blockIdx.x / gridDim.x);
  const uint32_t share_end = static_cast<uint32_t>(uint64_t{moved} * (blockIdx.x + 1) / gridDim.x);
  for (uint32_t bin = 0; bin < bins && begin < share_end; ++bin) {
    const uint32_t bin_end = arguments.scratch_first[bin + 1];
    if (bin_end <= begin) continue;
    const uint32_t end = min(bin_end, share_end), count = bin_end - arguments.scratch_first[bin];
    count_bin_digits(keys, begin, end, bin, arguments, knots, storage.counts);
    // Release: this block's additions come before its arrival; see is_last_block.
    __threadfence();
    __syncthreads();
    int complete = 0;
    if (threadIdx.x == 0) complete = atomicAdd(&arguments.bin_done[bin], end - begin) + (end - begin) == count;
    complete = __syncthreads_or(complete);
    if (complete) {
      __threadfence();  // acquire: pairs with the other blocks' fences through bin_done
      for (uint32_t i = threadIdx.x; i < 1u << digit_bits; i += kSplitCountThreads)
        storage.counts[i] = __ldcg(&arguments.digits[(bin << digit_bits) + i]);
      __syncthreads();
      if (arguments.kinds[bin] == SplitKind::kNarrow)
        place_values(arguments, bin, count, storage);
      else
        place_cells(arguments, bin, count, storage);
      __syncthreads();
    }
    begin = end;
  }
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SPLIT_COUNT_CUH_
