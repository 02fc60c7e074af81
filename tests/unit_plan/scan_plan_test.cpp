// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>

#include "core/dtype.h"
#include "core/scan_order.h"
#include "cuda/scan/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::scan;

void check_float_scan(uint32_t bytes, uint64_t n, const DeviceFacts &device) {
  const uint32_t shared = device.shared_bytes_block_max, multiprocessors = device.multiprocessors;
  const bool clusters = device.clusters();
  using T = FloatTuning;
  const FloatPlan plan = plan_floats(bytes, n, device);
  const uint32_t staging = T::staging_bytes(bytes);
  EXPECT_GE(plan.tiles * kScanTileItems, n);
  EXPECT_LT((plan.tiles - 1) * kScanTileItems, n);
  EXPECT_GT(plan.groups * kScanGroupTiles, plan.tiles) << "a group for every tile and for the end";
  EXPECT_LE((plan.groups - 1) * kScanGroupTiles, plan.tiles);
  const bool tile_fits = staging + T::kOtherSharedBytes <= shared;
  EXPECT_EQ(!tile_fits, plan.way == Algorithm::kDirect);
  const uint32_t held = T::kPipelineTiles * staging + T::kOtherSharedBytes;
  EXPECT_EQ(clusters && tile_fits && plan.tiles > 1 && plan.tiles <= T::kClusterTilesMax,
            plan.way == Algorithm::kCluster);
  if (plan.way == Algorithm::kCluster) {
    EXPECT_EQ(staging, plan.shared_bytes);
    EXPECT_GE(plan.blocks, plan.tiles);
    EXPECT_LE(plan.blocks, T::kClusterTilesMax);
    EXPECT_LT(plan.blocks, 2 * plan.tiles);
    EXPECT_EQ(0u, plan.blocks & (plan.blocks - 1));
  } else if (plan.way == Algorithm::kPipeline) {
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
  const FloatPlan asked = plan_floats(bytes, n, kLeastDevice);
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
              const DeviceFacts device = {clusters ? 90u : 80u, multiprocessors, shared};
              check_float_scan(bytes, n, device);
              seen[static_cast<int>(plan_floats(bytes, n, device).way)] = true;
            }
          }
  EXPECT_TRUE(seen[0] && seen[1] && seen[2] && seen[3]);
  EXPECT_STRNE(algorithm_name(Algorithm::kPipeline), algorithm_name(Algorithm::kStaged));
  EXPECT_STRNE(algorithm_name(Algorithm::kPipeline), algorithm_name(Algorithm::kDirect));
}

// No tile waits in shared memory for floats of 4 bytes: every device stages it, and the launch relies on that.
TEST(ScanPlan, EveryDeviceStagesNarrowFloats) {
  for (const uint32_t bytes : {2u, 4u}) EXPECT_NE(Algorithm::kDirect, plan_floats(bytes, 1000000, {75, 20, 49152}).way);
}

TEST(ScanPlan, FewIntegersByTheKernelOfFloats) {
  const uint64_t most = uint64_t{FloatTuning::kClusterTilesMax} * kScanTileItems;
  for (const uint32_t bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t n : {uint64_t{1}, uint64_t{8192}, uint64_t{8193}, uint64_t{40000}, most, most + 1}) {
      const IntegerPlan plan = plan_integers(bytes, n, 0, 132);
      EXPECT_EQ(plan.tiles > 1 && n <= most, scans_few_integers(n, plan, true));
      EXPECT_FALSE(scans_few_integers(n, plan, false));
    }
  // So many of the greatest of 4 bytes sum to less than 2^53, up to which doubles are exact.
  EXPECT_LT(most * uint64_t{UINT32_MAX}, uint64_t{1} << 53);
}

TEST(ScanPlan, TilesOfIntegersCoverTheBytesFromTheVectorBefore) {
  using T = IntegerTuning;
  for (const uint32_t bytes : {1u, 2u, 4u, 8u})
    for (const uint64_t size : plan_sizes())
      for (const uint64_t n : {size, size * (T::kTileBytes / bytes), size * (T::kTileBytes / bytes) + 1}) {
        if (n >= uint64_t{1} << 40) continue;
        const IntegerPlan asked = plan_integers(bytes, n, 15, 0);
        EXPECT_EQ(0u, asked.blocks);
        for (uint32_t skew = 0; skew < 16; skew += bytes)
          for (const uint32_t multiprocessors : {1u, 20u, 132u}) {
            const IntegerPlan plan = plan_integers(bytes, n, skew, multiprocessors);
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
  using T = IntegerTuning;
  EXPECT_EQ(T::kWarps * 32 * T::kVectors * 16, T::kTileBytes);
  EXPECT_EQ((T::kWarps + 1) * 32, T::kThreads) << "a warp looks back beside those that hold tiles";
  EXPECT_LE(T::kThreads, 1024u);
  for (const uint32_t bytes : {1u, 2u, 4u, 8u}) EXPECT_GE(T::totals_in_flight(bytes), 1u);
  EXPECT_GE(2 * T::totals_in_flight(8), T::totals_in_flight(4));
}

TEST(ScanPlan, WorkspaceFitsEveryDeviceAndAddress) {
  alignas(16) static const char bytes[32] = {};
  bool seen[3] = {};
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_U32, GSORT_I64, GSORT_F16, GSORT_F32, GSORT_F64})
    for (const uint64_t n : plan_sizes()) {
      Request request = make(Operation::kScan, t, n, 0);
      const uint64_t asked = make_plan(request, kLeastDevice).workspace_bytes;
      for (const DeviceFacts device : {DeviceFacts{75, 20, 49152}, DeviceFacts{90, 132, 232448}})
        for (uint32_t skew = 0; skew < 16; skew += dtype_bytes(t)) {
          request.in = bytes + skew;
          const Plan plan = make_plan(request, device);
          seen[static_cast<int>(plan.path)] = true;
          EXPECT_EQ(is_float(t), plan.path == Path::kFloats);
          EXPECT_EQ(asked, plan.workspace_bytes);
          EXPECT_LE(plan.inclusive_words, plan.words);
          EXPECT_LE(plan.words * 8, plan.workspace_bytes);
          if (plan.path != Path::kFloats) {
            EXPECT_EQ(plan.words, plan.tile_totals + plan.integers.planes * plan.integers.tiles);
            continue;
          }
          const uint64_t runs = (plan.floats.tiles + kScanRunTiles - 1) / kScanRunTiles;
          EXPECT_EQ(0u, plan.tile_totals % 2) << "runs are read in pairs of words";
          expect_apart({{"tickets", plan.tickets * 8, 4},
                        {"tile_totals", plan.tile_totals * 8, runs * kScanRunTiles * 8},
                        {"group_prefixes", plan.group_prefixes * 8, (plan.floats.groups + 1) * 8},
                        {"tile_ends", plan.tile_ends * 8, plan.floats.tiles * kTileEndWords * 8}},
                       plan.workspace_bytes, 8);
        }
    }
  EXPECT_TRUE(seen[0] && seen[1] && seen[2]);
}

}  // namespace
}  // namespace gsort_test
