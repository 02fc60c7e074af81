// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/dtype.h"
#include "cuda/sort/plan.h"
#include "cuda/topk/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::topk;

constexpr Options newest_ways() {
  Options options;
  options.newest_ways = true;
  return options;
}
constexpr Options kNewest = newest_ways();

TEST(TopkPlan, Arithmetic) {
  EXPECT_EQ(3u, min_of(3, 5));
  EXPECT_EQ(3u, min_of(5, 3));
  EXPECT_EQ(5u, max_of(3, 5));
  EXPECT_EQ(5u, max_of(5, 3));
  EXPECT_EQ(0u, bit_count(0));
  EXPECT_EQ(64u, bit_count(UINT64_MAX));
  EXPECT_EQ(1u, power_up(0));
  EXPECT_EQ(0u, power_down(0));
  for (const uint64_t v : plan_sizes()) {
    EXPECT_LT(v >> bit_count(v), 1u);
    EXPECT_EQ(1u, v >> (bit_count(v) - 1));
    EXPECT_GE(power_up(v), v);
    EXPECT_LT(power_up(v), 2 * v);
    EXPECT_LE(power_down(v), v);
    EXPECT_GT(2 * power_down(v), v);
    for (const uint64_t power : {power_up(v), power_down(v)}) EXPECT_EQ(0u, power & (power - 1));
    const uint64_t root = integer_root(v);
    EXPECT_LE(root * root, v);
    EXPECT_GT((root + 1) * (root + 1), v);
  }
}

struct Case {
  Shape shape;
  DeviceFacts device;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t columns : plan_sizes())
      for (const uint64_t rows : {uint64_t{1}, uint64_t{7}, uint64_t{66}, uint64_t{100000}})
        for (const uint64_t k :
             {uint64_t{1}, uint64_t{33}, uint64_t{256}, uint64_t{257}, uint64_t{500}, uint64_t{2048}, uint64_t{2049},
              uint64_t{70000}, kTeamItemsMax, kTeamItemsMax + 1, columns / 8, columns})
          for (const DeviceFacts device :
               {DeviceFacts{90, 132, 232448}, DeviceFacts{80, 132, 166912}, DeviceFacts{75, 20, 49152}})
            if (k >= 1 && k <= columns && rows * columns < uint64_t{1} << 40)
              all.push_back({{rows, columns, k, key_bytes}, device});
  return all;
}

TEST(TopkPlan, CompositesHoldKeyAndIndex) {
  for (const Case &c : cases()) {
    const Plan plan = choose(c.shape, c.device, kNewest);
    EXPECT_EQ(0u, (c.shape.columns - 1) >> plan.index_bits);
    EXPECT_TRUE(plan.index_bits == 0 || ((c.shape.columns - 1) >> (plan.index_bits - 1)) == 1);
    const bool narrow = c.shape.key_bytes * 8 + plan.index_bits <= 64 && c.shape.key_bytes < 8;
    EXPECT_EQ(narrow ? 8u : 16u, plan.composite_bytes);
  }
}

TEST(TopkPlan, RowsFitABlock) {
  for (const Case &c : cases()) {
    const Shape &s = c.shape;
    RowsPlan p = {};
    if (!plan_rows(s, c.device, p)) continue;
    EXPECT_LE(s.k, kRowsSortMax);
    EXPECT_LT(s.columns, uint64_t{1} << 31);
    EXPECT_GE(p.sorted_items, s.k);
    EXPECT_EQ(0u, p.sorted_items & (p.sorted_items - 1));
    EXPECT_LT(p.sorted_items, std::max<uint64_t>(2 * s.k, 33));
    EXPECT_EQ(0u, p.threads % 32);
    EXPECT_LE(p.threads, 1024u);
    EXPECT_GE(p.threads, 32u);
    EXPECT_LE(p.sorted_items, 4 * p.threads) << "the sort holds four a thread";
    EXPECT_LE(p.bin_bits, kBinBits);
    const uint64_t composite = composite_bytes_of(s);
    const uint64_t used = kScratchBytes + (uint64_t{4} << p.bin_bits) + (p.sorted_items + p.buffer_items) * composite;
    EXPECT_LE(used, c.device.shared_bytes_block_max);
    EXPECT_GE(p.buffer_items, std::min(s.k, s.columns));
    if (p.sample.items == 0) {
      EXPECT_EQ(s.columns, p.buffer_items) << "a row that is not sampled is kept whole";
      EXPECT_EQ(s.columns, p.direct_items);
    } else {
      EXPECT_EQ(0u, p.direct_items) << "the kernel would hold a row whole that it is to sample";
      EXPECT_LE(p.sample.items, p.buffer_items) << "the sample lies where the candidates will";
      EXPECT_LE(p.sample.items * 2, s.columns);
      EXPECT_LT(p.sample.rank, p.sample.items / 2);
      // The expected candidates leave room for bad luck.
      EXPECT_LE(p.sample.rank * (s.columns / p.sample.items), p.buffer_items * uint64_t{3} / 5);
      EXPECT_GE(p.sample.rank * (s.columns / p.sample.items), s.k) << "the bound would leave out some of the k";
    }
  }
}

