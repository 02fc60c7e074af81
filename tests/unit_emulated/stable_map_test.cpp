// SPDX-License-Identifier: MIT OR Apache-2.0
// The map of the stable MSD sort: what its cells hold, and which keys it leaves to other ways.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cuda/sort/msd/stable_count.cuh"
#include "made_keys.h"

namespace gsort_internal::sort::msd {

// The histogram's dynamic shared memory, by the name that it gives it.
alignas(16) thread_local uint32_t counts[kStableMappedCellsMax + kStableMapEntries];

namespace {

constexpr uint64_t kItems = (uint64_t{1} << 19) + 1234;
constexpr uint32_t kBlocks = 3;

// What a call has in device memory, behind the sample, the map and the histogram.
template <class U>
struct StableMap {
  StableMap(const std::vector<U> &keys_in, gsort_dtype dtype)
      : keys(keys_in),
        codec(make_codec<U>({dtype, false, false})),
        plan(plan_stable_on(keys.size(), sizeof(U), 8, 227 << 10)) {
    U all = static_cast<U>(~U{0}), any = 0;
    for (const U key : keys) all &= codec.encode(key), any |= codec.encode(key);
    SampleView<U> view = {};
    view.bits = all, view.differ = all ^ any, view.range_bits = bit_width(view.differ), view.crowded = true;
    const StableTables tables = stable_tables(plan, keys.size());
    memory.resize(tables.bytes / 8 + 1);
    char *const begin = reinterpret_cast<char *>(memory.data());
    arguments.state = reinterpret_cast<StableState *>(begin + tables.state);
    arguments.cells = reinterpret_cast<uint32_t *>(begin + tables.cells);
    arguments.first_tile = reinterpret_cast<uint32_t *>(begin + tables.first_tile);
    arguments.map = reinterpret_cast<uint32_t *>(begin + tables.map);
    arguments.weights = reinterpret_cast<uint32_t *>(begin + tables.weights);
    arguments.ranges = reinterpret_cast<TwoWords *>(begin + tables.ranges);
    arguments.plan = plan;
    arguments.tile_items = 1000;
    *arguments.state = decide_stable(view, kRandomBytes, plan, codec.mask_positive != codec.mask_negative, keys.size());
    const uint64_t part = map_part(keys.size(), kBlocks);
    emulation::launch(kBlocks, kMapThreads, 0,
                      [&] { stable_map_kernel<U>(keys.data(), keys.size(), part, codec, arguments); });
    is_kept_by_map = is_kept();
    if (is_kept_by_map) cut();
  }
  bool is_kept() const { return arguments.state->go != 0 && arguments.state->way == StableWay::kMapped; }

  // Every key must lie in its cell's range, and words of what is left of it and a place must be as wide as a key.
  void cut() {
    emulation::launch(kBlocks, kStableCountThreads, 0,
                      [&] { stable_histogram_kernel<U>(keys.data(), keys.size(), codec, arguments); });
    if (!is_kept()) return;
    const uint32_t align = stable_map_align<U>(arguments);
    std::vector<uint32_t> full(plan.mapped_cells);
    for (const U key : keys) {
      const U ordered = codec.encode(key);
      const uint32_t number = stable_mapped_cell(arguments.map, leading_bits(ordered, align));
      ASSERT_LT(number, plan.mapped_cells);
      const StableCell<U> cell = stable_cell<U, StableWay::kMapped>(arguments, number);
      ASSERT_LE(cell.least, ordered);
      ASSERT_EQ(0u, static_cast<uint64_t>(ordered - cell.least) >> cell.word_bits);
      ASSERT_LE(cell.word_bits + cell.place_bits, 8 * sizeof(U));
      ++full[number];
    }
    uint32_t place = 0;
    for (uint32_t number = 0; number < plan.mapped_cells; ++number) {
      ASSERT_EQ(place, arguments.cells[number]);
      ASSERT_LE(full[number],
                std::min(kStableFinishItems, 1u << stable_cell<U, StableWay::kMapped>(arguments, number).place_bits));
      place += full[number];
    }
    EXPECT_EQ(place, arguments.cells[plan.mapped_cells]);
    expect_tiles();
  }
  void expect_tiles() const {
    const uint32_t bins = plan.mapped_cells / kStableBinsMax;
    uint32_t tiles = 0;
    for (uint32_t bin = 0; bin < bins; ++bin) {
      EXPECT_EQ(tiles, arguments.first_tile[bin]);
      const uint32_t pairs = arguments.cells[(bin + 1) * kStableBinsMax] - arguments.cells[bin * kStableBinsMax];
      tiles += (pairs + arguments.tile_items - 1) / arguments.tile_items;
    }
    EXPECT_EQ(tiles, arguments.first_tile[bins]);
  }

