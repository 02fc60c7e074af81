// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <set>
#include <string>

#include "core/dtype.h"
#include "cuda/segments/plan.h"
#include "cuda/sort/msd/tables.h"
#include "cuda/sort/plan.h"
#include "cuda/sort/sample_sort/stable_tables.h"
#include "cuda/sort/sample_sort/tables.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::sort;

std::vector<Request> requests() {
  std::vector<Request> all;
  for (const gsort_dtype t : kPlanTypes)
    for (const uint64_t n : plan_sizes()) {
      for (const Operation operation : {Operation::kSort, Operation::kArgsort, Operation::kRank})
        all.push_back(make(operation, t, n, 0));
      for (const uint32_t value_bytes : {1u, 3u, 4u, 8u, 16u, 100u})
        all.push_back(make(Operation::kSortPairs, t, n, value_bytes));
    }
  return all;
}

// From the least chip to the greatest, with and without room for each algorithm.
constexpr DeviceFacts kDevices[] = {{75, 1, 48 * 1024},    {75, 40, 64 * 1024},    {86, 84, 99 * 1024},
                                    {80, 128, 163 * 1024}, {90, 114, 227 * 1024},  {90, 132, 227 * 1024},
                                    {90, 132, 100 * 1024}, {100, 148, 227 * 1024}, {120, 170, 99 * 1024}};
constexpr DeviceFacts kHopper = {90, 132, 227 * 1024};

constexpr Algorithm kAlgorithms[] = {Algorithm::kRankSort,      Algorithm::kSmallBlock, Algorithm::kGridSampleSort,
                                     Algorithm::kGridRadixSort, Algorithm::kLsd,        Algorithm::kMsd,
                                     Algorithm::kStable,        Algorithm::kSampleSort, Algorithm::kStableSampleSort,
                                     Algorithm::kCountFill};

Options asking_for(Algorithm algorithm, uint32_t portion_tiles = 0) {
  Options options;
  options.algorithm = algorithm;
  options.portion_tiles = portion_tiles;
  return options;
}

bool may_take(const Request &r, const Plan &plan, const DeviceFacts &device, bool asked, Algorithm algorithm) {
  const bool keys_alone = r.operation == Operation::kSort;
  const uint32_t shared = device.shared_bytes_block_max;
  switch (algorithm) {
    case Algorithm::kRankSort:
      return r.n <= small::kRankSortItemsMax;
    case Algorithm::kSmallBlock:
      return small::block_applies(r.n, plan.key_bytes, !keys_alone, shared);
    case Algorithm::kGridSampleSort:
      return device.compute_capability >= 90 && device.compute_capability < 120 &&
             device.multiprocessors >= small::kGridBlocksMax && shared >= small::kGridSharedBytesMin &&
             small::grid_applies(r.n, plan.key_bytes, !keys_alone);
    case Algorithm::kGridRadixSort:
      return device.compute_capability >= 90 && device.compute_capability < 120 &&
             device.multiprocessors >= lsd::kGridBlocksMax && shared >= lsd::kGridSharedBytes &&
             lsd::grid_applies(r.n, plan.key_bytes, keys_alone);
    case Algorithm::kStable:
      return !keys_alone && shared >= msd::kStableSharedBytesMin &&
             msd::stable_applies(r.n, plan.key_bytes, carry_bytes(plan.carry), asked);
    case Algorithm::kLsd:
      return !keys_alone || plan.key_bytes > 1;
    case Algorithm::kMsd:
      return keys_alone && shared >= msd::kSharedBytesMin && msd::applies(r.n, plan.key_bytes) &&
             (r.order.dtype != GSORT_F32 || !msd::has_one_pass(r.n));
    case Algorithm::kSampleSort:
      return keys_alone && shared >= msd::kSharedBytesMin && sample_sort::applies(r.n, plan.key_bytes) &&
             (plan.key_bytes == 8 ||
              (device.compute_capability >= 90 && device.compute_capability < 120 &&
               device.multiprocessors >= sample_sort::kShareBlocksMax && shared >= sample_sort::kShareSharedBytes));
    case Algorithm::kStableSampleSort:
      return !keys_alone && device.compute_capability >= 90 && device.compute_capability < 120 &&
             device.multiprocessors >= sample_sort::kStableBlocksMax && shared >= msd::kStableMapSharedBytesMin &&
             sample_sort::stable_applies(r.n, plan.key_bytes, carry_bytes(plan.carry), asked);
    case Algorithm::kCountFill:
      return keys_alone && (plan.key_bytes == 1 || (plan.key_bytes == 2 && shared >= 129 * 1024));
    default:
      return false;
  }
}

TEST(SortPlan, ChoosesWhatTheRequestAndTheDeviceAllow) {
  for (const Request &r : requests()) {
    for (const DeviceFacts &device : kDevices) {
      const Plan plan = make_plan(r, device);
      const lsd::Plan &lsd = plan.lsd;
      EXPECT_EQ(dtype_bytes(r.order.dtype), plan.key_bytes);
      EXPECT_EQ(plan.key_bytes * 8, lsd.digits * kDigitBits);
      EXPECT_TRUE(may_take(r, plan, device, false, plan.algorithm)) << algorithm_name(plan.algorithm) << ", n " << r.n;
      EXPECT_EQ(0u, lsd.portion_items % lsd.tile_items);
      EXPECT_LE(lsd.portion_items, lsd::kPortionItemsMax);
      EXPECT_GT(lsd.portion_items + lsd.tile_items, lsd::kPortionItemsMax) << "portions are as long as can be";
      EXPECT_GE(lsd.portions * lsd.portion_items, r.n);
      EXPECT_LT((lsd.portions - 1) * lsd.portion_items, r.n);
      for (const Algorithm asked : kAlgorithms) {
        const Plan other = make_plan(r, device, asking_for(asked, 3));
        EXPECT_EQ(may_take(r, plan, device, true, asked) ? asked : plan.algorithm, other.algorithm);
        EXPECT_EQ(uint64_t{3} * other.lsd.tile_items, other.lsd.portion_items);
      }
    }
  }
}

