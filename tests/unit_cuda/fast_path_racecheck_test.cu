// SPDX-License-Identifier: MIT OR Apache-2.0
// The fast path on so few keys and blocks that compute-sanitizer's racecheck, which takes some hundred times as long as
// the kernel, comes to an end: every kind of work that its blocks do in shared memory, once.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cuda/sort/fast_path/plan.h"
#include "fast_path_fixture.h"

namespace gsort_internal {
namespace {

constexpr uint64_t kFew = 9001;      // some chunks, which warps take
constexpr uint32_t kFewBlocks = 2;   // which wait for each other
constexpr uint64_t kFewValues = 40;  // each of them met by the sample

Words of_values(uint64_t n, uint32_t bytes, uint64_t count, uint64_t seed) {
  const Words values = random_words(count, bytes, seed);
  Words words = random_words(n, 8, seed + 1);
  for (uint64_t &word : words) word = values[word % count];
  return words;
}

class FastPathOnFewKeys : public FastPath {};

// One for each width.
constexpr KeyOrder kTwoOrders[] = {{GSORT_U32, false, false}, {GSORT_F64, true, true}};

TEST_F(FastPathOnFewKeys, RacecheckKeysAlone) {
  for (const KeyOrder &order : kTwoOrders)
    for (const bool in_place : {false, true}) {
      const uint32_t bytes = dtype_bytes(order.dtype);
      How how;
      how.order = order;
      how.in_place = in_place;
      how.multiprocessors = kFewBlocks;
      SCOPED_TRACE(describe(how, kFew));
      ASSERT_TRUE(run(ordered_words(kFew, order, 1, false), how));
      ASSERT_TRUE(run(ordered_words(kFew, order, 2, true), how));
      ASSERT_TRUE(run(masked_words(kFew, bytes, 0xff00, 3), how));
      ASSERT_EQ(run(of_values(kFew, bytes, kFewValues, 4), how), bits_max(how) == 16);
      ASSERT_FALSE(run(random_words(kFew, bytes, 5), how));
    }
}

TEST_F(FastPathOnFewKeys, RacecheckValues) {
  for (const KeyOrder &order : kTwoOrders)
    for (const Values values : {Values::kTravel, Values::kIndices}) {
      const uint32_t bytes = dtype_bytes(order.dtype);
      How how;
      how.order = order;
      how.values = values;
      how.value_bytes = order.dtype == GSORT_U32 ? 4 : 8;
      how.multiprocessors = kFewBlocks;
      SCOPED_TRACE(describe(how, kFew));
      Words turned = ordered_words(kFew, order, 6, true);
      ASSERT_TRUE(run(turned, how));
      ASSERT_GE(put_equal_runs(turned, 12, 2), 20u);  // some over borders of rows
      ASSERT_TRUE(run(turned, how));
      ASSERT_FALSE(left_values_);
      ASSERT_TRUE(run(ordered_words(kFew, order, 7, false), how));
      ASSERT_EQ(run(of_values(kFew, bytes, kFewValues, 9), how), bits_max(how) == 16);
      ASSERT_EQ(left_values_, bits_max(how) == 16);
      how.values_in_place = values == Values::kTravel;
      ASSERT_EQ(run(of_values(kFew, bytes, 200, 10), how), bits_max(how) == 16);
    }
}

// Runs of equal keys among descending ones that lie in many rows.
TEST_F(FastPathOnFewKeys, RacecheckManyEqualKeys) {
  const uint64_t n = 1000 * sort::fast_path::kSamples + 11;
  Words keys(n);
  for (uint64_t i = 0; i < n; ++i) keys[i] = n - i;
  ASSERT_GE(put_equal_runs(keys, sort::fast_path::kEqualMax, 1), 20u);
  How how;
  how.values = Values::kTravel;
  how.multiprocessors = kFewBlocks;
  ASSERT_TRUE(run(keys, how));
}

// Counters of 16 bits that overflow, one by one and two neighbours.
TEST_F(FastPathOnFewKeys, RacecheckCountersOverflow) {
  const uint64_t n = 80003;
  for (const uint64_t hot : {0, 1, 3}) {
    Words keys = masked_words(n, 4, 0xffff, hot);
    for (uint64_t i = 0; i < n; ++i)
      if (i % 16 != 0) keys[i] = (keys[i] & ~uint64_t{0xffff}) | (hot == 3 ? 0x1234 + i / 7 % 2 : 0x1233 + hot);
    How how;
    how.multiprocessors = 1;
    ASSERT_EQ(run(keys, how), bits_max(how) == 16) << hot;
  }
}

}  // namespace
}  // namespace gsort_internal
