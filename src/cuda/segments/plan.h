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

// Longer segments go to some warps of a block. Of keys of 2 bytes, as words of 4, and more each warp holds a run in
// registers, and runs are merged (merge_segments.cuh); teams of warps for small, middle and medium segments divide a
// block.
constexpr GSORT_HOST_DEVICE bool merges(uint32_t key_bytes) { return key_bytes >= 2; }
// Of fewer keys of 2 bytes passes in a block are as quick (H100, segments of 1,000, u16: 700,000 keys 33 us and 41 by
// merges, 4.2 million 83 and 67, 44.7 million 700 and 345).
constexpr uint64_t kMergeShortKeysMin = 1 << 23;
// Keys of a lane: 32 registers.
constexpr GSORT_HOST_DEVICE uint32_t merge_rows(uint32_t key_bytes) { return key_bytes == 8 ? 16 : 32; }
constexpr GSORT_HOST_DEVICE uint32_t merge_run_items(uint32_t key_bytes) { return 32 * merge_rows(key_bytes); }
constexpr uint32_t kMergeWarps = 12, kMiddleTeamWarps = 6, kSmallTeamWarps = 2;
constexpr uint32_t kMergeBlocksPerMultiprocessor = 2;
// Big segments: a block of so many warps each, alone on its multiprocessor, where it has that much shared memory. There
// are big ones only where the mean length says that there are some: for a few of them a kernel more takes longer than
// it saves (H200: 5 to 15 microseconds of a call of any size).
constexpr uint32_t kBigWarps = 24;
constexpr GSORT_HOST_DEVICE uint32_t big_shared_bytes(uint32_t key_bytes) {
  return key_bytes == 8 ? kBigWarps * merge_run_items(8) / 16 * 17 * 8 : kBigWarps * merge_run_items(4) / 32 * 33 * 4;
}
constexpr uint32_t kMergeRounds = 4;  // of blocks that take segments of different lengths
// Even so, those of 8-byte keys are spread over bins first (spread_sort.cuh), which takes up to half as long where the
// keys do not crowd. By blocks of so many threads, each with so many keys:
template <uint32_t Threads, uint32_t Rows>
struct SpreadShape {
  static constexpr uint32_t kThreads = Threads;
  static constexpr uint32_t kRows = Rows;
  static constexpr uint32_t kWarps = Threads / 32;
  static constexpr uint32_t kItems = Threads * Rows;
};
using SpreadSmall = SpreadShape<128, 8>;
using SpreadMiddle = SpreadShape<256, 12>;
using SpreadMedium = SpreadShape<512, 12>;
constexpr bool spreads(uint32_t key_bytes) { return key_bytes == 8; }
// Keys of 2 bytes in calls of fewer are sorted by passes in a block's shared memory, small segments in small blocks.
using SmallSegmentTile = TileShape<256, 8>;
using MediumSegmentTile = TileShape<512, 24>;
// Those of 1 byte are counted, a warp a segment (count_segments.cuh), which takes some 1.8 microseconds for each 1,000
// keys (H200): longer ones only where there are many, big ones.
constexpr uint32_t kCountItemsSmall = 2048, kCountItemsMax = 16384, kCountItemsBig = 65536;
constexpr uint32_t kCountBigSegmentsMin = 256;
constexpr uint32_t kCountWarps = 4;                        // of a block
constexpr uint32_t kCountBlocksPerMultiprocessor = 4 * 6;  // six at a time
constexpr GSORT_HOST_DEVICE uint32_t small_segment_items(uint32_t key_bytes) {
  return merges(key_bytes) ? kSmallTeamWarps * merge_run_items(key_bytes) : kCountItemsSmall;
}
constexpr GSORT_HOST_DEVICE uint32_t middle_segment_items(uint32_t key_bytes) {
  return merges(key_bytes) ? kMiddleTeamWarps * merge_run_items(key_bytes) : kCountItemsSmall;
}
constexpr GSORT_HOST_DEVICE uint32_t medium_segment_items(uint32_t key_bytes) {
  return merges(key_bytes) ? kMergeWarps * merge_run_items(key_bytes) : kCountItemsMax;
}
constexpr GSORT_HOST_DEVICE uint32_t big_segment_items(uint32_t key_bytes) {
  return merges(key_bytes) ? kBigWarps * merge_run_items(key_bytes) : kCountItemsBig;
}

// Large segments go through passes over memory. One shape that fits every SM does.
template <uint32_t KeyBytes>
using SegmentPassTile = TileShape<512, KeyBytes == 8 ? 12 : 24>;
constexpr uint32_t segment_tile_items(uint32_t key_bytes) {
  return key_bytes == 8 ? SegmentPassTile<8>::kItems : SegmentPassTile<4>::kItems;
}