// What a kernel takes of a block's shared memory must be there.
TEST(SortPlan, SubPlansFitTheDevice) {
  for (const Request &r : requests())
    for (const DeviceFacts &device : kDevices) {
      const Plan plan = make_plan(r, device);
      const uint32_t shared = device.shared_bytes_block_max;
      EXPECT_LE(lsd::histogram_counters_bytes(plan.key_bytes, plan.lsd.histogram_copies) + 1024, shared);
      EXPECT_EQ(plan.algorithm == Algorithm::kMsd || plan.even_first == EvenFirst::kMsd, plan.msd.cell_bits != 0);
      EXPECT_EQ(plan.algorithm == Algorithm::kStable, plan.stable.cell_bits != 0);
      EXPECT_EQ(plan.algorithm == Algorithm::kStableSampleSort, plan.stable_sample.blocks != 0);
      EXPECT_LE(plan.stable_sample.blocks, device.multiprocessors) << "all blocks at once";
      EXPECT_EQ(plan.algorithm == Algorithm::kGridSampleSort, plan.grid.blocks != 0);
      EXPECT_LE(plan.grid.blocks, device.multiprocessors) << "all blocks at once";
      const lsd::GridPlan &radix = plan.grid_radix;
      EXPECT_LE(radix.blocks, std::min(device.multiprocessors, lsd::kGridBlocksMax)) << "likewise";
      EXPECT_TRUE(radix.blocks == 0 || shared >= lsd::kGridSharedBytes);
      EXPECT_EQ(plan.algorithm == Algorithm::kGridRadixSort || plan.even_first == EvenFirst::kGrid, radix.blocks != 0);
      EXPECT_TRUE(plan.even_first == EvenFirst::kNothing || plan.algorithm == Algorithm::kSampleSort);
      EXPECT_TRUE(radix.blocks == 0 || may_take(r, plan, device, true, Algorithm::kGridRadixSort));
      if (radix.blocks != 0) {
        EXPECT_LE(radix.rows, lsd::grid_rows_max(plan.key_bytes, plan.carry == Carry::kNothing));
        EXPECT_LT(uint64_t{radix.blocks - 1} * radix.rows * lsd::kGridThreads, r.n) << "no block without keys";
        EXPECT_GE(uint64_t{radix.blocks} * radix.rows * lsd::kGridThreads, r.n);
      }
      EXPECT_TRUE(plan.msd.cell_bits == 0 || msd::histogram_bytes(plan.msd) <= shared);
      EXPECT_TRUE(plan.algorithm != Algorithm::kStable || msd::stable_counts_bytes(plan.stable) <= shared);
      EXPECT_LE((4u << plan.fast_path.counter_bits) + fast_path::kStaticBytes, shared);
    }
}

constexpr DeviceFacts kFewMultiprocessors = {90, small::kGridBlocksMax - 1, 227 * 1024};

Algorithm chosen(gsort_dtype t, uint64_t n, const DeviceFacts &device = kHopper) {
  return make_plan(make(Operation::kSort, t, n, 0), device).algorithm;
}

// In how many items one block sorts in its shared memory.
uint32_t in_block(uint32_t bytes) {
  return bytes <= 2 ? small::single_block_items(bytes, false)
                    : 2 * small::block_items(small::bytes_of_item(bytes, false));
}

TEST(SortPlan, ShortInputsStayInOneBlock) {
  for (const gsort_dtype t : kPlanTypes) {
    const uint32_t bytes = dtype_bytes(t), longest = in_block(bytes);
    EXPECT_EQ(Algorithm::kRankSort, chosen(t, small::kRankSortItemsMax));
    EXPECT_EQ(Algorithm::kSmallBlock, chosen(t, small::kRankSortItemsMax + 1));
    EXPECT_EQ(Algorithm::kSmallBlock, chosen(t, small::single_block_items(bytes, false)));
    EXPECT_EQ(Algorithm::kSmallBlock, chosen(t, longest, kFewMultiprocessors));
    EXPECT_EQ(bytes == 1 ? Algorithm::kCountFill : Algorithm::kLsd, chosen(t, longest + 1, kFewMultiprocessors));
  }
}

TEST(SortPlan, LongNarrowKeysTakeTheGridsRadixSortOrAreCounted) {
  for (const gsort_dtype t : kPlanTypes) {
    const uint32_t bytes = dtype_bytes(t);
    if (bytes > 2) continue;
    const uint64_t most_radix = lsd::grid_items_max(bytes, true);
    EXPECT_EQ(Algorithm::kGridRadixSort, chosen(t, in_block(bytes) + 1));
    EXPECT_EQ(Algorithm::kGridRadixSort, chosen(t, most_radix));
    EXPECT_EQ(bytes == 1 ? Algorithm::kCountFill : Algorithm::kLsd, chosen(t, most_radix + 1));
    if (bytes == 1) continue;
    EXPECT_EQ(Algorithm::kLsd, chosen(t, fast_path::kCountFillItemsMin2 - 1, kFewMultiprocessors));
    EXPECT_EQ(Algorithm::kCountFill, chosen(t, fast_path::kCountFillItemsMin2, kFewMultiprocessors));
    EXPECT_EQ(Algorithm::kLsd, chosen(t, fast_path::kCountFillItemsMin2, kLeastDevice));
  }
}

