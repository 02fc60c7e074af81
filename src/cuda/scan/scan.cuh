// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_scan of floats, and of few integers, in one pass, a block a tile.
//
// Forward progress: a tile's number is a ticket drawn when its block already runs, and a block waits only for tiles of
// lower numbers, which run or are done; the lowest unfinished tile waits for nobody. The blocks of a cluster all run.
#ifndef GSORT_CUDA_SCAN_SCAN_CUH_
#define GSORT_CUDA_SCAN_SCAN_CUH_

#include <cstdint>

#include "core/scan_order.h"
#include "cuda/primitive/cluster.cuh"
#include "cuda/scan/lookback.cuh"
#include "cuda/scan/plan.h"
#include "cuda/scan/tile.cuh"
#include "cuda/scan/vector.cuh"

namespace gsort_internal::scan {

// Sums up the chunk from the left: keep(i, sum) gets the running sum of each element. Returns the last.
template <class Element, class Row, class Keep>
__device__ __forceinline__ typename Element::Sum sum_up_chunk(const Row &row, Keep keep) {
  auto sum = empty_sum<typename Element::Sum>();
  typename Row::Chunk chunk;
  row.read_chunk(chunk, Element::kIdentity);
#pragma unroll
  for (uint32_t k = 0; k < Row::kChunkVectors; ++k)
#pragma unroll
    for (uint32_t e = 0; e < Row::kVectorElements; ++e) {
      sum = scan_add(sum, Element::widen(vector_element<typename Element::Bits>(chunk[k], e)));
      keep(k * Row::kVectorElements + e, sum);
    }
  return sum;
}

template <class Element, class Row>
__device__ __forceinline__ typename Element::Sum chunk_total(const Row &row) {
  return sum_up_chunk<Element>(row, [](uint32_t, typename Element::Sum) {});
}

// The chunk's running sums, where registers keep them between the two looks at a chunk.
template <class Sum>
struct ChunkSums {
  Sum sum[kScanChunkItems];
};

// Scans the row's chunks, of which the lane's has the total `own`, and leaves the row's sums; returns what comes before
// the lane's chunk in the row.
template <class Sum>
__device__ __forceinline__ Sum sum_up_row(Sum own, RowSums<Sum> &sums, bool exclusive) {
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const Sum chunks = scan_lanes(own, kScanRowChunks, lane);
  const Sum before = lane_before(chunks, lane);
  if (lane == kScanRowChunks - 1) sums.total[warp] = chunks;
  if (exclusive && lane == kScanRowChunks - 1) sums.chunks[warp] = before, sums.chunk[warp] = own;
  return before;
}

// Replaces the chunk by its results; `prefix` is the chunk's.
template <class Element, class Row>
__device__ __forceinline__ void replace_chunk(typename Row::Chunk &chunk, typename Element::Sum prefix) {
  using Bits = typename Element::Bits;
  auto sum = empty_sum<typename Element::Sum>();
#pragma unroll
  for (uint32_t k = 0; k < Row::kChunkVectors; ++k) {
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t e = 0; e < Row::kVectorElements; ++e) {
      sum = scan_add(sum, Element::widen(vector_element<Bits>(chunk[k], e)));
      put_element(words, e, Element::narrow(scan_add(prefix, sum)));
    }
    chunk[k] = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

// The same of the sums that were kept.
template <class Element, class Row>
__device__ __forceinline__ void make_results(typename Row::Chunk &chunk, const ChunkSums<typename Element::Sum> &sums,
                                             typename Element::Sum prefix) {
#pragma unroll
  for (uint32_t k = 0; k < Row::kChunkVectors; ++k) {
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t e = 0; e < Row::kVectorElements; ++e)
      put_element(words, e, Element::narrow(scan_add(prefix, sums.sum[k * Row::kVectorElements + e])));
    chunk[k] = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

// Moves the row's results one element on, for exclusive scans; `before` comes first.
template <class Bits, class Row>
__device__ __forceinline__ void shift_chunk(typename Row::Chunk &chunk, Bits before) {
  constexpr uint32_t kWords = Row::kChunkVectors * 4;
  uint32_t words[kWords];
#pragma unroll
  for (uint32_t k = 0; k < Row::kChunkVectors; ++k) {
    words[4 * k] = chunk[k].x, words[4 * k + 1] = chunk[k].y;
    words[4 * k + 2] = chunk[k].z, words[4 * k + 3] = chunk[k].w;
  }
  // The last element of the lane before.
  Bits first;
  const uint32_t low = __shfl_up_sync(kFullWarp, words[kWords - (sizeof(Bits) == 8 ? 2 : 1)], 1);
  if constexpr (sizeof(Bits) == 8)
    first = low | static_cast<uint64_t>(__shfl_up_sync(kFullWarp, words[kWords - 1], 1)) << 32;
  else
    first = static_cast<Bits>(low >> (32 - sizeof(Bits) * 8));
  if ((threadIdx.x & 31) == 0) first = before;
  shift_elements<Bits>(words, first);
#pragma unroll
  for (uint32_t k = 0; k < Row::kChunkVectors; ++k)
    chunk[k] = make_uint4(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]);
}

// Stores the row's results, of which `chunk` has the lane's; exclusive scans begin with before().
template <class Bits, class Row, class Before>
__device__ __forceinline__ void store_row(Row &row, typename Row::Chunk &chunk, bool exclusive, Before before) {
  if (exclusive) shift_chunk<Bits, Row>(chunk, before());
  row.write_chunk(chunk);
  row.store();
}

// Makes the row's results and stores them. `prefix` is the lane's chunk's.
template <class Element, class Row, class Before>
__device__ __forceinline__ void finish_row(Row &row, typename Element::Sum prefix, bool exclusive, Before before) {
  typename Row::Chunk chunk;
  row.read_chunk(chunk, Element::kIdentity);
  replace_chunk<Element, Row>(chunk, prefix);
  store_row<typename Element::Bits>(row, chunk, exclusive, before);
}

// The same a vector at a time, for elements of which registers do not hold a chunk.
template <class Element, class Row, class Before>
__device__ __forceinline__ void finish_row_by_vectors(Row &row, typename Element::Sum prefix, bool exclusive,
                                                      Before before) {
  using Bits = typename Element::Bits;
  auto sum = empty_sum<typename Element::Sum>();
#pragma unroll
  for (uint32_t k = 0; k < Row::kChunkVectors; ++k) {
    uint4 &vector = row.chunk_vector(k);
    const uint4 elements = vector;
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t e = 0; e < Row::kVectorElements; ++e) {
      sum = scan_add(sum, Element::widen(vector_element<Bits>(elements, e)));
      put_element(words, e, Element::narrow(scan_add(prefix, sum)));
    }
    vector = make_uint4(words[0], words[1], words[2], words[3]);
  }
  if (exclusive)
    row.store_behind(before());
  else
    row.store();
}

// The row of a warp of the tile; an empty one past the last tile.
template <class Row>
__device__ __forceinline__ Row row_of_tile(const Arguments &args, uint64_t tile, uint32_t warp, uint4 *staging) {
  const uint64_t begin = tile * kScanTileItems + warp * kScanRowItems;
  const uint64_t left = begin < args.n ? args.n - begin : 0;
  return Row(staging + warp * (kScanRowItems / Row::kVectorElements), args.in, args.out, begin,
             static_cast<uint32_t>(left < kScanRowItems ? left : kScanRowItems));
}

// What warp 0 finds out for a tile's rows.
template <class Element>
struct RowStarts {
  typename Element::Sum prefix[kScanTileRows];
  typename Element::Bits before[kScanTileRows];  // exclusive scans: the result of the element before the row
};

// What the tiles of a cluster send this one's block.
struct Inbox {
  uint64_t totals[FloatTuning::kClusterTilesMax];  // of the tiles before
  uint64_t end[kTileEndWords];                     // of the tile just before
  ClusterCount come;

