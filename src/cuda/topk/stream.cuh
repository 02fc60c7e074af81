// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows that a block reads once, for small k. A row is read in tiles, each of which has pieces of all of the
// row. The best elements of groups of the first tile give a bound that at least k elements are at or under; what passes
// it is listed in shared memory. A long list gives a lower bound. The last of the list are ranked by sorted warps.
//
// Work whatever the data: where more pass than the list holds, the list's own gives a lower bound and the tiles since
// the last bound are read again; every time fewer pass.
#ifndef GSORT_CUDA_TOPK_STREAM_CUH_
#define GSORT_CUDA_TOPK_STREAM_CUH_

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/topk/filter.cuh"
#include "cuda/topk/taken_rows.cuh"
#include "cuda/topk/warp.cuh"

namespace gsort_internal::topk {

constexpr uint32_t kStreamVectors = 4;       // 16-byte loads that a thread has under way
constexpr uint32_t kStreamGroups = 256;      // that a bound is chosen among, at most
constexpr uint32_t kStreamListItems = 2048;  // candidates that a block has room for, at most
constexpr uint32_t kStreamExpected = 512;    // candidates, where a phase ends, at most
constexpr uint32_t kStreamKMax = 128;

template <class U, uint32_t kThreads>
struct StreamBlock {
  using S = typename WarpTypes<U>::S;
  static constexpr uint32_t kGroups = kThreads < kStreamGroups ? kThreads : kStreamGroups;
  static constexpr uint32_t kRoom = 8 * kThreads < kStreamListItems ? 8 * kThreads : kStreamListItems;
  static constexpr uint32_t kEach = kRoom / kThreads;
  static constexpr uint32_t kExpected = kStreamExpected < kRoom / 2 ? kStreamExpected : kRoom / 2;

