// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>

#include "core/dtype.h"
#include "cuda/sort/plan.h"
#include "topk_cases.h"

namespace gsort_test {
namespace {

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

TEST(TopkPlan, CompositesHoldKeyAndIndex) {
  for (const Case &c : cases()) {
    const Plan plan = choose(c.shape, c.device, {});
    EXPECT_EQ(0u, (c.shape.columns - 1) >> plan.index_bits);
    EXPECT_TRUE(plan.index_bits == 0 || ((c.shape.columns - 1) >> (plan.index_bits - 1)) == 1);
    const bool narrow = c.shape.key_bytes * 8 + plan.index_bits <= 64 && c.shape.key_bytes < 8;
    EXPECT_EQ(narrow ? 8u : 16u, plan.composite_bytes);
  }
}

TEST(TopkPlan, RowsFitABlock) {
  bool seen[std::size(kRowsThreads)] = {};
  for (const Case &c : cases()) {
    const Shape &s = c.shape;
    RowsPlan p = {};
    if (!plan_rows(s, c.device, p)) continue;
    EXPECT_LT(s.columns, uint64_t{1} << 31);
    const auto *const found = std::find(std::begin(kRowsThreads), std::end(kRowsThreads), p.threads);
    ASSERT_NE(std::end(kRowsThreads), found);
    EXPECT_LE(2 * s.k, rows_room(p.threads)) << "the list is made shorter all the time";
    EXPECT_LE(rows_bytes(p.threads, s.key_bytes), c.device.shared_bytes_block_max);
    EXPECT_TRUE(p.bounds.rank == 0 || s.columns > rows_room(p.threads));
    seen[found - std::begin(kRowsThreads)] = true;
  }
  for (const bool threads : seen) EXPECT_TRUE(threads);
}

// What the kernel finds for a row.
TEST(TopkPlan, RowsAreBoundBySamples) {
  bool seen[3] = {};
  for (const uint32_t threads : kRowsThreads)
    for (const uint64_t items : plan_sizes()) {
      if (items <= rows_room(threads) || items >= uint64_t{1} << 31) continue;
      const auto n = static_cast<uint32_t>(items), room = static_cast<uint32_t>(rows_room(threads));
      const uint32_t tile = threads * kRowsTileEach, tiles = (n + tile - 1) / tile, sampled = rows_sampled(n, tiles);
      EXPECT_LE(sampled, tile);
      uint32_t counted = 0;  // elements of the tile's pieces
      for (uint64_t piece = 0; piece * 32 < items; piece += tiles)
        counted += static_cast<uint32_t>(std::min<uint64_t>(32, items - piece * 32));
      EXPECT_EQ(counted, sampled) << n << " by " << threads;
      for (const uint64_t k : {uint64_t{1}, uint64_t{129}, rows_k_max(threads) - 1, rows_k_max(threads)}) {
        const RowsBounds way = rows_bounds(n, static_cast<uint32_t>(k), threads);
        const uint32_t kind = way.rank == 0 ? 0 : way.tiles == 0 ? 1 : 2;
        seen[kind] = true;
        EXPECT_GE(sampled, k) << "the first tile bounds k elements of its own";
        if (kind == 0) continue;
        EXPECT_LE(way.rank, sampled);
        // Of how many the first bound is for, and how many of them it is to let through at least.
        const uint64_t of = kind == 1 ? n : uint64_t{way.tiles} * tile, wanted = kind == 1 ? k : way.again;
        EXPECT_GE(way.rank * of, wanted * sampled) << "the bound would leave out some of the best";
        EXPECT_LE((way.rank + way.slack) * of / sampled, room) << "more are likely to pass than have room";
        if (kind == 1) continue;
        EXPECT_LT(way.tiles, tiles);
        EXPECT_GE(uint64_t{way.again} * n, k * of) << "the second would";
        EXPECT_LE((way.again + rows_slack_of_sample(way.again)) * uint64_t{n} / of, room);
      }
    }
  EXPECT_TRUE(seen[0] && seen[1] && seen[2]);
}

TEST(TopkPlan, RowsEndWhereABlockDoes) {
  const DeviceFacts device = {90, 132, 232448};
  RowsPlan p = {};
  EXPECT_TRUE(plan_rows({1000, 8192, kRowsSortMax, 4}, device, p));
  EXPECT_EQ(kRowsThreadsMost, p.threads);
  EXPECT_FALSE(plan_rows({1000, 8192, kRowsSortMax + 1, 4}, device, p));
  EXPECT_FALSE(plan_rows({1, uint64_t{1} << 31, 10, 4}, device, p));
  // Many rows, and as many as fill the device with larger blocks.
  const auto threads = [&](uint64_t rows, uint64_t columns, uint64_t k) {
    EXPECT_TRUE(plan_rows({rows, columns, k, 4}, device, p));
    return p.threads;
  };
  EXPECT_EQ(128u, threads(529, 4096, 256));
  EXPECT_EQ(256u, threads(528, 4096, 256));
  EXPECT_EQ(512u, threads(264, 4096, 256));
  EXPECT_EQ(256u, threads(529, 40000, 256)) << "the smallest list has no room for what passes";
  EXPECT_EQ(256u, threads(529, 2000, 513)) << "nor for k";
  EXPECT_EQ(512u, threads(529, 2000, 1025));
  // A device that has room for the smaller block alone, and one that has room for none.
  EXPECT_TRUE(plan_rows({10, 8192, 1024, 8}, {75, 40, 65536}, p));
  EXPECT_EQ(256u, p.threads);
  EXPECT_FALSE(plan_rows({10, 8192, 1025, 8}, {75, 40, 65536}, p));
  EXPECT_FALSE(plan_rows({1, 1000, 10, 4}, {90, 132, kScratchBytes}, p));
}

TEST(TopkPlan, FewRowsAreBlocksWhereTheirKIsLarge) {
  const DeviceFacts device = {90, 132, 232448};
  EXPECT_TRUE(rows_better({1, kRowsColumnsSingle, 129, 4}, device));
  EXPECT_FALSE(rows_better({1, kRowsColumnsSingle + 1, 2048, 4}, device)) << "one row";
  EXPECT_TRUE(rows_better({2, 50000, 1000, 4}, device));
  EXPECT_FALSE(rows_better({2, 50000, 512, 4}, device));
  EXPECT_FALSE(rows_better({2, 20000, kRowsManyKMin - 1, 4}, device));
  EXPECT_TRUE(rows_better({2, 20000, kRowsManyKMin, 4}, device));
  EXPECT_FALSE(rows_better({2, 150000, 2048, 4}, device));
  EXPECT_TRUE(rows_better({16, 150000, 2048, 4}, device));
  EXPECT_TRUE(rows_better({4, 2 * kRowsColumnsSingle, 300, 1}, device)) << "few bytes";
  EXPECT_FALSE(rows_better({4, 2 * kRowsColumnsSingle + 1, 300, 1}, device));
  EXPECT_TRUE(rows_better({17, kRowsColumnsSeveral, 129, 4}, device));
  EXPECT_FALSE(rows_better({17, kRowsColumnsSeveral + 1, 129, 4}, device));
  EXPECT_TRUE(rows_better({55, uint64_t{1} << 18, 1000, 4}, device));
  EXPECT_FALSE(rows_better({55, (uint64_t{1} << 18) + 1, 2048, 4}, device));
  EXPECT_TRUE(rows_better({66, (uint64_t{1} << 18) + 1, 129, 4}, device));
}

TEST(TopkPlan, PathsAreLegal) {
  bool seen[14] = {};
  for (const Case &c : cases()) {
    const Plan plan = choose(c.shape, c.device, {});
    seen[static_cast<int>(plan.algorithm)] = true;
    if (plan.algorithm == Algorithm::kBuckets) {
      EXPECT_TRUE(wants_buckets(c.shape, {}) && buckets_fit(c.device, c.shape.columns > kBucketsColumnsMax));
      continue;
    }
    const bool by_best = best_better(c.shape, c.device, {});
    EXPECT_EQ(by_best, plan.algorithm == Algorithm::kBest);
    if (by_best) continue;
    const bool by_sorted = plan_sorted_lanes(c.shape).lanes != 0 && sorted_lanes_better(c.shape, c.device);
    EXPECT_EQ(by_sorted, plan.algorithm == Algorithm::kSortedLanes);
    if (by_sorted) continue;
    const bool by_parts = parts_better(c.shape, c.device);
    EXPECT_EQ(by_parts, plan.algorithm == Algorithm::kParts);
    if (by_parts) continue;
    const bool by_block = bound_rows_better(c.shape, c.device) &&
                          !(plan_bound_rows(c.shape).warps == 16 && sorts_whole(c.shape));  // a sort is quicker
    EXPECT_EQ(by_block, plan.algorithm == Algorithm::kBoundRows);
    if (by_block) continue;
    const bool by_bound = plan_bound_lanes(c.shape).registers != 0 && bound_lanes_better(c.shape, c.device);
    EXPECT_EQ(by_bound, plan.algorithm == Algorithm::kBoundLanes);
    if (by_bound) continue;
    const bool by_lanes = plan_lanes(c.shape).lanes != 0;
    EXPECT_EQ(by_lanes, plan.algorithm == Algorithm::kLanes);
    if (by_lanes) continue;
    RowsPlan rows = {};
    const bool by_cluster = cluster_better(c.shape, c.device);
    const bool by_rows =
        plan_rows(c.shape, c.device, rows) && rows_better(c.shape, c.device) && !by_cluster && !sorts_whole(c.shape);
    const bool by_warps = c.shape.columns <= kWarpItemsMax && c.shape.k <= kWarpSortMax;
    const bool many = c.shape.rows > 4 * uint64_t{c.device.multiprocessors};
    EXPECT_EQ(by_warps && many, plan.algorithm == Algorithm::kWarp);
    if (plan.algorithm == Algorithm::kWarp) continue;
    const bool by_tile = tile_better(c.shape, c.device, plan_tile(c.shape, c.device)) && !by_cluster;
    EXPECT_EQ(by_tile, plan.algorithm == Algorithm::kTile);
    if (by_tile) continue;
    const bool by_stream =
        stream_better(c.shape, c.device, plan_stream(c.shape, c.device)) && !by_cluster && !sorts_whole(c.shape);
    EXPECT_EQ(by_stream, plan.algorithm == Algorithm::kStream);
    if (by_stream) continue;
    EXPECT_EQ(by_rows, plan.algorithm == Algorithm::kRows);
    if (!by_rows) {
      EXPECT_EQ(large_k_algorithm(c.shape, {}), plan.algorithm);
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
        const bool fits = columns <= kWarpItemsMax && k <= 32;
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

TEST(TopkPlan, SortedLanesHoldTheRow) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (uint64_t columns = 1; columns <= 300; ++columns) {
      const SortedLanesPlan plan = plan_sorted_lanes({1000, columns, 1, key_bytes});
      ASSERT_EQ(columns <= (key_bytes == 8 ? 128 : 256), plan.lanes != 0) << columns;
      ASSERT_TRUE(plan.lanes == 0 || plan.lanes * plan.keys >= columns);
      ASSERT_TRUE(plan.lanes == 0 || plan.lanes * plan.keys < 2 * columns || columns <= 32) << "half are left over";
    }
  const DeviceFacts device = {90, 132, 232448};
  EXPECT_TRUE(sorted_lanes_better({2, 64, 17, 4}, device));
  EXPECT_FALSE(sorted_lanes_better({1, 64, 17, 4}, device)) << "one row";
  EXPECT_FALSE(sorted_lanes_better({100000, 64, 16, 4}, device)) << "lanes choose as quickly";
  EXPECT_FALSE(sorted_lanes_better({8 * 132 - 1, 65, 17, 4}, device)) << "few rows";
  EXPECT_TRUE(sorted_lanes_better({8 * 132, 128, 17, 4}, device));
  EXPECT_FALSE(sorted_lanes_better({128 * 132 - 1, 129, 65, 4}, device));
  EXPECT_TRUE(sorted_lanes_better({128 * 132, 129, 65, 4}, device));
  EXPECT_FALSE(sorted_lanes_better({128 * 132, 129, 64, 4}, device)) << "bound lanes are quicker";
  EXPECT_TRUE(sorted_lanes_better({128 * 132, 129, 33, 2}, device));
  EXPECT_FALSE(sorted_lanes_better({128 * 132, 129, 33, 2}, {80, 132, 166912})) << "no kernel";
}

TEST(TopkPlan, BoundRowsHoldTheRowAndHaveGroupsForK) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (uint64_t columns = 1; columns <= 16600; columns += 1 + columns / 50)
      for (const uint64_t k : {1, 64, 65, 128, 129, 256, 257}) {
        if (k > columns) continue;
        const BoundRowsPlan plan = plan_bound_rows({1000, columns, k, key_bytes});
        const bool fits = columns <= 8192 ? k <= 256 : columns <= 16384 && k <= 128 && key_bytes < 8;
        ASSERT_EQ(fits, plan.warps != 0) << columns << " " << k;
        if (!fits) continue;
        const uint64_t threads = 32 * plan.warps;
        ASSERT_GE(threads * kBoundRowsRegisters, columns);
        ASSERT_GE(threads * plan.groups, 2 * k) << "half of the groups have one of the best k at least";
        ASSERT_GE(plan.places, k + 31) << "and ties up to the end of a warp's neighbours have room";
        ASSERT_LE((k + plan.warps - 1) / plan.warps, 32 * plan.groups) << "of each warp's share";
      }
  const DeviceFacts device = {90, 132, 232448};
  EXPECT_TRUE(bound_rows_better({10000, 1025, 2, 4}, device));
  EXPECT_FALSE(bound_rows_better({10000, 1024, 33, 4}, device)) << "a warp's";
  EXPECT_TRUE(bound_rows_better({527, 1000, 33, 4}, device));
  EXPECT_FALSE(bound_rows_better({528, 1000, 33, 4}, device));
  EXPECT_FALSE(bound_rows_better({527, 499, 65, 4}, device));
  EXPECT_FALSE(bound_rows_better({10000, 2100, 8, 4}, device)) << "half of the registers are empty";
  EXPECT_TRUE(bound_rows_better({10000, 2100, 9, 4}, device));
  EXPECT_TRUE(bound_rows_better({10000, 2868, 8, 4}, device));
  EXPECT_FALSE(bound_rows_better({10000, 2867, 8, 4}, device));
  EXPECT_TRUE(bound_rows_better({1055, 2100, 8, 4}, device)) << "few rows";
  EXPECT_FALSE(bound_rows_better({10000, 2048, 23, 1}, device)) << "streams read vectors of 1-byte keys";
  EXPECT_TRUE(bound_rows_better({10000, 2048, 24, 1}, device));
  EXPECT_TRUE(bound_rows_better({10000, 8192, 192, 2}, device));
  EXPECT_FALSE(bound_rows_better({10000, 8192, 193, 2}, device));
  EXPECT_TRUE(bound_rows_better({10000, 4096, 256, 4}, device));
  EXPECT_FALSE(bound_rows_better({1055, 4096, 193, 4}, device));
  EXPECT_FALSE(bound_rows_better({10000, 2048, 193, 8}, device));
  EXPECT_TRUE(bound_rows_better({528, 8193, 128, 4}, device)) << "few rows";
  EXPECT_FALSE(bound_rows_better({529, 8193, 2, 4}, device));
  EXPECT_FALSE(bound_rows_better({265, 8193, 64, 1}, device));
  EXPECT_TRUE(bound_rows_better({264, 8193, 64, 1}, device));
  EXPECT_FALSE(bound_rows_better({1056, 12287, 9, 4}, device)) << "a quarter of the registers is empty";
  EXPECT_TRUE(bound_rows_better({1056, 12288, 64, 4}, device));
  EXPECT_FALSE(bound_rows_better({1056, 14335, 65, 4}, device));
  EXPECT_TRUE(bound_rows_better({1056, 14336, 128, 2}, device));
  EXPECT_FALSE(bound_rows_better({1056, 16384, 95, 1}, device));
  EXPECT_TRUE(bound_rows_better({1056, 16384, 96, 1}, device));
  EXPECT_TRUE(bound_rows_better({1055, 8192, 256, 8}, device));
  EXPECT_TRUE(bound_rows_better({1056, 4097, 128, 8}, device));
  EXPECT_FALSE(bound_rows_better({1056, 4097, 8, 8}, device));
  EXPECT_FALSE(bound_rows_better({10000, 2048, 64, 4}, {80, 132, 166912})) << "no kernel";
}

TEST(TopkPlan, TheBestOfARowIsFoundByWarpsOrPartsOfIt) {
  const DeviceFacts device = {90, 132, 232448};
  const auto plan = [&](uint64_t rows, uint64_t columns, uint32_t key_bytes = 4) {
    return plan_best({rows, columns, 1, key_bytes}, device);
  };
  EXPECT_TRUE(plan(1, 1024).warps);
  EXPECT_FALSE(plan(1, 1025).warps);
  EXPECT_TRUE(plan(8 * 132, 2048).warps);
  EXPECT_FALSE(plan(8 * 132 - 1, 2048).warps);
  EXPECT_TRUE(plan(32 * 132, 8192).warps);
  EXPECT_FALSE(plan(32 * 132, 8193).warps);
  for (const uint64_t rows : {1, 2, 5, 16, 17, 64, 65, 100, 527, 528, 100000})
    for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
      for (uint64_t columns = 1; columns <= uint64_t{1} << 30; columns = columns * 2 + 5) {
        const BestPlan best = plan(rows, columns, key_bytes);
        const uint64_t tiles = (columns * key_bytes + kBestTileBytes - 1) / kBestTileBytes;
        ASSERT_GE(best.parts, 1u);
        ASSERT_LT(best.parts, 2 * tiles) << "parts without a tile";
        ASSERT_TRUE(!best.warps || best.parts == 1);
        if (best.cluster) {
          ASSERT_TRUE(best.parts > 1 && best.parts <= 8 && (best.parts & (best.parts - 1)) == 0);
        } else if (best.parts > 1) {
          ASSERT_LE(rows, kBestCountedRows) << "a counter each";
          ASSERT_LE(rows * best.parts, kBestParts);
        }
      }
  EXPECT_TRUE(best_better({1, 450, 1, 4}, device, {}));
  EXPECT_FALSE(best_better({1, 449, 1, 4}, device, {})) << "lanes do as well";
  EXPECT_FALSE(best_better({1, 10000, 2, 4}, device, {}));
  EXPECT_FALSE(best_better({1, 10000, 1, 4}, {80, 132, 166912}, {})) << "no kernel";
  Options force;
  force.no_sample = true;
  EXPECT_FALSE(best_better({1, 10000, 1, 4}, device, force)) << "it would have none";
}

TEST(TopkPlan, PartsOfARowHaveRoomInAnyWorkspace) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t rows : {1, 64})
      for (uint64_t columns = 1; columns <= uint64_t{1} << 34; columns *= 4)
        ASSERT_GE(team_layout({rows, columns, 1, key_bytes}, false).bytes, kBestBytes);
}

TEST(TopkPlan, BoundLanesHaveGroupsForK) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (uint64_t columns = 1; columns <= 1100; ++columns)
      for (const uint64_t k : {1, 64, 65, 128, 129}) {
        if (k > columns) continue;
        const BoundLanesPlan plan = plan_bound_lanes({1000, columns, k, key_bytes});
        const bool fits = columns <= kWarpItemsMax && k <= 128;
        ASSERT_EQ(fits, plan.registers != 0) << columns << " " << k;
        if (!fits) continue;
        ASSERT_GE(32 * plan.registers, columns);
        ASSERT_GE(32 * plan.groups, 2 * k) << "half of the groups have one of the best k at least";
        ASSERT_GE(32 * plan.groups, k + 31) << "and ties up to the end of a row of lanes have room";
      }
  const DeviceFacts device = {90, 132, 232448};
  EXPECT_TRUE(bound_lanes_better({528, 129, 33, 4}, device));
  EXPECT_FALSE(bound_lanes_better({527, 129, 33, 4}, device)) << "few rows";
  EXPECT_FALSE(bound_lanes_better({528, 129, 32, 4}, device)) << "lanes rank as quickly";
  EXPECT_FALSE(bound_lanes_better({528, 1000, 65, 1}, device)) << "keys of 1 byte have ties";
  EXPECT_TRUE(bound_lanes_better({528, 700, 65, 8}, device));
  EXPECT_FALSE(bound_lanes_better({528, 700, 65, 8}, {80, 132, 166912})) << "no kernel";
  EXPECT_FALSE(bound_lanes_better({528, 699, 65, 8}, device)) << "groups of few keys";
}

