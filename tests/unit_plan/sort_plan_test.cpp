// SPDX-License-Identifier: MIT OR Apache-2.0
#include <set>

#include "plan/msd_plan.h"
#include "plan/radix_plan.h"
#include "plan/segments_layout.h"
#include "plan/sort_layout.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;

Request make(Operation operation, gsort_dtype t, uint64_t n, uint32_t value_bytes) {
  Request request = {};
  request.operation = operation;
  request.order.dtype = t;
  request.n = n;
  request.value_bytes = value_bytes;
  return request;
}

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

struct Device {
  uint32_t shared_bytes;
  bool teams;
};

bool may_take(const Request &r, const SortPlan &plan, const Device &device, bool forced, SortAlgorithm algorithm) {
  const bool keys_alone = r.operation == Operation::kSort;
  switch (algorithm) {
    case SortAlgorithm::kRankSort:
      return r.n <= kRankSortItemsMax;
    case SortAlgorithm::kSmallBlock:
      return small_sort_applies(r.n, plan.key_bytes, !keys_alone, device.shared_bytes);
    case SortAlgorithm::kTeam:
      return device.teams && team_applies(r.n, plan.key_bytes);
    case SortAlgorithm::kStable:
      return !keys_alone && stable_applies(r.n, plan.key_bytes, forced);
    case SortAlgorithm::kLsd:
      return true;
    case SortAlgorithm::kMsd:
      return keys_alone && msd_applies(r.n, plan.key_bytes);
    case SortAlgorithm::kCountFill:
      return keys_alone && plan.key_bytes <= 2;
    default:
      return false;
  }
}

TEST(SortPlan, ChoosesWhatTheRequestAllows) {
  for (const Request &r : requests()) {
    for (const Device &device : {Device{0, false}, Device{0, true}, Device{49152, false}, Device{232448, true}}) {
      const SortPlan plan = plan_sort(r, device.shared_bytes, device.teams, SortAlgorithm::kAuto, 0);
      EXPECT_EQ(dtype_bytes(r.order.dtype), plan.key_bytes);
      EXPECT_EQ(plan.key_bytes * 8, plan.digits * kDigitBits);
      EXPECT_TRUE(may_take(r, plan, device, false, plan.algorithm)) << sort_algorithm_name(plan.algorithm) << ", n " << r.n;
      EXPECT_EQ(0u, plan.portion_items % plan.tile_items);
      EXPECT_LE(plan.portion_items, kPortionItemsMax);
      EXPECT_GT(plan.portion_items + plan.tile_items, kPortionItemsMax) << "portions are as long as can be";
      EXPECT_GE(plan.portions * plan.portion_items, r.n);
      EXPECT_LT((plan.portions - 1) * plan.portion_items, r.n);
      for (const SortAlgorithm forced : {SortAlgorithm::kRankSort, SortAlgorithm::kSmallBlock, SortAlgorithm::kTeam,
                                         SortAlgorithm::kLsd, SortAlgorithm::kMsd, SortAlgorithm::kStable,
                                         SortAlgorithm::kCountFill}) {
        const SortPlan other = plan_sort(r, device.shared_bytes, device.teams, forced, 3);
        EXPECT_EQ(may_take(r, plan, device, true, forced) ? forced : plan.algorithm, other.algorithm);
        EXPECT_EQ(uint64_t{3} * other.tile_items, other.portion_items);
      }
    }
  }
}