  const std::vector<U> &keys;
  KeyCodec<U> codec;
  StablePlan plan;
  std::vector<uint64_t> memory;
  StableArguments arguments = {};
  bool is_kept_by_map = false;
};

template <class U, class Make>
std::vector<U> keys_of(const Make &make) {
  return made_keys<U>(kItems, 1, make);
}

template <class Make>
void expect_kept_as_floats(const char *name, const Make &make) {
  SCOPED_TRACE(name);
  const auto wide = keys_of<uint64_t>([&](auto &random) { return make(random); });
  const StableMap<uint64_t> doubles(wide, GSORT_F64);
  EXPECT_TRUE(doubles.is_kept());
}

TEST(StableMap, SmoothFloatsAreCutIntoCellsThatFit) {
  std::normal_distribution<double> normal;
  expect_kept_as_floats("unit", [](auto &random) { return unit(random()); });
  expect_kept_as_floats("normal", [&](auto &random) { return normal(random); });
  expect_kept_as_floats("log-normal", [&](auto &random) { return std::exp(5 * normal(random)); });
  expect_kept_as_floats("log-uniform", [](auto &random) { return std::exp2(80 * unit(random()) - 40); });
  expect_kept_as_floats("exponential", [](auto &random) { return -std::log(1 - unit(random())); });
}

// Ranges of few bits and of many, whose ends cells must not pass. Up to three bytes are for as many passes.
TEST(StableMap, IntegersOfAnyRange) {
  for (const int bits : {13, 20, 24, 25, 28, 32, 33, 47, 53, 60, 64}) {
    SCOPED_TRACE(bits);
    const auto key = [&](auto &random) {
      const double most = std::ldexp(1, bits) - std::ldexp(1, bits - 50);
      return static_cast<uint64_t>(std::min(std::ldexp(unit(random()) * unit(random()), bits), most));
    };
    const auto low = keys_of<uint64_t>(key);
    EXPECT_EQ(bits > 24, StableMap<uint64_t>(low, GSORT_U64).is_kept());
    const auto high = keys_of<uint64_t>([&](auto &random) { return ~key(random); });
    EXPECT_EQ(bits > 24, StableMap<uint64_t>(high, GSORT_U64).is_kept());
  }
}

TEST(StableMap, LumpsAreLeftToOtherWays) {
  const auto anded =
      keys_of<uint64_t>([](auto &random) { return random() & random() & random() & random() & random(); });
  EXPECT_FALSE(StableMap<uint64_t>(anded, GSORT_U64).is_kept());
  const auto one = keys_of<uint64_t>([](auto &random) { return random() % 8 != 0 ? 7 : random(); });
  EXPECT_FALSE(StableMap<uint64_t>(one, GSORT_U64).is_kept());
}

// Clusters that the eight parts of a binade do not show.
TEST(StableMap, FineLumpsAreLeftToOtherWays) {
  std::mt19937_64 random(3);
  std::vector<uint64_t> keys(kStableCheckedMin);
  for (const bool clusters : {false, true}) {
    for (uint64_t &key : keys) {
      const double within = unit(random()) / (clusters ? 100 : 1), sign = random() % 2 != 0 ? 1 : -1;
      const double value = sign * (1 + (static_cast<double>(random() % 64) + within) / 64);
      std::memcpy(&key, &value, sizeof key);
    }
    EXPECT_EQ(!clusters, StableMap<uint64_t>(keys, GSORT_F64).is_kept_by_map);
    if (!clusters) continue;
    // Of fewer keys the histogram is what finds out.
    keys.resize(kStableCheckedMin - 1);
    const StableMap<uint64_t> fewer(keys, GSORT_F64);
    EXPECT_TRUE(fewer.is_kept_by_map);
    EXPECT_FALSE(fewer.is_kept());
  }
}

// As many pairs in one cell as it takes, and one more.
TEST(StableMap, OverfullCellsTurnTheKeysAway) {
  for (const uint64_t equal : {uint64_t{4000}, uint64_t{9300}}) {
    std::normal_distribution<double> normal;
    uint64_t made = 0;
    const auto keys = keys_of<uint64_t>([&](auto &random) {
      const double value = normal(random);
      return made++ % (kItems / equal) == 0 ? 0.75 : value;
    });
    EXPECT_EQ(equal < 9000, StableMap<uint64_t>(keys, GSORT_F64).is_kept());
  }
}

// Equal cells are for keys that differ: not for few that lie in clumps, nor where each value comes twice and more.
TEST(StableLook, ClumpsAndValuesThatRepeatAreLeftToPasses) {
  SampleView<uint64_t> view = {};
  view.differ = 0xffffff, view.range_bits = 24;
  const auto goes_on = [&](uint64_t n) {
    const StablePlan plan = plan_stable_on(n, 8, 8, 227 << 10);
    const StableState state = decide_stable(view, kRandomBytes, plan, false, n);
    EXPECT_EQ(StableWay::kEven, state.way);
    EXPECT_EQ(state.go, state.sorted);
    return state.go != 0;
  };
  EXPECT_TRUE(goes_on(uint64_t{1} << 24));
  EXPECT_TRUE(goes_on((uint64_t{2} << 24) - 1));
  EXPECT_FALSE(goes_on(uint64_t{2} << 24));
  view.differ = ~uint64_t{0}, view.range_bits = 64;
  EXPECT_TRUE(goes_on(uint64_t{2} << 24));
  view.clumped = true;
  EXPECT_FALSE(goes_on(kSmallSampleItemsMax));
  EXPECT_TRUE(goes_on(kSmallSampleItemsMax + 1));
}

}  // namespace
}  // namespace gsort_internal::sort::msd
