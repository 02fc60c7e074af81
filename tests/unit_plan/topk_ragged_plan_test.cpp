// SPDX-License-Identifier: MIT OR Apache-2.0
// Who does a row of ragged rows, and the lists of rows, which must hold them whatever the offsets are.
#include <algorithm>

#include "cuda/topk/ragged_plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::topk;

constexpr DeviceFacts kDevices[] = {
    {90, 132, 232448}, {80, 132, 166912}, {86, 80, 101376}, {75, 40, 65536}, {75, 20, 49152}};

std::vector<uint64_t> ragged_ks() {
  return {1, 32, kWarpSortMax, kWarpSortMax + 1, 1000, kRowsSortMax, kRowsSortMax + 1, uint64_t{1} << 40};
}

TEST(TopkRagged, ClassesKeepTheLimitsOfTheirKernels) {
  std::vector<uint64_t> lengths = plan_sizes();
  lengths.insert(lengths.end(),
                 {0, kWarpSortMax, kWarpSortMax + 1, kRaggedLong, kRaggedLong + 1, kRaggedGiant, kRaggedGiant + 1});
  bool seen[4] = {};
  for (const uint64_t items : lengths)
    for (const uint64_t k : ragged_ks())
      for (const uint64_t block_k_max : {uint64_t{32}, uint64_t{512}, kRowsSortMax}) {
        const RaggedClass who = ragged_class(items, k, block_k_max);
        seen[static_cast<int>(who)] = true;
        const uint64_t found = std::min(items, k);
        const bool warp = items <= kWarpItemsMax && found <= kWarpSortMax;
        EXPECT_EQ(warp, who == RaggedClass::kWarp);
        if (warp) continue;
        const bool block = found <= block_k_max && items <= kRaggedGiant;
        EXPECT_EQ(!block, who == RaggedClass::kTeam);
        if (block) {
          EXPECT_EQ(items > kRaggedLong, who == RaggedClass::kLong);
        }
      }
  for (const bool who : seen) EXPECT_TRUE(who);
}

TEST(TopkRagged, ListsHoldTheRowsOfEveryClass) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t n : plan_sizes())
      for (const uint64_t k : ragged_ks())
        for (const uint64_t segments : {uint64_t{1}, uint64_t{77}, n / 3 + 1, n, uint64_t{1} << 40}) {
          const Shape whole = {1, n, std::min(k, n), key_bytes};
          const RaggedLayout l = ragged_layout(whole, segments);
          std::vector<Slice> slices = {{"counters", 0, kRaggedCounters * uint64_t{8}}};
          slices.push_back({"counters of blocks", l.list_counters, sizeof(ListCounters)});
          for (uint32_t i = 0; i < kLists; ++i) slices.push_back({"a list", l.lists[i], l.capacity[i] * 8});
          const PartsPlan parts = plan_parts_of(l.capacity[kListParts], whole.k, key_bytes);
          slices.push_back({"values of parts", l.best_of_parts, parts.indices});
          slices.push_back({"indices of parts", l.best_of_parts + parts.indices, l.capacity[kListParts] * whole.k * 4});
          slices.push_back({"teams", l.team, team_layout(whole, false).bytes * ragged_teams_max(whole)});
          expect_apart(slices, l.bytes, 256);
          for (uint32_t i = 0; i < kLists; ++i) {
            if (i == kListParts) continue;
            EXPECT_LE(l.capacity[i], segments);
          }
          // As many rows of one length as n elements make must find a place in the list of their class.
          for (const uint64_t items : {uint64_t{kWarpSortMax}, uint64_t{kWarpSortMax} + 1, uint64_t{kWarpItemsMax} + 1,
                                       kRaggedLong, kRaggedLong + 1, kRaggedGiant + 1}) {
            const RaggedClass who = ragged_class(items, k, kRowsSortMax);
            if (who == RaggedClass::kWarp) continue;
            const uint32_t list = static_cast<uint32_t>(who) - static_cast<uint32_t>(RaggedClass::kBlock);
            EXPECT_GE(l.capacity[list], std::min(segments, n / items)) << "rows of " << items;
          }
          for (const uint64_t items : {129, 512, 513, 1024, 1025, 2048, 2049, 4096, 4097, 8192, 8193, 16384})
            EXPECT_GE(l.capacity[list_by_length(items)], std::min(segments, n / items)) << "rows of " << items;
          if (!ragged_has_parts(whole)) {
            EXPECT_EQ(0u, l.capacity[kListParts] + l.capacity[kListSplit]);
          } else {
            for (const uint64_t items : {8193, 12288, 16384, 16385, 100000, 4194304}) {
              const uint64_t rows = std::min(segments, n / items);
              EXPECT_GE(l.capacity[kListSplit], rows);
              EXPECT_GE(l.capacity[kListParts], rows * parts_of_row(items)) << "rows of " << items;
            }
          }
          // A reservation does not know the number of rows and takes n.
          if (segments <= n) {
            EXPECT_LE(l.bytes, ragged_layout(whole, n).bytes);
          }
        }
}

