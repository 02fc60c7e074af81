// SPDX-License-Identifier: MIT OR Apache-2.0
// One partition pass of the MSD sort: a block ranks a tile by its digit with shared-memory atomics, takes room in every
// bin with one global atomic a bin, and stores each bin's keys in pieces that are aligned at their destination.
// Unstable.
#ifndef GSORT_CUDA_KERNELS_MSD_PARTITION_CUH_
#define GSORT_CUDA_KERNELS_MSD_PARTITION_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/block/exclusive_scan.cuh"
#include "cuda/kernels/msd_state.cuh"

namespace gsort_internal {

template <class U>
struct MsdTileStorage {
  U keys[MsdShape<sizeof(U)>::kPartitionTile];
  uint32_t first[kMsdBinsMax + 1];  // counts, then place in `keys` of each bin's first key
  uint32_t to_place[kMsdBinsMax];   // place in the output of keys[i] of this bin, less i
  uint32_t warp_totals[MsdShape<sizeof(U)>::kPartitionThreads / 32];
};

struct MsdTile {
  uint32_t first, count;  // keys of the tile
  uint32_t bin;           // of the first pass; 0 in the first pass itself
};

// The tile of this block in the first pass: of the input as it lies.
template <class U>
__device__ __forceinline__ MsdTile first_pass_tile(uint32_t n) {
  constexpr uint32_t kTile = MsdShape<sizeof(U)>::kPartitionTile;
  const uint32_t first = blockIdx.x * kTile;
  return {first, min(kTile, n - first), 0};
}

// The tile of this block in the second pass: a part of one bin of the first. count = 0: there is none.
template <class U>
__device__ __forceinline__ MsdTile second_pass_tile(const MsdArguments<U> &arguments) {
  constexpr uint32_t kTile = MsdShape<sizeof(U)>::kPartitionTile;
  const uint32_t bins = 1u << arguments.plan.first_bits;
  if (blockIdx.x >= arguments.first_tile[bins]) return {0, 0, 0};
  uint32_t low = 0, high = bins;  // first_tile[low] <= blockIdx.x < first_tile[high]
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (arguments.first_tile[middle] <= blockIdx.x ? low : high) = middle;
  }
  const uint32_t second_bits = arguments.plan.second_bits;
  const uint32_t end = arguments.cells[(low + 1) << second_bits];
  const uint32_t first = arguments.cells[low << second_bits] + (blockIdx.x - arguments.first_tile[low]) * kTile;
  return {first, min(kTile, end - first), low};
}

// Counts the tile's digits in `counts` and leaves in `places` every key's number among its digit's, two a word.
// kWhole: the tile is full, and no key needs a test.
template <class U, uint32_t kItems, bool kWhole>
__device__ __forceinline__ void rank_tile(const U (&keys)[kItems], uint32_t count, uint32_t shift, uint32_t mask,
                                          uint32_t *counts, uint32_t (&places)[kItems / 2]) {
  constexpr uint32_t kThreads = MsdShape<sizeof(U)>::kPartitionThreads;
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    uint32_t place = 0;
    if (kWhole || i * kThreads + threadIdx.x < count)
      place = atomicAdd(&counts[static_cast<uint32_t>(keys[i] >> shift) & mask], 1);
    places[i / 2] = i % 2 == 0 ? place : __byte_perm(places[i / 2], place, 0x5410);
  }
}

// Moves the tile's keys to their places in shared memory.
template <class U, uint32_t kItems, bool kWhole>
__device__ __forceinline__ void exchange_tile(const U (&keys)[kItems], uint32_t count, uint32_t shift, uint32_t mask,
                                              const uint32_t (&places)[kItems / 2], MsdTileStorage<U> &storage) {
  constexpr uint32_t kThreads = MsdShape<sizeof(U)>::kPartitionThreads;
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    if (!kWhole && i * kThreads + threadIdx.x >= count) continue;
    const uint32_t place = __byte_perm(places[i / 2], 0, i % 2 == 0 ? 0x4410 : 0x4432);
    storage.keys[storage.first[static_cast<uint32_t>(keys[i] >> shift) & mask] + place] = keys[i];
  }
}

