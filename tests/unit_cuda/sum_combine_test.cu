// SPDX-License-Identifier: MIT OR Apache-2.0
// combine_in_grid(): one block gets the sum of all blocks' limbs and all flags, whatever the blocks' order, and leaves
// the state zero. Blocks and warps are held up at random, so that a block that does not wait for all shows.
#include "cuda/sum/combine.cuh"
#include "launch_harness.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::sum;

// Limbs up to here are not zero; the others hold the carries.
constexpr uint32_t kLimbsUsed = 60;

struct Combined {
  State *state;
  int64_t *total;          // kSumLimbs
  uint32_t *flags, *done;  // of the block that gathered, and how many did so far
  uint32_t round;
  uint32_t bits;  // of a limb
};

__host__ __device__ uint64_t word_of(uint32_t round, uint32_t block, uint32_t i) {
  return mixed(uint64_t{round} << 40 | uint64_t{block} << 16 | i);
}

// A third of the limbs are zero.
__host__ __device__ int64_t limb_of(uint32_t round, uint32_t bits, uint32_t block, uint32_t i) {
  const uint64_t word = word_of(round, block, i);
  if (i >= kLimbsUsed || word % 3 == 0) return 0;
  const int64_t magnitude = static_cast<int64_t>(word >> (64 - bits));
  return word & 8 ? magnitude : -magnitude;
}

// Each flag in about one block of 256.
__host__ __device__ uint32_t flags_of(uint32_t round, uint32_t block) {
  const uint64_t word = word_of(round, block, 0xffff);
  uint32_t flags = 0;
  for (uint32_t bit = 0; bit < 4; ++bit)
    if ((word >> (8 * bit) & 0xff) == 0) flags |= 1u << bit;
  return flags;
}

__global__ void sum_combine_kernel(Combined m) {
  __shared__ BlockSums block;
  const uint32_t i = threadIdx.x, chance = static_cast<uint32_t>(word_of(~m.round, blockIdx.x, i / 32));
  if (chance % 4 == 0) __nanosleep(chance % 4096);
  if (i < kSumLimbs) block.limbs[i] = limb_of(m.round, m.bits, blockIdx.x, i);
  if (i == kFlagsThread) block.flags = flags_of(m.round, blockIdx.x);
  if (!combine_in_grid<kSumLimbs>(block, *m.state)) return;
  for (uint32_t limb = i; limb < kSumLimbs; limb += 32) m.total[limb] = block.total[limb];
  if (i != 0) return;
  *m.flags = static_cast<uint32_t>(block.flags);
  atomicAdd(m.done, 1u);
}

// The number's digits, the last limb with its sign: equal for equal numbers.
std::vector<int64_t> digits_of(std::vector<int64_t> limbs) {
  int64_t carry = 0;
  for (uint32_t i = 0; i < kSumLimbs; ++i) {
    const int64_t value = limbs[i] + carry;
    carry = value >> 32;
    if (i + 1 < kSumLimbs) limbs[i] = value & 0xffffffff;
    if (i + 1 == kSumLimbs) limbs[i] = value;
  }
  return limbs;
}

class SumCombineTest : public DeviceTest {};

TEST_F(SumCombineTest, SumOfAllBlocksWhateverTheirOrder) {
  const DeviceArray state(std::vector<uint32_t>(sizeof(State) / sizeof(uint32_t), 0), 0);
  const DeviceArray total(kSumLimbs * sizeof(int64_t), 0), marks(std::vector<uint32_t>(2, 0), 0);
  uint32_t round = 0, flags_seen = 0;
  // 2^46 is more than a limb's word takes of a block.
  for (const uint32_t bits : {1u, 20u, 40u, 41u, 42u, 46u})
    for (const uint32_t blocks : {2u, 3u, 33u, 528u, Tuning::kBlocksMax}) {
      for (uint32_t repeat = 0; repeat < 20; ++repeat) {
        ++round;
        const Combined m{
            state.as<State>(), total.as<int64_t>(), marks.as<uint32_t>(), marks.as<uint32_t>() + 1, round, bits};
        sum_combine_kernel<<<blocks, Tuning::kThreads>>>(m);
        ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
        std::vector<int64_t> expected(kSumLimbs, 0);
        uint32_t flags = 0;
        for (uint32_t b = 0; b < blocks; ++b) {
          for (uint32_t i = 0; i < kLimbsUsed; ++i) expected[i] += limb_of(round, bits, b, i);
          flags |= flags_of(round, b);
        }
        const std::vector<uint32_t> now = marks.read_as<uint32_t>();
        ASSERT_EQ(digits_of(expected), digits_of(total.read_as<int64_t>())) << blocks << " blocks, 2^" << bits;
        ASSERT_EQ(flags, now[0]);
        ASSERT_EQ(round, now[1]) << "one block a launch finishes";
        flags_seen |= flags;
      }
      for (const uint32_t word : state.read_as<uint32_t>()) ASSERT_EQ(0u, word) << "left for the next launch";
    }
  EXPECT_EQ(15u, flags_seen);
}

}  // namespace
}  // namespace gsort_test
