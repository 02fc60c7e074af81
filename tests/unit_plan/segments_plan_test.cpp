// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>

#include "core/dtype.h"
#include "cuda/segments/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::segments;

Request segments_of(gsort_dtype t, uint64_t n, uint64_t segments) {
  Request r = make(Operation::kSortSegments, t, n, 0);
  r.segments = segments;
  return r;
}

// Ascending.
std::vector<uint64_t> segment_counts(uint64_t n) {
  std::vector<uint64_t> counts = {0, 1, 77, n / 3 + 1, n, uint64_t{1} << 40};
  std::sort(counts.begin(), counts.end());
  return counts;
}

TEST(Layout, ClassesFollowEachOther) {
  for (const uint32_t bytes : {1u, 2u, 4u, 8u}) {
    EXPECT_LT(kShortSegmentItemsMax, small_segment_items(bytes));
    EXPECT_TRUE(merges(bytes) ? small_segment_items(bytes) < middle_segment_items(bytes)
                              : small_segment_items(bytes) == middle_segment_items(bytes));
    EXPECT_LT(middle_segment_items(bytes), medium_segment_items(bytes));
    EXPECT_LT(medium_segment_items(bytes), big_segment_items(bytes));
    EXPECT_LE(kShortSegmentItemsMax, short_tile_items(bytes)) << "a segment ends in the tile behind at the latest";
    EXPECT_EQ(0u, short_tile_items(bytes) % 32) << "a tile begins with a word of the bitmap";
    EXPECT_LT(short_tile_items(bytes) + kShortSegmentItemsMax, 0xffffu) << "places have 16 bits";
  }
  EXPECT_EQ(small_segment_items(2), SmallSegmentTile::kItems);
  EXPECT_EQ(medium_segment_items(2), MediumSegmentTile::kItems);
  EXPECT_EQ(small_segment_items(8), SpreadSmall::kItems);
  EXPECT_EQ(middle_segment_items(8), SpreadMiddle::kItems);
  EXPECT_EQ(medium_segment_items(8), SpreadMedium::kItems);
  for (const uint32_t bytes : {4u, 8u}) {
    EXPECT_LE(sample_items_max(bytes), PartitionShape::kThreads * sample_rows(bytes)) << "a block sorts a sample";
    EXPECT_EQ(0u, kMergeWarps % kMiddleTeamWarps + kMergeWarps % kSmallTeamWarps) << "teams divide a block";
  }
  EXPECT_EQ(32 * kShortLaneItems, kShortSegmentItemsMax);
  for (const uint32_t bytes : {4u, 8u}) {
    EXPECT_LT(2 * bucket_items(bytes), medium_segment_items(bytes)) << "a block holds two shares";
    EXPECT_GE((medium_segment_items(bytes) + bucket_items(bytes)) / bucket_items(bytes), kBucketsMin)
        << "the shortest segment has its buckets without a minimum";
    EXPECT_GE(sample_items_max(bytes), kBucketsMax) << "a bucket has a sampled key";
    EXPECT_EQ(0u, kBucketsMax % 32) << "a warp places as many";
    EXPECT_LE(kBucketsMax, 1023u) << "buckets have ten bits, and no bucket has the last number";
  }
  EXPECT_LE(kShortSegmentItemsMax / 32, 32u) << "a warp looks at the words behind a tile at once";
}

// Words that the tiles read and the check marks: those of every tile and of the longest short segment behind it, and
// the bound at n.
TEST(Layout, BitmapReachesBehindTheLastTile) {
  for (const gsort_dtype t : kPlanTypes)
    for (const uint64_t n : plan_sizes())
      for (const uint64_t segments : segment_counts(n)) {
        const Plan l = make_plan(segments_of(t, n, segments), kLeastDevice);
        const uint64_t tile = short_tile_items(dtype_bytes(t));
        if (segments == 0) {
          EXPECT_EQ(0u, l.short_tiles);
          continue;
        }
        EXPECT_GT(l.short_tiles * tile, n) << "the bound at n has a bit";
        EXPECT_LE((l.short_tiles - 1) * tile, n);
        EXPECT_LE(l.short_tiles, UINT32_MAX);
        const uint64_t words = ((l.short_tiles - 1) * tile + tile + kShortSegmentItemsMax) / 32;
        EXPECT_LE(l.bounds + words * 4, l.zero_bytes);
        EXPECT_LE(l.bounds + (n / 32 + 1) * 4, l.zero_bytes);
      }
}