// Empty rows are counted, too, by blocks that need their counters.
TEST(TopkRagged, NoElementsLeaveRoomForTheCounters) {
  for (const DeviceFacts &d : kDevices)
    for (const uint64_t segments : {uint64_t{1}, kListAloneMax + 1}) {
      Request r = make(Operation::kTopkSegments, GSORT_F32, 0, 0);
      r.segments = segments, r.k = 5;
      const RaggedPlan plan = make_ragged_plan(r, d);
      EXPECT_GE(plan.workspace_bytes, kRaggedCounters * uint64_t{8});
      EXPECT_GE(plan.workspace_bytes, plan.layout.list_counters + sizeof(ListCounters));
    }
}

// The kernel for teams is not launched without long rows unless k is above what a block does.
TEST(TopkRagged, NoRowIsForTeamsWhereNoneIsLaunched) {
  for (const uint64_t n : plan_sizes())
    for (const uint64_t k : ragged_ks())
      for (const uint64_t block_k_max : {uint64_t{32}, kRowsSortMax}) {
        const RaggedLayout l = ragged_layout({1, n, std::min(k, n), 4}, n);
        for (const uint64_t items : {n, n / 2, std::min(n, kRaggedLong + 1)}) {
          const RaggedClass who = ragged_class(items, k, block_k_max);
          const bool team = who == RaggedClass::kTeam || who == RaggedClass::kLong;
          EXPECT_FALSE(team && l.capacity[1] == 0 && std::min(k, n) <= block_k_max);
          EXPECT_FALSE(who != RaggedClass::kWarp && l.capacity[0] == 0) << "nor does a block look";
        }
      }
}

// The kernels that take the rows of a list hold the longest of them, and have room for k.
TEST(TopkRagged, ListsByLengthHaveKernels) {
  const DeviceFacts server = {90, 132, 232448};
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t k : {1, 2, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 192, 256}) {
      const uint64_t shorter = ragged_short_items_max(k, server),
                     longest = ragged_listed_items_max(k, key_bytes, server);
      EXPECT_TRUE(ragged_rows_listed(k, server));
      EXPECT_EQ(k <= kSomeItemsMax ? kSomeItemsMax : kWarpItemsMax, shorter);
      for (const uint64_t most : {512, 1024, 2048, 4096, 8192, 16384}) {
        if (most <= shorter || most > longest || (k == 1 && most > 512)) continue;
        const Shape shape = {10, most, k, key_bytes};
        if (most > kWarpItemsMax)
          EXPECT_NE(0u, plan_bound_rows(shape).warps) << most << ", " << k;
        else if (k <= kRaggedLanesMax)
          EXPECT_EQ(32u, plan_lanes(shape).lanes) << most << ", " << k;
        else
          EXPECT_NE(0u, plan_bound_lanes(shape).registers) << most << ", " << k;
      }
      EXPECT_GE(longest, k == 1 ? kRaggedLong : 8192u);
      EXPECT_LE(longest, k == 1 ? kRaggedLong : 16384u);
    }
  EXPECT_FALSE(ragged_rows_listed(257, server));
  for (const DeviceFacts &d : kDevices) {
    if (d.clusters()) continue;
    EXPECT_FALSE(ragged_rows_listed(33, d)) << "no kernels";
    for (const uint64_t k : {1, 16, 17, 32}) {
      EXPECT_EQ(kWarpItemsMax, ragged_listed_items_max(k, 4, d));
      EXPECT_EQ(kSomeItemsMax, ragged_short_items_max(k, d));
    }
    EXPECT_EQ(0u, ragged_listed_items_max(33, 4, d));
    EXPECT_EQ(kWarpItemsMax, ragged_short_items_max(33, d));
  }
}

