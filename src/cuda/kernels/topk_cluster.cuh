// SPDX-License-Identifier: MIT OR Apache-2.0
// The first try of a cluster with a row of up to 512 KB: the row is read once, into registers, and all that the blocks
// tell each other goes through their shared memories.
//
//   elements in registers -> a bound by each block, the greatest of which counts -> candidates to all blocks -> places
//   by counting
//
// The bound is certain: the blocks' bounds have at least k elements at or under them. How many more there are depends
// on where in the row the best lie; a try that finds too many to count leaves the row to topk_team.cuh.
#ifndef GSORT_CUDA_KERNELS_TOPK_CLUSTER_CUH_
#define GSORT_CUDA_KERNELS_TOPK_CLUSTER_CUH_

#include "cuda/block/cluster.cuh"
#include "cuda/kernels/topk_common.cuh"
#include "cuda/kernels/topk_filter.cuh"
#include "cuda/launch_topk.h"

namespace gsort_internal {

// What lies in the shared memory of a block, at the same place in each block of the cluster.
template <class C>
struct TopkClusterShared {
  // Each block's candidates, filled up with ~0 to kTopkClusterSure or a multiple of 32.
  C lists[kTopkClusterBlocks][kTopkClusterListItems];
  C found[kTopkClusterListItems];                       // this block's own
  C warps[kTopkClusterEachMax][kTopkTeamThreads / 32];  // the best of each warp, in order
  C bounds[kTopkClusterBlocks];
  uint64_t counts[kTopkClusterBlocks];  // of all lists, and more where a list was too short
  uint32_t count;                       // of this block's own
};

// Counts what comes from the other blocks. It lies outside what the blocks use for other things between two rows.
struct TopkClusterCounts {
  ClusterCount bounds, lists, more;  // more: of the lists what is beyond kTopkClusterSure
};
static_assert(sizeof(TopkClusterShared<uint64_t>) <= kTopkBins * 4 + kTopkClusterRoomItems * sizeof(uint64_t) &&
                  sizeof(TopkClusterShared<TopkWide>) <= kTopkBins * 4 + kTopkClusterRoomItems * sizeof(TopkWide),
              "the plan leaves room for it");

template <class C>
__device__ __forceinline__ void topk_cluster_send(ClusterCount &count, C *own, uint32_t rank, C item) {
  uint64_t *const words = reinterpret_cast<uint64_t *>(own);
  count.send(words, rank, static_cast<uint64_t>(item));
  if constexpr (sizeof(C) == 16) count.send(words + 1, rank, static_cast<uint64_t>(item >> 64));
}

// Candidates of each block that are looked at without asking how many there are.
constexpr uint32_t kTopkClusterSure = 64;

__device__ __forceinline__ uint64_t topk_warp_least(uint64_t item) { return warp_least(item); }
__device__ __forceinline__ TopkWide topk_warp_least(TopkWide item) {
  const uint64_t high = warp_least(static_cast<uint64_t>(item >> 64));
  const uint64_t low =
      warp_least(static_cast<uint64_t>(item >> 64) == high ? static_cast<uint64_t>(item) : ~uint64_t{0});
  return static_cast<TopkWide>(high) << 64 | low;
}

// A block's part of a row: neighbouring pairs of vectors, 32 bytes, go to different blocks, and in a block to different
// warps, so that the best of an ordered row are spread over all.
template <class U>
struct TopkClusterPart {
  uint4 v[kTopkVectorsThread];
  uint32_t first, step;  // v[j] is vector first + j * step of the row, if there is one