TEST(SortPlan, ShortInputsStayInOneBlockAndLongOnesDoNot) {
  for (const gsort_dtype t : kPlanTypes) {
    const auto chosen = [&](uint64_t n, bool teams = true) {
      return plan_sort(make(Operation::kSort, t, n, 0), 232448, teams, SortAlgorithm::kAuto, 0).algorithm;
    };
    const uint32_t bytes = dtype_bytes(t), single = single_block_items(bytes, false);
    const uint32_t in_block = 2 * small_sort_items(small_item_bytes(bytes, false));
    EXPECT_EQ(SortAlgorithm::kRankSort, chosen(kRankSortItemsMax));
    EXPECT_EQ(SortAlgorithm::kSmallBlock, chosen(kRankSortItemsMax + 1));
    EXPECT_EQ(SortAlgorithm::kSmallBlock, chosen(single));
    EXPECT_EQ(SortAlgorithm::kSmallBlock, chosen(in_block, false));
    EXPECT_EQ(bytes == 1 ? SortAlgorithm::kCountFill : SortAlgorithm::kLsd, chosen(in_block + 1, false));
    if (bytes == 2) {
      EXPECT_EQ(SortAlgorithm::kLsd, chosen(kCountFillItemsMin2 - 1));
      EXPECT_EQ(SortAlgorithm::kCountFill, chosen(kCountFillItemsMin2));
    }
    if (bytes >= 4) {
      EXPECT_EQ(SortAlgorithm::kTeam, chosen(single + 1));
      EXPECT_EQ(SortAlgorithm::kTeam, chosen(kTeamItemsMax));
      EXPECT_EQ(SortAlgorithm::kLsd, chosen(kTeamItemsMax + 1));
      EXPECT_EQ(SortAlgorithm::kLsd, chosen(kMsdItemsMin - 1));
      EXPECT_EQ(SortAlgorithm::kMsd, chosen(kMsdItemsMin));
      EXPECT_EQ(SortAlgorithm::kMsd, chosen(kMsdItemsMax));
      EXPECT_EQ(SortAlgorithm::kLsd, chosen(kMsdItemsMax + 1));
    }
  }
}

TEST(SortPlan, TilesFitTheDevice) {
  for (const Request &r : requests()) {
    const SortPlan small = plan_sort(r, kLargeTileSharedBytes - 1, false, SortAlgorithm::kAuto, 0);
    const SortPlan large = plan_sort(r, kLargeTileSharedBytes, false, SortAlgorithm::kAuto, 0);
    const bool wide = small.key_bytes == 8 || carry_bytes(small.carry) == 8;
    EXPECT_EQ(wide || r.n <= kSmallTilesItemsMax, small.small_tiles);
    EXPECT_EQ(r.n <= kSmallTilesItemsMax, large.small_tiles);
    const uint32_t items = wide ? LargeTile<8>::kItems : LargeTile<4>::kItems;
    EXPECT_EQ(large.small_tiles ? SmallTile<4>::kItems : items, large.tile_items);
  }
}

// The host counts tiles by these, kernels by their shapes.
TEST(SortPlan, HostAndKernelsCountTheSameTiles) {
  for (const uint32_t bytes : {1u, 2u, 4u}) {
    EXPECT_EQ(SegmentPassTile<4>::kItems, segment_tile_items(bytes));
    EXPECT_EQ(kSmallRows, small_rows(bytes));
  }
  EXPECT_EQ(SegmentPassTile<8>::kItems, segment_tile_items(8));
  EXPECT_EQ(kSmallRows / 2, small_rows(8));
  for (const uint32_t bytes : {1u, 2u, 4u, 8u}) {
    EXPECT_EQ(kSmallThreads * small_rows(bytes), small_items(bytes));
    EXPECT_EQ(kMediumThreads * small_rows(bytes), medium_items(bytes));
    for (const uint32_t value : {0u, 4u, 8u}) EXPECT_EQ(bytes == 8 || value == 8 ? 8u : 4u, wide_bytes(bytes, value));
  }
  EXPECT_EQ(SmallTile<4>::kItems, SmallTile<8>::kItems);
  EXPECT_EQ(LargeTile<4>::kWarps * 32, LargeTile<4>::kThreads);
  EXPECT_EQ(2u, slots_of(1));
  EXPECT_EQ(2u, slots_of(2));
  EXPECT_EQ(8u, slots_of(8));
}

TEST(SortPlan, EveryAlgorithmHasAName) {
  std::set<std::string> names;
  for (uint32_t i = 0; i <= static_cast<uint32_t>(SortAlgorithm::kCountFill); ++i)
    names.insert(sort_algorithm_name(static_cast<SortAlgorithm>(i)));
  EXPECT_EQ(static_cast<uint32_t>(SortAlgorithm::kCountFill) + 1, names.size());
}

