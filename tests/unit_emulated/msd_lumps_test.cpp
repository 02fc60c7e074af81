// SPDX-License-Identifier: MIT OR Apache-2.0
// What the partition sort's first sample of 4-byte keys makes of values that many have, and of keys that are even but
// for what lies within cells: it leaves some kinds of keys to the LSD sort at once.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "cuda/sort/msd/count.cuh"
#include "made_keys.h"

namespace gsort_internal::sort::msd {

// The kernel's dynamic shared memory, by the name that it gives it.
alignas(16) thread_local uint32_t seen[(1u << SmallSample::kMeetingBits) / 32];

namespace {

using Keys = std::vector<uint32_t>;

// Few and many that have a map of those cells.
constexpr uint64_t kItems[] = {4500000, 9000000};

template <class Make>
Keys keys_of(uint64_t n, const Make &make) {
  return made_keys<uint32_t>(n, n, make);
}

// Whether the partition sort goes on with keys like these, by the map or not.
bool goes_on(const Keys &keys, gsort_dtype dtype, bool mapped = true) {
  const Plan plan = make_plan(keys.size());
  EXPECT_GE(kHeavyCellsMax, plan.map_shares);
  std::vector<uint64_t> tables;
  TableSlices counted(nullptr);
  make_arguments<uint32_t>(plan, 0, counted);
  tables.resize(counted.bytes() / 8);
  TableSlices slices(tables.data());
  const Arguments<uint32_t> arguments = make_arguments<uint32_t>(plan, 0, slices);
  const KeyCodec<uint32_t> codec = make_codec<uint32_t>({dtype, false, false});
  std::vector<uint64_t> memory = uncleared_memory(10000);
  const Cleared cleared = {memory.data(), 10000 / 2};
  emulation::launch(3, kSampleThreads, 0, [&] {
    msd_sample_kernel<uint32_t, SmallSample>(keys.data(), keys.size(), codec, nullptr, false, nullptr, cleared,
                                             arguments);
  });
  EXPECT_TRUE(is_cleared(memory)) << "for the sort behind";
  EXPECT_EQ(arguments.state->go, arguments.state->sorted);
  EXPECT_EQ(mapped, arguments.state->mapped != 0);
  return arguments.state->go != 0;
}

TEST(MsdLumps, ValuesOfSomeCellsWorthAreLeftToTheRadixSort) {
  for (const uint64_t n : kItems) {
    SCOPED_TRACE(std::to_string(n) + " keys");
    const auto rank = [](auto &random) { return static_cast<uint32_t>(std::exp2(20 * unit(random()))); };
    EXPECT_FALSE(goes_on(keys_of(n, [&](auto &random) { return mix_bits(rank(random)); }), GSORT_U32));
    EXPECT_FALSE(
        goes_on(keys_of(n, [&](auto &random) { return static_cast<float>(mix_bits(rank(random))); }), GSORT_F32));
    const auto anded = [](auto &random) { return static_cast<uint32_t>(random() & random() & random() & random()); };
    EXPECT_FALSE(goes_on(keys_of(n, anded), GSORT_U32));
  }
}

TEST(MsdLumps, SmoothKeysFewHeavyOnesAndManyLightOnesAreForTheMap) {
  std::normal_distribution<float> normal;
  for (const uint64_t n : kItems) {
    SCOPED_TRACE(std::to_string(n) + " keys");
    EXPECT_TRUE(goes_on(keys_of(n, [&](auto &random) { return normal(random); }), GSORT_F32));
    EXPECT_TRUE(goes_on(keys_of(n, [](auto &random) { return static_cast<float>(unit(random())); }), GSORT_F32));
    EXPECT_TRUE(
        goes_on(keys_of(n, [&](auto &random) { return static_cast<int32_t>(normal(random) * 0x1p28f); }), GSORT_I32));
    const auto zeros = [](auto &random) { return random() % 8 != 0 ? 0 : static_cast<uint32_t>(random()); };
    EXPECT_TRUE(goes_on(keys_of(n, zeros), GSORT_U32));
    const auto values = [](auto &random) { return mix_bits(static_cast<uint32_t>(random() & 0xffff)); };
    EXPECT_TRUE(goes_on(keys_of(n, values), GSORT_U32));
  }
}

TEST(MsdLook, EvenKeysThatCrowdWithinCellsAreLeftToTheRadixSort) {
  const uint64_t n = kItems[0];
  const auto word = [](auto &random) { return static_cast<uint32_t>(random()); };
  Keys keys = keys_of(n, word);
  EXPECT_TRUE(goes_on(keys, GSORT_U32, false));
  std::sort(keys.begin(), keys.end());
  EXPECT_TRUE(goes_on(keys, GSORT_U32, false));
  // Clusters that fill an eighth of 2^23 values, each of which has a digit of its own.
  const auto near = [](auto &random) {
    return (mix_bits(static_cast<uint32_t>(random() % 8192)) >> 9) + static_cast<uint32_t>(random() % 128);
  };
  keys = keys_of(n, [&](auto &random) { return near(random) & 0x7fffff; });
  EXPECT_TRUE(goes_on(keys, GSORT_U32, false));
  // The same of 512 times as many values.
  keys = keys_of(n, [&](auto &random) { return near(random) << 9 | static_cast<uint32_t>(random() % 512); });
  EXPECT_FALSE(goes_on(keys, GSORT_U32, false));
}

TEST(MsdLook, RunsOfEqualKeysAreLeftToTheRadixSort) {
  const uint64_t n = kItems[0];
  const auto runs_of = [&](uint32_t length) {
    Keys keys(n);
    for (uint64_t i = 0; i < n; ++i) keys[i] = mix_bits(static_cast<uint32_t>(i / length));
    return keys;
  };
  EXPECT_FALSE(goes_on(runs_of(64), GSORT_U32, false));
  EXPECT_TRUE(goes_on(runs_of(3), GSORT_U32, false));
  // Of one value that nearly all have there are runs, too.
  const auto zeros = [](auto &random) { return random() % 1000 != 0 ? 0 : static_cast<uint32_t>(random()); };
  EXPECT_TRUE(goes_on(keys_of(n, zeros), GSORT_U32));
}

}  // namespace
}  // namespace gsort_internal::sort::msd