TEST(TopkPlan, RowsEndWhereABlockDoes) {
  const DeviceFacts device = {90, 132, 232448};
  RowsPlan p = {};
  EXPECT_TRUE(plan_rows({1000, 8192, kRowsSortMax, 4}, device, p));
  EXPECT_FALSE(plan_rows({1000, 8192, kRowsSortMax + 1, 4}, device, p));
  EXPECT_FALSE(plan_rows({1, uint64_t{1} << 31, 10, 4}, device, p));
  // A row that is just kept whole, and one element more.
  EXPECT_TRUE(plan_rows({1000, kRowsDirectMax, 10, 4}, device, p));
  EXPECT_EQ(0u, p.sample.items);
  EXPECT_TRUE(plan_rows({1000, kRowsDirectMax + 1, 10, 4}, device, p));
  EXPECT_NE(0u, p.sample.items);
  // Room for the counters and the sorted k, and none for the row.
  for (uint32_t shared = kScratchBytes; shared < 8192; shared += 8) {
    if (plan_rows({1000, 1000, 10, 4}, {90, 132, shared}, p)) {
      EXPECT_GE(p.buffer_items, 10u);
    }
  }
  // No room at all.
  EXPECT_FALSE(plan_rows({1, 1000, 10, 4}, {90, 132, kScratchBytes}, p));
}

TEST(TopkPlan, SampleIsForLongInputsAndSmallK) {
  EXPECT_EQ(0u, team_sample({1, (uint64_t{1} << 14) - 1, 1, 4}).items);
  EXPECT_NE(0u, team_sample({1, uint64_t{1} << 14, 1, 4}).items);
  EXPECT_NE(0u, team_sample({1, uint64_t{1} << 30, 1000, 4}).items);
  EXPECT_EQ(0u, team_sample({1, uint64_t{1} << 30, (uint64_t{1} << 27) + 1, 4}).items);
}

// Every thread is sure of a vector of the row, and leaves of its group the best.
void check_whole(const Shape &s, const DeviceFacts &d, const TeamPlan &p) {
  EXPECT_EQ(s.columns, p.sample.items);
  EXPECT_EQ(s.k, p.sample.rank) << "k groups' best are k elements";
  EXPECT_LE(s.k, kCountedMax);
  EXPECT_LE(s.columns * s.key_bytes, kWholeBytesMax);
  EXPECT_LE(p.group_lanes, 32u);
  EXPECT_EQ(0u, p.group_lanes & (p.group_lanes - 1));
  EXPECT_EQ(p.blocks * kTeamThreads, p.groups * p.group_lanes);
  EXPECT_GE(p.groups, 2 * s.k);
  EXPECT_LE(p.groups, p.buffer_items);
  // The row may begin up to 15 bytes before or behind a vector.
  EXPECT_GE((s.columns * s.key_bytes - 15) / 16, uint64_t{p.blocks} * kTeamThreads);
  if (p.cluster) {
    EXPECT_TRUE(d.clusters());
    EXPECT_LE(p.blocks, kClusterBlocks);
    EXPECT_EQ(0u, p.blocks & (p.blocks - 1));
    EXPECT_LE(s.k, kClusterKMax);
  }
}

