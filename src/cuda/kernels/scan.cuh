// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_scan in one pass. Each tile publishes its total; a tile's prefix comes from the totals before it in its group,
// which depend on no other tile, and from the group's prefix, which the last tile of the group before publishes. Every
// addition of floats is one that core/scan_order.h names, so the result does not depend on which block comes when.
// Integers take the same way.
//
// Forward progress: a tile's number is a ticket drawn when its block already runs, and a block waits only for tiles of
// lower numbers, which run or are done; the lowest unfinished tile waits for nobody.
#ifndef GSORT_CUDA_KERNELS_SCAN_CUH_
#define GSORT_CUDA_KERNELS_SCAN_CUH_

#include <cstdint>

#include "core/scan_order.h"
#include "cuda/kernels/scan_element.cuh"
#include "cuda/kernels/scan_tile.cuh"
#include "plan/scan_plan.h"

namespace gsort_internal {

template <class Sum>
struct ScanArguments {
  const void *in;
  void *out;
  uint64_t n;
  // All words empty (kScanEmpty) before the launch; none is touched if there is one tile.
  uint32_t *tickets;  // starts at 2^32 - 1, so that the first ticket is 0
  ScanMailbox<Sum> tile_totals;
  ScanMailbox<Sum> group_prefixes;  // of groups 1, 2, ...
  uint64_t *last_results;           // bits of each tile's last result, for exclusive scans of floats
  bool one_tile;
  bool exclusive;
};

// Kogge and Stone's inclusive scan of the first `width` lanes.
template <class Sum>
__device__ __forceinline__ Sum scan_lanes(Sum value, uint32_t width, uint32_t lane) {
#pragma unroll
  for (uint32_t d = 1; d < width; d *= 2) {
    const Sum before = __shfl_up_sync(0xffffffffu, value, d);
    if (lane >= d) value = scan_add(before, value);
  }
  return value;
}

// The value of the lane before, the empty term in lane 0.
template <class Sum>
__device__ __forceinline__ Sum lane_before(Sum value, uint32_t lane) {
  const Sum before = __shfl_up_sync(0xffffffffu, value, 1);
  return lane == 0 ? scan_zero<Sum>() : before;
}

// What a lane adds to the look-back: the sum, from the left, of the totals of its run that come before the tile, and
// the group's prefix. Waits until they are there.
template <class Sum>
struct ScanRun {
  Sum before;
  Sum group_prefix;
};

template <class Sum>
__device__ __forceinline__ ScanRun<Sum> wait_for_run(const ScanArguments<Sum> &args, uint64_t group, uint32_t count) {
  // A lane without totals to wait for reads those of the first run, which every tile's group has.
  const uint64_t first = group * kScanGroupTiles + (count != 0 ? threadIdx.x & 31 : 0) * kScanRunTiles;
  ScanRun<Sum> run{scan_zero<Sum>(), scan_zero<Sum>()};
  Sum totals[kScanRunTiles], prefix;
  // Both go out before either is looked at. What is there is not read again: polling costs the L2 cache's time.
  bool has_totals = args.tile_totals.fetch_run(first, count, totals);
  bool has_prefix = args.group_prefixes.fetch(group, prefix) || group == 0;
  while (!has_totals || !has_prefix) {
    if (!has_totals) has_totals = args.tile_totals.fetch_run(first, count, totals);
    if (!has_prefix) has_prefix = args.group_prefixes.fetch(group, prefix);
  }
  if (group != 0) run.group_prefix = prefix;
#pragma unroll
  for (uint32_t j = 0; j < kScanRunTiles; ++j)
    if (j < count) run.before = scan_add(run.before, totals[j]);
  return run;
}

// Warp 0: the tile's prefix, in all lanes. The tile's total has been published.
template <class Sum>
__device__ __forceinline__ Sum look_back(const ScanArguments<Sum> &args, uint64_t tile, Sum tile_total) {
  const uint32_t lane = threadIdx.x & 31;
  const uint64_t group = tile / kScanGroupTiles;
  const uint32_t place = static_cast<uint32_t>(tile % kScanGroupTiles), run = place / kScanRunTiles;
  const uint32_t count = lane < run ? kScanRunTiles : lane == run ? place % kScanRunTiles : 0;
  const ScanRun<Sum> own = wait_for_run(args, group, count);
  __syncwarp();
  const bool last_of_group = place == kScanGroupTiles - 1;
  const Sum run_total = last_of_group && lane == run ? scan_add(own.before, tile_total) : own.before;
  const Sum runs = scan_lanes(run_total, kScanGroupRuns, lane);
  if (last_of_group && lane == kScanGroupRuns - 1)
    args.group_prefixes.publish(group + 1, scan_add(own.group_prefix, runs));
  const Sum run_before = __shfl_sync(0xffffffffu, lane_before(runs, lane), static_cast<int>(run));
  const Sum in_run = __shfl_sync(0xffffffffu, own.before, static_cast<int>(run));
  return scan_add(own.group_prefix, scan_add(run_before, in_run));
}

template <class Element>
struct ScanShared {
  using Sum = typename Element::Sum;
  Sum row_totals[2][kScanTileRows];  // the pipeline uses them by turns
  Sum tile_prefix;
  uint64_t tile;
  typename Element::Bits row_last[kScanTileRows];
};

// A barrier of the warps of the rows.
__device__ __forceinline__ void rows_sync() { asm volatile("bar.sync 1, %0;" ::"n"(ScanTuning::kThreads) : "memory"); }

// Barriers of all warps of the pipeline. Its two kinds of warps reach them in different places of the code, as PTX
// allows: only the threads of one warp must be at the same instruction. compute-sanitizer's synccheck reports this
// pattern all the same ("divergent threads in block").
__device__ __forceinline__ void pipeline_sync() {
  asm volatile("bar.sync 2, %0;" ::"n"(ScanTuning::kPipelineThreads) : "memory");
}
__device__ __forceinline__ void sum_up_sync() {  // the one inside sum_up()
  asm volatile("bar.sync 3, %0;" ::"n"(ScanTuning::kPipelineThreads) : "memory");
}

// The chunk's total, from the left.
template <class Element, class Row>
__device__ __forceinline__ typename Element::Sum chunk_total(const Row &row) {
  typename Element::Sum sum = scan_zero<typename Element::Sum>();
  typename Row::Chunk chunk;
  row.read_chunk(chunk, Element::kIdentity);
#pragma unroll
  for (uint32_t k = 0; k < Row::kChunkVectors; ++k)
#pragma unroll
    for (uint32_t e = 0; e < Row::kVectorElements; ++e)
      sum = scan_add(sum, Element::widen(vector_element<typename Element::Bits>(chunk[k], e)));
  return sum;
}

// Replaces the chunk by its results; `prefix` is the chunk's. Exclusive: each result goes one place on, `carried` goes
// first and becomes the last.
template <class Element, class Row>
__device__ __forceinline__ void replace_chunk(typename Row::Chunk &chunk, typename Element::Sum prefix, bool exclusive,
                                              typename Element::Bits &carried) {
  using Bits = typename Element::Bits;
  typename Element::Sum sum = scan_zero<typename Element::Sum>();
#pragma unroll
  for (uint32_t k = 0; k < Row::kChunkVectors; ++k) {
    uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t e = 0; e < Row::kVectorElements; ++e) {
      sum = scan_add(sum, Element::widen(vector_element<Bits>(chunk[k], e)));
      const Bits result = Element::narrow(scan_add(prefix, sum));
      put_element(words, e, exclusive ? carried : result);
      carried = result;
    }
    chunk[k] = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

// The result of the element before the chunk, for exclusive scans: the last result of the thread before. `last` is the
// chunk's own last result. The warps of the rows together.
template <class Element>
__device__ __forceinline__ typename Element::Bits result_before(const ScanArguments<typename Element::Sum> &args,
                                                                ScanShared<Element> &shared, uint64_t tile,
                                                                typename Element::Bits last) {
  using Bits = typename Element::Bits;
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  if (lane == 31) {
    shared.row_last[warp] = last;
    if (warp == kScanTileRows - 1 && !args.one_tile) store_relaxed(args.last_results + tile, last);
  }
  rows_sync();
  Bits before;
  if constexpr (sizeof(Bits) == 8)
    before = __shfl_up_sync(0xffffffffu, last, 1);
  else
    before = static_cast<Bits>(__shfl_up_sync(0xffffffffu, static_cast<uint32_t>(last), 1));
  if (lane != 0) return before;
  if (warp != 0) return shared.row_last[warp - 1];
  if (tile == 0) return Bits{0};
  // The tile before has published its total and needs no later tile to get to its last result.
  uint64_t word = kScanEmpty;
  while (word == kScanEmpty) word = load_relaxed(args.last_results + tile - 1);
  return static_cast<Bits>(word);
}

// Makes the lane's results. `prefix` is the chunk's.
template <class Element, class Row>
__device__ __forceinline__ void finish_chunk(const ScanArguments<typename Element::Sum> &args, Row &row,
                                             ScanShared<Element> &shared, uint64_t tile, typename Element::Sum prefix) {
  typename Element::Bits carried{0};
  if (args.exclusive) {
    // A float's chunk prefix is not the result before it, which was added up and rounded in another way.
    if constexpr (Element::kFloat)
      carried =
          result_before<Element>(args, shared, tile, Element::narrow(scan_add(prefix, chunk_total<Element>(row))));
    else
      carried = Element::narrow(prefix);
  }
  typename Row::Chunk chunk;
  row.read_chunk(chunk, Element::kIdentity);
  replace_chunk<Element, Row>(chunk, prefix, args.exclusive, carried);
  row.write_chunk(chunk);
}

// Blocks a multiprocessor that registers must leave room for: three, two of 8-byte elements.
template <class Element, bool Staged>
constexpr int kScanBlocks = !Staged                               ? 1
                            : sizeof(typename Element::Bits) == 8 ? 2
                                                                  : 3;

template <class Element, bool Staged>
__global__ void __launch_bounds__(ScanTuning::kThreads, (kScanBlocks<Element, Staged>))
    scan_kernel(const ScanArguments<typename Element::Sum> args) {
  using Sum = typename Element::Sum;
  using Row = ScanRow<typename Element::Bits, Staged>;
  extern __shared__ uint4 staging[];
  __shared__ ScanShared<Element> shared;
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) shared.tile = args.one_tile ? 0 : atomicAdd(args.tickets, 1u) + 1u;
  __syncthreads();
  const uint64_t tile = shared.tile;

  const uint64_t begin = tile * kScanTileItems + warp * kScanRowItems;
  const uint64_t left = begin < args.n ? args.n - begin : 0;
  Row row(staging + warp * (kScanRowItems / Row::kVectorElements), args.in, args.out, begin,
          static_cast<uint32_t>(left < kScanRowItems ? left : kScanRowItems));
  row.load(Element::kIdentity);
  const Sum chunks = scan_lanes(chunk_total<Element>(row), kScanRowChunks, lane);
  if (lane == 31) shared.row_totals[0][warp] = chunks;
  __syncthreads();

  Sum rows = scan_lanes(lane < kScanTileRows ? shared.row_totals[0][lane] : scan_zero<Sum>(), kScanTileRows, lane);
  if (warp == 0) {
    const Sum tile_total = __shfl_sync(0xffffffffu, rows, kScanTileRows - 1);
    if (lane == 0 && !args.one_tile) args.tile_totals.publish(tile, tile_total);
    const Sum prefix = args.one_tile ? scan_zero<Sum>() : look_back(args, tile, tile_total);
    if (lane == 0) shared.tile_prefix = prefix;
  }
  __syncthreads();
  const Sum row_before = __shfl_sync(0xffffffffu, lane_before(rows, lane), static_cast<int>(warp));
  const Sum row_prefix = scan_add(shared.tile_prefix, row_before);
  finish_chunk<Element>(args, row, shared, tile, scan_add(row_prefix, lane_before(chunks, lane)));
  row.store();
}

// The same for many tiles: a block keeps three of them in shared memory. While it finishes one, the next has its total
// published already, so that looking back hardly ever waits, and the one after is on its way from memory.
//
// Forward progress: a block's tiles have ascending numbers, and it finishes one before it waits for anything on behalf
// of the next. Before it publishes the next one's total it may wait for tiles below the one being finished only. Of the
// tiles being finished the one with the lowest number waits only for lower ones, all of which are done, because every
// tile drawn is finished or behind a lower one of its block's.
template <class Element>
class ScanPipeline {
 public:
  using Sum = typename Element::Sum;
  using Bits = typename Element::Bits;
  using Row = ScanRow<Bits, true>;

