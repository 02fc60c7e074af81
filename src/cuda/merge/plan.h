// SPDX-License-Identifier: MIT OR Apache-2.0
// How gsort_merge is spread over a GPU: tiles of the output, each made by one block from the parts of both inputs that
// the merge path gives it.
#ifndef GSORT_CUDA_MERGE_PLAN_H_
#define GSORT_CUDA_MERGE_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "core/request.h"
#include "cuda/engine/device_facts.h"

namespace gsort_internal::merge {

struct Tuning {
  // Small blocks, so that some load and store while others search and merge.
  static constexpr uint32_t kThreads = 256;
  static constexpr uint32_t kBlocksPerMultiprocessor = 6;
  static constexpr uint32_t kPartitionThreads = 128;
};

template <uint32_t KeyBytes>
struct Tile {
  // Keys a thread merges one by one. 64 bytes at most, so that the tile fits 48 KB and the outputs fit registers.
  static constexpr uint32_t kItems = KeyBytes == 8 ? 8 : 16;
  static constexpr uint32_t kKeys = Tuning::kThreads * kItems;
  // Both parts keep their place within 16 bytes, hence up to a vector of room at either end of each.
  static constexpr uint32_t kSharedBytes = kKeys * KeyBytes + 64;
  static_assert(kSharedBytes + (Tuning::kThreads + 1) * 4 <= 48 * 1024,
                "tile and list of splits fit every device's shared memory without asking");
};

constexpr uint32_t tile_keys(uint32_t key_bytes) { return key_bytes == 8 ? Tile<8>::kKeys : Tile<4>::kKeys; }
static_assert(tile_keys(1) == Tile<1>::kKeys && tile_keys(2) == Tile<2>::kKeys, "one rule");

struct Plan {
  uint64_t tiles;
  // Places in the workspace, in 64-bit words.
  uint64_t unsorted;  // set if an input turns out not to be sorted
  uint64_t splits;    // keys of `a` before each tile, and in all
  uint64_t workspace_bytes;
};

constexpr uint64_t tiles_of(uint32_t key_bytes, uint64_t total) {
  const uint32_t tile = tile_keys(key_bytes);
  return total / tile + (total % tile != 0 ? 1 : 0);
}

// No device is too small for it.
Plan make_plan(const Request &request, const DeviceFacts &device);

// One line for the log.
void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes);

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_PLAN_H_
