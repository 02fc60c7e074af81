// SPDX-License-Identifier: MIT OR Apache-2.0
// Which way the MSD sort's sample sends keys of many distributions, simulated: the limits of the plan that its kernel
// compares with, and how full the cells are that 2^28 keys of each have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "cuda/sort/msd/plan.h"

namespace gsort_test {
namespace {

using namespace gsort_internal::sort::msd;

uint64_t mixed(uint64_t i) {
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
double unit(uint64_t i) { return static_cast<double>(mixed(i) >> 11) * 0x1p-53; }
double normal(uint64_t i) {
  return std::sqrt(-2 * std::log(unit(2 * i) + 0x1p-60)) * std::cos(6.283185307179586 * unit(2 * i + 1));
}
uint32_t word(uint64_t i) { return static_cast<uint32_t>(mixed(i) >> 32); }
uint32_t anded(uint64_t i, uint64_t words) {
  uint32_t all = word(i);
  for (uint64_t w = 1; w < words; ++w) all &= word(i + (w << 40));
  return all;
}
// Ranks with frequencies that fall with their power `exponent`.
uint64_t zipf(uint64_t i, double exponent) {
  const double e = 1 - exponent, most = (std::pow(1e8, e) - 1) / e;
  return static_cast<uint64_t>(std::pow(1 + e * unit(i) * most, 1 / e));
}
uint32_t text(uint64_t i) {
  const char *const letters = "eeeeeeettttttaaaaaoooooiiiiinnnnsssshhhhrrrrddlllccuummwwffggyyppbbvk";
  uint32_t all = 0;
  for (uint64_t c = 0; c < 4; ++c) all = all << 8 | static_cast<uint8_t>(letters[mixed(8 * i + c) % 69]);
  return all;
}
// The ordered bits of a float.
uint32_t ordered(double value) {
  const float single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  return bits ^ (bits >> 31 != 0 ? 0xffffffffu : 0x80000000u);
}

// kEven: equal cells, nearly none too full. kMap: the map is tried. kCounted: equal cells, of which some are counted by
// values.
enum class Way { kEven, kMap, kCounted };

struct Keys {
  const char *name;
  std::function<uint32_t(uint64_t)> key;
  Way way;
  double overfull_least, overfull_most;  // share of the keys in cells with more than twice what a block holds
};

std::vector<Keys> distributions() {
  return {
      {"uniform", word, Way::kEven, 0, 0},
      {"staggered", [](uint64_t i) { return static_cast<uint32_t>(i % 128) << 25 | word(i) >> 7; }, Way::kEven, 0, 0},
      {"zipf 1.1 of hashed rank", [](uint64_t i) { return word(zipf(i, 1.1)); }, Way::kCounted, 0.4, 0.8},
      {"zipf 1.1 of rank", [](uint64_t i) { return static_cast<uint32_t>(zipf(i, 1.1)); }, Way::kCounted, 0.9, 1},
      {"zipf 0.8 of hashed rank", [](uint64_t i) { return word(zipf(i, 0.8)); }, Way::kCounted, 0.02, 0.5},
      {"log-uniform", [](uint64_t i) { return word(i) >> mixed(~i) % 32; }, Way::kCounted, 0.6, 0.95},
      {"two words anded", [](uint64_t i) { return anded(i, 2); }, Way::kCounted, 0.5, 0.9},
      {"four words anded", [](uint64_t i) { return anded(i, 4); }, Way::kCounted, 0.9, 1},
      {"ten words anded", [](uint64_t i) { return anded(i, 10); }, Way::kCounted, 0.98, 1},
      {"text", text, Way::kCounted, 0.95, 1},
      {"timestamps", [](uint64_t i) { return 1700000000 + static_cast<uint32_t>(i / 1000 + mixed(i) % 600); },
       Way::kCounted, 0.98, 1},
      {"log-normal sizes",
       [](uint64_t i) { return static_cast<uint32_t>(std::min(4e9, std::exp(9 + 2.5 * normal(i)))); }, Way::kCounted,
       0.7, 1},
      {"2^8 values", [](uint64_t i) { return word(mixed(i) % 256); }, Way::kCounted, 1, 1},
      {"2^12 values", [](uint64_t i) { return word(mixed(i) % 4096); }, Way::kCounted, 0.99, 1},
      {"2^16 values", [](uint64_t i) { return word(mixed(i) % 65536); }, Way::kCounted, 0.05, 0.4},
      {"2^20 values", [](uint64_t i) { return word(mixed(i) % (1 << 20)); }, Way::kCounted, 0, 0.05},
      {"2^24 values", [](uint64_t i) { return word(mixed(i) % (1 << 24)); }, Way::kEven, 0, 0.05},
      {"normal of deviation 1,000",
       [](uint64_t i) { return 0x80000000u + static_cast<uint32_t>(static_cast<int32_t>(1000 * normal(i))); },
       Way::kCounted, 1, 1},
      {"normal of deviation 2^28",
       [](uint64_t i) { return 0x80000000u + static_cast<uint32_t>(static_cast<int32_t>(0x1p28 * normal(i))); },
       Way::kMap, 0.5, 1},
      {"nine tenths zeros", [](uint64_t i) { return mixed(~i) % 10 != 0 ? 0 : word(i); }, Way::kCounted, 0.85, 0.95},
      {"half one value", [](uint64_t i) { return mixed(~i) % 2 != 0 ? 0x12345678u : word(i); }, Way::kCounted, 0.45,
       0.55},
      {"two scales", [](uint64_t i) { return mixed(~i) % 2 != 0 ? 12345678u + word(i) % 65536 : word(i); },
       Way::kCounted, 0.45, 0.55},
      {"floats in [0, 1)", [](uint64_t i) { return ordered(unit(i)); }, Way::kMap, 0.9, 1},
      {"normal floats", [](uint64_t i) { return ordered(normal(i)); }, Way::kMap, 0.9, 1},
      {"prices", [](uint64_t i) { return ordered(std::floor(std::exp(3 + 1.2 * normal(i)) * 100) / 100); },
       Way::kCounted, 0.9, 1},
      {"log-normal floats of deviation 5", [](uint64_t i) { return ordered(std::exp(5 * normal(i))); }, Way::kMap, 0.8,
       1},
  };
}

// As msd_sample_kernel goes about it, of keys drawn at random.
Way way_of(const Keys &keys, uint64_t seed) {
  using Sample = LargeSample;
  std::vector<bool> seen(1u << Sample::kMeetingBits);
  std::vector<uint32_t> coarse(kCoarseBins), sample(Sample::kKeys);
  uint32_t meetings = 0, any = 0, both = ~0u;
  for (uint32_t i = 0; i < Sample::kKeys; ++i) {
    sample[i] = keys.key(mixed(seed + i) >> 36);
    any |= sample[i], both &= sample[i];
    const uint64_t place = mixed(sample[i]) >> (64 - Sample::kMeetingBits);
    meetings += seen[place];
    seen[place] = true;
  }
  uint32_t bits = 0;
  while (bits < 32 && (any ^ both) >> bits != 0) ++bits;
  for (const uint32_t key : sample) ++coarse[key >> (bits > 8 ? bits - 8 : 0) & (kCoarseBins - 1)];
  const bool uneven = *std::max_element(coarse.begin(), coarse.end()) > Sample::kCoarseCountMax;
  if (meetings > Sample::kMeetingsMax) return Way::kCounted;
  return uneven ? Way::kMap : Way::kEven;
}

// Of 2^28 keys, estimated from a part of them, in equal cells of the whole range.
double overfull_share(const Keys &keys) {
  constexpr uint32_t kCellBits = make_plan(uint64_t{1} << 28).cell_bits, kDrawn = 1u << 20;
  std::vector<uint32_t> cells(1u << kCellBits);
  for (uint64_t i = 0; i < kDrawn; ++i) ++cells[keys.key(i << 8 | (mixed(i) & 0xff)) >> (32 - kCellBits)];
  // Of a cell that is as full as a block holds, 36 keys are drawn: twice as many, or seven deviations more, are no
  // chance.
  const uint32_t most = 2 * BlockShape<4>::kFinishKeysMax / 256;
  uint64_t there = 0;
  for (const uint32_t drawn : cells) there += drawn > most ? drawn : 0;
  return static_cast<double>(there) / kDrawn;
}

TEST(PartitionWays, SampleTellsDistributionsApart) {
  for (const Keys &keys : distributions())
    for (uint64_t seed = 0; seed < 4; ++seed) EXPECT_EQ(keys.way, way_of(keys, seed << 32)) << keys.name << ' ' << seed;
}

TEST(PartitionWays, CellsAreAsFullAsIsCountedWith) {
  for (const Keys &keys : distributions()) {
    const double share = overfull_share(keys);
    EXPECT_GE(share, keys.overfull_least) << keys.name;
    EXPECT_LE(share, keys.overfull_most) << keys.name;
  }
}

}  // namespace
}  // namespace gsort_test
