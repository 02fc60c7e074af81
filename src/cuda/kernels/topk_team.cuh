// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of few long rows: a team of blocks of one cooperative launch works on a row, with barriers among the team.
//
//   sample -> bound -> filter (the one read of the row) -> selection among the candidates -> sort of the k
//
// Work whatever the data: if the sample misled (too few or too many candidates), exact selection reads the row
// key bits / 11 times, rounded up, and once more to write the k selected. So a row of 32-bit keys is read at most
// 1 + 3 + 1 times. Equal keys are no special case: the bound and the candidates are composites of key and index.
#ifndef GSORT_CUDA_KERNELS_TOPK_TEAM_CUH_
#define GSORT_CUDA_KERNELS_TOPK_TEAM_CUH_

#include "cuda/kernels/topk_exact.cuh"
#include "cuda/kernels/topk_filter.cuh"
#include "cuda/kernels/topk_sort.cuh"
#include "cuda/launch_topk.h"

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

// What the filter found, the same in every block but for `mine`.
struct TopkFound {
  uint64_t count;     // candidates of the team
  uint64_t overflow;  // of them in list_a; the others lie in the blocks' buffers
  uint32_t mine;      // in this block's buffer
  bool fetchable;     // no block has more than a region holds
};

// This block's share of the team's counts, as a running sum over the blocks: the sum before block threadIdx.x.
template <class C>
__device__ uint64_t topk_team_before(const TopkTeam<C> &team, uint32_t which, uint64_t &count, uint64_t &total) {
  count = threadIdx.x < team.blocks ? topk_load(team.counts + 2 * threadIdx.x + which) : 0;
  return topk_block_scan<uint64_t>(count, total, *team.scratch);
}

// Draws a sample, chooses the bound at its rank among the groups' best and takes all composites up to the bound: into
// the blocks' buffers, and list_a where a buffer is full.
template <class U, class C>
__device__ __noinline__ TopkFound topk_team_candidates(TopkTeam<C> &team, const TopkRow<U> &row,
                                                       const TopkSample &sample, uint32_t round, C &bound) {
  const uint32_t parity = round % 2;
  const bool first = round == 0;
  topk_team_draw<U, C>(team, row, sample.items);
  if (first)
    team.first_barrier();
  else
    team.barrier();
  // All blocks have left the last round, whose counter this one is not; it serves the next round.
  if (team.rank == 0 && threadIdx.x == 0) team.control->overflow[parity ^ 1] = 0;
  for (uint32_t i = threadIdx.x; i < kTopkSampleGroups; i += blockDim.x) team.area[i] = topk_load(team.samples + i);
  __syncthreads();
  bound = topk_block_select<C>(TopkArraySource<C>{team.area}, kTopkSampleGroups, sample.rank,
                               topk_sample_slack(sample.rank), team.local, kTopkBinBits, *team.scratch);
  if (threadIdx.x == 0) team.scratch->count = 0;
  __syncthreads();

  TopkSink<C> sink;
  sink.buffer = team.area, sink.buffer_items = team.buffer_items, sink.count = &team.scratch->count;
  sink.most = bound;
  sink.overflow = team.list_a, sink.overflow_items = team.list_a_items;
  sink.overflow_count = &team.control->overflow[parity];
  topk_filter_row<U, C>(row, team.rank, team.blocks, sink);
  __syncthreads();

  TopkFound found;
  found.mine = team.scratch->count < team.buffer_items ? team.scratch->count : team.buffer_items;
  if (threadIdx.x == 0) team.counts[2 * team.rank] = found.mine;
  for (uint32_t i = threadIdx.x; i < found.mine && i < kTopkRegionItems; i += blockDim.x)
    team.regions[uint64_t{team.rank} * kTopkRegionItems + i] = team.area[i];
  team.barrier();
  found.overflow = topk_load(&team.control->overflow[parity]);
  uint64_t count, total;
  topk_team_before(team, 0, count, total);
  found.fetchable = !__syncthreads_or(count > kTopkRegionItems) && found.overflow == 0;
  found.count = total + found.overflow;
  return found;
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
  const uint64_t before = topk_team_before(team, 1, count, total);
  if (threadIdx.x == team.rank) team.scratch->base = before;
  __syncthreads();
  topk_for_candidates(team, found, [&](C item) {
    if (item <= bound) team.list_b[team.scratch->base + topk_shared_add(&team.scratch->count, 1)] = item;
  });
  team.barrier();
}

