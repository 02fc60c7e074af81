// SPDX-License-Identifier: MIT OR Apache-2.0
// The plans of top-k's teams: their samples, their rows in registers and their memory.
#include <algorithm>
#include <cmath>

#include "topk_cases.h"

namespace gsort_test {
namespace {

TEST(TopkTeamPlan, SampleIsForLongInputsAndSmallK) {
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

TEST(TopkTeamPlan, TeamsFitTheDeviceAndTheirWorkspace) {
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
TEST(TopkTeamPlan, ReservedBytesHoldEverySplit) {
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

// A resident row fits the registers, and the bound has at least k elements at or under it.
void check_resident(const Shape &s, const TeamPlan &p) {
  EXPECT_NE(0u, p.group_lanes) << "it is not its own sample";
  EXPECT_GT(p.blocks, 1u);
  EXPECT_LE(s.columns * s.key_bytes / 16,
            uint64_t{p.blocks} * kTeamThreads * kVectorsThread * (p.cluster ? p.cluster_tiles : 1));
  EXPECT_GE(uint64_t{p.resident.need} * p.resident.rank, s.k);
  EXPECT_GE(p.resident.rank, 1u);
  EXPECT_LE(p.resident.rank, p.blocks);
  EXPECT_LE(p.resident.need, 32 * p.resident.each) << "the warps of a block offer that many";
  EXPECT_LE(p.resident.each, kResidentOffersMax);
  if (p.cluster) {
    EXPECT_EQ(p.blocks, p.resident.rank);
    EXPECT_GE(p.buffer_items + p.run_items, kClusterRoomItems) << "what the blocks send has room";
    EXPECT_LE(p.cluster_tiles, kClusterTilesMax);
    const uint32_t composite = composite_bytes_of(s);
    if (p.cluster_tiles > 1) {
      EXPECT_LE(cluster_shared_bytes(composite) + kClusterAheadBytes,
                kBins * 4 + (p.buffer_items + p.run_items) * composite)
          << "so have the tiles under way";
      EXPECT_GT(s.rows, 1u);
    }
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
    EXPECT_LE(few_items_max(p.slot_bits), kGridListItems);
    EXPECT_LE(uint64_t{p.blocks} * few_items_max(p.slot_bits), kFewLoads * kGridSlots)
        << "a block is left alone with much";
    EXPECT_GT(p.buffer_items, kGridListItems) << "all candidates have room behind a block's own";
  }
  EXPECT_EQ(s.columns * s.key_bytes >= kAheadBytesMin, p.tiles_ahead != 0);
}

TEST(TopkTeamPlan, SamplesAreForced) {
  bool seen_resident[2] = {}, seen_few[2] = {}, seen_ahead[2] = {};
  for (const Case &c : cases()) {
    const Plan plan = choose(c.shape, c.device, {});
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
    Options force;
    force.no_sample = true;
    EXPECT_EQ(0u, choose(c.shape, c.device, force).team.resident.need);
    EXPECT_EQ(0u, choose(c.shape, c.device, force).team.drawn_rank);
    EXPECT_EQ(0u, choose(c.shape, c.device, force).team.sample.items);
    force = {};
    force.no_cluster = true;
    EXPECT_FALSE(choose(c.shape, c.device, force).team.cluster);
    force.random_sample = true;
    EXPECT_EQ(0u, choose(c.shape, c.device, force).team.resident.need);
    check_random_sample(c.shape, choose(c.shape, c.device, force).team);
    force = {};
    force.sample_rank = 1;
    const Plan first = choose(c.shape, c.device, force);
    EXPECT_EQ(plan.team.sample.items != 0 ? 1u : plan.team.sample.rank, first.team.sample.rank);
    EXPECT_EQ(plan.rows.bounds.rank != 0 ? 1u : 0u, first.rows.bounds.rank);
    force.sample_rank = UINT64_MAX;
    const Plan last = choose(c.shape, c.device, force);
    EXPECT_LE(last.team.sample.rank, last.team.groups);
    force = {};
    force.count_items = 7;
    EXPECT_EQ(7u, choose(c.shape, c.device, force).team.count_items);
  }
  EXPECT_TRUE(seen_resident[0] && seen_resident[1]);
  EXPECT_TRUE(seen_few[0] && seen_few[1]);
  EXPECT_TRUE(seen_ahead[0] && seen_ahead[1]);
}

// A rank this high misses the k-th element about once in 10^5 calls: at least three standard deviations of the number
// of the best k that a sample holds.
TEST(TopkTeamPlan, SampleRankLeavesRoomForBadLuck) {
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
}  // namespace
}  // namespace gsort_test
