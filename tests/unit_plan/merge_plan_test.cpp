// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/dtype.h"
#include "cuda/merge/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::merge;

constexpr DeviceFacts kDevice = {90, 132, 232448};

Request merge_of(gsort_dtype t, uint64_t a_n, uint64_t b_n) {
  Request request = make(Operation::kMerge, t, a_n, 0);
  request.b_n = b_n;
  return request;
}

// The host counts tiles by these, kernels by their shapes.
TEST(MergePlan, HostAndKernelsCountTheSameTiles) {
  EXPECT_EQ(Tile<1>::kKeys, tile_keys(1));
  EXPECT_EQ(Tile<2>::kKeys, tile_keys(2));
  EXPECT_EQ(Tile<4>::kKeys, tile_keys(4));
  EXPECT_EQ(Tile<8>::kKeys, tile_keys(8));
  EXPECT_EQ(Tile<8>::kGroupKeys, group_keys(8));
  EXPECT_EQ(Tile<4>::kGroupKeys, group_keys(1));
}

TEST(MergePlan, TilesAndGroupsCoverTheOutputAndNoneIsEmpty) {
  for (const gsort_dtype t : kPlanTypes) {
    const uint64_t tile = tile_keys(dtype_bytes(t));
    for (uint64_t total : plan_sizes())
      for (const uint64_t n : {total, total * tile}) {
        if (n == 0) continue;
        const Plan plan = make_plan(merge_of(t, n / 3, n - n / 3), kDevice);
        EXPECT_GE(plan.tiles * tile, n);
        EXPECT_LT((plan.tiles - 1) * tile, n);
        const uint64_t each = plan.way == Algorithm::kRing ? Tuning::kRingTiles : Tuning::kWarps;
        EXPECT_GE(plan.groups * each, plan.tiles);
        EXPECT_LT((plan.groups - 1) * each, plan.tiles);
      }
  }
}

TEST(MergePlan, EveryWarpHasATileAndFewOfThemInOneKernel) {
  bool seen[2] = {};
  for (const uint32_t multiprocessors : {1u, 20u, 132u}) {
    const DeviceFacts device = {89, multiprocessors, 101376};
    for (uint64_t tiles : plan_sizes()) {
      if (tiles == 0 || tiles > uint64_t{1} << 33) continue;  // no device holds more
      const Plan plan = make_plan(merge_of(GSORT_F32, tiles * tile_keys(4), 0), device);
      ASSERT_EQ(tiles, plan.tiles);
      seen[static_cast<int>(plan.way)] = true;
      EXPECT_EQ(plan.warps * room_bytes(4), plan.shared_bytes);
      if (plan.way == Algorithm::kGroups) {
        EXPECT_EQ(Tuning::kWarps, plan.warps) << "a tile of the group each";
        EXPECT_EQ(plan.groups, plan.blocks);
        continue;
      }
      EXPECT_GE(plan.warps, 1u);
      EXPECT_LE(plan.warps, Tuning::kFewWarps);
      EXPECT_GE(uint64_t{plan.blocks} * plan.warps, tiles) << "a tile without a warp";
      EXPECT_LT((plan.blocks - 1) * uint64_t{plan.warps}, tiles) << "a block without a tile";
      EXPECT_LE(tiles, uint64_t{multiprocessors} * Tuning::kFewTiles);
    }
  }
  EXPECT_TRUE(seen[0] && seen[1]);
}

