// SPDX-License-Identifier: MIT OR Apache-2.0
// The best one of each row, by warps or blocks that keep no more than the best key and where it may be.
#ifndef GSORT_CUDA_TOPK_BEST_CUH_
#define GSORT_CUDA_TOPK_BEST_CUH_

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/extreme.cuh"
#include "cuda/primitive/last_block.cuh"
#include "cuda/topk/common.cuh"
#include "cuda/topk/problem.h"
#include "cuda/topk/taken_rows.cuh"
#include "cuda/topk/widened.cuh"

namespace gsort_internal::topk {

static_assert(kBestTileBytes == kBestThreads * kTileVectors * 16, "the plan counts with this size");

template <class U>
struct BestProblem {
  const U *in;
  uint64_t rows, columns, row_stride;
  KeyCodec<U> codec;
  Output<U> output;
  BestPlan plan;
  // Of parts that meet in memory: a counter a row, zero before and after the launch, and a result a part.
  uint32_t *counters;
  Extreme *extremes;

  __device__ __forceinline__ void put(uint64_t row, U key, uint64_t index) const {
    write_element(output, row, codec.decode(key), index);
  }
};

// Row r of `columns` elements from `in` on, by a warp.
template <class U>
__device__ __forceinline__ void best_by_warp(const BestProblem<U> &problem, uint64_t r, const U *in, uint32_t columns) {
  using Word = WidenedKey<U>;
  const uint32_t lane = lane_id();
  const Tiles<U, 32> tiles{vector_span<U>(in, columns), lane};
  const bool is_head = lane < tiles.span.head_count, is_tail = lane < tiles.span.tail_count;
  const uint32_t tail = columns - 1 - lane;
  U head_bits = 0, tail_bits = 0;
  if (is_head) head_bits = __ldg(in + lane);
  if (is_tail) tail_bits = __ldg(in + tail);
  const TileBest best = best_of_tiles(tiles, problem.codec, 0, 1);
  const Word head_key = is_head ? problem.codec.encode(head_bits) : ~Word{0};
  const Word tail_key = is_tail ? problem.codec.encode(tail_bits) : ~Word{0};
  const Word key = warp_least(min(min(head_key, tail_key), best.any ? static_cast<Word>(best.key) : ~Word{0}));
  uint32_t index = ~0u;
  if (problem.output.indices != nullptr) {
    if (is_tail && tail_key == key) index = tail;
    if (best.any && static_cast<Word>(best.key) == key)
      index = min(index, static_cast<uint32_t>(find_in_tile(tiles, problem.codec, best)));
    if (is_head && head_key == key) index = lane;
    index = warp_least(index);
  }
  if (lane == 0) problem.put(r, static_cast<U>(key), index);
}

// A warp a row.
template <class U>
__global__ void __launch_bounds__(kBestWarpsThreads)
    topk_best_warps_kernel(const __grid_constant__ BestProblem<U> problem) {
  if constexpr (!kClustersHere) return;
  const uint64_t r = (uint64_t{blockIdx.x} * kBestWarpsThreads + threadIdx.x) / 32;
  if (r < problem.rows)
    best_by_warp(problem, r, problem.in + r * problem.row_stride, static_cast<uint32_t>(problem.columns));
}

// A block a row, or several.
template <class U>
__global__ void __launch_bounds__(kBestThreads, kBestBlocks)
    topk_best_kernel(const __grid_constant__ BestProblem<U> problem) {
  if constexpr (!kClustersHere) return;
  __shared__ uint64_t warps[kBestThreads / 32];
  __shared__ Extreme own;
  const uint64_t r = blockIdx.x / problem.plan.parts;
  const Share share = {blockIdx.x % problem.plan.parts, problem.plan.parts};
  const bool want_index = problem.output.indices != nullptr;
  Extreme result = block_extreme<kBestThreads>(problem.in + r * problem.row_stride, problem.columns, problem.codec,
                                               share, want_index, warps);
  if (problem.plan.cluster) {
    result = cluster_earliest(own, result, share);
    if (share.number != 0) return;
  } else if (share.of > 1) {
    Extreme *const extremes = problem.extremes + r * share.of;
    if (threadIdx.x == 0) extremes[share.number] = result;
    if (!is_last_block(problem.counters + r, share.of)) return;
    if (threadIdx.x == 0) problem.counters[r] = 0;
    result = block_earliest<kBestThreads>(extremes, share.of, warps);
  }
  if (threadIdx.x == 0) problem.put(r, static_cast<U>(result.key), result.index);
}

// Rows with offsets that are on the lists to be taken: a block a row of those on the last, which are longest, and of
// others of more than 1,024 elements where there are few; else a warp a row.
template <class U>
__global__ void __launch_bounds__(kBestThreads, kBestBlocks)
    topk_best_listed_kernel(const __grid_constant__ BestProblem<U> problem, const __grid_constant__ Ragged ragged) {
  if constexpr (!kClustersHere) return;
  constexpr uint32_t kWarps = kBestThreads / 32;
  __shared__ uint64_t warps[kWarps];
  begin_beside(ragged);
  const ListRange lists = ragged.taken;
  const bool want_index = problem.output.indices != nullptr;
  const uint32_t all = rows_on_lists(ragged, lists.first, lists.last);
  uint32_t by_blocks = rows_on_lists(ragged, lists.last, lists.last);
  const uint32_t others = rows_on_lists(ragged, max(lists.first, uint32_t{kListTo2048}), lists.last - 1);
  if (others < gridDim.x * kWarps) by_blocks += others;
  for (uint32_t i = blockIdx.x; i < by_blocks; i += gridDim.x) {
    const uint64_t r = row_on_lists(ragged, lists.first, lists.last, i), begin = ragged.offsets[r];
    const Extreme best = block_extreme<kBestThreads>(problem.in + begin, ragged.offsets[r + 1] - begin, problem.codec,
                                                     {0, 1}, want_index, warps);
    if (threadIdx.x == 0) problem.put(r, static_cast<U>(best.key), best.index);
  }
  for (uint32_t i = by_blocks + blockIdx.x * kWarps + threadIdx.x / 32; i < all; i += gridDim.x * kWarps) {
    const uint64_t r = row_on_lists(ragged, lists.first, lists.last, i), begin = ragged.offsets[r];
    best_by_warp(problem, r, problem.in + begin, static_cast<uint32_t>(ragged.offsets[r + 1] - begin));
  }
  end_beside(ragged);
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_BEST_CUH_
