// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k of rows of some thousand elements and middling k: a row lies in the registers of a block, whose warps have
// pieces of all of it. Each gives a bound by the best keys of its groups, as in bound_lanes.cuh, for its share of k;
// what is at or under the greatest of these is listed, and one warp sorts it as in sorted_lanes.cuh.
//
// Work whatever the data: where more pass than there is room for, the range of keys is halved, and ties are taken up to
// an index.
#ifndef GSORT_CUDA_TOPK_BOUND_ROWS_CUH_
#define GSORT_CUDA_TOPK_BOUND_ROWS_CUH_

#include "cuda/topk/lanes.cuh"
#include "cuda/topk/sorted_lanes.cuh"

namespace gsort_internal::topk {

// kBoundRowsRegisters keys in each thread, in kGroupCount groups, and room for so many that pass.
template <class KeyType, uint32_t kWarpCount, uint32_t kGroupCount, uint32_t kPlaceCount>
struct BoundBlock {
  using Key = KeyType;
  static constexpr uint32_t kWarps = kWarpCount, kThreads = 32 * kWarps, kGroups = kGroupCount;
  static constexpr uint32_t kRegisters = kBoundRowsRegisters, kPlaces = kPlaceCount;
  static_assert(kRegisters == 32, "a bit, and a lane, each");
  // Blocks that leave enough registers.
  static constexpr uint32_t kBlocks = 1024 / kThreads / (sizeof(Key) == 8 ? 2 : 1);
  using Many = SortedRow<Key, 32, kPlaces / 32, kThreads * kRegisters, false>;
  using Few = SortedRow<Key, 32, kPlaces / 64, kThreads * kRegisters, kPlaces / 64 <= 4>;

  union {  // keys, and behind them the words that are sorted
    Many many;
    Few few;
  };
  Key least[kWarps], bounds[kWarps];
  uint32_t count;  // of the list; goes on counting where there is no more room
  // Of two steps that follow one another. Aligned, so that the compiler reads nothing beside those of a step.
  alignas(16) uint32_t sums[2][kWarps];
  uint32_t ties[kRegisters * kWarps];

