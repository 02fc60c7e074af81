// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>

#include "core/scan_order.h"
#include "cuda/merge/plan.h"
#include "cuda/scan/plan.h"
#include "cuda/sum/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;

// The host counts tiles by these, kernels by their shapes.
TEST(MergePlan, HostAndKernelsCountTheSameTiles) {
  EXPECT_EQ(MergeTile<1>::kKeys, merge_tile_keys(1));
  EXPECT_EQ(MergeTile<2>::kKeys, merge_tile_keys(2));
  EXPECT_EQ(MergeTile<4>::kKeys, merge_tile_keys(4));
  EXPECT_EQ(MergeTile<8>::kKeys, merge_tile_keys(8));
  EXPECT_EQ(MergeTuning::kThreads * MergeTile<8>::kItems, merge_tile_keys(8));
}

TEST(MergePlan, TilesCoverTheOutputAndNoneIsEmpty) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u}) {
    const uint64_t tile = merge_tile_keys(key_bytes);
    EXPECT_EQ(0u, plan_merge(key_bytes, 0).tiles);
    for (uint64_t total : plan_sizes()) {
      for (const uint64_t n : {total, total * tile}) {
        const uint64_t tiles = plan_merge(key_bytes, n).tiles;
        EXPECT_GE(tiles * tile, n);
        EXPECT_LT((tiles - 1) * tile, n);
      }
    }
  }
}

TEST(ReducePlan, EveryMeetingHasWhatItNeeds) {
  using T = ReduceTuning;
  bool seen[3] = {};
  for (const uint32_t capability : {75u, 89u, 90u, 120u}) {
    for (const uint32_t multiprocessors : {1u, 20u, 132u, 5000u}) {
      for (uint64_t size : plan_sizes()) {
        for (const uint64_t bytes : {size, size * T::kTileBytes}) {
          const uint64_t tiles = bytes / T::kTileBytes + (bytes % T::kTileBytes != 0);
          const ReducePlan plan = plan_reduce(bytes, capability, multiprocessors);
          seen[static_cast<int>(plan.meeting)] = true;
          ASSERT_GE(plan.blocks, 1u);
          if (plan.meeting == ReduceMeeting::kBlock) {
            EXPECT_EQ(1u, plan.blocks);
            EXPECT_LE(tiles, T::kBlockTilesMax);
          } else if (plan.meeting == ReduceMeeting::kCluster) {
            EXPECT_GE(capability, T::kClusterComputeCapability);
            EXPECT_EQ(0u, plan.blocks & (plan.blocks - 1)) << "clusters are powers of two";
            EXPECT_LE(plan.blocks, T::kClusterBlocksMax);
            EXPECT_GE(plan.blocks, tiles) << "a tile a block";
            EXPECT_LT(plan.blocks, 2 * tiles) << "no more blocks than tiles need";
            EXPECT_GE(plan.blocks, 2u);
          } else {
            EXPECT_GT(tiles, T::kBlockTilesMax) << "a grid where a block would do";
            EXPECT_TRUE(capability < T::kClusterComputeCapability || tiles > T::kClusterBlocksMax);
            const uint64_t most = uint64_t{multiprocessors} * T::kBlocksPerMultiprocessor;
            EXPECT_EQ(std::min({tiles, most, uint64_t{T::kBlocksMax}}), plan.blocks);
          }
        }
      }
    }
  }
  EXPECT_TRUE(seen[0] && seen[1] && seen[2]);
  EXPECT_EQ(ReduceMeeting::kBlock, plan_reduce(0, 90, 132).meeting);
  EXPECT_STRNE(reduce_meeting_name(ReduceMeeting::kBlock), reduce_meeting_name(ReduceMeeting::kCluster));
  EXPECT_STRNE(reduce_meeting_name(ReduceMeeting::kGrid), reduce_meeting_name(ReduceMeeting::kCluster));
}

void check_float_scan(uint32_t bytes, uint64_t n, uint32_t shared, uint32_t multiprocessors, bool clusters) {
  using T = ScanTuning;
  const ScanPlan plan = plan_scan(bytes, n, shared, multiprocessors, clusters);
  const uint32_t staging = T::staging_bytes(bytes);
  EXPECT_GE(plan.tiles * kScanTileItems, n);
  EXPECT_LT((plan.tiles - 1) * kScanTileItems, n);
  EXPECT_GT(plan.groups * kScanGroupTiles, plan.tiles) << "a group for every tile and for the end";
  EXPECT_LE((plan.groups - 1) * kScanGroupTiles, plan.tiles);
  const bool tile_fits = staging + T::kOtherSharedBytes <= shared;
  EXPECT_EQ(!tile_fits, plan.way == ScanWay::kDirect);
  const uint32_t held = T::kPipelineTiles * staging + T::kOtherSharedBytes;
  EXPECT_EQ(clusters && tile_fits && plan.tiles > 1 && plan.tiles <= T::kClusterTilesMax,
            plan.way == ScanWay::kCluster);
  if (plan.way == ScanWay::kCluster) {
    EXPECT_EQ(staging, plan.shared_bytes);
    EXPECT_GE(plan.blocks, plan.tiles);
    EXPECT_LE(plan.blocks, T::kClusterTilesMax);
    EXPECT_LT(plan.blocks, 2 * plan.tiles);
    EXPECT_EQ(0u, plan.blocks & (plan.blocks - 1));
  } else if (plan.way == ScanWay::kPipeline) {
    EXPECT_EQ(T::kPipelineTiles * staging, plan.shared_bytes);
    EXPECT_LE(held, shared);
    EXPECT_LE(bytes, T::kPipelineElementBytesMax);
    EXPECT_EQ(0u, plan.blocks % multiprocessors);
    const uint32_t each = plan.blocks / multiprocessors;
    EXPECT_GE(each, 1u);
    EXPECT_LE(each, T::kPipelineBlocks);
    EXPECT_LE(each * held, shared) << "all blocks must run at once";
    EXPECT_TRUE(each == T::kPipelineBlocks || (each + 1) * held > shared) << "room is left over";
    EXPECT_GE(plan.tiles, 3 * uint64_t{plan.blocks});
  } else {
    EXPECT_EQ(plan.tiles, plan.blocks);
    EXPECT_EQ(tile_fits ? staging : 0, plan.shared_bytes);
    const bool could = bytes <= T::kPipelineElementBytesMax && held <= shared;
    const uint64_t blocks = multiprocessors * std::min(shared / held, T::kPipelineBlocks);
    EXPECT_FALSE(could && plan.tiles >= 3 * blocks) << "the pipeline would do";
  }
  // The size of the workspace is asked for without a device.
  const ScanPlan asked = plan_scan(bytes, n, 0, 0, false);
  EXPECT_EQ(asked.tiles, plan.tiles);
  EXPECT_EQ(asked.groups, plan.groups);
}

