// SPDX-License-Identifier: MIT OR Apache-2.0
// How a team ends with few candidates. A few thousand of them lie scattered over the blocks; every block fetches them
// all, and for each of its share of them counts how many are better, which is the candidate's place in the result. That
// is selection and sort in one step that all blocks share.
//
// More candidates are thinned out first: the candidates are cut into groups of equal size, and all above the k-th best
// group's best are dropped. At least k stay (the k groups' best), and at most k times the size of a group, since no
// other group has any. So every input is treated alike.
#ifndef GSORT_CUDA_TOPK_COUNT_CUH_
#define GSORT_CUDA_TOPK_COUNT_CUH_

#include "cuda/topk/common.cuh"
#include "cuda/topk/exact.cuh"

namespace gsort_internal::topk {

// Running sum of one number a block, which thread b has for block b: the sum before. Every thread calls it.
template <class C>
__device__ uint32_t team_before(const TeamView<C> &team, uint32_t count, uint32_t &total) {
  return block_scan<uint32_t>(count, total, *team.scratch);
}

// Leaves in team.local how many candidates the blocks up to each have, of which thread b passes block b's `count`, and
// in `found` how many there are.
template <class C>
__device__ void team_sum_up(TeamView<C> &team, uint32_t mine, uint32_t count, uint64_t overflow, Found &found) {
  uint32_t total;
  const uint32_t before = team_before(team, count, total);
  if (threadIdx.x < kTeamBlocksMax) team.local[threadIdx.x] = before + count;
  const bool fetchable = !__syncthreads_or(count > kRegionItems) && overflow <= team.list_a_items;
  if (threadIdx.x == 0) found = {total + overflow, overflow, mine, fetchable};
  __syncthreads();
}

// Tells the team how many candidates this block has and learns how many there are. The barrier in it publishes the
// regions as well.
template <class C>
__device__ void team_found(TeamView<C> &team, uint32_t mine, uint32_t parity, Found &found) {
  if (threadIdx.x == 0) team.candidate_counts[team.rank] = mine;
  team.barrier();
  const uint64_t overflow = load_uncached(&team.control->overflow[parity]);
  const uint32_t count = threadIdx.x < team.blocks ? load_uncached(team.candidate_counts + threadIdx.x) : 0;
  team_sum_up(team, mine, count, overflow, found);
}

// The bound at `rank` among the groups' best, or a few ranks above. `items` is shared room for the groups.
template <class C>
__device__ __noinline__ C team_bound(const TeamView<C> &team, C *items, uint32_t groups, uint64_t rank) {
  for (uint32_t first = threadIdx.x; first < groups; first += 4 * blockDim.x) {
    C best[4];
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t i = first + j * blockDim.x;
      best[j] = load_uncached(team.samples + (i < groups ? i : first));
    }
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j)
      if (first + j * blockDim.x < groups) items[first + j * blockDim.x] = best[j];
  }
  __syncthreads();
  return block_select<C>(ArraySource<C>{items}, groups, rank, slack_of_sample(rank), team.local, kBinBits,
                         *team.scratch);
}

// ---- the whole row as its own sample ----

// The best of every group's elements goes to team.samples[group]: a group is `lanes` threads of a warp, neighbours if
// it is all of the warp, otherwise every other one, so that the two that read a sector are in different groups. A
// block's threads read pairs of vectors that lie a block's number of pairs apart, so that neighbouring elements of a
// sorted row fall to many groups, and yet whole sectors are read. The row has a vector for every thread; its first
// and last few elements belong to no group.
template <class U, class C>
__device__ __noinline__ void team_group(const TeamView<C> &team, const Row<U> &row_in, uint32_t lanes) {
  const Row<U> row = row_in;
  const uint64_t pairs = row.vectors / 2, step = uint64_t{team.blocks} * (blockDim.x / 2);
  const uint32_t half = threadIdx.x & 1;
  uint64_t pair = uint64_t{threadIdx.x / 2} * team.blocks + team.rank;
  U best = static_cast<U>(~U{0});
  uint64_t best_at = row.vector_begin(2 * pair + half);
  const auto look = [&](const uint4 &v, uint64_t vector) {
  // Indices only grow, so that of equal keys the first stays.
#pragma unroll 4
    for (uint32_t e = 0; e < Row<U>::kVectorItems; ++e) {
      const U key = row.codec.encode(vector_item_any<U>(v, e));
      if (key < best) best = key, best_at = row.vector_begin(vector) + e;
    }
  };
#pragma unroll 1
  for (; pair < pairs; pair += 2 * step) {
    const uint64_t other = pair + step < pairs ? pair + step : pair;
    const uint4 v = row.vector(2 * pair + half), w = row.vector(2 * other + half);
    look(v, 2 * pair + half);
    look(w, 2 * other + half);
  }
  C item = (static_cast<C>(best) << row.index_bits) | best_at;
  const uint32_t apart = lanes < 32 ? 2 : 1;
  for (uint32_t d = lanes * apart / 2; d >= apart; d /= 2) {
    const C other = shuffle_xor(item, d);
    item = other < item ? other : item;
  }
  const uint32_t group = threadIdx.x / (lanes * apart) * apart + threadIdx.x % apart;
  if (threadIdx.x / apart % lanes == 0) team.samples[team.rank * (blockDim.x / lanes) + group] = item;
}