  // Thread 0.
  __device__ __forceinline__ void open(uint32_t tile) {
    come.open();
    come.expect(tile == 0 ? 0 : (tile + kTileEndWords) * sizeof(uint64_t));
  }
};

// Warp 0 tells the tiles behind. All blocks run.
template <class Sum>
__device__ __forceinline__ void tell_cluster(uint32_t tile, const Rows<Sum> &rows, const RowSums<Sum> &sums,
                                             Inbox &inbox) {
  constexpr uint32_t kLast = kScanTileRows - 1;
  const uint32_t lane = threadIdx.x & 31;
  const Sum rows_before = __shfl_sync(kFullWarp, rows.before, kLast);
  if (lane > tile && lane < gridDim.x) inbox.come.send(&inbox.totals[tile], lane, bits_of_sum(rows.total));
  if (lane != tile + 1 || lane >= gridDim.x) return;
  inbox.come.send(&inbox.end[0], lane, bits_of_sum(rows_before));
  inbox.come.send(&inbox.end[1], lane, bits_of_sum(sums.chunks[kLast]));
  inbox.come.send(&inbox.end[2], lane, bits_of_sum(sums.chunk[kLast]));
}

// The tile's prefix, as look_back() finds it: the first group's first run begins with nothing before it.
template <class Sum>
__device__ __forceinline__ Prefixes<Sum> prefixes_in_cluster(uint32_t tile, const Inbox &inbox) {
  Prefixes<Sum> prefixes{empty_sum<Sum>(), empty_sum<Sum>()};
#pragma unroll
  for (uint32_t t = 0; t < FloatTuning::kClusterTilesMax; ++t) {
    if (t >= tile) continue;
    prefixes.of_tile_before = prefixes.own;
    prefixes.own = scan_add(prefixes.own, sum_of_bits<Sum>(inbox.totals[t]));
  }
  return prefixes;
}

// What comes before the tile, and, of exclusive scans, the result before it, not yet rounded. A warp together.
template <class Element>
struct TileStart {
  using Sum = typename Element::Sum;
  Prefixes<Sum> prefixes{empty_sum<Sum>(), empty_sum<Sum>()};
  Sum result_before = 0;

