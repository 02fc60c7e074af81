// SPDX-License-Identifier: MIT OR Apache-2.0
// One partition pass of the MSD sort: a block ranks a tile by bin with shared-memory atomics, takes room in every bin
// with one global atomic a bin, and stores each bin's keys in pieces that are aligned at their destination. Unstable.
#ifndef GSORT_CUDA_SORT_MSD_PARTITION_CUH_
#define GSORT_CUDA_SORT_MSD_PARTITION_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/primitive/search.cuh"
#include "cuda/sort/msd/frequent.cuh"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::msd {

// A bin with more keys of a tile than this is stored by the whole block.
constexpr uint32_t kLongRun = 1024;

template <class U>
struct TileStorage {
  union {
    struct {  // while bins are found
      uint32_t map[kMapEntries];
      uint32_t frequent[kFrequentSlots];  // of 4-byte keys; see frequent.cuh
    };
    U keys[BlockShape<sizeof(U)>::kPartitionTile];
  };
  uint32_t first[kBinsMax + 1];  // counts, then place in `keys` of each bin's first key
  uint32_t to_place[kBinsMax];   // place in the output of keys[i] of this bin, less i
  uint32_t warp_totals[BlockShape<sizeof(U)>::kPartitionThreads / 32];
  uint32_t long_runs;
  uint32_t long_bins[BlockShape<sizeof(U)>::kPartitionTile / kLongRun];
};

struct Tile {
  uint32_t first, count;  // keys of the tile
  uint32_t bin;           // of the first pass; 0 in the first pass itself
};

// The tile of this block in the first pass: of the input as it lies.
template <class U>
__device__ __forceinline__ Tile first_pass_tile(uint32_t n) {
  constexpr uint32_t kTile = BlockShape<sizeof(U)>::kPartitionTile;
  const uint32_t first = blockIdx.x * kTile;
  return {first, min(kTile, n - first), 0};
}

// The tile of this number in the second pass: a part of one bin of the first. count = 0: there is none.
template <class U>
__device__ __forceinline__ Tile second_pass_tile(const Arguments<U> &arguments, Cut cut, uint32_t number) {
  constexpr uint32_t kTile = BlockShape<sizeof(U)>::kPartitionTile;
  const uint32_t bins = cut.bins();
  if (number >= arguments.first_tile[bins]) return {0, 0, 0};
  const uint32_t bin = last_not_above(bins, number, [&](uint32_t i) { return arguments.first_tile[i]; });
  const uint32_t first = arguments.bin_first[bin] + (number - arguments.first_tile[bin]) * kTile;
  uint32_t end = arguments.bin_first[bin + 1];
  if constexpr (sizeof(U) == 4) {
    // The first pass has moved all keys but those of frequent values.
    if (arguments.state->frequent != 0) end = max(arguments.first_room[bin], first);
  }
  return {first, min(kTile, end - first), bin};
}

// The bin of keys that are not moved.
constexpr uint32_t kNoBin = 1023;
static_assert(kNoBin >= kBinsMax, "no bin has this number");

// How a pass finds a key's bin: by its cell, or by bits of an 8-byte key that tell it. kSkips: keys of frequent values
// have none.
template <class U, bool kMapped, bool kSkips>
struct Bins {
  uint32_t shift, mask;
  uint32_t align;
  uint32_t cells;       // of equal cells of 4-byte keys: so many, or bins
  const uint32_t *map;  // in shared memory, the address of entry 0
  const uint32_t *frequent;

  __device__ __forceinline__ uint32_t operator()(U key) const {
    if constexpr (kSkips) {
      if (is_frequent(frequent, key)) return kNoBin;
    }
    if (kMapped) return (mapped_cell<U>(map, leading_bits(key, align)) >> shift) & mask;
    if (sizeof(U) == 4) return __umulhi(static_cast<uint32_t>(key) << align, cells) & mask;
    return static_cast<uint32_t>(key >> shift) & mask;
  }
};

// What a thread keeps of its keys between counting and moving: numbers among their bin's keys, two a word, and with a
// map, where they are dear, bins, three a word.
template <uint32_t kItems>
struct Ranks {
  uint32_t places[kItems / 2];
  uint32_t bins[kItems / 3];

