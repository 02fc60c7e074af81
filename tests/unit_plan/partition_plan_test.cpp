// SPDX-License-Identifier: MIT OR Apache-2.0
// Plans of the partition sorts, and of the fast path before them.
#include <algorithm>
#include <cmath>

#include "cuda/sort/fast_path/plan.h"
#include "cuda/sort/msd/plan.h"
#include "cuda/sort/msd/split_plan.h"
#include "cuda/sort/msd/stable_plan.h"
#include "cuda/sort/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::sort::msd;

// Keys of the fullest of very many cells, but for bad luck.
double fullest(uint64_t n, double cells) {
  const double mean = static_cast<double>(n) / cells;
  return mean + 6 * std::sqrt(mean);
}

std::vector<uint64_t> sizes_with(std::vector<uint64_t> more, uint64_t mean) {
  const std::vector<uint64_t> sizes = plan_sizes();
  more.insert(more.end(), sizes.begin(), sizes.end());
  for (uint32_t bits = 0; bits <= kCellBitsMax; ++bits)
    for (const uint64_t n : {mean << bits, (mean << bits) + 1}) more.push_back(n);
  return more;
}

TEST(MsdPlan, AppliesWithinItsLimits) {
  for (const uint64_t n : sizes_with({kItemsMin - 1, kItemsMin, kItemsMax, kItemsMax + 1}, 8640)) {
    EXPECT_FALSE(applies(n, 1) || applies(n, 2));
    EXPECT_EQ(n >= kItemsMin && n <= kItemsMax, applies(n, 4));
    EXPECT_EQ(applies(n, 4), applies(n, 8));
  }
  EXPECT_LE(kItemsMax, UINT32_MAX) << "places of keys have 32 bits";
  EXPECT_GE(kItemsMin, uint64_t{LargeSample::kKeys});
}

void check_msd_passes(const Plan &plan) {
  EXPECT_LE(plan.cell_bits, kCellBitsMax);
  const uint32_t first_bits = plan.cell_bits - plan.second_bits;
  EXPECT_LE(first_bits, kPassBitsMax);
  EXPECT_LE(plan.second_bits, first_bits);
  EXPECT_EQ(plan.cell_bits <= kPassBitsMax, plan.second_bits == 0) << "two passes only where one does not do";
  EXPECT_LE(bins_max(plan), kBinsMax);
  EXPECT_GE(bins_max(plan), 1u << first_bits);
  // Cells are counted at once, or their bins at once and they between the passes.
  EXPECT_EQ(plan.cell_bits > kCountedBits, plan.counted_late);
  EXPECT_LE((plan.counted_late ? 1u << first_bits : 1u << plan.cell_bits), 1u << kCountedBits);
  if (plan.counted_late) {
    EXPECT_NE(0u, plan.second_bits) << "there is no time between passes";
    EXPECT_LE(1u << plan.second_bits, kLateCells);
  }
  EXPECT_LE(4 * kLateCells / 32 * 33 + 2048, kSharedBytesMin);
}

void check_msd_map(uint64_t n, const Plan &plan) {
  EXPECT_EQ(plan.second_bits != 0 && !plan.counted_late, plan.mapped_cells != 0);
  if (plan.mapped_cells == 0) return;
  EXPECT_GT(plan.mapped_cells, 1u << plan.cell_bits) << "the map has no room for uneven keys";
  EXPECT_EQ(0u, plan.mapped_cells % (1u << plan.second_bits)) << "bins are whole";
  EXPECT_LE(plan.mapped_cells, 1u << 16) << "an entry of the map names its first cell with 16 bits";
  EXPECT_GE(plan.mapped_cells, plan.map_shares);
  EXPECT_EQ(0u, plan.map_shares % (1u << plan.second_bits)) << "bins are whole";
  EXPECT_LE(plan.map_shares, usual_shares(plan.cell_bits));
  EXPECT_EQ(plan.mapped_cells, cells_max(plan));
  EXPECT_EQ(plan.mapped_cells >> plan.second_bits, bins_max(plan));
  EXPECT_GE(n / (uint64_t{kMapThreads} * kMapItems * 8), 1u) << "a block at least samples for the map";
  EXPECT_EQ(4 * plan.mapped_cells + std::max(4 * kMapEntries, 4 * plan.mapped_cells / 32), histogram_bytes(plan));
}

