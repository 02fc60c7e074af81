// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of few long rows: a team of blocks of one launch, cooperative or of clusters, works on a row, with barriers
// among the team.
//
//   sample -> bound -> filter (the one read of the row) -> selection among the candidates -> sort of the k
//
// With a small k the last two are one step: every candidate's place is the number of better candidates, and all blocks
// count. Too many for that are thinned out first: see topk_count.cuh. Rows of a few megabytes are their own sample.
// With a row that fits the blocks' registers a shorter way is tried first: see topk_cluster.cuh and topk_grid.cuh.
//
// Work whatever the data: if the sample misled (too few or too many candidates), exact selection reads the row
// key bits / 11 times, rounded up, and once more to write the k selected. So a row of 32-bit keys is read at most
// 1 + 3 + 1 times. Equal keys are no special case: the bound and the candidates are composites of key and index.
#ifndef GSORT_CUDA_TOPK_TEAM_CUH_
#define GSORT_CUDA_TOPK_TEAM_CUH_

#include "cuda/primitive/prefetch.cuh"
#include "cuda/topk/cluster.cuh"
#include "cuda/topk/count.cuh"
#include "cuda/topk/exact.cuh"
#include "cuda/topk/filter.cuh"
#include "cuda/topk/grid.cuh"
#include "cuda/topk/launch.h"
#include "cuda/topk/sort.cuh"