TEST(SortPlan, CarryHoldsWhatTravels) {
  for (const Request &r : requests()) {
    const Carry carry = carry_of(r);
    const uint32_t bytes = carry_bytes(carry);
    EXPECT_EQ(r.operation == Operation::kSort, carry == Carry::kNothing);
    EXPECT_EQ(carry == Carry::kNothing, bytes == 0);
    if (carries_index(carry)) {
      EXPECT_TRUE(bytes == 8 || r.n <= uint64_t{1} << 32) << "an index must fit";
      EXPECT_EQ(r.n > UINT32_MAX ? 8u : 4u, bytes) << "no wider than needed";
    } else if (carry != Carry::kNothing) {
      EXPECT_EQ(r.value_bytes, bytes);
    }
    EXPECT_EQ(r.operation == Operation::kSortPairs && r.value_bytes != 4 && r.value_bytes != 8, gathers_values(r));
  }
}

TEST(SortLayout, SlicesHoldWhatTheSortNeeds) {
  for (const Request &r : requests()) {
    SortPlan plan = plan_sort(r, 0, SortAlgorithm::kAuto, 0);
    plan.msd_tables_bytes = plan.algorithm == SortAlgorithm::kMsd ? 12345 : 0;
    const SortLayout l = sort_layout(r, plan);
    const uint64_t bins = kDigitBins, n = r.n, keys = n * plan.key_bytes, carried = n * carry_bytes(plan.carry);
    const bool pairs = r.operation == Operation::kSortPairs, keys_go_out = pairs || r.operation == Operation::kSort;
    const bool one_block = n <= medium_items(plan.key_bytes), count = plan.key_bytes == 2 && keys_go_out && !pairs;
    EXPECT_GE(l.slots, plan.digits);
    EXPECT_GE(l.slots, 2u) << "an odd pass in place needs a way back";
    EXPECT_GE(l.tiles * plan.tile_items, n);
    expect_apart({{"counts", l.counts, plan.digits * bins * 8},
                  {"blocks_done", l.blocks_done, 4},
                  {"tickets", l.tickets, (plan.portions + 1) * l.slots * 4},
                  {"look_back", l.look_back, (n + plan.tile_items - 1) / plan.tile_items * bins * 4},
                  {"actions", l.actions, l.slots * uint64_t{kPassActionBytes}},
                  {"bases", l.bases, l.slots * 2 * bins * 8},
                  {"keys_x", l.keys_x, keys_go_out ? 0 : keys},
                  {"keys_y", l.keys_y, keys},
                  {"values_x", l.values_x, gathers_values(r) ? carried : 0},
                  {"values_y", l.values_y, carried},
                  {"small_indices", l.small_indices, pairs && one_block ? n * 4 : 0},
                  {"gathered", l.gathered, gathers_values(r) || (pairs && one_block) ? n * r.value_bytes : 0},
                  {"fill_counts", l.fill_counts, count ? uint64_t{65536} * 8 : 0},
                  {"fill_blocks_done", l.fill_blocks_done, count ? 4u : 0u},
                  {"fill_bases", l.fill_bases, count ? uint64_t{65536} * 8 : 0},
                  {"msd_tables", l.msd_tables, plan.msd_tables_bytes}},
                 l.bytes, 256);
    EXPECT_EQ(l.bases, l.zero_bytes) << "what is cleared ends where the bases begin";
    const uint64_t fixed =
        l.bases + l.slots * 2 * bins * 8 + plan.msd_tables_bytes + 16 * 256 + (count ? uint64_t{65536} * 16 + 512 : 0);
    const uint64_t arrays = 2 * keys + 2 * carried + (pairs ? n * (r.value_bytes + (one_block ? 4 : 0)) : 0);
    EXPECT_LE(l.bytes, fixed + arrays) << "more than is used";
  }
}