// Without the map, which the launch leaves away on small devices, tables and counters shrink.
void check_msd_unmapped(const Plan &plan) {
  Plan bare = plan;
  bare.mapped_cells = 0;
  EXPECT_EQ(1u << plan.cell_bits, cells_max(bare));
  EXPECT_LE(cells_max(bare), cells_max(plan));
  EXPECT_LE(bins_max(bare), bins_max(plan));
  EXPECT_LE(histogram_bytes(bare) + 2048, kSharedBytesMin) << "a device that the sort takes cannot run it";
  const uint64_t counters = uint64_t{4} << (plan.cell_bits - (plan.counted_late ? plan.second_bits : 0));
  EXPECT_EQ(counters + counters / 32, histogram_bytes(bare));
}

TEST(MsdPlan, CellsHoldTheirKeysAndPassesTheirBits) {
  bool seen_one_pass = false, seen_map = false, seen_late = false;
  for (const uint64_t n : sizes_with({kItemsMin, kItemsMax}, kCellKeysMean)) {
    if (!applies(n, 4)) continue;
    const Plan plan = make_plan(n);
    check_msd_passes(plan);
    check_msd_map(n, plan);
    check_msd_unmapped(plan);
    EXPECT_LE(fullest(n, std::ldexp(1, static_cast<int>(plan.cell_bits))), BlockShape<8>::kFinishKeysMax);
    if (plan.mapped_cells != 0) {
      const uint32_t bin = 1u << plan.second_bits;
      EXPECT_GT(n, uint64_t{kMappedCellKeysMean} * (plan.map_shares - bin)) << "too many cells";
      EXPECT_LE(n, uint64_t{kCellKeysMean} * 4 / 5 * plan.map_shares) << "no room for cells that are uneven inside";
    }
    const uint32_t narrow = plan.narrow_cells;
    EXPECT_EQ(narrow, even_cells(plan, 4));
    EXPECT_EQ(1u << plan.cell_bits, even_cells(plan, 8));
    EXPECT_LE(fullest(n, narrow), BlockShape<4>::kFinishKeysMax);
    EXPECT_LE(narrow, 1u << plan.cell_bits);
    EXPECT_EQ(0u, narrow % (1u << plan.second_bits)) << "bins are whole";
    if (plan.second_bits == 0) {
      EXPECT_EQ(1u << plan.cell_bits, narrow);
    } else {
      EXPECT_GT(n, uint64_t{kNarrowCellKeysMean} * (narrow - (1u << plan.second_bits))) << "too many cells";
    }
    if (plan.cell_bits > 8) {
      EXPECT_GT(n, uint64_t{kCellKeysMean} << (plan.cell_bits - 1)) << "too many cells";
    }
    seen_one_pass = seen_one_pass || plan.second_bits == 0;
    seen_map = seen_map || plan.mapped_cells != 0;
    seen_late = seen_late || plan.counted_late;
  }
  EXPECT_TRUE(seen_one_pass && seen_map && seen_late);
}

// Tests ask for more cells than the plan's own.
TEST(MsdPlan, MoreCellsOnDemand) {
  for (const uint64_t n : {kItemsMin, uint64_t{1} << 22, uint64_t{1} << 28, kItemsMax})
    for (uint32_t bits = 0; bits <= kCellBitsMax; ++bits) {
      const Plan plan = make_plan(n, bits);
      EXPECT_EQ(std::max(bits, make_plan(n).cell_bits), plan.cell_bits);
      check_msd_passes(plan);
      check_msd_map(n, plan);
      check_msd_unmapped(plan);
    }
}