  __device__ __forceinline__ void put(uint32_t i, uint32_t place) {
    places[i / 2] = i % 2 == 0 ? place : __byte_perm(places[i / 2], place, 0x5410);
  }
  __device__ __forceinline__ void put_bin(uint32_t i, uint32_t bin) {
    bins[i / 3] = i % 3 == 0 ? bin : bins[i / 3] | bin << (i % 3 * 10);
  }
  __device__ __forceinline__ uint32_t place(uint32_t i) const {
    return __byte_perm(places[i / 2], 0, i % 2 == 0 ? 0x4410 : 0x4432);
  }
  __device__ __forceinline__ uint32_t bin(uint32_t i) const { return (bins[i / 3] >> (i % 3 * 10)) & 0x3ffu; }
};

// Counts the tile's keys by bin in `counts`. kWhole: the tile is full, and no key needs a test.
template <class U, uint32_t kItems, bool kWhole, uint32_t kThreads, bool kMapped, bool kSkips>
__device__ __forceinline__ void rank_tile(const U (&keys)[kItems], uint32_t count, const Bins<U, kMapped, kSkips> &bins,
                                          uint32_t *counts, Ranks<kItems> &ranks) {
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    uint32_t place = 0, bin = 0;
    if (kWhole || i * kThreads + threadIdx.x < count) {
      bin = bins(keys[i]);
      if (!kSkips || bin != kNoBin) place = atomicAdd(&counts[bin], 1);
    }
    ranks.put(i, place);
    if (kMapped) ranks.put_bin(i, bin);
  }
}

// The same for a full tile whose neighbours often share a bin, as in sorted data, where a warp's atomics would queue up
// at one counter: the lanes whose bin is the first lane's count with one atomic.
template <class U, uint32_t kItems, bool kMapped, bool kSkips>
__device__ __forceinline__ void rank_alike_tile(const U (&keys)[kItems], const Bins<U, kMapped, kSkips> &bins,
                                                uint32_t *counts, Ranks<kItems> &ranks) {
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    const uint32_t bin = bins(keys[i]), first_bin = __shfl_sync(kFullWarp, bin, 0);
    const uint32_t alike = __ballot_sync(kFullWarp, bin == first_bin);
    uint32_t place = 0;
    if ((bin != first_bin || lane_id() == 0) && (!kSkips || bin != kNoBin))
      place = atomicAdd(&counts[bin], lane_id() == 0 ? __popc(alike) : 1);
    const uint32_t taken = __shfl_sync(kFullWarp, place, 0);
    if (bin == first_bin) place = taken + __popc(alike & ((1u << lane_id()) - 1));
    ranks.put(i, place);
    if (kMapped) ranks.put_bin(i, bin);
  }
}

// Whether a quarter of the warp's first keys have the bin of its first lane: by chance only where bins are very few.
template <class U, bool kMapped, bool kSkips>
__device__ __forceinline__ bool neighbours_are_alike(U key, const Bins<U, kMapped, kSkips> &bins) {
  const uint32_t bin = bins(key), first_bin = __shfl_sync(kFullWarp, bin, 0);
  return __popc(__ballot_sync(kFullWarp, bin == first_bin)) >= 8 && (!kSkips || first_bin != kNoBin);
}

// Moves the tile's keys to their places in shared memory, where the map was.
template <class U, uint32_t kItems, bool kWhole, bool kMapped, bool kSkips>
__device__ __forceinline__ void exchange_tile(const U (&keys)[kItems], uint32_t count,
                                              const Bins<U, kMapped, kSkips> &bins, const Ranks<kItems> &ranks,
                                              TileStorage<U> &storage) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kPartitionThreads;
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    if (!kWhole && i * kThreads + threadIdx.x >= count) continue;
    if (kSkips && ranks.bin(i) == kNoBin) continue;
    storage.keys[storage.first[kMapped ? ranks.bin(i) : bins(keys[i])] + ranks.place(i)] = keys[i];
  }
}