TEST(TopkPlan, FewRowsAreSharedByClusters) {
  const DeviceFacts device = {90, 132, 232448};
  Options team;
  team.team = true;
  for (const Shape &s :
       {Shape{2, 262144, 50, 4}, Shape{15, 50257, 100, 4}, Shape{16, 128256, 8, 4}, Shape{24, 128256, 50, 4},
        Shape{30, 151936, 8, 2}, Shape{48, 20000, 50, 4}, Shape{66, 32000, 8, 4}, Shape{30, 64000, 50, 8}}) {
    const Plan plan = choose(s, device, team);
    const bool by_itself = choose(s, device, {}).algorithm == Algorithm::kTeam;
    EXPECT_EQ(cluster_holds_row(s, device) || s.columns == 20000, by_itself) << s.rows << " x " << s.columns;
    EXPECT_TRUE(plan.team.cluster);
    EXPECT_NE(0u, plan.team.resident.need);
    EXPECT_EQ(cluster_blocks(s.rows, 132), plan.team.blocks);
  }
  EXPECT_EQ(8u, cluster_blocks(15, 132));
  EXPECT_EQ(4u, cluster_blocks(16, 132));
  EXPECT_EQ(4u, cluster_blocks(30, 132));
  EXPECT_EQ(2u, cluster_blocks(31, 132));
  EXPECT_EQ(2u, cluster_blocks(66, 132));
  EXPECT_EQ(0u, cluster_blocks(67, 132));
  EXPECT_FALSE(cluster_better({67, 128256, 8, 4}, device)) << "rows enough for a block each";
  EXPECT_FALSE(cluster_better({24, 16383, 8, 4}, device)) << "short rows";
  EXPECT_FALSE(cluster_better({24, 16383, 300, 8}, device)) << "too short for a sample";
  EXPECT_FALSE(cluster_better({48, 128256, 50, 4}, device)) << "many candidates of many tiles";
  EXPECT_FALSE(cluster_better({24, 128256, 50, 4}, {80, 132, 166912})) << "no clusters";
  EXPECT_FALSE(cluster_better({1, 128256, 50, 4}, device)) << "one row is for a grid";
}

