// SPDX-License-Identifier: MIT OR Apache-2.0
// The splitters of the stable MSD sort, for 8-byte keys that neither equal cells nor the map serve. One block takes the
// bins' splitters from a sorted sample, and all keys are counted by bin; behind the first pass a block for each bin
// does the same for its cells, and the bins' keys are counted by cell.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_SPLIT_CUH_
#define GSORT_CUDA_SORT_MSD_STABLE_SPLIT_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/hash.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/primitive/search.cuh"
#include "cuda/sort/msd/groups.cuh"
#include "cuda/sort/msd/split_sample.cuh"
#include "cuda/sort/msd/stable_cuts.cuh"

namespace gsort_internal::sort::msd {

// Keys of a sample come from as many equal parts of the array, each at a hashed offset, so that no period of the data
// meets the sample's.
__device__ __forceinline__ uint64_t split_place(uint32_t i, uint32_t part) {
  return uint64_t{i} * part + __umulhi(mix_bits(i), part);
}

// Whether the LSD sort takes less time than splitters for keys that crowd, by a sorted sample. By a whole block of
// kStableCutThreads.
__device__ __forceinline__ bool crowds_are_for_passes(const uint64_t *sample, uint32_t count,
                                                      const StableArguments &arguments) {
  static_assert(kStableCutThreads == kSplitThreads, "crowded_keys() is for so many");
  const StableState &state = *arguments.state;
  const bool little_entropy = !state.mostly_equal && state.entropy < static_cast<float>(arguments.plan.crowded_entropy);
  if (state.passes >= kStableCrowdedPasses && !little_entropy) return false;
  return crowded_keys(sample, count) > count / arguments.plan.crowded_share;
}

// One block. Dynamic shared memory: the sample.
template <class U>
__global__ void __launch_bounds__(kStableCutThreads)
    stable_split_kernel(const U *keys_in, uint64_t n, KeyCodec<U> codec, StableArguments arguments) {
  extern __shared__ __align__(16) uint64_t sampled[];
  __shared__ uint32_t warp_totals[kStableCutThreads / 32];
  wait_for_kernel_before();
  if (is_for_other<U, StableWay::kSplitters>(*arguments.state)) return;
  const uint32_t count = arguments.plan.split_sample, part = static_cast<uint32_t>(n / count);
  for (uint32_t i = threadIdx.x; i < count; i += kStableCutThreads)
    sampled[i] = codec.encode(keys_in[split_place(i, part)]);
  for (uint32_t i = threadIdx.x; i < kStableBinsMax; i += kStableCutThreads) arguments.bin_counts[i] = 0;
  __syncthreads();
  network_sort<ByBlock>(sampled, count);
  if (crowds_are_for_passes(sampled, count, arguments)) {
    if (threadIdx.x == 0) arguments.state->go = 0, arguments.state->sorted = 0;
    return;
  }
  const uint32_t bins = cut_stable_sample({sampled, count, arguments.plan.split_share}, arguments.plan.split_bins, 0,
                                          arguments.starts, kStableBinsMax, warp_totals);
  for (uint32_t bin = bins + threadIdx.x; bin <= kStableBinsMax; bin += kStableCutThreads)
    arguments.starts[bin * kStableBinsMax] = 0;
  if (threadIdx.x == 0) arguments.state->bins = bins;
}

// Counters of 256 parts, one for each lane: equal keys do not queue up, and no bank is met twice.
struct PartCounters {
  uint32_t counts[kStableBinsMax][32];