// What the kernels of the sort by splitters have room for.
TEST(SplitPlan, FitsTheKernelsAtEverySize) {
  for (const uint64_t n : sizes_with({kItemsMin, kSplitItemsMin, kItemsMax}, kSplitCellKeys)) {
    if (!applies(n, 8)) continue;
    const SplitPlan plan = plan_split(n);
    EXPECT_LE(plan.sample, kSplitSampleMax);
    EXPECT_EQ(0u, plan.sample % 32) << "a warp ranks a key";
    EXPECT_LE(plan.bins_max, kSplitBinsMax);
    // A bin for every share of the sample, and one more behind each entry that has two shares.
    EXPECT_GE(plan.bins_max, plan.sample / plan.share + plan.sample / (2 * plan.share) + 1);
    EXPECT_GE(plan.digit_bits, 10u) << "a thread owns a digit";
    EXPECT_LE(plan.digit_bits, 12u) << "more counters than the kernels have";
    EXPECT_LE((plan.bins_max << plan.copy_bits) * 4, 64u << 10) << "two blocks of the histogram a multiprocessor";
    // A cell ends with a share of keys, or before and behind a digit that is one of its own.
    EXPECT_GE(plan.cells_max, n / kSplitCellKeys + 2 * (n / (kSplitDigitKeys + 1)) + plan.bins_max);
    EXPECT_GE(plan.fills_max, n / kSplitFillKeys + plan.bins_max) << "every bin may end in a part of a chunk";
    EXPECT_LT(uint64_t{plan.bins_max} << plan.digit_bits, uint64_t{1} << 32);
  }
  EXPECT_LE(kSplitCellKeys + kSplitDigitKeys, kSplitFinishKeysMax) << "a cell of several digits is full";
  EXPECT_FALSE(uses_splitters(kSplitItemsMin - 1, 8) || uses_splitters(kItemsMax, 4));
  EXPECT_TRUE(uses_splitters(kSplitItemsMin, 8));
}

// Crowded cells: tables of huge cells take the place of their keys, and words name all of them.
TEST(CrowdsPlan, FitsTheKernelsAtEverySize) {
  for (const uint64_t n : sizes_with({kItemsMin, kItemsMax}, kCellKeysMean)) {
    if (!applies(n, 4)) continue;
    const Plan plan = make_plan(n);
    EXPECT_EQ(plan.second_bits != 0, plan.takes_crowds) << "the second pass leaves the other array free";
    EXPECT_FALSE(make_plan_on(n, kCrowdSharedBytes - 1).takes_crowds);
    EXPECT_EQ(plan.mapped_cells != 0 && n >= kFrequentItemsMin, plan.takes_frequent);
    EXPECT_FALSE(make_plan_on(n, kFrequentSharedBytes).takes_frequent);
    EXPECT_LE(n / BlockShape<4>::kFinishKeysMax, uint64_t{1} << plan.cell_bits) << "the list has room for all";
    EXPECT_EQ(0u, plan.map_shares % (1u << plan.second_bits)) << "bins are whole";
    EXPECT_LT(n / plan.huge_piece + n / kHugeCellKeys, uint64_t{1} << 24) << "pieces of huge cells have 24 bits";
    EXPECT_EQ(0u, plan.huge_piece % (kValuePlaces * kValueWriteThreads)) << "pieces are written whole";
    EXPECT_LT(n / plan.huge_chunk + 1 + 4 * (n / kHugeCellKeys), uint64_t{1} << 24) << "and so have counts";
    // Equal cells of keys that are not even are taken where the map is not offered.
    EXPECT_TRUE(plan.mapped_cells != 0 || !plan.takes_crowds || plan.cell_bits + 17 >= 32);
  }
  EXPECT_LT(kItemsMax / kHugeCellKeys, uint64_t{1} << 16) << "huge cells are numbered with 16 bits";
  EXPECT_EQ(0u, kValueWords % kValuePart) << "a block counts whole parts";
  EXPECT_EQ(32 * kCrowdThreads, kValueWords) << "a thread owns 32 words";
  EXPECT_LT(kCrowdKeysMax, 1u << 16) << "places have 16 bits";
}

