// SPDX-License-Identifier: MIT OR Apache-2.0
// Which kernels an architecture has code for, and that no plan chooses others.
#include "core/dtype.h"
#include "cuda/engine/device_facts.h"
#include "cuda/merge/plan.h"
#include "cuda/scan/plan.h"
#include "cuda/sort/msd/plan.h"
#include "cuda/sort/msd/stable_plan.h"
#include "cuda/sort/small/plan.h"
#include "cuda/sum/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;

TEST(Architecture, EveryCapabilityHasTheNearestEntryBelowIt) {
  for (uint32_t capability = 75; capability < 140; ++capability) {
    const Architecture found = architecture_of(capability);
    EXPECT_LE(found.compute_capability, capability);
    for (const Architecture &other : kArchitectures)
      EXPECT_TRUE(other.compute_capability > capability || other.compute_capability <= found.compute_capability);
    EXPECT_GE(found.shared_bytes_block_max, kLeastDevice.shared_bytes_block_max);
    EXPECT_GE(found.threads, 1024u) << "a block may have as many";
  }
  uint32_t before = 0;
  for (const Architecture &architecture : kArchitectures) {
    EXPECT_GT(architecture.compute_capability, before) << "ascending";
    before = architecture.compute_capability;
  }
  EXPECT_EQ(120u, architecture_of(999).compute_capability) << "what comes later runs the code of the newest";
}

TEST(Architecture, ClustersAreOfTheTable) {
  for (uint32_t capability = 75; capability < 140; ++capability) {
    DeviceFacts device = {capability, 132, 48 * 1024};
    EXPECT_EQ(architecture_of(capability).clusters, device.clusters());
    EXPECT_EQ(capability >= 90 && capability < 120, device.clusters());
    device.clusters_fit = false;
    EXPECT_FALSE(device.clusters());
  }
}

// A release has no code of its own for sm_86 and sm_89, which run that of sm_80.
TEST(Architecture, TheCodeOf80Serves86And89) {
  const Architecture code = architecture_of(80);
  for (const uint32_t capability : {86, 89}) {
    const Architecture chip = architecture_of(capability);
    EXPECT_LE(chip.shared_bytes_block_max, code.shared_bytes_block_max) << "a kernel that it takes is empty";
    EXPECT_EQ(chip.clusters, code.clusters);
    // Kernels whose registers are bounded to so many threads of a multiprocessor, but those for more shared memory.
    EXPECT_LE(scan::FloatTuning::kThreads * 3, chip.threads);
    EXPECT_LE(scan::FloatTuning::kPipelineThreads * scan::FloatTuning::kPipelineBlocks, chip.threads);
    EXPECT_LE(sum::Tuning::kThreads * sum::Tuning::kBlocksPerMultiprocessor, chip.threads);
    EXPECT_LE(merge::Tuning::kThreads * merge::Tuning::kBlocksPerMultiprocessor, chip.threads);
    EXPECT_LT(chip.shared_bytes_block_max, sort::msd::kSharedBytesMin);
    EXPECT_LT(chip.shared_bytes_block_max, sort::msd::kStableSharedBytesMin);
  }
}

// Kernels of these sorts are empty on the other architectures.
TEST(Architecture, SortsThatNeedMuchSharedMemory) {
  for (const Architecture &architecture : kArchitectures) {
    const uint32_t capability = architecture.compute_capability, bytes = architecture.shared_bytes_block_max;
    const bool large = capability == 80 || (capability >= 90 && capability < 120);
    EXPECT_EQ(large, bytes >= sort::msd::kSharedBytesMin) << capability;
    EXPECT_EQ(large, bytes >= sort::msd::kStableSharedBytesMin) << capability;
    EXPECT_EQ(large, bytes >= sort::small::kGridSharedBytesMin) << capability;
  }
  // In the host's pass nothing is left out.
  EXPECT_TRUE(kClustersHere);
  EXPECT_TRUE(kFitsHere<UINT32_MAX>);
}

}  // namespace
}  // namespace gsort_test
