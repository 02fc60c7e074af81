// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows with offsets that warps do: a warp looks at some neighbours at once. Its lanes do the tiny ones, one each, and
// the whole warp the others, one after the other.
#ifndef GSORT_CUDA_TOPK_TINY_CUH_
#define GSORT_CUDA_TOPK_TINY_CUH_

#include <cstdint>
#include <type_traits>

#include "cuda/primitive/warp.cuh"
#include "cuda/topk/common.cuh"
#include "cuda/topk/problem.h"

namespace gsort_internal::topk {

constexpr uint32_t kTinyFew = 8, kTinyMost = 16;  // elements of a row that a lane does

// The row of this lane, of `items` elements, kMost at most: an element's place is the number of those before it.
template <uint32_t kMost, class U>
__device__ __forceinline__ void tiny_row(const Problem<U> &problem, uint64_t begin, uint32_t items, uint64_t to) {
  using Key = typename std::conditional<sizeof(U) == 8, uint64_t, uint32_t>::type;
  Key keys[kMost];
#pragma unroll
  for (uint32_t i = 0; i < kMost; ++i) {
    keys[i] = static_cast<Key>(~Key{0});
    if (i < items) keys[i] = problem.codec.encode(__ldg(problem.in + begin + i));
    // The compiler would keep narrow keys in registers of 16 bits beside these.
    if constexpr (sizeof(U) < 4) asm volatile("" : "+r"(keys[i]));
  }
#pragma unroll
  for (uint32_t i = 0; i < kMost; ++i) {
    uint32_t place = 0;
#pragma unroll
    for (uint32_t j = 0; j < kMost; ++j) place += j < i ? keys[j] <= keys[i] : keys[j] < keys[i];
    if (i < items && place < problem.k)
      write_element(problem.output, to + place, problem.codec.decode(static_cast<U>(keys[i])), i);
  }
}

// Fills the places behind the results of tiny rows; the rows of a warp are neighbours, number `first` that of lane 0.
template <class U>
__device__ __forceinline__ void tiny_missing(const Problem<U> &problem, uint64_t first, uint32_t items, bool tiny) {
  constexpr uint64_t kTogether = 64;
  if (!__any_sync(kFullWarp, tiny && items < problem.k)) return;
  if (problem.k <= kTogether) {
    const uint32_t k = static_cast<uint32_t>(problem.k), found = tiny ? items : k;
    for (uint32_t at = lane_id(); at - lane_id() < 32 * k; at += 32) {
      const uint32_t row = at / k;
      if (at - row * k >= __shfl_sync(kFullWarp, found, static_cast<int>(row)))
        write_element<U>(problem.output, first * k + at, 0, ~uint64_t{0});
    }
    return;
  }
  for (uint32_t left = __ballot_sync(kFullWarp, tiny); left != 0; left &= left - 1) {
    const uint32_t row = static_cast<uint32_t>(__ffs(static_cast<int>(left))) - 1;
    const uint64_t to = (first + row) * problem.k;
    write_missing(problem.output, to + __shfl_sync(kFullWarp, items, static_cast<int>(row)), to + problem.k, lane_id(),
                  32);
  }
}

// The rows that a warp looks at, each by its lane.
struct RowsSeen {
  uint64_t first;  // number of lane 0's
  uint64_t begin;  // of this lane's
  uint32_t items;
  uint32_t left;  // those that a warp does and that have not been done, as bits
};

template <class U>
__device__ __forceinline__ RowsSeen see_rows(const Problem<U> &problem, uint64_t first) {
  const Ragged &ragged = problem.ragged;
  const uint64_t r = first + lane_id();
  const bool real = lane_id() < ragged.rows_at_once && r < problem.rows;
  const uint64_t begin = real ? ragged.offsets[r] : 0, length = real ? ragged.offsets[r + 1] - begin : 0;
  const bool mine = real && ragged_class(length, problem.k, ragged.block_k_max) == RaggedClass::kWarp;
  return {first, begin, static_cast<uint32_t>(length), __ballot_sync(kFullWarp, mine)};
}

// Does the tiny ones.
template <class U>
__device__ __forceinline__ void tiny_rows(const Problem<U> &problem, RowsSeen &rows) {
  const bool tiny = (rows.left >> lane_id() & 1) != 0 && rows.items <= kTinyMost;
  const uint32_t done = __ballot_sync(kFullWarp, tiny), most = warp_greatest(tiny ? rows.items : 0u);
  if (done == 0) return;
  const uint64_t to = (rows.first + lane_id()) * problem.k;
  if (most > kTinyFew)
    tiny_row<kTinyMost>(problem, rows.begin, tiny ? rows.items : 0u, to);
  else
    tiny_row<kTinyFew>(problem, rows.begin, tiny ? rows.items : 0u, to);
  __syncwarp();
  tiny_missing(problem, rows.first, rows.items, tiny);
  rows.left &= ~done;
}

// Calls f(r) for the rows of the grid's warps, `warps` a block, by whole warps, and leaves out those that are no
// warp's. Where a warp looks at more than one at once it does the tiny ones itself, and some(rows) may do others of
// those that are left.
template <bool kMayLookAtMore, class U, class Some, class F>
__device__ __forceinline__ void rows_by_warps(const Problem<U> &problem, uint32_t warps, Some some, F f) {
  const uint32_t at_once = kMayLookAtMore ? problem.ragged.rows_at_once : 1;
  const uint64_t step = uint64_t{gridDim.x} * warps * at_once;
  for (uint64_t first = (uint64_t{blockIdx.x} * warps + threadIdx.x / 32) * at_once; first < problem.rows;
       first += step) {
    if constexpr (kMayLookAtMore) {
      uint32_t left = 1;  // a row alone is looked at by whoever does it
      if (at_once != 1) {
        RowsSeen rows = see_rows(problem, first);
        tiny_rows(problem, rows);
        some(rows);
        left = rows.left;
      }
      for (; left != 0; left &= left - 1) f(first + static_cast<uint32_t>(__ffs(static_cast<int>(left))) - 1);
    } else {
      f(first);
    }
  }
}

// Blocks of so many warps that look at all rows.
template <class U>
uint32_t blocks_by_warps(const Problem<U> &problem, uint32_t warps) {
  const uint64_t each = uint64_t{warps} * problem.ragged.rows_at_once;
  return static_cast<uint32_t>(min_of((problem.rows + each - 1) / each, 0x7fffffff));
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_TINY_CUH_