TEST(StablePlan, AppliesWithinItsLimits) {
  for (const uint32_t bytes : {4u, 8u})
    for (const uint32_t value_bytes : {4u, 8u})
      for (const bool forced : {false, true}) {
        const uint64_t least = forced ? kStableItemsForcedMin : stable_items_min(bytes, value_bytes);
        const auto applies = [&](uint64_t n, uint32_t key_bytes) {
          return stable_applies(n, key_bytes, value_bytes, forced);
        };
        EXPECT_FALSE(applies(least - 1, bytes));
        EXPECT_TRUE(applies(least, bytes));
        EXPECT_TRUE(applies(kStableItemsMax, bytes));
        EXPECT_FALSE(applies(kStableItemsMax + 1, bytes));
        EXPECT_LE(kStableItemsForcedMin, stable_items_min(bytes, value_bytes));
        EXPECT_GT(stable_items_min(bytes, value_bytes), sort::lsd::grid_items_max(bytes, false))
            << "the sorts of a grid and stable partitions vie for one input";
        for (const uint32_t narrow : {1u, 2u}) EXPECT_FALSE(applies(kStableItemsMax, narrow));
      }
  EXPECT_EQ(sort::sample_sort::kStableItemsMax + 1, stable_items_min(8, 8)) << "behind the stable sample sort";
  EXPECT_LE(kStableItemsMax, UINT32_MAX) << "places of pairs have 32 bits, and so have indices that travel";
  EXPECT_GE(kStableItemsForcedMin, uint64_t{SmallSample::kKeys}) << "a sample of more than there is";
}

TEST(StablePlan, CellsHoldTheirPairsAndWordsTheirBits) {
  std::vector<uint64_t> sizes =
      sizes_with({kStableItemsForcedMin, stable_items_min(4, 4), stable_items_min(8, 4), kStableItemsMax}, 1);
  for (uint32_t bits = kStableCellBitsMin; bits <= kStableCellBitsMax; ++bits)
    for (const uint64_t more : {0, 1}) sizes.push_back((uint64_t{stable_cell_items_mean(bits)} << bits) + more);
  bool seen[kStableCellBitsMax + 1] = {};
  for (const uint64_t n : sizes) {
    if (!stable_applies(n, 4, 4, true)) continue;
    const StablePlan plan = plan_stable(n);
    ASSERT_LE(plan.cell_bits, kStableCellBitsMax);
    ASSERT_GE(plan.cell_bits, kStableCellBitsMin);
    seen[plan.cell_bits] = true;
    EXPECT_EQ(plan.cell_bits, plan.first_bits + plan.second_bits);
    EXPECT_LE(1u << plan.first_bits, kStableBinsMax);
    EXPECT_LE(1u << plan.second_bits, kStableBinsMax);
    // A word has a key's bits below its cell and a place.
    EXPECT_LE(plan.place_bits, plan.cell_bits);
    EXPECT_LE(plan.cell_items_max, 1u << plan.place_bits);
    EXPECT_LE(plan.cell_items_max, kStableFinishItems);
    EXPECT_LE(fullest(n, std::ldexp(1, static_cast<int>(plan.cell_bits))), plan.cell_items_max);
    if (plan.cell_bits > kStableCellBitsMin) {
      EXPECT_GT(n, uint64_t{stable_cell_items_mean(plan.cell_bits - 1)} << (plan.cell_bits - 1)) << "too many cells";
    }
    EXPECT_LE(stable_counts_bytes(plan) + 2048, kStableSharedBytesMin);
    EXPECT_LE((4u << plan.cell_bits) / 32 * 33, stable_counts_bytes(plan));
    const StableTables tables = stable_tables(plan, n);
    const uint64_t cells = uint64_t{1} << plan.cell_bits, bins = uint64_t{1} << plan.first_bits;
    expect_apart({{"state", tables.state, kStableStateBytes},
                  {"cells", tables.cells, (cells + 1) * 4},
                  {"first_tile", tables.first_tile, (bins + 1) * 4}},
                 tables.bytes, 16);
  }
  for (uint32_t bits = kStableCellBitsMin; bits <= kStableCellBitsMax; ++bits) EXPECT_TRUE(seen[bits]) << bits;
}