void check_random_sample(const Shape &s, const TeamPlan &p) {
  EXPECT_EQ(kSampleGroups, p.groups);
  EXPECT_FALSE(p.cluster);
  const Sample sample = team_sample(s);
  EXPECT_EQ(sample.items, p.sample.items);
  EXPECT_EQ(sample.rank, p.sample.rank);
  if (sample.items == 0) {
    EXPECT_EQ(0u, team_list_items(s));
    return;
  }
  EXPECT_LE(p.sample.items, s.columns / 4);
  EXPECT_GE(p.sample.items, kSampleGroups);
  EXPECT_EQ(0u, p.sample.items % kSampleGroups) << "groups are equal";
  EXPECT_LE(p.sample.rank, kSampleGroups / 3);
  EXPECT_GE(p.sample.rank * (s.columns / p.sample.items), s.k);
  EXPECT_GE(team_list_items(s), std::min(s.columns, s.k + p.sample.rank * (s.columns / p.sample.items)));
}

void check_team_layout(const Shape &s, const TeamLayout &l, bool split) {
  const uint64_t composite = composite_bytes_of(s);
  EXPECT_GE(l.list_a_items, split ? 0 : std::max(s.k, team_list_items(s)));
  expect_apart({{"control and bins", 0, kControlBytes + uint64_t{3} * kBins * 8},
                {"samples", l.samples, kGroupsMax * composite},
                {"least", l.least, kTeamBlocksMax * composite},
                {"regions", l.regions, uint64_t{kTeamBlocksMax} * kRegionItems * composite},
                {"candidate counts", l.candidate_counts, kTeamBlocksMax * uint64_t{4}},
                {"counts", l.counts, kTeamBlocksMax * uint64_t{16}},
                {"list_a", l.list_a, l.list_a_items * composite},
                {"list_b", l.list_b, split ? 0 : s.k * composite}},
               l.bytes, 256);
}

TEST(TopkPlan, TeamsFitTheDeviceAndTheirWorkspace) {
  bool seen_cluster = false, seen_whole = false, seen_random = false, seen_none = false;
  for (const Case &c : cases()) {
    const Shape &s = c.shape;
    const TeamPlan p = plan_team(s, c.device);
    EXPECT_GE(p.teams, 1u);
    EXPECT_LE(p.teams, s.rows);
    EXPECT_GE(p.blocks, 1u);
    EXPECT_LE(uint64_t{p.teams} * p.blocks, std::min<uint64_t>(c.device.multiprocessors, kTeamBlocksMax))
        << "a cooperative launch must fit the device";
    EXPECT_EQ(0u, p.run_items & (p.run_items - 1));
    EXPECT_GE(p.run_items, 32u);
    EXPECT_LE(p.run_items, 4 * kTeamThreads) << "a thread sorts four";
    const uint64_t composite = composite_bytes_of(s), room = uint64_t{p.buffer_items} + p.run_items;
    EXPECT_LE(kScratchBytes + kBins * 4 + room * composite, c.device.shared_bytes_block_max);
    EXPECT_LE(p.count_items, room) << "all candidates that are counted lie in one block's memory";
    EXPECT_LE(p.groups, room) << "so do the groups' best";
    EXPECT_LE(std::max(p.groups, p.run_items), kGroupsMax) << "and there is a place for each in the workspace";
    EXPECT_GE(p.tile_vectors, 1u);
    EXPECT_LE(p.tile_vectors, kVectorsThread);
    if (p.group_lanes != 0) {
      check_whole(s, c.device, p);
    } else {
      check_random_sample(s, p);
    }
    seen_cluster = seen_cluster || p.cluster;
    seen_whole = seen_whole || (p.group_lanes != 0 && !p.cluster);
    seen_random = seen_random || (p.group_lanes == 0 && p.sample.items != 0);
    seen_none = seen_none || p.sample.items == 0;
    EXPECT_LE(team_list_items(s), s.columns);
    for (const bool split : {false, true}) check_team_layout(s, team_layout(s, split), split);
    EXPECT_LE(p.teams, teams_max(s));
    EXPECT_TRUE(p.teams == 1 || p.teams * team_layout(s, false).bytes <= kTeamsBytesMax);
  }
  EXPECT_TRUE(seen_cluster && seen_whole && seen_random && seen_none);
}