TEST(MsdPlan, CellsHoldTheirKeysAndPassesTheirBits) {
  for (const uint64_t n : plan_sizes()) {
    EXPECT_FALSE(msd_applies(n, 1) || msd_applies(n, 2));
    EXPECT_EQ(n >= kMsdItemsMin && n <= kMsdItemsMax, msd_applies(n, 4));
    EXPECT_EQ(msd_applies(n, 4), msd_applies(n, 8));
    if (!msd_applies(n, 4)) continue;
    const MsdPlan plan = plan_msd(n);
    EXPECT_LE(n, uint64_t{kMsdCellKeysMean} << plan.cell_bits) << "cells of more keys than a block holds";
    EXPECT_LE(plan.cell_bits, kMsdCellBitsMax);
    EXPECT_EQ(plan.cell_bits, plan.first_bits + plan.second_bits);
    EXPECT_LE(plan.first_bits, kMsdPassBitsMax);
    EXPECT_LE(plan.second_bits, plan.first_bits);
    EXPECT_EQ(plan.cell_bits <= kMsdPassBitsMax, plan.second_bits == 0) << "two passes only where one does not do";
    if (plan.cell_bits > 8) {
      EXPECT_GT(n, uint64_t{kMsdCellKeysMean} << (plan.cell_bits - 1)) << "too many cells";
    }
    EXPECT_EQ((uint64_t{4} << plan.cell_bits) / 32 * 33, msd_counts_bytes(plan));
    EXPECT_LE(msd_counts_bytes(plan) + 2048, kMsdSharedBytesMin);
  }
}

TEST(SegmentsLayout, ListsHoldTheSegmentsOfEverySize) {
  for (const gsort_dtype t : kPlanTypes)
    for (const uint64_t n : plan_sizes())
      for (const uint64_t segments : {uint64_t{0}, uint64_t{1}, uint64_t{77}, n / 3 + 1, n, uint64_t{1} << 40}) {
        Request r = make(Operation::kSortSegments, t, n, 0);
        r.segments = segments;
        const SegmentsLayout l = segments_layout(r);
        const uint32_t bytes = dtype_bytes(t), digits = digits_of(bytes);
        const uint64_t bins = kDigitBins;
        // As many segments as there can be of the least size of a list.
        const auto most = [&](uint64_t least) { return std::min(segments, n / least); };
        EXPECT_EQ(most(kSegmentWarpItemsMax + 1), l.small_max);
        EXPECT_EQ(most(small_items(bytes) + 1), l.medium_max);
        EXPECT_EQ(most(medium_items(bytes) + 1), l.large_max);
        // Large segments that are all but one key of a tile too long.
        const uint64_t tile = segment_tile_items(bytes);
        if (l.large_max != 0) {
          EXPECT_GE(l.large_tiles_max, (n + tile - 1) / tile);
          EXPECT_GE(l.large_tiles_max, n / (tile + 1) < l.large_max ? 2 * (n / (tile + 1)) : l.large_max);
          EXPECT_LE(l.large_tiles_max, n / tile + l.large_max);
        } else {
          EXPECT_EQ(0u, l.large_tiles_max);
        }
        expect_apart({{"list_counts", l.list_counts, 32},
                      {"tickets", l.tickets, digits * uint64_t{4}},
                      {"look_back", l.look_back, l.large_tiles_max * bins * 8},
                      {"large_counts", l.large_counts, l.large_max * digits * bins * 8},
                      {"small_list", l.small_list, l.small_max * 8},
                      {"medium_list", l.medium_list, l.medium_max * 8},
                      {"large_list", l.large_list, l.large_max * 8},
                      {"large_tile_begins", l.large_tile_begins, (l.large_max + 1) * 8},
                      {"keys_y", l.keys_y, l.large_max == 0 ? 0 : n * bytes}},
                     l.bytes, 256);
        EXPECT_EQ(l.small_list, l.zero_bytes);
        if (l.large_max == 0) {
          EXPECT_LE(l.bytes, l.keys_y) << "room for keys that are never moved";
        }
      }
}

}  // namespace
}  // namespace gsort_test
