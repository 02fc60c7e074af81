// SPDX-License-Identifier: MIT OR Apache-2.0
// Plans of the sorts of short inputs, on chip in one block or by a team of blocks.
#include <algorithm>

#include "cuda/sort/small/small_plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;

bool holds(uint32_t item_bytes, uint32_t key_bytes, bool sources, uint64_t n) {
  uint32_t place_bits = 0;
  while (sources && (n - 1) >> place_bits != 0) ++place_bits;
  return key_bytes * 8 + place_bits <= item_bytes * 8;
}

TEST(SmallPlan, ItemsHoldKeysAndPlaces) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (const bool sources : {false, true}) {
      const uint32_t bytes = small_item_bytes(key_bytes, sources), items = small_sort_items(bytes);
      EXPECT_TRUE(holds(bytes, key_bytes, sources, 2 * items));
      if (key_bytes >= 4) {
        EXPECT_TRUE(holds(bytes, key_bytes, sources, kTeamItemsMax));
        EXPECT_TRUE(holds(2 * key_bytes, key_bytes, true, kTeamItemsMax)) << "bounds of ranges are distinct items";
      }
      EXPECT_EQ(0u, items % kSmallSortThreads);
      EXPECT_LE(kRankSortItemsMax, items);
    }
}

TEST(SmallPlan, BlocksTakeWhatTheyHold) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (const bool sources : {false, true}) {
      const uint32_t bytes = small_item_bytes(key_bytes, sources), items = small_sort_items(bytes);
      EXPECT_TRUE(small_sort_applies(1, key_bytes, sources, 0));
      EXPECT_TRUE(small_sort_applies(items, key_bytes, sources, 0));
      EXPECT_FALSE(small_sort_applies(items + 1, key_bytes, sources, kLongBlockSharedBytes - 1));
      EXPECT_TRUE(small_sort_applies(2 * items, key_bytes, sources, kLongBlockSharedBytes));
      EXPECT_FALSE(small_sort_applies(2 * items + 1, key_bytes, sources, UINT32_MAX));
      // Where a team is to be had, shared memory is there for a long block, too.
      EXPECT_GE(kTeamSharedBytesMin, kLongBlockSharedBytes);
      EXPECT_TRUE(small_sort_applies(single_block_items(key_bytes, sources), key_bytes, sources, kTeamSharedBytesMin));
      EXPECT_GE(uint64_t{single_block_items(key_bytes, sources)}, uint64_t{kTeamShareAimed})
          << "between a block and a team no way is left";
      EXPECT_LE(2 * items * bytes, kLongBlockSharedBytes);
    }
}

TEST(TeamPlan, AppliesToWideKeysWithinItsLimits) {
  for (const uint32_t key_bytes : {1u, 2u}) EXPECT_FALSE(team_applies(kTeamItemsMax, key_bytes));
  for (const uint32_t key_bytes : {4u, 8u}) {
    EXPECT_FALSE(team_applies(kTeamShareAimed - 1, key_bytes));
    EXPECT_TRUE(team_applies(kTeamShareAimed, key_bytes));
    EXPECT_TRUE(team_applies(kTeamItemsMax, key_bytes));
    EXPECT_FALSE(team_applies(kTeamItemsMax + 1, key_bytes));
  }
}

TEST(TeamPlan, SharesCoverTheInputAndFitTheirBlocks) {
  std::vector<uint64_t> sizes = plan_sizes();
  for (uint64_t n = kTeamShareAimed; n <= kTeamItemsMax; n += 37) sizes.push_back(n);
  for (const uint64_t edge : {kTeamHalfItemsMax, kTeamItemsMax, uint64_t{kTeamShareAimed} * kTeamBlocksMax / 2})
    sizes.insert(sizes.end(), {edge - 1, edge, edge + 1});
  for (const uint64_t n : sizes) {
    if (!team_applies(n, 4)) continue;
    const TeamPlan plan = plan_team(n);
    ASSERT_GE(plan.blocks, 1u);
    EXPECT_LE(plan.blocks, kTeamBlocksMax);
    EXPECT_GE(uint64_t{plan.blocks} * plan.share, n);
    EXPECT_LT(uint64_t{plan.blocks - 1} * plan.share, n) << "a block without items";
    EXPECT_LE(plan.share, kTeamRangeItems);
    EXPECT_LT(plan.share, 65536u) << "a place in a share has 16 bits";
    EXPECT_LE(std::min<uint64_t>(3 * n / plan.blocks, n), kTeamRangeItems) << "ranges of three times the mean";
    EXPECT_EQ(plan.blocks * kTeamSamplesEach, plan.samples);
    EXPECT_LE(plan.samples, n) << "every part of the input that is sampled has an item";
    EXPECT_EQ(0u, kTeamBlocksMax * kTeamSamplesEach % kTeamThreads) << "rows of the sample";
  }
  EXPECT_EQ(1u, plan_team(kTeamShareAimed).blocks);
  EXPECT_EQ(kTeamBlocksMax / 2, plan_team(kTeamHalfItemsMax).blocks);
  EXPECT_EQ(kTeamBlocksMax, plan_team(kTeamItemsMax).blocks);
}

// A block stores the starts of all ranges in vectors of 16 bytes, and its count behind them.
TEST(TeamPlan, StartsAreAligned) {
  EXPECT_EQ(0u, kTeamStartsStride * 4 % 16);
  EXPECT_GT(kTeamStartsStride, kTeamBlocksMax);
  EXPECT_EQ(kTeamBlocksMax * kTeamStartsStride * 4, kTeamStartsBytes);
}

}  // namespace
}  // namespace gsort_test
