// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_scan of floats in one pass, a block a tile.
//
// Forward progress: a tile's number is a ticket drawn when its block already runs, and a block waits only for tiles of
// lower numbers, which run or are done; the lowest unfinished tile waits for nobody.
#ifndef GSORT_CUDA_KERNELS_SCAN_CUH_
#define GSORT_CUDA_KERNELS_SCAN_CUH_

#include <cstdint>

#include "core/scan_order.h"
#include "cuda/kernels/scan_lookback.cuh"
#include "cuda/kernels/scan_tile.cuh"
#include "cuda/kernels/scan_vector.cuh"
#include "plan/scan_plan.h"

namespace gsort_internal {

// The chunk's total, from the left.
template <class Element, class Row>
__device__ __forceinline__ double chunk_total(const Row &row) {
  double sum = scan_zero<double>();
  typename Row::Chunk chunk;
  row.read_chunk(chunk, Element::kIdentity);
#pragma unroll
  for (uint32_t k = 0; k < Row::kChunkVectors; ++k)
#pragma unroll
    for (uint32_t e = 0; e < Row::kVectorElements; ++e)
      sum = scan_add(sum, Element::widen(vector_element<typename Element::Bits>(chunk[k], e)));
  return sum;
}

// Scans the row's chunks and leaves its sums; returns what comes before the lane's chunk in the row.
template <class Element, class Row>
__device__ __forceinline__ double sum_up_row(const Row &row, ScanRowSums &sums, bool exclusive) {
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const double own = chunk_total<Element>(row);
  const double chunks = scan_lanes(own, kScanRowChunks, lane);
  const double before = lane_before(chunks, lane);
  if (lane == kScanRowChunks - 1) sums.total[warp] = chunks;
  if (exclusive && lane == kScanRowChunks - 1) sums.chunks[warp] = before, sums.chunk[warp] = own;
  return before;
}

// Replaces the chunk by its results; `prefix` is the chunk's.
template <class Element, class Row>
__device__ __forceinline__ void replace_chunk(typename Row::Chunk &chunk, double prefix) {
  using Bits = typename Element::Bits;
  double sum = scan_zero<double>();
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
  const uint32_t low = __shfl_up_sync(0xffffffffu, words[kWords - (sizeof(Bits) == 8 ? 2 : 1)], 1);
  if constexpr (sizeof(Bits) == 8)
    first = low | static_cast<uint64_t>(__shfl_up_sync(0xffffffffu, words[kWords - 1], 1)) << 32;
  else
    first = static_cast<Bits>(low >> (32 - sizeof(Bits) * 8));
  if ((threadIdx.x & 31) == 0) first = before;
  shift_elements<Bits>(words, first);
#pragma unroll
  for (uint32_t k = 0; k < Row::kChunkVectors; ++k)
    chunk[k] = make_uint4(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3]);
}

// Makes the row's results and stores them. `prefix` is the lane's chunk's; exclusive scans begin with before().
template <class Element, class Row, class Before>
__device__ __forceinline__ void finish_row(Row &row, double prefix, bool exclusive, Before before) {
  typename Row::Chunk chunk;
  row.read_chunk(chunk, Element::kIdentity);
  replace_chunk<Element, Row>(chunk, prefix);
  if (exclusive) shift_chunk<typename Element::Bits, Row>(chunk, before());
  row.write_chunk(chunk);
  row.store();
}

// The row of a warp of the tile; an empty one past the last tile.
template <class Row>
__device__ __forceinline__ Row row_of_tile(const ScanArguments &args, uint64_t tile, uint32_t warp, uint4 *staging) {
  const uint64_t begin = tile * kScanTileItems + warp * kScanRowItems;
  const uint64_t left = begin < args.n ? args.n - begin : 0;
  return Row(staging + warp * (kScanRowItems / Row::kVectorElements), args.in, args.out, begin,
             static_cast<uint32_t>(left < kScanRowItems ? left : kScanRowItems));
}

// What warp 0 finds out for a tile's rows.
template <class Bits>
struct ScanRowStarts {
  double prefix[kScanTileRows];
  Bits before[kScanTileRows];  // exclusive scans: the result of the element before the row
};

// A warp together.
template <class Element>
__device__ __forceinline__ void start_rows(const ScanArguments &args, uint64_t tile, const ScanRowSums &sums,
                                           ScanRowStarts<typename Element::Bits> &starts) {
  const uint32_t lane = threadIdx.x & 31, row = lane % kScanTileRows;
  const ScanRows rows = scan_rows(sums);
  publish_rows(args, tile, rows, sums, args.exclusive);
  __syncwarp();
  ScanPrefixes prefixes{scan_zero<double>(), scan_zero<double>()};
  if (!args.one_tile) prefixes = look_back(args, tile, rows.total, true);
  const double prefix = scan_add(prefixes.own, rows.before);
  if (lane < kScanTileRows) starts.prefix[row] = prefix;
  if (!args.exclusive) return;
  const double before_tile = result_before_tile(args, tile, prefixes.of_tile_before);
  const double before_row = __shfl_up_sync(0xffffffffu, row_end(prefix, sums, row), 1);
  if (lane < kScanTileRows) starts.before[row] = Element::narrow(lane == 0 ? before_tile : before_row);
}

// Blocks a multiprocessor that registers must leave room for: three, two of 8-byte elements.
template <class Element, bool Staged>
constexpr int kScanBlocks = !Staged                               ? 1
                            : sizeof(typename Element::Bits) == 8 ? 2
                                                                  : 3;

template <class Element, bool Staged>
__global__ void __launch_bounds__(ScanTuning::kThreads, (kScanBlocks<Element, Staged>))
    scan_kernel(const ScanArguments args) {
  using Row = ScanRow<typename Element::Bits, Staged>;
  extern __shared__ uint4 staging[];
  __shared__ ScanRowSums sums;
  __shared__ ScanRowStarts<typename Element::Bits> starts;
  __shared__ uint32_t ticket;
  const uint32_t warp = threadIdx.x / 32;
  if (threadIdx.x == 0) ticket = args.one_tile ? 0 : atomicAdd(args.tickets, 1u) + 1u;
  __syncthreads();
  const uint64_t tile = ticket;
  Row row = row_of_tile<Row>(args, tile, warp, staging);
  row.load(Element::kIdentity);
  const double chunk_before = sum_up_row<Element>(row, sums, args.exclusive);
  __syncthreads();
  if (warp == 0) start_rows<Element>(args, tile, sums, starts);
  __syncthreads();
  finish_row<Element>(row, scan_add(starts.prefix[warp], chunk_before), args.exclusive,
                      [&] { return starts.before[warp]; });
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_SCAN_CUH_
