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
          for (uint32_t i = 0; i < 3; ++i) slices.push_back({"a list", l.lists[i], l.capacity[i] * 8});
          slices.push_back({"teams", l.team, team_layout(whole, false).bytes * ragged_teams_max(whole)});
          expect_apart(slices, l.bytes, 256);
          for (uint32_t i = 0; i < 3; ++i) EXPECT_LE(l.capacity[i], segments);
          // As many rows of one length as n elements make must find a place in the list of their class.
          for (const uint64_t items : {uint64_t{kWarpSortMax}, uint64_t{kWarpSortMax} + 1, uint64_t{kWarpItemsMax} + 1,
                                       kRaggedLong, kRaggedLong + 1, kRaggedGiant + 1}) {
            const RaggedClass who = ragged_class(items, k, kRowsSortMax);
            if (who == RaggedClass::kWarp) continue;
            const uint32_t list = static_cast<uint32_t>(who) - static_cast<uint32_t>(RaggedClass::kBlock);
            EXPECT_GE(l.capacity[list], std::min(segments, n / items)) << "rows of " << items;
          }
          // A reservation does not know the number of rows and takes n.
          if (segments <= n) {
            EXPECT_LE(l.bytes, ragged_layout(whole, n).bytes);
          }
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

TEST(TopkRagged, WarpsLookAtSomeOfVeryManyRows) {
  const DeviceFacts server = {90, 132, 232448};
  const auto at_once = [&](uint64_t rows, uint64_t n, uint64_t k, uint32_t key_bytes) {
    return ragged_rows_at_once(rows, {1, n, std::min(k, n), key_bytes}, k, server);
  };
  EXPECT_EQ(32u, at_once(3000000, 20000000, 8, 2));
  EXPECT_EQ(8u, at_once(8 * 132 * 64, 2000000, 32, 4));
  EXPECT_EQ(1u, at_once(8 * 132 * 64 - 1, 2000000, 32, 4)) << "few rows";
  EXPECT_EQ(1u, at_once(100000, 12900000, 8, 4)) << "longer ones";
  EXPECT_EQ(11u, at_once(100000, 12800000, 8, 4));
  EXPECT_EQ(1u, at_once(3000000, 20000000, 33, 4)) << "many results";
  EXPECT_EQ(32u, at_once(3000000, 20000000, 128, 8));
  EXPECT_EQ(4u, at_once(32 * 132, 64 * 32 * 132, 16, 8)) << "some lanes do each";
  EXPECT_EQ(1u, at_once(32 * 132 - 1, 20000, 16, 4)) << "few rows";
  EXPECT_EQ(1u, at_once(50000, 64 * 50000, 17, 4)) << "more results than lanes";
  const DeviceFacts desktop = {120, 132, 99 * 1024};
  const uint64_t rows = 32 * 132, n = 64 * rows;
  EXPECT_TRUE(ragged_rows_by_some({1, n, 16, 4}, rows, 16, desktop));
  EXPECT_FALSE(ragged_rows_by_some({1, n, 16, 8}, rows, 16, desktop)) << "no kernel for 8-byte keys";
  EXPECT_TRUE(ragged_rows_by_some({1, n, 16, 8}, rows, 16, server));
}

// Blocks' rows have more elements than k, and threads enough where some may be long.
TEST(TopkRagged, StreamsDoTheRowsOfBlocksForSmallK) {
  const DeviceFacts server = {90, 132, 232448};
  const auto threads = [&](uint64_t rows, uint64_t columns, uint64_t k, uint32_t key_bytes) {
    return plan_ragged_stream(rows, {1, rows * columns, k, key_bytes}, k, server).threads;
  };
  EXPECT_EQ(256u, threads(528, kWarpItemsMax + 1, kStreamRaggedKMax, 4));
  EXPECT_EQ(512u, threads(527, kWarpItemsMax + 1, kStreamRaggedKMax, 4));
  EXPECT_EQ(128u, threads(16 * 132, kStreamShortColumns, 64, 4)) << "many short ones";
  EXPECT_EQ(256u, threads(16 * 132 - 1, kStreamShortColumns, 64, 4));
  EXPECT_EQ(256u, threads(16 * 132, kStreamShortColumns + 1, 64, 4));
  EXPECT_EQ(256u, threads(16 * 132, kStreamShortColumns, 65, 4));
  EXPECT_EQ(512u, threads(100000, 5, 1, 4)) << "those that are far longer than most";
  EXPECT_EQ(0u, threads(100, 1023, 1, 4)) << "a block keeps rows of up to 4 KB";
  EXPECT_EQ(512u, threads(100, 1024, 1, 4));
  EXPECT_EQ(0u, threads(100, 2047, 1, 2));
  EXPECT_EQ(0u, threads(1000, 5000, kStreamRaggedKMax + 1, 4));
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

// Rows that are scanned for are a block's otherwise, and few threads have groups enough for their k.
TEST(TopkRagged, BlocksOfFewThreadsScanForRowsOfSomeThousand) {
  bool seen[3] = {};
  for (const DeviceFacts &d : kDevices)
    for (const uint64_t k : {1, 16, 17, 32, 33, 1000})
      for (const uint64_t columns : {10, 512, 513, 1024, 1025, 4096, 4097, 8192, 8193})
        for (const uint64_t segments : {1, 1000, 10000, 100000}) {
          const Shape whole = {1, columns * segments, k, 4};
          const StreamPlan scan = plan_ragged_scan(segments, whole, k, d);
          const uint64_t most = scanned_items_max(scan);
          if (scan.threads == 0) {
            EXPECT_EQ(0u, most);
            seen[0] = true;
            continue;
          }
          seen[scan.threads / 32] = true;
          EXPECT_TRUE(d.clusters()) << "the kernels are empty elsewhere";
          EXPECT_TRUE(scan.threads == 32 || scan.threads == 64);
          EXPECT_LE(k, stream_k_max(scan.threads));
          EXPECT_LE(columns, most);
          EXPECT_EQ(512u, plan_ragged_stream(segments, whole, k, d).threads) << "longer rows";
          EXPECT_FALSE(is_scanned(kWarpItemsMax, most));
          EXPECT_TRUE(is_scanned(kWarpItemsMax + 1, most) && is_scanned(most, most));
          EXPECT_FALSE(is_scanned(most + 1, most));
          EXPECT_EQ(RaggedClass::kBlock, ragged_class(kWarpItemsMax + 1, k, kRowsSortMax));
          EXPECT_EQ(RaggedClass::kBlock, ragged_class(most, k, kRowsSortMax));
        }
  EXPECT_TRUE(seen[0] && seen[1] && seen[2]);
}

// Only where warps are likely to do all: other calls are launched as before, without a wait.
TEST(TopkRagged, TheHostHearsOfFewShortRows) {
  const auto tells = [](uint64_t rows, uint64_t columns, uint64_t k) {
    Request r = make(Operation::kTopkSegments, GSORT_F32, rows * columns, 0);
    r.segments = rows, r.k = k;
    return make_ragged_plan(r, kDevices[0]).tells_host;
  };
  EXPECT_TRUE(tells(1, 1, 1));
  EXPECT_TRUE(tells(kListAloneMax, kWarpItemsMax, kWarpSortMax));
  EXPECT_FALSE(tells(kListAloneMax + 1, kWarpItemsMax, kWarpSortMax));
  EXPECT_FALSE(tells(kListAloneMax, kWarpItemsMax + 1, kWarpSortMax));
  EXPECT_FALSE(tells(kListAloneMax, kWarpItemsMax, kWarpSortMax + 1));
}

}  // namespace
}  // namespace gsort_test
