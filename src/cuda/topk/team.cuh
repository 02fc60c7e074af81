// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of few long rows: a team of blocks of one launch, cooperative or of clusters, works on a row, with barriers
// among the team.
//
//   sample -> bound -> filter (the one read of the row) -> selection among the candidates -> sort of the k
//
// With a small k the last two are one step: every candidate's place is the number of better candidates, and all blocks
// count. Too many for that are thinned out first: see count.cuh. Rows of a few megabytes are their own sample.
// With a row that fits the blocks' registers a shorter way is tried first: see cluster.cuh and grid.cuh.
//
// Work whatever the data: if the sample misled (too few or too many candidates), exact selection reads the row
// key bits / 11 times, rounded up, and once more to write the k selected. So a row of 32-bit keys is read at most
// 1 + 3 + 1 times. Equal keys are no special case: the bound and the candidates are composites of key and index.
#ifndef GSORT_CUDA_TOPK_TEAM_CUH_
#define GSORT_CUDA_TOPK_TEAM_CUH_

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/topk/cluster.cuh"
#include "cuda/topk/count.cuh"
#include "cuda/topk/exact.cuh"
#include "cuda/topk/filter.cuh"
#include "cuda/topk/grid.cuh"
#include "cuda/topk/problem.h"
#include "cuda/topk/select.cuh"

