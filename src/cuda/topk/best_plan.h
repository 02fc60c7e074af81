// SPDX-License-Identifier: MIT OR Apache-2.0
// The best one of each row: every element is read once, and nothing is listed. Read by host and device.
#ifndef GSORT_CUDA_TOPK_BEST_PLAN_H_
#define GSORT_CUDA_TOPK_BEST_PLAN_H_

#include <cstdint>

#include "cuda/topk/shape.h"

namespace gsort_internal::topk {

// Of a block that does a row, or a part of one, and of one whose warps do a row each.
constexpr uint32_t kBestThreads = 256, kBestWarpsThreads = 128;
// What a block's threads have under way.
constexpr uint64_t kBestTileBytes = uint64_t{kBestThreads} * 4 * 16;
// Blocks that a multiprocessor holds, and parts that rows are cut into where there are fewer rows.
constexpr uint64_t kBestBlocks = 4;
constexpr uint64_t kBestClusterParts = 8;
// Most parts that meet in memory, of all rows, and most such rows: a counter each in the engine's standing memory.
constexpr uint64_t kBestParts = 1024, kBestCountedRows = 64;
constexpr uint64_t kBestExtremeBytes = 16;

struct BestPlan {
  bool warps;      // a warp a row
  uint32_t parts;  // blocks of a row
  bool cluster;    // which meet in the shared memory of one; else, if there are several, in memory
};

// Where parts that meet in memory leave their results, and their counters if there is no standing memory.
constexpr uint64_t kBestExtremes = 0, kBestCounters = slice_bytes(kBestParts * kBestExtremeBytes),
                   kBestBytes = kBestCounters + slice_bytes(kBestCountedRows * 4);

// A warp a row, where it is short or there are so many that warps enough have loads under way.
constexpr bool best_by_warps(uint64_t rows, uint64_t bytes, const DeviceFacts &d) {
  const uint64_t a_multiprocessor = rows / d.multiprocessors;
  return bytes <= 4096 || (bytes <= 8192 && a_multiprocessor >= 8) || (bytes <= 32768 && a_multiprocessor >= 32);
}

constexpr BestPlan plan_best(const Shape &s, const DeviceFacts &d) {
  const uint64_t bytes = s.columns * s.key_bytes, tiles = (bytes + kBestTileBytes - 1) / kBestTileBytes;
  const uint64_t wanted = kBestBlocks * d.multiprocessors;
  if (best_by_warps(s.rows, bytes, d)) return {true, 1, false};
  uint64_t parts = min_of(tiles, (wanted + s.rows - 1) / s.rows);
  if (parts > 2 * kBestClusterParts && s.rows <= kBestCountedRows)
    return {false, static_cast<uint32_t>(min_of(parts, kBestParts / s.rows)), false};
  parts = power_up(min_of(parts, kBestClusterParts));
  return {false, static_cast<uint32_t>(parts), parts > 1};
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_BEST_PLAN_H_
