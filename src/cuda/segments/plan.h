// SPDX-License-Identifier: MIT OR Apache-2.0
// How segments are sorted by their length, and the workspace of it. Every size is the most that n keys can need,
// whatever the offsets are.
#ifndef GSORT_CUDA_SEGMENTS_PLAN_H_
#define GSORT_CUDA_SEGMENTS_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "core/request.h"
#include "cuda/engine/device_facts.h"
#include "cuda/primitive/tile_shape.h"

namespace gsort_internal::segments {

// Up to here a segment is short: the block that holds the tile of keys where it begins sorts it, in the registers of
// one to 32 lanes of kShortLaneItems keys each.
constexpr uint32_t kShortLaneItems = 16;
constexpr uint32_t kShortSegmentItemsMax = 32 * kShortLaneItems;
// A tile and its bounds take 36 KB of shared memory: the four blocks wanted fit an SM of sm_90, one fits sm_75.
constexpr uint32_t short_tile_items(uint32_t key_bytes) { return key_bytes == 8 ? 2048 : 4096; }

// Longer segments go to a block each, as long as they fit one.
template <uint32_t KeyBytes>
using SmallSegmentTile = TileShape<256, KeyBytes == 8 ? 4 : 8>;
template <uint32_t KeyBytes>
using MediumSegmentTile = TileShape<512, KeyBytes == 8 ? 12 : 24>;
constexpr uint32_t small_segment_items(uint32_t key_bytes) {
  return key_bytes == 8 ? SmallSegmentTile<8>::kItems : SmallSegmentTile<4>::kItems;
}
constexpr uint32_t medium_segment_items(uint32_t key_bytes) {
  return key_bytes == 8 ? MediumSegmentTile<8>::kItems : MediumSegmentTile<4>::kItems;
}

// By spreading (spread_sort.cuh) if the keys are of 4 or 8 bytes and the device holds what that takes: some bytes a key
// more than the radix passes want, which keys of 1 and 2 bytes need few of.
template <uint32_t Threads, uint32_t Rows>
struct SpreadShape {
  static constexpr uint32_t kThreads = Threads;
  static constexpr uint32_t kRows = Rows;
  static constexpr uint32_t kWarps = Threads / 32;
  static constexpr uint32_t kItems = Threads * Rows;
};
// The smaller the block, the less its barriers cost.
template <uint32_t KeyBytes>
using SpreadSmall = SpreadShape<128, KeyBytes == 8 ? 8 : 16>;
template <uint32_t KeyBytes>
using SpreadMiddle = SpreadShape<256, KeyBytes == 8 ? 12 : 24>;
template <uint32_t KeyBytes>
using SpreadMedium = SpreadShape<512, KeyBytes == 8 ? 12 : 24>;
constexpr uint32_t middle_segment_items(uint32_t key_bytes) {
  return key_bytes == 8 ? SpreadMiddle<8>::kItems : SpreadMiddle<4>::kItems;
}
constexpr bool spreads(uint32_t key_bytes) { return key_bytes >= 4; }
// What the largest kernel of it takes, with some room.
constexpr uint32_t kSpreadSharedBytes = 102400;

// Large segments go through passes over memory. One shape that fits every SM does.
template <uint32_t KeyBytes>
using SegmentPassTile = TileShape<512, KeyBytes == 8 ? 12 : 24>;
constexpr uint32_t segment_tile_items(uint32_t key_bytes) {
  return key_bytes == 8 ? SegmentPassTile<8>::kItems : SegmentPassTile<4>::kItems;
}

// A segment that no block holds is partitioned first, by splitters of a sorted sample, so that most parts of it,
// buckets, go to the middle class and a bucket of twice its share still fits a block. What is too long even so is
// partitioned once more, and what is too long then goes through the passes.
template <uint32_t KeyBytes>
using PartitionShape = SpreadShape<512, 12>;  // of a tile, and of a sample
constexpr uint32_t partition_tile_items(uint32_t key_bytes) {
  return key_bytes == 8 ? PartitionShape<8>::kItems : PartitionShape<4>::kItems;
}
// A multiprocessor of sm_90 holds so many: while one waits at a barrier, others go on.
// A third block of 8-byte keys finds no room there.
constexpr uint32_t partition_blocks(uint32_t key_bytes) { return key_bytes == 8 ? 2 : 3; }
constexpr uint32_t bucket_items(uint32_t key_bytes) { return key_bytes == 8 ? 2400 : 4800; }
constexpr uint32_t kBucketsMin = 3, kBucketsMax = 512;  // of a segment
// Sampled keys a bucket, or as many as a block sorts: the sizes of buckets vary by 18 per cent and more.
constexpr uint32_t kSampleShare = 32;
constexpr uint32_t kPartitionRounds = 2;
constexpr uint32_t kPartBytes = 16;  // of what is kept of a segment that is partitioned
constexpr bool partitions(uint32_t key_bytes) { return spreads(key_bytes); }

// Calls of few keys in few segments are checked by the kernel that sorts short ones, each block of which looks at all
// offsets: in the time that two launches less take it sees about as many.
constexpr uint64_t kWholeItemsMax = uint64_t{1} << 17;
constexpr uint64_t kWholeSegmentsMax = uint64_t{1} << 13;
constexpr uint32_t kWholeTileItems = kShortSegmentItemsMax;  // of such a block: the segments that begin there

// From so many keys on small segments that crowd go through passes by small blocks. Below, the launch of those would
// take longer than they save (4 us; H100, 2026-11-27).
constexpr uint64_t kSmallApartItems = uint64_t{1} << 23;

constexpr uint32_t kBlockThreads = 256;  // of the check, and of short segments
constexpr uint32_t kCheckRows = 8;       // segments that a thread of the check looks at
constexpr uint32_t kCheckItems = kBlockThreads * kCheckRows;
constexpr uint32_t kListCountsBytes = 96;  // lengths of lists, and what else is counted beside them

struct Plan {
  // Entries of the lists: a listed segment has more keys than the class below it takes.
  uint64_t small_max;
  uint64_t middle_max;  // without spreading they are listed with the medium ones
  uint64_t medium_max;
  uint64_t large_max;
  uint64_t large_tiles_max;      // of the passes
  uint64_t partition_tiles_max;  // of a round of partitions
  uint64_t crowded_max;          // segments whose keys crowd when they are spread
  uint64_t parts_max;            // segments and buckets that are partitioned in a round, or go through the passes
  uint64_t buckets_max;          // of all rounds, and one more a segment that is partitioned
  bool spread;                   // small, middle and medium segments are
  bool partition;                // large ones are
  bool small_apart;              // small ones whose keys crowd have a list and a kernel of their own
  bool whole;                    // no kernel of its own checks the offsets
  uint64_t short_tiles;

  // Cleared before every sort; the first zero_bytes of the workspace.
  uint64_t list_counts, tickets, bounds, zero_bytes;

  uint64_t look_back, large_counts;
  uint64_t small_list, middle_list, medium_list, crowded_small_list, crowded_list, large_list, large_tile_begins;
  uint64_t again_list, radix_list, parts, bucket_begins, bucket_counts, bucket_room, bucket_starts;
  uint64_t keys_y;
  uint64_t workspace_bytes;  // whatever the device

  // Of the kernels; of large segments as many as are resident, up to the tiles there can be.
  uint32_t check_blocks, short_blocks, small_blocks, middle_blocks, medium_blocks, crowded_blocks;
};

Plan make_plan(const Request &request, const DeviceFacts &device);

// One line for the log.
void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes);

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_PLAN_H_