// Ranks the tile, takes room for it and moves its keys to storage. `first` of it is cleared, behind a barrier.
template <class U, uint32_t kItems, bool kMapped, bool kSkips>
__device__ __forceinline__ void sort_tile(const U (&keys)[kItems], uint32_t count, const Bins<U, kMapped, kSkips> &bins,
                                          uint32_t bin_count, uint32_t *room, TileStorage<U> &storage) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kPartitionThreads;
  const bool whole = count == kThreads * kItems;
  Ranks<kItems> ranks;
  if (!whole)
    rank_tile<U, kItems, false, kThreads>(keys, count, bins, storage.first, ranks);
  else if (neighbours_are_alike(keys[0], bins))
    rank_alike_tile(keys, bins, storage.first, ranks);
  else
    rank_tile<U, kItems, true, kThreads>(keys, count, bins, storage.first, ranks);
  __syncthreads();
  const uint32_t bin_keys = threadIdx.x < bin_count ? storage.first[threadIdx.x] : 0;
  const uint32_t taken = bin_keys != 0 ? atomicAdd(&room[threadIdx.x], bin_keys) : 0;
  if (bin_keys > kLongRun) storage.long_bins[atomicAdd(&storage.long_runs, 1)] = threadIdx.x;
  uint32_t total;
  const uint32_t first = block_exclusive_sum<kThreads>(bin_keys, storage.warp_totals, total);
  if (threadIdx.x < bin_count) {
    storage.first[threadIdx.x] = first;
    storage.to_place[threadIdx.x] = taken - first;
  }
  if (threadIdx.x == 0) storage.first[bin_count] = total;
  __syncthreads();
  if (whole)
    exchange_tile<U, kItems, true>(keys, count, bins, ranks, storage);
  else
    exchange_tile<U, kItems, false>(keys, count, bins, ranks, storage);
  __syncthreads();
}

// Where one bin's keys of a tile lie in shared memory, and what is added to that for their place in the output.
struct BinRun {
  uint32_t first, end, to_place;
};

// Storage: TileStorage, or another with the same members.
template <class Storage>
__device__ __forceinline__ BinRun bin_run(const Storage &storage, uint32_t bin) {
  return {storage.first[bin], storage.first[bin + 1], storage.to_place[bin]};
}

// Stores one bin by `kPiece` threads, as many neighbours at a time from a boundary of as many in the output.
template <uint32_t kPiece, class U>
__device__ __forceinline__ void store_bin(const BinRun &run, const U *keys, uint32_t thread, U *keys_out,
                                          uint32_t skew) {
  const uint32_t lead = (skew + run.to_place + run.first) % (kPiece < 32 ? kPiece : 32);
  for (int i = static_cast<int>(run.first - lead + thread); i < static_cast<int>(run.end); i += kPiece)
    if (i >= static_cast<int>(run.first)) keys_out[run.to_place + static_cast<uint32_t>(i)] = keys[i];
}

// Half a warp stores a bin, 16 neighbours at a time, so that every store touches one or two sectors in full. Pieces of
// 16 were quicker than 32 for runs of about 50 keys (H200, 2026-11-20). Runs are looked up some at a time, ahead of
// their stores.
template <class Storage, class U>
__device__ __forceinline__ void store_bins(const Storage &storage, uint32_t bins, U *keys_out) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kPartitionThreads, kPiece = 16, kAhead = 4;
  const uint32_t skew = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(keys_out) / sizeof(U));
#pragma unroll 1
  for (uint32_t bin = threadIdx.x / kPiece; bin < bins; bin += kAhead * kThreads / kPiece) {
    BinRun runs[kAhead];
#pragma unroll
    for (uint32_t i = 0; i < kAhead; ++i) runs[i] = bin_run(storage, min(bin + i * kThreads / kPiece, bins - 1));
#pragma unroll
    for (uint32_t i = 0; i < kAhead; ++i)
      if (bin + i * kThreads / kPiece < bins && runs[i].end - runs[i].first <= kLongRun)
        store_bin<kPiece>(runs[i], storage.keys, threadIdx.x % kPiece, keys_out, skew);
  }
  for (uint32_t i = 0; i < storage.long_runs; ++i)
    store_bin<kThreads>(bin_run(storage, storage.long_bins[i]), storage.keys, threadIdx.x, keys_out, skew);
}

// Loads what a pass needs of the map and returns where entry 0 would lie: all of it, or what the keys of one bin of the
// first pass can have.
template <class U, bool kFirst>
__device__ __forceinline__ const uint32_t *load_map(const Arguments<U> &arguments, uint32_t bin, uint32_t *map) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kPartitionThreads;
  if (kFirst) {
    for (uint32_t i = threadIdx.x; i < kMapEntries / 4; i += kThreads)
      reinterpret_cast<uint4 *>(map)[i] = reinterpret_cast<const uint4 *>(arguments.map)[i];
    return map;
  }
  const uint32_t first = arguments.bin_entries[bin], last = arguments.bin_entries[bin + 1];
  for (uint32_t i = first + threadIdx.x; i <= last; i += kThreads) map[i - first] = arguments.map[i];
  return map - first;
}

template <class U, uint32_t kThreads, uint32_t kItems>
__device__ __forceinline__ void load_partition_tile(const U *first, uint32_t count, U (&keys)[kItems]) {
  const U *const from = first + threadIdx.x;
  if (count == kThreads * kItems) {
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) keys[i] = __ldcs(from + i * kThreads);
  } else {
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i)
      keys[i] = i * kThreads + threadIdx.x < count ? __ldcs(from + i * kThreads) : U{0};
  }
}

