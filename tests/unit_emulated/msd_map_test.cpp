// SPDX-License-Identifier: MIT OR Apache-2.0
// The map of the MSD sort of 4-byte keys: its cells, and which keys it leaves to the LSD sort.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cuda/sort/msd/map.cuh"
#include "made_keys.h"

namespace gsort_internal::sort::msd {

// The kernel's dynamic shared memory, by the name that it gives it.
alignas(16) thread_local uint32_t pairs[map_bytes<uint32_t>() / 4];

namespace {

using Keys = std::vector<uint32_t>;

// So many keys in 2,560 cells of the map, as 2^24 have.
constexpr uint64_t kItems = (uint64_t{1} << 18) + 1234;
constexpr uint32_t kCellBits = 11, kBlocks = 4;

template <class Make>
Keys keys_of(const Make &make) {
  return made_keys<uint32_t>(kItems, 1, make);
}

float unit(uint64_t word) { return static_cast<float>(::unit(word)); }

// What a call has in device memory.
struct Map {
  Map(const Keys &keys, gsort_dtype dtype) {
    codec = make_codec<uint32_t>({dtype, false, false});
    arguments = of_tables(nullptr);
    arguments = of_tables(tables.data());
    arguments.state->go = arguments.state->sorted = arguments.state->mapped = 1;
    emulation::launch(kBlocks, kMapThreads, 0, [&] {
      msd_map_kernel<uint32_t>(keys.data(), kItems, map_part(kItems, kBlocks), codec, arguments);
    });
  }
  Arguments<uint32_t> of_tables(void *memory) {
    TableSlices slices(memory);
    const Arguments<uint32_t> made = make_arguments<uint32_t>(make_plan(kItems, kCellBits), 0, slices);
    tables.resize(slices.bytes() / 8);
    return made;
  }
  bool keeps() const { return arguments.state->go != 0; }

  std::vector<uint64_t> tables;
  Arguments<uint32_t> arguments;
  KeyCodec<uint32_t> codec;
};

void expect_alike_cells(const Keys &keys) {
  const Map map(keys, GSORT_F32);
  ASSERT_TRUE(map.keeps());
  const uint32_t cells = map.arguments.plan.map_shares;
  std::vector<uint32_t> full(cells);
  for (const uint32_t key : keys) {
    const uint32_t cell = shared_cell(map.arguments.map, map.codec.encode(key));
    ASSERT_LT(cell, cells);
    ++full[cell];
  }
  // A cell has 103 keys on average, and 13 of the sample, which leaves much to chance.
  EXPECT_LT(*std::max_element(full.begin(), full.end()), 4 * kItems / cells);
}

TEST(MsdMap, CellsOfSmoothKeysAreAlike) {
  std::normal_distribution<float> normal;
  Keys keys = keys_of([&](auto &random) { return normal(random); });
  expect_alike_cells(keys);
  // Those at the end are in the sample as others are, though they may be all of their kind.
  const KeyCodec<uint32_t> codec = make_codec<uint32_t>({GSORT_F32, false, false});
  std::sort(keys.begin(), keys.end(), [&](uint32_t a, uint32_t b) { return codec.encode(a) < codec.encode(b); });
  expect_alike_cells(keys);
  std::reverse(keys.begin(), keys.end());
  expect_alike_cells(keys);
}

// Clusters that parts of an entry do not show, in which every cell has a part of its range: whether they are in order
// or not.
TEST(MsdMap, KeysThatLieCloselyWithinCellsAreLeftToTheRadixSort) {
  const auto near = [](auto &random) {
    const auto centre = mix_bits(static_cast<uint32_t>(random() % 20000));
    return centre / 2 + static_cast<uint32_t>(random() % 256);
  };
  EXPECT_FALSE(Map(keys_of(near), GSORT_U32).keeps());
  // The centres alone are equal keys, which have a digit to themselves.
  const auto centres = [](auto &random) { return mix_bits(static_cast<uint32_t>(random() % 20000)) / 2; };
  EXPECT_TRUE(Map(keys_of(centres), GSORT_U32).keeps());
}

TEST(MsdMap, KeysWithoutLumpsAreKept) {
  EXPECT_TRUE(Map(keys_of([](auto &random) { return unit(random()); }), GSORT_F32).keeps());
  // 2^16 values.
  const auto hashed = [](auto &random) { return unit((random() & 0xffff) * 0x9e3779b97f4a7c15ull); };
  EXPECT_TRUE(Map(keys_of(hashed), GSORT_F32).keeps());
  // Seven in eight zeros.
  EXPECT_TRUE(Map(keys_of([](auto &random) { return random() % 8 != 0 ? 0 : unit(random()); }), GSORT_F32).keeps());
}

// Of a range that one entry of the map holds, cells are equal parts: they serve an even range, or one value.
TEST(MsdMap, OneUnevenEntryIsLeftToTheRadixSort) {
  std::normal_distribution<float> normal;
  const auto sizes = [&](auto &random) { return static_cast<uint32_t>(std::exp(9 + 2.5f * normal(random))); };
  EXPECT_FALSE(Map(keys_of(sizes), GSORT_U32).keeps());
  const auto range = [](auto &random) { return static_cast<uint32_t>(random() & 0x7ffff) + (5u << kMapShift); };
  EXPECT_TRUE(Map(keys_of(range), GSORT_U32).keeps());
  const auto value = [](auto &random) { return random() % 8 != 0 ? 12345u : static_cast<uint32_t>(random()); };
  EXPECT_TRUE(Map(keys_of(value), GSORT_U32).keeps());
}

// The slope from few keys to very many would lead past the words' bits for keys.
TEST(MsdMap, NeedsStayBelowTheFlags) {
  for (const uint32_t many : {1u, 1000u, 471954u, 1u << 20, 1u << 21})
    for (const uint32_t few : {0u, 1u, 3u, 1000u})
      for (const bool first : {false, true}) {
        const uint4 parts = first ? make_uint4(many, few, 0, 1) : make_uint4(1, 0, few, many);
        EXPECT_GT(kTailed, needed_weight(parts)) << many << ' ' << few;
        EXPECT_LE(many + few + 1, needed_weight(parts)) << many << ' ' << few;
      }
}

TEST(MsdMap, LumpsAreLeftToTheRadixSort) {
  std::normal_distribution<double> normal;
  std::mt19937_64 random_centre(2);
  std::vector<uint64_t> centres(1000);
  for (uint64_t &centre : centres) centre = random_centre();
  const auto clustered = [&](auto &random) {
    return centres[random() % centres.size()] + static_cast<uint64_t>(static_cast<int64_t>(normal(random) * 0x1p44));
  };
  EXPECT_FALSE(
      Map(keys_of([&](auto &random) { return static_cast<uint32_t>(clustered(random) >> 32); }), GSORT_U32).keeps());
  // Most of them look even.
  EXPECT_FALSE(Map(keys_of([&](auto &random) { return unit(clustered(random)); }), GSORT_F32).keeps());
  const auto anded = [](auto &random) { return static_cast<uint32_t>(random() & random()); };
  EXPECT_FALSE(Map(keys_of(anded), GSORT_U32).keeps());
}

}  // namespace
}  // namespace gsort_internal::sort::msd