// Workspace is reserved for n elements; rows that are as long together must fit it however they are cut.
TEST(TopkPlan, ReservedBytesHoldEverySplit) {
  for (const uint32_t key_bytes : {1u, 4u, 8u})
    for (const uint64_t n : plan_sizes())
      for (const uint64_t k : {uint64_t{1}, uint64_t{50}, uint64_t{5000}, n / 100 + 1}) {
        if (k > n || n > uint64_t{1} << 33) continue;
        const uint64_t reserved = teams_bytes_max({1, n, k, key_bytes});
        for (const uint64_t rows : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{50}, n / k}) {
          const Shape s = {rows, n / std::max<uint64_t>(rows, 1), k, key_bytes};
          if (rows == 0 || s.columns < k) continue;
          EXPECT_LE(teams_max(s) * team_layout(s, false).bytes, reserved)
              << rows << " rows of " << s.columns << ", k " << k << ", key of " << key_bytes;
        }
      }
}

bool rows_are_better(const Shape &s, const DeviceFacts &d) {
  return s.columns <= kRowsColumnsSingle || s.rows >= d.multiprocessors / 2 ||
         (s.columns <= kRowsColumnsSeveral && s.rows > kSeveralRows);
}

TEST(TopkPlan, PathsAreLegal) {
  bool seen[7] = {};
  for (const Case &c : cases()) {
    const Plan plan = choose(c.shape, c.device, kNewest);
    seen[static_cast<int>(plan.algorithm)] = true;
    const bool by_lanes = plan_lanes(c.shape).lanes != 0;
    EXPECT_EQ(by_lanes, plan.algorithm == Algorithm::kLanes);
    if (by_lanes) continue;
    RowsPlan rows = {};
    const bool by_rows =
        plan_rows(c.shape, c.device, rows) && rows_are_better(c.shape, c.device) && !sorts_whole(c.shape);
    const bool by_warps = c.shape.columns <= kWarpItemsMax && c.shape.k <= kWarpSortMax;
    const bool many = c.shape.rows > 4 * uint64_t{c.device.multiprocessors};
    EXPECT_EQ(by_warps && many, plan.algorithm == Algorithm::kWarp);
    if (plan.algorithm == Algorithm::kWarp) continue;
    const bool by_stream = stream_better(c.shape, c.device, plan_stream(c.shape, c.device));
    EXPECT_EQ(by_stream, plan.algorithm == Algorithm::kStream);
    if (by_stream) continue;
    EXPECT_EQ(by_rows, plan.algorithm == Algorithm::kRows);
    if (!by_rows) {
      EXPECT_EQ(large_k_algorithm(c.shape, kNewest), plan.algorithm);
    }
    if (plan.algorithm == Algorithm::kSort || plan.algorithm == Algorithm::kSelect) {
      EXPECT_EQ(1u, plan.team.teams) << "one row at a time: a team without a row would be waited for";
    }
    EXPECT_LE(plan.team.teams, c.shape.rows);
  }
  for (const bool path : seen) EXPECT_TRUE(path);
}

TEST(TopkPlan, LanesHoldTheRowAndHaveGroupsForK) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (uint64_t columns = 1; columns <= 1100; ++columns)
      for (const uint64_t k : {1, 7, 8, 9, 16, 17, 32, 33}) {
        if (k > columns) continue;
        const LanesPlan plan = plan_lanes({1000, columns, k, key_bytes});
        const bool fits = columns <= (key_bytes == 8 ? 512u : 1024u) && k <= 32;
        ASSERT_EQ(fits, plan.lanes != 0) << columns << " " << k;
        if (!fits) continue;
        ASSERT_GE(plan.lanes * plan.registers, columns);
        ASSERT_GE(plan.lanes, k);
        ASSERT_EQ(0u, 32 % plan.lanes);
      }
  EXPECT_EQ(8u, plan_lanes({1, 64, 8, 4}).lanes);
  EXPECT_EQ(16u, plan_lanes({1, 65, 8, 4}).lanes);
  EXPECT_EQ(16u, plan_lanes({1, 64, 9, 4}).lanes);
}