namespace gsort_internal::topk {

// ---- the sample ----

// Group g's best of the sample goes to team.samples[g]; 32 lanes or fewer share a group.
template <class U, class C>
__device__ void team_draw(TeamView<C> &team, const Row<U> &row, uint64_t sample_items) {
  const uint32_t group_items = static_cast<uint32_t>(sample_items / kSampleGroups);
  const uint32_t lanes = group_items < 32 ? group_items : 32;
  const uint32_t thread = team.rank * blockDim.x + threadIdx.x, threads = team.blocks * blockDim.x;
  const uint32_t in_group = thread % lanes;
  const uint64_t seed = clock_seed();
  // The number of threads is a multiple of 32 and so of `lanes`; a warp runs the loop together.
  for (uint32_t group = thread / lanes; group - (thread & 31) / lanes < kSampleGroups; group += threads / lanes) {
    C best = ~C{0};
    if (group < kSampleGroups) {
      for (uint32_t i = in_group; i < group_items; i += 4 * lanes)
        draw_four<C>(row, seed, uint64_t{group} * group_items, i, lanes, group_items,
                     [&](uint32_t, C item) { best = item < best ? item : best; });
    }
    for (uint32_t d = lanes / 2; d > 0; d /= 2) {
      const C other = shuffle_xor(best, d);
      best = other < best ? other : best;
    }
    if (in_group == 0 && group < kSampleGroups) team.samples[group] = best;
  }
}

// Where the filter puts what it finds.
template <class C>
__device__ void team_open_sink(TeamView<C> &team, C bound, uint32_t parity) {
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
__device__ __forceinline__ GridShared<C> &team_shared(const TeamView<C> &team) {
  return *reinterpret_cast<GridShared<C> *>(team.area + team.buffer_items);
}

// The best of the block's share of a sample goes to team.samples[rank].
template <class U, class C>
__device__ __forceinline__ void team_draw_best(TeamView<C> &team, const Row<U> &row, uint32_t sample_items) {
  const uint32_t threads = team.blocks * blockDim.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const uint64_t seed = clock_seed();
  C best = ~C{0};
  for (uint32_t i = threadIdx.x * team.blocks + team.rank; i < sample_items; i += 4 * threads)
    draw_four<C>(row, seed, 0, i, threads, sample_items, [&](uint32_t, C item) { best = item < best ? item : best; });
  __syncwarp();
  best = composite_warp_least(best);
  C *const warps = team_shared(team).offers.items[0];
  if (lane == 0) warps[warp] = best;
  __syncthreads();
  if (warp != 0) return;
  best = composite_warp_least(warps[lane]);
  if (lane == 0) team.samples[team.rank] = best;
}

// One thread asks L2 for the first tiles that the block will filter.
template <class U, class C>
__device__ __forceinline__ void team_prefetch(const TeamView<C> &team, const Row<U> &row) {
  const uint32_t tile = blockDim.x * team.plan.tile_vectors * Row<U>::kVectorItems;
  for (uint32_t i = 0; i < team.plan.tiles_ahead; ++i)
    prefetch_to_l2(row.data, row.head + (uint64_t{i} * team.blocks + team.rank) * tile, tile, row.items);
}

// Draws a sample and agrees on a bound at its rank among the groups' best, or the blocks'. A row that may be resident
// is its own sample.
template <class U, class C, bool kResident>
__device__ __forceinline__ C team_sample_bound(TeamView<C> &team, const Row<U> &row) {
  const TeamPlan &plan = team.plan;
  if (kResident || plan.group_lanes != 0)
    team_group<U, C>(team, row, plan.group_lanes);
  else if (plan.drawn_rank != 0)
    team_draw_best<U, C>(team, row, static_cast<uint32_t>(plan.sample.items));
  else
    team_draw<U, C>(team, row, plan.sample.items);
  // Memory would have nothing to do while the team agrees. Not before the draws have come, which would wait behind it.
  if (!kResident && threadIdx.x == 0) team_prefetch(team, row);
  if (team.begun)
    team.barrier();
  else
    team.first_barrier();
  if (!kResident && plan.drawn_rank != 0)
    return grid_bound(team_shared(team), team.samples, team.blocks, plan.drawn_rank);
  return team_bound(team, team.area, plan.groups, plan.sample.rank);
}

// Takes all composites up to a bound that a sample tells: into the blocks' buffers, and list_a where a buffer is full.
// Leaves the bound in team, and in team.found how many there are; only this block's number if they are likely to be
// few.
template <class U, class C, bool kResident>
__device__ __noinline__ void team_candidates(TeamView<C> &team, const Row<U> &row, uint32_t parity) {
  const C bound = team_sample_bound<U, C, kResident>(team, row);
  // All blocks have left the last round, whose counter this one is not; it serves the next round.
  if (team.rank == 0 && threadIdx.x == 0) team.control->overflow[parity ^ 1] = 0;
  team_open_sink(team, bound, parity);
  filter_row<U, C>(row, {team.rank, team.blocks, team.plan.tile_vectors}, team.sink);
  __syncthreads();
  const uint32_t mine = team.scratch->count < team.buffer_items ? team.scratch->count : team.buffer_items;
  if (!kResident && team.plan.slot_bits != 0) {
    if (threadIdx.x == 0) team.found.mine = mine;
    __syncthreads();
    return;
  }
  for (uint32_t i = threadIdx.x; i < mine && i < kRegionItems; i += blockDim.x)
    team.region(team.rank)[i] = team.area[i];
  team_found(team, mine, parity, team.found);
}

// Publishes the candidates, and finds the best k of them if no block has many. False: one has; team.found is complete.
template <class U, class C>
__device__ __noinline__ bool team_few(TeamView<C> &team, const Row<U> &row, uint64_t k, uint32_t parity,
                                      const Output<U> &output, uint64_t output_begin) {
  GridShared<C> &shared = team_shared(team);
  const GridLists<C> lists{team.samples, team.regions, team.candidate_counts};
  const uint32_t mine = team.found.mine, slot_bits = team.plan.slot_bits;
  // Behind the block's own, which are needed again where a block has many.
  C *const all = team.area + mine;
  grid_publish(lists, team.rank, team.area, mine, kRegionItems, 1u << slot_bits);
  if (threadIdx.x < kGridListItems && threadIdx.x < mine) shared.found[threadIdx.x] = team.area[threadIdx.x];
  if (threadIdx.x == 0) shared.count = mine, shared.total = 0, shared.gathered = 0;
  team.barrier();
  const uint64_t overflow = load_uncached(&team.control->overflow[parity]);
  const uint32_t most = overflow == 0 ? min(team.plan.count_items, team.buffer_items - kGridListItems) : 0;
  if (grid_fetch(shared, lists, all, team.blocks, slot_bits, k, few_items_max(slot_bits), most)) {
    grid_place(shared, all, row, k, output, output_begin);
    return true;
  }
  team_sum_up(team, mine, threadIdx.x < team.blocks ? shared.counts[threadIdx.x] : 0, overflow, team.found);
  return false;
}

// ---- a row from beginning to end ----

// By one thread.
template <class U, class C>
__device__ void team_make(const TeamArgs<U> &args, uint32_t blocks, unsigned char *dynamic, Scratch<C> *scratch,
                          TeamView<C> &team) {
  unsigned char *const base = args.workspace + blockIdx.x / blocks * args.layout.bytes;
  team.plan = args.plan;
  team.rank = blockIdx.x % blocks, team.blocks = blocks;
  team.barriers = 0, team.histograms = 0, team.begun = false, team.cleared = false;
  team.control = reinterpret_cast<TeamControl *>(base);
  team.histogram = reinterpret_cast<unsigned long long *>(base + kControlBytes);
  team.samples = reinterpret_cast<C *>(base + args.layout.samples);
  team.least = reinterpret_cast<C *>(base + args.layout.least);
  team.regions = reinterpret_cast<C *>(base + args.layout.regions);
  team.candidate_counts = reinterpret_cast<uint32_t *>(base + args.layout.candidate_counts);
  team.counts = reinterpret_cast<unsigned long long *>(base + args.layout.counts);
  team.list_a = reinterpret_cast<C *>(base + args.layout.list_a);
  team.list_b = reinterpret_cast<C *>(base + args.layout.list_b);
  team.list_a_items = args.layout.list_a_items;
  team.local = reinterpret_cast<uint32_t *>(dynamic);
  team.area = reinterpret_cast<C *>(dynamic + kBins * 4);
  team.buffer_items = args.plan.buffer_items, team.run_items = args.plan.run_items;
  team.scratch = scratch;
}

// One row by one team: the best k, 1 <= k <= the row's elements. `round` counts the rows that were sampled. A row that
// was resident and still has too many candidates to count is rare enough for the exact way.
template <class U, class C, bool kResident>
__device__ void team_row(TeamView<C> &team, const Row<U> &row, uint64_t k, const TeamArgs<U> &args,
                         uint64_t output_begin, uint32_t &round) {
  const Output<U> &output = args.problem.output;
  bool enough = false;
  if (team.plan.sample.items != 0) {
    const uint32_t parity = round++ % 2;
    team_candidates<U, C, kResident>(team, row, parity);
    if (!kResident && team.plan.slot_bits != 0 && team_few<U, C>(team, row, k, parity, output, output_begin)) {
      __syncthreads();
      return;
    }
    enough = team.found.count >= k && team.found.overflow <= team.list_a_items;
    if (enough && args.listed >= team.found.count) return team_list_all(team, args.listed);
    if (enough && k <= kCountedMax && args.listed == 0 && args.split_keys == nullptr) {
      team_thin(team, k, parity);
      if (team.few.countable(team.plan.count_items)) return team_place<U, C>(team, row, k, output, output_begin);
    }
  }
  if (kResident || !enough)
    team_exact<U, C>(team, row, k, args);
  else if (!kMaySplit<U, C> || args.split_keys == nullptr)
    team_select<C>(team, k);
  else if constexpr (kMaySplit<U, C>)
    team_split<U, C>(team, row, k, args);
  if (args.listed != 0)
    team_pad(team, k, args.listed);
  else if (args.split_keys == nullptr)
    team_order<U, C>(team, row, k, output, output_begin);
  __syncthreads();
}

// How many rows the team does, and of ragged rows which one is number i of them.
template <class U>
__device__ __forceinline__ uint64_t team_rows(const Problem<U> &problem) {
  const Ragged &ragged = problem.ragged;
  if (ragged.offsets == nullptr) return problem.rows;
  if (*ragged.error != 0) return 0;
  const uint64_t longer = ragged.counters[kListLong];
  return ragged.counters[kListTeam] + (long_rows_by_blocks(longer, ragged.counters[kLongest]) ? 0 : longer);
}

__device__ __forceinline__ uint64_t team_ragged_row(const Ragged &ragged, uint64_t i) {
  const uint64_t first = ragged.counters[kListTeam];
  return i < first ? ragged.lists[kListTeam][i] : ragged.lists[kListLong][i - first];
}

// How many teams the blocks make. Of ragged rows, a power of two: no more than rows, for all wait for each other once,
// and so many that none is likely to have half of the work of all, or one.
template <class U>
__device__ __forceinline__ uint32_t team_count(const TeamArgs<U> &args, uint64_t rows) {
  uint32_t teams = args.plan.teams;
  const Ragged &ragged = args.problem.ragged;
  if (ragged.offsets == nullptr) return teams;
  const uint64_t longest = ragged.counters[kLongest], all = ragged.counters[kLongAll];
  if (longest == 0) return 1;
  while (teams > 1 && (teams > rows || longest * teams > all)) teams /= 2;
  return teams;
}

// Makes the team of the block's blocks, before the first row that it does as one.
template <class U, class C>
__device__ __forceinline__ void team_open(const TeamArgs<U> &args, uint32_t blocks, unsigned char *dynamic,
                                          Scratch<C> &scratch, TeamView<C> &team) {
  if (threadIdx.x == 0) team_make<U, C>(args, blocks, dynamic, &scratch, team);
  __syncthreads();
  team.clear_control();
  if (args.plan.sample.items == 0) team.first_barrier();
}

// kResident: rows in registers are tried first. That is a kernel of its own: with its code in the same one the other
// way takes 1 to 8 us more.
template <class U, class C, bool kResident>
__global__ __launch_bounds__(kTeamThreads, 1) void topk_team_kernel(const __grid_constant__ TeamArgs<U> args) {
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ Scratch<C> scratch;
  __shared__ TeamView<C> team;
  __shared__ Row<U> row;
  static_assert(sizeof scratch + sizeof team + sizeof row + sizeof(ClusterCounts) <= kScratchBytes,
                "the plan leaves room for these");
  const Problem<U> &problem = args.problem;
  const uint64_t rows = team_rows(problem);
  if (rows == 0) return;
  __shared__ ClusterCounts cluster_counts;
  uint32_t round = 0, cluster_rounds = 0;
  bool made = false;
  const bool ragged = problem.ragged.offsets != nullptr;
  const uint32_t teams = team_count(args, rows), blocks = gridDim.x / teams;
  for (uint64_t i = blockIdx.x / blocks; i < rows; i += teams) {
    const uint64_t r = ragged ? team_ragged_row(problem.ragged, i) : i;
    if constexpr (kResident) {
      if (kClustersHere && args.plan.cluster ? cluster_row<U, C>(args, r, dynamic, cluster_counts, cluster_rounds)
                                             : grid_row<U, C>(args, dynamic))
        continue;
    }
    if (!made) {
      team_open(args, blocks, dynamic, scratch, team);
      made = true;
    }
    if (threadIdx.x == 0) {
      row = problem_row(problem, r);
      if (ragged) team.plan.sample = team_sample({1, row.items, min_of(problem.k, row.items), sizeof(U)});
    }
    __syncthreads();
    const uint64_t k = min_of(problem.k, row.items), begin = r * problem.k;
    team_row<U, C, kResident>(team, row, k, args, begin, round);
    if (ragged)
      write_missing(problem.output, begin + k, begin + problem.k, team.rank * blockDim.x + threadIdx.x,
                    team.blocks * blockDim.x);
  }
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_TEAM_CUH_