// Where the device has bulk copies and the shared memory; narrow keys do not gain.
TEST(MergePlan, ManyTilesStayInARingWhereItFits) {
  const uint64_t n = uint64_t{1} << 26;
  for (const gsort_dtype t : kPlanTypes) {
    const uint32_t key_bytes = dtype_bytes(t);
    for (const DeviceFacts &device :
         {kDevice, DeviceFacts{100, 148, 232448}, DeviceFacts{120, 170, 101376}, DeviceFacts{80, 108, 166912}}) {
      const Plan plan = make_plan(merge_of(t, n, n + 1), device);
      const bool ring = key_bytes >= 4 && (device.compute_capability == 90 || device.compute_capability == 100);
      ASSERT_EQ(ring ? Algorithm::kRing : Algorithm::kGroups, plan.way);
      if (!ring) continue;
      EXPECT_EQ(device.multiprocessors, plan.blocks);
      EXPECT_EQ(Tuning::kRingWarps, plan.warps);
      EXPECT_GE(plan.shared_bytes, Tuning::kRingSlots * Tuning::kRingTiles * tile_keys(key_bytes) * key_bytes);
      EXPECT_LT(plan.shared_bytes, device.shared_bytes_block_max);
    }
  }
  const DeviceFacts one = {90, 1, 232448};
  EXPECT_EQ(Algorithm::kFew, make_plan(merge_of(GSORT_F64, 32 * tile_keys(8), 0), one).way);
  const Plan least = make_plan(merge_of(GSORT_F64, 65 * tile_keys(8), 0), one);
  EXPECT_EQ(Algorithm::kRing, least.way);
  EXPECT_EQ(1u, least.blocks);
  EXPECT_EQ(9u, least.groups);
}

// From the fewest tiles that a device merges in a ring.
TEST(MergePlan, RingsHaveRoomBehindTheBorders) {
  for (const uint32_t multiprocessors : {1u, 2u, 132u}) {
    const DeviceFacts device = {90, multiprocessors, 232448};
    const uint64_t few = uint64_t{multiprocessors} * Tuning::kFewTiles;
    EXPECT_EQ(Algorithm::kFew, make_plan(merge_of(GSORT_U32, few * tile_keys(4), 0), device).way);
    for (const uint64_t tiles :
         {few + 1, few + 7, 3 * few, uint64_t{Tuning::kFewGroups} * Tuning::kRingTiles + few, uint64_t{1} << 20}) {
      const Plan plan = make_plan(merge_of(GSORT_U32, tiles * tile_keys(4), 0), device);
      ASSERT_EQ(Algorithm::kRing, plan.way);
      EXPECT_GE(plan.groups, plan.blocks);
      expect_apart(
          {{"counters", plan.counters, kCountersBytes},
           {"between", plan.between, kBetweenBytes},
           {"borders", plan.borders, (plan.groups + 1) * 8},
           {"misfits", plan.misfits, partition_blocks(plan.groups, partition_lanes(plan.way, plan.groups)) * 4}},
          plan.workspace_bytes, 8);
    }
  }
}

TEST(MergePlan, SmallMergesSpreadOverTheMultiprocessors) {
  const Plan few = make_plan(merge_of(GSORT_U32, 1 << 15, 1 << 15), kDevice);
  EXPECT_EQ(Algorithm::kFew, few.way);
  EXPECT_EQ(1u, few.warps);
  EXPECT_EQ(64u, few.blocks) << "a multiprocessor a tile";
  const Plan more = make_plan(merge_of(GSORT_U64, 1 << 18, 1 << 18), kDevice);
  EXPECT_EQ(Algorithm::kFew, more.way);
  EXPECT_EQ(Tuning::kFewWarps, more.warps);
  EXPECT_EQ(256u, more.blocks) << "blocks of few warps, so that no multiprocessor has many more tiles than another";
}

TEST(MergePlan, WorkspaceHoldsCountersVerdictAndBorders) {
  for (const gsort_dtype t : kPlanTypes)
    for (const uint64_t n : plan_sizes()) {
      const Plan plan = make_plan(merge_of(t, n, n / 3), kLeastDevice);
      expect_apart({{"counters", plan.counters, kCountersBytes},
                    {"between", plan.between, kBetweenBytes},
                    {"borders", plan.borders, (plan.groups + 1) * 8}},
                   plan.workspace_bytes, 8);
      EXPECT_EQ(plan.workspace_bytes, make_plan(merge_of(t, n, n / 3), kDevice).workspace_bytes);
    }
}

}  // namespace
}  // namespace gsort_test
