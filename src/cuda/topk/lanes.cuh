// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of many short rows and small k: a row lies in the registers of 8, 16 or 32 lanes of a warp. The best keys of
// one or two groups a lane give a bound that at least k keys are at or under; the few that are, are ranked by counting.
//
// Work whatever the data: where more keys pass than there is room for, the bound is brought down by halving the range
// of keys, and of the keys equal to it those with the lowest indices are taken.
#ifndef GSORT_CUDA_TOPK_LANES_CUH_
#define GSORT_CUDA_TOPK_LANES_CUH_

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/lane_sort.cuh"
#include "cuda/topk/taken_rows.cuh"
#include "cuda/topk/warp.cuh"
#include "cuda/topk/widened.cuh"

namespace gsort_internal::topk {

// kRegisters keys in each of kLanes lanes; key j of lane i is element j * kLanes + i of the row.
template <class U, uint32_t kLanes, uint32_t kRegisters>
struct LanesRow {
  using Key = typename LaneKey<U>::type;
  using S = typename WarpTypes<U>::S;
  static constexpr uint32_t kRoom = 2 * kLanes;  // candidates

  Key keys[kRegisters];  // places behind the row's end hold the greatest key
  uint32_t inner;        // this lane's number among the row's
  S *list;               // shared: kRoom + 2