// Chooses the best k of the candidates, none of them above `most`, and copies them to list_b in any order.
template <class C>
__device__ __noinline__ void topk_team_select(TopkTeam<C> &team, const TopkFound &candidates, uint64_t k, C most) {
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
  topk_team_gather(team, candidates, static_cast<C>(least + ((C{1} << shift) - 1)));
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

// The end for few candidates: one block chooses and sorts, the others go on.
template <class U, class C>
__device__ __noinline__ void topk_team_order_small(TopkTeam<C> &team, const TopkRow<U> &row, uint32_t count, uint64_t k,
                                                   const TopkOutput<U> &output, uint64_t output_begin) {
  C *const run = team.area + team.buffer_items;
  uint32_t size = 32;
  while (size < k) size *= 2;
  uint64_t items, total;
  const uint64_t before = topk_team_before(team, 0, items, total);
  if (threadIdx.x < team.blocks) {
    team.local[threadIdx.x] = static_cast<uint32_t>(before);
    team.local[kTopkTeamBlocksMax + threadIdx.x] = static_cast<uint32_t>(items);
  }
  if (threadIdx.x == 0) team.scratch->count = 0;
  __syncthreads();
  // Eight threads a region: most hold few candidates, and all are fetched at once.
  for (uint32_t b = threadIdx.x >> 3; b < team.blocks; b += blockDim.x >> 3)
    for (uint32_t i = threadIdx.x & 7; i < team.local[kTopkTeamBlocksMax + b]; i += 8)
      team.area[team.local[b] + i] = topk_load(team.regions + uint64_t{b} * kTopkRegionItems + i);
  __syncthreads();
  TopkSink<C> sink;
  sink.buffer = run, sink.buffer_items = size, sink.count = &team.scratch->count;
  sink.most =
      topk_block_select<C>(TopkArraySource<C>{team.area}, count, k, size - k, team.local, kTopkBinBits, *team.scratch);
  for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) run[i] = ~C{0};
  __syncthreads();
  for (uint32_t i = threadIdx.x; i - threadIdx.x < count; i += blockDim.x)
    sink.append(i < count, i < count ? team.area[i] : C{0});
  topk_block_sort(run, size);
  for (uint32_t i = threadIdx.x; i < k; i += blockDim.x) topk_write<U, C>(output, row, output_begin + i, run[i]);
  __syncthreads();
}

template <class U, class C>
__device__ TopkTeam<C> topk_team_make(const TopkTeamArgs<U> &args, unsigned char *dynamic, TopkScratch<C> *scratch) {
  unsigned char *const base = args.workspace + blockIdx.x / args.plan.blocks * args.layout.bytes;
  TopkTeam<C> team;
  team.rank = blockIdx.x % args.plan.blocks, team.blocks = args.plan.blocks;
  team.barriers = 0, team.histograms = 0;
  team.control = reinterpret_cast<TopkControl *>(base);
  team.histogram = reinterpret_cast<unsigned long long *>(base + kTopkControlBytes);
  team.samples = reinterpret_cast<C *>(base + args.layout.samples);
  team.least = reinterpret_cast<C *>(base + args.layout.least);
  team.regions = reinterpret_cast<C *>(base + args.layout.regions);
  team.counts = reinterpret_cast<unsigned long long *>(base + args.layout.counts);
  team.list_a = reinterpret_cast<C *>(base + args.layout.list_a);
  team.list_b = reinterpret_cast<C *>(base + args.layout.list_b);
  team.list_a_items = args.layout.list_a_items;
  team.local = reinterpret_cast<uint32_t *>(dynamic);
  team.area = reinterpret_cast<C *>(dynamic + kTopkBins * 4);
  team.buffer_items = args.plan.buffer_items, team.run_items = args.plan.run_items;
  team.scratch = scratch;
  return team;
}

template <class U, class C>
__global__ __launch_bounds__(kTopkTeamThreads, 1) void topk_team_kernel(const __grid_constant__ TopkTeamArgs<U> args) {
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ TopkScratch<C> scratch;
  TopkTeam<C> team = topk_team_make<U, C>(args, dynamic, &scratch);
  const TopkProblem<U> &problem = args.problem;
  const uint64_t k = problem.k;
  uint32_t round = 0;
  team.clear_control();
  if (args.plan.sample.items == 0) team.first_barrier();
  for (uint64_t r = blockIdx.x / args.plan.blocks; r < problem.rows; r += args.plan.teams, ++round) {
    const TopkRow<U> row(problem.in + r * problem.row_stride, problem.columns, problem.index_bits, problem.codec);
    C bound = 0;
    TopkFound found{};
    if (args.plan.sample.items != 0) found = topk_team_candidates<U, C>(team, row, args.plan.sample, round, bound);
    const bool enough = found.count >= k && found.overflow <= team.list_a_items;
    if (enough && k <= team.run_items && found.fetchable && found.count <= team.buffer_items) {
      if (team.rank == 0)
        topk_team_order_small<U, C>(team, row, static_cast<uint32_t>(found.count), k, problem.output, r * k);
      continue;
    }
    if (enough)
      topk_team_select<C>(team, found, k, bound);
    else
      topk_team_exact<U, C>(team, row, args);
    if (args.split_keys == nullptr) topk_team_order<U, C>(team, row, k, problem.output, r * k);
  }
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_TOPK_TEAM_CUH_
