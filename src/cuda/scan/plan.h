// SPDX-License-Identifier: MIT OR Apache-2.0
// How gsort_scan is spread over a GPU: floats by the tiles and groups of core/scan_order.h, integers by tiles of bytes.
#ifndef GSORT_CUDA_SCAN_PLAN_H_
#define GSORT_CUDA_SCAN_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "core/request.h"
#include "core/scan_order.h"
#include "cuda/engine/device_facts.h"

namespace gsort_internal::scan {

struct FloatTuning {
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
  // Tiles that a cluster scans, one a block: what the blocks tell each other goes through their shared memories, so
  // that no memory needs to be cleared first. 8 is the portable most, and one run of a group.
  static constexpr uint32_t kClusterTilesMax = 8;
  // The kernels' other variables in shared memory, and what the device keeps for itself.
  static constexpr uint32_t kOtherSharedBytes = 2048;
};

static_assert(kScanRowChunks == 32, "a row is a warp's");
static_assert(kScanTileRows <= 32 && kScanGroupRuns == 32, "warps scan row totals and run totals");
static_assert(FloatTuning::kClusterTilesMax <= kScanRunTiles, "a tile's prefix in a cluster is a sum from the left");
static_assert(FloatTuning::staging_bytes(4) <= 48 * 1024, "4-byte tiles fit every device without asking");

// How a tile gets from memory to its threads.
enum class Algorithm : uint32_t {
  kPipeline,  // blocks stay and fetch tiles ahead
  kCluster,   // a block a tile, all in one cluster
  kStaged,    // a block a tile, through shared memory
  kDirect,    // the device's shared memory holds no tile: threads read global memory twice
};

struct FloatPlan {
  uint64_t tiles;
  uint64_t groups;
  Algorithm way;
  uint32_t blocks;
  uint32_t shared_bytes;  // dynamic
};

// Floats, and integers that a cluster scans. Tiles and groups depend on n alone.
constexpr FloatPlan plan_floats(uint32_t element_bytes, uint64_t n, const DeviceFacts &device) {
  using T = FloatTuning;
  const uint64_t tiles = n / kScanTileItems + (n % kScanTileItems != 0 ? 1 : 0);
  const uint32_t staging = T::staging_bytes(element_bytes);
  FloatPlan plan{tiles, tiles / kScanGroupTiles + 1, Algorithm::kDirect, static_cast<uint32_t>(tiles), 0};
  if (staging + T::kOtherSharedBytes > device.shared_bytes_block_max) return plan;
  plan.way = Algorithm::kStaged;
  plan.shared_bytes = staging;
  if (device.clusters() && tiles > 1 && tiles <= T::kClusterTilesMax) {
    plan.way = Algorithm::kCluster;
    plan.blocks = 2;
    while (plan.blocks < tiles) plan.blocks *= 2;
    return plan;
  }
  if (element_bytes > T::kPipelineElementBytesMax) return plan;
  // Fetching ahead pays once blocks take more than two tiles each.
  const uint32_t staged = T::kPipelineTiles * staging;
  const uint32_t fitting = device.shared_bytes_block_max / (staged + T::kOtherSharedBytes);
  const uint64_t blocks =
      uint64_t{device.multiprocessors} * (fitting < T::kPipelineBlocks ? fitting : T::kPipelineBlocks);
  if (blocks == 0 || tiles < 3 * blocks) return plan;
  plan.way = Algorithm::kPipeline;
  plan.blocks = static_cast<uint32_t>(blocks);
  plan.shared_bytes = staged;
  return plan;
}

constexpr const char *algorithm_name(Algorithm way) {
  return way == Algorithm::kPipeline  ? "a pipeline"
         : way == Algorithm::kCluster ? "a cluster"
         : way == Algorithm::kStaged  ? "a block a tile"
                                      : "straight from memory";
}

struct IntegerTuning {
  // Warps that hold tiles in registers; beside them one that looks back. With it two blocks are 1024 threads, which
  // leaves each 64 registers.
  static constexpr uint32_t kWarps = 15;
  static constexpr uint32_t kThreads = (kWarps + 1) * 32;
  // 16-byte vectors of a tile that a thread holds. It holds those of two tiles: one waits for its prefix, one arrives.
  static constexpr uint32_t kVectors = 4;
  static constexpr uint32_t kTileBytes = kWarps * 32 * kVectors * 16;
  // Two blocks of 30 KB tiles keep 60 KB on their way to a multiprocessor, which an H200's memory needs.
  static constexpr uint32_t kBlocksPerMultiprocessor = 2;
  // Between two looks at totals that are not there yet. A tile's prefix is not needed before the block's next tile has
  // come, and polling takes the L2 cache's time.
  static constexpr uint32_t kPollNanoseconds = 200;
  static constexpr uint32_t kArrivalNanoseconds = 40;  // between two checks whether the block's next tile has come
  // Totals that a lane asks for at once. Between two tiles of a block lie those of all other blocks: 263 on an H200.
  // Sums of 64 bits take two words each, and registers for half as many.
  static constexpr uint32_t totals_in_flight(uint32_t element_bytes) { return element_bytes == 8 ? 5 : 10; }
};

struct IntegerPlan {
  uint64_t tiles;
  uint32_t planes;  // 64-bit words that publish one sum
  uint32_t blocks;
};

// `skew` is the number of bytes by which the input lies behind a multiple of 16.
constexpr IntegerPlan plan_integers(uint32_t element_bytes, uint64_t n, uint32_t skew, uint32_t multiprocessors) {
  using T = IntegerTuning;
  const uint64_t bytes = n * element_bytes + skew;
  const uint64_t tiles = bytes / T::kTileBytes + (bytes % T::kTileBytes != 0 ? 1 : 0);
  const uint64_t blocks = uint64_t{multiprocessors} * T::kBlocksPerMultiprocessor;
  // A sum of 64 bits leaves no value free to mean "not there yet", so its halves go into words of their own.
  return {tiles, element_bytes == 8 ? 2u : 1u, static_cast<uint32_t>(blocks < tiles ? blocks : tiles)};
}

// Integers that fill more than one tile of theirs, and are few enough for a block or a cluster of the floats' kernel:
// up to 4 bytes of each their sums are exact in doubles, and it adds those of 8 bytes as integers.
constexpr bool scans_few_integers(uint64_t n, const IntegerPlan &plan, bool clusters) {
  return clusters && plan.tiles > 1 && n <= uint64_t{FloatTuning::kClusterTilesMax} * kScanTileItems;
}

// What a call does.
enum class Path : uint32_t {
  kFloats,
  kFewIntegers,  // by the kernel of the floats
  kIntegers,
};

// Words that publish the end of a tile to an exclusive scan; see TileEnd.
constexpr uint32_t kTileEndWords = 3;

struct Plan {
  Path path;
  FloatPlan floats;      // of kFloats and kFewIntegers
  IntegerPlan integers;  // of kIntegers

  // Offsets in the workspace, in 64-bit words.
  uint64_t tickets;
  uint64_t tile_totals;
  uint64_t group_prefixes;
  uint64_t tile_ends;
  uint64_t inclusive_words;  // cleared before an inclusive scan
  uint64_t words;            // cleared before an exclusive one
  uint64_t workspace_bytes;  // whatever the device and the array's address
};

Plan make_plan(const Request &request, const DeviceFacts &device);

// One line for the log.
void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes);

}  // namespace gsort_internal::scan

#endif  // GSORT_CUDA_SCAN_PLAN_H_