  // Of the thread's j-th key. Warps have a row's neighbours in turns.
  __device__ __forceinline__ static uint32_t index(uint32_t j) { return j * kThreads + threadIdx.x; }
  // How many of the thread's keys are among the row's first `items`.
  __device__ __forceinline__ static uint32_t own(uint32_t items) {
    return items <= threadIdx.x ? 0 : (items - threadIdx.x + kThreads - 1) / kThreads;
  }
};

// A thread's keys. Behind the row's end they are the greatest ones.
template <class Key>
using BoundKeys = typename LaneKey<Key>::type[kBoundRowsRegisters];

// Loads them, all at once, and leaves them in shared memory, too.
template <class Block>
__device__ __forceinline__ void bound_load(Block &block, BoundKeys<typename Block::Key> &keys,
                                           const WidenedRow<typename Block::Key> &row) {
  using Key = typename Block::Key;
  const uint32_t own = Block::own(row.items);
  with_loader(row, [&](const auto &loader) {
    const Key padding = loader.narrow(row.codec.decode(static_cast<Key>(~Key{0})));
#pragma unroll
    for (uint32_t j = 0; j < Block::kRegisters; ++j) {
      keys[j] = padding;
      if (j < own) keys[j] = loader.load(Block::index(j));
    }
#pragma unroll
    for (uint32_t j = 0; j < Block::kRegisters; ++j) keys[j] = loader.widen(static_cast<Key>(keys[j]));
  });
  const KeyCodec<Key> plain = {row.codec.mask_positive, row.codec.mask_negative, 0};
  if (row.codec.nan_count == 0) {
#pragma unroll
    for (uint32_t j = 0; j < Block::kRegisters; ++j) keys[j] = plain.encode(static_cast<Key>(keys[j]));
#pragma unroll
    for (uint32_t j = 0; j < Block::kRegisters; ++j) block.many.keys[Block::index(j)] = keys[j];
    return;
  }
  // In few instructions rather than quickly.
#pragma unroll
  for (uint32_t j = 0; j < Block::kRegisters; ++j) block.many.keys[Block::index(j)] = keys[j];
#pragma unroll 1
  for (uint32_t j = 0; j < Block::kRegisters; ++j) {
    Key &key = block.many.keys[Block::index(j)];
    key = row.codec.encode(key);
  }
#pragma unroll
  for (uint32_t j = 0; j < Block::kRegisters; ++j) keys[j] = block.many.keys[Block::index(j)];
}

// What is taken: keys under `key`, and of those equal to it the thread's first `ties`.
template <class Key>
struct BoundTaken {
  Key key;
  uint32_t ties;
};

// The best of all keys, and a bound that at least k are at or under. Ends with a barrier.
template <class Block>
__device__ __forceinline__ typename Block::Key bound_of_groups(Block &block, const BoundKeys<typename Block::Key> &keys,
                                                               uint32_t k, typename Block::Key &least) {
  using Key = typename Block::Key;
  typename LaneKey<Key>::type best[Block::kGroups];
#pragma unroll
  for (uint32_t g = 0; g < Block::kGroups; ++g) {
    best[g] = keys[g];
#pragma unroll
    for (uint32_t j = g + Block::kGroups; j < Block::kRegisters; j += Block::kGroups) best[g] = min(best[g], keys[j]);
  }
  sort_in_lane(best);
  merge_lanes<true>(best, 32);
  const Key own_least = lanes_group<32>(best, 0);
  const Key own_bound = lanes_group<32>(best, (k + Block::kWarps - 1) / Block::kWarps - 1);
  if (lane_id() == 0) block.least[threadIdx.x / 32] = own_least, block.bounds[threadIdx.x / 32] = own_bound;
  if (threadIdx.x == 0) block.count = 0;
  __syncthreads();
  least = block.least[0];
  Key bound = block.bounds[0];
#pragma unroll
  for (uint32_t w = 1; w < Block::kWarps; ++w) least = min(least, block.least[w]), bound = max(bound, block.bounds[w]);
  return bound;
}

// Lists the words of what is taken. down: see sorted_words(). Ends with a barrier.
template <class Block>
__device__ __forceinline__ void bound_list(Block &block, const BoundKeys<typename Block::Key> &keys,
                                           const BoundTaken<typename Block::Key> &taken, typename Block::Key least,
                                           uint32_t down) {
  uint32_t marked = 0;
#pragma unroll
  for (uint32_t j = 0; j < Block::kRegisters; ++j) marked |= static_cast<uint32_t>(keys[j] <= taken.key) << j;
  if (taken.ties < Block::kRegisters) {
#pragma unroll
    for (uint32_t j = 0; j < Block::kRegisters; ++j)
      if (keys[j] == taken.key && j >= taken.ties) marked &= ~(1u << j);
  }
  const uint32_t mine = static_cast<uint32_t>(__popc(marked)), upto = warp_inclusive_sum(mine);
  uint32_t at = 0;
  if (lane_id() == 31) at = shared_add(&block.count, upto);
  at = __shfl_sync(kFullWarp, at, 31) + upto - mine;
  for (; marked != 0 && at < Block::kPlaces; marked &= marked - 1, ++at) {
    const uint32_t index = Block::index(static_cast<uint32_t>(__ffs(static_cast<int>(marked))) - 1);
    block.many.words[at] = sorted_word<typename Block::Many>(block.many.keys[index] - least, down, index);
  }
  __syncthreads();
}

// How many of the row's keys are under `key`: the block's count number `step` of them. Ends with a barrier.
template <class Block>
__device__ __forceinline__ uint32_t bound_under(Block &block, const BoundKeys<typename Block::Key> &keys, uint32_t step,
                                                typename Block::Key key) {
  uint32_t mine = 0, all = 0;
#pragma unroll
  for (uint32_t j = 0; j < Block::kRegisters; ++j) mine += keys[j] < key ? 1 : 0;
  mine = warp_sum(mine);
  uint32_t(&sums)[Block::kWarps] = block.sums[step % 2];
  if (lane_id() == 0) sums[threadIdx.x / 32] = mine;
  __syncthreads();
#pragma unroll
  for (uint32_t w = 0; w < Block::kWarps; ++w) all += sums[w];
  return all;
}

// At least k keys, and no more than there is room for, where more are at or under `high`, but at least k; none is under
// `low`. Has a barrier.
template <class Block>
__device__ __forceinline__ BoundTaken<typename Block::Key> bound_narrow(Block &block,
                                                                        const BoundKeys<typename Block::Key> &keys,
                                                                        uint32_t k, typename Block::Key low,
                                                                        typename Block::Key high) {
  uint32_t below = 0;  // under `low`: fewer than k
  typename Block::Key probe = high;
#pragma unroll 1
  for (uint32_t step = 0; low < high; ++step) {
    const uint32_t count = bound_under(block, keys, step, probe);
    if (count < k) {
      low = probe, below = count;
    } else {
      high = probe - 1;
      if (count <= Block::kPlaces) return {probe, 0};
    }
    probe = low + (high - low) / 2 + 1;
  }
  // Enough are equal to `high`. Of each warp's keys number lane_id():
  uint32_t ties = 0;
#pragma unroll
  for (uint32_t j = 0; j < Block::kRegisters; ++j) {
    const uint32_t of_warp = static_cast<uint32_t>(__popc(__ballot_sync(kFullWarp, keys[j] == high)));
    if (lane_id() == j) ties = of_warp;
  }
  block.ties[lane_id() * Block::kWarps + threadIdx.x / 32] = ties;
  __syncthreads();
  // Pieces of 32 elements up to which there are k and fewer than 32 more. The same in all warps.
  uint32_t upto = 0, pieces = ~0u;
#pragma unroll
  for (uint32_t w = 0; w < Block::kWarps; ++w) upto += block.ties[lane_id() * Block::kWarps + w];
  upto = below + warp_inclusive_sum(upto) - upto;
#pragma unroll
  for (uint32_t w = 0; w < Block::kWarps; ++w) {
    upto += block.ties[lane_id() * Block::kWarps + w];
    if (upto >= k && pieces == ~0u) pieces = lane_id() * Block::kWarps + w + 1;
  }
  return {high, Block::own(32 * warp_least(pieces))};
}

// Sorts what is listed, and writes the best k. One warp.
template <class Row, class Key>
__device__ __forceinline__ void bound_place(Row &row, const WidenedProblem<Key> &problem, uint64_t begin,
                                            uint32_t count, Key least, uint32_t bits, uint32_t down) {
  uint32_t words[Row::kKeys];
#pragma unroll
  for (uint32_t j = 0; j < Row::kKeys; ++j) {
    const uint32_t at = j * 32 + lane_id();
    words[j] = at < count ? row.words[at] : ~0u;
  }
  __syncwarp();
  sorted_words(row, words, lane_id(), count, least, bits, down);
  sorted_write(row, lane_id(), static_cast<uint32_t>(problem.k), problem, begin);
}

// Where it is more than a kernel has without asking, it is dynamic.
template <class Block>
constexpr uint32_t bound_shared_bytes = sizeof(Block) <= 48 * 1024 ? 0 : sizeof(Block);
template <class Block>
__device__ __forceinline__ Block &bound_shared() {
  if constexpr (bound_shared_bytes<Block> == 0) {
    __shared__ Block block;
    return block;
  } else {
    extern __shared__ __align__(16) unsigned char dynamic[];
    return *reinterpret_cast<Block *>(dynamic);
  }
}

// A block a row.
template <class Block>
__global__ __launch_bounds__(Block::kThreads, blocks_here(Block::kThreads, Block::kBlocks)) void topk_bound_rows_kernel(
    const __grid_constant__ WidenedProblem<typename Block::Key> problem) {
  if constexpr (!kClustersHere) return;  // see sorted_lanes_run()
  using Key = typename Block::Key;
  Block &block = bound_shared<Block>();
  const uint64_t r = begin_taken_row(problem, blockIdx.x);
  if (r == kNoRow) return;
  const uint32_t k = static_cast<uint32_t>(problem.k);
  BoundKeys<Key> keys;
  bound_load(block, keys, problem.in_parts ? widened_part_of_row(problem, r) : widened_row(problem, r));
  Key least;
  const Key bound = bound_of_groups(block, keys, k, least);
  const uint32_t bits = bit_width(static_cast<Key>(bound - least)), down = sorted_down<typename Block::Many>(bits);
  BoundTaken<Key> taken{bound, Block::kRegisters};
  bool is_narrow = bound == least;  // many may be equal
  if (is_narrow) taken = bound_narrow(block, keys, k, least, bound);
#pragma unroll 1
  for (;;) {
    bound_list(block, keys, taken, least, down);
    if (is_narrow || block.count <= Block::kPlaces) break;
    taken = bound_narrow(block, keys, k, least, bound), is_narrow = true;
    __syncthreads();  // all have read what was counted
    if (threadIdx.x == 0) block.count = 0;
    __syncthreads();
  }
  // Other warps in other blocks, for each has its part of the multiprocessor.
  if (threadIdx.x / 32 != blockIdx.x % Block::kWarps) return;
  const uint32_t count = block.count;
  const uint64_t begin = (problem.in_parts ? blockIdx.x : row_taken(problem, blockIdx.x)) * problem.k;
  if (count <= Block::Few::kPlaces)
    bound_place(block.few, problem, begin, count, least, bits, down);
  else
    bound_place(block.many, problem, begin, count, least, bits, down);
  end_taken_row(problem);
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_BOUND_ROWS_CUH_