// ---- thinning out ----

// The best of each of this block's groups goes to team.samples, behind those of the blocks before. Returns how many
// groups the team has: no more than run_items, which is room for all candidates over that less one a block, rounded up.
template <class C>
__device__ uint32_t team_regroup(const TeamView<C> &team) {
  const Found &found = team.found;
  const uint32_t room = team.run_items - team.blocks;
  const uint32_t size = static_cast<uint32_t>((found.count + room - 1) / room);
  const uint32_t count = threadIdx.x < team.blocks ? load_uncached(team.candidate_counts + threadIdx.x) : 0;
  uint32_t total;
  const uint32_t before = team_before(team, (count + size - 1) / size, total);
  if (threadIdx.x == team.rank) team.scratch->base = before;
  __syncthreads();
  // Items of a group lie far apart: candidates of a sorted row came in about their order.
  const uint32_t groups = (found.mine + size - 1) / size;
  for (uint32_t g = threadIdx.x; g < groups; g += blockDim.x) {
    C best = team.area[g];
    for (uint32_t i = g + groups; i < found.mine; i += groups) best = team.area[i] < best ? team.area[i] : best;
    team.samples[team.scratch->base + g] = best;
  }
  return total;
}

// Publishes the candidates at or under the bound anew: in the block's region, and list_a beyond that.
template <class C>
__device__ void team_keep(TeamView<C> &team, C bound, uint32_t parity) {
  if (threadIdx.x == 0) {
    team.scratch->count = 0;
    team.sink.buffer = team.region(team.rank), team.sink.buffer_items = kRegionItems, team.sink.most = bound;
  }
  __syncthreads();
  const Sink<C> sink = team.sink;
  const uint32_t mine = team.found.mine;
  for (uint32_t i = threadIdx.x; i < mine; i += blockDim.x)
    if (!sink.append_one(team.area[i])) break;
  __syncthreads();
  const uint32_t kept = team.scratch->count < kRegionItems ? team.scratch->count : kRegionItems;
  team_found(team, kept, parity, team.few);
}

// Leaves in team.few fewer candidates, published like those found, where there are too many to count; those in the
// blocks' buffers stay. Without a way to thin them out it leaves them all.
template <class C>
__device__ __noinline__ void team_thin(TeamView<C> &team, uint64_t k, uint32_t parity) {
  if (threadIdx.x == 0) team.few = team.found;
  __syncthreads();
  if (team.found.countable(team.plan.count_items) || team.found.overflow != 0 || team.run_items < 2 * k + team.blocks)
    return;
  const uint32_t groups = team_regroup(team);
  if (groups < k) return;  // the same in all blocks
  team.barrier();
  const C bound = team_bound(team, team.area + team.buffer_items, groups, k);
  team_keep(team, bound, parity);
}

// ---- places by counting ----

// Copies all candidates to team.area, in the same order in every block. All are under way at once: a candidate's block
// is found by a binary search in the running counts.
template <class C>
__device__ void team_fetch(const TeamView<C> &team) {
  const uint32_t count = static_cast<uint32_t>(team.few.count);
  const uint32_t in_regions = team.local[team.blocks - 1];
#pragma unroll 2
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    uint32_t b = 0;  // blocks of which all candidates come before this one
    for (uint32_t step = kTeamBlocksMax / 2; step > 0; step /= 2)
      if (b + step <= team.blocks && team.local[b + step - 1] <= i) b += step;
    const C *const from =
        i < in_regions ? team.region(b) + (i - (b == 0 ? 0 : team.local[b - 1])) : team.list_a + (i - in_regions);
    team.area[i] = load_uncached(from);
  }
  __syncthreads();
}

// Writes the best k of the candidates to their places. A warp counts for one candidate at a time.
template <class U, class C>
__device__ __noinline__ void team_place(const TeamView<C> &team, const Row<U> &row, uint64_t k, const Output<U> &output,
                                        uint64_t output_begin) {
  team_fetch(team);
  const uint32_t count = static_cast<uint32_t>(team.few.count), lane = threadIdx.x & 31, warps = blockDim.x >> 5;
  const C *const list = team.area;
  // Neighbours go to different blocks, so that few candidates keep all of them busy.
  for (uint32_t p = (threadIdx.x >> 5) * team.blocks + team.rank; p < count; p += warps * team.blocks) {
    const C item = list[p];
    uint32_t better = 0;
#pragma unroll 4
    for (uint32_t i = lane; i < count; i += 32) better += list[i] < item;
    for (uint32_t d = 16; d > 0; d /= 2) better += __shfl_xor_sync(kFullWarp, better, d);
    if (lane == 0 && better < k) write_composite<U, C>(output, row, output_begin + better, item);
  }
  __syncthreads();
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_COUNT_CUH_