// A segment that no block holds is partitioned first, by splitters of a sorted sample, so that most parts of it,
// buckets, go to the middle class and a bucket of twice its share still fits a block. What is too long even so is
// partitioned once more, and what is too long then goes through the passes.
struct PartitionShape {  // of a tile, and of a sample
  static constexpr uint32_t kThreads = 512, kRows = 12, kWarps = kThreads / 32, kItems = kThreads * kRows;
};
constexpr uint32_t partition_tile_items() { return PartitionShape::kItems; }
// Keys a lane of the runs in which a sample is sorted, and how many there are at most.
constexpr GSORT_HOST_DEVICE uint32_t sample_rows(uint32_t key_bytes) { return key_bytes == 8 ? 8 : 16; }
constexpr GSORT_HOST_DEVICE uint32_t sample_items_max(uint32_t key_bytes) {
  return key_bytes == 8 ? PartitionShape::kThreads * sample_rows(8) : PartitionShape::kItems;
}
// What the largest kernel that partitions or spreads takes, with some room.
constexpr uint32_t kLargeSharedBytes = 102400;
// A multiprocessor of sm_90 holds so many: while one waits at a barrier, others go on.
// A third block of 8-byte keys finds no room there.
constexpr uint32_t partition_blocks(uint32_t key_bytes) { return key_bytes == 8 ? 2 : 3; }
constexpr uint32_t bucket_items(uint32_t key_bytes) { return key_bytes == 8 ? 2400 : 4800; }
constexpr uint32_t kBucketsMin = 3, kBucketsMax = 512;  // of a segment
// Sampled keys a bucket, or as many as a block sorts: the sizes of buckets vary by 18 per cent and more.
constexpr uint32_t kSampleShare = 32;
constexpr uint32_t kPartitionRounds = 2;
constexpr uint32_t kPartBytes = 16;  // of what is kept of a segment that is partitioned
constexpr bool partitions(uint32_t key_bytes) { return key_bytes >= 4; }

// Calls of few keys in few segments are checked by the kernel that sorts short ones, each block of which looks at all
// offsets: in the time that two launches less take it sees about as many.
constexpr uint64_t kWholeItemsMax = uint64_t{1} << 17;
constexpr uint64_t kWholeSegmentsMax = uint64_t{1} << 13;
constexpr uint32_t kWholeTileItems = kShortSegmentItemsMax;  // of such a block: the segments that begin there

constexpr uint32_t kBlockThreads = 256;  // of the check, and of short segments
constexpr uint32_t kCheckRows = 8;       // segments that a thread of the check looks at
constexpr uint32_t kCheckItems = kBlockThreads * kCheckRows;
constexpr uint32_t kListCountsBytes = 112;  // lengths of lists, and what else is counted beside them

struct Plan {
  // Entries of the lists: a listed segment has more keys than the class below it takes.
  uint64_t small_max;
  uint64_t middle_max;  // none of keys that passes sort
  uint64_t medium_max;
  uint64_t big_max;  // unless `big`, they are large ones
  uint64_t large_max;
  uint64_t large_tiles_max;      // of the passes
  uint64_t partition_tiles_max;  // of a round of partitions
  uint64_t parts_max;            // segments and buckets that are partitioned in a round, or go through the passes
  uint64_t buckets_max;          // of all rounds, and one more a segment that is partitioned
  bool merge;                    // small, middle, medium and big ones are, but for keys that are counted
  bool big;                      // there are big ones
  bool partition;                // large segments are
  bool spread;                   // small, middle and medium ones are; those whose keys crowd are merged behind
  bool whole;                    // no kernel of its own checks the offsets
  uint64_t short_tiles;

  // Cleared before every sort; the first zero_bytes of the workspace.
  uint64_t list_counts, tickets, bounds, zero_bytes;

  uint64_t look_back, large_counts;
  uint64_t small_list, middle_list, medium_list, big_list, small_merges_list, middle_merges_list, medium_merges_list,
      large_list, large_tile_begins;
  uint64_t again_list, radix_list, parts, bucket_begins, bucket_counts, bucket_room, bucket_starts;
  uint64_t keys_y;
  uint64_t workspace_bytes;  // whatever the device

  // Of the kernels; of large segments as many as are resident, up to the tiles there can be.
  uint32_t check_blocks, short_blocks, count_blocks, merge_blocks, big_blocks, small_blocks, middle_blocks,
      medium_blocks;
};

Plan make_plan(const Request &request, const DeviceFacts &device);

// One line for the log.
void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes);

}  // namespace gsort_internal::segments

#endif  // GSORT_CUDA_SEGMENTS_PLAN_H_