  __device__ __forceinline__ TopkClusterPart(const TopkRow<U> &row, uint32_t rank, uint32_t blocks) {
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = kTopkTeamThreads / 32;
    first = 2 * ((lane / 2 * warps + warp) * blocks + rank) + lane % 2;
    step = kTopkTeamThreads * blocks;
    // Conditions of the loads themselves, not branches: all are under way at once.
#pragma unroll
    for (uint32_t j = 0; j < kTopkVectorsThread; ++j) {
      v[j] = make_uint4(0, 0, 0, 0);
      asm volatile(
          "{\n"
          "  .reg .pred there;\n"
          "  setp.ne.u32 there, %5, 0;\n"
          "  @there ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\n"
          "}"
          : "+r"(v[j].x), "+r"(v[j].y), "+r"(v[j].z), "+r"(v[j].w)
          : "l"(reinterpret_cast<const uint4 *>(row.data + row.head) + first + j * step),
            "r"(static_cast<uint32_t>(has(row, j))));
    }
  }
  __device__ __forceinline__ bool has(const TopkRow<U> &row, uint32_t j) const {
    return first + j * step < row.vectors;
  }
};

// Calls f(codec). A codec without NaN rules comes with a constant zero, so that the compiler leaves the rules out.
template <class U, class F>
__device__ __forceinline__ void topk_with_codec(const KeyCodec<U> &codec, F &&f) {
  if (codec.nan_count == 0)
    f(KeyCodec<U>{codec.mask_positive, codec.mask_negative, 0});
  else
    f(codec);
}

// The least composite of a thread's part.
template <class U, class C>
__device__ __forceinline__ C topk_cluster_least(const TopkRow<U> &row, const TopkClusterPart<U> &part) {
  U best = static_cast<U>(~U{0});
  uint32_t best_at = part.first * TopkRow<U>::kVectorItems;
  topk_with_codec(row.codec, [&](const KeyCodec<U> &codec) {
#pragma unroll
    for (uint32_t j = 0; j < kTopkVectorsThread; ++j) {
      if (!part.has(row, j)) break;
#pragma unroll
      for (uint32_t e = 0; e < TopkRow<U>::kVectorItems; ++e) {
        const U key = codec.encode(topk_vector_item<U>(part.v[j], e));
        // Indices only grow, so that of equal keys the first stays.
        if (key < best) best = key, best_at = (part.first + j * part.step) * TopkRow<U>::kVectorItems + e;
      }
    }
  });
  return (static_cast<C>(best) << row.index_bits) | (row.head + best_at);
}

// How many of its best each warp offers for the block's bound, if the bound is to have `need` elements at or under it:
// on average that many of the warp's are among them, and one more.
__device__ __forceinline__ uint32_t topk_cluster_each(uint32_t need) { return need / (kTopkTeamThreads / 32) + 1; }

// Leaves the `each` best of a warp's items, one an item of a lane, in shared.warps.
template <class C>
__device__ __forceinline__ void topk_cluster_offer(TopkClusterShared<C> &shared, C mine, uint32_t each) {
  for (uint32_t i = 0; i < each; ++i) {
    const C least = topk_warp_least(mine);
    if (mine == least) mine = ~C{0};
    if ((threadIdx.x & 31) == 0) shared.warps[i][threadIdx.x >> 5] = least;
  }
}

// Sends all blocks this one's bound: number `need` of what the warps offer. Each warp looks whether it is one of its
// own.
template <class C>
__device__ __forceinline__ void topk_cluster_send_bound(TopkClusterShared<C> &shared, ClusterCount &count,
                                                        uint32_t need, uint32_t each, uint32_t rank, uint32_t blocks) {
  const uint32_t lane = threadIdx.x & 31;
  for (uint32_t i = 0; i < each; ++i) {
    const C item = shared.warps[i][threadIdx.x >> 5];
    uint32_t before = 0;
    for (uint32_t other = 0; other < each; ++other)
      before += __popc(__ballot_sync(kFullWarp, shared.warps[other][lane] < item));
    if (before == need - 1 && lane < blocks) topk_cluster_send(count, &shared.bounds[rank], lane, item);
  }
}

// The greatest of the blocks' bounds, under which there are as many elements as all need together.
template <class C>
__device__ __forceinline__ C topk_cluster_bound(const TopkClusterShared<C> &shared, uint32_t blocks) {
  const uint32_t lane = threadIdx.x & 31;
  return static_cast<C>(~topk_warp_least(static_cast<C>(~shared.bounds[lane < blocks ? lane : 0])));
}

template <class C>
__device__ __forceinline__ void topk_cluster_append(TopkClusterShared<C> &shared, C item) {
  const uint32_t at = topk_shared_add(&shared.count, 1);
  if (at < kTopkClusterListItems) shared.found[at] = item;
}

// Finds the block's elements at or under `bound`. Few threads have one, and most of those only `least`, their best.
template <class U, class C>
__device__ __forceinline__ void topk_cluster_filter(TopkClusterShared<C> &shared, const TopkRow<U> &row,
                                                    const TopkClusterPart<U> &part, C least, C bound, uint32_t rank) {
  if (least <= bound) {
    topk_cluster_append(shared, least);
    const U limit = static_cast<U>(bound >> row.index_bits);
    topk_with_codec(row.codec, [&](const KeyCodec<U> &codec) {
#pragma unroll
      for (uint32_t j = 0; j < kTopkVectorsThread; ++j) {
        if (!part.has(row, j)) break;
        uint32_t marked = topk_vector_mask(part.v[j], codec, limit);
        while (marked != 0) {
          const uint32_t e = static_cast<uint32_t>(__ffs(static_cast<int>(marked))) - 1;
          marked &= marked - 1;
          const C item = (static_cast<C>(codec.encode(topk_vector_item_any<U>(part.v[j], e))) << row.index_bits) |
                         (row.vector_begin(part.first + j * part.step) + e);
          if (item <= bound && item != least) topk_cluster_append(shared, item);
        }
      }
    });
  }
  // The few elements before and behind all vectors.
  const uint32_t tail = static_cast<uint32_t>(row.items - row.tail_begin());
  if (rank != 0 || threadIdx.x >= row.head + tail) return;
  const C item =
      row.template composite<C>(threadIdx.x < row.head ? threadIdx.x : row.items - 1 - (threadIdx.x - row.head));
  if (item <= bound) topk_cluster_append(shared, item);
}

// Elements of a list of so many that are sent: whole warps' worth.
__device__ __forceinline__ uint32_t topk_cluster_padded(uint32_t count) {
  return count < kTopkClusterSure ? kTopkClusterSure : (count + 31) / 32 * 32;
}

// Sends places [from, to) of what the block has found to all blocks, a warp or several to each; ~0 where it has less.
template <class C>
__device__ __forceinline__ void topk_cluster_send_list(TopkClusterShared<C> &shared, ClusterCount &count, uint32_t rank,
                                                       uint32_t blocks, uint32_t from, uint32_t to) {
  const uint32_t target = threadIdx.x / 32 % blocks, found = shared.count;  // blocks divide the 32 warps
  for (uint32_t i = from + threadIdx.x / 32 / blocks * 32 + threadIdx.x % 32; i < to; i += kTopkTeamThreads / blocks)
    topk_cluster_send(count, &shared.lists[rank][i], target, i < found ? shared.found[i] : ~C{0});
}

// Sends all blocks what this one has found, and gets what they have. False, in all blocks: it is too much to count, or
// less than k.
template <class C>
__device__ __forceinline__ bool topk_cluster_exchange(TopkClusterShared<C> &shared, TopkClusterCounts &counts,
                                                      uint32_t round, uint32_t rank, uint32_t blocks, uint64_t k,
                                                      uint32_t most) {
  const uint32_t lane = threadIdx.x & 31;
  if (threadIdx.x >= kTopkTeamThreads - blocks)
    counts.lists.send(&shared.counts[rank], kTopkTeamThreads - 1 - threadIdx.x, shared.count);
  topk_cluster_send_list(shared, counts.lists, rank, blocks, 0, kTopkClusterSure);
  counts.lists.wait(round);
  const uint32_t count = lane < blocks ? static_cast<uint32_t>(shared.counts[lane]) : 0;
  const uint32_t total = warp_sum(count);
  const bool good = __all_sync(kFullWarp, count <= kTopkClusterListItems) && k <= total && total <= most;
  const uint32_t more = good ? warp_sum(topk_cluster_padded(count) - kTopkClusterSure) : 0;
  if (threadIdx.x == 0) counts.more.expect(more * sizeof(C));
  if (more == 0) return good;
  topk_cluster_send_list(shared, counts.more, rank, blocks, kTopkClusterSure, topk_cluster_padded(shared.count));
  counts.more.wait(round);
  return good;
}

// How many candidates are better than each of kItems. A warp together.
template <uint32_t kItems, class C>
__device__ __forceinline__ void topk_cluster_rank(const TopkClusterShared<C> &shared, uint32_t blocks,
                                                  const C (&items)[kItems], uint32_t (&before)[kItems]) {
  const uint32_t lane = threadIdx.x & 31;
#pragma unroll
  for (uint32_t b = 0; b < kTopkClusterBlocks; ++b) {
    if (b >= blocks) break;
#pragma unroll
    for (uint32_t i = 0; i < kTopkClusterSure; i += 32) {
      const C other = shared.lists[b][i + lane];
#pragma unroll
      for (uint32_t k = 0; k < kItems; ++k) before[k] += other < items[k];
    }
  }
  for (uint32_t b = 0; b < blocks; ++b)
    for (uint32_t i = kTopkClusterSure; i < shared.counts[b]; i += 32) {
      const C other = shared.lists[b][i + lane];
#pragma unroll
      for (uint32_t k = 0; k < kItems; ++k) before[k] += other < items[k];
    }
#pragma unroll
  for (uint32_t k = 0; k < kItems; ++k) before[k] = warp_sum(before[k]);
}

// Writes the block's candidates that are among the best k to their places. A warp counts for up to two at a time.
template <class U, class C>
__device__ __forceinline__ void topk_cluster_place(const TopkClusterShared<C> &shared, const TopkRow<U> &row,
                                                   uint32_t rank, uint32_t blocks, uint64_t k,
                                                   const TopkOutput<U> &output, uint64_t output_begin) {
  constexpr uint32_t kWarps = kTopkTeamThreads / 32;
  const uint32_t lane = threadIdx.x & 31, mine = shared.count;
  for (uint32_t p = threadIdx.x >> 5; p < mine; p += 2 * kWarps) {
    const C first = shared.found[p];
    C item = first;
    uint32_t at = 0;
    if (p + kWarps < mine) {
      const C second = shared.found[p + kWarps];
      uint32_t before[2] = {0, 0};
      topk_cluster_rank(shared, blocks, {first, second}, before);
      if (lane == 1) item = second;
      at = lane == 1 ? before[1] : before[0];
    } else {
      uint32_t before[1] = {0};
      topk_cluster_rank(shared, blocks, {first}, before);
      at = lane == 0 ? before[0] : ~0u;
    }
    if (lane < 2 && at < k) topk_write<U, C>(output, row, output_begin + at, item);
  }
}

// Begins a row. Behind the wait that must follow, all blocks run and are done with the row before.
template <class C>
__device__ __forceinline__ void topk_cluster_begin(TopkClusterCounts &counts, uint32_t round, uint32_t blocks) {
  if (round != 0) __syncthreads();
  if (threadIdx.x == 0) {
    if (round == 0) counts.bounds.open(), counts.lists.open(), counts.more.open();
    counts.bounds.expect(blocks * sizeof(C));
    counts.lists.expect(blocks * (kTopkClusterSure * sizeof(C) + sizeof(uint64_t)));
  }
  if (round == 0)
    cluster_arrive_only();
  else
    cluster_arrive();
}

// The best k of a row by the cluster. False, in all its blocks: nothing was written. `rounds` counts the tries.
template <class U, class C>
__device__ __forceinline__ bool topk_cluster_row(const TopkTeamArgs<U> &args, uint64_t r, unsigned char *dynamic,
                                                 TopkClusterCounts &counts, uint32_t &rounds) {
  auto &shared = *reinterpret_cast<TopkClusterShared<C> *>(dynamic);
  const TopkProblem<U> &problem = args.problem;
  const uint32_t blocks = args.plan.blocks, rank = blockIdx.x % blocks;
  const TopkRow<U> row(problem.in + r * problem.row_stride, problem.columns, problem.index_bits, problem.codec);
  const uint32_t need = (static_cast<uint32_t>(args.plan.sample.rank) + blocks - 1) / blocks;
  const uint32_t each = topk_cluster_each(need);
  // Every thread has a vector, so that there are elements enough to offer, and none has more than it holds.
  const uint64_t threads = uint64_t{blocks} * kTopkTeamThreads;
  if (row.vectors < threads || row.vectors > threads * kTopkVectorsThread || each > kTopkClusterEachMax) return false;
  const uint32_t round = rounds++;
  topk_cluster_begin<C>(counts, round, blocks);
  const TopkClusterPart<U> part(row, rank, blocks);
  if (threadIdx.x == 0) shared.count = 0;
  const C least = topk_cluster_least<U, C>(row, part);
  topk_cluster_offer(shared, least, each);
  __syncthreads();
  cluster_wait();
  topk_cluster_send_bound(shared, counts.bounds, need, each, rank, blocks);
  counts.bounds.wait(round);
  const C bound = topk_cluster_bound(shared, blocks);
  topk_cluster_filter<U, C>(shared, row, part, least, bound, rank);
  __syncthreads();
  if (!topk_cluster_exchange(shared, counts, round, rank, blocks, problem.k, args.plan.count_items)) return false;
  topk_cluster_place<U, C>(shared, row, rank, blocks, problem.k, problem.output, r * problem.k);
  return true;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_TOPK_CLUSTER_CUH_