// As many cells of 4-byte keys as usual, but small ones where these hold the pairs.
TEST(StablePlan, SmallCellsOf4ByteKeys) {
  std::vector<uint64_t> sizes = sizes_with({kStableItemsForcedMin, stable_items_min(4, 4), kStableItemsMax}, 1);
  for (uint32_t bits = kStableCellBitsMin; bits <= kStableCellBitsMax; ++bits)
    for (const uint64_t more : {0, 1}) sizes.push_back((uint64_t{kStableSmallMean} << bits) + more);
  uint32_t seen_small = 0, seen_usual = 0;
  for (const uint64_t n : sizes) {
    if (!stable_applies(n, 4, 4, true)) continue;
    const StablePlan plan = plan_stable_on(n, 4, 4, UINT32_MAX), usual = plan_stable(n);
    EXPECT_EQ(usual.cell_bits, plan.cell_bits);
    EXPECT_EQ(usual.first_bits, plan.first_bits);
    EXPECT_EQ(usual.place_bits, plan.place_bits);
    const bool small = n <= uint64_t{kStableSmallMean} << plan.cell_bits;
    EXPECT_TRUE(!small || has_small_cells(plan)) << n;
    ++(small ? seen_small : seen_usual);
    EXPECT_LE(fullest(n, std::ldexp(1, static_cast<int>(plan.cell_bits))), plan.cell_items_max);
    EXPECT_LE(plan.cell_items_max, has_small_cells(plan) ? StableSmallShape::kPairs : kStableFinishItems);
    if (!small) {
      EXPECT_EQ(usual.cell_items_max, plan.cell_items_max);
    }
  }
  EXPECT_LT(4u, seen_small);
  EXPECT_LT(4u, seen_usual);
}

// Keys in clusters of clusters are left to passes by how many pairs there are; a test that forces the method has few.
TEST(StablePlan, CrowdedKeysAreLeft) {
  const auto plan = [](uint64_t n, uint32_t value_bytes) {
    return plan_stable_on(n, 8, value_bytes, kStableMapSharedBytesMin);
  };
  for (const uint32_t value_bytes : {4u, 8u}) {
    const StablePlan forced = plan(stable_items_min(8, value_bytes) - 1, value_bytes);
    EXPECT_EQ(kStableCrowdedShareForced, forced.crowded_share);
    EXPECT_EQ(0u, forced.crowded_entropy);
  }
  EXPECT_EQ(kStableCrowdedShareFew, plan(stable_items_min(8, 8), 8).crowded_share);
  EXPECT_EQ(kStableAnyEntropy, plan(kStableCrowdedItemsMin8 - 1, 8).crowded_entropy);
  EXPECT_EQ(kStableCrowdedShare, plan(kStableCrowdedItemsMin8, 8).crowded_share);
  EXPECT_EQ(kStableEntropy8, plan(kStableCrowdedItemsMin8, 8).crowded_entropy);
  EXPECT_EQ(kStableEntropy8, plan(kStableCrowdedItemsMany8 - 1, 8).crowded_entropy);
  EXPECT_EQ(0u, plan(kStableCrowdedItemsMany8, 8).crowded_entropy) << "splitters save time whatever the bytes";
  EXPECT_EQ(kStableEntropy4, plan(kStableManyItems - 1, 4).crowded_entropy);
  EXPECT_EQ(kStableEntropyMany4, plan(kStableManyItems, 4).crowded_entropy);
  EXPECT_EQ(kStableCrowdedShare, plan(kStableItemsMax, 4).crowded_share);
}