TEST(SortPlan, LongWideKeysTakeASortByAGridOrPartitions) {
  for (const gsort_dtype t : kPlanTypes) {
    const uint32_t bytes = dtype_bytes(t);
    if (bytes < 4) continue;
    EXPECT_EQ(Algorithm::kGridSampleSort, chosen(t, small::single_block_items(bytes, false) + 1));
    const uint64_t most_sample = small::grid_items_max(bytes, false), most_radix = lsd::grid_items_max(bytes, true);
    EXPECT_EQ(bytes == 8 ? 2 * small::kGridItemsMax : small::kGridItemsMax, most_sample);
    EXPECT_EQ(uint64_t{bytes == 4 ? 2u : 1u} << 20, most_radix);
    EXPECT_EQ(Algorithm::kGridSampleSort, chosen(t, most_sample));
    EXPECT_EQ(0u, make_plan(make(Operation::kSort, t, most_radix + 1, 0), kHopper).grid_radix.blocks);
    EXPECT_EQ(Algorithm::kLsd, chosen(t, msd::kItemsMin - 1, kFewMultiprocessors));
    EXPECT_EQ(Algorithm::kLsd, chosen(t, msd::kItemsMin, kLeastDevice));
    if (bytes == 4) {
      EXPECT_EQ(Algorithm::kGridRadixSort, chosen(t, most_sample + 1));
      EXPECT_EQ(Algorithm::kGridRadixSort, chosen(t, most_radix));
      const Algorithm partition = t == GSORT_F32 ? Algorithm::kLsd : Algorithm::kMsd;
      const uint64_t most_held = sample_sort::items_max(4);
      EXPECT_EQ(most_radix + 1, sample_sort::items_min(4));
      EXPECT_EQ(Algorithm::kSampleSort, chosen(t, most_radix + 1));
      EXPECT_EQ(Algorithm::kSampleSort, chosen(t, most_held));
      EXPECT_EQ(partition, chosen(t, most_held + 1));
      EXPECT_EQ(partition, chosen(t, msd::kItemsMin, kFewMultiprocessors));
      EXPECT_EQ(partition, chosen(t, most_held, kFewMultiprocessors));
    }
    EXPECT_EQ(Algorithm::kMsd, chosen(t, msd::kItemsMax));
    EXPECT_EQ(Algorithm::kLsd, chosen(t, msd::kItemsMax + 1));
  }
}

// Up to where even keys take two passes of the partition sort.
TEST(SortPlan, UnevenKeysOfEightBytesTakeTheSampleSort) {
  const uint64_t most_grid = lsd::grid_items_max(8, true);
  for (const gsort_dtype t : {GSORT_U64, GSORT_I64, GSORT_F64}) {
    const auto plan = [&](uint64_t n, const DeviceFacts &device = kHopper) {
      return make_plan(make(Operation::kSort, t, n, 0), device);
    };
    EXPECT_EQ(sample_sort::items_min(8), 2 * small::kGridItemsMax + 1) << "behind the sample sort by a grid";
    for (const uint64_t n : {sample_sort::items_min(8), most_grid, most_grid + 1, sample_sort::kItemsMax})
      EXPECT_EQ(Algorithm::kSampleSort, plan(n).algorithm);
    for (const uint64_t n : {most_grid, sample_sort::share_items_max(8), sample_sort::kItemsMax}) {
      const uint64_t blocks = sample_sort::kShareBlocksMax, share = plan(n).sample_sort.share_items;
      EXPECT_EQ(n > sample_sort::share_items_max(8), share == 0);
      EXPECT_TRUE(share == 0 || (share * blocks >= n && (share - 1024) * blocks < n && share % 1024 == 0));
      EXPECT_LE(share * 8, 128u * 1024);
    }
    EXPECT_EQ(0u, plan(most_grid, kFewMultiprocessors).sample_sort.share_items);
    EXPECT_EQ(Algorithm::kMsd, plan(sample_sort::kItemsMax + 1).algorithm);
    EXPECT_EQ(Algorithm::kLsd, plan(sample_sort::kItemsMax, kLeastDevice).algorithm);
    const bool floats = t == GSORT_F64;
    EXPECT_EQ(floats ? EvenFirst::kNothing : EvenFirst::kGrid, plan(most_grid).even_first);
    EXPECT_EQ(floats ? EvenFirst::kNothing : EvenFirst::kMsd, plan(most_grid + 1).even_first);
    EXPECT_EQ(floats ? EvenFirst::kNothing : EvenFirst::kMsd, plan(most_grid, kFewMultiprocessors).even_first);
    EXPECT_EQ(!floats, plan(most_grid).grid_finds_cells);
  }
}

TEST(SortPlan, FewFloatsArePassedOverByThePartitionSort) {
  EXPECT_EQ(Algorithm::kLsd, chosen(GSORT_F32, sample_sort::items_max(4) + 1));
  EXPECT_EQ(Algorithm::kLsd, chosen(GSORT_F32, msd::kFloatItemsMin - 1));
  EXPECT_EQ(Algorithm::kMsd, chosen(GSORT_F32, msd::kFloatItemsMin));
  EXPECT_EQ(Algorithm::kMsd, chosen(GSORT_I32, sample_sort::items_max(4) + 1));
}

