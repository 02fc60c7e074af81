// SPDX-License-Identifier: MIT OR Apache-2.0
// How sums, means, minima and maxima are spread over a GPU. Pure functions; nothing here needs a device.
#ifndef GSORT_CUDA_SUM_PLAN_H_
#define GSORT_CUDA_SUM_PLAN_H_

#include <cstdint>

namespace gsort_internal {

// Read by host and device code alike.
struct ReduceTuning {
  static constexpr uint32_t kThreads = 256;
  // 16-byte loads that a thread has in flight. 4 reach the read ceiling of an H200 at 1024 threads a multiprocessor.
  static constexpr uint32_t kVectors = 4;
  static constexpr uint32_t kTileBytes = kThreads * kVectors * 16;
  // Persistent blocks: enough to fill a multiprocessor at 64 registers a thread.
  static constexpr uint32_t kBlocksPerMultiprocessor = 4;
  // Bounds the partial results in the workspace, and what the words that sums meet in have to hold, whatever the
  // device.
  static constexpr uint32_t kBlocksMax = 1024;
  // Thread block clusters finish in one launch without a zeroed counter in memory. 8 is the portable most.
  static constexpr uint32_t kClusterBlocksMax = 8;
  // Tiles that one block takes alone: a second one costs less than a memset and the meeting of a grid.
  static constexpr uint32_t kBlockTilesMax = 2;
  static constexpr uint32_t kClusterComputeCapability = 90;
};

// Where the blocks' partial results meet.
enum class ReduceMeeting : uint32_t {
  kBlock,    // there is one block
  kCluster,  // in the shared memory of a cluster's first block
  kGrid,     // in memory that is zero before: one block finishes
};

struct ReducePlan {
  ReduceMeeting meeting;
  uint32_t blocks;
};

inline ReducePlan plan_reduce(uint64_t bytes, uint32_t compute_capability, uint32_t multiprocessors) {
  using T = ReduceTuning;
  const uint64_t tiles = bytes / T::kTileBytes + (bytes % T::kTileBytes != 0 ? 1 : 0);
  if (tiles <= 1) return {ReduceMeeting::kBlock, 1};
  const bool clusters = compute_capability >= T::kClusterComputeCapability;
  if (clusters && tiles <= T::kClusterBlocksMax) {
    // One tile a block: with two, a memset and a grid are as quick.
    uint32_t blocks = 2;
    while (blocks < tiles && blocks < T::kClusterBlocksMax) blocks *= 2;
    return {ReduceMeeting::kCluster, blocks};
  }
  if (tiles <= T::kBlockTilesMax) return {ReduceMeeting::kBlock, 1};
  uint64_t blocks = uint64_t{multiprocessors} * T::kBlocksPerMultiprocessor;
  if (blocks > T::kBlocksMax) blocks = T::kBlocksMax;
  if (blocks > tiles) blocks = tiles;
  return {ReduceMeeting::kGrid, static_cast<uint32_t>(blocks)};
}

constexpr const char *reduce_meeting_name(ReduceMeeting meeting) {
  return meeting == ReduceMeeting::kBlock ? "one block" : meeting == ReduceMeeting::kCluster ? "one cluster" : "a grid";
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SUM_PLAN_H_
