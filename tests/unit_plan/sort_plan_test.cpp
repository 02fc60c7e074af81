// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <set>

#include "cuda/segments/plan.h"
#include "cuda/sort/sort_layout.h"
#include "cuda/sort/sort_plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;

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
      EXPECT_TRUE(may_take(r, plan, device, false, plan.algorithm))
          << sort_algorithm_name(plan.algorithm) << ", n " << r.n;
      EXPECT_EQ(0u, plan.portion_items % plan.tile_items);
      EXPECT_LE(plan.portion_items, kPortionItemsMax);
      EXPECT_GT(plan.portion_items + plan.tile_items, kPortionItemsMax) << "portions are as long as can be";
      EXPECT_GE(plan.portions * plan.portion_items, r.n);
      EXPECT_LT((plan.portions - 1) * plan.portion_items, r.n);
      for (const SortAlgorithm forced :
           {SortAlgorithm::kRankSort, SortAlgorithm::kSmallBlock, SortAlgorithm::kTeam, SortAlgorithm::kLsd,
            SortAlgorithm::kMsd, SortAlgorithm::kStable, SortAlgorithm::kCountFill}) {
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
    EXPECT_EQ(segments::SegmentPassTile<4>::kItems, segments::segment_tile_items(bytes));
    EXPECT_EQ(kSmallRows, small_rows(bytes));
  }
  EXPECT_EQ(segments::SegmentPassTile<8>::kItems, segments::segment_tile_items(8));
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
      EXPECT_EQ(r.n > uint64_t{1} << 32 ? 8u : 4u, bytes) << "no wider than needed";
    } else if (carry != Carry::kNothing) {
      EXPECT_EQ(r.value_bytes, bytes);
    }
    EXPECT_EQ(r.operation == Operation::kSortPairs && r.value_bytes != 4 && r.value_bytes != 8, gathers_values(r));
  }
}

// Tables as large as launch_sort asks for; those of the MSD sort are counted by its own file.
SortPlan planned(const Request &r, const Device &device, SortAlgorithm forced) {
  SortPlan plan = plan_sort(r, device.shared_bytes, device.teams, forced, 0);
  if (plan.algorithm == SortAlgorithm::kMsd) plan.msd_tables_bytes = 12345;
  if (plan.algorithm == SortAlgorithm::kStable) plan.msd_tables_bytes = stable_tables(plan_stable(r.n)).bytes;
  return plan;
}

bool on_chip(SortAlgorithm algorithm) {
  return algorithm == SortAlgorithm::kRankSort || algorithm == SortAlgorithm::kSmallBlock ||
         algorithm == SortAlgorithm::kTeam;
}

// Look-back words of the passes behind: of the tiles of each, and of those of the stable sort's second pass.
uint64_t look_back_tiles(const Request &r, const SortPlan &plan) {
  const uint64_t tiles = (r.n + plan.tile_items - 1) / plan.tile_items;
  if (plan.algorithm != SortAlgorithm::kStable) return tiles;
  const bool wide = wide_bytes(plan.key_bytes, carry_bytes(plan.carry)) == 8;
  const uint64_t large = wide ? LargeTile<8>::kItems : LargeTile<4>::kItems;
  return std::max(tiles, (r.n + large - 1) / large + kStableBinsMax);
}

// What the chosen algorithm uses, in the order of the slices.
void check_layout(const Request &r, const SortPlan &plan, const SortLayout &l) {
  const uint64_t bins = kDigitBins, n = r.n, keys = n * plan.key_bytes, carried = n * carry_bytes(plan.carry);
  const bool pairs = r.operation == Operation::kSortPairs, alone = r.operation == Operation::kSort;
  const bool count = plan.key_bytes == 2 && alone, chip = on_chip(plan.algorithm);
  const bool team = plan.algorithm == SortAlgorithm::kTeam;
  const uint64_t counted = plan.shortcut && alone ? uint64_t{4} << kShortcutBitsMax : 0;
  const uint64_t items = team ? n * small_item_bytes(plan.key_bytes, !alone) : 0;
  EXPECT_GE(l.slots, plan.digits);
  EXPECT_GE(l.slots, 2u) << "an odd pass in place needs a way back";
  EXPECT_GE(l.tiles, look_back_tiles(r, plan));
  expect_apart({{"counts", l.counts, plan.digits * bins * 8},
                {"blocks_done", l.blocks_done, 4},
                {"tickets", l.tickets, plan.portions * l.slots * 4},
                {"look_back", l.look_back, l.tiles * bins * 4},
                {"actions", l.actions, l.slots * uint64_t{kPassActionBytes}},
                {"shortcut_state", l.shortcut_state, plan.shortcut ? kShortcutStateBytes : 0u},
                {"shortcut_counts", l.shortcut_counts, counted},
                {"bases", l.bases, l.slots * 2 * bins * 8},
                {"keys_x", l.keys_x, alone || pairs ? 0 : keys},
                {"keys_y", l.keys_y, keys},
                {"values_x", l.values_x, gathers_values(r) ? carried : 0},
                {"values_y", l.values_y, carried},
                {"small_indices", l.small_indices, pairs && chip ? n * 4 : 0},
                {"gathered", l.gathered, gathers_values(r) || (pairs && chip) ? n * r.value_bytes : 0},
                {"fill_counts", l.fill_counts, count ? uint64_t{65536} * 8 : 0},
                {"fill_blocks_done", l.fill_blocks_done, count ? 4u : 0u},
                {"fill_bases", l.fill_bases, count ? uint64_t{65536} * 8 : 0},
                {"shortcut_bases", l.shortcut_bases, counted},
                {"msd_tables", l.msd_tables, plan.msd_tables_bytes},
                {"team_staged", l.team_staged, items},
                {"team_spare", l.team_spare, items},
                {"team_starts", l.team_starts, team ? kTeamBlocksMax * kTeamStartsStride * uint64_t{4} : 0}},
               l.bytes, 256);
}

