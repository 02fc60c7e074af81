// SPDX-License-Identifier: MIT OR Apache-2.0
// What comes before a tile of floats. Each tile publishes its total; a tile's prefix comes from the totals before it in
// its group, which depend on no other tile, and from the group's prefix, which the last tile of the group before
// publishes. Every addition is one that core/scan_order.h names, so the result does not depend on which block comes
// when.
#ifndef GSORT_CUDA_SCAN_LOOKBACK_CUH_
#define GSORT_CUDA_SCAN_LOOKBACK_CUH_

#include <cstdint>

#include "core/scan_order.h"
#include "cuda/primitive/architecture.h"
#include "cuda/scan/element.cuh"
#include "cuda/scan/mailbox.cuh"
#include "cuda/scan/plan.h"

namespace gsort_internal::scan {

struct Arguments {
  const void *in;
  void *out;
  uint64_t n;
  // All words empty (kEmpty) before the launch. Kernels that keep their sums touch none.
  uint32_t *tickets;  // starts at 2^32 - 1, so that the first ticket is 0
  Mailbox<double> tile_totals;
  Mailbox<double> group_prefixes;  // of groups 1, 2, ..., and of group 0 if something comes before it
  // Exclusive scans: what makes a tile's last result out of its prefix, three slots a tile (TileEnd).
  Mailbox<double> tile_ends;
  bool one_tile;
  bool cluster;  // all tiles are of one cluster, in order
  bool exclusive;
  bool continues;  // something comes before group 0

