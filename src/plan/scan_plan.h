// SPDX-License-Identifier: MIT OR Apache-2.0
// How gsort_scan is spread over a GPU: the tiles and groups of core/scan_order.h, for integers too.
#ifndef GSORT_PLAN_SCAN_PLAN_H_
#define GSORT_PLAN_SCAN_PLAN_H_

#include <cstdint>

#include "core/dtype.h"
#include "core/scan_order.h"

namespace gsort_internal {

struct ScanTuning {
  // A warp takes a row, a thread a chunk: the order of additions leaves no other choice.
  static constexpr uint32_t kWarps = kScanTileRows;
  static constexpr uint32_t kThreads = kWarps * 32;
  // A tile waits in shared memory between its two passes over it, so that registers do not limit the blocks in flight.
  static constexpr uint32_t staging_bytes(uint32_t element_bytes) { return kScanTileItems * element_bytes; }
  // Tiles that a block of the pipeline holds: one being finished, one summed up, one arriving.
  static constexpr uint32_t kPipelineTiles = 3;
  // Beside the warps of the rows one that looks back while they sum up.
  static constexpr uint32_t kPipelineThreads = kThreads + 32;
  // Blocks of the pipeline on a multiprocessor. Two of 4-byte elements keep 64 KB on their way, which an H200's memory
  // needs. Shared memory would hold one block of 8-byte elements, which is slower than two or three without pipeline.
  static constexpr uint32_t kPipelineBlocks = 2;
  static constexpr uint32_t kPipelineElementBytesMax = 4;
  // The kernels' other variables in shared memory, and what the device keeps for itself.
  static constexpr uint32_t kOtherSharedBytes = 2048;
};

static_assert(kScanRowChunks == 32, "a row is a warp's");
static_assert(kScanTileRows <= 32 && kScanGroupRuns == 32, "warps scan row totals and run totals");
static_assert(ScanTuning::staging_bytes(4) <= 48 * 1024, "4-byte tiles fit every device without asking");

// How a tile gets from memory to its threads.
enum class ScanWay : uint32_t {
  kPipeline,  // blocks stay and fetch tiles ahead
  kStaged,    // a block a tile, through shared memory
  kDirect,    // the device's shared memory holds no tile: threads read global memory twice
};

struct ScanPlan {
  uint64_t tiles;
  uint64_t groups;
  uint32_t planes;  // 64-bit words that publish one sum
  ScanWay way;
  uint32_t blocks;
  uint32_t shared_bytes;  // dynamic
};

// Tiles, groups and planes depend on the type and n alone.
constexpr ScanPlan plan_scan(gsort_dtype t, uint64_t n, bool exclusive, uint32_t shared_bytes_block_max,
                             uint32_t multiprocessors) {
  using T = ScanTuning;
  const uint64_t tiles = n / kScanTileItems + (n % kScanTileItems != 0 ? 1 : 0);
  const uint32_t bytes = dtype_bytes(t), staging = T::staging_bytes(bytes);
  // A sum of 64 bits leaves no value free to mean "not there yet", so its halves go into words of their own.
  const uint32_t planes = bytes == 8 && !is_float(t) ? 2 : 1;
  ScanPlan plan{tiles, tiles / kScanGroupTiles + 1, planes, ScanWay::kDirect, static_cast<uint32_t>(tiles), 0};
  if (staging + T::kOtherSharedBytes > shared_bytes_block_max) return plan;
  plan.way = ScanWay::kStaged;
  plan.shared_bytes = staging;
  // An exclusive scan of floats needs the last result of the tile before, for which a pipeline would stand still.
  if (bytes > T::kPipelineElementBytesMax || (exclusive && is_float(t))) return plan;
  // Fetching ahead pays once blocks take more than two tiles each.
  const uint32_t held = T::kPipelineTiles * staging;
  const uint32_t fitting = shared_bytes_block_max / (held + T::kOtherSharedBytes);
  const uint64_t blocks = uint64_t{multiprocessors} * (fitting < T::kPipelineBlocks ? fitting : T::kPipelineBlocks);
  if (blocks == 0 || tiles < 3 * blocks) return plan;
  plan.way = ScanWay::kPipeline;
  plan.blocks = static_cast<uint32_t>(blocks);
  plan.shared_bytes = held;
  return plan;
}

constexpr const char *scan_way_name(ScanWay way) {
  return way == ScanWay::kPipeline ? "a pipeline" : way == ScanWay::kStaged ? "a block a tile" : "straight from memory";
}

}  // namespace gsort_internal

#endif  // GSORT_PLAN_SCAN_PLAN_H_
