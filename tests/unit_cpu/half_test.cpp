// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace gsort_test {
namespace {

using namespace gsort_internal;

// The value from the definition of the format.
double value_of(uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1), bias = (1 << (exponent_bits - 1)) - 1;
  const double fraction = bits & ((1 << mantissa_bits) - 1), one = 1 << mantissa_bits;
  const double sign = (bits & 0x8000) ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? NAN : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias - mantissa_bits)
                       : sign * std::ldexp(one + fraction, exponent - bias - mantissa_bits);
}

template <class Format>
void check_format(int exponent_bits, int mantissa_bits) {
  for (uint32_t i = 0; i < 65536; ++i) {
    const uint16_t bits = static_cast<uint16_t>(i);
    const double wanted = value_of(bits, exponent_bits, mantissa_bits), got = Format::to_double(bits);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(got)) << i;
      ASSERT_EQ(Format::from_double(got), Format::kQuietNan) << i;
      continue;
    }
    ASSERT_EQ(got, wanted) << i;
    ASSERT_EQ(std::signbit(got), std::signbit(wanted)) << i;
    ASSERT_EQ(Format::from_double(wanted), bits) << i;
  }
}

// Between two neighbours the middle goes to the even one, and the doubles beside it to the nearer one.
template <class Format>
void check_rounding(double past_greatest) {
  for (uint32_t i = 0; i < Format::kInfinity; ++i) {
    const uint16_t low = static_cast<uint16_t>(i), high = static_cast<uint16_t>(i + 1);
    const double upper = high == Format::kInfinity ? past_greatest : Format::to_double(high);
    const double middle = (Format::to_double(low) + upper) / 2;
    ASSERT_EQ(Format::from_double(middle), (i & 1) ? high : low) << i;
    ASSERT_EQ(Format::from_double(std::nextafter(middle, 0.0)), low) << i;
    ASSERT_EQ(Format::from_double(std::nextafter(middle, INFINITY)), high) << i;
    ASSERT_EQ(Format::from_double(-std::nextafter(middle, INFINITY)), high | 0x8000) << i;
  }
}

TEST(Half, EveryValueThereAndBack) { check_format<Half>(5, 10); }
TEST(Half, RoundsOnceToNearestEven) { check_rounding<Half>(65536.0); }
TEST(BFloat16, EveryValueThereAndBack) { check_format<BFloat16>(8, 7); }
TEST(BFloat16, RoundsOnceToNearestEven) { check_rounding<BFloat16>(std::ldexp(1.0, 128)); }

TEST(Half, TinyAndHugeDoubles) {
  EXPECT_EQ(Half::from_double(5e-324), 0);
  EXPECT_EQ(Half::from_double(-5e-324), 0x8000);
  EXPECT_EQ(Half::from_double(1e308), Half::kInfinity);
  EXPECT_EQ(BFloat16::from_double(5e-324), 0);
  EXPECT_EQ(BFloat16::from_double(-1e308), BFloat16::kInfinity | 0x8000);
}

}  // namespace
}  // namespace gsort_test
