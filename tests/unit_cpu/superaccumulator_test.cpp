// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/superaccumulator.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <random>
#include <vector>

namespace gsort_test {
namespace {

using namespace gsort_internal;

__extension__ typedef __int128 Int128;

double sum_of(const std::vector<double> &x) {
  Superaccumulator sum;
  sum.clear();
  for (const double v : x) sum.add(v);
  return sum.sum();
}

// Rounds value * 2^exponent once, from the definition: the quotient's neighbours are tried.
double rounded(Int128 value, int exponent) {
  const bool negative = value < 0;
  Int128 magnitude = negative ? -value : value;
  int shift = 0;
  while ((magnitude >> shift) >= (Int128{1} << 53)) ++shift;
  if (shift + exponent < -1074) shift = -1074 - exponent;
  if (shift <= 0) return std::ldexp(static_cast<double>(value), exponent);
  const Int128 kept = magnitude >> shift, rest = magnitude - (kept << shift), half = Int128{1} << (shift - 1);
  const Int128 result = kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
  const double positive = std::ldexp(static_cast<double>(result), exponent + shift);
  return negative ? -positive : positive;
}

TEST(Superaccumulator, MatchesIntegersOf128Bits) {
  std::mt19937_64 random(3);
  for (int turn = 0; turn < 200000; ++turn) {
    const int exponent = turn % 4 == 0 ? -1074 : static_cast<int>(random() % 1900) - 1000;
    Int128 total = 0;
    std::vector<double> x;
    for (uint64_t i = 0, count = 1 + random() % 6; i < count; ++i) {
      const int64_t mantissa = static_cast<int64_t>(random() >> (11 + random() % 53)) * ((random() & 1) ? 1 : -1);
      const int up = static_cast<int>(random() % 60);
      total += static_cast<Int128>(mantissa) * (Int128{1} << up);
      x.push_back(std::ldexp(static_cast<double>(mantissa), exponent + up));
    }
    if (total == 0) continue;
    ASSERT_EQ(sum_of(x), rounded(total, exponent)) << "turn " << turn;
  }
}

TEST(Superaccumulator, CancelsOver2000Binades) {
  EXPECT_EQ(sum_of({DBL_MAX, 5e-324, -DBL_MAX}), 5e-324);
  EXPECT_EQ(sum_of({DBL_MAX, DBL_MAX, -DBL_MAX, -5e-324}), DBL_MAX);
  EXPECT_EQ(sum_of({1.0, std::ldexp(1.0, -53)}), 1.0);
  EXPECT_EQ(sum_of({1.0, std::ldexp(1.0, -53), 5e-324}), 1.0 + DBL_EPSILON);
  EXPECT_EQ(sum_of({1.0, DBL_EPSILON, std::ldexp(1.0, -53)}), 1.0 + 2 * DBL_EPSILON);
}

TEST(Superaccumulator, OverflowsOnlyAfterRounding) {
  const double half_step = std::ldexp(1.0, 969);  // half of the spacing at DBL_MAX is 2^970
  EXPECT_EQ(sum_of({DBL_MAX, half_step}), DBL_MAX);
  EXPECT_EQ(sum_of({DBL_MAX, 2 * half_step}), INFINITY);
  EXPECT_EQ(sum_of({-DBL_MAX, -DBL_MAX}), -INFINITY);
  EXPECT_EQ(sum_of({DBL_MAX, 2 * half_step, -5e-324}), DBL_MAX);
}

TEST(Superaccumulator, SpecialsAndZeros) {
  EXPECT_EQ(bits_of_double(sum_of({})), 0u);
  EXPECT_EQ(bits_of_double(sum_of({-0.0, -0.0})), kDoubleSign);
  EXPECT_EQ(bits_of_double(sum_of({-0.0, 0.0})), 0u);
  EXPECT_EQ(bits_of_double(sum_of({1.5, -1.5})), 0u);
  EXPECT_EQ(sum_of({1, INFINITY}), INFINITY);
  EXPECT_EQ(sum_of({-INFINITY, DBL_MAX}), -INFINITY);
  EXPECT_EQ(bits_of_double(sum_of({INFINITY, -INFINITY})), kDoubleQuietNan);
  EXPECT_EQ(bits_of_double(sum_of({-NAN, 1.0})), kDoubleQuietNan);
}

TEST(Superaccumulator, PartsMergeToTheSameBits) {
  std::mt19937_64 random(4);
  Superaccumulator whole, parts[3];
  whole.clear();
  for (Superaccumulator &part : parts) part.clear();
  for (int i = 0; i < 30000; ++i) {
    const double x = double_of_bits(random() & ~(uint64_t{1} << 62));  // all magnitudes below 2
    whole.add(x);
    parts[i % 3].add(x);
  }
  parts[1].add(parts[2]);
  parts[0].add(parts[1]);
  EXPECT_EQ(parts[0].count(), 30000u);
  EXPECT_EQ(bits_of_double(parts[0].sum()), bits_of_double(whole.sum()));
}

// Whether q is the double nearest to total / n (n * q is compared exactly with the neighbours' middles).
bool is_nearest_quotient(double q, Int128 total, uint64_t n) {
  Superaccumulator difference;
  for (const double toward : {INFINITY, -INFINITY}) {
    const double next = std::nextafter(q, toward);
    // 2 * total against n * (q + next), n split so that products are exact
    difference.clear();
    const Int128 twice = 2 * total;
    difference.add_int128(static_cast<int64_t>(twice >> 64), static_cast<uint64_t>(twice));
    for (uint64_t bit = 0; bit < 64; ++bit) {
      if (!((n >> bit) & 1)) continue;
      difference.add_part(-std::ldexp(q, static_cast<int>(bit)));
      difference.add_part(-std::ldexp(next, static_cast<int>(bit)));
    }
    difference.note(kSumNotMinus0, 1);
    const double sign = difference.sum();
    const bool even = (bits_of_double(q) & 1) == 0;
    if (toward > 0 ? sign > 0 : sign < 0) return false;
    if (sign == 0 && !even) return false;
  }
  return true;
}

TEST(Superaccumulator, MeanOfIntegersIsRoundedOnce) {
  std::mt19937_64 random(5);
  for (int turn = 0; turn < 20000; ++turn) {
    Int128 total =
        static_cast<Int128>(static_cast<int64_t>(random()) >> (random() % 64)) * (Int128{1} << (random() % 60));
    total += static_cast<int64_t>(random() % 1000);
    const uint64_t n = turn % 5 == 0 ? uint64_t{1} << (random() % 64) : 1 + (random() >> (random() % 64));
    if (total == 0) continue;
    Superaccumulator sum;
    sum.clear();
    sum.note(kSumNotMinus0, 1);
    sum.add_int128(static_cast<int64_t>(total >> 64), static_cast<uint64_t>(total));
    ASSERT_TRUE(is_nearest_quotient(sum.mean(n), total, n)) << "turn " << turn << " n " << n;
  }
}

TEST(Superaccumulator, MeanOfTinyAndHuge) {
  Superaccumulator sum;
  sum.clear();
  sum.add(5e-324);
  EXPECT_EQ(sum.mean(2), 0.0);  // a tie, to even
  sum.clear();
  for (int i = 0; i < 3; ++i) sum.add(-5e-324);
  EXPECT_EQ(sum.mean(2), -2 * 5e-324);
  sum.clear();
  for (int i = 0; i < 8; ++i) sum.add(DBL_MAX);
  EXPECT_EQ(sum.mean(8), DBL_MAX);
  sum.clear();
  EXPECT_TRUE(std::isnan(sum.mean(0)));
}

}  // namespace
}  // namespace gsort_test