TEST(StablePlan, TheMapIsOfferedWhereItFits) {
  for (const uint64_t n : sizes_with({kStableItemsForcedMin, stable_items_min(8, 8), kStableItemsMax}, 1)) {
    if (!stable_applies(n, 8, 8, true)) continue;
    EXPECT_EQ(0u, plan_stable_on(n, 8, 8, kStableMapSharedBytesMin - 1).mapped_cells);
    EXPECT_EQ(0u, plan_stable_on(n, 4, 4, UINT32_MAX).mapped_cells);
    const StablePlan plan = plan_stable_on(n, 8, 8, kStableMapSharedBytesMin);
    EXPECT_EQ(0u, plan.mapped_cells % kStableBinsMax) << "bins are whole";
    EXPECT_LE(plan.mapped_cells / kStableBinsMax, kStableBinsMax);
    EXPECT_LE(plan.mapped_cells, UINT16_MAX) << "a word of the map has 16 bits for a cell";
    EXPECT_GE(plan.mapped_cells, kStableMapEntries + n / plan.mapped_items * 6 / 5);
    EXPECT_LT(plan.mapped_items, kStableFinishItems * 4 / 5);
    EXPECT_LE(stable_counts_bytes(plan) + 2048, kStableMapSharedBytesMin);
    EXPECT_LE(4 * (plan.mapped_cells + plan.mapped_cells / 32), stable_counts_bytes(plan)) << "room for the scan";
    const StableTables tables = stable_tables(plan, n);
    const uint64_t cells = std::max(uint64_t{plan.mapped_cells}, uint64_t{1} << plan.cell_bits);
    expect_apart({{"state", tables.state, kStableStateBytes},
                  {"cells", tables.cells, (cells + 1) * 4},
                  {"first_tile", tables.first_tile, (kStableBinsMax + 1) * 4},
                  {"map", tables.map, kStableMapEntries * 4},
                  {"weights", tables.weights, kMapWeights * 4},
                  {"ranges", tables.ranges, uint64_t{plan.mapped_cells} * 8}},
                 tables.bytes, 16);
  }
}

// Of few pairs with 4 bytes beside each key the LSD sort is quicker, of more such as differ in few bytes; tests that
// ask for fewer still get all ways.
TEST(StablePlan, SplittersAreForEnoughPairs) {
  const auto passes = [](uint64_t n, uint32_t value_bytes) {
    return plan_stable_on(n, 8, value_bytes, kStableMapSharedBytesMin).split_passes;
  };
  for (const uint32_t value_bytes : {4u, 8u}) {
    for (const uint64_t n : {kStableItemsForcedMin, stable_items_min(8, value_bytes) - 1})
      EXPECT_EQ(kStableSplitPassesMany, passes(n, value_bytes));
    for (const uint64_t n : {kStableSplitItemsMin4, kStableManyItems - 1})
      EXPECT_EQ(kStableSplitPasses, passes(n, value_bytes));
    for (const uint64_t n : {kStableManyItems, kStableItemsMax})
      EXPECT_EQ(kStableSplitPassesMany, passes(n, value_bytes));
  }
  for (const uint64_t n : {stable_items_min(8, 4), kStableSplitItemsMin4 - 1})
    EXPECT_LT(8u, passes(n, 4)) << "keys of 8 bytes have no more";
  EXPECT_EQ(kStableSplitPasses, passes(stable_items_min(8, 8), 8));
}