TEST(ScanPlan, WaysOfFloatsFitTheDevice) {
  bool seen[4] = {};
  for (const uint32_t bytes : {2u, 4u, 8u})
    for (const uint64_t size : plan_sizes())
      for (const uint64_t n : {size, size * kScanTileItems})
        for (const uint32_t shared : {1024u, 49152u, 65536u, 101376u, 166912u, 232448u})
          for (const uint32_t multiprocessors : {1u, 132u}) {
            if (n >= uint64_t{1} << 40) continue;
            for (const bool clusters : {false, true}) {
              check_float_scan(bytes, n, shared, multiprocessors, clusters);
              seen[static_cast<int>(plan_scan(bytes, n, shared, multiprocessors, clusters).way)] = true;
            }
          }
  EXPECT_TRUE(seen[0] && seen[1] && seen[2] && seen[3]);
  EXPECT_STRNE(scan_way_name(ScanWay::kPipeline), scan_way_name(ScanWay::kStaged));
  EXPECT_STRNE(scan_way_name(ScanWay::kPipeline), scan_way_name(ScanWay::kDirect));
}

// No tile waits in shared memory for floats of 4 bytes: every device stages it, and the launch relies on that.
TEST(ScanPlan, EveryDeviceStagesNarrowFloats) {
  for (const uint32_t bytes : {2u, 4u}) EXPECT_NE(ScanWay::kDirect, plan_scan(bytes, 1000000, 49152, 20, false).way);
}

TEST(ScanPlan, FewIntegersByTheKernelOfFloats) {
  const uint64_t most = uint64_t{ScanTuning::kClusterTilesMax} * kScanTileItems;
  for (const uint32_t bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t n : {uint64_t{1}, uint64_t{8192}, uint64_t{8193}, uint64_t{40000}, most, most + 1}) {
      const IntegerScanPlan plan = plan_integer_scan(bytes, n, 0, 132);
      EXPECT_EQ(bytes <= 4 && plan.tiles > 1 && n <= most, scans_few_integers(bytes, n, plan, true));
      EXPECT_FALSE(scans_few_integers(bytes, n, plan, false));
    }
  // So many of the greatest sum to less than 2^53, up to which doubles are exact.
  EXPECT_LT(most * uint64_t{UINT32_MAX}, uint64_t{1} << 53);
}

TEST(ScanPlan, TilesOfIntegersCoverTheBytesFromTheVectorBefore) {
  using T = IntegerScanTuning;
  for (const uint32_t bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t size : plan_sizes())
      for (const uint64_t n : {size, size * (T::kTileBytes / bytes), size * (T::kTileBytes / bytes) + 1}) {
        if (n >= uint64_t{1} << 40) continue;
        const IntegerScanPlan asked = plan_integer_scan(bytes, n, 15, 0);
        EXPECT_EQ(0u, asked.blocks);
        for (uint32_t skew = 0; skew < 16; skew += bytes)
          for (const uint32_t multiprocessors : {1u, 20u, 132u}) {
            const IntegerScanPlan plan = plan_integer_scan(bytes, n, skew, multiprocessors);
            const uint64_t all = n * bytes + skew;
            EXPECT_GE(plan.tiles * T::kTileBytes, all);
            EXPECT_LT((plan.tiles - 1) * T::kTileBytes, all);
            EXPECT_EQ(bytes == 8 ? 2u : 1u, plan.planes) << "64-bit sums leave no word free";
            EXPECT_EQ(std::min(plan.tiles, uint64_t{multiprocessors} * T::kBlocksPerMultiprocessor), plan.blocks);
            // Words for totals are reserved before the array's place is known.
            EXPECT_LE(plan.planes * plan.tiles, asked.planes * asked.tiles);
            EXPECT_LE(asked.tiles, plan.tiles + 1);
          }
      }
}

TEST(ScanPlan, IntegerTilesAreWholeVectorsOfEveryWarp) {
  using T = IntegerScanTuning;
  EXPECT_EQ(T::kWarps * 32 * T::kVectors * 16, T::kTileBytes);
  EXPECT_EQ((T::kWarps + 1) * 32, T::kThreads) << "a warp looks back beside those that hold tiles";
  EXPECT_LE(T::kThreads, 1024u);
  for (const uint32_t bytes : {1u, 2u, 4u, 8u}) EXPECT_GE(T::totals_in_flight(bytes), 1u);
  EXPECT_GE(2 * T::totals_in_flight(8), T::totals_in_flight(4));
}

}  // namespace
}  // namespace gsort_test