  __device__ __forceinline__ void clear() {
    for (uint32_t i = threadIdx.x; i < kStableBinsMax * 8; i += blockDim.x)
      reinterpret_cast<uint4 *>(&counts[0][0])[i] = make_uint4(0, 0, 0, 0);
  }
  // Adds what is counted to `totals`. Behind a barrier.
  __device__ __forceinline__ void add_to(uint32_t *totals) const {
    if (threadIdx.x >= kStableBinsMax) return;
    uint32_t sum = 0;
#pragma unroll 8
    for (uint32_t lane = 0; lane < 32; ++lane) sum += counts[threadIdx.x][(lane + threadIdx.x) % 32];
    if (sum != 0) atomicAdd(&totals[threadIdx.x], sum);
  }
};

// Dynamic shared memory of the kernels that count.
struct PartCountStorage {
  alignas(16) uint64_t tree[kStableBinsMax];
  PartCounters counters;
};

// Counts keys by part. to_key: encodes a key as it lies. By the whole block.
template <class ToKey>
__device__ __forceinline__ void count_parts(const uint64_t *keys, uint32_t items, PartCountStorage &storage,
                                            ToKey to_key) {
  constexpr uint32_t kRound = kStableCountThreads * kStableCountItems;
  for (uint32_t base = 0; base < items; base += kRound) {
    uint64_t key[kStableCountItems];
    uint32_t parts[kStableCountItems];
    const bool whole = base + kRound <= items;
#pragma unroll
    for (uint32_t i = 0; i < kStableCountItems; ++i) {
      const uint32_t place = base + i * kStableCountThreads + threadIdx.x;
      key[i] = whole || place < items ? keys[place] : 0;
    }
#pragma unroll
    for (uint32_t i = 0; i < kStableCountItems; ++i) key[i] = to_key(key[i]);
    find_parts<kStableCountItems>(storage.tree, key, parts);
#pragma unroll
    for (uint32_t i = 0; i < kStableCountItems; ++i)
      if (whole || base + i * kStableCountThreads + threadIdx.x < items)
        atomicAdd(&storage.counters.counts[parts[i]][lane_id()], 1u);
  }
}

// First pairs, tiles of the second pass and chunks of all bins, from their counts. By one block.
__device__ __forceinline__ void place_bins(const StableArguments &arguments, uint32_t *warp_totals) {
  const uint32_t bin = threadIdx.x, count = bin < kStableBinsMax ? __ldcg(&arguments.bin_counts[bin]) : 0;
  uint32_t all_pairs, all_tiles, all_chunks;
  const uint32_t first = block_exclusive_sum<kStableCountThreads>(count, warp_totals, all_pairs);
  const uint32_t tile = block_exclusive_sum<kStableCountThreads>(
      (count + arguments.tile_items - 1) / arguments.tile_items, warp_totals, all_tiles);
  const uint32_t chunk = block_exclusive_sum<kStableCountThreads>((count + kStableChunkItems - 1) / kStableChunkItems,
                                                                  warp_totals, all_chunks);
  if (bin < arguments.plan.split_bins) {
    arguments.cells[bin * kStableBinsMax] = first;
    arguments.first_tile[bin] = tile;
    arguments.first_chunk[bin] = chunk;
    arguments.counted_chunks[bin] = 0;
  }
  if (bin == arguments.plan.split_bins) {
    arguments.cells[bin * kStableBinsMax] = all_pairs;
    arguments.first_tile[bin] = all_tiles;
    arguments.first_chunk[bin] = all_chunks;
  }
}

// Counts all keys by bin; the last block makes places of the counts.
template <class U>
__global__ void __launch_bounds__(kStableCountThreads, stable_blocks_per_sm(kStableCountThreads))
    stable_bins_kernel(const U *keys_in, uint32_t n, KeyCodec<U> codec, StableArguments arguments) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<PartCountStorage *>(shared);
  __shared__ uint32_t warp_totals[kStableCountThreads / 32];
  wait_for_kernel_before();
  if (is_for_other<U, StableWay::kSplitters>(*arguments.state)) return;
  load_part_tree(storage.tree, [&](uint32_t part) { return arguments.starts[part * kStableBinsMax]; });
  storage.counters.clear();
  __syncthreads();
  for (uint64_t first = uint64_t{blockIdx.x} * kStableChunkItems; first < n;
       first += uint64_t{gridDim.x} * kStableChunkItems)
    count_parts(keys_in + first, min(kStableChunkItems, static_cast<uint32_t>(n - first)), storage,
                [&](uint64_t key) { return codec.encode(key); });
  __syncthreads();
  storage.counters.add_to(arguments.bin_counts);
  if (is_last_block(&arguments.state->bin_tickets, gridDim.x)) place_bins(arguments, warp_totals);
}

