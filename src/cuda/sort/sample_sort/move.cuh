// SPDX-License-Identifier: MIT OR Apache-2.0
// The pass of the sample sort: bins become cells, and keys are moved to theirs. Unstable.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_MOVE_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_MOVE_CUH_

#include <cstdint>

#include "cuda/sort/msd/split_partition.cuh"
#include "cuda/sort/sample_sort/layout.cuh"
#include "cuda/sort/sample_sort/sample.cuh"

namespace gsort_internal::sort::sample_sort {

constexpr uint32_t kMoveThreads = 512;
constexpr uint32_t kMoveOwn = kBins / kMoveThreads;

template <class U>
struct MoveStorage {
  msd::SplitTileStorage<U> tile;
  Layout layout;
};

// The cells of a thread's keys, whose bins are known.
template <class U, uint32_t kItems>
struct CellsOfBins {
  const U *keys;  // of which these are the bins
  const uint32_t *bins;
  const uint16_t *bin_cell;

  template <uint32_t kSome>
  __device__ __forceinline__ void find(const U *some, uint32_t (&cells)[kSome]) const {
#pragma unroll
    for (uint32_t i = 0; i < kSome; ++i) {
      const uint32_t number = static_cast<uint32_t>(some - keys) + i;
      cells[i] = bin_cell[number % 2 == 0 ? bins[number / 2] & 0xffffu : bins[number / 2] >> 16];
    }
  }
};

// Room in cells, whose places are in shared memory.
struct CellRoom {
  uint32_t *room;
  const uint32_t *cell_first;

  __device__ __forceinline__ uint32_t take(uint32_t cell, uint32_t keys) const {
    return cell_first[cell] + atomicAdd(&room[cell], keys);
  }
};

// A tile a block. Dynamic shared memory: MoveStorage.
template <class U>
__global__ void __launch_bounds__(kMoveThreads, blocks_here(kMoveThreads, 2))
    move_kernel(const U *keys_in, U *keys_out, uint32_t n, KeyCodec<U> codec, Arguments<U> arguments) {
  if constexpr (!kFitsHere<msd::kSharedBytesMin>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  MoveStorage<U> &storage = *reinterpret_cast<MoveStorage<U> *>(shared);
  constexpr uint32_t kItems = msd::BlockShape<sizeof(U)>::kPartitionItems;
  constexpr uint32_t kTile = msd::BlockShape<sizeof(U)>::kPartitionTile;
  static_assert(msd::BlockShape<sizeof(U)>::kPartitionThreads == kMoveThreads, "a tile of the partition's");
  wait_for_kernel_before();
  if (are_sorted(arguments)) return;
  const uint32_t first = blockIdx.x * kTile, count = min(kTile, n - first);
  uint32_t cells;
  {
    const auto start = [&](uint32_t bin) { return bin_start(arguments.splitters, bin); };
    const OwnBins<U, kMoveOwn> own = look_at_bins<kMoveOwn>(arguments, start, storage.layout);
    cells = number_cells(own, arguments.part_keys, storage.layout);
    if (blockIdx.x == 0) tell_cells(arguments, own, cells, storage.layout);
  }
  U keys[kItems];
  uint32_t bins[(kItems + 1) / 2];
  msd::load_split_tile(keys_in + first, count, keys);
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) {
    const uint32_t place = i * kMoveThreads + threadIdx.x;
    const uint32_t bin = place < count ? __ldcs(arguments.bins + first + place) : 0;
    bins[i / 2] = i % 2 == 0 ? bin : bins[i / 2] | bin << 16;
  }
  msd::clear_split_counts(storage.tile, cells);
#pragma unroll
  for (uint32_t i = 0; i < kItems; ++i) keys[i] = codec.encode(keys[i]);
  __syncthreads();
  const CellsOfBins<U, kItems> find = {keys, bins, storage.layout.bin_cell};
  const CellRoom room = {arguments.room, storage.layout.cell_first};
  msd::sort_split_tile(keys, count, find, cells, room, storage.tile);
  msd::store_bins(storage.tile, cells, keys_out);
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_MOVE_CUH_
