// SPDX-License-Identifier: MIT OR Apache-2.0
// The MSD sort of keys alone: it sorts exactly or says that it did not, whatever the data, and never writes elsewhere.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "cuda/sort/msd/msd.h"
#include "cuda/sort/msd/plan.h"
#include "launch_harness.h"
#include "msd_support.h"

namespace gsort_internal::sort::msd {
namespace {

using gsort_test::all_poison;
using gsort_test::bits_of;
using gsort_test::device_facts;
using gsort_test::DeviceArray;
using gsort_test::How;
using gsort_test::in_order;
using gsort_test::make_keys;
using gsort_test::mixed;
using gsort_test::normal;
using gsort_test::quiet;
using gsort_test::run;
using gsort_test::unit;

constexpr uint64_t kOnePass = uint64_t{1} << 20, kTwoPasses = 5000003;

class Msd : public gsort_test::MsdTest {};

bool map_fits(uint64_t n) { return device_facts().shared_bytes_block_max >= histogram_bytes(make_plan(n)) + 1024; }

TEST_F(Msd, EvenKeysAreSortedAtEverySize) {
  for (const uint64_t n : {kItemsMin, kItemsMin + 1, kOnePass - 1, kOnePass, uint64_t{kCellKeysMean} << 9,
                           (uint64_t{kCellKeysMean} << 9) + 1}) {
    EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(n, mixed), {})) << n;
    EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(n, mixed), {})) << n;
  }
  EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(kSmallSampleItemsMax + 1, mixed), {}));
}

// As many cells of 4-byte keys as it takes, in ranges of some bits, one of which has a value a cell.
TEST_F(Msd, CellsOfAnyNumber) {
  for (const uint64_t n : {kTwoPasses, uint64_t{6100000}, uint64_t{7777777}, uint64_t{8000000}})
    for (const uint32_t bits : {32, 31, 27, 24, 22}) {
      ASSERT_NE(0u, make_plan(n).narrow_cells & (make_plan(n).narrow_cells - 1));
      EXPECT_TRUE(run<uint32_t>(
          make_keys<uint32_t>(n, [&](uint64_t i) { return 0x55555555u >> bits << bits ^ mixed(i) >> (64 - bits); }),
          {}))
          << n << ' ' << bits;
    }
}

// As many cells as hundreds of millions of keys take: counted by groups of blocks, and moved by the most bins.
TEST_F(Msd, ManyCells) {
  How how;
  for (how.cell_bits = kCountedBits; how.cell_bits <= kCellBitsMax; ++how.cell_bits) {
    EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(kTwoPasses, mixed), how)) << how.cell_bits;
    EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(kTwoPasses, mixed), how)) << how.cell_bits;
    std::vector<uint32_t> keys = make_keys<uint32_t>(kTwoPasses, [](uint64_t i) { return mixed(i) >> 33; });
    keys[kTwoPasses - 7] |= 0x80000000u;
    EXPECT_FALSE(run<uint32_t>(keys, how)) << how.cell_bits;
  }
}