// But where it is asked for by a test.
TEST(SortPlan, FewKeysOfFourBytesHaveNoMap) {
  const auto plan_of = [](gsort_dtype t, uint64_t n, Algorithm algorithm = Algorithm::kAuto) {
    Options options;
    options.algorithm = algorithm;
    return make_plan(make(Operation::kSort, t, n, 0), kHopper, options);
  };
  for (const uint64_t n : {msd::kNarrowMapForcedMin, msd::kNarrowMapItemsMin - 1}) {
    EXPECT_EQ(0u, plan_of(GSORT_U32, n).msd.mapped_cells);
    EXPECT_FALSE(plan_of(GSORT_U32, n).msd.takes_crowds);
    EXPECT_NE(0u, plan_of(GSORT_U64, n).msd.mapped_cells);
    for (const gsort_dtype t : {GSORT_U32, GSORT_F32}) {
      const Plan forced = plan_of(t, n, Algorithm::kMsd);
      EXPECT_EQ(Algorithm::kMsd, forced.algorithm);
      EXPECT_NE(0u, forced.msd.mapped_cells);
      EXPECT_LE(plan_of(t, n).workspace_bytes, forced.workspace_bytes);
    }
  }
  EXPECT_NE(0u, plan_of(GSORT_U32, msd::kNarrowMapItemsMin).msd.mapped_cells);
}

TEST(SortPlan, AGridLooksForCellsOfKeysAlone) {
  for (const gsort_dtype t : kPlanTypes)
    for (const Operation operation : {Operation::kSort, Operation::kArgsort}) {
      const uint32_t bytes = dtype_bytes(t);
      const Request request = make(operation, t, lsd::grid_items_max(bytes, operation == Operation::kSort), 0);
      const Plan plan = make_plan(request, kHopper);
      const bool wide = bytes == 8 && operation == Operation::kSort;
      EXPECT_EQ(operation == Operation::kSort && bytes >= 4 && !is_float(t), plan.grid_finds_cells);
      EXPECT_EQ(wide ? Algorithm::kSampleSort : Algorithm::kGridRadixSort, plan.algorithm);
      EXPECT_FALSE(make_plan(request, kFewMultiprocessors).grid_finds_cells);
    }
}

TEST(SortPlan, IndicesTakeTheGridsRadixSortBeforeRadixPasses) {
  for (const gsort_dtype t : kPlanTypes)
    for (const Operation operation : {Operation::kArgsort, Operation::kRank}) {
      const auto with_places = [&](uint64_t n) { return make_plan(make(operation, t, n, 0), kHopper).algorithm; };
      EXPECT_EQ(Algorithm::kGridRadixSort, with_places(small::kGridItemsMax + 1));
      EXPECT_EQ(Algorithm::kGridRadixSort, with_places(lsd::grid_items_max(dtype_bytes(t), false)));
      EXPECT_EQ(Algorithm::kLsd, with_places(lsd::grid_items_max(dtype_bytes(t), false) + 1));
    }
}

// Between the radix sort by a grid and stable partitions.
TEST(SortPlan, PairsOfEightByteKeysTakeTheStableSampleSort) {
  const uint64_t most = sample_sort::kStableItemsMax;
  for (const gsort_dtype t : {GSORT_U64, GSORT_I64, GSORT_F64})
    for (const uint32_t value_bytes : {4u, 8u, 16u}) {
      const auto plan = [&](uint64_t n, const DeviceFacts &device = kHopper) {
        return make_plan(make(Operation::kSortPairs, t, n, value_bytes), device);
      };
      const uint64_t least = sample_sort::stable_items_min(value_bytes);
      EXPECT_GT(least, lsd::grid_items_max(8, false)) << "two sorts vie for one input";
      EXPECT_EQ(Algorithm::kLsd, plan(sample_sort::stable_items_min(4) - 1, kFewMultiprocessors).algorithm);
      for (const uint64_t n : {sample_sort::stable_items_min(4), uint64_t{3000001}, most}) {
        const Plan taken = plan(n);
        EXPECT_EQ(Algorithm::kStableSampleSort, taken.algorithm);
        const uint64_t blocks = taken.stable_sample.blocks, share = taken.stable_sample.share_items;
        EXPECT_LE(blocks, sample_sort::kStableBlocksMax);
        EXPECT_TRUE(blocks * share >= n && (blocks - 1) * share < n) << "no block without pairs";
        EXPECT_EQ(0u, share % sample_sort::kStableThreads);
        EXPECT_LE(share, uint64_t{sample_sort::kStableTileItems} * sample_sort::kStableTilesMax);
        EXPECT_EQ(Algorithm::kLsd, plan(n, kFewMultiprocessors).algorithm);
        EXPECT_EQ(Algorithm::kLsd, plan(n, kLeastDevice).algorithm);
      }
      EXPECT_EQ(value_bytes == 8 ? Algorithm::kStable : Algorithm::kLsd, plan(most + 1).algorithm);
    }
  EXPECT_EQ(Algorithm::kStableSampleSort,
            make_plan(make(Operation::kSortPairs, GSORT_U64, lsd::grid_items_max(8, false) + 1, 8), kHopper).algorithm);
  EXPECT_EQ(Algorithm::kLsd, make_plan(make(Operation::kArgsort, GSORT_U32, most, 4), kHopper).algorithm);
}

TEST(SortPlan, TilesFitTheDevice) {
  for (const Request &r : requests()) {
    const Plan small = make_plan(r, {75, 40, lsd::kLargeTileSharedBytes - 1});
    const Plan large = make_plan(r, {75, 40, lsd::kLargeTileSharedBytes});
    const bool wide = small.key_bytes == 8 || carry_bytes(small.carry) == 8;
    EXPECT_EQ(wide || r.n <= lsd::kSmallTilesItemsMax, small.lsd.small_tiles);
    EXPECT_EQ(r.n <= lsd::kSmallTilesItemsMax, large.lsd.small_tiles);
    const uint32_t items = wide ? lsd::LargeTile<8>::kItems : lsd::LargeTile<4>::kItems;
    const bool middle = large.lsd.tile_items == lsd::MiddleTile::kItems;
    if (middle) {
      EXPECT_TRUE(large.key_bytes == 4 && r.operation == Operation::kSort && r.n <= lsd::kMiddleTilesItemsMax) << r.n;
    }
    EXPECT_EQ(large.lsd.small_tiles ? lsd::SmallTile<4>::kItems
              : middle              ? lsd::MiddleTile::kItems
                                    : items,
              large.lsd.tile_items);
  }
}