// They are its elements, one behind the other, none longer than a block's registers or shorter than k.
TEST(TopkPlan, PartsOfARowAreAllOfIt) {
  std::vector<uint64_t> columns = {8193, 8224, 16383, 16384, 16385, 24577, kPartsRowMax - 1, kPartsRowMax};
  for (uint64_t c = 8193; c < 200000; c += 997) columns.push_back(c);
  for (const uint64_t c : columns) {
    const uint32_t parts = parts_of_row(c);
    ASSERT_GE(parts, 2u);
    ASSERT_EQ(0u, part_begin(c, parts, 0));
    ASSERT_EQ(c, part_begin(c, parts, parts));
    for (uint32_t part = 0; part < parts; ++part) {
      const uint64_t begin = part_begin(c, parts, part), items = part_begin(c, parts, part + 1) - begin;
      ASSERT_LE(items, kPartItems) << c;
      ASSERT_GE(items, kPartsKMax) << c;
      ASSERT_EQ(0u, begin % kPartUnit);
      ASSERT_EQ(begin, part_entry_begin(part_entry(begin, items)));
      ASSERT_EQ(items, part_entry_items(part_entry(begin, items)));
    }
    for (const uint64_t rows : {1, 7, 1000}) ASSERT_LE(rows * parts, parts_max(rows * c, rows));
  }
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t k : {1, 2, 64, 128, 129}) {
      EXPECT_EQ(k != 1 && k != 129, plan_parts({10, 8193, k, key_bytes}).rows.warps == 8);
      EXPECT_EQ(0u, plan_parts({10, 8192, k, key_bytes}).rows.warps);
      EXPECT_EQ(0u, plan_parts({10, kPartsRowMax + 1, k, key_bytes}).rows.warps);
    }
  EXPECT_EQ(0u, plan_parts({uint64_t{1} << 30, 8193, 64, 4}).rows.warps) << "more blocks than a grid has";
  EXPECT_EQ(8u, plan_parts({uint64_t{1} << 17, 16384, 64, 4}).rows.warps);
  EXPECT_EQ(0u, plan_parts({(uint64_t{1} << 17) + 1, 16384, 64, 4}).rows.warps) << "more than their best may take";
  EXPECT_EQ(kPartsBytesMax, parts_bytes_max({1, uint64_t{1} << 33, 64, 4}));
  EXPECT_EQ(1u, merge_warps(2));
  EXPECT_EQ(16u, merge_warps(25));
  EXPECT_EQ(32u, merge_warps(512));
}

