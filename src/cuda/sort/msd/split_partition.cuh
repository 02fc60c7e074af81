// SPDX-License-Identifier: MIT OR Apache-2.0
// The two passes of the MSD sort by splitters: to bins, and within a bin to cells. Unstable.
#ifndef GSORT_CUDA_SORT_MSD_SPLIT_PARTITION_CUH_
#define GSORT_CUDA_SORT_MSD_SPLIT_PARTITION_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/sort/msd/partition.cuh"
#include "cuda/sort/msd/split_count.cuh"
#include "cuda/sort/msd/split_state.cuh"

namespace gsort_internal::sort::msd {

constexpr uint32_t kSplitDigitsMax = 4096;

template <class U>
struct SplitTileStorage {
  union {
    uint16_t digit_cell[kSplitDigitsMax];  // while the second pass finds cells
    U keys[BlockShape<sizeof(U)>::kPartitionTile];
  };
  uint32_t first[kSplitBinsMax + 2];  // counts, then place in `keys` of each bin's first key
  uint32_t to_place[kSplitBinsMax];   // place in the output of keys[i] of this bin, less i
  uint32_t warp_totals[BlockShape<sizeof(U)>::kPartitionThreads / 32];
  uint32_t long_runs;
  uint32_t long_bins[BlockShape<sizeof(U)>::kPartitionTile / kLongRun];
  SplitKnots<U> knots;
};
static_assert(kSplitCellsMax <= kSplitBinsMax, "both passes use the same counters");

// The tables stay with the block: loaded for every tile into the room of its keys, which left the L1 cache more room,
// the pass took 3% longer (H200, 2026-11-22).
template <class U>
struct SplitFirstStorage {
  SplitTileStorage<U> tile;
  SplitTables<U> tables;
};

// Keys' bins in the first pass.
template <class U>
struct SplitFirstBins {
  SplitBins<U> tables;
  template <uint32_t kItems>
  __device__ __forceinline__ void find(const U *keys, uint32_t (&bins)[kItems]) const {
    tables.template find<true>(keys, bins);
  }
};

// Keys' cells in the second.
template <class U, class Digits>
struct SplitCells {
  Digits digits;
  const uint16_t *digit_cell;  // in shared memory

  template <uint32_t kItems>
  __device__ __forceinline__ void find(const U *keys, uint32_t (&bins)[kItems]) const {
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) bins[i] = digit_cell[digits(keys[i])];
  }
};

constexpr uint32_t kSplitBatch = 4;  // keys that a thread finds bins for at a time

// Counts some keys by bin. Missing keys and those that are not moved have kSplitNoBin.
template <uint32_t kItems, class Ranks>
__device__ __forceinline__ void rank_batch(const uint32_t (&bins)[kItems], uint32_t *counts, uint32_t first,
                                           Ranks &ranks) {
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    uint32_t place = 0;
    if (bins[i] != kSplitNoBin) place = atomicAdd(&counts[bins[i]], 1);
    ranks.put(first + i, place);
    ranks.put_bin(first + i, bins[i]);
  }
}

// The same where neighbours often share a bin: see rank_alike_tile. The lanes of the warp that have `often` count with
// one atomic, and those of another bin that many have.
template <uint32_t kItems, class Ranks>
__device__ __forceinline__ void rank_alike_batch(const uint32_t (&bins)[kItems], uint32_t often, uint32_t *counts,
                                                 uint32_t first, Ranks &ranks) {
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    const uint32_t bin = bins[i];
    uint32_t place = 0, left = __ballot_sync(kFullWarp, bin != kSplitNoBin), leading = often;
#pragma unroll 1
    for (uint32_t round = 0;; ++round) {
      const uint32_t alike = __ballot_sync(kFullWarp, bin == leading), leader = __ffs(static_cast<int>(alike)) - 1;
      uint32_t taken = 0;
      if (lane_id() == leader) taken = atomicAdd(&counts[leading], __popc(alike));
      taken = __shfl_sync(kFullWarp, taken, leader & 31u);
      if (bin == leading) place = taken + __popc(alike & lanes_below());
      left &= ~alike;
      if (__popc(left) < 12 || round == 2) break;
      leading = __shfl_sync(kFullWarp, bin, __ffs(static_cast<int>(left)) - 1);
      if (__popc(__ballot_sync(kFullWarp, bin == leading)) < 5) break;
    }
    if (left >> lane_id() & 1) place = atomicAdd(&counts[bin], 1);
    ranks.put(first + i, place);
    ranks.put_bin(first + i, bin);
  }
}