// Two blocks a multiprocessor take a tile each; what counts is how often, and how long tiles are.
TEST(SortPlan, KeysAloneTakeTheTilesThatLeaveFewBlocksIdle) {
  const auto tile_items = [](uint64_t n, const DeviceFacts &device, gsort_dtype t = GSORT_F32) {
    return make_plan(make(Operation::kSort, t, n, 0), device, asking_for(Algorithm::kLsd)).lsd.tile_items;
  };
  constexpr uint32_t kMiddle = lsd::MiddleTile::kItems, kLarge = lsd::LargeTile<4>::kItems;
  constexpr uint64_t kBlocks = 2 * 132;
  EXPECT_EQ(kMiddle, tile_items(kBlocks * kMiddle, kHopper)) << "one round of shorter tiles";
  EXPECT_EQ(kLarge, tile_items(kBlocks * kMiddle + 1, kHopper)) << "one round of longer ones";
  EXPECT_EQ(kLarge, tile_items(kBlocks * kLarge, kHopper));
  EXPECT_EQ(kMiddle, tile_items(kBlocks * kLarge + 1, kHopper)) << "two rounds of either";
  EXPECT_EQ(kMiddle, tile_items(2 * kBlocks * kMiddle, kHopper));
  EXPECT_EQ(kLarge, tile_items(2 * kBlocks * kMiddle + 1, kHopper));
  EXPECT_EQ(kMiddle, tile_items(lsd::kMiddleTilesItemsMax, kHopper));
  EXPECT_EQ(kLarge, tile_items(lsd::kMiddleTilesItemsMax + 1, kHopper));
  EXPECT_EQ(kLarge, tile_items(kBlocks * kLarge + 1, kHopper, GSORT_U16));
  EXPECT_EQ(lsd::LargeTile<8>::kItems, tile_items(kBlocks * kLarge + 1, kHopper, GSORT_F64));
  const auto asked = asking_for(Algorithm::kLsd, 2);
  EXPECT_EQ(kLarge,
            make_plan(make(Operation::kSort, GSORT_F32, kBlocks * kLarge + 1, 0), kHopper, asked).lsd.tile_items)
      << "several portions";
}

// The host counts tiles by these, kernels by their shapes.
TEST(SortPlan, HostAndKernelsCountTheSameTiles) {
  for (const uint32_t bytes : {1u, 2u, 4u})
    EXPECT_EQ(segments::SegmentPassTile<4>::kItems, segments::segment_tile_items(bytes));
  EXPECT_EQ(segments::SegmentPassTile<8>::kItems, segments::segment_tile_items(8));
  EXPECT_EQ(segments::PartitionShape::kItems, segments::partition_tile_items());
  for (const uint32_t bytes : {1u, 2u, 4u, 8u})
    for (const uint32_t value : {0u, 4u, 8u})
      EXPECT_EQ(bytes == 8 || value == 8 ? 8u : 4u, lsd::wide_bytes(bytes, value));
  EXPECT_EQ(lsd::SmallTile<4>::kItems, lsd::SmallTile<8>::kItems);
  EXPECT_EQ(lsd::LargeTile<4>::kWarps * 32, lsd::LargeTile<4>::kThreads);
  EXPECT_EQ(2u, lsd::slots_of(1));
  EXPECT_EQ(2u, lsd::slots_of(2));
  EXPECT_EQ(8u, lsd::slots_of(8));
}

TEST(SortPlan, SortsOnChipAreThoseOfOneLaunch) {
  for (const Algorithm algorithm : {Algorithm::kRankSort, Algorithm::kSmallBlock, Algorithm::kGridSampleSort})
    EXPECT_TRUE(is_on_chip(algorithm));
  for (const Algorithm algorithm : {Algorithm::kGridRadixSort, Algorithm::kLsd, Algorithm::kMsd, Algorithm::kStable,
                                    Algorithm::kSampleSort, Algorithm::kStableSampleSort})
    EXPECT_FALSE(is_on_chip(algorithm));
}

TEST(SortPlan, EveryAlgorithmHasAName) {
  std::set<std::string> names;
  for (uint32_t i = 0; i <= static_cast<uint32_t>(Algorithm::kCountFill); ++i)
    names.insert(algorithm_name(static_cast<Algorithm>(i)));
  EXPECT_EQ(static_cast<uint32_t>(Algorithm::kCountFill) + 1, names.size());
}

// Windows cover the ranks, and are not more than blocks have counters for.
TEST(SortPlan, RanksOfManyAreFoundByWindows) {
  for (const uint64_t n : plan_sizes())
    for (const gsort_dtype t : kPlanTypes)
      for (const gsort_dtype index_t : {GSORT_U32, GSORT_U64}) {
        if (index_t == GSORT_U32 && n > uint64_t{1} << 32) continue;
        Request r = make(Operation::kRank, t, n, 0);
        r.index_t = index_t;
        const Plan plan = make_plan(r, kHopper);
        const bool many = dtype_bytes(t) > 1 && n * dtype_bytes(index_t) >= kInverseBytesMin && n <= kInverseItemsMax;
        EXPECT_EQ(many, plan.inverts_order);
        if (many) {
          EXPECT_LE((n - 1) >> inverse_window_bits(n), kInverseWindowsMax - 1);
        }
        r.operation = Operation::kArgsort;
        EXPECT_FALSE(make_plan(r, kHopper).inverts_order);
      }
  static_assert(kInverseWindowsMax <= kInverseThreads, "a thread takes room in each");
  static_assert(kInverseTileItems % kInverseThreads == 0 && kInverseTileItems > 2 * kInverseWindowsMax, "runs");
}