  struct Shared {
    ScanShared<Element> tile;
    // Of the tile being finished and of the one summed up, by turns.
    Sum row_before[2][kScanTileRows];
    Sum tile_total[2];
    Sum tile_prefix[2];
    uint32_t ticket[2];
  };

  __device__ __forceinline__ ScanPipeline(const ScanArguments<Sum> &args, uint4 *staging, Shared &shared)
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
    Sum chunk_before = sum_up(tile, buffer, turn);
    pipeline_sync();  // serve_prefixes() may begin
    while (tile < tiles) {
      const uint32_t next_buffer = buffer == 2 ? 0 : buffer + 1, after_buffer = next_buffer == 2 ? 0 : next_buffer + 1;
      __syncwarp();  // the lanes have read what they stored from this buffer
      row(after, after_buffer).load_begin(Element::kIdentity);
      const Sum next_chunk_before = sum_up(next, next_buffer, turn ^ 1);
      pipeline_sync();  // the prefix and a new ticket are there
      const Sum row_prefix = scan_add(shared_.tile_prefix[turn], shared_.row_before[turn][warp_]);
      const uint32_t drawn = shared_.ticket[turn];
      Row own = row(tile, buffer);
      finish_chunk<Element>(args_, own, shared_.tile, tile, scan_add(row_prefix, chunk_before));
      own.store();
      tile = next, next = after, after = drawn;
      buffer = next_buffer;
      turn ^= 1;
      chunk_before = next_chunk_before;
    }
    copy_async_wait<0>();
  }

