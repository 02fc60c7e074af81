// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows with offsets that are on no list, where those are of up to kSomeItemsMax elements: a warp looks at some
// neighbours at once, and some of its lanes each do a row.
#ifndef GSORT_CUDA_TOPK_SHORT_ROWS_CUH_
#define GSORT_CUDA_TOPK_SHORT_ROWS_CUH_

#include "cuda/topk/lanes.cuh"
#include "cuda/topk/sorted_lanes.cuh"
#include "cuda/topk/taken_rows.cuh"
#include "cuda/topk/tiny.cuh"

namespace gsort_internal::topk {

// The first row that this warp, of `warps` a block, looks at. blocks_by_warps() blocks look at all.
template <class Problem>
__device__ __forceinline__ uint64_t first_seen(const Problem &problem, uint32_t warps) {
  return (uint64_t{blockIdx.x} * warps + threadIdx.x / 32) * problem.ragged.rows_at_once;
}

// ---- k of up to kSomeLanesMax: tiny rows by a lane each, others by some, which rank the best ----

// Room for the candidates of a warp's rows.
template <class Key>
constexpr uint32_t kSomeListItems = 32 / kSomeLanesMin * (LanesRow<Key, kSomeLanesMin, kSomeRegisters>::kRoom + 2);
static_assert(kSomeListItems<uint32_t> >= 32 / kSomeLanesMax * (2 * kSomeLanesMax + 2), "the most of them");

// Does those of the rows that kLanes lanes each hold. They have more elements than tiny ones, and so than k.
template <uint32_t kLanes, class Key>
__device__ __forceinline__ void some_lanes_rows(const WidenedProblem<Key> &problem, RowsSeen &rows,
                                                typename WarpTypes<Key>::S *lists) {
  static_assert(kLanes <= kTinyMost, "no row has fewer than k elements");
  if (problem.k > kLanes) return;
  const uint32_t some =
      __ballot_sync(kFullWarp, (rows.left >> lane_id() & 1) != 0 && rows.items <= kLanes * kSomeRegisters);
  rows.left &= ~some;
  typename WarpTypes<Key>::S *const list =
      lists + lane_id() / kLanes * (LanesRow<Key, kLanes, kSomeRegisters>::kRoom + 2);
  rows_together<kLanes>(rows, some, [&](bool real, uint64_t r, uint64_t begin, uint32_t items) {
    lanes_loaded_row<kLanes, kSomeRegisters>(problem, widened_part(problem, begin, items), real, list,
                                             [&] { return r; });
  });
}

template <class Key>
__global__ __launch_bounds__(kLanesThreads, blocks_here(kLanesThreads, 8)) void topk_short_rows_kernel(
    const __grid_constant__ WidenedProblem<Key> problem) {
  __shared__ __align__(16) typename WarpTypes<Key>::S lists[kLanesThreads / 32][kSomeListItems<Key>];
  begin_beside(problem.ragged);
  RowsSeen rows = see_rows(problem, first_seen(problem, kLanesThreads / 32));
  tiny_rows(problem, rows);
  some_lanes_rows<kSomeLanesMin>(problem, rows, lists[threadIdx.x / 32]);
  some_lanes_rows<kSomeLanesMax>(problem, rows, lists[threadIdx.x / 32]);
  end_beside(problem.ragged);
}

// ---- larger k: rows are sorted whole ----

constexpr uint32_t kShortSortedLanes = 8;

template <class Key>
union ShortSortedRows {
  SortedRow<Key, kShortSortedLanes, kSomeItemsMax / kShortSortedLanes> longer;
  SortedRow<Key, kShortSortedLanes, kSomeItemsMax / kShortSortedLanes / 2> shorter;
};

// Of the rows `some`, none of which is empty.
template <class Row, class Key>
__device__ __forceinline__ void short_sorted_rows(Row &shared, const WidenedProblem<Key> &problem, const RowsSeen &rows,
                                                  uint32_t some) {
  const uint32_t inner = threadIdx.x % kShortSortedLanes, k = static_cast<uint32_t>(problem.k);
  rows_together<kShortSortedLanes>(rows, some, [&](bool real, uint64_t r, uint64_t begin, uint32_t items) {
    sorted_row(shared, widened_part(problem, begin, items), inner);
    sorted_write(shared, inner, real ? min(k, items) : 0, problem, r * problem.k);
    if (real) widened_missing(problem, r * problem.k, items, k, inner, kShortSortedLanes);
  });
}

template <class Key>
__global__ __launch_bounds__(kSortedThreads, blocks_here(kSortedThreads, 6)) void topk_short_sorted_rows_kernel(
    const __grid_constant__ WidenedProblem<Key> problem) {
  using Rows = ShortSortedRows<Key>;
  __shared__ Rows shared[kSortedThreads / kShortSortedLanes];
  Rows &mine = shared[threadIdx.x / kShortSortedLanes];
  begin_beside(problem.ragged);
  const RowsSeen rows = see_rows(problem, first_seen(problem, kSortedThreads / 32));
  const uint32_t shorter = rows.left & __ballot_sync(kFullWarp, rows.items <= decltype(Rows::shorter)::kItems);
  uint32_t empty = rows.left & __ballot_sync(kFullWarp, rows.items == 0);
  short_sorted_rows(mine.shorter, problem, rows, shorter & ~empty);
  short_sorted_rows(mine.longer, problem, rows, rows.left & ~shorter);
  for (; empty != 0; empty &= empty - 1) {
    const uint64_t r = rows.first + static_cast<uint32_t>(__ffs(static_cast<int>(empty))) - 1;
    widened_missing(problem, r * problem.k, 0, static_cast<uint32_t>(problem.k), lane_id(), 32);
  }
  end_beside(problem.ragged);
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_SHORT_ROWS_CUH_