// Pairs that a bin of the first pass holds.
__device__ __forceinline__ uint32_t split_bin_items(const StableArguments &arguments, uint32_t bin) {
  return arguments.cells[(bin + 1) * kStableBinsMax] - arguments.cells[bin * kStableBinsMax];
}

// The splitters of a bin's cells, by a block each. keys: where the first pass has left them. Dynamic shared memory: the
// sample.
template <class U>
__global__ void __launch_bounds__(kStableCutThreads, stable_blocks_per_sm(kStableCutThreads))
    stable_cuts_kernel(const U *keys, StableArguments arguments) {
  extern __shared__ __align__(16) uint64_t sampled[];
  __shared__ uint32_t warp_totals[kStableCutThreads / 32];
  wait_for_kernel_before();
  if (is_for_other<U, StableWay::kSplitters>(*arguments.state)) return;
  const uint32_t bin = blockIdx.x, row = bin * kStableBinsMax;
  uint64_t *const starts = arguments.starts + row;
  for (uint32_t i = threadIdx.x; i < kStableBinsMax; i += kStableCutThreads) arguments.cell_counts[row + i] = 0;
  const uint64_t end = starts[kStableBinsMax];
  const uint32_t items = split_bin_items(arguments, bin);
  uint32_t cells = 1;
  if (items > kStableSplitItems && end - starts[0] != 1) {
    const uint32_t wanted = items / kStableSplitItems + 1;
    const uint32_t count = min(wanted * kStableSplitSamples, kStableSplitSampleMax), part = items / count;
    const U *const from = keys + arguments.cells[row];
    for (uint32_t i = threadIdx.x; i < count; i += kStableCutThreads) sampled[i] = from[split_place(i, part)];
    __syncthreads();
    network_sort<ByBlock>(sampled, count);
    constexpr uint32_t kMeantMost = kStableBinsMax - kStableBinsMax / 32;
    cells = cut_stable_sample({sampled, count, (count + min(wanted, kMeantMost) - 1) / min(wanted, kMeantMost)},
                              kStableBinsMax, starts[0], starts, 1, warp_totals);
  }
  for (uint32_t cell = cells + threadIdx.x; cell < kStableBinsMax; cell += kStableCutThreads) starts[cell] = end;
}

// Lists what is to be done in a cell. Returns whether nothing can be done.
__device__ __forceinline__ bool list_split_cell(const StableArguments &arguments, uint32_t cell, uint32_t count) {
  StableState *const state = arguments.state;
  if (count > kStableLargeItems) return true;
  if (count > kStableFinishItems) {
    arguments.large[atomicAdd(&state->large, 1u)] = cell;
    return false;
  }
  const uint32_t at = atomicAdd(&state->finished, 1u);
  if (at >= arguments.plan.split_cells) return true;
  arguments.finished[at] = cell;
  return false;
}

