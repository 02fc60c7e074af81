// SPDX-License-Identifier: MIT OR Apache-2.0
// Ragged rows: checks the offsets and lists the rows that no warp does. The kernels for warps, blocks and teams do
// nothing if an offset was wrong.
#ifndef GSORT_CUDA_TOPK_RAGGED_CUH_
#define GSORT_CUDA_TOPK_RAGGED_CUH_

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/engine/notice.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/topk/ragged_plan.h"

namespace gsort_internal::topk {

// The list that a row comes onto; kNoList: a warp or blocks of few threads do it, or its offsets are wrong, which
// *error is told.
constexpr uint32_t kNoList = kLists;

__device__ __forceinline__ uint32_t list_of(const Ragged &ragged, uint64_t begin, uint64_t end, uint64_t k,
                                            uint32_t *error) {
  if (begin > end || end > ragged.elements) {
    *error = 1;  // any number of threads may write the same word
    return kNoList;
  }
  const RaggedClass who = ragged_class(end - begin, k, ragged.block_k_max);
  if (who == RaggedClass::kWarp || is_scanned(end - begin, ragged.scanned_items_max)) return kNoList;
  return static_cast<uint32_t>(who) - static_cast<uint32_t>(RaggedClass::kBlock);
}

// Wrong offsets can name more rows than there is room for; the error is found elsewhere.
__device__ __forceinline__ void put_row(const Ragged &ragged, uint32_t list, uint64_t at, uint64_t r) {
  if (at < ragged.capacity[list]) ragged.lists[list][at] = r;
}

// The counters and the error are zero before.
__global__ void __launch_bounds__(kListThreads)
    topk_list_rows_kernel(const __grid_constant__ Ragged ragged, uint64_t rows, uint64_t k) {
  const uint64_t step = uint64_t{gridDim.x} * kListThreads;
  for (uint64_t r = uint64_t{blockIdx.x} * kListThreads + threadIdx.x; r < rows; r += step) {
    const uint64_t begin = ragged.offsets[r], end = ragged.offsets[r + 1];
    const uint32_t list = list_of(ragged, begin, end, k, ragged.error);
    if (list == kNoList) continue;
    put_row(ragged, list, atomicAdd(ragged.counters + list, 1ull), r);
    if (list == 0) continue;
    atomicMax(ragged.counters + kLongest, static_cast<unsigned long long>(end - begin));
    atomicAdd(ragged.counters + kLongAll, static_cast<unsigned long long>(end - begin));
  }
}

// Puts the warp's rows onto their lists: one addition for all of a list, and of 32 bits, for additions of 64 in shared
// memory are loops of compare and swap, in which the block's warps would wait for each other row by row. Whole warps
// call it.
__device__ __forceinline__ void put_rows(const Ragged &ragged, uint32_t list, uint32_t r, uint32_t *counters) {
  if (!__any_sync(kFullWarp, list != kNoList)) return;
#pragma unroll
  for (uint32_t i = 0; i < kLists; ++i) {
    const uint32_t lanes = __ballot_sync(kFullWarp, list == i);
    if (lanes == 0) continue;
    uint32_t first = 0;
    if (lane_id() == 0) first = atomicAdd(counters + i, static_cast<uint32_t>(__popc(lanes)));
    first = __shfl_sync(kFullWarp, first, 0);
    if (list == i) put_row(ragged, i, first + __popc(lanes & lanes_below()), r);
  }
}

// By one block, whose threads have the offsets of `kAhead` rows under way at once.
__device__ __forceinline__ void list_few_rows(const Ragged &ragged, uint32_t rows, uint64_t k, uint32_t *counters,
                                              uint32_t *error) {
  constexpr uint32_t kAhead = 4;
  for (uint32_t base = threadIdx.x; base - threadIdx.x < rows; base += kAhead * kListAloneThreads) {
    uint64_t begins[kAhead], ends[kAhead];
#pragma unroll
    for (uint32_t j = 0; j < kAhead; ++j) {
      const uint32_t r = min(base + j * kListAloneThreads, rows - 1);
      begins[j] = ragged.offsets[r], ends[j] = ragged.offsets[r + 1];
    }
#pragma unroll
    for (uint32_t j = 0; j < kAhead; ++j) {
      const uint32_t r = base + j * kListAloneThreads;
      put_rows(ragged, r < rows ? list_of(ragged, begins[j], ends[j], k, error) : kNoList, r, counters);
    }
  }
}

// One block, which counts for itself and so needs nothing cleared. The host may wait for the notice: the error, then
// the rows in each list.
__global__ void __launch_bounds__(kListAloneThreads)
    topk_list_few_rows_kernel(const __grid_constant__ Ragged ragged, uint32_t rows, uint64_t k,
                              const __grid_constant__ Notice notice) {
  __shared__ uint32_t counters[kRaggedCounters];
  __shared__ uint32_t error;
  if (threadIdx.x < kRaggedCounters) counters[threadIdx.x] = 0;
  if (threadIdx.x == 0) error = 0;
  allow_next_kernel();  // its blocks wait where this one leaves room
  __syncthreads();
  list_few_rows(ragged, rows, k, counters, &error);
  __syncthreads();
  if (threadIdx.x < kRaggedCounters) ragged.counters[threadIdx.x] = counters[threadIdx.x];
  if (threadIdx.x != 0) return;
  *ragged.error = error;
  volatile uint64_t *const words = notice.words;
  words[1] = error;
  for (uint32_t i = 0; i < kLists; ++i) words[2 + i] = counters[i];
  __threadfence_system();  // pairs with the fence of Notice::wait(): who sees the turn sees these
  words[0] = notice.turn;
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_RAGGED_CUH_
