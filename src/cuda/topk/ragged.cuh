// SPDX-License-Identifier: MIT OR Apache-2.0
// Ragged rows: checks the offsets and lists the rows that no warp does. The kernels for warps, blocks and teams do
// nothing if an offset was wrong.
#ifndef GSORT_CUDA_TOPK_RAGGED_CUH_
#define GSORT_CUDA_TOPK_RAGGED_CUH_

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/engine/notice.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/topk/ragged_plan.h"

namespace gsort_internal::topk {

// The list that a row comes onto; kNoList: warps look for it, or its offsets are wrong, which *error is told.
constexpr uint32_t kNoList = kLists;

__device__ __forceinline__ uint32_t list_of(const Ragged &ragged, uint64_t begin, uint64_t end, uint64_t k,
                                            uint32_t *error) {
  const uint64_t items = end - begin;
  if (begin > end || end > ragged.elements) {
    *error = 1;  // any number of threads may write the same word
    return kNoList;
  }
  if (is_on_no_list(items, k, ragged.short_items_max)) return kNoList;
  if (items <= ragged.listed_items_max) return list_by_length(items);
  if (ragged.cuts && items > ragged.cut_min && items <= kPartsRowMax) return kListParts;
  const RaggedClass who = ragged_class(items, k, ragged.block_k_max);
  return static_cast<uint32_t>(who) - static_cast<uint32_t>(RaggedClass::kBlock);
}

// Puts the warp's rows onto their lists: one addition for all of a list; where the counters are in shared memory, of 32
// bits, for additions of 64 are loops of compare and swap there, in which the block's warps would wait for each other
// row by row. Whole warps call it.
template <class Counter>
__device__ __forceinline__ void put_rows(const Ragged &ragged, uint32_t list, uint64_t r, Counter *counters) {
  if (!__any_sync(kFullWarp, list != kNoList)) return;
#pragma unroll
  for (uint32_t i = 0; i < kRowLists; ++i) {
    const uint32_t lanes = __ballot_sync(kFullWarp, list == i);
    if (lanes == 0) continue;
    Counter first = 0;
    if (lane_id() == 0) first = atomicAdd(counters + i, static_cast<Counter>(__popc(lanes)));
    first = __shfl_sync(kFullWarp, first, 0);
    const uint64_t at = first + static_cast<uint32_t>(__popc(lanes & lanes_below()));
    // Wrong offsets can name more rows than there is room for; the error is found elsewhere.
    if (list == i && at < ragged.capacity[i]) ragged.lists[i][at] = r;
  }
}

// Rows of more parts than these are cut by a warp, and others by a lane each.
constexpr uint32_t kCutByLane = 16;

// Lists parts `part`, `part + step` and so on of a row that begins at `begin`; `first` of all is its first.
__device__ __forceinline__ void put_parts(const Ragged &ragged, uint64_t begin, uint32_t items, uint32_t parts,
                                          uint64_t first, uint32_t part, uint32_t step) {
  for (; part < parts && first + part < ragged.capacity[kListParts]; part += step) {
    const uint32_t from = part_begin(items, parts, part), to = part_begin(items, parts, part + 1);
    ragged.lists[kListParts][first + part] = part_entry(begin + from, to - from);
  }
}

// Cuts those of the warp's rows that are to be cut, and puts their parts onto their list, and them onto the other.
// Whole warps call it.
template <class Counter>
__device__ __forceinline__ void cut_rows(const Ragged &ragged, uint32_t list, uint64_t r, uint64_t begin, uint64_t end,
                                         Counter *counters) {
  uint32_t cut = __ballot_sync(kFullWarp, list == kListParts);
  if (cut == 0) return;
  const uint32_t items = list == kListParts ? static_cast<uint32_t>(end - begin) : 0;
  const uint32_t parts = parts_of_row(items);  // of none there are none
  const uint32_t up_to = warp_inclusive_sum(parts);
  Counter first = 0, at = 0;
  if (lane_id() == 31) {
    first = atomicAdd(counters + kListParts, static_cast<Counter>(up_to));
    at = atomicAdd(counters + kListSplit, static_cast<Counter>(__popc(cut)));
  }
  first = __shfl_sync(kFullWarp, first, 31) + (up_to - parts);
  at = __shfl_sync(kFullWarp, at, 31) + __popc(cut & lanes_below());
  if (list == kListParts && at < ragged.capacity[kListSplit]) ragged.lists[kListSplit][at] = split_entry(r, first);
  cut = __ballot_sync(kFullWarp, parts > kCutByLane);
  if (parts <= kCutByLane) put_parts(ragged, begin, items, parts, first, 0, 1);
  for (; cut != 0; cut &= cut - 1) {
    const uint32_t lane = __ffs(cut) - 1, row_items = __shfl_sync(kFullWarp, items, lane);
    const uint32_t row_parts = __shfl_sync(kFullWarp, parts, lane);
    const uint64_t row_begin = __shfl_sync(kFullWarp, begin, lane), row_first = __shfl_sync(kFullWarp, first, lane);
    put_parts(ragged, row_begin, row_items, row_parts, row_first, lane_id(), 32);
  }
}

// Keeps the elements of the longest and of all of the rows on the lists of long ones.
__device__ __forceinline__ void keep_long_row(uint32_t list, uint64_t items, unsigned long long *longest,
                                              unsigned long long *all) {
  if (list != kListLong && list != kListTeam) return;
  atomicMax(longest, static_cast<unsigned long long>(items));
  atomicAdd(all, static_cast<unsigned long long>(items));
}

// Tells the kernels behind what was counted, and the host, if it wants to hear: the error, the rows in each list, and
// the elements of the longest of the long ones. One thread.
template <class Counts>
__device__ __forceinline__ void tell_counts(const Ragged &ragged, const Notice &notice, const Counts &counts) {
  for (uint32_t i = 0; i < kLists; ++i) ragged.counters[i] = counts.lists[i];
  ragged.counters[kTicket] = 0, ragged.counters[kLongest] = counts.longest, ragged.counters[kLongAll] = counts.all;
  *ragged.error = counts.error;
  if (notice.words == nullptr) return;
  volatile uint64_t *const words = notice.words;
  words[1] = counts.error;
  for (uint32_t i = 0; i < kLists; ++i) words[2 + i] = counts.lists[i];
  words[2 + kLists] = counts.longest;
  __threadfence_system();  // pairs with the fence of Notice::wait(): who sees the turn sees these
  words[0] = notice.turn;
}

// counts: zero before; the last block leaves them zero.
static __global__ void __launch_bounds__(kListThreads)
    topk_list_rows_kernel(const __grid_constant__ Ragged ragged, uint64_t rows, uint64_t k, ListCounters *counts,
                          const __grid_constant__ Notice notice) {
  const uint64_t step = uint64_t{gridDim.x} * kListThreads;
  for (uint64_t base = uint64_t{blockIdx.x} * kListThreads; base < rows; base += step) {
    const uint64_t r = base + threadIdx.x, begin = ragged.offsets[min_of(r, rows)],
                   end = ragged.offsets[min_of(r + 1, rows)];
    const uint32_t list = r < rows ? list_of(ragged, begin, end, k, &counts->error) : kNoList;
    put_rows(ragged, list, r, counts->lists);
    cut_rows(ragged, list, r, begin, end, counts->lists);
    keep_long_row(list, end - begin, &counts->longest, &counts->all);
  }
  allow_next_kernel();  // its blocks wait where these leave room
  if (!is_last_block(&counts->tickets, gridDim.x) || threadIdx.x != 0) return;
  ListCounters all;
  for (uint32_t i = 0; i < kLists; ++i) all.lists[i] = __ldcg(counts->lists + i);
  all.longest = __ldcg(&counts->longest), all.all = __ldcg(&counts->all), all.error = __ldcg(&counts->error);
  *counts = {};
  tell_counts(ragged, notice, all);
}

// What one block counts for itself.
struct FewRows {
  uint32_t lists[kLists];
  uint32_t error;
  unsigned long long longest, all;
};

// By one block, whose threads have the offsets of `kAhead` rows under way at once.
__device__ __forceinline__ void list_few_rows(const Ragged &ragged, uint32_t rows, uint64_t k, FewRows &few) {
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
      const uint32_t list = r < rows ? list_of(ragged, begins[j], ends[j], k, &few.error) : kNoList;
      put_rows(ragged, list, r, few.lists);
      cut_rows(ragged, list, r, begins[j], ends[j], few.lists);
      keep_long_row(list, ends[j] - begins[j], &few.longest, &few.all);
    }
  }
}

// One block, which needs nothing cleared.
static __global__ void __launch_bounds__(kListAloneThreads)
    topk_list_few_rows_kernel(const __grid_constant__ Ragged ragged, uint32_t rows, uint64_t k,
                              const __grid_constant__ Notice notice) {
  __shared__ FewRows few;
  if (threadIdx.x < kLists) few.lists[threadIdx.x] = 0;
  if (threadIdx.x == 0) few.error = 0, few.longest = 0, few.all = 0;
  allow_next_kernel();  // its blocks wait where this one leaves room
  __syncthreads();
  list_few_rows(ragged, rows, k, few);
  __syncthreads();
  if (threadIdx.x == 0) tell_counts(ragged, notice, few);
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_RAGGED_CUH_
