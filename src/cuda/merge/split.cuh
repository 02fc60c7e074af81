// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the merge path crosses a diagonal: how many of the first `diagonal` keys of the merged order come from `a`; of
// equal keys those of `a` come first. Between 0 and a_n, and no more than b_n from the diagonal, whatever the arrays
// hold. They may lie in global or in shared memory.
#ifndef GSORT_CUDA_MERGE_SPLIT_CUH_
#define GSORT_CUDA_MERGE_SPLIT_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal::merge {

// Two parts that are merged.
template <class U, class Index>
struct Parts {
  const U *a;
  const U *b;
  Index a_n, b_n;
};

// The answers that are left, from `low` up to and including `high`.
template <class Index>
struct Answers {
  Index low, high;

  template <class U>
  __device__ __forceinline__ Answers(const Parts<U, Index> &parts, Index diagonal)
      : low(diagonal > parts.b_n ? diagonal - parts.b_n : 0), high(min(diagonal, parts.a_n)) {}

  __device__ __forceinline__ bool open() const { return low < high; }
  // The answer is past `steps` steps of so many, and not past one more.
  __device__ __forceinline__ void narrow(Index steps, Index step) {
    low = min(low + steps * step, high);
    high = min(low + step - 1, high);
  }
};

// By a warp: 32 places are looked at at once, so that the answers shrink to a 33rd with each trip to memory.
template <class Index>
struct WarpSearch {
  static constexpr uint32_t kProbes = 32;
  Answers<Index> answers;
  Index diagonal;

  template <class U>
  __device__ __forceinline__ WarpSearch(const Parts<U, Index> &parts, Index at) : answers(parts, at), diagonal(at) {}

  __device__ __forceinline__ bool open() const { return answers.open(); }
  __device__ __forceinline__ void give_up() { answers.high = answers.low; }
  __device__ __forceinline__ Index step() const { return (answers.high - answers.low) / (kProbes + 1) + 1; }
  // Whether the answer is past the lane's place.
  template <class U>
  __device__ __forceinline__ bool look(const Parts<U, Index> &parts, const KeyCodec<U> &codec) const {
    const Index probe = answers.low + (lane_id() + 1) * step() - 1;
    return probe < answers.high && codec.encode(parts.a[probe]) <= codec.encode(parts.b[diagonal - 1 - probe]);
  }
  __device__ __forceinline__ void narrow(bool past) {
    const uint32_t not_past = ~__ballot_sync(kFullWarp, past);
    answers.narrow(not_past == 0 ? kProbes : static_cast<uint32_t>(__ffs(static_cast<int>(not_past))) - 1, step());
  }
};

// In all lanes of a warp.
template <class U, class Index>
__device__ __forceinline__ Index split_by_warp(const Parts<U, Index> &parts, Index diagonal, const KeyCodec<U> &codec) {
  WarpSearch<Index> search(parts, diagonal);
  while (search.open()) search.narrow(search.look(parts, codec));
  return search.answers.low;
}

// Where a tile's keys of `a` begin and end.
struct TileEnds {
  uint32_t begin, end;
};

// Both ends at once, by a warp whose halves look at 16 places each.
template <class U>
__device__ __forceinline__ TileEnds split_by_halves(const Parts<U, uint32_t> &parts, uint32_t begin, uint32_t end,
                                                    const KeyCodec<U> &codec) {
  constexpr uint32_t kProbes = 16;
  const uint32_t half = lane_id() / kProbes * kProbes, diagonal = half != 0 ? end : begin;
  Answers<uint32_t> answers(parts, diagonal);
  while (__any_sync(kFullWarp, answers.open())) {
    const uint32_t step = (answers.high - answers.low) / (kProbes + 1) + 1;
    const uint32_t probe = answers.low + (lane_id() % kProbes + 1) * step - 1;
    bool past = false;
    if (probe < answers.high) past = codec.encode(parts.a[probe]) <= codec.encode(parts.b[diagonal - 1 - probe]);
    // Of sorted keys those that are past come first.
    answers.narrow(__popc(__ballot_sync(kFullWarp, past) >> half & 0xffff), step);
  }
  return {__shfl_sync(kFullWarp, answers.low, 0), __shfl_sync(kFullWarp, answers.low, kProbes)};
}

// A stretch of the merged order: the keys of `a` before its begin and its end.
struct Stretch {
  uint64_t begin, end;
  uint64_t a_begin, a_end;

  // False if the inputs were not sorted and its ends do not fit together.
  __device__ __forceinline__ bool fits() const { return a_begin <= a_end && a_end - a_begin <= end - begin; }
  // What its ends leave of the answers at a diagonal between them.
  __device__ __forceinline__ uint64_t low(uint64_t diagonal) const {
    return a_end > a_begin + (end - diagonal) ? a_end - (end - diagonal) : a_begin;
  }
  __device__ __forceinline__ uint64_t high(uint64_t diagonal) const { return min(a_end, a_begin + (diagonal - begin)); }
  // Nearly the answer if the keys of both were spread alike.
  __device__ __forceinline__ uint64_t guess(uint64_t diagonal) const {
    const float share = __fdividef(static_cast<float>(a_end - a_begin), static_cast<float>(end - begin));
    return a_begin + static_cast<uint64_t>(share * static_cast<float>(diagonal - begin));
  }
  // Of random keys nearly all answers lie so near to that.
  __device__ __forceinline__ uint64_t reach(uint64_t diagonal) const {
    const float nearest = static_cast<float>(min(diagonal - begin, end - diagonal)) + 16;
    return static_cast<uint64_t>(1.5f * nearest * rsqrtf(nearest));
  }
};

// Within a stretch whose ends fit together, by some lanes of a warp, each of which looks at a place: first around
// the guess, then evenly over what is left. In all of these lanes.
template <uint32_t kLanes, class U>
__device__ __forceinline__ uint64_t split_by_lanes(const Parts<U, uint64_t> &parts, uint64_t diagonal,
                                                   const Stretch &stretch, const KeyCodec<U> &codec) {
  constexpr uint32_t kGroup = kFullWarp >> (32 - kLanes);
  const uint32_t lane = lane_id() % kLanes, group_begin = lane_id() - lane;
  uint64_t low = stretch.low(diagonal), high = stretch.high(diagonal);
  const uint64_t guess = stretch.guess(diagonal), reach = stretch.reach(diagonal);
  uint64_t step = 2 * reach / kLanes + 1;
  uint64_t first = guess > low + reach ? guess - reach : low;
  while (low < high) {
    const uint64_t probe = first + lane * step;
    bool is_past = false;
    if (probe < high) is_past = codec.encode(parts.a[probe]) <= codec.encode(parts.b[diagonal - 1 - probe]);
    const uint32_t past = __popc(__ballot_sync(kGroup << group_begin, is_past) >> group_begin & kGroup);
    if (past < kLanes) high = min(first + past * step, high);
    if (past > 0) low = min(first + (past - 1) * step + 1, high);
    step = (high - low) / (kLanes + 1) + 1;
    first = low + step - 1;
  }
  return low;
}

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_SPLIT_CUH_