TEST(TopkPlan, LongRowsAreCutIntoPartsWhereThatIsQuicker) {
  const DeviceFacts device = {90, 132, 232448};
  const auto parts = [&](const Shape &s) { return parts_better(s, device); };
  EXPECT_TRUE(parts({24, 128256, 50, 4}));
  EXPECT_TRUE(parts({66, 128256, 128, 4}));
  EXPECT_FALSE(parts_better({24, 128256, 50, 4}, {80, 132, 166912})) << "no kernel";
  EXPECT_FALSE(parts({132, 128256, 8, 4})) << "a row for each multiprocessor";
  EXPECT_FALSE(parts({15, 50257, 50, 4})) << "the registers of clusters hold the rows";
  EXPECT_TRUE(parts({15, 50257, 50, 8}));
  EXPECT_TRUE(parts({1000, 32000, 64, 4}));
  EXPECT_FALSE(parts({1000, 32000, 65, 4}));
  EXPECT_TRUE(parts({1000, 32000, 64, 8}));
  EXPECT_FALSE(parts({1000, 200000, 8, 4})) << "many long ones";
  EXPECT_TRUE(parts({529, 8193, 17, 4})) << "two parts";
  EXPECT_FALSE(parts({528, 8193, 17, 4}));
  EXPECT_TRUE(parts({2, 8193, 128, 8}));
  EXPECT_TRUE(parts({1, 65536, 32, 8})) << "one row";
  EXPECT_FALSE(parts({1, 65536, 32, 4}));
  EXPECT_TRUE(parts({4, 20000, 8, 1}));
  EXPECT_TRUE(parts({1, 20000, 64, 1}));
  EXPECT_TRUE(parts({1000, 32000, 5, 8}));
  EXPECT_FALSE(parts({1000, 32000, 4, 8}));
  EXPECT_FALSE(parts({4, 40000, 8, 1}));
  EXPECT_FALSE(parts({1000, 32000, 64, 1}));
  EXPECT_TRUE(parts({1000, 32000, 65, 1}));
  EXPECT_TRUE(parts({300, 32000, 17, 2}));
  EXPECT_FALSE(parts({300, 32000, 16, 2}));
  EXPECT_TRUE(parts({22, 3000000, 64, 4}));
  EXPECT_FALSE(parts({22, 3000000, 65, 4})) << "many parts to merge";
  EXPECT_FALSE(parts({3, 3000000, 8, 4}));
  EXPECT_FALSE(parts({4, 600000, 65, 8}));
  EXPECT_TRUE(parts({5, 600000, 65, 8}));
  EXPECT_TRUE(parts({4, 800000, 33, 1}));
  EXPECT_FALSE(parts({5, 800000, 33, 1}));
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
  EXPECT_EQ(32u, plan_stream({5000, 4096, 16, 4}, device).threads);
  EXPECT_EQ(64u, plan_stream({5000, 4097, 16, 4}, device).threads);
  EXPECT_EQ(64u, plan_stream({5000, 4096, 17, 4}, device).threads);
  EXPECT_EQ(64u, plan_stream({4000, 4096, 16, 4}, device).threads);
  EXPECT_EQ(128u, plan_stream({2000, 4096, 16, 4}, device).threads);
  EXPECT_EQ(128u, plan_stream({5000, 8193, 16, 4}, device).threads);
  EXPECT_EQ(128u, plan_stream({5000, 4096, 33, 4}, device).threads);
}

