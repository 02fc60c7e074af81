// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_scan of floats in one pass, many tiles a block. A block keeps three tiles in shared memory: while it finishes
// one, the next has its total published already, so that looking back hardly ever waits, and the one after is on its
// way from memory.
//
// Forward progress: a block's tiles have ascending numbers, and it finishes one before it waits for anything on behalf
// of the next. Before it publishes the next one's total it may wait for tiles below the one being finished only. Of the
// tiles being finished the one with the lowest number waits only for lower ones, all of which are done, because every
// tile drawn is finished or behind a lower one of its block's.
#ifndef GSORT_CUDA_SCAN_PIPELINE_CUH_
#define GSORT_CUDA_SCAN_PIPELINE_CUH_

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/ptx.cuh"
#include "cuda/scan/scan.cuh"

namespace gsort_internal::scan {

// Barriers of all warps of the pipeline. Its two kinds of warps reach them at different points of the code, as PTX
// allows: only the threads of one warp must be at the same instruction. compute-sanitizer's synccheck reports this
// pattern all the same ("divergent threads in block").
__device__ __forceinline__ void pipeline_sync() { sync_threads<2, FloatTuning::kPipelineThreads>(); }
__device__ __forceinline__ void sum_up_sync() {  // the one inside sum_up()
  sync_threads<3, FloatTuning::kPipelineThreads>();
}

// Exclusive and inclusive scans have kernels of their own: there are no registers left.
template <class Element, bool Exclusive>
class Pipeline {
 public:
  using Bits = typename Element::Bits;
  using Row = RowState<Bits, true>;

  // Pairs: of the tile being finished and of the one summed up, by turns.
  struct Shared {
    RowSums<double> sums[2];
    double row_before[2][kScanTileRows];
    double tile_total[2];
    double tile_prefix[2];
    double result_before[2];  // exclusive scans: the last of the tile before, not rounded
    uint32_t ticket[2];
  };

  __device__ __forceinline__ Pipeline(const Arguments &args, uint4 *staging, Shared &shared)
      : args_(args), staging_(staging), shared_(shared), lane_(threadIdx.x & 31), warp_(threadIdx.x / 32) {}

  __device__ __forceinline__ void run() {
    uint32_t tile = draw_first(), next = draw_first(), after = draw_first();
    const uint32_t tiles = static_cast<uint32_t>((args_.n + kScanTileItems - 1) / kScanTileItems);
    if (warp_ == kScanTileRows)
      serve_prefixes(tile, next, after, tiles);
    else
      scan_tiles(tile, next, after, tiles);
  }

 private:
  // The warps of the rows.
  __device__ __forceinline__ void scan_tiles(uint32_t tile, uint32_t next, uint32_t after, uint32_t tiles) {
    row(tile, 0).load_begin(Element::kIdentity);
    row(next, 1).load_begin(Element::kIdentity);
    uint32_t buffer = 0, turn = 0;
    double chunk_before = sum_up(tile, buffer, turn);
    pipeline_sync();  // serve_prefixes() may begin
    while (tile < tiles) {
      const uint32_t next_buffer = buffer == 2 ? 0 : buffer + 1, after_buffer = next_buffer == 2 ? 0 : next_buffer + 1;
      __syncwarp();  // the lanes have read what they stored from this buffer
      row(after, after_buffer).load_begin(Element::kIdentity);
      const double next_chunk_before = sum_up(next, next_buffer, turn ^ 1);
      pipeline_sync();  // the prefix and a new ticket are there
      const double row_prefix = scan_add(shared_.tile_prefix[turn], shared_.row_before[turn][warp_]);
      const uint32_t drawn = shared_.ticket[turn];
      Row own = row(tile, buffer);
      finish_row<Element>(own, scan_add(row_prefix, chunk_before), Exclusive, [&] { return before_row(turn); });
      tile = next, next = after, after = drawn;
      buffer = next_buffer;
      turn ^= 1;
      chunk_before = next_chunk_before;
    }
    copy_async_wait<0>();
  }