void check_lists(const Request &r, const Plan &l) {
  const uint32_t bytes = dtype_bytes(r.order.dtype);
  // As many segments as there can be of the least size of a list.
  const auto most = [&](uint64_t least) { return std::min(r.segments, r.n / least); };
  EXPECT_EQ(most(kShortSegmentItemsMax + 1), l.small_max);
  EXPECT_EQ(most(small_segment_items(bytes) + 1), l.medium_max);
  EXPECT_EQ(merges(bytes) ? most(small_segment_items(bytes) + 1) : 0, l.middle_max);
  EXPECT_EQ(most(medium_segment_items(bytes) + 1), l.large_max);
  EXPECT_EQ(l.large_max, l.big_max);
  // Large segments that are all but one key of a tile too long.
  const uint64_t tile = segment_tile_items(bytes), n = r.n;
  if (l.large_max == 0) {
    EXPECT_EQ(0u, l.large_tiles_max + l.partition_tiles_max);
    EXPECT_EQ(0u, l.parts_max + l.buckets_max) << "nothing is partitioned";
    return;
  }
  EXPECT_GE(l.large_tiles_max, (n + tile - 1) / tile);
  EXPECT_GE(l.large_tiles_max, n / (tile + 1) < l.large_max ? 2 * (n / (tile + 1)) : l.large_max);
  EXPECT_LE(l.large_tiles_max, n / tile + l.parts_max);
  if (bytes < 4) {
    EXPECT_EQ(l.large_max, l.parts_max);
    EXPECT_EQ(0u, l.buckets_max + l.partition_tiles_max);
    return;
  }
  // Buckets too long for a block, however few the segments are; and those of as many segments as there can be, that
  // are one key too long for a block or as long as the keys are.
  EXPECT_EQ(n / (medium_segment_items(bytes) + 1), l.parts_max);
  const uint64_t part_tile = partition_tile_items();
  EXPECT_GE(l.partition_tiles_max, (n + part_tile - 1) / part_tile);
  EXPECT_GE(l.partition_tiles_max, l.parts_max * ((medium_segment_items(bytes) + part_tile) / part_tile))
      << "segments that are one key too long for a block";
  const auto entries = [&](uint64_t length) {
    const uint64_t share = bucket_items(bytes), wanted = (length + share - 1) / share;
    return std::min<uint64_t>(std::max<uint64_t>(wanted, kBucketsMin), kBucketsMax) + 1;
  };
  const uint64_t shortest = medium_segment_items(bytes) + 1;
  EXPECT_LE(kPartitionRounds * l.parts_max * entries(shortest), l.buckets_max);
  EXPECT_LE(kPartitionRounds * entries(n), l.buckets_max);
}

TEST(Layout, ListsHoldTheSegmentsOfEverySize) {
  for (const gsort_dtype t : kPlanTypes)
    for (const uint64_t n : plan_sizes()) {
      uint64_t fewer = 0;
      for (const uint64_t segments : segment_counts(n)) {
        const Request r = segments_of(t, n, segments);
        const Plan l = make_plan(r, kLeastDevice);
        const uint64_t bytes = dtype_bytes(t), digits = digits_of(dtype_bytes(t)), bins = kDigitBins;
        check_lists(r, l);
        const uint64_t bits = l.short_tiles * short_tile_items(dtype_bytes(t)) + kShortSegmentItemsMax;
        expect_apart({{"list_counts", l.list_counts, 14 * 8},
                      {"tickets", l.tickets, digits * 4},
                      {"bounds", l.bounds, segments == 0 ? 0 : bits / 8},
                      {"look_back", l.look_back, l.large_tiles_max * bins * 8},
                      {"large_counts", l.large_counts, l.parts_max * digits * bins * 8},
                      {"small_list", l.small_list, (l.small_max + l.buckets_max) * 8},
                      {"middle_list", l.middle_list, (l.middle_max + l.buckets_max) * 8},
                      {"medium_list", l.medium_list, (l.medium_max + l.buckets_max) * 8},
                      {"big_list", l.big_list, l.big_max == 0 ? 0 : (l.big_max + l.buckets_max) * 8},
                      {"small_merges_list", l.small_merges_list, bytes == 8 ? (l.small_max + l.buckets_max) * 8 : 0},
                      {"middle_merges_list", l.middle_merges_list, bytes == 8 ? (l.middle_max + l.buckets_max) * 8 : 0},
                      {"medium_merges_list", l.medium_merges_list, bytes == 8 ? (l.medium_max + l.buckets_max) * 8 : 0},
                      {"large_list", l.large_list, l.large_max * 8},
                      {"large_tile_begins", l.large_tile_begins, (l.parts_max + 1) * 8},
                      {"again_list", l.again_list, l.buckets_max == 0 ? 0 : l.parts_max * 8},
                      {"radix_list", l.radix_list, l.buckets_max == 0 ? 0 : l.parts_max * 8},
                      {"parts", l.parts, l.buckets_max == 0 ? 0 : l.parts_max * kPartBytes},
                      {"bucket_begins", l.bucket_begins, l.buckets_max * 8},
                      {"bucket_counts", l.bucket_counts, l.buckets_max * 8},
                      {"bucket_room", l.bucket_room, l.buckets_max * 8},
                      {"bucket_starts", l.bucket_starts, l.buckets_max * bytes},
                      {"keys_y", l.keys_y, l.large_max == 0 ? 0 : n * bytes}},
                     l.workspace_bytes, 256);
        EXPECT_EQ(l.look_back, l.zero_bytes) << "what is cleared ends where the passes' words begin";
        if (l.large_max == 0) {
          EXPECT_LE(l.workspace_bytes, l.keys_y) << "room for keys that are never moved";
        }
        if (segments >= 1 && segments <= n) {
          EXPECT_GE(l.workspace_bytes, fewer) << "more segments may need more room, not less";
          fewer = l.workspace_bytes;
        }
      }
    }
}