  __device__ __forceinline__ bool in_cluster() const { return kClustersHere && cluster; }
};

// The last result of a tile is ((its prefix + rows) + chunks) + chunk, each of which is known with the tile's total. So
// the next tile computes it by itself, and need not wait until it has been written.
template <class Sum>
struct TileEnd {
  Sum rows;    // the tile's scan at its last row but one
  Sum chunks;  // the last row's scan at its last chunk but one
  Sum chunk;   // the last chunk's total
  static constexpr uint32_t kSlots = kTileEndWords;
};

// What the warps of the rows leave in shared memory.
template <class Sum>
struct RowSums {
  Sum total[kScanTileRows];
  Sum chunks[kScanTileRows];  // the row's scan at its last chunk but one
  Sum chunk[kScanTileRows];   // the last chunk's total
};

// What a lane adds to the look-back: sums, from the left, of the totals of its run that come before the tile, and the
// group's prefix.
struct Run {
  double before;
  double before_last;  // without the last of these totals
  double group_prefix;
};

// Waits until the first `count` totals of the lane's run and the group's prefix are there.
__device__ __forceinline__ Run wait_for_run(const Arguments &args, uint64_t group, uint32_t count) {
  // A lane without totals to wait for reads those of the first run, which every tile's group has.
  const uint64_t first = group * kScanGroupTiles + (count != 0 ? threadIdx.x & 31 : 0) * kScanRunTiles;
  Run run{empty_sum<double>(), empty_sum<double>(), empty_sum<double>()};
  double totals[kScanRunTiles], prefix;
  // Both go out before either is looked at. What is there is not read again: polling costs the L2 cache's time.
  bool has_totals = args.tile_totals.fetch_run(first, count, totals);
  const bool is_first = group == 0 && !args.continues;
  bool has_prefix = args.group_prefixes.fetch(group, prefix) || is_first;
  while (!has_totals || !has_prefix) {
    if (!has_totals) has_totals = args.tile_totals.fetch_run(first, count, totals);
    if (!has_prefix) has_prefix = args.group_prefixes.fetch(group, prefix);
  }
  if (!is_first) run.group_prefix = prefix;
#pragma unroll
  for (uint32_t j = 0; j < kScanRunTiles; ++j) {
    if (j >= count) continue;
    run.before_last = run.before;
    run.before = scan_add(run.before, totals[j]);
  }
  return run;
}

template <class Sum>
struct Prefixes {
  Sum own;
  Sum of_tile_before;  // meaningless for the first tile of a group
};

// A warp together; in all lanes. The totals up to the tile's have been published or are about to be by blocks that run.
__device__ __forceinline__ Prefixes<double> look_back(const Arguments &args, uint64_t tile, double tile_total,
                                                      bool publishes) {
  const uint32_t lane = threadIdx.x & 31;
  const uint64_t group = tile / kScanGroupTiles;
  const uint32_t number = static_cast<uint32_t>(tile % kScanGroupTiles), run = number / kScanRunTiles;
  const uint32_t count = lane < run ? kScanRunTiles : lane == run ? number % kScanRunTiles : 0;
  const Run own = wait_for_run(args, group, count);
  __syncwarp();
  const bool last_of_group = publishes && number == kScanGroupTiles - 1;
  const double run_total = last_of_group && lane == run ? scan_add(own.before, tile_total) : own.before;
  const double runs = scan_lanes(run_total, kScanGroupRuns, lane);
  if (last_of_group && lane == kScanGroupRuns - 1)
    args.group_prefixes.publish(group + 1, scan_add(own.group_prefix, runs));
  const double runs_before = lane_before(runs, lane);
  const int own_lane = static_cast<int>(run),
            lane_of_before = static_cast<int>(number == 0 ? 0 : (number - 1) / kScanRunTiles);
  const double prefix = scan_add(own.group_prefix, scan_add(runs_before, own.before));
  const double prefix_before = scan_add(own.group_prefix, scan_add(runs_before, own.before_last));
  return {__shfl_sync(kFullWarp, prefix, own_lane), __shfl_sync(kFullWarp, prefix_before, lane_of_before)};
}

// The last result of a tile, before it is rounded.
template <class Sum>
__device__ __forceinline__ Sum result_of_end(Sum prefix, const TileEnd<Sum> &end) {
  return scan_add(scan_add(scan_add(prefix, end.rows), end.chunks), end.chunk);
}

// The result of the last element of the tile before, not yet rounded; +0 for the first tile. A warp together.
__device__ __forceinline__ double result_before_tile(const Arguments &args, uint64_t tile, double prefix_before) {
  if (tile == 0) return 0.0;
  if (tile % kScanGroupTiles == 0) prefix_before = look_back(args, tile - 1, 0.0, false).own;
  const uint64_t slot = (tile - 1) * TileEnd<double>::kSlots;
  TileEnd<double> end;
  while (!args.tile_ends.fetch(slot, end.rows)) {
  }
  while (!args.tile_ends.fetch(slot + 1, end.chunks)) {
  }
  while (!args.tile_ends.fetch(slot + 2, end.chunk)) {
  }
  return result_of_end(prefix_before, end);
}

// A tile's rows, one a lane.
template <class Sum>
struct Rows {
  Sum before;  // the row's
  Sum total;   // the tile's
};

// A warp together.
template <class Sum>
__device__ __forceinline__ Rows<Sum> scan_rows(const RowSums<Sum> &sums) {
  const uint32_t lane = threadIdx.x & 31;
  const Sum own = lane < kScanTileRows ? sums.total[lane] : empty_sum<Sum>();
  const Sum rows = scan_lanes(own, kScanTileRows, lane);
  return {lane_before(rows, lane), __shfl_sync(kFullWarp, rows, kScanTileRows - 1)};
}

// A warp together: publishes what other tiles need to know of this one.
__device__ __forceinline__ void publish_rows(const Arguments &args, uint64_t tile, const Rows<double> &rows,
                                             const RowSums<double> &sums, bool exclusive) {
  constexpr uint32_t kLast = kScanTileRows - 1;
  if (args.one_tile || (threadIdx.x & 31) != kLast) return;
  args.tile_totals.publish(tile, rows.total);
  if (!exclusive) return;
  const uint64_t slot = tile * TileEnd<double>::kSlots;
  args.tile_ends.publish(slot, rows.before);
  args.tile_ends.publish(slot + 1, sums.chunks[kLast]);
  args.tile_ends.publish(slot + 2, sums.chunk[kLast]);
}

// The last result of a row, not yet rounded.
template <class Sum>
__device__ __forceinline__ Sum row_end(Sum prefix, const RowSums<Sum> &sums, uint32_t row) {
  return scan_add(scan_add(prefix, sums.chunks[row]), sums.chunk[row]);
}

}  // namespace gsort_internal::scan

#endif  // GSORT_CUDA_SCAN_LOOKBACK_CUH_