void check_cleared_and_all(const Request &r, const SortPlan &plan, const SortLayout &l) {
  const uint64_t n = r.n, keys = n * plan.key_bytes, carried = n * carry_bytes(plan.carry), bins = kDigitBins;
  const bool pairs = r.operation == Operation::kSortPairs, alone = r.operation == Operation::kSort;
  const uint64_t filled = plan.key_bytes == 2 && alone ? uint64_t{65536} * 16 + 512 : 0;
  const uint64_t counted = plan.shortcut && alone ? uint64_t{4} << kShortcutBitsMax : 0;
  // What is cleared: the words of the passes; before a shortcut its own as well, which say later that it applied.
  EXPECT_EQ(l.shortcut_state, l.zero_bytes);
  EXPECT_EQ(l.bases, l.shortcut_zero_bytes);
  EXPECT_EQ(0u, l.shortcut_zero_bytes % 16) << "it is cleared by vectors";
  const bool may_be_team = team_applies(n, plan.key_bytes);
  const bool may_be_chip =
      pairs && (may_be_team || small_sort_applies(n, plan.key_bytes, !alone, kLongBlockSharedBytes));
  const uint64_t fixed = l.bases + l.slots * 2 * bins * 8 + plan.msd_tables_bytes + 24 * 256 + counted + filled +
                         (may_be_team ? kTeamStartsBytes : 0);
  const uint64_t arrays = 2 * keys + 2 * carried + (pairs ? n * (r.value_bytes + (may_be_chip ? 4 : 0)) : 0) +
                          (may_be_team ? 2 * n * small_item_bytes(plan.key_bytes, !alone) : 0);
  EXPECT_LE(l.bytes, fixed + arrays) << "more than is used";
}

// The size is asked for without a device, and must do on every one of them.
TEST(SortLayout, SlicesHoldWhatTheSortNeedsOnEveryDevice) {
  const Device none = {0, false};
  for (const Request &r : requests()) {
    for (const SortAlgorithm forced :
         {SortAlgorithm::kAuto, SortAlgorithm::kLsd, SortAlgorithm::kStable, SortAlgorithm::kTeam}) {
      const uint64_t asked = sort_layout(r, planned(r, none, forced)).bytes;
      for (const Device &device :
           {none, Device{49152, false}, Device{65536, false}, Device{101376, true}, Device{232448, true}}) {
        const SortPlan plan = planned(r, device, forced);
        const SortLayout l = sort_layout(r, plan);
        check_layout(r, plan, l);
        check_cleared_and_all(r, plan, l);
        EXPECT_LE(l.bytes, asked) << sort_algorithm_name(plan.algorithm) << ", n " << r.n << ", keys of "
                                  << plan.key_bytes << ", values of " << r.value_bytes;
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(SortLayout, LongestInputOfATeamHasRoomForAllThatItsBlocksStage) {
  const Request r = make(Operation::kSortPairs, GSORT_U64, kTeamItemsMax, 8);
  const SortLayout l = sort_layout(r, plan_sort(r, 232448, true, SortAlgorithm::kAuto, 0));
  EXPECT_GE(l.team_spare - l.team_staged, kTeamItemsMax * 16);
  const Request longer = make(Operation::kSortPairs, GSORT_U64, kTeamItemsMax + 1, 8);
  const SortLayout none = sort_layout(longer, plan_sort(longer, 232448, true, SortAlgorithm::kAuto, 0));
  EXPECT_EQ(none.team_staged, none.bytes) << "room for a team where there is none";
}

}  // namespace
}  // namespace gsort_test