TEST(TopkPlan, LargeKOfOneRowIsListedAndSorted) {
  const auto way = [](const Shape &s) { return large_k_algorithm(s, {}); };
  EXPECT_EQ(Algorithm::kTeam, way({1, 1 << 20, kCountedMax, 4}));
  EXPECT_EQ(Algorithm::kSelect, way({1, 1 << 20, kCountedMax + 1, 4}));
  EXPECT_EQ(Algorithm::kSelect, way({1, 1 << 28, kSelectKMax, 4}));
  EXPECT_EQ(Algorithm::kSort, way({1, 1 << 28, kSelectKMax + 1, 4}));
  EXPECT_EQ(Algorithm::kSort, way({1, 1 << 20, kTeamItemsMax, 4}));
  EXPECT_EQ(Algorithm::kTeam, way({1, 1 << 20, 5000, 8})) << "composites of 16 bytes";
  EXPECT_EQ(Algorithm::kSort, way({1, 1 << 22, kCountedMax + 1, 8})) << "of which pairs are sorted";
  EXPECT_EQ(Algorithm::kTeam, way({1, 1 << 22, kCountedMax, 8}));
  EXPECT_EQ(Algorithm::kTeam, way({2, 1 << 22, 5000, 8})) << "two rows";
  EXPECT_EQ(Algorithm::kSort, way({1, 1 << 28, 1 << 20, 8}));
  EXPECT_EQ(Algorithm::kTeam, way({2, 1 << 20, 5000, 4})) << "two rows";
}