TEST_F(Msd, StandsAsideWhereTheKeysAreSortedAlready) {
  const std::vector<uint32_t> keys = make_keys<uint32_t>(kOnePass, mixed);
  const KeyCodec<uint32_t> codec = make_codec<uint32_t>({GSORT_U32, false, false});
  for (const uint32_t done : {0u, 1u, 5u}) {
    const DeviceArray in(keys, 0), word(std::vector<uint32_t>{done}, 0);
    const Plan plan = make_plan_on(kOnePass, device_facts().shared_bytes_block_max);
    const DeviceArray out(kOnePass * 4, 0), scratch(kOnePass * 4, 0), tables(tables_bytes(plan, {}, 4), 0);
    const uint32_t *const sorted = launch<uint32_t>(context(), {in.as<uint32_t>(),
                                                                out.as<uint32_t>(),
                                                                scratch.as<uint32_t>(),
                                                                kOnePass,
                                                                codec,
                                                                tables.data(),
                                                                plan,
                                                                {},
                                                                word.as<uint32_t>(),
                                                                false});
    uint32_t answer = 0;
    EXPECT_EQ(cudaMemcpy(&answer, sorted, sizeof(answer), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_NE(answer, 0u);
    EXPECT_TRUE(in.read_as<uint32_t>() == keys);
    EXPECT_TRUE(word.read_as<uint32_t>() == std::vector<uint32_t>{done});
    const std::vector<uint32_t> after = out.read_as<uint32_t>();
    if (done == 0)
      EXPECT_TRUE(after == in_order(keys, codec));
    else
      EXPECT_TRUE(all_poison(after)) << "written";
  }
}

// Smooth data of uneven density, which the map serves where the chip has the shared memory for it.
TEST_F(Msd, SmoothUnevenKeys) {
  const uint64_t n = (uint64_t{1} << 24) + 12345;
  How how;
  how.order = {GSORT_F32, false, false};
  how.offset = 1;
  const auto uniform = [](uint64_t i) { return bits_of<uint32_t>(static_cast<float>(unit(i))); };
  EXPECT_EQ(run<uint32_t>(make_keys<uint32_t>(n, uniform), how), map_fits(n));
  how.in_place = true;
  const auto exponential = [](uint64_t i) { return bits_of<uint32_t>(static_cast<float>(-std::log(1 - unit(i)))); };
  how.order.descending = true;
  EXPECT_EQ(run<uint32_t>(make_keys<uint32_t>(n, exponential), how), map_fits(n));
  const auto bell = [](uint64_t i) { return bits_of<uint32_t>(static_cast<float>(normal(i))); };
  EXPECT_EQ(run<uint32_t>(make_keys<uint32_t>(2 * n, bell), how), map_fits(2 * n));
  how.order = {GSORT_I32, false, false};
  const auto integer = [](uint64_t i) { return static_cast<uint64_t>(static_cast<int64_t>(normal(i) * 0x1p27)); };
  run<uint32_t>(make_keys<uint32_t>(n, integer), how);  // the map has too few cells for so many entries: either way
  how.order = {GSORT_U32, false, false};
  EXPECT_EQ(run<uint32_t>(make_keys<uint32_t>(2 * n, [](uint64_t i) { return mixed(i) % 600000000; }), how),
            map_fits(2 * n));
  how.order = {GSORT_F64, false, false};
  EXPECT_EQ(run<uint64_t>(make_keys<uint64_t>(n, [](uint64_t i) { return bits_of<uint64_t>(unit(i)); }), how),
            map_fits(n));
  // A 2nd of the keys in the first 256th, a 4th in the next, and so on.
  const auto halving = [](uint64_t i) { return uint64_t(__builtin_clzll(mixed(~i) | 1)) << 56 | mixed(i) >> 8; };
  EXPECT_EQ(run<uint64_t>(make_keys<uint64_t>(n, halving), how), map_fits(n));
}

// Thousands of entries of the map with few sampled keys each, some of which stand for far more keys than they say.
TEST_F(Msd, TailsOfABell) {
  const uint64_t n = uint64_t{1} << 27;
  How how;
  how.order = {GSORT_I32, false, false};
  for (const uint64_t seed : {1, 2}) {
    const auto integer = [&](uint64_t i) {
      return static_cast<uint64_t>(static_cast<int64_t>(normal(seed * n + i) * 0x1p28));
    };
    EXPECT_EQ(run<uint32_t>(make_keys<uint32_t>(n, integer), how), map_fits(n)) << "seed " << seed;
  }
}

// Keys in parts of the range where no sample was, below and above and between those of the others.
TEST_F(Msd, KeysWhereTheMapHasNone) {
  const uint64_t n = (uint64_t{1} << 25) + 999;
  const auto two_parts = [](uint64_t i) { return 0x20000000 + (mixed(i) % 0x10000000 | (i % 2) << 30); };
  std::vector<uint32_t> keys = make_keys<uint32_t>(n, two_parts);
  std::vector<uint64_t> wide = make_keys<uint64_t>(n, [&](uint64_t i) { return two_parts(i) << 32 | mixed(~i) >> 32; });
  for (uint64_t i = 0; i < 600; ++i) {
    keys[mixed(i) % n] = static_cast<uint32_t>(mixed(i + 1000));
    wide[mixed(i) % n] = mixed(i + 1000);
  }
  EXPECT_EQ(run<uint32_t>(keys, {}), map_fits(n));
  EXPECT_EQ(run<uint64_t>(wide, {}), map_fits(n));
}

TEST_F(Msd, InPlaceAndAtOddAddresses) {
  for (const uint64_t n : {kOnePass + 7, kTwoPasses}) {
    const std::vector<uint32_t> narrow = make_keys<uint32_t>(n, mixed);
    const std::vector<uint64_t> wide = make_keys<uint64_t>(n, mixed);
    for (const uint64_t offset : {0, 1, 3})
      for (const bool in_place : {false, true}) {
        How how;
        how.in_place = in_place;
        how.offset = offset;
        EXPECT_TRUE(run<uint32_t>(narrow, how)) << n << ' ' << offset;
        if (offset != 1) EXPECT_TRUE(run<uint64_t>(wide, how)) << n << ' ' << offset;
      }
  }
}

TEST_F(Msd, EveryOrder) {
  // All bit patterns of floats, NaNs too.
  const std::vector<uint32_t> keys = make_keys<uint32_t>(kOnePass, mixed);
  for (const bool descending : {false, true})
    for (const bool nan_last : {false, true})
      for (const gsort_dtype type : {GSORT_U32, GSORT_I32, GSORT_F32}) {
        How how;
        how.order = {type, descending, nan_last};
        EXPECT_TRUE(run<uint32_t>(keys, how));
      }
  How how;
  how.order = {GSORT_F64, true, true};
  EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(kTwoPasses, mixed), how));
}