// Moves the keys of one tile. number: of the second pass's.
template <class U, bool kFirst, bool kMapped, bool kSkips>
__device__ __forceinline__ void partition_tile(const U *keys_in, U *keys_out, uint32_t n, const KeyCodec<U> &codec,
                                               const Arguments<U> &arguments, uint32_t number,
                                               TileStorage<U> &storage) {
  constexpr uint32_t kThreads = BlockShape<sizeof(U)>::kPartitionThreads;
  constexpr uint32_t kItems = BlockShape<sizeof(U)>::kPartitionItems;
  // Not read from the state: of the kernel's arguments, it takes no registers.
  const Plan &plan = arguments.plan;
  const Cut cut = {kMapped ? mapped_cells<U>(plan) : even_cells(plan, sizeof(U)), plan.second_bits};
  const Tile tile = kFirst ? first_pass_tile<U>(n) : second_pass_tile(arguments, cut, number);
  if (tile.count == 0) return;
  const uint32_t bin_count = kFirst ? cut.bins() : 1u << cut.second_bits;
  const uint32_t first_shift = kFirst ? cut.second_bits : 0;
  Bins<U, kMapped, kSkips> bins = {first_shift,
                                   kFirst && (kMapped || sizeof(U) == 4) ? ~0u : bin_count - 1,
                                   map_align(arguments),
                                   cut.cells >> first_shift,
                                   nullptr,
                                   storage.frequent};
  if constexpr (!kMapped && sizeof(U) == 8) bins.shift += bits_below_cell(arguments);
  if constexpr (!kMapped && sizeof(U) == 4) bins.align = even_align(arguments);
  if constexpr (kMapped) bins.map = load_map<U, kFirst>(arguments, tile.bin, storage.map);
  if constexpr (kSkips) load_frequent_table(arguments, storage.frequent);
  uint32_t *const room = kFirst ? arguments.first_room : arguments.room + (tile.bin << cut.second_bits);

  U keys[kItems];
  load_partition_tile<U, kThreads>(keys_in + tile.first, tile.count, keys);
  if (threadIdx.x < bin_count) storage.first[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    storage.long_runs = 0;
    // In the second pass about what a later block takes: tiles at the end of a bin are shorter.
    constexpr uint32_t kTile = kThreads * kItems;
    prefetch_to_l2(keys_in, tile.first + uint64_t{arguments.ahead} * kTile, kTile, n);
  }
  if (kFirst) {
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) keys[i] = codec.encode(keys[i]);
  }
  __syncthreads();
  sort_tile(keys, tile.count, bins, bin_count, room, storage);
  store_bins(storage, bin_count, keys_out);
}

// kFirst: reads the caller's keys and encodes them. The grid has a block for every tile there can be. batch: NULL, or,
// of the second pass, the tiles that there are; the cursors are of places in keys_out then. Dynamic shared memory:
// TileStorage. More of it would leave the L1 cache less room for the loads in flight: 32 KB more took 10% longer (H200,
// 2026-11-21).
template <class U, bool kFirst>
__global__ void __launch_bounds__(BlockShape<sizeof(U)>::kPartitionThreads, 2)
    msd_partition_kernel(const U *keys_in, U *keys_out, uint32_t n, KeyCodec<U> codec,
                         [[maybe_unused]] const Batch *batch, Arguments<U> arguments) {
  if constexpr (!kFitsHere<kSharedBytesMin>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  TileStorage<U> &storage = *reinterpret_cast<TileStorage<U> *>(shared);
  wait_for_kernel_before();
  if (arguments.state->go == 0) return;
  uint32_t number = blockIdx.x;
  if constexpr (!kFirst) {
    if (batch != nullptr) {
      number += batch->first_tile;
      if (number >= batch->end_tile) return;
    }
  }
  if constexpr (kFirst && sizeof(U) == 4) {
    if (arguments.state->frequent != 0)
      return partition_tile<U, kFirst, true, true>(keys_in, keys_out, n, codec, arguments, number, storage);
  }
  if (arguments.state->mapped != 0)
    partition_tile<U, kFirst, true, false>(keys_in, keys_out, n, codec, arguments, number, storage);
  else
    partition_tile<U, kFirst, false, false>(keys_in, keys_out, n, codec, arguments, number, storage);
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_PARTITION_CUH_