// A bin that a quarter of a warp's keys have, of the bins of two of them; or kSplitNoBin.
__device__ __forceinline__ uint32_t bin_of_many(uint32_t bin) {
  const uint32_t first = __shfl_sync(kFullWarp, bin, 0), other = __shfl_sync(kFullWarp, bin, 13);
  if (__popc(__ballot_sync(kFullWarp, bin == first)) >= 8 && first != kSplitNoBin) return first;
  return __popc(__ballot_sync(kFullWarp, bin == other)) >= 8 ? other : kSplitNoBin;
}

// Counts the tile's keys by bin.
template <class U, uint32_t kItems, bool kWhole, class Bins>
__device__ __forceinline__ void rank_split_tile(const U (&keys)[kItems], uint32_t count, const Bins &bins,
                                                uint32_t *counts, Ranks<kItems> &ranks) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kPartitionThreads;
  static_assert(kItems % kSplitBatch == 0, "whole batches");
#pragma unroll
  for (uint32_t first = 0; first < kItems; first += kSplitBatch) {
    uint32_t found[kSplitBatch];
    bins.find(&keys[first], found);
    if (!kWhole) {
#pragma unroll
      for (uint32_t i = 0; i < kSplitBatch; ++i)
        if ((first + i) * kThreads + threadIdx.x >= count) found[i] = kSplitNoBin;
    }
    const uint32_t often = bin_of_many(found[0]);
    if (often != kSplitNoBin)
      rank_alike_batch(found, often, counts, first, ranks);
    else
      rank_batch(found, counts, first, ranks);
  }
}

// Room in bins, by cursors in memory.
struct SplitRoom {
  uint32_t *cursors;
  __device__ __forceinline__ uint32_t take(uint32_t bin, uint32_t keys) const { return atomicAdd(&cursors[bin], keys); }
};

// Ranks the tile, takes room for it and moves its keys to storage. `first` of it is cleared, behind a barrier.
template <class U, uint32_t kItems, class Bins, class Room>
__device__ __forceinline__ void sort_split_tile(const U (&keys)[kItems], uint32_t count, const Bins &bins,
                                                uint32_t bin_count, const Room &room, SplitTileStorage<U> &storage) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kPartitionThreads;
  static_assert(kSplitBinsMax <= 2 * kThreads, "a thread owns two bins");
  Ranks<kItems> ranks;
  if (count == kThreads * kItems)
    rank_split_tile<U, kItems, true>(keys, count, bins, storage.first, ranks);
  else
    rank_split_tile<U, kItems, false>(keys, count, bins, storage.first, ranks);
  __syncthreads();
  const uint32_t own = 2 * threadIdx.x;
  const uint32_t keys0 = own < bin_count ? storage.first[own] : 0;
  const uint32_t keys1 = own + 1 < bin_count ? storage.first[own + 1] : 0;
  const uint32_t taken0 = keys0 != 0 ? room.take(own, keys0) : 0;
  const uint32_t taken1 = keys1 != 0 ? room.take(own + 1, keys1) : 0;
  if (keys0 > kLongRun) storage.long_bins[atomicAdd(&storage.long_runs, 1)] = own;
  if (keys1 > kLongRun) storage.long_bins[atomicAdd(&storage.long_runs, 1)] = own + 1;
  uint32_t total;
  const uint32_t first = block_exclusive_sum<kThreads>(keys0 + keys1, storage.warp_totals, total);
  if (own < bin_count) {
    storage.first[own] = first;
    storage.first[own + 1] = first + keys0;
    storage.to_place[own] = taken0 - first;
    if (own + 1 < bin_count) {
      storage.to_place[own + 1] = taken1 - first - keys0;
      storage.first[own + 2] = first + keys0 + keys1;
    }
  }
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    const uint32_t bin = ranks.bin(i);
    if (bin != kSplitNoBin) storage.keys[storage.first[bin] + ranks.place(i)] = keys[i];
  }
  __syncthreads();
}

template <class U, uint32_t kItems>
__device__ __forceinline__ void load_split_tile(const U *from, uint32_t count, U (&keys)[kItems]) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kPartitionThreads;
  if (count == kThreads * kItems) {
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) keys[i] = __ldcs(from + threadIdx.x + i * kThreads);
  } else {
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i)
      keys[i] = i * kThreads + threadIdx.x < count ? __ldcs(from + threadIdx.x + i * kThreads) : U{0};
  }
}

