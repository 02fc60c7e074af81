// SPDX-License-Identifier: MIT OR Apache-2.0
// How sums, means, minima and maxima are spread over a GPU. Pure functions; nothing here needs a device.
#ifndef GSORT_CUDA_SUM_PLAN_H_
#define GSORT_CUDA_SUM_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "core/request.h"
#include "cuda/engine/device_facts.h"

namespace gsort_internal::sum {

// Read by host and device code alike.
struct Tuning {
  static constexpr uint32_t kThreads = 256;
  // 16-byte loads that a thread has in flight. 4 reach the read ceiling of an H200 at 1024 threads a multiprocessor.
  static constexpr uint32_t kVectors = 4;
  static constexpr uint32_t tile_bytes(uint32_t threads) { return threads * kVectors * 16; }
  static constexpr uint32_t kTileBytes = kThreads * kVectors * 16;  // but of doubles
  // Persistent blocks: enough to fill a multiprocessor at 64 registers a thread.
  static constexpr uint32_t kBlocksPerMultiprocessor = 4;
  // Bounds the partial results in the workspace, and what the words that sums meet in have to hold, whatever the
  // device.
  static constexpr uint32_t kBlocksMax = 1024;
  // Thread block clusters finish in one launch without a zeroed counter in memory. 8 is the portable most.
  static constexpr uint32_t kClusterBlocksMax = 8;
  // Tiles that one block takes alone: a second one costs less than a memset and the scope of a grid.
  static constexpr uint32_t kBlockTilesMax = 2;
};

// Sums of doubles.
struct DoubleTuning {
  // As many as four blocks leave shared memory for: a thread holds an exact sum of its own.
  static constexpr uint32_t kThreads = 128;
  // Levels of a half of the range of exponents; see Ranges.
  static constexpr uint32_t kLevelsHalf = 26;
  static constexpr uint32_t kSharedBytes = 2 * kLevelsHalf * kThreads * 8;
};

// Where the blocks' partial results meet.
enum class Scope : uint32_t {
  kBlock,    // there is one block
  kCluster,  // in the shared memory of a cluster's first block
  kGrid,     // in memory that is zero before: one block finishes
};

// Whether the request is a sum or a mean, which is one.
inline bool sums(const Request &request) {
  return request.operation == Operation::kSum || request.reduce_op == GSORT_MEAN;
}

struct Plan {
  Scope scope;
  uint32_t blocks, threads;
  uint32_t shared_bytes;  // dynamic
  // Slices of the workspace.
  uint64_t counters;  // what the blocks of a grid count in, where the engine has no persistent scratch for it
  uint64_t extremes;  // a result of each block
  uint64_t workspace_bytes;
};

constexpr uint64_t kCountersBytes = 768;
constexpr uint64_t kExtremeBytes = 16;

// The workspace is the same for every device.
Plan make_plan(const Request &request, const DeviceFacts &device);

// One line for the log.
void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes);

constexpr const char *scope_name(Scope scope) {
  return scope == Scope::kBlock ? "one block" : scope == Scope::kCluster ? "one cluster" : "a grid";
}

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_PLAN_H_