TEST(SortPlan, CarryHoldsWhatTravels) {
  for (const Request &r : requests()) {
    const Carry carry = carry_of(r);
    const uint32_t bytes = carry_bytes(carry);
    EXPECT_EQ(r.operation == Operation::kSort, carry == Carry::kNothing);
    EXPECT_EQ(carry == Carry::kNothing, bytes == 0);
    if (carries_index(carry)) {
      EXPECT_TRUE(bytes == 8 || r.n <= uint64_t{1} << 32) << "an index must fit";
      EXPECT_EQ(r.n > uint64_t{1} << 32 ? 8u : 4u, bytes) << "no wider than needed";
    } else if (carry != Carry::kNothing) {
      EXPECT_EQ(r.value_bytes < 4 ? 4u : r.value_bytes, bytes);
    }
    const Plan plan = make_plan(r, kHopper);
    const bool pairs = r.operation == Operation::kSortPairs;
    EXPECT_EQ(pairs && (r.value_bytes == 1 || r.value_bytes == 2) && r.n >= kWidenedItemsMin, plan.widens_values);
    EXPECT_EQ(pairs && r.value_bytes != 4 && r.value_bytes != 8, plan.gathers_values || plan.widens_values);
    EXPECT_FALSE(plan.gathers_values && plan.widens_values);
  }
}

uint64_t tables_bytes(const Request &r, const Plan &plan) {
  if (plan.msd.cell_bits != 0) return msd::tables_bytes(plan.msd, plan.split, plan.key_bytes);
  return plan.algorithm == Algorithm::kStable ? msd::stable_tables(plan.stable, r.n).bytes : 0;
}

// asked: for a stable one, by a test.
uint64_t sample_sort_bytes(const Request &r, const Plan &plan, Algorithm asked) {
  return r.operation == Operation::kSort
             ? sample_sort::tables_bytes(r.n, plan.key_bytes)
             : sample_sort::stable_tables_bytes(r.n, plan.key_bytes, carry_bytes(plan.carry),
                                                asked == Algorithm::kStableSampleSort);
}

// Look-back words of the passes behind: of the tiles of each, and of those of the stable sort's second pass.
uint64_t look_back_tiles(const Request &r, const Plan &plan) {
  const uint64_t tiles = (r.n + plan.lsd.tile_items - 1) / plan.lsd.tile_items;
  if (plan.algorithm == Algorithm::kCountFill) return 0;
  if (plan.algorithm != Algorithm::kStable) return tiles;
  const bool wide = lsd::wide_bytes(plan.key_bytes, carry_bytes(plan.carry)) == 8;
  const uint64_t large = wide ? lsd::LargeTile<8>::kItems : lsd::LargeTile<4>::kItems;
  return std::max(tiles, (r.n + large - 1) / large + msd::kStableBinsMax);
}

// What the chosen algorithm uses, in the order of the slices.
void check_layout(const Request &r, const Plan &plan, const Slices &l, Algorithm asked) {
  const uint64_t bins = kDigitBins, n = r.n, keys = n * plan.key_bytes, carried = n * carry_bytes(plan.carry);
  const bool pairs = r.operation == Operation::kSortPairs, alone = r.operation == Operation::kSort;
  const bool count = plan.key_bytes == 2 && alone, chip = is_on_chip(plan.algorithm);
  const bool grid = plan.algorithm == Algorithm::kGridSampleSort, radix = plan.grid_radix.blocks != 0;
  const uint64_t counted = plan.tries_fast_path ? uint64_t{4} << (alone ? fast_path::kBitsMax : 12) : 0;
  const uint64_t items = grid && !alone ? n * small::bytes_of_item(plan.key_bytes, !alone) : 0;
  if (grid && alone) {
    EXPECT_EQ(l.keys_y, l.grid_staged) << "keys are staged where there is room for them anyhow";
  }
  const uint64_t slots = plan.lsd.slots;
  EXPECT_GE(slots, plan.lsd.digits);
  EXPECT_GE(slots, 2u) << "an odd pass in place needs a way back";
  EXPECT_GE(plan.look_back_tiles, look_back_tiles(r, plan));
  expect_apart(
      {{"counts", l.counts, plan.lsd.digits * bins * 8},
       {"blocks_done", l.blocks_done, 4},
       {"tickets", l.tickets, plan.lsd.portions * slots * 4},
       {"look_back", l.look_back, plan.look_back_tiles * bins * 4},
       {"look_back_groups", l.look_back_groups, plan.look_back_tiles == 0 ? 0 : plan.lsd.groups * slots * bins * 4},
       {"actions", l.actions, slots * uint64_t{lsd::kPassActionBytes}},
       {"fast_path_state", l.fast_path_state, plan.tries_fast_path ? fast_path::kStateBytes : 0u},
       {"fast_path_counts", l.fast_path_counts, counted},
       {"bases", l.bases, slots * 2 * bins * 8},
       {"dense_codes", l.dense_codes, plan.dense_passes_min != 0 ? lsd::kDenseCodesBytes : 0},
       {"inverse_cursors", l.inverse_cursors, plan.inverts_order ? kInverseCursorBytes : 0},
       {"values_x", plan.inverts_order ? l.values_x : l.keys_x, plan.inverts_order ? carried : 0},
       {"inverse_records", plan.inverts_order ? l.inverse_records : l.keys_x, 0},
       {"keys_x", l.keys_x, alone || pairs ? 0 : keys},
       {"keys_y", l.keys_y, plan.algorithm == Algorithm::kCountFill ? 0 : keys},
       {"values_x", plan.inverts_order ? l.values_y : l.values_x,
        plan.gathers_values || plan.widens_values ? carried : 0},
       {"values_y", l.values_y, carried},
       {"small_indices", l.small_indices, pairs && chip ? n * 4 : 0},
       {"gathered", l.gathered, plan.gathers_values || (pairs && chip) ? n * r.value_bytes : 0},
       {"values_wide", l.values_wide, plan.widens_values ? carried : 0},
       {"fill_counts", l.fill_counts, count ? uint64_t{65536} * 8 : 0},
       {"fill_blocks_done", l.fill_blocks_done, count ? 4u : 0u},
       {"fill_bases", l.fill_bases, count ? uint64_t{65536} * 8 : 0},
       {"fast_path_bases", l.fast_path_bases, counted},
       {"msd_tables", l.msd_tables, tables_bytes(r, plan)},
       {"sample_sort_tables", l.sample_sort_tables, sample_sort_bytes(r, plan, asked)},
       {"grid_staged", alone ? l.grid_spare : l.grid_staged, items},
       {"grid_spare", l.grid_spare, items},
       {"grid_starts", l.grid_starts, grid ? small::kGridBlocksMax * small::kGridStartsStride * uint64_t{4} : 0},
       {"grid_counts", l.grid_counts, plan.grid_radix.blocks * bins * 2},
       {"grid_group_counts", l.grid_group_counts, radix ? uint64_t{3} * 8 * bins * 4 : 0},
       {"grid_varying", l.grid_varying, plan.grid_radix.blocks * uint64_t{8}},
       {"grid_cells", l.grid_cells, plan.grid_finds_cells ? msd::found_cells_bytes() : 0}},
      l.bytes, 256);
  if (plan.inverts_order) {
    EXPECT_LE(l.inverse_records + n * kInverseRecordBytes, l.bytes);
  }
}