TEST(TopkPlan, StreamsHaveGroupsForK) {
  for (const Case &c : cases()) {
    const StreamPlan plan = plan_stream(c.shape, c.device);
    if (plan.threads == 0) {
      EXPECT_TRUE(c.shape.k > 128 || c.shape.columns >= uint64_t{1} << 31);
      continue;
    }
    EXPECT_LE(c.shape.k, stream_k_max(plan.threads));
    EXPECT_GE(plan.threads, kStreamThreadsMin);
    EXPECT_LE(plan.threads, 1024u);
    EXPECT_EQ(0u, plan.threads & (plan.threads - 1));
    EXPECT_FALSE(stream_better({c.shape.rows, kStreamColumnsMin - 1, 1, 4}, c.device, plan));
  }
  const DeviceFacts device = {90, 132, 232448};
  EXPECT_EQ(1024u, plan_stream({132, 10000, 10, 4}, device).threads);
  EXPECT_EQ(512u, plan_stream({264, 10000, 10, 4}, device).threads);
  EXPECT_EQ(128u, plan_stream({1000, 10000, 10, 4}, device).threads);
  EXPECT_EQ(256u, plan_stream({1000, 10000, 65, 4}, device).threads);
  EXPECT_EQ(0u, plan_stream({1000, 10000, 129, 4}, device).threads);
}

TEST(TopkPlan, LargeKOfOneRowIsListedAndSorted) {
  const auto way = [](const Shape &s) { return large_k_algorithm(s, kNewest); };
  EXPECT_EQ(Algorithm::kTeam, way({1, 1 << 20, kCountedMax, 4}));
  EXPECT_EQ(Algorithm::kSelect, way({1, 1 << 20, kCountedMax + 1, 4}));
  EXPECT_EQ(Algorithm::kSelect, way({1, 1 << 28, kSelectKMax, 4}));
  EXPECT_EQ(Algorithm::kSort, way({1, 1 << 28, kSelectKMax + 1, 4}));
  EXPECT_EQ(Algorithm::kSelect, way({1, 1 << 20, kTeamItemsMax, 4})) << "without a sample";
  EXPECT_EQ(Algorithm::kSort, way({1, 1 << 20, kTeamItemsMax + 1, 4})) << "without a sample";
  EXPECT_EQ(Algorithm::kTeam, way({1, 1 << 20, 5000, 8})) << "composites of 16 bytes";
  EXPECT_EQ(Algorithm::kSort, way({1, 1 << 28, 1 << 20, 8}));
  EXPECT_EQ(Algorithm::kTeam, way({2, 1 << 20, 5000, 4})) << "two rows";
}

TEST(TopkPlan, ShortRowsAreSortedWholeForLargeK) {
  for (const uint64_t columns : {uint64_t{1} << 10, uint64_t{1} << 13, uint64_t{1} << 17, kSortWholeItemsMax})
    for (const uint32_t key_bytes : {1u, 4u, 8u}) {
      const uint64_t least = sort_whole_k_min(columns, key_bytes);
      if (least > columns) continue;
      const Plan plan = choose({1, columns, least, key_bytes}, {90, 132, 232448}, kNewest);
      EXPECT_EQ(Algorithm::kSort, plan.algorithm);
      EXPECT_TRUE(sorts_all(plan.shape));
      EXPECT_NE(Algorithm::kSort, choose({1, columns, least - 1, key_bytes}, {90, 132, 232448}, kNewest).algorithm);
      EXPECT_NE(Algorithm::kSort, choose({2, columns, least, key_bytes}, {90, 132, 232448}, kNewest).algorithm);
    }
  EXPECT_FALSE(sorts_whole({1, kSortWholeItemsMax + 1, 5000, 4}));
}

