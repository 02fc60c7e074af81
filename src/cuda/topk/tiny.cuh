// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows with offsets that are on no list: a warp looks at some neighbours at once, and its lanes do the tiny ones, one
// each.
#ifndef GSORT_CUDA_TOPK_TINY_CUH_
#define GSORT_CUDA_TOPK_TINY_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/topk/widened.cuh"

namespace gsort_internal::topk {

constexpr uint32_t kTinyFew = 8, kTinyMost = 16;  // elements of a row that a lane does

// The row of this lane, of kMost elements at most: an element's place is the number of those before it.
template <uint32_t kMost, class Key>
__device__ __forceinline__ void tiny_row(const WidenedProblem<Key> &problem, const WidenedRow<Key> &row, uint64_t to) {
  Key keys[kMost];
  with_loader(row, [&](const auto &loader) {
#pragma unroll
    for (uint32_t i = 0; i < kMost; ++i) {
      keys[i] = ~Key{0};
      if (i < row.items) keys[i] = loader.encode(row.codec, loader.load(i));
    }
  });
#pragma unroll
  for (uint32_t i = 0; i < kMost; ++i) {
    uint32_t place = 0;
#pragma unroll
    for (uint32_t j = 0; j < kMost; ++j) place += j < i ? keys[j] <= keys[i] : keys[j] < keys[i];
    if (i < row.items && place < problem.k) widened_write(problem, to + place, problem.codec.decode(keys[i]), i);
  }
}

// Fills the places behind the results of tiny rows; the rows of a warp are neighbours, number `first` that of lane 0.
template <class Key>
__device__ __forceinline__ void tiny_missing(const WidenedProblem<Key> &problem, uint64_t first, uint32_t items,
                                             bool tiny) {
  if (!__any_sync(kFullWarp, tiny && items < problem.k)) return;
  const uint32_t k = static_cast<uint32_t>(problem.k), found = tiny ? items : k;
  for (uint32_t at = lane_id(); at - lane_id() < 32 * k; at += 32) {
    const uint32_t row = at / k;
    if (at - row * k >= __shfl_sync(kFullWarp, found, static_cast<int>(row)))
      widened_write(problem, first * k + at, Key{0}, ~uint64_t{0});
  }
}

// The rows that a warp looks at, each by its lane.
struct RowsSeen {
  uint64_t first;  // number of lane 0's
  uint64_t begin;  // of this lane's
  uint32_t items;
  uint32_t left;  // those on no list that have not been done, as bits
};

// None where offsets were wrong.
template <class Problem>
__device__ __forceinline__ RowsSeen see_rows(const Problem &problem, uint64_t first) {
  const Ragged &ragged = problem.ragged;
  const uint64_t r = first + lane_id();
  const bool real = lane_id() < ragged.rows_at_once && r < problem.rows, right = *ragged.error == 0;
  const uint64_t begin = real ? ragged.offsets[r] : 0, length = real ? ragged.offsets[r + 1] - begin : 0;
  const bool mine = real && right && is_on_no_list(length, problem.k, ragged.short_items_max);
  return {first, begin, static_cast<uint32_t>(length), __ballot_sync(kFullWarp, mine)};
}

// Calls f(real, row, begin, items) by kLanes lanes for each of the rows `some`, as many at a time as a warp has such
// lanes; where there are fewer, some lanes see a row once more, which is not `real`.
template <uint32_t kLanes, class F>
__device__ __forceinline__ void rows_together(const RowsSeen &rows, uint32_t some, F f) {
  constexpr uint32_t kAtOnce = 32 / kLanes;
  const uint32_t number = lane_id() / kLanes;
  while (some != 0) {
    uint32_t mine = some;  // without the rows of the lanes before these
#pragma unroll
    for (uint32_t i = 1; i < kAtOnce; ++i) mine &= number >= i ? mine - 1 : ~0u;
    const bool real = mine != 0;
    const int lane = __ffs(static_cast<int>(real ? mine : some)) - 1;
    const uint64_t begin = __shfl_sync(kFullWarp, rows.begin, lane);
    const uint32_t items = __shfl_sync(kFullWarp, rows.items, lane);
    f(real, rows.first + static_cast<uint32_t>(lane), begin, items);
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i) some &= some - 1;
  }
}

// Does the tiny ones. k of up to kTinyMost.
template <class Key>
__device__ __forceinline__ void tiny_rows(const WidenedProblem<Key> &problem, RowsSeen &rows) {
  const bool tiny = (rows.left >> lane_id() & 1) != 0 && rows.items <= kTinyMost;
  const uint32_t done = __ballot_sync(kFullWarp, tiny), most = warp_greatest(tiny ? rows.items : 0u);
  if (done == 0) return;
  const uint64_t to = (rows.first + lane_id()) * problem.k;
  const WidenedRow<Key> row = widened_part(problem, rows.begin, tiny ? rows.items : 0);
  if (most > kTinyFew)
    tiny_row<kTinyMost>(problem, row, to);
  else
    tiny_row<kTinyFew>(problem, row, to);
  __syncwarp();
  tiny_missing(problem, rows.first, rows.items, tiny);
  rows.left &= ~done;
}

// Blocks of so many warps that look at all rows.
template <class Problem>
uint32_t blocks_by_warps(const Problem &problem, uint32_t warps) {
  const uint64_t each = uint64_t{warps} * problem.ragged.rows_at_once;
  return static_cast<uint32_t>(min_of((problem.rows + each - 1) / each, 0x7fffffff));
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_TINY_CUH_