template <class U>
__device__ __forceinline__ void clear_split_counts(SplitTileStorage<U> &storage, uint32_t bins) {
  for (uint32_t i = threadIdx.x; i <= bins; i += BlockShape<sizeof(U)>::kPartitionThreads) storage.first[i] = 0;
  if (threadIdx.x == 0) storage.long_runs = 0;
}

// Blocks stay, so that they are few where there is nothing to do. Dynamic shared memory: SplitFirstStorage.
template <class U>
__global__ void __launch_bounds__(BlockShape<sizeof(U)>::kPartitionThreads,
                                  blocks_here(BlockShape<sizeof(U)>::kPartitionThreads, 2))
    split_first_kernel(const U *keys_in, U *keys_out, uint32_t n, KeyCodec<U> codec, SplitArguments<U> arguments) {
  if constexpr (!kFitsHere<kSharedBytesMin>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  SplitFirstStorage<U> &storage = *reinterpret_cast<SplitFirstStorage<U> *>(shared);
  constexpr uint32_t kItems = BlockShape<sizeof(U)>::kPartitionItems, kTile = BlockShape<sizeof(U)>::kPartitionTile;
  wait_for_kernel_before();
  if (arguments.state->go == 0) return;
  SplitTileStorage<U> &tile = storage.tile;
  const SplitFirstBins<U> bins = {load_split_bins(arguments, storage.tables)};
  const uint32_t bin_count = arguments.state->bins;
  for (uint64_t first = uint64_t{blockIdx.x} * kTile; first < n; first += uint64_t{gridDim.x} * kTile) {
    const uint32_t count = static_cast<uint32_t>(min(uint64_t{kTile}, n - first));
    U keys[kItems];
    load_split_tile(keys_in + first, count, keys);
    clear_split_counts(tile, bin_count);
    if (threadIdx.x == 0) prefetch_to_l2(keys_in, first + uint64_t{gridDim.x} * kTile, kTile, n);
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) keys[i] = codec.encode(keys[i]);
    __syncthreads();
    sort_split_tile(keys, count, bins, bin_count, SplitRoom{arguments.first_room}, tile);
    store_bins(tile, bin_count, keys_out);
    __syncthreads();
  }
}

// Moves a tile of a wide bin to its cells.
template <class U>
__device__ __forceinline__ void move_to_cells(const U *keys_in, U *keys_out, uint32_t number,
                                              const SplitArguments<U> &arguments, uint32_t bin_total,
                                              SplitTileStorage<U> &storage) {
  constexpr uint32_t kItems = BlockShape<sizeof(U)>::kPartitionItems, kTile = BlockShape<sizeof(U)>::kPartitionTile;
  uint32_t bin = 0;
  for (uint32_t high = bin_total; high - bin > 1;) {  // first_tile[bin] <= number < first_tile[high]
    const uint32_t middle = (bin + high) / 2;
    (arguments.first_tile[middle] <= number ? bin : high) = middle;
  }
  const uint32_t end = arguments.scratch_first[bin + 1];
  const uint32_t first = arguments.scratch_first[bin] + (number - arguments.first_tile[bin]) * kTile;
  const uint32_t count = min(kTile, end - first), digit_bits = arguments.plan.digit_bits;
  const TwoWords cells = arguments.bin_cells[bin];
  U keys[kItems];
  load_split_tile(keys_in + first, count, keys);
  const uint4 *const digit_cell = reinterpret_cast<const uint4 *>(arguments.digit_cell + (bin << digit_bits));
  for (uint32_t i = threadIdx.x; i < 1u << digit_bits >> 3; i += BlockShape<sizeof(U)>::kPartitionThreads)
    reinterpret_cast<uint4 *>(storage.digit_cell)[i] = digit_cell[i];
  const uint32_t shift = arguments.digit_shift[bin];
  if (shift == kSplitUneven) load_knots(arguments, bin, storage.knots);
  clear_split_counts(storage, cells.y);
  if (threadIdx.x == 0) prefetch_to_l2(keys_in, first + uint64_t{gridDim.x} * kTile, kTile, arguments.state->moved);
  __syncthreads();
  const SplitRoom room = {arguments.room + cells.x};
  if (shift == kSplitUneven) {
    const SplitCells<U, SplitUnevenDigits<U>> find = {{&storage.knots, digit_bits}, storage.digit_cell};
    sort_split_tile(keys, count, find, cells.y, room, storage);
  } else {
    const SplitCells<U, SplitEvenDigits<U>> find = {{arguments.digit_least[bin], shift, digit_bits},
                                                    storage.digit_cell};
    sort_split_tile(keys, count, find, cells.y, room, storage);
  }
  store_bins(storage, cells.y, keys_out);
  __syncthreads();
}

