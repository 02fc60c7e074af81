// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>

#include "cuda/sum/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::sum;

Request sum_of(uint64_t bytes) { return make(Operation::kSum, GSORT_U8, bytes, 0); }

TEST(SumPlan, EveryScopeHasWhatItNeeds) {
  using T = Tuning;
  bool seen[3] = {};
  for (const uint32_t capability : {75u, 89u, 90u, 100u, 120u}) {
    for (const uint32_t multiprocessors : {1u, 20u, 132u, 5000u}) {
      const DeviceFacts device = {capability, multiprocessors, 48 * 1024};
      for (uint64_t size : plan_sizes()) {
        for (const uint64_t bytes : {size, size * T::kTileBytes}) {
          const uint64_t tiles = bytes / T::kTileBytes + (bytes % T::kTileBytes != 0);
          const Plan plan = make_plan(sum_of(bytes), device);
          seen[static_cast<int>(plan.scope)] = true;
          ASSERT_GE(plan.blocks, 1u);
          if (plan.scope == Scope::kBlock) {
            EXPECT_EQ(1u, plan.blocks);
            EXPECT_LE(tiles, T::kBlockTilesMax);
          } else if (plan.scope == Scope::kCluster) {
            EXPECT_TRUE(device.clusters());
            EXPECT_EQ(0u, plan.blocks & (plan.blocks - 1)) << "clusters are powers of two";
            EXPECT_LE(plan.blocks, T::kClusterBlocksMax);
            EXPECT_GE(plan.blocks, tiles) << "a tile a block";
            EXPECT_LT(plan.blocks, 2 * tiles) << "no more blocks than tiles need";
            EXPECT_GE(plan.blocks, 2u);
          } else {
            EXPECT_GT(tiles, T::kBlockTilesMax) << "a grid where a block would do";
            EXPECT_TRUE(!device.clusters() || tiles > T::kClusterBlocksMax);
            const uint64_t most = uint64_t{multiprocessors} * T::kBlocksPerMultiprocessor;
            EXPECT_EQ(std::min({tiles, most, uint64_t{T::kBlocksMax}}), plan.blocks);
          }
        }
      }
    }
  }
  EXPECT_TRUE(seen[0] && seen[1] && seen[2]);
  EXPECT_EQ(Scope::kBlock, make_plan(sum_of(0), {90, 132, 232448}).scope);
  EXPECT_STRNE(scope_name(Scope::kBlock), scope_name(Scope::kCluster));
  EXPECT_STRNE(scope_name(Scope::kGrid), scope_name(Scope::kCluster));
}

// Sums of doubles keep an exact sum of every thread in shared memory; their extremes do not.
TEST(SumPlan, DoublesHaveBlocksOfTheirOwn) {
  const DeviceFacts device = {90, 132, 232448};
  for (const uint64_t tiles : {1u, 2u, 3u, 8u, 9u, 5000u}) {
    const uint64_t n = tiles * Tuning::tile_bytes(DoubleTuning::kThreads) / 8;
    const Plan plan = make_plan(make(Operation::kSum, GSORT_F64, n, 0), device);
    EXPECT_EQ(DoubleTuning::kThreads, plan.threads);
    EXPECT_EQ(DoubleTuning::kSharedBytes, plan.shared_bytes);
    EXPECT_EQ(tiles == 1 ? Scope::kBlock : tiles <= 8 ? Scope::kCluster : Scope::kGrid, plan.scope) << tiles;
  }
  Request greatest = make(Operation::kReduce, GSORT_F64, 1000000, 0);
  greatest.reduce_op = GSORT_MAX;
  EXPECT_EQ(Tuning::kThreads, make_plan(greatest, device).threads);
  EXPECT_EQ(0u, make_plan(greatest, device).shared_bytes);
  greatest.reduce_op = GSORT_MEAN;
  EXPECT_EQ(DoubleTuning::kThreads, make_plan(greatest, device).threads);
  EXPECT_EQ(Tuning::kThreads, make_plan(sum_of(1000000), device).threads);
}

TEST(SumPlan, ClustersWhereTheOtherFamiliesHaveThem) {
  const uint64_t bytes = uint64_t{Tuning::kTileBytes} * 4;
  for (const uint32_t capability : {75u, 80u, 86u, 89u, 90u, 100u, 103u, 120u, 121u}) {
    DeviceFacts device = {capability, 132, 232448};
    EXPECT_EQ(capability >= 90 && capability < 120, make_plan(sum_of(bytes), device).scope == Scope::kCluster);
    device.clusters_fit = false;
    EXPECT_EQ(Scope::kGrid, make_plan(sum_of(bytes), device).scope);
  }
}

TEST(SumPlan, WorkspaceIsTheSameForEveryCall) {
  for (const uint64_t n : plan_sizes()) {
    const Plan plan = make_plan(make(Operation::kReduce, GSORT_F64, n, 0), {100, 148, 232448});
    expect_apart(
        {{"counters", plan.counters, kCountersBytes}, {"extremes", plan.extremes, Tuning::kBlocksMax * kExtremeBytes}},
        plan.workspace_bytes, 256);
    EXPECT_EQ(plan.workspace_bytes, make_plan(sum_of(1), kLeastDevice).workspace_bytes);
  }
}

}  // namespace
}  // namespace gsort_test