  S list[kRoom];
  S sorted[kGroups];
  S bound;
  uint32_t count;
};

// A thread's vectors of a tile and where they lie in the row.
template <class U>
struct StreamTile {
  uint4 v[kStreamVectors];
  uint32_t at[kStreamVectors];  // number of the vector; not below row.vectors: there is none
};

// Number of a thread's vector j of a tile. A warp's 32 neighbours are in one tile, the next 32 in the next.
template <uint32_t kThreads>
__device__ __forceinline__ uint32_t stream_vector(uint32_t j, uint32_t tiles, uint32_t tile) {
  return ((j * (kThreads / 32) + threadIdx.x / 32) * tiles + tile) * 32 + threadIdx.x % 32;
}

template <uint32_t kThreads, class U>
__device__ __forceinline__ void stream_load(const Row<U> &row, uint32_t tiles, uint32_t tile, StreamTile<U> &t) {
  const uint32_t vectors = static_cast<uint32_t>(row.vectors);
#pragma unroll
  for (uint32_t j = 0; j < kStreamVectors; ++j) {
    t.at[j] = stream_vector<kThreads>(j, tiles, tile);
    // A very short row may have none.
    if (vectors != 0) t.v[j] = row.vector(t.at[j] < vectors ? t.at[j] : vectors - 1);
  }
}

template <class U>
__device__ __forceinline__ typename WarpTypes<U>::S stream_item(U key, uint32_t index) {
  return (static_cast<typename WarpTypes<U>::S>(key) << WarpTypes<U>::kIndexBits) | index;
}

// The best element of a thread's part of a tile; the greatest composite if it has none.
template <class U>
__device__ __forceinline__ typename WarpTypes<U>::S stream_best(const Row<U> &row, const StreamTile<U> &t) {
  U best = static_cast<U>(~U{0});
  uint32_t best_at = ~0u;
  with_codec(row.codec, [&](const KeyCodec<U> &codec) {
#pragma unroll
    for (uint32_t j = 0; j < kStreamVectors; ++j) {
      if (t.at[j] >= row.vectors) continue;
      if (j == 0) best_at = static_cast<uint32_t>(row.vector_begin(t.at[0]));
#pragma unroll
      for (uint32_t e = 0; e < Row<U>::kVectorItems; ++e) {
        const U key = codec.encode(vector_element<U>(t.v[j], e));
        if (key < best) best = key, best_at = static_cast<uint32_t>(row.vector_begin(t.at[j])) + e;
      }
    }
  });
  return best_at == ~0u ? ~typename WarpTypes<U>::S{0} : stream_item<U>(best, best_at);
}

template <class U, uint32_t kThreads>
__device__ __forceinline__ void stream_append(StreamBlock<U, kThreads> &block, typename WarpTypes<U>::S item) {
  const uint32_t at = shared_add(&block.count, 1);
  if (at < block.kRoom) block.list[at] = item;
}

// Which elements of a tile may be at or under the bound: bit j * kVectorItems + e stands for element e of vector j.
// Keys decide; vectors behind the bound's index take no ties.
template <class U>
__device__ __forceinline__ uint64_t stream_mask(const Row<U> &row, const StreamTile<U> &t,
                                                typename WarpTypes<U>::S bound) {
  const U key = static_cast<U>(bound >> WarpTypes<U>::kIndexBits);
  const uint32_t index = static_cast<uint32_t>(bound);
  uint64_t mask = 0;
  with_codec(row.codec, [&](const KeyCodec<U> &codec) {
#pragma unroll
    for (uint32_t j = 0; j < kStreamVectors; ++j) {
      const bool ties = static_cast<uint32_t>(row.vector_begin(t.at[j])) <= index;
      const U limit = ties ? key : static_cast<U>(key - 1);
      const uint32_t m = vector_mask(t.v[j], codec, limit);
      mask |= static_cast<uint64_t>(t.at[j] < row.vectors && (ties || key != 0) ? m : 0) << (j * Row<U>::kVectorItems);
    }
  });
  return mask;
}

// Lists the elements of a tile that are at or under the bound.
template <class U, uint32_t kThreads>
__device__ __forceinline__ void stream_filter(StreamBlock<U, kThreads> &block, const Row<U> &row,
                                              const StreamTile<U> &t, typename WarpTypes<U>::S bound) {
  constexpr uint32_t E = Row<U>::kVectorItems;
  const uint64_t mask = stream_mask(row, t, bound);
  if (!__any_sync(kFullWarp, mask != 0)) return;
#pragma unroll
  for (uint32_t j = 0; j < kStreamVectors; ++j) {
    uint32_t marked = static_cast<uint32_t>(mask >> (j * E)) & ((1u << E) - 1);
    while (marked != 0) {
      const uint32_t e = static_cast<uint32_t>(__ffs(static_cast<int>(marked))) - 1;
      marked &= marked - 1;
      const auto item = stream_item<U>(row.codec.encode(vector_item_any<U>(t.v[j], e)),
                                       static_cast<uint32_t>(row.vector_begin(t.at[j])) + e);
      if (item <= bound) stream_append(block, item);
    }
  }
  __syncwarp();
}

// Sorts the first kGroups threads' items in warps, in place, and tells each its item's rank among all of them. Equal
// items are padding, and their ranks are not less than the number of others. Begins with a barrier of the block.
template <class U, uint32_t kThreads>
__device__ __forceinline__ uint32_t stream_rank(StreamBlock<U, kThreads> &block, typename WarpTypes<U>::S &item,
                                                uint32_t lists) {
  using S = typename WarpTypes<U>::S;
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (warp < lists) {
    S mine[1] = {item};
    warp_sort_items(mine);
    item = mine[0];
    block.sorted[threadIdx.x] = item;
  }
  __syncthreads();
  uint32_t rank = lane;
  if (warp >= lists) return ~0u;
  for (uint32_t other = 0; other < lists; ++other) {
    if (other == warp) continue;
    const S *const list = block.sorted + other * 32;
    uint32_t below = 0;
#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2)
      if (list[below + step - 1] < item) below += step;
    rank += below + (list[below] < item);
  }
  return rank;
}

// The k-th best of groups of the threads' items, or the greatest composite. Ends with a barrier.
template <class U, uint32_t kThreads>
__device__ __forceinline__ typename WarpTypes<U>::S stream_bound(StreamBlock<U, kThreads> &block,
                                                                 typename WarpTypes<U>::S item, uint32_t k) {
  using S = typename WarpTypes<U>::S;
  constexpr uint32_t kGroups = StreamBlock<U, kThreads>::kGroups, kShare = kThreads / kGroups;
  if constexpr (kShare > 1) {
#pragma unroll
    for (uint32_t d = kShare / 2; d > 0; d /= 2) {
      const S other = shuffle_xor(item, d);
      item = other < item ? other : item;
    }
    if (threadIdx.x % kShare == 0) block.sorted[threadIdx.x / kShare] = item;
    __syncthreads();
    item = threadIdx.x < kGroups ? block.sorted[threadIdx.x] : ~S{0};
    __syncthreads();
  }
  if (threadIdx.x == 0) block.bound = ~S{0};
  const uint32_t rank = stream_rank(block, item, kGroups / 32);
  if (rank == k - 1 && item != ~S{0}) block.bound = item;
  __syncthreads();
  return block.bound;
}

// Keeps of the first `count` of the list what is at or under a bound found from them; returns the bound.
template <class U, uint32_t kThreads>
__device__ __noinline__ typename WarpTypes<U>::S stream_thin(StreamBlock<U, kThreads> &block, uint32_t count,
                                                             uint32_t keep, uint32_t k) {
  using S = typename WarpTypes<U>::S;
  constexpr uint32_t kEach = StreamBlock<U, kThreads>::kEach, kGroups = StreamBlock<U, kThreads>::kGroups,
                     kShare = kThreads / kGroups;
  S mine[kEach], best = ~S{0};
  __syncthreads();
#pragma unroll
  for (uint32_t j = 0; j < kEach; ++j) {
    // The first kGroups go to a group each, so that none is without one.
    const uint32_t at = j * kThreads + threadIdx.x % kShare * kGroups + threadIdx.x / kShare;
    mine[j] = at < count ? block.list[at] : ~S{0};
    best = mine[j] < best ? mine[j] : best;
    if (at >= keep) mine[j] = ~S{0};
  }
  const S bound = stream_bound(block, best, k);
  if (threadIdx.x == 0) block.count = 0;
  __syncthreads();
#pragma unroll
  for (uint32_t j = 0; j < kEach; ++j)
    if (mine[j] <= bound && mine[j] != ~S{0}) stream_append(block, mine[j]);
  __syncthreads();
  return bound;
}

// Lists those of the elements before the first and after the last vector that are at or under the bound.
template <class U, uint32_t kThreads>
__device__ __forceinline__ void stream_edges(StreamBlock<U, kThreads> &block, const Row<U> &row,
                                             typename WarpTypes<U>::S bound) {
  const uint32_t edges = static_cast<uint32_t>(row.head + row.items - row.tail_begin());
  if (threadIdx.x >= edges) return;
  const uint32_t at =
      threadIdx.x < row.head ? threadIdx.x : static_cast<uint32_t>(row.tail_begin()) + threadIdx.x - row.head;
  const auto item = stream_item<U>(row.encoded(at), at);
  if (item <= bound) stream_append(block, item);
}

// Asks L2 for a thread's part of a tile; two threads share a sector.
template <uint32_t kThreads, class U>
__device__ __forceinline__ void stream_prefetch(const Row<U> &row, uint32_t tiles, uint32_t tile) {
  if (tile >= tiles || threadIdx.x % 2 != 0) return;
#pragma unroll
  for (uint32_t j = 0; j < kStreamVectors; ++j) {
    const uint32_t at = stream_vector<kThreads>(j, tiles, tile);
    if (at < row.vectors) prefetch_line(row.data + row.vector_begin(at));
  }
}

// Reads the row and lists at least k of its elements, the best k among them; no more than groups.
template <class U, uint32_t kThreads>
__device__ __forceinline__ void stream_row(StreamBlock<U, kThreads> &block, const Row<U> &row, uint32_t k) {
  using S = typename WarpTypes<U>::S;
  const uint32_t chunks = static_cast<uint32_t>((row.vectors + 31) / 32), each = kThreads / 32 * kStreamVectors;
  const uint32_t tiles = max(1u, (chunks + each - 1) / each), growth = max(2u, block.kExpected / k);
  if (threadIdx.x == 0) block.count = 0;
  StreamTile<U> t;
  stream_load<kThreads>(row, tiles, 0, t);
  stream_prefetch<kThreads>(row, tiles, 1);
  S bound = stream_bound(block, stream_best(row, t), k);
  // Tiles that are read for good, the end of those in work, and how many elements are listed of the former.
  uint32_t done = 0, phase = 1, kept = 0;
  for (bool loaded = true; done < tiles;) {
    for (uint32_t tile = done; tile < phase; ++tile) {
      if (!loaded) {
        stream_load<kThreads>(row, tiles, tile, t);
        stream_prefetch<kThreads>(row, tiles, tile + 1);
      }
      loaded = false;
      if (tile == 0) stream_edges(block, row, bound);
      stream_filter(block, row, t, bound);
    }
    __syncthreads();
    const uint32_t count = block.count;
    __syncthreads();
    if (count > block.kRoom) {
      bound = stream_thin(block, block.kRoom, kept, k);  // of which no more than `kept` stay; and once more
      kept = block.count;
      __syncthreads();
      continue;
    }
    if (phase > 1 && phase < tiles) bound = stream_thin(block, count, count, k);
    done = phase, kept = block.count, phase = min(done * growth, tiles);
    __syncthreads();
  }
  for (uint32_t count = block.count; count > block.kGroups; count = block.count) stream_thin(block, count, count, k);
}

// Writes the best k of what stream_row() has listed.
template <class U, uint32_t kThreads>
__device__ __forceinline__ void stream_place(StreamBlock<U, kThreads> &block, const Problem<U> &problem, uint64_t r,
                                             uint32_t k) {
  using S = typename WarpTypes<U>::S;
  const uint32_t count = block.count, lists = (count + 31) / 32;
  S item = threadIdx.x < count ? block.list[threadIdx.x] : ~S{0};
  const uint32_t rank = stream_rank(block, item, lists);
  if (rank < k && item != ~S{0}) warp_put(problem, r * k + rank, item);
}

// Blocks of a multiprocessor, which older ones have not as many of.
template <uint32_t kThreads>
constexpr uint32_t kStreamBlocks = kThreads < 128 && !kClustersHere ? 1 : 1024 / kThreads;

// The next row of a block, of rows with offsets that were right, if there is one.
static __device__ __noinline__ bool stream_next(const Ragged &ragged, uint64_t &ticket) {
  const bool any = threadIdx.x == 0 && rows_ticket(ragged, ticket);
  if (__syncthreads_or(any) != 0) return true;
  if (ragged.listed_items_max != 0) end_beside(ragged);
  return false;
}

// A block a row; of rows with offsets, of those with more than k elements.
template <class U, uint32_t kThreads>
__global__ __launch_bounds__(kThreads, kStreamBlocks<kThreads>) void topk_stream_kernel(
    const __grid_constant__ Problem<U> problem) {
  if constexpr (kThreads < 128 && !kClustersHere) return;  // see plan_stream()
  __shared__ StreamBlock<U, kThreads> block;
  __shared__ uint64_t ticket;
  const uint32_t k = static_cast<uint32_t>(problem.k);
  const bool ragged = kThreads >= 128 && problem.ragged.offsets != nullptr;
  if (ragged && problem.ragged.listed_items_max != 0)
    begin_beside(problem.ragged);
  else
    wait_for_kernel_before();
  for (uint64_t r = blockIdx.x;;) {
    if (ragged) {
      if (!stream_next(problem.ragged, ticket)) return;
      r = ticket;
    }
    stream_row(block, problem_row(problem, r), k);
    stream_place(block, problem, ragged ? ticket : blockIdx.x, k);
    if (!ragged) return;
    __syncthreads();
  }
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_STREAM_CUH_
