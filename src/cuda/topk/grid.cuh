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
  C found[kGridListItems];  // this block's candidates
  // How many candidates of all blocks are better than each; counted by each warp for itself.
  uint32_t better[kGridListItems][kTeamThreads / 32];
  uint32_t counts[kTeamBlocksMax];  // candidates of each block
  C bounds[kTeamBlocksMax];         // of each block
  uint32_t lower[kTeamBlocksMax];   // bounds below each
  ResidentOffers<C> offers;
  C bound;
  uint32_t rank;   // of the bound among the bounds, from 0
  uint32_t count;  // of this block's candidates, and more where there is no room
  uint32_t total;  // of all blocks' candidates
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

// Adds to each of the block's candidates how many of the warp's `items` are better.
template <uint32_t kItems, class C>
__device__ __forceinline__ void grid_rank(GridShared<C> &shared, uint32_t mine, bool first, const C (&items)[kItems]) {
  bool any = false;
#pragma unroll
  for (uint32_t j = 0; j < kItems; ++j) any = any || items[j] != ~C{0};
  if (!first && !__any_sync(kFullWarp, any)) return;
#pragma unroll 4
  for (uint32_t p = 0; p < mine; ++p) {
    const C item = shared.found[p];
    uint32_t better = 0;
#pragma unroll
    for (uint32_t j = 0; j < kItems; ++j) better += items[j] < item;
    better = warp_sum(better);
    uint32_t &sum = shared.better[p][threadIdx.x >> 5];
    if ((threadIdx.x & 31) == 0) sum = first ? better : sum + better;
  }
}

// Gets all blocks' candidates and counts how many are better than this block's own. False, in all blocks: a block has
// more than a list has room for, or all together have less than k or more than `most`.
template <class C>
__device__ __forceinline__ bool grid_count(GridShared<C> &shared, const GridLists<C> &lists, uint32_t blocks,
                                           uint32_t slot_bits, uint64_t k, uint32_t most) {
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
  if (!__syncthreads_and(count <= kGridListItems) || shared.total < k || shared.total > most) return false;
  grid_rank(shared, shared.count, true, items);
  // Longer lists: as many slots of all of them again.
  for (uint32_t from = slots; __syncthreads_or(count > from); from += slots) {
#pragma unroll
    for (uint32_t j = 0; j < kEach; ++j) {
      const uint32_t i = j * kTeamThreads + tid, list = i >> slot_bits, at = from + (i & (slots - 1));
      const bool there = list < blocks && at < shared.counts[list];
      items[j] = there ? load_uncached(lists.lists + list * kRegionItems + at) : ~C{0};
    }
    grid_rank(shared, shared.count, false, items);
  }
  return true;
}

// Writes the block's candidates that are among the best k to their places, one by each warp.
template <class U, class C>
__device__ __forceinline__ void grid_place(const GridShared<C> &shared, const Row<U> &row, uint64_t k,
                                           const Output<U> &output, uint64_t output_begin) {
  const uint32_t lane = threadIdx.x & 31;
  for (uint32_t p = threadIdx.x >> 5; p < shared.count; p += kTeamThreads / 32) {
    const uint32_t better = warp_sum(shared.better[p][lane]);
    if (lane == 0 && better < k) write_composite<U, C>(output, row, output_begin + better, shared.found[p]);
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
  const GridLists<C> lists{reinterpret_cast<C *>(args.workspace + args.layout.samples),
                           reinterpret_cast<C *>(args.workspace + args.layout.regions),
                           reinterpret_cast<uint32_t *>(args.workspace + args.layout.candidate_counts)};
  ResidentPart<U> part;
  part.load(row, rank, blocks);
  if (threadIdx.x == 0) shared.count = 0, shared.total = 0;
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
  if (!grid_count(shared, lists, blocks, rule.slot_bits, problem.k, args.plan.count_items)) return false;
  grid_place(shared, row, problem.k, problem.output, 0);
  return true;
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_GRID_CUH_