// What a bound is likely to let through fits the list, or the list has the best k alone.
TEST(TopkPlan, ListsHoldWhatTheirBoundLetsThrough) {
  uint32_t lists = 0;
  for (const Case &c : cases()) {
    if (!select_fits(c.shape)) continue;
    const uint64_t items = select_items(c.shape);
    EXPECT_GE(items, c.shape.k);
    EXPECT_LE(items, c.shape.columns);
    if (items == c.shape.k) continue;
    ++lists;
    const Sample sample = team_sample(c.shape);
    EXPECT_LE(items, kSelectItemsMax);
    EXPECT_GE(items, std::min(c.shape.columns,
                              (sample.rank + slack_of_sample(sample.rank)) * (c.shape.columns / sample.items)));
  }
  EXPECT_LT(20u, lists);
}

TEST(TopkPlan, SelectionForASortTakesARandomSampleAndLeavesNothingInRegisters) {
  uint32_t seen = 0;
  for (const Case &c : cases()) {
    const Plan plan = choose(c.shape, c.device, kNewest);
    if (plan.algorithm != Algorithm::kSelect) continue;
    ++seen;
    EXPECT_EQ(8u, plan.composite_bytes);
    EXPECT_EQ(team_sample(c.shape).items, plan.team.sample.items);
    EXPECT_EQ(0u, plan.team.group_lanes);
    EXPECT_FALSE(plan.team.cluster);
    EXPECT_EQ(0u, plan.team.resident.need);
    EXPECT_EQ(0u, plan.team.slot_bits) << "few candidates would be written at once";
  }
  EXPECT_LT(100u, seen);
}

// What has not been tested on a GPU is taken by tests alone.
TEST(TopkPlan, CallsTakeTestedWays) {
  for (const Case &c : cases()) {
    const Plan plan = choose(c.shape, c.device, {});
    const bool newest = plan.algorithm == Algorithm::kLanes || plan.algorithm == Algorithm::kStream ||
                        plan.algorithm == Algorithm::kSelect;
    EXPECT_TRUE(kTakesNewestWays || !newest) << c.shape.rows << " x " << c.shape.columns << ", k " << c.shape.k;
  }
}

TEST(TopkPlan, WaysAreForcedWhereTheyCanDoTheCall) {
  for (const Case &c : cases()) {
    const Algorithm own = choose(c.shape, c.device, kNewest).algorithm;
    Options force = kNewest;
    force.warp = true;
    const bool warp = c.shape.columns <= kWarpItemsMax && c.shape.k <= kWarpSortMax;
    EXPECT_EQ(warp ? Algorithm::kWarp : own, choose(c.shape, c.device, force).algorithm);
    force = kNewest;
    force.rows = true;
    RowsPlan rows = {};
    EXPECT_EQ(plan_rows(c.shape, c.device, rows) ? Algorithm::kRows : own, choose(c.shape, c.device, force).algorithm);
    force = kNewest;
    force.stream = true;
    const bool streams = plan_stream(c.shape, c.device).threads != 0;
    EXPECT_EQ(streams ? Algorithm::kStream : own, choose(c.shape, c.device, force).algorithm);
    force = kNewest;
    force.select = true;
    EXPECT_EQ(select_fits(c.shape) ? Algorithm::kSelect : own, choose(c.shape, c.device, force).algorithm);
    force = kNewest;
    force.team = true;
    EXPECT_EQ(Algorithm::kTeam, choose(c.shape, c.device, force).algorithm);
    force = kNewest;
    force.sort = true;
    EXPECT_EQ(Algorithm::kSort, choose(c.shape, c.device, force).algorithm);
  }
}

// A resident row fits the registers, and the bound has at least k elements at or under it.
void check_resident(const Shape &s, const TeamPlan &p) {
  EXPECT_NE(0u, p.group_lanes) << "it is not its own sample";
  EXPECT_GT(p.blocks, 1u);
  EXPECT_LE(s.columns * s.key_bytes / 16, uint64_t{p.blocks} * kTeamThreads * kVectorsThread);
  EXPECT_GE(uint64_t{p.resident.need} * p.resident.rank, s.k);
  EXPECT_GE(p.resident.rank, 1u);
  EXPECT_LE(p.resident.rank, p.blocks);
  EXPECT_LE(p.resident.need, 32 * p.resident.each) << "the warps of a block offer that many";
  EXPECT_LE(p.resident.each, kResidentOffersMax);
  if (p.cluster) {
    EXPECT_EQ(p.blocks, p.resident.rank);
    EXPECT_GE(p.buffer_items + p.run_items, kClusterRoomItems) << "what the blocks send has room";
  } else {
    EXPECT_EQ(1u, s.rows);
    EXPECT_GE(kBins * 4 + (p.buffer_items + p.run_items) * composite_bytes_of(s), kGridBytes);
    EXPECT_LE(uint64_t{p.blocks} << p.resident.slot_bits, kGridSlots);
    EXPECT_LE(1u << p.resident.slot_bits, kGridListItems);
  }
}

