// SPDX-License-Identifier: MIT OR Apache-2.0
// The first try of a whole grid with one row of up to 8 MB, which it keeps in registers:
//
//   elements in registers -> a bound by each block, of which a middle one counts -> candidates to all blocks -> places
//   by counting
//
// Two barriers of the grid. The bound is certain: so many of the blocks' bounds are at or under it that they have at
// least k elements there together. How many more there are depends on where in the row the best lie; a try that finds
// too many in one block leaves the row to team.cuh.
#ifndef GSORT_CUDA_TOPK_GRID_CUH_
#define GSORT_CUDA_TOPK_GRID_CUH_

#include <cooperative_groups.h>

#include "cuda/topk/common.cuh"
#include "cuda/topk/problem.h"
#include "cuda/topk/resident.cuh"

namespace gsort_internal::topk {

// The block's shared memory.
template <class C>
struct GridShared {
  C found[kGridListItems];          // this block's candidates
  uint32_t counts[kTeamBlocksMax];  // candidates of each block
  C bounds[kTeamBlocksMax];         // of each block
  uint32_t lower[kTeamBlocksMax];   // bounds below each
  ResidentOffers<C> offers;
  C bound;
  uint32_t rank;      // of the bound among the bounds, from 0
  uint32_t count;     // of this block's candidates, and more where there is no room
  uint32_t total;     // of all blocks' candidates
  uint32_t gathered;  // of them, those fetched
};
static_assert(sizeof(GridShared<uint64_t>) <= kGridBytes && sizeof(GridShared<Wide>) <= kGridBytes,
              "the plan leaves room for it");

// The workspace in this use.
template <class C>
struct GridLists {
  C *bounds;         // of each block
  C *lists;          // kRegionItems a block, filled up with ~0 to the plan's slots
  uint32_t *counts;  // of the lists
};
static_assert(kGridListItems <= kRegionItems, "a list has room in the workspace");

// Number `rank`, counted from 1, of the blocks' bounds, among which may be equal ones. Each is loaded once a block:
// what all blocks ask for at the same time waits in line at one address of L2. A warp has 32 of them, which it compares
// with its share of all.
template <class C>
__device__ __forceinline__ C grid_bound(GridShared<C> &shared, const C *bounds, uint32_t blocks, uint32_t rank) {
  const uint32_t tid = threadIdx.x, warp = tid >> 5;
  if (tid < blocks) shared.bounds[tid] = load_uncached(bounds + tid), shared.lower[tid] = 0;
  if (tid == 0) shared.rank = 0;
  __syncthreads();
  const uint32_t groups = (blocks + 31) / 32, shares = kTeamThreads / 32 / groups;
  const uint32_t b = warp % groups * 32 + (tid & 31);
  if (warp / groups < shares && b < blocks) {
    const C bound = shared.bounds[b];
    uint32_t lower = 0;
#pragma unroll 8
    for (uint32_t i = warp / groups; i < blocks; i += shares) lower += shared.bounds[i] < bound;
    shared_add(&shared.lower[b], lower);
  }
  __syncthreads();
  const uint32_t lower = tid < blocks ? shared.lower[tid] : ~0u;
  if (lower < rank) shared_max(&shared.rank, lower);
  __syncthreads();
  if (lower == shared.rank) shared.bound = shared.bounds[tid];
  __syncthreads();
  return shared.bound;
}

// Writes block `rank`'s `count` candidates, or as many as `room`, where all blocks read them.
template <class C>
__device__ __forceinline__ void grid_publish(const GridLists<C> &lists, uint32_t rank, const C *found, uint32_t count,
                                             uint32_t room, uint32_t slots) {
  const uint32_t i = threadIdx.x;
  if (i == 0) lists.counts[rank] = count;
  if (i < room && (i < slots || i < count)) lists.lists[rank * kRegionItems + i] = i < count ? found[i] : ~C{0};
}

// Puts a warp's items beside the others in `all`; ~0 stands for none.
template <uint32_t kItems, class C>
__device__ __forceinline__ void grid_gather(GridShared<C> &shared, C *all, const C (&items)[kItems]) {
  uint32_t there[kItems], count = 0;
#pragma unroll
  for (uint32_t j = 0; j < kItems; ++j) {
    there[j] = __ballot_sync(kFullWarp, items[j] != ~C{0});
    count += __popc(there[j]);
  }
  if (count == 0) return;
  uint32_t base = 0;
  if (lane_id() == 0) base = shared_add(&shared.gathered, count);
  base = __shfl_sync(kFullWarp, base, 0);
#pragma unroll
  for (uint32_t j = 0; j < kItems; ++j) {
    if (items[j] != ~C{0}) all[base + __popc(there[j] & lanes_below())] = items[j];
    base += __popc(there[j]);
  }
}

// Gets all blocks' candidates into shared memory that has room for `most`. False, in all blocks: a block has more than
// `most_each`, or all together have less than k or more than `most`.
template <class C>
__device__ __forceinline__ bool grid_fetch(GridShared<C> &shared, const GridLists<C> &lists, C *all, uint32_t blocks,
                                           uint32_t slot_bits, uint64_t k, uint32_t most_each, uint32_t most) {
  constexpr uint32_t kEach = (kGridSlots + kTeamThreads - 1) / kTeamThreads;
  const uint32_t tid = threadIdx.x, slots = 1u << slot_bits;
  // Counts and the first slots, which every list has, are loaded together.
  const uint32_t count = tid < blocks ? __ldcg(lists.counts + tid) : 0;
  C items[kEach];
#pragma unroll
  for (uint32_t j = 0; j < kEach; ++j) {
    const uint32_t i = j * kTeamThreads + tid, list = i >> slot_bits;
    items[j] = list < blocks ? load_uncached(lists.lists + list * kRegionItems + (i & (slots - 1))) : ~C{0};
  }
  if (tid < blocks) {
    shared.counts[tid] = count;
    if (count != 0) shared_add(&shared.total, count);
  }
  if (!__syncthreads_and(count <= most_each) || shared.total < k || shared.total > most) return false;
#pragma unroll 1
  for (uint32_t from = slots;; from += slots) {  // of longer lists as many slots again
    grid_gather(shared, all, items);
    if (!__syncthreads_or(count > from)) return true;
#pragma unroll
    for (uint32_t j = 0; j < kEach; ++j) {
      const uint32_t i = j * kTeamThreads + tid, list = i >> slot_bits, at = from + (i & (slots - 1));
      const bool there = list < blocks && at < shared.counts[list];
      items[j] = there ? load_uncached(lists.lists + list * kRegionItems + at) : ~C{0};
    }
  }
}

// Writes the block's candidates that are among the best k to their places: how many of all are better. A warp counts
// for two at a time. (H200, 2026-11-27, 2^20 keys of 4 bytes in runs of 64, k = 512: 31 us; where all warps counted for
// each among what they had fetched, and added that up, 46.)
template <class U, class C>
__device__ __forceinline__ void grid_place(const GridShared<C> &shared, const C *all, const Row<U> &row, uint64_t k,
                                           const Output<U> &output, uint64_t output_begin) {
  static_assert(kGridListItems % 2 == 0, "what has no candidate may be read");
  const uint32_t lane = lane_id(), count = shared.gathered, mine = shared.count;
  for (uint32_t p = 2 * (threadIdx.x >> 5); p < mine; p += 2 * (kTeamThreads / 32)) {
    const C first = shared.found[p], second = shared.found[p + 1];
    uint32_t before_first = 0, before_second = 0;
#pragma unroll 4
    for (uint32_t i = lane; i < count; i += 32) {
      const C item = all[i];
      before_first += item < first, before_second += item < second;
    }
    before_first = warp_sum(before_first), before_second = warp_sum(before_second);
    const uint32_t at = lane == 0 ? before_first : before_second;
    if (lane < 2 && p + lane < mine && at < k)
      write_composite<U, C>(output, row, output_begin + at, lane == 0 ? first : second);
  }
}

// The best k of the launch's one row. False, in all blocks: nothing was written.
template <class U, class C>
__device__ __forceinline__ bool grid_row(const TeamArgs<U> &args, unsigned char *dynamic) {
  auto &shared = *reinterpret_cast<GridShared<C> *>(dynamic);
  const Problem<U> &problem = args.problem;
  const ResidentBound &rule = args.plan.resident;
  const uint32_t rank = blockIdx.x, blocks = gridDim.x;
  const Row<U> row(problem.in, problem.columns, problem.index_bits, problem.codec);
  C *const all = reinterpret_cast<C *>(&shared + 1);
  const uint32_t bytes = kBins * 4 + (args.plan.buffer_items + args.plan.run_items) * uint32_t{sizeof(C)};
  const uint32_t room = static_cast<uint32_t>((bytes - sizeof shared) / sizeof(C));
  const GridLists<C> lists{reinterpret_cast<C *>(args.workspace + args.layout.samples),
                           reinterpret_cast<C *>(args.workspace + args.layout.regions),
                           reinterpret_cast<uint32_t *>(args.workspace + args.layout.candidate_counts)};
  ResidentPart<U> part;
  part.load(row, rank, blocks);
  if (threadIdx.x == 0) shared.count = 0, shared.total = 0, shared.gathered = 0;
  const C least = resident_least<U, C>(row, part);
  resident_offer(shared.offers, least, rule.each);
  __syncthreads();
  resident_bound(shared.offers, rule.need, rule.each, [&](C bound) {
    if ((threadIdx.x & 31) == 0) lists.bounds[rank] = bound;
  });
  cooperative_groups::this_grid().sync();
  const C bound = grid_bound(shared, lists.bounds, blocks, rule.rank);
  resident_filter<U, C>(row, part, least, bound, rank, [&](C item) {
    const uint32_t at = shared_add(&shared.count, 1);
    if (at < kGridListItems) shared.found[at] = item;
    return at < kGridListItems;
  });
  __syncthreads();
  grid_publish(lists, rank, shared.found, shared.count, kGridListItems, 1u << rule.slot_bits);
  cooperative_groups::this_grid().sync();
  const uint32_t most = min(args.plan.count_items, room);
  if (!grid_fetch(shared, lists, all, blocks, rule.slot_bits, problem.k, kGridListItems, most)) return false;
  grid_place(shared, all, row, problem.k, problem.output, 0);
  return true;
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_GRID_CUH_