TEST(TopkRagged, WarpsLookAtSomeRows) {
  const auto at_once = [&](uint64_t rows, uint64_t n, uint64_t k, uint32_t key_bytes) {
    return ragged_rows_at_once(rows, {1, n, std::min(k, n), key_bytes}, k, {90, 132, 232448});
  };
  EXPECT_EQ(32u, at_once(3000000, 20000000, 8, 2));
  EXPECT_EQ(8u, at_once(8 * 132 * 64, 2000000, 8, 4));
  EXPECT_EQ(2u, at_once(1000, 100000, 8, 4)) << "as many as the lanes of a warp do";
  EXPECT_EQ(4u, at_once(1000, 100000, 17, 8));
  EXPECT_EQ(32u, at_once(1000, 2000000, 17, 8)) << "most are others'";
}

// Blocks' rows have more elements than k, and threads enough where some may be long.
TEST(TopkRagged, StreamsDoTheRowsOfBlocksForSmallK) {
  const DeviceFacts server = {90, 132, 232448}, older = {80, 132, 166912};
  const auto threads = [&](const DeviceFacts &d, uint64_t rows, uint64_t columns, uint64_t k, uint32_t key_bytes) {
    return plan_ragged_stream(rows, {1, rows * columns, k, key_bytes}, k, d).threads;
  };
  EXPECT_EQ(256u, threads(older, 528, kWarpItemsMax + 1, kStreamRaggedKMax, 4));
  EXPECT_EQ(512u, threads(older, 527, kWarpItemsMax + 1, kStreamRaggedKMax, 4));
  EXPECT_EQ(128u, threads(older, 16 * 132, kStreamShortColumns, 64, 4)) << "many short ones";
  EXPECT_EQ(256u, threads(older, 16 * 132 - 1, kStreamShortColumns, 64, 4));
  EXPECT_EQ(256u, threads(older, 16 * 132, kStreamShortColumns + 1, 64, 4));
  EXPECT_EQ(256u, threads(older, 16 * 132, kStreamShortColumns, 65, 4));
  EXPECT_EQ(512u, threads(older, 100000, 5, 1, 4)) << "those that are far longer than most";
  EXPECT_EQ(0u, threads(older, 100, 1023, 1, 4)) << "a block keeps rows of up to 4 KB";
  EXPECT_EQ(512u, threads(older, 100, 1024, 1, 4));
  EXPECT_EQ(0u, threads(older, 100, 2047, 1, 2));
  EXPECT_EQ(0u, threads(older, 1000, 5000, kStreamRaggedKMax + 1, 4));
  EXPECT_EQ(512u, threads(server, 100000, 5, 1, 4)) << "those that are on no list by length";
  EXPECT_EQ(512u, threads(server, 527, 20000, 8, 4));
  EXPECT_EQ(256u, threads(server, 528, 20000, 8, 4));
  EXPECT_EQ(512u, threads(server, 528, 20000, 8, 8));
  EXPECT_EQ(0u, threads(server, 1000, 20000, kStreamRaggedKMax + 1, 4));
  for (const uint64_t k : ragged_ks())
    for (const uint64_t block_k_max : {uint64_t{32}, kRowsSortMax}) {
      if (k > kStreamRaggedKMax) continue;
      for (const uint64_t items : {uint64_t{1}, k, uint64_t{kWarpItemsMax}})
        EXPECT_EQ(RaggedClass::kWarp, ragged_class(items, k, block_k_max)) << "a row of a block has more elements";
    }
}