TEST_F(Msd, RangesAnywhereInTheWord) {
  for (const uint32_t bits : {20, 24, 29, 31})
    for (const uint32_t low : {0, 1}) {
      const auto key = [&](uint64_t i) {
        return uint64_t{0x40000000} ^ (mixed(i) >> (64 - bits) << (low ? 32 - bits : 0));
      };
      run<uint32_t>(make_keys<uint32_t>(kOnePass, key), {});
      run<uint32_t>(make_keys<uint32_t>(kTwoPasses, key), {});
    }
  EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(kTwoPasses, [](uint64_t i) { return mixed(i) >> 32; }), {}));
  EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(kTwoPasses, [](uint64_t i) { return mixed(i) << 32 | 5; }), {}));
}

// The i-th of n keys, in groups of `group` that differ in their lowest bits alone; groups stand at equal distances, or
// twice as close in the upper part of a narrower range.
uint64_t grouped(uint64_t i, uint64_t n, uint64_t group, uint32_t low_bits, bool uneven) {
  const uint64_t distance = (uint64_t{1} << 63) / (n / group + 1);
  uint64_t base = i * 7919 % n / group * distance;
  if (!uneven) base *= 2;
  if (uneven && base >= uint64_t{1} << 62) base = (uint64_t{1} << 63) + (base - (uint64_t{1} << 62)) / 2;
  if (uneven) base >>= 4;
  return (base >> low_bits << low_bits) | mixed(~i) >> (64 - low_bits);
}

// Groups of keys that share a digit of the finish, around every limit of the ways to put them in order: different keys,
// and equal ones.
TEST_F(Msd, CrowdedDigits) {
  const auto narrow = [](uint64_t n, uint64_t group, uint32_t low_bits, bool uneven) {
    return make_keys<uint32_t>(n, [&](uint64_t i) { return grouped(i, n, group, 32 + low_bits, uneven) >> 32; });
  };
  for (const uint64_t group : {2, 8, 9, 32, 33, 200, 1024, 1025, 2000, 8000}) {
    EXPECT_TRUE(run<uint32_t>(narrow(kOnePass, group, 11, false), {}) || group > 2000) << group;
    EXPECT_TRUE(
        run<uint64_t>(make_keys<uint64_t>(kOnePass, [&](uint64_t i) { return grouped(i, kOnePass, group, 40, false); }),
                      {}) ||
        group > 2000)
        << group;
    const auto equal = [&](uint64_t i) { return grouped(i, kOnePass, group, 1, false) | 1; };
    run<uint64_t>(make_keys<uint64_t>(kOnePass, equal), {});
    run<uint32_t>(make_keys<uint32_t>(kOnePass, [&](uint64_t i) { return equal(i) >> 32; }), {});
  }
  const uint64_t n = uint64_t{1} << 23;
  for (const uint64_t group : {3, 20, 700}) {
    run<uint32_t>(narrow(n, group, 9, false), {});
    EXPECT_EQ(run<uint32_t>(narrow(2 * n, group, 8, true), {}), map_fits(2 * n)) << group;
    run<uint64_t>(make_keys<uint64_t>(n, [&](uint64_t i) { return grouped(i, n, group, 38, true); }), {});
  }
}

// Small enough for compute-sanitizer's racecheck over the finish: see scripts/gpu-check. Every way to order a digit's
// keys, the radix passes of a whole cell among them.
TEST_F(Msd, RacecheckCrowdedDigits) {
  for (const uint64_t group : {20, 200, 400}) {
    const auto key = [&](uint64_t i) { return grouped(i, kItemsMin, group, 42, false); };
    EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(kItemsMin, [&](uint64_t i) { return key(i) >> 32; }), {})) << group;
    EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(kItemsMin, key), {})) << group;
  }
}