  __device__ __forceinline__ void tell_in_cluster(uint32_t tile, const Inbox &inbox) {
    prefixes = prefixes_in_cluster<Sum>(tile, inbox);
    if (tile == 0) return;
    const TileEnd<Sum> end = {sum_of_bits<Sum>(inbox.end[0]), sum_of_bits<Sum>(inbox.end[1]),
                              sum_of_bits<Sum>(inbox.end[2])};
    result_before = result_of_end(prefixes.of_tile_before, end);
  }
  __device__ __forceinline__ void look_for(const Arguments &args, uint64_t tile, const Rows<Sum> &rows) {
    if constexpr (!kInClustersAlone<Element>) {
      if (!args.one_tile) prefixes = look_back(args, tile, rows.total, true);
      if (args.exclusive) result_before = result_before_tile(args, tile, prefixes.of_tile_before);
    }
  }
};

// A warp together.
template <class Element>
__device__ __forceinline__ void start_rows(const Arguments &args, uint64_t tile,
                                           const RowSums<typename Element::Sum> &sums,
                                           const Rows<typename Element::Sum> &rows, const Inbox &inbox,
                                           RowStarts<Element> &starts) {
  const uint32_t lane = threadIdx.x & 31, row = lane % kScanTileRows;
  TileStart<Element> start;
  if (args.in_cluster())
    start.tell_in_cluster(static_cast<uint32_t>(tile), inbox);
  else
    start.look_for(args, tile, rows);
  const auto prefix = scan_add(start.prefixes.own, rows.before);
  if (lane < kScanTileRows) starts.prefix[row] = prefix;
  if (!args.exclusive) return;
  const auto before_row = __shfl_up_sync(kFullWarp, row_end(prefix, sums, row), 1);
  if (lane < kScanTileRows) starts.before[row] = Element::narrow(lane == 0 ? start.result_before : before_row);
}

// Blocks a multiprocessor that registers must leave room for: as many as shared memory has room for of 8-byte elements.
// Where sums are kept there is one block on each.
template <bool Staged, bool Kept>
constexpr uint32_t kBlocks = !Staged || Kept ? 1 : 3;

// As plans ask.
template <class Element>
constexpr uint32_t kStagedBytes =
    FloatTuning::staging_bytes(sizeof(typename Element::Bits)) + FloatTuning::kOtherSharedBytes;

// Stores what a row becomes: of the sums that its threads have kept, or by reading its chunks once more.
template <class Element, bool Staged, bool Kept, class Row, class Before>
__device__ __forceinline__ void store_results(Row &row, ChunkSums<typename Element::Sum> &kept,
                                              typename Element::Sum prefix, bool exclusive, const Before &before) {
  if constexpr (Kept) {
    typename Row::Chunk chunk;
    make_results<Element, Row>(chunk, kept, prefix);
    store_row<typename Element::Bits>(row, chunk, exclusive, before);
  } else if constexpr (Staged && sizeof(typename Element::Bits) == 8) {
    finish_row_by_vectors<Element>(row, prefix, exclusive, before);
  } else {
    finish_row<Element>(row, prefix, exclusive, before);
  }
}

// Which tile is this block's: of those of one cluster the one of its number, else the next that no block has drawn.
template <bool Kept>
__device__ __forceinline__ uint64_t take_tile(const Arguments &args, Inbox &inbox, uint32_t &ticket) {
  if constexpr (Kept) {
    if (args.in_cluster() && threadIdx.x == 0) inbox.open(blockIdx.x);
    if (args.in_cluster()) cluster_arrive_only();
    return blockIdx.x;
  } else {
    if (threadIdx.x == 0) ticket = atomicAdd(args.tickets, 1u) + 1u;
    __syncthreads();
    return ticket;
  }
}

// Kept: for one tile, or those of one cluster, whose threads keep the sums of their chunks.
template <class Element, bool Staged, bool Kept>
__global__ void __launch_bounds__(FloatTuning::kThreads, blocks_here(FloatTuning::kThreads, kBlocks<Staged, Kept>))
    scan_kernel(const Arguments args) {
  using Sum = typename Element::Sum;
  if constexpr (kInClustersAlone<Element> && !kClustersHere) return;
  if constexpr (Staged && !kFitsHere<kStagedBytes<Element>>) return;
  using Row = RowState<typename Element::Bits, Staged>;
  extern __shared__ uint4 staging[];
  __shared__ RowSums<Sum> sums;
  __shared__ RowStarts<Element> starts;
  __shared__ Inbox inbox;
  __shared__ uint32_t ticket;
  const uint32_t warp = threadIdx.x / 32;
  const uint64_t tile = take_tile<Kept>(args, inbox, ticket);
  Row row = row_of_tile<Row>(args, tile, warp, staging);
  row.load(Element::kIdentity);
  ChunkSums<Sum> kept;
  const Sum total = sum_up_chunk<Element>(row, [&](uint32_t i, Sum sum) {
    if constexpr (Kept) kept.sum[i] = sum;
  });
  const Sum chunk_before = sum_up_row(total, sums, args.exclusive);
  __syncthreads();
  const Rows<Sum> rows = warp == 0 ? scan_rows(sums) : Rows<Sum>{};
  if (Kept && args.in_cluster()) {
    cluster_wait();  // all blocks run
    if (warp == 0) {
      tell_cluster(static_cast<uint32_t>(tile), rows, sums, inbox);
      inbox.come.wait(0);
    }
  } else if (warp == 0) {
    if constexpr (!kInClustersAlone<Element>) publish_rows(args, tile, rows, sums, args.exclusive);
    __syncwarp();
  }
  if (warp == 0) start_rows<Element>(args, tile, sums, rows, inbox, starts);
  __syncthreads();
  const Sum prefix = scan_add(starts.prefix[warp], chunk_before);
  store_results<Element, Staged, Kept>(row, kept, prefix, args.exclusive, [&] { return starts.before[warp]; });
}

}  // namespace gsort_internal::scan

#endif  // GSORT_CUDA_SCAN_SCAN_CUH_