  // The last warp: looks back for the tile that the others finish next and draws a ticket. By turns in two places, so
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
      const Sum prefix = look_back(args_, tile, shared_.tile_total[turn]);
      if (early) sum_up_sync();
      drawn = __shfl_sync(0xffffffffu, drawn, 0);
      if (lane_ == 0) shared_.tile_prefix[turn] = prefix, shared_.ticket[turn] = drawn;
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

  // The warp's row of a tile; an empty one past the last tile.
  __device__ __forceinline__ Row row(uint32_t tile, uint32_t buffer) const {
    const uint64_t begin = uint64_t{tile} * kScanTileItems + warp_ * kScanRowItems;
    const uint64_t left = begin < args_.n ? args_.n - begin : 0;
    return Row(staging_ + (buffer * kScanTileRows + warp_) * (kScanRowItems / Row::kVectorElements), args_.in,
               args_.out, begin, static_cast<uint32_t>(left < kScanRowItems ? left : kScanRowItems));
  }

  // Waits for the tile, the block's newest but one, and publishes its total. Leaves row_before and tile_total, and
  // returns what comes before the lane's chunk in its row. The warps of the rows together; sum_up_sync() once.
  __device__ __forceinline__ Sum sum_up(uint32_t tile, uint32_t buffer, uint32_t turn) {
    Row::template load_end<1>();
    const Sum chunks = scan_lanes(chunk_total<Element>(row(tile, buffer)), kScanRowChunks, lane_);
    if (lane_ == 31) shared_.tile.row_totals[turn][warp_] = chunks;
    sum_up_sync();
    const Sum rows = scan_lanes(lane_ < kScanTileRows ? shared_.tile.row_totals[turn][lane_] : scan_zero<Sum>(),
                                kScanTileRows, lane_);
    const Sum row_before = lane_before(rows, lane_);
    if (lane_ == warp_) shared_.row_before[turn][warp_] = row_before;
    if (warp_ == 0 && lane_ == kScanTileRows - 1) {
      shared_.tile_total[turn] = rows;
      if (uint64_t{tile} * kScanTileItems < args_.n) args_.tile_totals.publish(tile, rows);
    }
    __syncwarp();
    return lane_before(chunks, lane_);
  }

  const ScanArguments<Sum> &args_;
  uint4 *staging_;
  Shared &shared_;
  uint32_t lane_, warp_;
};

template <class Element>
__global__ void __launch_bounds__(ScanTuning::kPipelineThreads, ScanTuning::kPipelineBlocks)
    scan_pipeline_kernel(const ScanArguments<typename Element::Sum> args) {
  extern __shared__ uint4 staging[];
  __shared__ typename ScanPipeline<Element>::Shared shared;
  ScanPipeline<Element>(args, staging, shared).run();
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_SCAN_CUH_
