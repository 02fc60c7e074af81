// SPDX-License-Identifier: MIT OR Apache-2.0
// The first try of a cluster with a row: it is read once, and all that the blocks tell each other goes through their
// shared memories.
//
//   elements in registers -> a bound by each block, the greatest of which counts -> candidates to all blocks -> places
//   by counting
//
// A row that the registers do not hold is read in tiles, which have pieces of all of the row. The first lies in the
// registers and is bound so; the next two are under way to shared memory meanwhile.
//
// The bound is certain: the blocks' bounds have at least k elements at or under them. How many more there are depends
// on where in the row the best lie; a try that finds too many to count leaves the row to team.cuh.
#ifndef GSORT_CUDA_TOPK_CLUSTER_CUH_
#define GSORT_CUDA_TOPK_CLUSTER_CUH_

#include "cuda/primitive/cluster.cuh"
#include "cuda/primitive/copy_async.cuh"
#include "cuda/topk/common.cuh"
#include "cuda/topk/problem.h"
#include "cuda/topk/resident.cuh"

namespace gsort_internal::topk {

// What lies in the shared memory of a block, at the same offset in each block of the cluster.
template <class C>
struct ClusterShared {
  // Each block's candidates, filled up with ~0 to kClusterSure or a multiple of 32.
  C lists[kClusterBlocks][kClusterListItems];
  C found[kClusterListItems];  // this block's own
  ResidentOffers<C> offers;
  C bounds[kClusterBlocks];
  uint64_t counts[kClusterBlocks];  // of all lists, and more where a list was too short
  uint32_t count;                   // of this block's own
};

// Counts what comes from the other blocks. It lies outside what the blocks use for other things between two rows.
struct ClusterCounts {
  ClusterCount bounds, lists, more;  // more: of the lists what is beyond kClusterSure
};
static_assert(sizeof(ClusterShared<uint64_t>) <= kBins * 4 + kClusterRoomItems * sizeof(uint64_t) &&
                  sizeof(ClusterShared<Wide>) <= kBins * 4 + kClusterRoomItems * sizeof(Wide),
              "the plan leaves room for it");

template <class C>
__device__ __forceinline__ void cluster_send(ClusterCount &count, C *own, uint32_t rank, C item) {
  uint64_t *const words = reinterpret_cast<uint64_t *>(own);
  count.send(words, rank, static_cast<uint64_t>(item));
  if constexpr (sizeof(C) == 16) count.send(words + 1, rank, static_cast<uint64_t>(item >> 64));
}

// Candidates of each block that are looked at without asking how many there are.
constexpr uint32_t kClusterSure = 64;

// The greatest of the blocks' bounds, under which there are as many elements as all need together.
template <class C>
__device__ __forceinline__ C cluster_bound(const ClusterShared<C> &shared, uint32_t blocks) {
  const uint32_t lane = threadIdx.x & 31;
  return static_cast<C>(~composite_warp_least(static_cast<C>(~shared.bounds[lane < blocks ? lane : 0])));
}

template <class C>
__device__ __forceinline__ void cluster_append(ClusterShared<C> &shared, C item) {
  const uint32_t at = shared_add(&shared.count, 1);
  if (at < kClusterListItems) shared.found[at] = item;
}

// Elements of a list of so many that are sent: whole warps' worth.
__device__ __forceinline__ uint32_t cluster_padded(uint32_t count) {
  return count < kClusterSure ? kClusterSure : (count + 31) / 32 * 32;
}

// Sends places [from, to) of what the block has found to all blocks, a warp or several to each; ~0 where it has less.
template <class C>
__device__ __forceinline__ void cluster_send_list(ClusterShared<C> &shared, ClusterCount &count, uint32_t rank,
                                                  uint32_t blocks, uint32_t from, uint32_t to) {
  const uint32_t target = threadIdx.x / 32 % blocks, found = shared.count;  // blocks divide the 32 warps
  for (uint32_t i = from + threadIdx.x / 32 / blocks * 32 + threadIdx.x % 32; i < to; i += kTeamThreads / blocks)
    cluster_send(count, &shared.lists[rank][i], target, i < found ? shared.found[i] : ~C{0});
}

// Sends all blocks what this one has found, and gets what they have. False, in all blocks: it is too much to count, or
// less than k.
template <class C>
__device__ __forceinline__ bool cluster_exchange(ClusterShared<C> &shared, ClusterCounts &counts, uint32_t round,
                                                 uint32_t rank, uint32_t blocks, uint64_t k, uint32_t most) {
  const uint32_t lane = threadIdx.x & 31;
  if (threadIdx.x >= kTeamThreads - blocks)
    counts.lists.send(&shared.counts[rank], kTeamThreads - 1 - threadIdx.x, shared.count);
  cluster_send_list(shared, counts.lists, rank, blocks, 0, kClusterSure);
  counts.lists.wait(round);
  const uint32_t count = lane < blocks ? static_cast<uint32_t>(shared.counts[lane]) : 0;
  const uint32_t total = warp_sum(count);
  const bool good = __all_sync(kFullWarp, count <= kClusterListItems) && k <= total && total <= most;
  const uint32_t more = good ? warp_sum(cluster_padded(count) - kClusterSure) : 0;
  if (threadIdx.x == 0) counts.more.expect(more * sizeof(C));
  if (more == 0) return good;
  cluster_send_list(shared, counts.more, rank, blocks, kClusterSure, cluster_padded(shared.count));
  counts.more.wait(round);
  return good;
}

// How many candidates are better than each of kItems. A warp together.
template <uint32_t kItems, class C>
__device__ __forceinline__ void cluster_rank(const ClusterShared<C> &shared, uint32_t blocks, const C (&items)[kItems],
                                             uint32_t (&before)[kItems]) {
  const uint32_t lane = threadIdx.x & 31;
#pragma unroll
  for (uint32_t b = 0; b < kClusterBlocks; ++b) {
    if (b >= blocks) break;
#pragma unroll
    for (uint32_t i = 0; i < kClusterSure; i += 32) {
      const C other = shared.lists[b][i + lane];
#pragma unroll
      for (uint32_t k = 0; k < kItems; ++k) before[k] += other < items[k];
    }
  }
  for (uint32_t b = 0; b < blocks; ++b)
    for (uint32_t i = kClusterSure; i < shared.counts[b]; i += 32) {
      const C other = shared.lists[b][i + lane];
#pragma unroll
      for (uint32_t k = 0; k < kItems; ++k) before[k] += other < items[k];
    }
#pragma unroll
  for (uint32_t k = 0; k < kItems; ++k) before[k] = warp_sum(before[k]);
}

// Writes the block's candidates that are among the best k to their places. A warp counts for up to two at a time.
template <class U, class C>
__device__ __forceinline__ void cluster_place(const ClusterShared<C> &shared, const Row<U> &row, uint32_t rank,
                                              uint32_t blocks, uint64_t k, const Output<U> &output,
                                              uint64_t output_begin) {
  constexpr uint32_t kWarps = kTeamThreads / 32;
  const uint32_t lane = threadIdx.x & 31, mine = shared.count;
  for (uint32_t p = threadIdx.x >> 5; p < mine; p += 2 * kWarps) {
    const C first = shared.found[p];
    C item = first;
    uint32_t at = 0;
    if (p + kWarps < mine) {
      const C second = shared.found[p + kWarps];
      uint32_t before[2] = {0, 0};
      cluster_rank(shared, blocks, {first, second}, before);
      if (lane == 1) item = second;
      at = lane == 1 ? before[1] : before[0];
    } else {
      uint32_t before[1] = {0};
      cluster_rank(shared, blocks, {first}, before);
      at = lane == 0 ? before[0] : ~0u;
    }
    if (lane < 2 && at < k) write_composite<U, C>(output, row, output_begin + at, item);
  }
}

// Begins a row. Behind the wait that must follow, all blocks run and are done with the row before.
template <class C>
__device__ __forceinline__ void cluster_begin(ClusterCounts &counts, uint32_t round, uint32_t blocks) {
  if (round != 0) __syncthreads();
  if (threadIdx.x == 0) {
    if (round == 0) counts.bounds.open(), counts.lists.open(), counts.more.open();
    counts.bounds.expect(blocks * sizeof(C));
    counts.lists.expect(blocks * (kClusterSure * sizeof(C) + sizeof(uint64_t)));
  }
  if (round == 0)
    cluster_arrive_only();
  else
    cluster_arrive();
}

// ---- tiles behind the first ----

// Two of them are under way at a time, to this part of a block's shared memory. Each thread reads what it copied
// itself.
template <class C>
__device__ __forceinline__ uint4 *cluster_slot(unsigned char *dynamic, uint32_t tile, uint32_t j) {
  static_assert(cluster_shared_bytes(sizeof(C)) >= sizeof(ClusterShared<C>), "the plan leaves room for it");
  uint4 *const slots = reinterpret_cast<uint4 *>(dynamic + cluster_shared_bytes(sizeof(C)));
  return slots + (tile % kClusterTilesAhead * kVectorsThread + j) * kTeamThreads + threadIdx.x;
}

// Vector j of a thread's part of a tile: the groups of a tile one behind the other are shared out to the blocks.
__device__ __forceinline__ uint32_t cluster_vector(uint32_t j, uint32_t rank, uint32_t blocks, uint32_t tiles,
                                                   uint32_t tile) {
  const uint32_t at = (j * blocks + rank) * kTeamThreads + threadIdx.x, group_bits = __ffs(static_cast<int>(blocks));
  return ((at >> group_bits) * tiles + tile << group_bits) + (at & ((1u << group_bits) - 1));
}

// Begins to copy a tile, if there is one.
template <class C, class U>
__device__ __forceinline__ void cluster_copy(const Row<U> &row, unsigned char *dynamic, uint32_t rank, uint32_t blocks,
                                             uint32_t tiles, uint32_t tile) {
#pragma unroll
  for (uint32_t j = 0; j < kVectorsThread; ++j) {
    const uint32_t at = cluster_vector(j, rank, blocks, tiles, tile);
    if (tile < tiles && at < row.vectors)
      copy_async(cluster_slot<C>(dynamic, tile, j), reinterpret_cast<const uint4 *>(row.data + row.head) + at);
  }
  copy_async_close();
}

// Lists what is at or under the bound in all tiles but the first. Called, so that it has registers of its own.
template <class U, class C>
__device__ __noinline__ void cluster_filter_tiles(unsigned char *dynamic, const Row<U> row, C bound, uint32_t rank,
                                                  uint32_t blocks, uint32_t tiles) {
  auto &shared = *reinterpret_cast<ClusterShared<C> *>(dynamic);
  for (uint32_t tile = 1; tile < tiles; ++tile) {
    copy_async_wait<kClusterTilesAhead - 1>();
    ResidentPart<U> part;
#pragma unroll
    for (uint32_t j = 0; j < kVectorsThread; ++j) {
      part.at[j] = cluster_vector(j, rank, blocks, tiles, tile);
      part.v[j] = *cluster_slot<C>(dynamic, tile, j);
    }
    resident_filter_part(row, part, ~C{0}, bound, [&](C item) {
      cluster_append(shared, item);
      return true;
    });
    cluster_copy<C>(row, dynamic, rank, blocks, tiles, tile + kClusterTilesAhead);
  }
  copy_async_wait_all();
}

// The best k of a row by the cluster. False, in all its blocks: nothing was written. `rounds` counts the tries.
template <class U, class C>
__device__ __forceinline__ bool cluster_row(const TeamArgs<U> &args, uint64_t r, unsigned char *dynamic,
                                            ClusterCounts &counts, uint32_t &rounds) {
  auto &shared = *reinterpret_cast<ClusterShared<C> *>(dynamic);
  const Problem<U> &problem = args.problem;
  const uint32_t blocks = args.plan.blocks, rank = blockIdx.x % blocks;
  const Row<U> row(problem.in + r * problem.row_stride, problem.columns, problem.index_bits, problem.codec);
  const ResidentBound &rule = args.plan.resident;
  const uint32_t round = rounds++;
  cluster_begin<C>(counts, round, blocks);
  const uint32_t tiles = args.plan.cluster_tiles;
  ResidentPart<U> part;
  part.load(row, rank, blocks, tiles);
  if (tiles > 1)
    for (uint32_t tile = 1; tile <= kClusterTilesAhead; ++tile)
      cluster_copy<C>(row, dynamic, rank, blocks, tiles, tile);
  if (threadIdx.x == 0) shared.count = 0;
  const C least = resident_least<U, C>(row, part);
  resident_offer(shared.offers, least, rule.each);
  __syncthreads();
  cluster_wait();
  resident_bound(shared.offers, rule.need, rule.each, [&](C bound) {
    const uint32_t lane = threadIdx.x & 31;
    if (lane < blocks) cluster_send(counts.bounds, &shared.bounds[rank], lane, bound);
  });
  counts.bounds.wait(round);
  const C bound = cluster_bound(shared, blocks);
  resident_filter<U, C>(row, part, least, bound, rank, [&](C item) {
    cluster_append(shared, item);
    return true;
  });
  if (tiles > 1) cluster_filter_tiles<U, C>(dynamic, row, bound, rank, blocks, tiles);
  __syncthreads();
  if (!cluster_exchange(shared, counts, round, rank, blocks, problem.k, args.plan.count_items)) return false;
  cluster_place<U, C>(shared, row, rank, blocks, problem.k, problem.output, r * problem.k);
  return true;
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_CLUSTER_CUH_
