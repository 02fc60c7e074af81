// SPDX-License-Identifier: MIT OR Apache-2.0
// How gsort_merge is spread over a GPU: tiles of the output, each made by one block from the parts of both inputs that
// the merge path gives it.
#ifndef GSORT_CUDA_MERGE_PLAN_H_
#define GSORT_CUDA_MERGE_PLAN_H_

#include <cstdint>

namespace gsort_internal {

struct MergeTuning {
  // Small blocks, so that some load and store while others search and merge.
  static constexpr uint32_t kThreads = 256;
  static constexpr uint32_t kBlocksPerMultiprocessor = 6;
  static constexpr uint32_t kPartitionThreads = 128;
};

template <uint32_t KeyBytes>
struct MergeTile {
  // Keys a thread merges one by one. 64 bytes at most, so that the tile fits 48 KB and the outputs fit registers.
  static constexpr uint32_t kItems = KeyBytes == 8 ? 8 : 16;
  static constexpr uint32_t kKeys = MergeTuning::kThreads * kItems;
  // Both parts keep their place within 16 bytes, hence up to a vector of room at either end of each.
  static constexpr uint32_t kSharedBytes = kKeys * KeyBytes + 64;
  static_assert(kSharedBytes + (MergeTuning::kThreads + 1) * 4 <= 48 * 1024,
                "tile and list of splits fit every device's shared memory without asking");
};

constexpr uint32_t merge_tile_keys(uint32_t key_bytes) {
  return key_bytes == 8 ? MergeTile<8>::kKeys : MergeTile<4>::kKeys;
}
static_assert(merge_tile_keys(1) == MergeTile<1>::kKeys && merge_tile_keys(2) == MergeTile<2>::kKeys, "one rule");

struct MergePlan {
  uint64_t tiles;
};

constexpr MergePlan plan_merge(uint32_t key_bytes, uint64_t total) {
  const uint32_t tile = merge_tile_keys(key_bytes);
  return {total / tile + (total % tile != 0 ? 1 : 0)};
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_MERGE_PLAN_H_