// The blocks tell each other their best draw, and few candidates.
void check_drawn(const Shape &s, const TeamPlan &p) {
  EXPECT_EQ(p.sample.rank, p.drawn_rank);
  EXPECT_EQ(0u, p.group_lanes);
  EXPECT_LE(3 * p.drawn_rank, p.blocks) << "many blocks have two of the best draws";
  EXPECT_GE(p.run_items * composite_bytes_of(s), kGridBytes);
  EXPECT_LE(uint64_t{p.blocks} << p.slot_bits, kGridSlots);
  if (p.slot_bits != 0) {
    EXPECT_LE(p.sample.rank * (s.columns / p.sample.items), p.blocks * kFewEach);
  }
  EXPECT_EQ(s.columns * s.key_bytes >= kAheadBytesMin, p.tiles_ahead != 0);
}

TEST(TopkPlan, SamplesAreForced) {
  bool seen_resident[2] = {}, seen_few[2] = {}, seen_ahead[2] = {};
  for (const Case &c : cases()) {
    const Plan plan = choose(c.shape, c.device, kNewest);
    if (plan.team.resident.need != 0) check_resident(c.shape, plan.team);
    seen_resident[plan.team.cluster] = seen_resident[plan.team.cluster] || plan.team.resident.need != 0;
    if (plan.team.drawn_rank != 0) {
      check_drawn(c.shape, plan.team);
      seen_few[plan.team.slot_bits != 0] = true;
      seen_ahead[plan.team.tiles_ahead != 0] = true;
    } else {
      EXPECT_EQ(0u, plan.team.slot_bits);
      EXPECT_EQ(0u, plan.team.tiles_ahead) << "nobody waits for a bound";
    }
    Options force = kNewest;
    force.no_sample = true;
    EXPECT_EQ(0u, choose(c.shape, c.device, force).team.resident.need);
    EXPECT_EQ(0u, choose(c.shape, c.device, force).team.drawn_rank);
    EXPECT_EQ(0u, choose(c.shape, c.device, force).team.sample.items);
    force = kNewest;
    force.no_cluster = true;
    EXPECT_FALSE(choose(c.shape, c.device, force).team.cluster);
    force.random_sample = true;
    EXPECT_EQ(0u, choose(c.shape, c.device, force).team.resident.need);
    check_random_sample(c.shape, choose(c.shape, c.device, force).team);
    force = kNewest;
    force.sample_rank = 1;
    const Plan first = choose(c.shape, c.device, force);
    EXPECT_EQ(plan.team.sample.items != 0 ? 1u : plan.team.sample.rank, first.team.sample.rank);
    EXPECT_EQ(plan.rows.sample.items != 0 ? 1u : plan.rows.sample.rank, first.rows.sample.rank);
    force.sample_rank = UINT64_MAX;
    const Plan last = choose(c.shape, c.device, force);
    EXPECT_LE(last.team.sample.rank, last.team.groups);
    EXPECT_LE(last.rows.sample.rank, last.rows.sample.items);
    force = kNewest;
    force.count_items = 7;
    EXPECT_EQ(7u, choose(c.shape, c.device, force).team.count_items);
  }
  EXPECT_TRUE(seen_resident[0] && seen_resident[1]);
  EXPECT_TRUE(seen_few[0] && seen_few[1]);
  EXPECT_TRUE(seen_ahead[0] && seen_ahead[1]);
}