// A block has a row's elements in its registers, and room for them on chip.
TEST(TopkPlan, TilesHoldTheRow) {
  uint32_t held = 0;
  for (const Case &c : cases()) {
    const uint32_t threads = plan_tile(c.shape, c.device);
    if (threads == 0) continue;
    ++held;
    EXPECT_LE(c.shape.columns, threads * kTileEach);
    EXPECT_LE(tile_bytes(threads, c.shape.key_bytes), c.device.shared_bytes_block_max);
    EXPECT_TRUE(tile_serves(c.shape.key_bytes));
    EXPECT_LT(1u, c.shape.key_bytes);
    if (c.shape.key_bytes == 2) {
      EXPECT_LE(c.shape.columns, uint64_t{1} << 13) << "key and index share 32 bits";
    }
  }
  EXPECT_LT(100u, held);
  const DeviceFacts server = {90, 132, 232448};
  const auto way = [&](const Shape &s) { return choose(s, server, {}).algorithm; };
  EXPECT_EQ(Algorithm::kTile, way({100000, 609, 298, 4}));
  EXPECT_EQ(Algorithm::kTile, way({1, 592, 287, 4})) << "one row";
  EXPECT_EQ(Algorithm::kTile, way({264, 1025, 193, 8}));
  EXPECT_EQ(Algorithm::kTile, way({265, 2048, 193, 8})) << "it would fit a smaller block's list whole";
  EXPECT_EQ(Algorithm::kRows, way({265, 2049, 193, 8})) << "smaller blocks list the best";
  EXPECT_EQ(Algorithm::kRows, way({529, 1025, 193, 8}));
  EXPECT_EQ(Algorithm::kRows, way({1056, 8193, 65, 4}));
  EXPECT_EQ(Algorithm::kParts, way({1056, 8193, 64, 4}));
  EXPECT_EQ(Algorithm::kStream, way({1056, 8193, 16, 4}));
  EXPECT_EQ(Algorithm::kRows, way({1056, 4097, 129, 8}));
  EXPECT_EQ(Algorithm::kBoundRows, way({1056, 4097, 128, 8}));
  EXPECT_EQ(Algorithm::kBoundRows, way({529, 1025, 64, 4}));
  EXPECT_EQ(Algorithm::kBoundRows, way({1000, 4096, 128, 4}));
  EXPECT_EQ(Algorithm::kBoundRows, way({1, 8192, 8, 4}));
  EXPECT_EQ(Algorithm::kRows, way({1000, 4096, 1024, 4}));
  EXPECT_EQ(Algorithm::kTile, way({1000, 4096, 1025, 4}));
  EXPECT_EQ(Algorithm::kRows, way({1000, 4097, 1025, 4}));
  EXPECT_EQ(Algorithm::kWarp, way({100000, 609, 256, 4})) << "warps are quicker";
  EXPECT_EQ(Algorithm::kTile, way({100, 609, 256, 4})) << "for many rows";
  EXPECT_EQ(Algorithm::kRows, way({1000, 8192, 1023, 4}));
  EXPECT_EQ(Algorithm::kRows, way({1000, 609, 298, 1})) << "no kernel for keys of 1 byte";
}

