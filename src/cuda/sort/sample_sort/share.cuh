// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts and moves of the sample sort in one cooperative launch, where the blocks of a grid hold all keys: each keeps
// its share between counting and moving, so that keys are read once and searched for once.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_SHARE_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_SHARE_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "cuda/sort/msd/split_cell.cuh"
#include "cuda/sort/sample_sort/count.cuh"
#include "cuda/sort/sample_sort/crowding.cuh"
#include "cuda/sort/sample_sort/layout.cuh"

namespace gsort_internal::sort::sample_sort {

constexpr uint32_t kShareThreads = 1024;
static_assert(kShareThreads == kBins, "a thread a bin");

template <class U>
struct ShareStorage {
  static constexpr uint32_t kRows = share_rows(sizeof(U));

  U keys[kRows * kShareThreads];
  uint16_t bins[kRows * kShareThreads];
  U tree[kBins];
  U splitters[kBins];
  uint32_t counts[kBins];     // of the share; then where its next key goes in the order of bins, kNotMoved: nowhere
  uint32_t first[kBins + 1];  // in the order of bins, of the share's keys that are moved
  uint32_t to_place[kBins];   // place in the output of what lies at `first`, less that
  Layout layout;
};
constexpr uint32_t kNotMoved = ~0u;

// Reads the share, and finds and counts the keys' bins.
template <class U>
__device__ __forceinline__ void count_share(const U *keys_in, uint32_t count, const KeyCodec<U> &codec,
                                            ShareStorage<U> &storage) {
  constexpr uint32_t kBatch = 8;
  for (uint32_t base = threadIdx.x; base - threadIdx.x < count; base += kBatch * kShareThreads) {
    U keys[kBatch];
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i)
      keys[i] = base + i * kShareThreads < count ? __ldcg(keys_in + base + i * kShareThreads) : U{0};
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) keys[i] = codec.encode(keys[i]);
    uint32_t bins[kBatch];
    find_parts<kBinBits>(storage.tree, keys, bins);
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      const uint32_t place = base + i * kShareThreads;
      if (place >= count) continue;
      storage.keys[place] = keys[i];
      storage.bins[place] = static_cast<uint16_t>(bins[i]);
      atomicAdd(&storage.counts[bins[i]], 1u);
    }
  }
  __syncthreads();
}

// Puts the share's keys that are moved in the order of bins. Ends with a barrier.
template <class U>
__device__ __forceinline__ void sort_share_by_bins(uint32_t count, ShareStorage<U> &storage) {
  constexpr uint32_t kRows = ShareStorage<U>::kRows;
  U keys[kRows];
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row)
    if (row * kShareThreads + threadIdx.x < count) keys[row] = storage.keys[row * kShareThreads + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    if (row * kShareThreads >= count) break;
    const uint32_t place = row * kShareThreads + threadIdx.x;
    const uint32_t bin = place < count ? storage.bins[place] : 0;
    const bool moved = place < count && storage.counts[bin] != kNotMoved;
    const bool alike = msd::split_digits_are_alike(bin, moved);
    const uint32_t to = msd::count_split_digit(storage.counts, bin, moved, alike);
    if (moved) storage.keys[to] = keys[row];
  }
  __syncthreads();
}

// Half a warp stores a bin's keys, 16 neighbours at a time.
template <class U>
__device__ __forceinline__ void store_bins_of_share(const ShareStorage<U> &storage, U *moved) {
  constexpr uint32_t kPiece = 16;
  for (uint32_t bin = threadIdx.x / kPiece; bin < kBins; bin += kShareThreads / kPiece) {
    const uint32_t first = storage.first[bin], end = storage.first[bin + 1], to_place = storage.to_place[bin];
    for (uint32_t i = first + threadIdx.x % kPiece; i < end; i += kPiece) moved[to_place + i] = storage.keys[i];
  }
}

// A cooperative launch of blocks that hold share_items keys each, the last one fewer. Dynamic shared memory:
// ShareStorage.
template <class U>
__global__ void __launch_bounds__(kShareThreads, 1)
    share_kernel(const U *keys_in, U *moved, uint32_t n, uint32_t share_items, KeyCodec<U> codec,
                 Arguments<U> arguments) {
  if constexpr (!kFitsHere<sizeof(ShareStorage<U>)> || !kClustersHere) return;
  extern __shared__ __align__(16) unsigned char shared[];
  ShareStorage<U> &storage = *reinterpret_cast<ShareStorage<U> *>(shared);
  if (are_sorted(arguments)) return;
  const uint32_t begin = blockIdx.x * share_items, count = min(share_items, n - begin);
  load_tree<kShareThreads>(arguments.splitters, storage);
  count_share(keys_in + begin, count, codec, storage);
  if (threadIdx.x < 32) note_crowding(arguments);
  const uint32_t bin = threadIdx.x, own_count = storage.counts[bin];
  const uint32_t before = own_count != 0 ? atomicAdd(&arguments.bin_counts[bin], own_count) : 0;
  cooperative_groups::this_grid().sync();
  const auto start = [&](uint32_t i) {
    return part_start<kBins, U>(i, [&](uint32_t splitter) { return storage.splitters[splitter]; });
  };
  const OwnBins<U, 1> own = look_at_bins<1>(arguments, start, storage.layout);
  const uint32_t cells = number_cells(own, arguments.part_keys, storage.layout);
  if (blockIdx.x == 0) tell_cells(arguments, own, cells, storage.layout);
  uint32_t total;
  const uint32_t moved_count = own.one_value[0] ? 0 : own_count;
  const uint32_t first = block_exclusive_sum<kShareThreads>(moved_count, storage.layout.warp_totals, total);
  storage.first[bin] = first;
  storage.counts[bin] = own.one_value[0] ? kNotMoved : first;
  storage.to_place[bin] = own.places[0] + before - first;
  if (bin == 0) storage.first[kBins] = total;
  __syncthreads();
  sort_share_by_bins(count, storage);
  store_bins_of_share(storage, moved);
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_SHARE_CUH_
