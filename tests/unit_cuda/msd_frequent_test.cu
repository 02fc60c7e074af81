// SPDX-License-Identifier: MIT OR Apache-2.0
// The MSD sort of 4-byte keys of which many have the same value: these are not moved, and are right wherever they lie
// among the others.
#include <cmath>
#include <cstdint>
#include <vector>

#include "msd_support.h"

namespace gsort_internal::sort::msd {
namespace {

using gsort_test::bits_of;
using gsort_test::make_keys;
using gsort_test::mixed;
using gsort_test::normal;
using gsort_test::run;

// More than those of which maps have few cells, which lumps turn away.
constexpr uint64_t kKeys = 36000001;

class MsdFrequent : public gsort_test::MsdTest {
 protected:
  MsdFrequent() : MsdTest(kFrequentSharedBytes) {
    how_.frequent_min = 0;
    how_.state = &state_;
  }
  // Sorts the keys and returns how many values were frequent.
  template <class Key>
  uint32_t frequent(const Key &key, uint64_t n = kKeys) {
    state_ = {};
    EXPECT_TRUE(run<uint32_t>(make_keys<uint32_t>(n, key), how_));
    return state_.frequent;
  }

  State<uint32_t> state_ = {};
};

// A percentage of the keys.
bool one_of(uint64_t i, uint64_t percent) { return mixed(~i) % 100 < percent; }

TEST_F(MsdFrequent, OneValueAmongMany) {
  for (const uint32_t value : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 123456789u})
    EXPECT_EQ(frequent([&](uint64_t i) { return one_of(i, 90) ? value : mixed(i); }), 1u) << value;
  // What stands for no key in the sample's table.
  EXPECT_EQ(frequent([&](uint64_t i) { return one_of(i, 50) ? ~uint64_t{0} : mixed(i); }), 0u);
  // Too few to be worth a look at every key.
  EXPECT_EQ(frequent([&](uint64_t i) { return one_of(i, 5) ? 99 : mixed(i) % 4194304 * 1023; }), 0u);
}

TEST_F(MsdFrequent, ManyValues) {
  const auto some = [](uint64_t values) { return [=](uint64_t i) { return mixed(mixed(i) % values); }; };
  EXPECT_GT(frequent(some(256)), 250u);
  EXPECT_GT(frequent(some(900)), 600u);
  // More than are listed.
  EXPECT_LE(frequent(some(3000)), kFrequentMax);
  EXPECT_GT(frequent([](uint64_t i) { return mixed(mixed(i) % (uint64_t{1} << mixed(~i) % 24)); }), 50u);
}

// Of a cell with several such values one is taken; the others are moved.
TEST_F(MsdFrequent, NeighboursOfEachOther) {
  for (const uint64_t step : {1, 3, 1000, 100000})
    for (const uint64_t values : {2, 9, 100}) {
      const uint32_t taken =
          frequent([&](uint64_t i) { return one_of(i, 70) ? 5000000 + mixed(i) % values * step : mixed(i); });
      EXPECT_LE(taken, values);
      if (step == 100000) EXPECT_GE(taken, values == 100 ? 50 : values);
    }
  // One by far the most frequent, and some keys that differ in all bytes.
  EXPECT_GE(frequent([](uint64_t i) { return one_of(i, 90) ? 77 : i % 50 == 0 ? mixed(i) : mixed(i) % 200; }), 1u);
}

// The other keys of the cell are more than the finish takes: sorted by a block, or counted by their values.
TEST_F(MsdFrequent, AmongCrowds) {
  for (const uint64_t width : {1000, 20000, 120000, 4000000})
    for (const uint64_t percent : {10, 40})
      frequent([&](uint64_t i) {
        const uint64_t middle = 0x40000000;
        return one_of(i, 30) ? middle : one_of(i + 1, percent) ? middle - width / 3 + mixed(i) % width : mixed(i);
      });
}

// Lesser and greater keys of the same cell, or only one of these, or none.
TEST_F(MsdFrequent, AtTheEndsOfCells) {
  const auto beside = [](uint64_t low, uint64_t high) {
    return [=](uint64_t i) {
      const uint64_t value = mixed(mixed(i) % 300);
      return one_of(i, 50) ? value : value - low + mixed(i + 7) % (low + high + 1);
    };
  };
  for (const uint64_t low : {0, 1, 50})
    for (const uint64_t high : {0, 1, 50}) frequent(beside(low, high));
}

TEST_F(MsdFrequent, EveryOrderAndPlace) {
  const auto word = [](uint64_t i) {
    const uint32_t special[] = {0u, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00001u, 0xffc00001u, 0x3f800000u};
    return one_of(i, 60) ? special[mixed(i) % 7] : bits_of<uint32_t>(static_cast<float>(normal(i)));
  };
  for (const gsort_dtype dtype : {GSORT_U32, GSORT_I32, GSORT_F32})
    for (const bool descending : {false, true})
      for (const bool nan_last : {false, true}) {
        if (nan_last && dtype != GSORT_F32) continue;
        how_.order = {dtype, descending, nan_last};
        how_.in_place = descending;
        how_.offset = descending ? 3 : 1;
        EXPECT_GE(frequent(word), 1u);
      }
}

// Sizes at which pieces end, and no key is left to move.
TEST_F(MsdFrequent, Sizes) {
  for (const uint64_t n : {kKeys, kKeys + kRunPiece / 2, uint64_t{1} << 26, (uint64_t{1} << 26) + 1}) {
    EXPECT_GE(frequent([](uint64_t i) { return mixed(mixed(i) % 16); }, n), 1u);
    EXPECT_GE(frequent([](uint64_t i) { return i % 1000 == 0 ? mixed(i) : 4242424242; }, n), 1u);
  }
}

// Usual plans look for frequent values of more keys alone.
TEST_F(MsdFrequent, NotAmongFewKeys) {
  how_.frequent_min = kFrequentItemsMin;
  EXPECT_EQ(frequent([](uint64_t i) { return one_of(i, 90) ? 0 : mixed(i); }), 0u);
  EXPECT_EQ(frequent([](uint64_t i) { return one_of(i, 90) ? 0 : mixed(i); }, kFrequentItemsMin), 1u);
}

TEST_F(MsdFrequent, Repeated) {
  for (uint64_t repeat = 0; repeat < 5; ++repeat)
    EXPECT_GT(frequent([&](uint64_t i) { return mixed(mixed(i + repeat * kKeys) % 500); }), 300u);
}

}  // namespace
}  // namespace gsort_internal::sort::msd