  // The last warp: looks back for the tile that the others finish next and draws a ticket. By turns in two slots, so
  // that it writes the one while the others still read the other.
  __device__ __forceinline__ void serve_prefixes(uint32_t tile, uint32_t next, uint32_t after, uint32_t tiles) {
    uint32_t turn = 0;
    sum_up_sync();
    pipeline_sync();  // the first tile's total is there
    while (tile < tiles) {
      uint32_t drawn = 0;
      if (lane_ == 0) drawn = atomicAdd(args_.tickets, 1u) + 1u;
      // A group's last tile looks back at once, because all of the next group wait for it. The others wait until the
      // block has summed up its next tile: by then what they look for is there, and polling would slow the memory.
      const bool early = tile % kScanGroupTiles == kScanGroupTiles - 1;
      if (!early) sum_up_sync();
      const Prefixes<double> prefixes = look_back(args_, tile, shared_.tile_total[turn], true);
      double before = 0.0;
      if constexpr (Exclusive) before = result_before_tile(args_, tile, prefixes.of_tile_before);
      if (early) sum_up_sync();
      drawn = __shfl_sync(kFullWarp, drawn, 0);
      if (lane_ == 0)
        shared_.tile_prefix[turn] = prefixes.own, shared_.result_before[turn] = before, shared_.ticket[turn] = drawn;
      pipeline_sync();
      tile = next, next = after, after = drawn;
      turn ^= 1;
    }
  }

  __device__ __forceinline__ uint32_t draw_first() {
    if (threadIdx.x == 0) shared_.ticket[0] = atomicAdd(args_.tickets, 1u) + 1u;
    pipeline_sync();
    const uint32_t ticket = shared_.ticket[0];
    pipeline_sync();
    return ticket;
  }

  // Exclusive scans: the result of the element before the warp's row.
  __device__ __forceinline__ Bits before_row(uint32_t turn) const {
    if (warp_ == 0) return Element::narrow(shared_.result_before[turn]);
    const double prefix = scan_add(shared_.tile_prefix[turn], shared_.row_before[turn][warp_ - 1]);
    return Element::narrow(row_end(prefix, shared_.sums[turn], warp_ - 1));
  }

  // The warp's row of a tile; an empty one past the last tile.
  __device__ __forceinline__ Row row(uint32_t tile, uint32_t buffer) const {
    return row_of_tile<Row>(args_, tile, warp_, staging_ + buffer * (kScanTileItems / Row::kVectorElements));
  }

  // Waits for the tile, the block's newest but one, and publishes its total. Leaves row_before and tile_total, and
  // returns what comes before the lane's chunk in its row. The warps of the rows together; sum_up_sync() once.
  __device__ __forceinline__ double sum_up(uint32_t tile, uint32_t buffer, uint32_t turn) {
    Row::template load_end<1>();
    const double before = sum_up_row(chunk_total<Element>(row(tile, buffer)), shared_.sums[turn], Exclusive);
    sum_up_sync();
    const Rows<double> rows = scan_rows(shared_.sums[turn]);
    if (lane_ == warp_) shared_.row_before[turn][warp_] = rows.before;
    if (warp_ == 0) {
      if (lane_ == 0) shared_.tile_total[turn] = rows.total;
      if (uint64_t{tile} * kScanTileItems < args_.n) publish_rows(args_, tile, rows, shared_.sums[turn], Exclusive);
    }
    __syncwarp();
    return before;
  }

  const Arguments &args_;
  uint4 *staging_;
  Shared &shared_;
  uint32_t lane_, warp_;
};

// As plans ask.
template <class Element>
constexpr uint32_t kPipelineBytes =
    FloatTuning::kPipelineTiles * FloatTuning::staging_bytes(sizeof(typename Element::Bits)) +
    FloatTuning::kOtherSharedBytes;

template <class Element, bool Exclusive>
__global__ void __launch_bounds__(FloatTuning::kPipelineThreads,
                                  blocks_here(FloatTuning::kPipelineThreads, FloatTuning::kPipelineBlocks))
    scan_pipeline_kernel(const Arguments args) {
  if constexpr (!kFitsHere<kPipelineBytes<Element>>) return;
  extern __shared__ uint4 staging[];
  __shared__ typename Pipeline<Element, Exclusive>::Shared shared;
  Pipeline<Element, Exclusive>(args, staging, shared).run();
}

}  // namespace gsort_internal::scan

#endif  // GSORT_CUDA_SCAN_PIPELINE_CUH_