// A rank this high misses the k-th element about once in 10^5 calls: at least three standard deviations of the number
// of the best k that a sample holds.
TEST(TopkPlan, SampleRankLeavesRoomForBadLuck) {
  for (const uint64_t k : {uint64_t{1}, uint64_t{100}, uint64_t{10000}})
    for (const uint64_t m : {uint64_t{2048}, uint64_t{65536}})
      for (const uint64_t n : {uint64_t{1} << 20, uint64_t{1} << 28}) {
        const double mean = static_cast<double>(k) * static_cast<double>(m) / static_cast<double>(n);
        const auto rank = static_cast<double>(rank_of_sample(k, m, n));
        EXPECT_GE(rank, mean + 3 * std::sqrt(mean) + 4);
        EXPECT_LE(rank, mean + 5 * std::sqrt(mean + 1) + 8);
      }
  // Slack saves passes over the sample; it must not take more room than a list of candidates allows for.
  for (const uint64_t rank : {uint64_t{1}, uint64_t{6}, uint64_t{600}}) {
    EXPECT_GT(slack_of_sample(rank), 0u);
    EXPECT_LE(slack_of_sample(rank), rank + 30);
  }
}

Request rows_of(gsort_dtype t, uint64_t rows, uint64_t columns, uint64_t k) {
  Request r = make(Operation::kTopkRows, t, rows * columns, 0);
  r.rows = rows, r.columns = columns, r.row_stride = columns, r.k = k;
  return r;
}

TEST(TopkPlan, WorkspaceDoesNotDependOnTheDevice) {
  for (const Case &c : cases()) {
    const uint32_t bytes = c.shape.key_bytes;
    const gsort_dtype t = bytes == 1 ? GSORT_U8 : bytes == 2 ? GSORT_F16 : bytes == 4 ? GSORT_I32 : GSORT_F64;
    const Request r = rows_of(t, c.shape.rows, c.shape.columns, c.shape.k);
    const Plan plan = make_plan(r, c.device), asked = make_plan(r, kLeastDevice);
    EXPECT_EQ(asked.workspace_bytes, plan.workspace_bytes);
    if (plan.algorithm == Algorithm::kTeam) {
      EXPECT_GE(plan.workspace_bytes, plan.team_layout.bytes * plan.team.teams);
    }
    if (plan.algorithm == Algorithm::kSelect) {
      expect_apart({{"team", 0, plan.team_layout.bytes},
                    {"sorted", plan.select.sorted, plan.select.items * sizeof(uint64_t)},
                    {"sort", plan.select.rest, sort::workspace_bytes(composite_sort_request(plan.select.items))}},
                   plan.workspace_bytes, 256);
      EXPECT_LE(plan.team_layout.list_b + plan.select.items * sizeof(uint64_t), plan.team_layout.bytes);
    }
    if (plan.algorithm != Algorithm::kSort) continue;
    const SortStep &step = plan.sort;
    EXPECT_EQ(step.all ? c.shape.columns : c.shape.k, step.items);
    expect_apart({{"keys", step.keys, step.items * bytes},
                  {"indices", step.indices, step.items * step.index_bytes},
                  {"selection", step.rest, team_layout(c.shape, true).bytes}},
                 plan.workspace_bytes, 256);
  }
}

TEST(TopkPlan, Description) {
  const DeviceFacts device = {90, 132, 232448};
  const auto text = [&](const Shape &s) {
    char line[200];
    describe({}, choose(s, device, kNewest), line, sizeof line);
    return std::string(line);
  };
  EXPECT_NE(std::string::npos, text({1, 1000, 10, 4}).find("32 lanes"));
  EXPECT_NE(std::string::npos, text({1000, 10000, 10, 4}).find("one block of 128"));
  EXPECT_NE(std::string::npos, text({1000, 10000, 300, 4}).find("one block"));
  EXPECT_NE(std::string::npos, text({1, 100000000, 10, 4}).find("teams"));
  EXPECT_NE(std::string::npos, text({1, 100000000, 1000000, 4}).find("a sort of u64"));
  EXPECT_NE(std::string::npos, text({1, 100000000, 10000000, 8}).find("of pairs"));
}

}  // namespace
}  // namespace gsort_test