TEST(StablePlan, SplittersAreOfferedWithTheMap) {
  bool seen_all_bins = false;
  for (const uint64_t n :
       sizes_with({kStableItemsForcedMin, stable_items_min(8, 4), kStableManyPairs, kStableItemsMax}, 1)) {
    if (!stable_applies(n, 8, 8, true)) continue;
    EXPECT_EQ(0u, plan_stable_on(n, 8, 8, kStableMapSharedBytesMin - 1).split_bins);
    EXPECT_EQ(0u, plan_stable_on(n, 4, 4, UINT32_MAX).split_bins);
    const StablePlan plan = plan_stable_on(n, 8, 8, kStableMapSharedBytesMin);
    EXPECT_LE(plan.split_bins, kStableBinsMax);
    EXPECT_LE(plan.split_sample, n) << "sampled keys come from parts of their own";
    EXPECT_LE(plan.split_sample * 8, kStableMapSharedBytesMin) << "the sample fits a block";
    EXPECT_LE(kStableSplitSampleMax * 8 * 2, kStableMapSharedBytesMin) << "two blocks an SM cut bins";
    // Bins as they are meant leave digits to values that have one each.
    EXPECT_LT(plan.split_sample / plan.split_share, plan.split_bins);
    // A bin of twice the usual size has digits for the cells that it is meant to have.
    EXPECT_LE(2 * n * plan.split_share / plan.split_sample / kStableFinishItems, kStableBinsMax);
    EXPECT_GE(plan.split_cells, std::min(n / kStableSplitItems, uint64_t{plan.split_bins} * kStableBinsMax));
    seen_all_bins = seen_all_bins || plan.split_bins == kStableBinsMax;
    const StableTables tables = stable_tables(plan, n);
    const uint64_t cells = uint64_t{plan.split_bins} * kStableBinsMax;
    expect_apart({{"state", tables.state, kStableStateBytes},
                  {"cells", tables.cells, (cells + 1) * 4},
                  {"first_tile", tables.first_tile, (plan.split_bins + 1) * 4},
                  {"starts", tables.starts, (kStableBinsMax * kStableBinsMax + 1) * 8},
                  {"bin_counts", tables.bin_counts, kStableBinsMax * 4},
                  {"cell_counts", tables.cell_counts, cells * 4},
                  {"first_chunk", tables.first_chunk, (plan.split_bins + 1) * 4},
                  {"counted_chunks", tables.counted_chunks, plan.split_bins * 4},
                  {"finished", tables.finished, plan.split_cells * 4},
                  {"large", tables.large, n / kStableFinishItems * 4},
                  {"pieces", tables.pieces, (n / kStablePieceItems + cells) * 8}},
                 tables.bytes, 16);
  }
  EXPECT_TRUE(seen_all_bins);
}

TEST(StablePlan, BlocksHoldWholeRowsOfACell) {
  EXPECT_EQ(kStableFinishItems, StableFinishShape<4>::kThreads * StableFinishShape<4>::kItems);
  EXPECT_EQ(kStableFinishItems, StableFinishShape<8>::kThreads * StableFinishShape<8>::kItems);
  EXPECT_EQ(kFinishDigits, 1u << kFinishBits);
  EXPECT_EQ(StableSmallShape::kPairs, StableSmallShape::kThreads * StableSmallShape::kItems);
  EXPECT_EQ(0u, StableSmallShape::kDigits % (4 * StableSmallShape::kThreads)) << "threads have vectors of counters";
  EXPECT_LE(kStableBinsMax, kDigitBins) << "look-back words have a place for every digit";
  EXPECT_LE((1u << LargeSample::kMeetingBits) / 8 + 2048, kStableSharedBytesMin);
}

TEST(FastPathPlan, AppliesToLongInputsOfWideKeys) {
  using sort::fast_path::applies;
  for (const bool alone : {false, true})
    for (const uint64_t asked : {uint64_t{1000}, uint64_t{0}})
      for (const uint32_t key_bytes : {1u, 2u, 4u, 8u}) {
        const uint64_t least = asked != 0 ? asked : sort::fast_path::items_min(key_bytes, alone);
        EXPECT_FALSE(applies(least - 1, key_bytes, alone, asked));
        EXPECT_EQ(key_bytes >= 4, applies(least, key_bytes, alone, asked));
      }
}