void check_cleared_and_all(const Request &r, const Plan &plan, const Slices &l, Algorithm asked) {
  const uint64_t n = r.n, keys = n * plan.key_bytes, carried = n * carry_bytes(plan.carry), bins = kDigitBins;
  const bool pairs = r.operation == Operation::kSortPairs, alone = r.operation == Operation::kSort;
  const uint64_t filled = plan.key_bytes == 2 && alone ? uint64_t{65536} * 16 + 512 : 0;
  const uint64_t counted = plan.tries_fast_path ? uint64_t{4} << (alone ? fast_path::kBitsMax : 12) : 0;
  // What is cleared: the words of the passes; before a fast path its own as well, which say later that it applied.
  EXPECT_EQ(l.fast_path_state, l.zero_bytes);
  EXPECT_EQ(l.bases, l.fast_path_zero_bytes);
  EXPECT_EQ(0u, l.fast_path_zero_bytes % 16) << "it is cleared by vectors";
  const bool may_be_grid = small::grid_applies(n, plan.key_bytes, !alone);
  const bool may_be_chip =
      pairs && (may_be_grid || small::block_applies(n, plan.key_bytes, !alone, small::kLongBlockSharedBytes));
  const uint64_t fixed = l.bases + plan.lsd.slots * 2 * bins * 8 + tables_bytes(r, plan) +
                         sample_sort_bytes(r, plan, asked) + 28 * 256 + counted + filled + lsd::kDenseCodesBytes +
                         (may_be_grid ? small::kGridStartsBytes : 0) +
                         (lsd::grid_applies(n, plan.key_bytes, alone)
                              ? msd::found_cells_bytes() + (lsd::kGridBlocksMax + lsd::kGridRounds * 16) * 520
                              : 0);
  const uint64_t arrays = 2 * keys + 2 * carried + (pairs ? n * (r.value_bytes + (may_be_chip ? 4 : 0)) : 0) +
                          (plan.widens_values ? carried : 0) + (plan.inverts_order ? kInverseCursorBytes : 0) +
                          (may_be_grid && !alone ? 2 * n * small::bytes_of_item(plan.key_bytes, !alone) : 0);
  EXPECT_LE(l.bytes, fixed + arrays) << "more than is used";
}

// Many keys of 8 bytes, of fewer pairs and argsorts than keys alone; what making them takes is told to the sort before.
TEST(SortPlan, TriesDenseKeys) {
  const auto plan = [](Operation operation, gsort_dtype t, uint64_t n, uint32_t value_bytes) {
    return make_plan(make(operation, t, n, value_bytes), kHopper);
  };
  for (const gsort_dtype t : {GSORT_U64, GSORT_I64, GSORT_F64}) {
    for (const uint64_t n : {lsd::kDenseItemsMinAlone, uint64_t{1} << 28, uint64_t{3} << 30}) {
      EXPECT_EQ(lsd::kDensePassesMin, plan(Operation::kSort, t, n, 0).dense_passes_min);
      EXPECT_EQ(lsd::kDensePassesMin, plan(Operation::kSortPairs, t, n, 4).dense_passes_min);
      EXPECT_EQ(lsd::kDensePassesMin, plan(Operation::kRank, t, n, 0).dense_passes_min);
    }
    const uint64_t n = uint64_t{1} << 25;
    EXPECT_EQ(msd::kDensePassesBack, plan(Operation::kSortPairs, t, n, 8).stable.dense_passes);
    EXPECT_EQ(msd::kDensePasses, plan(Operation::kArgsort, t, n, 0).stable.dense_passes);
    EXPECT_NE(0u, plan(Operation::kSortPairs, t, lsd::kDenseItemsMin, 8).dense_passes_min);
    EXPECT_EQ(0u, plan(Operation::kSortPairs, t, lsd::kDenseItemsMin - 1, 8).dense_passes_min) << "too few";
    EXPECT_EQ(0u, plan(Operation::kSort, t, lsd::kDenseItemsMinAlone - 1, 0).dense_passes_min) << "too few";
  }
  EXPECT_EQ(0u, plan(Operation::kSortPairs, GSORT_F32, uint64_t{1} << 28, 8).dense_passes_min) << "too narrow";
}