// The value that lies at `place` of a narrow bin: of digits [low, high).
__device__ __forceinline__ uint32_t digit_at(const uint32_t *firsts, uint32_t low, uint32_t high, uint32_t place) {
  while (high - low > 1) {  // firsts[low] <= place < firsts[high]
    const uint32_t middle = (low + high) / 2;
    (firsts[middle] <= place ? low : high) = middle;
  }
  return low;
}

// Writes a chunk of the output of which only the numbers of the keys are known. A warp writes vectors of 16 bytes.
template <class U>
__device__ __forceinline__ void fill_chunk(U *keys_out, const KeyCodec<U> &codec, const SplitFill &fill,
                                           const SplitArguments<U> &arguments) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kPartitionThreads, kVector = 16 / sizeof(U);
  const uint32_t digit_bits = arguments.plan.digit_bits, digits = 1u << digit_bits, bin = fill.bin;
  const bool one = arguments.kinds[bin] == SplitKind::kValue;
  const U start = arguments.starts[bin];
  const uint32_t *const firsts = arguments.digits + (bin << digit_bits);
  const uint32_t skew = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(keys_out + fill.first) / sizeof(U)) % kVector;
  const uint32_t out_first = arguments.out_first[bin], end = fill.count + skew;  // counted from a boundary of a vector
  for (uint32_t base = threadIdx.x / 32 * 32 * kVector; base < end; base += kThreads * kVector) {
    uint32_t low = 0, high = one ? 1 : digits;
    if (!one) {
      const uint32_t least = max(base, skew) - skew, most = min(base + 32 * kVector, end) - 1 - skew;
      const uint32_t place = fill.first - out_first + (lane_id() == 0 ? least : most);
      const uint32_t found = digit_at(firsts, 0, digits, place);
      low = __shfl_sync(kFullWarp, found, 0), high = __shfl_sync(kFullWarp, found, 1) + 1;
    }
    const uint32_t own = base + lane_id() * kVector;
    __align__(16) U keys[kVector];
#pragma unroll
    for (uint32_t i = 0; i < kVector; ++i) {
      const uint32_t digit =
          high - low <= 1 ? low : digit_at(firsts, low, high, fill.first - out_first + max(own + i, skew) - skew);
      keys[i] = codec.decode(static_cast<U>(start + digit));
    }
    if (own >= skew && own + kVector <= end) {
      *reinterpret_cast<uint4 *>(keys_out + fill.first + own - skew) = *reinterpret_cast<const uint4 *>(keys);
    } else {
#pragma unroll
      for (uint32_t i = 0; i < kVector; ++i)
        if (own + i >= skew && own + i < end) keys_out[fill.first + own + i - skew] = keys[i];
    }
  }
}

// Tiles of wide bins, then what is filled. Blocks stay. Dynamic shared memory: SplitTileStorage.
template <class U>
__global__ void __launch_bounds__(BlockShape<sizeof(U)>::kPartitionThreads,
                                  blocks_here(BlockShape<sizeof(U)>::kPartitionThreads, 2))
    split_second_kernel(const U *keys_in, U *keys_out, KeyCodec<U> codec, SplitArguments<U> arguments) {
  if constexpr (!kFitsHere<kSharedBytesMin>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  SplitTileStorage<U> &storage = *reinterpret_cast<SplitTileStorage<U> *>(shared);
  wait_for_kernel_before();
  if (arguments.state->go == 0) return;
  const uint32_t bins = arguments.state->bins, tiles = arguments.first_tile[bins];
  const uint32_t items = tiles + arguments.state->fills;
  for (uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    if (item < tiles)
      move_to_cells(keys_in, keys_out, item, arguments, bins, storage);
    else
      fill_chunk(keys_out, codec, arguments.fills[item - tiles], arguments);
  }
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SPLIT_PARTITION_CUH_