TEST(FastPathPlan, OnlySortsByPassesAndPartitionsTryIt) {
  const DeviceFacts device = {90, 132, 232448};
  for (const gsort_dtype t : kPlanTypes)
    for (const Operation operation : {Operation::kSort, Operation::kArgsort})
      for (const uint64_t n : {uint64_t{1000}, sort::lsd::grid_items_max(4, true), sort::fast_path::kItemsMin - 1,
                               sort::fast_path::kItemsMin + 1, sort::fast_path::kShortItemsMin, kItemsMax + 1})
        for (const uint64_t asked : {uint64_t{1}, uint64_t{0}}) {
          sort::Options options;
          options.fast_path_items_min = asked;
          const uint64_t least =
              asked != 0 ? asked : sort::fast_path::items_min(dtype_bytes(t), operation == Operation::kSort);
          const sort::Plan plan = sort::make_plan(make(operation, t, n, 0), device, options);
          const bool passes = plan.algorithm == sort::Algorithm::kLsd || plan.algorithm == sort::Algorithm::kMsd ||
                              plan.algorithm == sort::Algorithm::kStable;
          const bool tried = passes && plan.key_bytes >= 4 && n >= least;
          EXPECT_EQ(tried, plan.tries_fast_path);
          EXPECT_EQ(tried, plan.fast_path.chunks != 0);
          EXPECT_EQ(tried && n <= UINT32_MAX, plan.fast_path.counter_bits != 0);
          if (tried && n <= UINT32_MAX) {
            EXPECT_EQ(operation == Operation::kSort ? 16u : 8u, plan.fast_path.number_bits) << "one pass moves values";
          }
        }
}

TEST(FastPathPlan, ChunksCoverTheKeysAndCountersFit) {
  for (const uint64_t n : plan_sizes())
    for (const uint32_t key_bytes : {4u, 8u})
      for (const bool alone : {false, true})
        for (const uint32_t multiprocessors : {1u, 40u, 132u})
          for (const uint32_t shared : {49152u, 65536u, 101376u, 166912u, 232448u}) {
            const sort::fast_path::Plan plan = sort::fast_path::make_plan(n, key_bytes, alone, multiprocessors, shared);
            const uint32_t group = key_bytes == 8 ? sort::fast_path::GroupShape<8>::kGroupItems
                                                  : sort::fast_path::GroupShape<4>::kGroupItems;
            ASSERT_GE(plan.chunk_items, group);
            EXPECT_EQ(0u, plan.chunk_items % group);
            EXPECT_LE(plan.chunk_items, group * sort::fast_path::kGroupsMax);
            EXPECT_GE(uint64_t{plan.chunks} * plan.chunk_items, n);
            EXPECT_LT(uint64_t{plan.chunks - 1} * plan.chunk_items, n);
            EXPECT_LT(plan.chunks, 1u << 30) << "the two bits above tell what became of the chunks";
            if (n > UINT32_MAX) {
              EXPECT_EQ(0u, plan.counter_bits) << "counts have 32 bits";
              EXPECT_EQ(0u, plan.number_bits);
              continue;
            }
            ASSERT_GE(plan.counter_bits, 1u);
            EXPECT_LE(plan.counter_bits, sort::fast_path::kCounterBitsMax);
            EXPECT_EQ(alone ? plan.counter_bits + 1 : 8, plan.number_bits);
            EXPECT_LE((4u << plan.counter_bits) + sort::fast_path::kStaticBytes, shared);
            EXPECT_TRUE(plan.counter_bits == sort::fast_path::kCounterBitsMax ||
                        (8u << plan.counter_bits) + sort::fast_path::kStaticBytes > shared)
                << "room is left over";
          }
  // Counters of half the width are twice as many.
  EXPECT_EQ(sort::fast_path::kBitsMax, sort::fast_path::kCounterBitsMax + 1);
  EXPECT_EQ(sort::fast_path::kBins, 1u << sort::fast_path::kBitsMax);
  EXPECT_EQ(sort::fast_path::GroupShape<4>::kGroupItems * 4, sort::fast_path::GroupShape<8>::kGroupItems * 8);
}

}  // namespace
}  // namespace gsort_test