// Places of a bin's cells, and what is to be done in them, from their counts. By one block.
__device__ __forceinline__ void place_split_cells(const StableArguments &arguments, uint32_t bin,
                                                  uint32_t *warp_totals) {
  __shared__ uint32_t run_first[kStableBinsMax + 1], run_piece[kStableBinsMax];
  const uint32_t cell = bin * kStableBinsMax + threadIdx.x;
  const bool is_cell = threadIdx.x < kStableBinsMax;
  const uint32_t count = is_cell ? __ldcg(&arguments.cell_counts[cell]) : 0;
  uint32_t total;
  const uint32_t before = block_exclusive_sum<kStableCountThreads>(count, warp_totals, total);
  const uint32_t first = arguments.cells[bin * kStableBinsMax] + before;
  bool overfull = false;
  if (is_cell) {
    const bool is_run = stable_width(arguments.starts, cell) == 0;
    if (count != 0 && !is_run) overfull = list_split_cell(arguments, cell, count);
    const uint32_t pieces = is_run ? (count + kStablePieceItems - 1) / kStablePieceItems : 0;
    run_piece[threadIdx.x] = pieces != 0 ? atomicAdd(&arguments.state->pieces, pieces) : ~0u;
    run_first[threadIdx.x] = first;
    if (threadIdx.x == kStableBinsMax - 1) run_first[kStableBinsMax] = first + count;
    if (threadIdx.x != 0) arguments.cells[cell] = first;
  }
  if (__syncthreads_or(overfull)) {
    // The first pass has written look-back words.
    if (threadIdx.x == 0) arguments.state->dirty = 1, arguments.state->go = 0, arguments.state->sorted = 0;
    return;
  }
  for (uint32_t i = 0; i < kStableBinsMax; ++i) {
    if (run_piece[i] == ~0u) continue;
    const uint32_t from = run_first[i], items = run_first[i + 1] - from;
    for (uint32_t j = threadIdx.x; j * kStablePieceItems < items; j += kStableCountThreads)
      arguments.pieces[run_piece[i] + j] = {from + j * kStablePieceItems,
                                            min(kStablePieceItems, items - j * kStablePieceItems)};
  }
}

// What a block has counted of a bin joins what others have; whoever brings a bin's last chunks places its cells.
__device__ __forceinline__ void close_split_bin(const StableArguments &arguments, uint32_t bin, uint32_t chunks,
                                                const PartCounters &counters, uint32_t *warp_totals) {
  __syncthreads();
  counters.add_to(arguments.cell_counts + bin * kStableBinsMax);
  const uint32_t all = arguments.first_chunk[bin + 1] - arguments.first_chunk[bin];
  if (is_last_block(&arguments.counted_chunks[bin], all, chunks)) place_split_cells(arguments, bin, warp_totals);
}

// Counts the keys of every bin by cell. A block has neighbouring chunks, so that it sees few bins.
template <class U>
__global__ void __launch_bounds__(kStableCountThreads, stable_blocks_per_sm(kStableCountThreads))
    stable_cells_kernel(const U *keys, StableArguments arguments) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<PartCountStorage *>(shared);
  __shared__ uint32_t warp_totals[kStableCountThreads / 32];
  wait_for_kernel_before();
  if (is_for_other<U, StableWay::kSplitters>(*arguments.state)) return;
  const uint32_t bins = arguments.plan.split_bins, chunks = arguments.first_chunk[bins];
  const uint32_t end = static_cast<uint32_t>(uint64_t{chunks} * (blockIdx.x + 1) / gridDim.x);
  for (uint32_t chunk = static_cast<uint32_t>(uint64_t{chunks} * blockIdx.x / gridDim.x); chunk < end;) {
    const uint32_t bin = last_not_above(bins, chunk, [&](uint32_t b) { return arguments.first_chunk[b]; });
    const uint32_t row = bin * kStableBinsMax, bin_chunk = arguments.first_chunk[bin];
    const uint32_t own_end = min(end, arguments.first_chunk[bin + 1]), pairs = split_bin_items(arguments, bin);
    const uint32_t first = (chunk - bin_chunk) * kStableChunkItems;
    const uint32_t behind = min((own_end - bin_chunk) * kStableChunkItems, pairs);
    load_part_tree(storage.tree, [&](uint32_t part) { return arguments.starts[row + part]; });
    storage.counters.clear();
    __syncthreads();
    count_parts(keys + arguments.cells[row] + first, behind - first, storage, [](uint64_t key) { return key; });
    close_split_bin(arguments, bin, own_end - chunk, storage.counters, warp_totals);
    __syncthreads();
    chunk = own_end;
  }
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_SPLIT_CUH_
