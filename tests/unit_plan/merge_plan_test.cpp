// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/dtype.h"
#include "cuda/merge/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::merge;

// The host counts tiles by these, kernels by their shapes.
TEST(MergePlan, HostAndKernelsCountTheSameTiles) {
  EXPECT_EQ(Tile<1>::kKeys, tile_keys(1));
  EXPECT_EQ(Tile<2>::kKeys, tile_keys(2));
  EXPECT_EQ(Tile<4>::kKeys, tile_keys(4));
  EXPECT_EQ(Tile<8>::kKeys, tile_keys(8));
  EXPECT_EQ(Tuning::kThreads * Tile<8>::kItems, tile_keys(8));
}

TEST(MergePlan, TilesCoverTheOutputAndNoneIsEmpty) {
  for (const uint32_t key_bytes : {1u, 2u, 4u, 8u}) {
    const uint64_t tile = tile_keys(key_bytes);
    EXPECT_EQ(0u, tiles_of(key_bytes, 0));
    for (uint64_t total : plan_sizes()) {
      for (const uint64_t n : {total, total * tile}) {
        const uint64_t tiles = tiles_of(key_bytes, n);
        EXPECT_GE(tiles * tile, n);
        EXPECT_LT((tiles - 1) * tile, n);
      }
    }
  }
}

TEST(MergePlan, WorkspaceHoldsAFlagAndASplitATile) {
  for (const gsort_dtype t : kPlanTypes)
    for (const uint64_t n : plan_sizes()) {
      Request request = make(Operation::kMerge, t, n, 0);
      request.b_n = n / 3;
      const Plan plan = make_plan(request, kLeastDevice);
      EXPECT_EQ(tiles_of(dtype_bytes(t), n + n / 3), plan.tiles);
      expect_apart({{"unsorted", plan.unsorted * 8, 4}, {"splits", plan.splits * 8, (plan.tiles + 1) * 8}},
                   plan.workspace_bytes, 8);
    }
}

}  // namespace
}  // namespace gsort_test