  __device__ __forceinline__ uint32_t index(uint32_t j) const { return j * kLanes + inner; }
  // How many of this lane's elements are among the row's first `items`.
  __device__ __forceinline__ uint32_t own(uint32_t items) const { return (items + kLanes - 1 - inner) / kLanes; }
  __device__ __forceinline__ uint32_t sum(uint32_t count) const {
    if constexpr (kLanes == 32) {
      return warp_sum(count);
    } else {
#pragma unroll
      for (uint32_t d = kLanes / 2; d > 0; d /= 2) count += __shfl_xor_sync(kFullWarp, count, d);
      return count;
    }
  }
};

// Loads a row's first `items` elements, all at once.
template <class U, uint32_t kLanes, uint32_t kRegisters, class Loader>
__device__ __forceinline__ void lanes_load(LanesRow<U, kLanes, kRegisters> &row, uint32_t items,
                                           const KeyCodec<U> &codec, const Loader &loader) {
  const uint32_t own = row.own(items);
  const U padding = loader.narrow(codec.decode(static_cast<U>(~U{0})));
#pragma unroll
  for (uint32_t j = 0; j < kRegisters; ++j) {
    row.keys[j] = padding;
    if (j < own) row.keys[j] = loader.load(row.index(j));
  }
  with_codec(codec, [&](const KeyCodec<U> &c) {
#pragma unroll
    for (uint32_t j = 0; j < kRegisters; ++j) {
      row.keys[j] = loader.encode(c, static_cast<U>(row.keys[j]));
      // The compiler would keep narrow keys in registers of 16 bits beside these.
      if constexpr (sizeof(U) < 4) asm volatile("" : "+r"(row.keys[j]));
    }
  });
}

// The best of kGroups groups a lane, in order: number i of them all in lane i / kGroups.
template <uint32_t kGroups, class U, uint32_t kLanes, uint32_t kRegisters>
__device__ __forceinline__ void lanes_groups(const LanesRow<U, kLanes, kRegisters> &row,
                                             typename LanesRow<U, kLanes, kRegisters>::Key (&best)[kGroups]) {
#pragma unroll
  for (uint32_t g = 0; g < kGroups; ++g) {
    best[g] = row.keys[g];
#pragma unroll
    for (uint32_t j = g + kGroups; j < kRegisters; j += kGroups) best[g] = min(best[g], row.keys[j]);
  }
  sort_in_lane(best);
  merge_lanes<true>(best, kLanes);
}

// One of them; the same number in all lanes.
template <uint32_t kLanes, uint32_t kGroups, class Key>
__device__ __forceinline__ Key lanes_group(const Key (&best)[kGroups], uint32_t number) {
  // By halves: of an index the compiler would make an array in memory.
  Key left[kGroups];
#pragma unroll
  for (uint32_t g = 0; g < kGroups; ++g) left[g] = best[g];
#pragma unroll
  for (uint32_t half = 1; half < kGroups; half *= 2) {
#pragma unroll
    for (uint32_t g = 0; g < kGroups; g += 2 * half) left[g] = (number & half) != 0 ? left[g + half] : left[g];
  }
  return __shfl_sync(kFullWarp, left[0], number / kGroups, kLanes);
}

// The k-th best of the groups' best: k of the row's keys are at or under it. k <= kGroups * kLanes.
template <uint32_t kGroups, class U, uint32_t kLanes, uint32_t kRegisters>
__device__ __forceinline__ auto lanes_group_bound(const LanesRow<U, kLanes, kRegisters> &row, uint32_t k) {
  typename LanesRow<U, kLanes, kRegisters>::Key best[kGroups];
  lanes_groups(row, best);
  return lanes_group<kLanes>(best, k - 1);
}

// More groups cost more to sort, and leave fewer candidates.
template <class U, uint32_t kLanes, uint32_t kRegisters>
__device__ __forceinline__ auto lanes_bound(const LanesRow<U, kLanes, kRegisters> &row, uint32_t k) {
  return k <= kLanes / 2 ? lanes_group_bound<1>(row, k) : lanes_group_bound<2>(row, k);
}

// What is taken: keys under `key`, and of those equal to it the lane's first `ties`, or all.
template <class Key>
struct LanesBound {
  Key key;
  uint32_t ties;
};

template <bool kTies, class U, uint32_t kLanes, uint32_t kRegisters>
__device__ __forceinline__ bool lanes_takes(const LanesRow<U, kLanes, kRegisters> &row, uint32_t j,
                                            const LanesBound<typename LanesRow<U, kLanes, kRegisters>::Key> &bound) {
  return row.keys[j] < bound.key || (row.keys[j] == bound.key && (!kTies || j < bound.ties));
}

// How many elements of the row are taken, and how many of them lanes before this one have.
struct LanesCount {
  uint32_t taken, before;
};

template <bool kTies, class U, uint32_t kLanes, uint32_t kRegisters>
__device__ __forceinline__ LanesCount
lanes_count(const LanesRow<U, kLanes, kRegisters> &row,
            const LanesBound<typename LanesRow<U, kLanes, kRegisters>::Key> &bound) {
  uint32_t mine = 0;
#pragma unroll
  for (uint32_t j = 0; j < kRegisters; ++j) mine += lanes_takes<kTies>(row, j, bound);
  uint32_t upto = mine;
#pragma unroll
  for (uint32_t d = 1; d < kLanes; d *= 2) {
    const uint32_t other = __shfl_up_sync(kFullWarp, upto, d, kLanes);
    if (row.inner >= d) upto += other;
  }
  return {__shfl_sync(kFullWarp, upto, kLanes - 1, kLanes), upto - mine};
}

template <bool kTies, class U, uint32_t kLanes, uint32_t kRegisters>
__device__ __forceinline__ void lanes_list(const LanesRow<U, kLanes, kRegisters> &row,
                                           const LanesBound<typename LanesRow<U, kLanes, kRegisters>::Key> &bound,
                                           uint32_t before) {
  using S = typename WarpTypes<U>::S;
  S *to = row.list + before;
#pragma unroll
  for (uint32_t j = 0; j < kRegisters; ++j)
    if (lanes_takes<kTies>(row, j, bound))
      *to++ = (static_cast<S>(row.keys[j]) << WarpTypes<U>::kIndexBits) | row.index(j);
}

// How many of the row's keys are under `key`.
template <class U, uint32_t kLanes, uint32_t kRegisters>
__device__ __forceinline__ uint32_t lanes_under(const LanesRow<U, kLanes, kRegisters> &row,
                                                typename LanesRow<U, kLanes, kRegisters>::Key key) {
  uint32_t count = 0;
#pragma unroll
  for (uint32_t j = 0; j < kRegisters; ++j) count += row.keys[j] < key;
  return row.sum(count);
}

// A bound that at least k and at most `room` elements are taken by, where `taken`, too many, are at or under `high`:
// the keys under it, if they are enough and not too many; else the range of keys is halved until they are, or its ties
// are as many. Of those the first are taken. Rows that have few come along. room: for k and a lane's number more.
template <class U, uint32_t kLanes, uint32_t kRegisters>
__device__ __forceinline__ auto lanes_narrow(const LanesRow<U, kLanes, kRegisters> &row, uint32_t k,
                                             typename LanesRow<U, kLanes, kRegisters>::Key high, uint32_t taken,
                                             uint32_t room) {
  using Key = typename LanesRow<U, kLanes, kRegisters>::Key;
  uint32_t under = lanes_under(row, high);
  const bool ties = under < k;  // the bound is right, but for them
  if (taken > room && !ties) high -= 1, taken = under;
  if (__any_sync(kFullWarp, taken > room && !ties)) {
    Key low = row.keys[0];  // the least key
#pragma unroll
    for (uint32_t j = 1; j < kRegisters; ++j) low = min(low, row.keys[j]);
#pragma unroll
    for (uint32_t d = kLanes / 2; d > 0; d /= 2) low = min(low, __shfl_xor_sync(kFullWarp, low, d));
    if (ties) low = high;
    while (__any_sync(kFullWarp, taken > room && low < high)) {
      const Key middle = low + (high - low) / 2;  // under the padding's key
      const uint32_t count = lanes_under(row, middle + 1);
      if (taken <= room || low >= high) continue;
      if (count >= k)
        high = middle, taken = count;
      else
        low = middle + 1;
    }
    under = lanes_under(row, high);
  }
  LanesBound<Key> bound{high, kRegisters};
  if (!__any_sync(kFullWarp, taken > room)) return bound;
  // The lanes' j-th keys are neighbours: ties are taken up to those with which there are enough.
  constexpr uint32_t kOwn = kLanes == 32 ? kFullWarp : (1u << kLanes % 32) - 1;
  const uint32_t own = kOwn << lane_id() / kLanes * kLanes;
#pragma unroll
  for (uint32_t j = 0; j < kRegisters; ++j) {
    under += __popc(__ballot_sync(kFullWarp, row.keys[j] == high) & own);
    if (taken > room && under >= k && bound.ties == kRegisters) bound.ties = j + 1;
  }
  return bound;
}

// Ranks the listed and tells put(place, item) the best k.
template <class U, uint32_t kLanes, uint32_t kRegisters, class Put>
__device__ __forceinline__ void lanes_rank(const LanesRow<U, kLanes, kRegisters> &row, uint32_t count, uint32_t k,
                                           Put &&put) {
  using S = typename WarpTypes<U>::S;
  const S mine = row.inner < count ? row.list[row.inner] : ~S{0};
  if (row.inner == 0) row.list[count] = ~S{0};
  __syncwarp();
  uint32_t rank = row.inner < count ? 0 : k;
  if (count <= kLanes) {
    for (uint32_t i = 0; i < count; i += 2) rank += (row.list[i] < mine) + (row.list[i + 1] < mine);
  } else {
    const S other = row.list[kLanes + row.inner];
    uint32_t other_rank = kLanes + row.inner < count ? 0 : k;
    for (uint32_t i = 0; i < count; ++i) rank += row.list[i] < mine, other_rank += row.list[i] < other;
    if (other_rank < k) put(other_rank, other);
  }
  if (rank < k) put(rank, mine);
}

constexpr uint32_t kLanesThreads = 128;

// Blocks an SM that leave a thread the registers it needs without spills.
template <class U>
constexpr uint32_t lanes_blocks(uint32_t registers) {
  const uint32_t wide = registers == 8    ? 8
                        : registers == 16 ? 8
                                          : 4,
                 narrow = registers == 8    ? 12
                          : registers == 16 ? 9
                                            : 6;
  return blocks_here(kLanesThreads, sizeof(U) == 8 ? wide : narrow);
}

// The best k of a row that is loaded; 1 <= k <= items, k <= kLanes. All lanes of the warp call it; `real`: there is
// such a row.
template <class U, uint32_t kLanes, uint32_t kRegisters, class Put>
__device__ __forceinline__ void lanes_row(const LanesRow<U, kLanes, kRegisters> &row, uint32_t k, bool real,
                                          Put &&put) {
  using Lanes = LanesRow<U, kLanes, kRegisters>;
  LanesBound<typename Lanes::Key> bound{lanes_bound(row, k), 0};
  LanesCount found = lanes_count<false>(row, bound);
  if (__any_sync(kFullWarp, found.taken > Lanes::kRoom)) {
    bound = lanes_narrow(row, k, bound.key, found.taken, Lanes::kRoom);
    found = lanes_count<true>(row, bound);
    lanes_list<true>(row, bound, found.before);
  } else {
    lanes_list<false>(row, bound, found.before);
  }
  __syncwarp();
  lanes_rank(row, found.taken, real ? k : 0, put);  // its barrier is for all lanes
}

// The best k of a row, whose number in the call `number` tells by the time they are written, by the lanes that have
// this list.
template <uint32_t kLanes, uint32_t kRegisters, class Key, class Number>
__device__ __forceinline__ void lanes_loaded_row(const WidenedProblem<Key> &problem, const WidenedRow<Key> &source,
                                                 bool real, typename WarpTypes<Key>::S *list, const Number &number) {
  LanesRow<Key, kLanes, kRegisters> row;
  row.inner = threadIdx.x % kLanes;
  row.list = list;
  with_loader(source, [&](const auto &loader) { lanes_load(row, source.items, source.codec, loader); });
  lanes_row(row, static_cast<uint32_t>(problem.k), real, [&](uint32_t place, typename WarpTypes<Key>::S item) {
    widened_write(problem, number() * problem.k + place,
                  problem.codec.decode(static_cast<Key>(item >> WarpTypes<Key>::kIndexBits)),
                  static_cast<uint32_t>(item));
  });
}

// Of widened keys. Rows of a warp each may be taken from lists, where they are longer than fewer registers have room
// for.
template <class Key, uint32_t kLanes, uint32_t kRegisters>
__global__ __launch_bounds__(kLanesThreads, lanes_blocks<Key>(kRegisters)) void topk_lanes_kernel(
    const __grid_constant__ WidenedProblem<Key> problem) {
  using Lanes = LanesRow<Key, kLanes, kRegisters>;
  constexpr uint32_t kRows = kLanesThreads / kLanes;
  __shared__ __align__(16) typename Lanes::S lists[kRows][Lanes::kRoom + 2];
  typename Lanes::S *const list = lists[threadIdx.x / kLanes];
  const uint64_t i = uint64_t{blockIdx.x} * kRows + threadIdx.x / kLanes;
  if constexpr (kLanes == 32 && kRegisters >= 16) {
    const uint64_t r = begin_taken_row(problem, static_cast<uint32_t>(i));
    if (r == kNoRow) return;
    lanes_loaded_row<kLanes, kRegisters>(problem, widened_row(problem, r), true, list,
                                         [&] { return row_taken(problem, i); });
    end_taken_row(problem);
  } else {
    const bool real = i < problem.rows;
    lanes_loaded_row<kLanes, kRegisters>(problem, widened_row(problem, real ? i : 0), real, list, [&] { return i; });
  }
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_LANES_CUH_