// Half a warp stores a bin, 16 neighbours at a time from a boundary of 16 in the output, so that every store touches
// one or two sectors in full. Pieces of 16 were quicker than 32 for runs of about 50 keys (H200, 2026-11-20).
template <class U>
__device__ __forceinline__ void store_bins(const MsdTileStorage<U> &storage, uint32_t bins, U *keys_out) {
  constexpr uint32_t kPiece = 16, kPieces = MsdShape<sizeof(U)>::kPartitionThreads / kPiece;
  const uint32_t lane = threadIdx.x % kPiece;
  const uint32_t skew = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(keys_out) / sizeof(U));
  for (uint32_t bin = threadIdx.x / kPiece; bin < bins; bin += kPieces) {
    const uint32_t first = storage.first[bin], end = storage.first[bin + 1], to_place = storage.to_place[bin];
    const uint32_t lead = (skew + to_place + first) % kPiece;
    for (int i = static_cast<int>(first - lead + lane); i < static_cast<int>(end); i += kPiece)
      if (i >= static_cast<int>(first)) keys_out[to_place + static_cast<uint32_t>(i)] = storage.keys[i];
  }
}

// kFirst: reads the caller's keys and encodes them. The grid has a block for every tile there can be.
template <class U, bool kFirst>
__global__ void __launch_bounds__(MsdShape<sizeof(U)>::kPartitionThreads, 2)
    msd_partition_kernel(const U *keys_in, U *keys_out, uint32_t n, KeyCodec<U> codec, MsdArguments<U> arguments) {
  constexpr uint32_t kThreads = MsdShape<sizeof(U)>::kPartitionThreads;
  constexpr uint32_t kItems = MsdShape<sizeof(U)>::kPartitionItems;
  extern __shared__ __align__(16) unsigned char shared[];
  MsdTileStorage<U> &storage = *reinterpret_cast<MsdTileStorage<U> *>(shared);
  wait_for_kernel_before();
  if (arguments.state->go == 0) return;
  const MsdTile tile = kFirst ? first_pass_tile<U>(n) : second_pass_tile(arguments);
  if (tile.count == 0) return;
  const uint32_t bits = kFirst ? arguments.plan.first_bits : arguments.plan.second_bits;
  const uint32_t bins = 1u << bits, mask = bins - 1;
  const uint32_t shift = msd_cell_shift(arguments) + (kFirst ? arguments.plan.second_bits : 0);
  uint32_t *const room = kFirst ? arguments.first_room : arguments.room + (tile.bin << bits);

  U keys[kItems];
  const U *const from = keys_in + tile.first + threadIdx.x;
  const bool whole = tile.count == kThreads * kItems;
  if (whole) {
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) keys[i] = __ldcs(from + i * kThreads);
  } else {
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i)
      keys[i] = i * kThreads + threadIdx.x < tile.count ? __ldcs(from + i * kThreads) : U{0};
  }
  if (threadIdx.x < bins) storage.first[threadIdx.x] = 0;
  if (kFirst) {
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) keys[i] = codec.encode(keys[i]);
  }
  __syncthreads();
  uint32_t places[kItems / 2];
  if (whole)
    rank_tile<U, kItems, true>(keys, tile.count, shift, mask, storage.first, places);
  else
    rank_tile<U, kItems, false>(keys, tile.count, shift, mask, storage.first, places);
  __syncthreads();
  const uint32_t digit_keys = threadIdx.x < bins ? storage.first[threadIdx.x] : 0;
  const uint32_t taken = digit_keys != 0 ? atomicAdd(&room[threadIdx.x], digit_keys) : 0;
  uint32_t total;
  const uint32_t first = block_exclusive_sum<kThreads>(digit_keys, storage.warp_totals, total);
  if (threadIdx.x < bins) {
    storage.first[threadIdx.x] = first;
    storage.to_place[threadIdx.x] = taken - first;
  }
  if (threadIdx.x == 0) storage.first[bins] = total;
  __syncthreads();
  if (whole)
    exchange_tile<U, kItems, true>(keys, tile.count, shift, mask, places, storage);
  else
    exchange_tile<U, kItems, false>(keys, tile.count, shift, mask, places, storage);
  __syncthreads();
  store_bins(storage, bins, keys_out);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_MSD_PARTITION_CUH_