// Some teams where there is room for rows that are worth it; always so many that fewer teams have the same blocks.
TEST(TopkRagged, LongRowsHaveSomeTeams) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t n : plan_sizes())
      for (const uint64_t k : ragged_ks())
        for (const DeviceFacts &d : kDevices) {
          const Shape whole = {1, n, std::min(k, n), key_bytes};
          const TeamPlan p = plan_ragged_team(whole, d);
          EXPECT_GE(p.teams, 1u);
          EXPECT_LE(p.teams, ragged_teams_max(whole)) << "each has its workspace";
          EXPECT_EQ(0u, p.teams & (p.teams - 1));
          EXPECT_GE(p.blocks, 1u);
          EXPECT_LE(p.teams * p.blocks, std::min(d.multiprocessors, kTeamBlocksMax));
          EXPECT_FALSE(p.cluster);
        }
  EXPECT_EQ(8u, plan_ragged_team({1, 1 << 24, 100, 4}, {90, 132, 232448}).teams);
  EXPECT_EQ(1u, plan_ragged_team({1, (1 << 20) - 1, 100, 4}, {90, 132, 232448}).teams);
  EXPECT_EQ(1u, plan_ragged_team({1, 1 << 24, 100000, 4}, {90, 132, 232448}).teams);
}

TEST(TopkRagged, BlocksHoldWhatTheirRowsNeed) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t n : plan_sizes())
      for (const uint64_t k : ragged_ks())
        for (const uint64_t segments : {uint64_t{1}, uint64_t{300}, uint64_t{100000}})
          for (const DeviceFacts &d : kDevices) {
            if (n == 0) continue;
            const RowsPlan p = plan_ragged_rows(segments, {1, n, std::min(k, n), key_bytes}, d);
            EXPECT_TRUE(p.threads == 256 || p.threads == 512);
            EXPECT_LE(rows_bytes(p.threads, key_bytes), d.shared_bytes_block_max);
            EXPECT_EQ(0u, p.bounds.rank) << "every row has its own";
            if (rows_block_fits(kRowsThreadsMost, key_bytes, d)) {
              EXPECT_LE(std::min<uint64_t>({k, n, kRowsSortMax}), rows_k_max(p.threads));
            }
          }
}

TEST(TopkRagged, LongRowsAreBlocksWhereTeamsWouldTakeTurns) {
  EXPECT_FALSE(long_rows_by_blocks(0, 0));
  EXPECT_FALSE(long_rows_by_blocks(kRaggedLongMany - 1, 0)) << "nobody has looked how long they are";
  EXPECT_TRUE(long_rows_by_blocks(kRaggedLongMany, 0));
  EXPECT_TRUE(long_rows_by_blocks(kRaggedLongMany, kRaggedGiant));
  EXPECT_FALSE(long_rows_by_blocks(kRaggedLongAtOnce, kRaggedLong + 1)) << "each has a team";
  EXPECT_TRUE(long_rows_by_blocks(kRaggedLongAtOnce + 1, kRaggedLong + 1));
  EXPECT_TRUE(long_rows_by_blocks(17, 480000));
  EXPECT_FALSE(long_rows_by_blocks(13, 600000));
  EXPECT_TRUE(long_rows_by_blocks(16, 2 * kRaggedLongRound - 1));
  EXPECT_FALSE(long_rows_by_blocks(16, 2 * kRaggedLongRound));
}

}  // namespace
}  // namespace gsort_test