TEST(TopkPlan, ShortRowsAreSortedWholeForLargeK) {
  for (const uint64_t columns : {uint64_t{1} << 14, uint64_t{1} << 17, kSortWholeItemsMax})
    for (const uint32_t key_bytes : {1u, 4u, 8u}) {
      const uint64_t least = sort_whole_k_min(columns, key_bytes);
      if (least > columns) continue;
      const Plan plan = choose({1, columns, least, key_bytes}, {90, 132, 232448}, {});
      EXPECT_EQ(Algorithm::kSort, plan.algorithm);
      EXPECT_TRUE(sorts_all(plan.shape));
      EXPECT_NE(Algorithm::kSort, choose({1, columns, least - 1, key_bytes}, {90, 132, 232448}, {}).algorithm);
      EXPECT_NE(Algorithm::kSort, choose({2, columns, least, key_bytes}, {90, 132, 232448}, {}).algorithm);
    }
  EXPECT_FALSE(sorts_whole({1, kSortWholeItemsMax + 1, 5000, 4}));
}

// And longer ones, where a sort of all of them is quicker than a selection.
TEST(TopkPlan, LongRowsAreSortedWholeForLargerK) {
  EXPECT_TRUE(sorts_whole({1, 1 << 19, (1 << 17) + 1, 4}));
  EXPECT_FALSE(sorts_whole({1, 1 << 19, 1 << 17, 4})) << "buckets are quicker";
  EXPECT_TRUE(sorts_whole({1, 1 << 21, 1 << 18, 8}));
  EXPECT_FALSE(sorts_whole({1, 1 << 21, 1 << 17, 8}));
  EXPECT_FALSE(sorts_whole({1, 1 << 28, 1 << 26, 4}));
  EXPECT_TRUE(sorts_whole({1, 1 << 28, 1 << 27, 4}));
  EXPECT_FALSE(sorts_whole({2, 1 << 19, (1 << 17) + 1, 4})) << "two rows";
  // More results never lead from a sort of all back to a selection.
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t columns : plan_sizes()) {
      bool whole = false;
      for (uint64_t k = 1; k <= columns; k += k / 4 + 1) {
        EXPECT_LE(whole, sorts_whole({1, columns, k, key_bytes})) << columns << " " << k;
        whole = sorts_whole({1, columns, k, key_bytes});
      }
    }
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

// Before a sort of pairs: the candidates of a sample, and a map of the selected, lie where the sort works later.
TEST(TopkPlan, SelectionInTheOrderOfTheInputHasRoomForItsCandidates) {
  uint32_t sampled = 0, exact = 0;
  for (const Case &c : cases()) {
    if (c.shape.rows != 1) continue;
    const uint32_t bytes = c.shape.key_bytes;
    Request r = make(Operation::kTopk,
                     bytes == 1   ? GSORT_U8
                     : bytes == 2 ? GSORT_F16
                     : bytes == 4 ? GSORT_I32
                                  : GSORT_F64,
                     c.shape.columns, 0);
    r.k = c.shape.k;
    Options force;
    force.sort = true;
    const Plan plan = make_plan(r, c.device, force);
    if (plan.sort.all) continue;
    const TeamPlan &team = plan.team;
    EXPECT_EQ(0u, team.resident.need);
    if (team.sample.items == 0) {
      ++exact;
      continue;
    }
    ++sampled;
    EXPECT_GE(bytes, 4u);
    EXPECT_LE(c.shape.k, c.shape.columns / 4);
    EXPECT_LE(team.sample.rank, kSampleGroups);
    EXPECT_EQ(0u, team.group_lanes + team.drawn_rank + team.slot_bits + team.tiles_ahead) << "a sample by groups";
    EXPECT_LE(team.groups, team.buffer_items) << "where they are chosen from";
    EXPECT_LE(kScratchBytes + kBins * 4 + (uint64_t{team.buffer_items} + team.run_items) * plan.composite_bytes,
              c.device.shared_bytes_block_max);
    const TeamLayout &l = plan.team_layout;
    expect_apart({{"counts", l.counts, uint64_t{kTeamBlocksMax} * 16},
                  {"map", l.list_b, (c.shape.columns + 63) / 64 * 12},
                  {"candidates", l.list_a, l.list_a_items * plan.composite_bytes}},
                 plan.sort.bytes - plan.sort.rest, 256);
    EXPECT_LE(split_items(c.shape, split_sample(c.shape)), uint64_t{team.blocks} * team.buffer_items + l.list_a_items);
  }
  EXPECT_LT(20u, sampled);
  EXPECT_LT(20u, exact);
}

