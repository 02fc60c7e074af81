// SPDX-License-Identifier: MIT OR Apache-2.0
// Ranks of many elements from their order: rank[order[i]] = i. Stored as they come, each of them would fetch and write
// back a sector of its own. So records of an index and its rank are first parted by the index's leading bits into
// windows, which the cache holds, as random scatters are where they are slow on every processor (Manegold, Boncz,
// Nes, Kersten, "Cache-conscious radix-decluster projections", 2004). An order names every index once, so that no
// window has more records than places, and nothing is counted ahead.
#ifndef GSORT_CUDA_SORT_INVERSE_CUH_
#define GSORT_CUDA_SORT_INVERSE_CUH_

#include <cstdint>

#include "cuda/primitive/exclusive_scan.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/inverse_plan.h"

namespace gsort_internal::sort {

struct InverseRecord {
  uint32_t index, rank;
};

struct InverseParams {
  const uint32_t *order;
  uint64_t n;
  InverseRecord *records;  // n: those of a window from its first index on; what is not used is garbage
  uint32_t *cursors;       // of the windows, kInverseCursorStride apart: their records so far; zero
  void *ranks;             // n
  uint32_t window_bits;
  const uint32_t *fast_path;  // NULL, or its word: what it or passes behind it have sorted are ranks already
};

__device__ __forceinline__ bool inverse_is_done(const InverseParams &params) {
  return params.fast_path != nullptr && *params.fast_path != 0;
}

struct InverseStorage {
  InverseRecord records[kInverseTileItems];
  uint32_t begins[kInverseWindowsMax];   // of a window's records in the tile
  uint32_t targets[kInverseWindowsMax];  // the first one's place in the window
  uint32_t counts[kInverseWindowsMax];
  uint32_t warp_totals[kInverseThreads / 32];
  uint32_t near;  // indices of the tile that are near its first one
};

// Adds the lanes' records to their windows' counts. Returns how many were there before the lane's. Orders of what was
// nearly sorted have a warp's records in one window.
__device__ __forceinline__ uint32_t count_in_window(uint32_t *counts, uint32_t window, bool valid) {
  const uint32_t first = __shfl_sync(kFullWarp, window, 0);
  if (__all_sync(kFullWarp, valid && window == first)) {
    uint32_t before = 0;
    if (lane_id() == 0) before = atomicAdd(&counts[window], 32u);
    return __shfl_sync(kFullWarp, before, 0) + lane_id();
  }
  return valid ? atomicAdd(&counts[window], 1u) : 0;
}

// Parts a tile of the order, or, where nearly all of its indices lie together, stores their ranks. Where another kernel
// has changed the keys meanwhile the order may be none: indices past the end, and records for which a window has no
// place, are left out.
template <class Rank>
__global__ void __launch_bounds__(kInverseThreads, 3) part_order_kernel(const __grid_constant__ InverseParams params) {
  constexpr uint32_t kRows = kInverseTileItems / kInverseThreads;
  __shared__ InverseStorage storage;
  if (inverse_is_done(params)) return;
  const uint64_t begin = uint64_t{blockIdx.x} * kInverseTileItems;
  const uint32_t first = params.order[begin];
  if (threadIdx.x < kInverseWindowsMax) storage.counts[threadIdx.x] = 0;
  if (threadIdx.x == 0) storage.near = 0;
  __syncthreads();
  uint32_t indices[kRows], places[kRows], near = 0;
  bool valid[kRows];
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    const uint64_t i = begin + row * kInverseThreads + threadIdx.x;
    indices[row] = i < params.n ? params.order[i] : UINT32_MAX;
    valid[row] = i < params.n && indices[row] < params.n;
    near += valid[row] && indices[row] - first + kInverseNear <= 2 * kInverseNear ? 1 : 0;
  }
  near = warp_sum(near);
  if (lane_id() == 0) atomicAdd(&storage.near, near);
  __syncthreads();
  if (storage.near > kInverseTileItems / 4 * 3) {  // so that what is in order costs no more than its stores
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      const uint32_t rank = static_cast<uint32_t>(begin) + row * kInverseThreads + threadIdx.x;
      if (valid[row]) static_cast<Rank *>(params.ranks)[indices[row]] = rank;
    }
    return;
  }
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row)
    places[row] = count_in_window(storage.counts, indices[row] >> params.window_bits, valid[row]);
  __syncthreads();
  // One thread a window takes room in it.
  uint32_t count = 0, all = 0;
  if (threadIdx.x < kInverseWindowsMax) {
    count = storage.counts[threadIdx.x];
    if (count != 0)
      storage.targets[threadIdx.x] = atomicAdd(&params.cursors[threadIdx.x * kInverseCursorStride], count);
  }
  const uint32_t records_before = block_exclusive_sum<kInverseThreads>(count, storage.warp_totals, all);
  if (threadIdx.x < kInverseWindowsMax) storage.begins[threadIdx.x] = records_before;
  __syncthreads();
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    if (!valid[row]) continue;
    const uint32_t i = static_cast<uint32_t>(begin) + row * kInverseThreads + threadIdx.x;
    storage.records[storage.begins[indices[row] >> params.window_bits] + places[row]] = {indices[row], i};
  }
  __syncthreads();
  const uint64_t window_items = uint64_t{1} << params.window_bits;
  for (uint32_t i = threadIdx.x; i < all; i += kInverseThreads) {
    const InverseRecord record = storage.records[i];
    const uint32_t window = record.index >> params.window_bits;
    const uint64_t place = uint64_t{storage.targets[window]} + (i - storage.begins[window]);
    const uint64_t target = window * window_items + place;
    if (place < window_items && target < params.n) params.records[target] = record;
  }
}

// Stores the ranks of the records, window by window.
template <class Rank>
__global__ void __launch_bounds__(kInverseThreads) store_ranks_kernel(const __grid_constant__ InverseParams params) {
  constexpr uint32_t kRows = kInverseTileItems / kInverseThreads;
  if (inverse_is_done(params)) return;
  Rank *const ranks = static_cast<Rank *>(params.ranks);
  const uint64_t begin = uint64_t{blockIdx.x} * kInverseTileItems + threadIdx.x;
  InverseRecord records[kRows];
  bool used[kRows];
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    const uint64_t i = begin + row * kInverseThreads;
    const uint64_t window = i >> params.window_bits, place = i & ((uint64_t{1} << params.window_bits) - 1);
    used[row] = i < params.n && place < params.cursors[window * kInverseCursorStride];
    if (used[row]) records[row] = params.records[i];
  }
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row)
    if (used[row] && records[row].index < params.n) ranks[records[row].index] = records[row].rank;
}

}  // namespace gsort_internal::sort

#endif  // GSORT_CUDA_SORT_INVERSE_CUH_
