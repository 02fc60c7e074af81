// SPDX-License-Identifier: MIT OR Apache-2.0
// Plans of the sorts of short inputs, on chip in one block or by the blocks of a grid.
#include <algorithm>

#include "cuda/sort/small/plan.h"
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
      const uint32_t bytes = sort::small::bytes_of_item(key_bytes, sources), items = sort::small::block_items(bytes);
      EXPECT_TRUE(holds(bytes, key_bytes, sources, 2 * items));
      EXPECT_TRUE(key_bytes > 2 || !sources ||
                  holds(bytes, key_bytes, sources, sort::small::single_block_items(key_bytes, sources)));
      if (key_bytes >= 4) {
        const uint64_t most = sort::small::grid_items_max(key_bytes, sources);
        EXPECT_TRUE(holds(bytes, key_bytes, sources, most));
        EXPECT_TRUE(holds(2 * key_bytes, key_bytes, true, most)) << "bounds of ranges are distinct items";
      }
      EXPECT_EQ(0u, items % sort::small::kBlockThreads);
      EXPECT_LE(sort::small::kRankSortItemsMax, items);
    }
}

// Whatever the device.
TEST(SmallPlan, ABlockTakesNarrowKeys) {
  for (const uint32_t key_bytes : {1u, 2u})
    for (const bool sources : {false, true}) {
      const uint64_t most = sort::small::single_block_items(key_bytes, sources);
      EXPECT_EQ(key_bytes == 1 && !sources ? sort::small::kCountSortItemsMax : sort::small::kNarrowItemsMax, most);
      for (const uint32_t shared_bytes : {64u * 1024, 227u * 1024}) {
        EXPECT_TRUE(sort::small::block_applies(1, key_bytes, sources, shared_bytes));
        EXPECT_TRUE(sort::small::block_applies(most, key_bytes, sources, shared_bytes));
        EXPECT_FALSE(sort::small::block_applies(most + 1, key_bytes, sources, shared_bytes));
      }
    }
}

TEST(SmallPlan, BlocksTakeWhatTheyHold) {
  for (const uint32_t key_bytes : {4u, 8u})
    for (const bool sources : {false, true}) {
      const uint32_t bytes = sort::small::bytes_of_item(key_bytes, sources), items = sort::small::block_items(bytes);
      EXPECT_TRUE(sort::small::block_applies(1, key_bytes, sources, 0));
      EXPECT_TRUE(sort::small::block_applies(items, key_bytes, sources, 0));
      EXPECT_FALSE(sort::small::block_applies(items + 1, key_bytes, sources, sort::small::kLongBlockSharedBytes - 1));
      EXPECT_TRUE(sort::small::block_applies(2 * items, key_bytes, sources, sort::small::kLongBlockSharedBytes));
      EXPECT_FALSE(sort::small::block_applies(2 * items + 1, key_bytes, sources, UINT32_MAX));
      // Where a grid is to be had, shared memory is there for a long block, too.
      EXPECT_GE(sort::small::kGridSharedBytesMin, sort::small::kLongBlockSharedBytes);
      EXPECT_TRUE(sort::small::block_applies(sort::small::single_block_items(key_bytes, sources), key_bytes, sources,
                                             sort::small::kGridSharedBytesMin));
      EXPECT_GE(uint64_t{sort::small::single_block_items(key_bytes, sources)}, uint64_t{sort::small::kGridShareAimed})
          << "between a block and a grid no way is left";
      EXPECT_LE(2 * items * bytes, sort::small::kLongBlockSharedBytes);
    }
}

TEST(GridPlan, AppliesToWideKeysWithinItsLimits) {
  for (const bool sources : {false, true}) {
    for (const uint32_t key_bytes : {1u, 2u})
      EXPECT_FALSE(sort::small::grid_applies(sort::small::kGridItemsMax, key_bytes, sources));
    for (const uint32_t key_bytes : {4u, 8u}) {
      const uint64_t most = sort::small::grid_items_max(key_bytes, sources);
      EXPECT_GE(most, sort::small::kGridItemsMax);
      EXPECT_FALSE(sort::small::grid_applies(sort::small::kGridShareAimed - 1, key_bytes, sources));
      EXPECT_TRUE(sort::small::grid_applies(sort::small::kGridShareAimed, key_bytes, sources));
      EXPECT_TRUE(sort::small::grid_applies(most, key_bytes, sources));
      EXPECT_FALSE(sort::small::grid_applies(most + 1, key_bytes, sources));
    }
  }
}

void check_grid(uint64_t n) {
  const sort::small::GridPlan plan = sort::small::plan_grid(n);
  const uint64_t holds =
      plan.is_long ? sort::small::kGridThreads * sort::small::kLongGridRows : sort::small::kBucketItemsMax;
  const uint32_t each = sort::small::kGridSamplesEach;
  ASSERT_GE(plan.blocks, 1u);
  EXPECT_LE(plan.blocks, sort::small::kGridBlocksMax);
  EXPECT_GE(uint64_t{plan.blocks} * plan.share, n);
  EXPECT_LT(uint64_t{plan.blocks - 1} * plan.share, n) << "a block without items";
  EXPECT_LE(plan.share, holds);
  EXPECT_LT(plan.share, 65536u) << "a place in a share has 16 bits";
  EXPECT_LE(std::min<uint64_t>(3 * n / plan.blocks, n), holds) << "buckets 6 deviations from the mean";
  EXPECT_EQ(plan.blocks * each, plan.samples);
  EXPECT_LE(plan.samples, n) << "every part of the input that is sampled has an item";
  EXPECT_EQ(0u, sort::small::kGridBlocksMax * each % sort::small::kGridThreads) << "rows of the sample";
}

TEST(GridPlan, SharesCoverTheInputAndFitTheirBlocks) {
  const uint64_t most = sort::small::grid_items_max(8, false);
  std::vector<uint64_t> sizes = plan_sizes();
  for (uint64_t n = sort::small::kGridShareAimed; n <= most; n += 37) sizes.push_back(n);
  for (const uint64_t edge : {sort::small::kGridHalfItemsMax, sort::small::kGridItemsMax, most,
                              uint64_t{sort::small::kGridShareAimed} * sort::small::kGridBlocksMax / 2})
    sizes.insert(sizes.end(), {edge - 1, edge, edge + 1});
  for (const uint64_t n : sizes)
    if (n >= sort::small::kGridShareAimed && n <= most) check_grid(n);
  EXPECT_EQ(1u, sort::small::plan_grid(sort::small::kGridShareAimed).blocks);
  EXPECT_EQ(sort::small::kGridBlocksMax / 2, sort::small::plan_grid(sort::small::kGridHalfItemsMax).blocks);
  EXPECT_EQ(sort::small::kGridBlocksMax, sort::small::plan_grid(sort::small::kGridItemsMax).blocks);
  EXPECT_FALSE(sort::small::plan_grid(sort::small::kGridItemsMax).is_long);
  EXPECT_TRUE(sort::small::plan_grid(sort::small::kGridItemsMax + 1).is_long);
}

// A block stores the starts of all ranges in vectors of 16 bytes, and its count behind them.
TEST(GridPlan, StartsAreAligned) {
  EXPECT_EQ(0u, sort::small::kGridStartsStride * 4 % 16);
  EXPECT_GT(sort::small::kGridStartsStride, sort::small::kGridBlocksMax);
  EXPECT_EQ(sort::small::kGridBlocksMax * sort::small::kGridStartsStride * 4, sort::small::kGridStartsBytes);
}

}  // namespace
}  // namespace gsort_test