TEST(SegmentsPlan, WorkspaceDoesNotDependOnTheDevice) {
  for (const gsort_dtype t : kPlanTypes)
    for (const uint64_t n : plan_sizes())
      for (const uint64_t segments : segment_counts(n)) {
        const Request r = segments_of(t, n, segments);
        const Plan small = make_plan(r, kLeastDevice), large = make_plan(r, {100, 148, 232448});
        EXPECT_EQ(small.workspace_bytes, large.workspace_bytes);
        for (const uint32_t blocks : {small.check_blocks, small.short_blocks, small.small_blocks, small.middle_blocks,
                                      small.medium_blocks, small.merge_blocks, small.big_blocks, small.count_blocks})
          EXPECT_GE(blocks, 1u);
        EXPECT_EQ(small.whole, large.whole);
        if (!large.whole) {
          EXPECT_LE(large.short_blocks, std::max<uint64_t>(large.short_tiles, 1)) << "a block without a tile";
        }
        EXPECT_GE(uint64_t{large.check_blocks} * kCheckItems, std::min<uint64_t>(segments, 148 * 8 * kCheckItems));
      }
}

// Big segments have a kernel of their own where the mean length is theirs and a block has the memory.
TEST(SegmentsPlan, BigSegmentsByTheMeanLength) {
  const DeviceFacts large = {90, 132, 232448};
  for (const gsort_dtype t : kPlanTypes) {
    const uint64_t n = uint64_t{1} << 25;
    const auto has_big = [&](uint64_t length, const DeviceFacts &facts) {
      return make_plan(segments_of(t, n, n / length), facts).big;
    };
    const uint32_t key_bytes = dtype_bytes(t);
    for (const uint64_t length : {1000u, 4000u, 5000u, 9000u, 13000u, 24000u, 30000u, 65000u, 70000u, 1000000u}) {
      const uint64_t least = key_bytes == 1 ? 4096 : medium_segment_items(key_bytes) * 3 / 4;
      EXPECT_EQ(length >= least && length <= big_segment_items(key_bytes), has_big(length, large))
          << length << " of " << key_bytes << " bytes";
      if (key_bytes > 1) {
        EXPECT_FALSE(has_big(length, kLeastDevice)) << "no room in a block";
      }
    }
    EXPECT_FALSE(make_plan(segments_of(t, n, 0), large).big);
    EXPECT_FALSE(make_plan(segments_of(t, medium_segment_items(key_bytes), 1), large).big) << "none is as long";
  }
  EXPECT_FALSE(make_plan(segments_of(GSORT_U8, 5000000, 255), {90, 132, 232448}).big) << "a few take a warp longer";
  EXPECT_TRUE(make_plan(segments_of(GSORT_U8, 5000000, 256), {90, 132, 232448}).big);
}

// Each block of a whole call has a tile of keys, in which one segment that is not short can begin at most, and looks at
// all offsets.
TEST(SegmentsPlan, FewKeysInFewSegmentsAreAWholeCall) {
  EXPECT_EQ(kShortSegmentItemsMax, kWholeTileItems);
  for (const gsort_dtype t : kPlanTypes)
    for (const uint64_t n : plan_sizes())
      for (const uint64_t segments : segment_counts(n)) {
        const Plan l = make_plan(segments_of(t, n, segments), {90, 132, 232448});
        EXPECT_EQ(segments != 0 && segments <= kWholeSegmentsMax && n <= kWholeItemsMax, l.whole);
        if (!l.whole) continue;
        EXPECT_GE(uint64_t{l.short_blocks} * kWholeTileItems, n);
        EXPECT_LT((uint64_t{l.short_blocks} - 1) * kWholeTileItems, std::max<uint64_t>(n, 1));
        EXPECT_FALSE(l.spread) << "few keys are merged at once";
      }
}

}  // namespace
}  // namespace gsort_test