TEST(TopkPlan, SelectionForASortTakesARandomSampleAndLeavesNothingInRegisters) {
  uint32_t seen = 0;
  for (const Case &c : cases()) {
    const Plan plan = choose(c.shape, c.device, {});
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

TEST(TopkPlan, WaysAreForcedWhereTheyCanDoTheCall) {
  for (const Case &c : cases()) {
    const Algorithm own = choose(c.shape, c.device, {}).algorithm;
    Options force;
    force.warp = true;
    const bool warp = c.shape.columns <= kWarpItemsMax && c.shape.k <= kWarpSortMax;
    EXPECT_EQ(warp ? Algorithm::kWarp : own, choose(c.shape, c.device, force).algorithm);
    force = {};
    force.sorted_lanes = true;
    EXPECT_EQ(sorted_lanes_run(c.device) && plan_sorted_lanes(c.shape).lanes != 0 ? Algorithm::kSortedLanes : own,
              choose(c.shape, c.device, force).algorithm);
    force = {};
    force.best = true;
    EXPECT_EQ(best_fits(c.shape, c.device) ? Algorithm::kBest : own, choose(c.shape, c.device, force).algorithm);
    force = {};
    force.bound_rows = true;
    EXPECT_EQ(sorted_lanes_run(c.device) && plan_bound_rows(c.shape).warps != 0 ? Algorithm::kBoundRows : own,
              choose(c.shape, c.device, force).algorithm);
    force = {};
    force.bound_lanes = true;
    EXPECT_EQ(sorted_lanes_run(c.device) && plan_bound_lanes(c.shape).registers != 0 ? Algorithm::kBoundLanes : own,
              choose(c.shape, c.device, force).algorithm);
    force = {};
    force.rows = true;
    RowsPlan rows = {};
    EXPECT_EQ(plan_rows(c.shape, c.device, rows) ? Algorithm::kRows : own, choose(c.shape, c.device, force).algorithm);
    force = {};
    force.stream = true;
    const bool streams = plan_stream(c.shape, c.device).threads != 0;
    EXPECT_EQ(streams ? Algorithm::kStream : own, choose(c.shape, c.device, force).algorithm);
    force = {};
    force.stream_threads = 256;
    EXPECT_EQ(c.shape.k <= stream_k_max(256) ? 256 : plan_stream(c.shape, c.device).threads,
              choose(c.shape, c.device, force).stream.threads);
    force = {};
    force.select = true;
    EXPECT_EQ(select_fits(c.shape) ? Algorithm::kSelect : own, choose(c.shape, c.device, force).algorithm);
    force = {};
    force.team = true;
    EXPECT_EQ(Algorithm::kTeam, choose(c.shape, c.device, force).algorithm);
    force = {};
    force.sort = true;
    EXPECT_EQ(Algorithm::kSort, choose(c.shape, c.device, force).algorithm);
    force = {};
    force.buckets = true;
    const bool buckets = buckets_fit(c.shape) && buckets_fit(c.device, c.shape.columns > kBucketsColumnsMax);
    EXPECT_EQ(buckets ? Algorithm::kBuckets : own, choose(c.shape, c.device, force).algorithm);
  }
}

Request rows_of(gsort_dtype t, uint64_t rows, uint64_t columns, uint64_t k) {
  Request r = make(Operation::kTopkRows, t, rows * columns, 0);
  r.rows = rows, r.columns = columns, r.row_stride = columns, r.k = k;
  return r;
}

TEST(TopkPlan, CallsWithoutResultsNeedNoWorkspace) {
  for (const uint64_t rows : {0, 1000})
    for (const uint64_t columns : {0, 100000})
      for (const uint64_t k : {0, 5000}) {
        if (rows * columns * k != 0) continue;
        EXPECT_EQ(0u, topk::workspace_bytes(rows_of(GSORT_F32, rows, columns, k)))
            << rows << " " << columns << " " << k;
      }
}

TEST(TopkPlan, WorkspaceDoesNotDependOnTheDevice) {
  for (const Case &c : cases()) {
    const uint32_t bytes = c.shape.key_bytes;
    const gsort_dtype t = bytes == 1 ? GSORT_U8 : bytes == 2 ? GSORT_F16 : bytes == 4 ? GSORT_I32 : GSORT_F64;
    const Request r = rows_of(t, c.shape.rows, c.shape.columns, c.shape.k);
    const Plan plan = make_plan(r, c.device), asked = make_plan(r, kLeastDevice);
    EXPECT_EQ(asked.workspace_bytes, plan.workspace_bytes);
    EXPECT_EQ(topk::workspace_bytes(r), plan.workspace_bytes);
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
    describe({}, choose(s, device, {}), line, sizeof line);
    return std::string(line);
  };
  EXPECT_NE(std::string::npos, text({1, 1000, 10, 4}).find("32 lanes"));
  EXPECT_NE(std::string::npos, text({2000, 10000, 10, 4}).find("one block of 128"));
  EXPECT_NE(std::string::npos, text({1000, 10000, 300, 4}).find("one block"));
  EXPECT_NE(std::string::npos, text({1, 100000000, 10, 4}).find("teams"));
  EXPECT_NE(std::string::npos, text({1, 100000000, 1000000, 4}).find("a sort of u64"));
  EXPECT_NE(std::string::npos, text({1, 100000000, 10000000, 8}).find("of pairs"));
}

}  // namespace
}  // namespace gsort_test