// A cell of exactly as many keys as the finish holds, among others that are even; one key more is for another kernel
// or, where the chip cannot run it, turns the sort away.
TEST_F(Msd, FullestCell) {
  const uint64_t n = kTwoPasses, most = BlockShape<4>::kFinishKeysMax;
  How how;
  how.cell_bits = make_plan(n).cell_bits;  // as many cells
  const uint32_t cell_shift = 32 - how.cell_bits;
  for (const uint64_t cell_keys : {most, most + 1}) {
    const uint64_t cell = 77;
    std::vector<uint32_t> keys = make_keys<uint32_t>(n, mixed);
    uint64_t there = 0;
    for (const uint32_t key : keys) there += key >> cell_shift == cell;
    for (uint64_t i = 0; there < cell_keys; i += 97)
      if (keys[i % n] >> cell_shift != cell) {
        keys[i % n] = static_cast<uint32_t>(cell << cell_shift | mixed(i) >> (64 - cell_shift));
        ++there;
      }
    const bool taken = make_plan_on(n, device_facts().shared_bytes_block_max).takes_crowds;
    EXPECT_EQ(run<uint32_t>(keys, how), cell_keys == most || taken);
  }
}

template <class Key>
void expect_away(const Key &key) {
  for (const bool in_place : {false, true}) {
    How how;
    how.in_place = in_place;
    EXPECT_FALSE(run<uint32_t>(make_keys<uint32_t>(kOnePass, key), how));
    EXPECT_FALSE(run<uint64_t>(make_keys<uint64_t>(kTwoPasses, key), how));
  }
}

TEST_F(Msd, DataForAnotherMethodIsLeftAlone) {
  expect_away([](uint64_t) { return 42; });
  expect_away([](uint64_t i) { return i % 2; });
  expect_away([](uint64_t i) { return mixed(i) % 1000; });
  expect_away([](uint64_t i) { return i == 12345 ? uint64_t{1} << 31 : mixed(i) >> 60; });
  // One full cell among empty ones.
  expect_away([](uint64_t i) { return i % 64 == 0 ? mixed(i) : (mixed(i) & 0x00ffffff) | 0x33000000; });
  // Values that repeat with a period that a sample at regular distances would never meet twice.
  expect_away([](uint64_t i) { return (i & 0xfff) << 20; });
}

// Single keys with another prefix than all others, most of which no sample sees: those that it sees may be the map's.
TEST_F(Msd, ForeignPrefix) {
  for (const uint64_t n : {kOnePass, kTwoPasses}) {
    const bool taken = make_plan_on(n, device_facts().shared_bytes_block_max).takes_crowds;
    std::vector<uint32_t> keys = make_keys<uint32_t>(n, [](uint64_t i) { return mixed(i) & 0x7fffffff; });
    for (const uint64_t place : {uint64_t{0}, uint64_t{1}, n / 2, n - 1, uint64_t{31337}}) {
      keys[place] |= 0x80000000u;
      EXPECT_TRUE(!run<uint32_t>(keys, {}) || (taken && place < 4)) << n << ' ' << place;
      keys[place] &= 0x7fffffffu;
    }
  }
}

// Neighbours of such keys fall in one bin.
TEST_F(Msd, KeysInAnOrderAlready) {
  const uint64_t n = kTwoPasses, uneven = uint64_t{1} << 24;
  const auto ascending = [&](uint64_t i) { return i * (~uint64_t{0} / n); };
  const auto nearly = [&](uint64_t i) { return i % 100 == 0 ? mixed(i) : ascending(i); };
  const auto pipe = [&](uint64_t i) { return ascending(i < n / 2 ? 2 * i : 2 * (n - 1 - i) + 1); };
  const auto stairs = [&](uint64_t i) { return (ascending(i) >> 60 << 60) | mixed(i) >> 4; };
  const auto check = [&](const auto &key) {
    EXPECT_TRUE(run<uint64_t>(make_keys<uint64_t>(n, key), {}));
    EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(n, [&](uint64_t i) { return key(i) >> 32; }), {}));
  };
  check(ascending);
  check([&](uint64_t i) { return ascending(n - 1 - i); });
  check(nearly);
  check(pipe);
  check(stairs);
  How how;
  how.order = {GSORT_F32, false, false};
  EXPECT_EQ(
      run<uint32_t>(make_keys<uint32_t>(uneven,
                                        [&](uint64_t i) {
                                          return bits_of<uint32_t>(static_cast<float>(i) / static_cast<float>(uneven));
                                        }),
                    how),
      map_fits(uneven));
}

TEST_F(Msd, Repeated) {
  for (uint64_t repeat = 0; repeat < 20; ++repeat)
    EXPECT_TRUE(
        run<uint32_t>(make_keys<uint32_t>(kOnePass, [&](uint64_t i) { return mixed(i + repeat * kOnePass); }), {}));
}

}  // namespace
}  // namespace gsort_internal::sort::msd
