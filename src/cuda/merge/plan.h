// SPDX-License-Identifier: MIT OR Apache-2.0
// How gsort_merge is spread over a GPU: the output is cut into tiles, which warps merge.
#ifndef GSORT_CUDA_MERGE_PLAN_H_
#define GSORT_CUDA_MERGE_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "core/request.h"
#include "cuda/engine/device_facts.h"

namespace gsort_internal::merge {

struct Tuning {
  // Warps of a block that merges a group, each with a tile. Few, so that some blocks load while others merge.
  static constexpr uint32_t kWarps = 4;
  static constexpr uint32_t kThreads = kWarps * 32;
  static constexpr uint32_t kBlocksPerMultiprocessor = 8;
  // Lanes that find a border together, and groups that blocks find without their ends before. In a ring of few groups a
  // warp finds a border, which takes fewer trips to memory.
  static constexpr uint32_t kPartitionThreads = 512;
  static constexpr uint32_t kPartitionLanes = 8;
  static constexpr uint32_t kPartitionLanesOfFew = 32;
  static constexpr uint32_t kFewGroups = 1536;
  static constexpr uint32_t kNearGroups = 4096;
  // Blocks that stay: warps that merge, beside one that fetches; tiles of a group; groups in a block's shared memory.
  // More tiles make fewer borders to find, more groups more bytes on their way.
  static constexpr uint32_t kRingWarps = 16;
  static constexpr uint32_t kRingThreads = (kRingWarps + 1) * 32;
  static constexpr uint32_t kRingTiles = 8;
  static constexpr uint32_t kRingSlots = 4;
  static constexpr uint32_t kRingKeyBytes = 4;  // narrower keys are merged in small groups everywhere
  // Few tiles: each warp finds its tile itself, in one launch. With more of them on a multiprocessor than all its
  // blocks have warps the searches cost more than a launch.
  static constexpr uint32_t kFewWarps = 4;  // of a block, at most: small blocks lie evenly on multiprocessors
  static constexpr uint32_t kFewBlocksPerMultiprocessor = 8;
  static constexpr uint32_t kFewTiles = kFewWarps * kFewBlocksPerMultiprocessor;
};

template <uint32_t KeyBytes>
struct Tile {
  // Keys of a tile that a lane holds.
  static constexpr uint32_t kRows = KeyBytes == 8 ? 16 : 32;
  static constexpr uint32_t kKeys = 32 * kRows;
  // Of shared memory, for a warp: every lane's keys in 4 or 8 bytes each, and a vector more.
  static constexpr uint32_t kRoomBytes = 32 * (kRows * (KeyBytes == 8 ? 8 : 4) + 16);
  // A block's group: its parts of both inputs keep their offset within 16 bytes, hence up to a vector at either end of
  // each; later the warps' rooms.
  static constexpr uint32_t kGroupKeys = Tuning::kWarps * kKeys;
  static constexpr uint32_t kGroupBytes = Tuning::kWarps * kRoomBytes;
  static_assert(kGroupKeys * KeyBytes + 64 <= kGroupBytes && Tuning::kFewWarps * kRoomBytes <= 48 * 1024,
                "a group, and the rooms of few tiles, fit every device");
  // In a ring parts keep their offset within 128 bytes, and come with the whole of the vectors that they lie in.
  static constexpr uint32_t kRingKeys = Tuning::kRingTiles * kKeys;
  static constexpr uint32_t kRingSlotBytes = kRingKeys * KeyBytes + 4 * 128;
  static constexpr uint32_t kRingBytes = Tuning::kRingSlots * kRingSlotBytes + Tuning::kRingWarps * kRoomBytes;
};

constexpr uint32_t tile_keys(uint32_t key_bytes) { return key_bytes == 8 ? Tile<8>::kKeys : Tile<4>::kKeys; }
constexpr uint32_t group_keys(uint32_t key_bytes) { return tile_keys(key_bytes) * Tuning::kWarps; }
constexpr uint32_t room_bytes(uint32_t key_bytes) { return key_bytes == 8 ? Tile<8>::kRoomBytes : Tile<4>::kRoomBytes; }
constexpr uint32_t ring_bytes(uint32_t key_bytes) { return key_bytes == 8 ? Tile<8>::kRingBytes : Tile<4>::kRingBytes; }
static_assert(tile_keys(1) == Tile<1>::kKeys && tile_keys(2) == Tile<2>::kKeys, "one rule");
static_assert(room_bytes(1) == Tile<1>::kRoomBytes && room_bytes(2) == Tile<2>::kRoomBytes, "one rule");

enum class Algorithm : uint32_t {
  kFew,     // one kernel: every warp finds its part of whole tiles
  kGroups,  // one kernel finds the borders of groups of tiles, another one merges, a block a group
  kRing,    // the same by blocks that stay, with groups in a ring
};

struct Plan {
  Algorithm way;
  uint64_t tiles;
  uint64_t groups;
  uint32_t blocks, warps;  // of the kernel that merges; of warps those that do
  uint32_t shared_bytes;   // dynamic
  // Slices of the workspace.
  uint64_t counters;  // used where the engine has no standing memory for it
  uint64_t between;   // what one kernel leaves the next
  uint64_t borders;   // keys of `a` before each group, and in all
  uint64_t misfits;   // of a ring: a word for each block that finds borders, behind them
  uint64_t workspace_bytes;
};

constexpr uint64_t kCountersBytes = 8;
constexpr uint64_t kBetweenBytes = 8;

constexpr uint64_t parts_of(uint64_t total, uint32_t each) { return total / each + (total % each != 0 ? 1 : 0); }

constexpr uint32_t partition_lanes(Algorithm way, uint64_t groups) {
  return way == Algorithm::kRing && groups <= Tuning::kFewGroups ? Tuning::kPartitionLanesOfFew
                                                                 : Tuning::kPartitionLanes;
}
// Blocks of the kernel that finds borders. They overlap by one border.
constexpr uint64_t partition_blocks(uint64_t groups, uint32_t lanes) {
  return parts_of(groups + 1, Tuning::kPartitionThreads / lanes - 1);
}

// The workspace is the same for every device.
Plan make_plan(const Request &request, const DeviceFacts &device);

// One line for the log.
void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes);

}  // namespace gsort_internal::merge

#endif  // GSORT_CUDA_MERGE_PLAN_H_