namespace gsort_internal {

// ---- the sample ----

// Group g's best of the sample goes to team.samples[g]; 32 lanes or fewer share a group.
template <class U, class C>
__device__ void topk_team_draw(TopkTeam<C> &team, const TopkRow<U> &row, uint64_t sample_items) {
  const uint32_t group_items = static_cast<uint32_t>(sample_items / kTopkSampleGroups);
  const uint32_t lanes = group_items < 32 ? group_items : 32;
  const uint32_t thread = team.rank * blockDim.x + threadIdx.x, threads = team.blocks * blockDim.x;
  const uint32_t in_group = thread % lanes;
  const uint64_t seed = topk_clock_seed();
  // The number of threads is a multiple of 32 and so of `lanes`; a warp runs the loop together.
  for (uint32_t group = thread / lanes; group - (thread & 31) / lanes < kTopkSampleGroups; group += threads / lanes) {
    C best = ~C{0};
    if (group < kTopkSampleGroups) {
      for (uint32_t i = in_group; i < group_items; i += 4 * lanes)
        topk_draw_four<C>(row, seed, uint64_t{group} * group_items, i, lanes, group_items,
                          [&](uint32_t, C item) { best = item < best ? item : best; });
    }
    for (uint32_t d = lanes / 2; d > 0; d /= 2) {
      const C other = topk_shuffle_xor(best, d);
      best = other < best ? other : best;
    }
    if (in_group == 0 && group < kTopkSampleGroups) team.samples[group] = best;
  }
}

// Where the filter puts what it finds.
template <class C>
__device__ void topk_team_open_sink(TopkTeam<C> &team, C bound, uint32_t parity) {
  if (threadIdx.x == 0) {
    team.bound = bound;
    team.scratch->count = 0;
    team.sink = {team.area,   team.buffer_items, &team.scratch->count,           bound,
                 team.list_a, team.list_a_items, &team.control->overflow[parity]};
  }
  __syncthreads();
}

// The block's memory for what the blocks tell each other of few candidates.
template <class C>
__device__ __forceinline__ TopkGridShared<C> &topk_team_shared(const TopkTeam<C> &team) {
  return *reinterpret_cast<TopkGridShared<C> *>(team.area + team.buffer_items);
}

// The best of the block's share of a sample goes to team.samples[rank].
template <class U, class C>
__device__ __forceinline__ void topk_team_draw_best(TopkTeam<C> &team, const TopkRow<U> &row, uint32_t sample_items) {
  const uint32_t threads = team.blocks * blockDim.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const uint64_t seed = topk_clock_seed();
  C best = ~C{0};
  for (uint32_t i = threadIdx.x * team.blocks + team.rank; i < sample_items; i += 4 * threads)
    topk_draw_four<C>(row, seed, 0, i, threads, sample_items,
                      [&](uint32_t, C item) { best = item < best ? item : best; });
  __syncwarp();
  best = topk_warp_least(best);
  C *const warps = topk_team_shared(team).offers.items[0];
  if (lane == 0) warps[warp] = best;
  __syncthreads();
  if (warp != 0) return;
  best = topk_warp_least(warps[lane]);
  if (lane == 0) team.samples[team.rank] = best;
}

// One thread asks L2 for the first tiles that the block will filter.
template <class U, class C>
__device__ __forceinline__ void topk_team_prefetch(const TopkTeam<C> &team, const TopkRow<U> &row) {
  const uint32_t tile = blockDim.x * team.plan.tile_vectors * TopkRow<U>::kVectorItems;
  for (uint32_t i = 0; i < team.plan.tiles_ahead; ++i)
    prefetch_to_l2(row.data, row.head + (uint64_t{i} * team.blocks + team.rank) * tile, tile, row.items);
}

// Draws a sample and agrees on a bound at its rank among the groups' best, or the blocks'.
template <class U, class C>
__device__ __forceinline__ C topk_team_sample_bound(TopkTeam<C> &team, const TopkRow<U> &row) {
  const TopkTeamPlan &plan = team.plan;
  if (plan.group_lanes != 0)
    topk_team_group<U, C>(team, row, plan.group_lanes);
  else if (plan.drawn_rank != 0)
    topk_team_draw_best<U, C>(team, row, static_cast<uint32_t>(plan.sample.items));
  else
    topk_team_draw<U, C>(team, row, plan.sample.items);
  // Memory would have nothing to do while the team agrees. Not before the draws have come, which would wait behind it.
  if (threadIdx.x == 0) topk_team_prefetch(team, row);
  if (team.begun)
    team.barrier();
  else
    team.first_barrier();
  if (plan.drawn_rank != 0) return topk_grid_bound(topk_team_shared(team), team.samples, team.blocks, plan.drawn_rank);
  return topk_team_bound(team, team.area, plan.groups, plan.sample.rank);
}

// Takes all composites up to a bound that a sample tells: into the blocks' buffers, and list_a where a buffer is full.
// Leaves the bound in team, and in team.found how many there are; only this block's number if they are likely to be
// few.
template <class U, class C>
__device__ __noinline__ void topk_team_candidates(TopkTeam<C> &team, const TopkRow<U> &row, uint32_t parity) {
  const C bound = topk_team_sample_bound(team, row);
  // All blocks have left the last round, whose counter this one is not; it serves the next round.
  if (team.rank == 0 && threadIdx.x == 0) team.control->overflow[parity ^ 1] = 0;
  topk_team_open_sink(team, bound, parity);
  topk_filter_row<U, C>(row, {team.rank, team.blocks, team.plan.tile_vectors}, team.sink);
  __syncthreads();
  const uint32_t mine = team.scratch->count < team.buffer_items ? team.scratch->count : team.buffer_items;
  if (team.plan.slot_bits != 0) {
    if (threadIdx.x == 0) team.found.mine = mine;
    __syncthreads();
    return;
  }
  for (uint32_t i = threadIdx.x; i < mine && i < kTopkRegionItems; i += blockDim.x)
    team.region(team.rank)[i] = team.area[i];
  topk_team_found(team, mine, parity, team.found);
}

// Publishes the candidates, and finds the best k of them if no block has many. False: one has; team.found is complete.
template <class U, class C>
__device__ __noinline__ bool topk_team_few(TopkTeam<C> &team, const TopkRow<U> &row, uint64_t k, uint32_t parity,
                                           const TopkOutput<U> &output, uint64_t output_begin) {
  TopkGridShared<C> &shared = topk_team_shared(team);
  const TopkGridLists<C> lists{team.samples, team.regions, team.held};
  const uint32_t mine = team.found.mine, slot_bits = team.plan.slot_bits;
  topk_grid_publish(lists, team.rank, team.area, mine, kTopkRegionItems, 1u << slot_bits);
  if (threadIdx.x < kTopkGridListItems && threadIdx.x < mine) shared.found[threadIdx.x] = team.area[threadIdx.x];
  if (threadIdx.x == 0) shared.count = mine, shared.total = 0;
  team.barrier();
  const uint64_t overflow = topk_load(&team.control->overflow[parity]);
  if (topk_grid_count(shared, lists, team.blocks, slot_bits, k, overflow == 0 ? team.plan.count_items : 0)) {
    topk_grid_place(shared, row, k, output, output_begin);
    return true;
  }
  topk_team_sum_up(team, mine, threadIdx.x < team.blocks ? shared.counts[threadIdx.x] : 0, overflow, team.found);
  return false;
}

// ---- selection among candidates ----

// Calls f(composite) for each of this block's candidates: its buffer and its share of the overflow.
template <class C, class F>
__device__ __forceinline__ void topk_for_candidates(const TopkTeam<C> &team, const TopkFound &found, F &&f) {
  for (uint32_t i = threadIdx.x; i < found.mine; i += blockDim.x) f(team.area[i]);
  const uint64_t stride = uint64_t{team.blocks} * blockDim.x;
  for (uint64_t i = uint64_t{team.rank} * blockDim.x + threadIdx.x; i < found.overflow; i += stride)
    f(topk_load(team.list_a + i));
}

// The least candidate of all blocks.
template <class C>
__device__ C topk_team_least(TopkTeam<C> &team, const TopkFound &found) {
  C least = ~C{0}, most = 0;
  topk_for_candidates(team, found, [&](C item) { least = item < least ? item : least; });
  topk_block_range(least, most, *team.scratch);
  if (threadIdx.x == 0) team.least[team.rank] = least;
  team.barrier();
  for (uint32_t b = threadIdx.x; b < team.blocks; b += blockDim.x) {
    const C other = topk_load(team.least + b);
    least = other < least ? other : least;
  }
  topk_block_range(least, most, *team.scratch);
  return least;
}

// Copies the candidates at or under `bound`, k in all, to list_b in any order.
template <class C>
__device__ void topk_team_gather(TopkTeam<C> &team, const TopkFound &found, C bound) {
  uint64_t under = 0, under_all, count, total;
  topk_for_candidates(team, found, [&](C item) { under += item <= bound; });
  topk_block_scan<uint64_t>(under, under_all, *team.scratch);
  if (threadIdx.x == 0) team.counts[2 * team.rank + 1] = under_all, team.scratch->count = 0;
  team.barrier();
  count = threadIdx.x < team.blocks ? topk_load(team.counts + 2 * threadIdx.x + 1) : 0;
  const uint64_t before = topk_block_scan<uint64_t>(count, total, *team.scratch);
  if (threadIdx.x == team.rank) team.scratch->base = before;
  __syncthreads();
  topk_for_candidates(team, found, [&](C item) {
    if (item <= bound) team.list_b[team.scratch->base + topk_shared_add(&team.scratch->count, 1)] = item;
  });
  team.barrier();
}

// Chooses the best k of the candidates and copies them to list_b in any order.
template <class C>
__device__ __noinline__ void topk_team_select(TopkTeam<C> &team, uint64_t k) {
  team.clear_histograms();
  const TopkFound &candidates = team.found;
  const C most = team.bound;
  C least = topk_team_least(team, candidates);
  const uint32_t range_bits = topk_bit_length(static_cast<C>(most - least));
  uint32_t shift = range_bits > kTopkBinBits ? range_bits - kTopkBinBits : 0;
  uint64_t need = k;
  for (;;) {
    team.clear_local();
    topk_for_candidates(team, candidates, [&](C item) {
      const C digit = static_cast<C>(item - least) >> shift;
      if (item >= least && digit < kTopkBins) topk_shared_count(&team.local[static_cast<uint32_t>(digit)]);
    });
    __syncthreads();
    const TopkBin found = team.find(need);
    least += static_cast<C>(found.bin) << shift;
    need -= found.before;
    if (found.count == need || shift == 0) break;
    shift = shift > kTopkBinBits ? shift - kTopkBinBits : 0;
  }
  // The last bin may reach past the greatest number there is.
  const C width = (C{1} << shift) - 1;
  topk_team_gather(team, candidates, most - least < width ? most : static_cast<C>(least + width));
}

// ---- sort of the k ----

// Items of the sorted run [begin, end) before `item`, which is not among them.
template <class C>
__device__ uint64_t topk_run_rank(const C *list, uint64_t begin, uint64_t end, C item) {
  const uint64_t start = begin;
  while (begin < end) {
    const uint64_t middle = (begin + end) / 2;
    if (topk_load(list + middle) < item)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin - start;
}

// Sorts list_b's k composites (runs by one block each, then merges of two runs, each element finding its place by a
// binary search) and writes the result.
template <class U, class C>
__device__ __noinline__ void topk_team_order(TopkTeam<C> &team, const TopkRow<U> &row, uint64_t k,
                                             const TopkOutput<U> &output, uint64_t output_begin) {
  C *const run = team.area + team.buffer_items;
  const bool single = k <= team.run_items;
  for (uint64_t begin = uint64_t{team.rank} * team.run_items; begin < k;
       begin += uint64_t{team.blocks} * team.run_items) {
    const uint32_t items = static_cast<uint32_t>(k - begin < team.run_items ? k - begin : team.run_items);
    uint32_t size = 32;
    while (size < items) size *= 2;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < size; i += blockDim.x)
      run[i] = i < items ? topk_load(team.list_b + begin + i) : ~C{0};
    topk_block_sort(run, size);
    for (uint32_t i = threadIdx.x; i < items; i += blockDim.x) {
      if (single)
        topk_write<U, C>(output, row, output_begin + i, run[i]);
      else
        team.list_b[begin + i] = run[i];
    }
  }
  C *from = team.list_b, *to = team.list_a;
  for (uint64_t length = team.run_items; length < k; length *= 2) {
    team.barrier();
    const bool last = 2 * length >= k;
    const uint64_t stride = uint64_t{team.blocks} * blockDim.x;
    for (uint64_t i = uint64_t{team.rank} * blockDim.x + threadIdx.x; i < k; i += stride) {
      const uint64_t run_index = i / length, sibling = (run_index ^ 1) * length;
      const uint64_t begin = sibling < k ? sibling : k, end = begin + length < k ? begin + length : k;
      const C item = topk_load(from + i);
      const uint64_t at = (run_index & ~uint64_t{1}) * length + i % length + topk_run_rank(from, begin, end, item);
      if (last)
        topk_write<U, C>(output, row, output_begin + at, item);
      else
        to[at] = item;
    }
    C *const swap = from;
    from = to, to = swap;
  }
}

// By one thread.
template <class U, class C>
__device__ void topk_team_make(const TopkTeamArgs<U> &args, unsigned char *dynamic, TopkScratch<C> *scratch,
                               TopkTeam<C> &team) {
  unsigned char *const base = args.workspace + blockIdx.x / args.plan.blocks * args.layout.bytes;
  team.plan = args.plan;
  team.rank = blockIdx.x % args.plan.blocks, team.blocks = args.plan.blocks;
  team.barriers = 0, team.histograms = 0, team.begun = false, team.cleared = false;
  team.control = reinterpret_cast<TopkControl *>(base);
  team.histogram = reinterpret_cast<unsigned long long *>(base + kTopkControlBytes);
  team.samples = reinterpret_cast<C *>(base + args.layout.samples);
  team.least = reinterpret_cast<C *>(base + args.layout.least);
  team.regions = reinterpret_cast<C *>(base + args.layout.regions);
  team.held = reinterpret_cast<uint32_t *>(base + args.layout.held);
  team.counts = reinterpret_cast<unsigned long long *>(base + args.layout.counts);
  team.list_a = reinterpret_cast<C *>(base + args.layout.list_a);
  team.list_b = reinterpret_cast<C *>(base + args.layout.list_b);
  team.list_a_items = args.layout.list_a_items;
  team.local = reinterpret_cast<uint32_t *>(dynamic);
  team.area = reinterpret_cast<C *>(dynamic + kTopkBins * 4);
  team.buffer_items = args.plan.buffer_items, team.run_items = args.plan.run_items;
  team.scratch = scratch;
}

// One row by one team: the best k, 1 <= k <= the row's elements. `round` counts the rows that were sampled.
template <class U, class C>
__device__ void topk_team_row(TopkTeam<C> &team, const TopkRow<U> &row, uint64_t k, const TopkTeamArgs<U> &args,
                              uint64_t output_begin, uint32_t &round) {
  const TopkOutput<U> &output = args.problem.output;
  bool enough = false;
  if (team.plan.sample.items != 0) {
    const uint32_t parity = round++ % 2;
    topk_team_candidates<U, C>(team, row, parity);
    if (team.plan.slot_bits != 0 && topk_team_few<U, C>(team, row, k, parity, output, output_begin)) {
      __syncthreads();
      return;
    }
    enough = team.found.count >= k && team.found.overflow <= team.list_a_items;
    if (enough && k <= kTopkCountedMax) {
      topk_team_thin(team, k, parity);
      if (team.few.countable(team.plan.count_items)) return topk_team_place<U, C>(team, row, k, output, output_begin);
    }
  }
  if (enough)
    topk_team_select<C>(team, k);
  else
    topk_team_exact<U, C>(team, row, k, args);
  if (args.split_keys == nullptr) topk_team_order<U, C>(team, row, k, output, output_begin);
  __syncthreads();
}

// How many rows the team does, and of ragged rows which one is number i of them.
template <class U>
__device__ __forceinline__ uint64_t topk_team_rows(const TopkProblem<U> &problem) {
  const TopkRagged &ragged = problem.ragged;
  if (ragged.offsets == nullptr) return problem.rows;
  if (*ragged.error != 0) return 0;
  return ragged.counters[2] + (ragged.counters[1] < kTopkRaggedLongMany ? ragged.counters[1] : 0);
}

__device__ __forceinline__ uint64_t topk_team_ragged_row(const TopkRagged &ragged, uint64_t i) {
  const uint64_t first = ragged.counters[2];
  return i < first ? ragged.lists[2][i] : ragged.lists[1][i - first];
}

// kHeld: rows in registers are tried first. That is a kernel of its own: with its code in the same one the other way
// takes 1 to 8 us more.
template <class U, class C, bool kHeld>
__global__ __launch_bounds__(kTopkTeamThreads, 1) void topk_team_kernel(const __grid_constant__ TopkTeamArgs<U> args) {
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ TopkScratch<C> scratch;
  __shared__ TopkTeam<C> team;
  __shared__ TopkRow<U> row;
  static_assert(sizeof scratch + sizeof team + sizeof row + sizeof(TopkClusterCounts) <= kTopkScratchBytes,
                "the plan leaves room for these");
  const TopkProblem<U> &problem = args.problem;
  const uint64_t rows = topk_team_rows(problem);
  if (rows == 0) return;
  __shared__ TopkClusterCounts cluster_counts;
  uint32_t round = 0, cluster_rounds = 0;
  bool made = false;
  const bool ragged = problem.ragged.offsets != nullptr;
  for (uint64_t i = blockIdx.x / args.plan.blocks; i < rows; i += args.plan.teams) {
    const uint64_t r = ragged ? topk_team_ragged_row(problem.ragged, i) : i;
    if constexpr (kHeld) {
      if (args.plan.cluster ? topk_cluster_row<U, C>(args, r, dynamic, cluster_counts, cluster_rounds)
                            : topk_grid_row<U, C>(args, dynamic))
        continue;
    }
    if (!made) {
      if (threadIdx.x == 0) topk_team_make<U, C>(args, dynamic, &scratch, team);
      __syncthreads();
      team.clear_control();
      if (args.plan.sample.items == 0) team.first_barrier();
      made = true;
    }
    if (threadIdx.x == 0) {
      row = topk_problem_row(problem, r);
      if (ragged) team.plan.sample = topk_team_sample({1, row.items, topk_min(problem.k, row.items), sizeof(U)});
    }
    __syncthreads();
    const uint64_t k = topk_min(problem.k, row.items), begin = r * problem.k;
    topk_team_row<U, C>(team, row, k, args, begin, round);
    if (ragged)
      topk_fill(problem.output, begin + k, begin + problem.k, team.rank * blockDim.x + threadIdx.x,
                team.blocks * blockDim.x);
  }
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_TOPK_TEAM_CUH_