// Room for what a sample sort writes down of every key is counted for more keys, too.
TEST(SortSlices, AreNoSmallerForMoreKeysThanTheSampleSortTakes) {
  for (const gsort_dtype t : {GSORT_F64, GSORT_U64, GSORT_F32}) {
    const auto bytes = [&](uint64_t n) { return workspace_bytes(make(Operation::kSort, t, n, 0)); };
    const uint64_t most = sample_sort::items_max(dtype_bytes(t));
    for (uint64_t n = most - 3; n < most + 5000; ++n) ASSERT_LE(bytes(n), bytes(n + 1)) << "type " << t << " n " << n;
    for (uint64_t n = most; n < 2 * most; n += 997) ASSERT_LE(bytes(n), bytes(n + 997)) << "type " << t << " n " << n;
  }
}

// The same of pairs and indices.
TEST(SortSlices, AreNoSmallerForMorePairsThanTheStableSampleSortTakes) {
  for (const auto &[operation, value_bytes] :
       {std::pair{Operation::kSortPairs, 4u}, {Operation::kSortPairs, 8u}, {Operation::kArgsort, 0u}}) {
    const auto bytes = [&, o = operation, v = value_bytes](uint64_t n) {
      return workspace_bytes(make(o, GSORT_F64, n, v));
    };
    const uint64_t most = sample_sort::kStableItemsMax;
    for (uint64_t n = most - 3; n < most + 5000; ++n) ASSERT_LE(bytes(n), bytes(n + 1)) << "n " << n;
    for (uint64_t n = most / 4 + 1; n < 3 * most; n += 997) ASSERT_LE(bytes(n), bytes(n + 997)) << "n " << n;
  }
}

// Words of groups, which more items do without, are counted for these, too.
TEST(SortSlices, AreNoSmallerForMoreItemsThanGoByGroups) {
  for (const gsort_dtype t : {GSORT_U16, GSORT_F32, GSORT_U64}) {
    const auto bytes = [&](uint64_t n) { return workspace_bytes(make(Operation::kSort, t, n, 0)); };
    for (uint64_t n = lsd::kGroupedItemsMax - 3; n < lsd::kGroupedItemsMax + 5000; ++n)
      ASSERT_LE(bytes(n), bytes(n + 1)) << "type " << t << " n " << n;
  }
}

// The size is asked for without a device, and must do on every one of them.
TEST(SortSlices, HoldWhatTheSortNeedsOnEveryDevice) {
  for (const Request &r : requests()) {
    for (const Algorithm asked : {Algorithm::kAuto, Algorithm::kLsd, Algorithm::kStable, Algorithm::kGridSampleSort,
                                  Algorithm::kGridRadixSort, Algorithm::kStableSampleSort}) {
      const Options options = asking_for(asked);
      const uint64_t most = workspace_bytes(r, options);
      for (const DeviceFacts &device : kDevices) {
        const Plan plan = make_plan(r, device, options);
        check_layout(r, plan, plan.slices, asked);
        check_cleared_and_all(r, plan, plan.slices, asked);
        EXPECT_EQ(plan.slices.bytes, plan.workspace_bytes);
        EXPECT_LE(plan.workspace_bytes, most) << algorithm_name(plan.algorithm) << ", n " << r.n << ", keys of "
                                              << plan.key_bytes << ", values of " << r.value_bytes;
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// Devices of any size, not only those that are sold.
TEST(SortSlices, NeedNoMoreOnAnyDevice) {
  for (const Request &r : requests()) {
    const uint64_t most = workspace_bytes(r);
    for (const uint32_t shared :
         {48u, 64u, 76u, 77u, 98u, 99u, 127u, 128u, 129u, 130u, 134u, 138u, 163u, 200u, 227u, 1000u})
      for (const uint32_t multiprocessors : {1u, small::kGridBlocksMax - 1, small::kGridBlocksMax})
        for (const uint32_t capability : {75u, 90u})
          ASSERT_LE(make_plan(r, {capability, multiprocessors, shared * 1024}).workspace_bytes, most)
              << "n " << r.n << ", " << shared << " KB";
  }
}

TEST(SortSlices, LongestInputOfTheGridHasRoomForAllThatItsBlocksStage) {
  // Items of 16 bytes.
  const Request r = make(Operation::kSortPairs, GSORT_U64, small::kGridItemsMax, 8);
  const Slices l = make_plan(r, kHopper).slices;
  EXPECT_GE(l.grid_spare - l.grid_staged, small::kGridItemsMax * 16);
  const Slices none = make_plan(make(Operation::kSortPairs, GSORT_U64, small::kGridItemsMax + 1, 8), kHopper).slices;
  EXPECT_EQ(none.grid_staged, none.grid_counts) << "room for a grid's sort where there is none";
}

// The line that users read says what runs, and fits.
TEST(SortPlan, IsDescribedInALine) {
  for (const Request &r : requests())
    for (const DeviceFacts &device : kDevices) {
      const Plan plan = make_plan(r, device);
      char text[512];
      describe(r, plan, text, sizeof text);
      const std::string line = text;
      EXPECT_LT(line.size(), sizeof text - 1);
      EXPECT_NE(std::string::npos, line.find(algorithm_name(plan.algorithm))) << line;
      EXPECT_EQ(plan.tries_fast_path, line.find("fast path") != std::string::npos) << line;
    }
}

}  // namespace
}  // namespace gsort_test
