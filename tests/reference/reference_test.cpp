// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference itself against cases worked out by hand, and against arithmetic of the compiler's where that is exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "inputs/distributions.h"
#include "reference/float_scan.h"
#include "reference/sorting.h"
#include "reference/sums.h"
#include "support/run.h"

namespace gsort_test {
namespace {

uint64_t bits(double value) { return load_bits(&value, 8); }
uint64_t bits(float value) { return load_bits(&value, 4); }
double from_bits(uint64_t raw) {
  double value;
  std::memcpy(&value, &raw, 8);
  return value;
}

TEST(Order, FloatsInTotalOrder) {
  // -NaN (large payload first), -inf, -1, -least, -0, +0, least, 1, +inf, NaN (small payload first)
  const std::vector<uint32_t> ordered = {0xffffffffu, 0xffc00000u, 0xff800001u, 0xff800000u, 0xbf800000u,
                                         0x80000001u, 0x80000000u, 0x00000000u, 0x00000001u, 0x3f800000u,
                                         0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu};
  std::vector<uint32_t> mixed = ordered;
  std::reverse(mixed.begin(), mixed.end());
  std::swap(mixed[2], mixed[9]);
  const Array keys = make_array(GSORT_F32, mixed);
  EXPECT_TRUE(same_elements(make_array(GSORT_F32, ordered), reference_sort(keys, 0)));
  std::vector<uint32_t> descending = ordered;
  std::reverse(descending.begin(), descending.end());
  EXPECT_TRUE(same_elements(make_array(GSORT_F32, descending), reference_sort(keys, GSORT_DESCENDING)));
}

TEST(Order, NansLast) {
  const Array keys = make_array(GSORT_F16, std::vector<uint16_t>{0xffff, 0x7c01, 0x3c00, 0xfc01, 0xbc00, 0x7e00});
  const Array ascending = make_array(GSORT_F16, std::vector<uint16_t>{0xbc00, 0x3c00, 0x7c01, 0x7e00, 0xfc01, 0xffff});
  const Array descending = make_array(GSORT_F16, std::vector<uint16_t>{0x3c00, 0xbc00, 0x7c01, 0x7e00, 0xfc01, 0xffff});
  EXPECT_TRUE(same_elements(ascending, reference_sort(keys, GSORT_NAN_LAST)));
  EXPECT_TRUE(same_elements(descending, reference_sort(keys, GSORT_NAN_LAST | GSORT_DESCENDING)));
}

TEST(Order, IntegersByValue) {
  const std::vector<int8_t> values = {5, -128, 127, 0, -1};
  EXPECT_TRUE(same_elements(make_array(GSORT_I8, std::vector<int8_t>{-128, -1, 0, 5, 127}),
                            reference_sort(make_array(GSORT_I8, values), GSORT_NAN_LAST)));
  const std::vector<uint64_t> large = {1, UINT64_MAX, uint64_t{1} << 63, 0};
  EXPECT_TRUE(same_elements(make_array(GSORT_U64, std::vector<uint64_t>{UINT64_MAX, uint64_t{1} << 63, 1, 0}),
                            reference_sort(make_array(GSORT_U64, large), GSORT_DESCENDING)));
}

TEST(Order, StableAndRank) {
  const Array keys = make_array(GSORT_U8, std::vector<uint8_t>{3, 1, 3, 1, 2});
  EXPECT_EQ((Indices{1, 3, 4, 0, 2}), reference_argsort(keys, 0));
  EXPECT_EQ((Indices{0, 2, 4, 1, 3}), reference_argsort(keys, GSORT_DESCENDING));
  EXPECT_EQ((Indices{3, 0, 4, 1, 2}), reference_rank(keys, 0));
  EXPECT_EQ((Indices{0, 2}), reference_topk(keys, 2, 0));
  EXPECT_EQ((Indices{1, 3, 4}), reference_topk(keys, 3, GSORT_SMALLEST));
  EXPECT_EQ((Indices{0, 1}), reference_topk_rows(keys, {2, 2, 3}, 1, 0));
}

TEST(Order, SegmentsLeaveTheRestAlone) {
  const Array keys = make_array(GSORT_U8, std::vector<uint8_t>{9, 3, 2, 1, 8, 7});
  EXPECT_TRUE(same_elements(make_array(GSORT_U8, std::vector<uint8_t>{9, 2, 3, 1, 8, 7}),
                            reference_sort_segments(keys, {1, 3, 3, 4}, 0)));
}

TEST(Order, LastElementOfEveryShortType) {
  for (const gsort_dtype t : {GSORT_U8, GSORT_I8, GSORT_U16, GSORT_I16, GSORT_F16, GSORT_BF16}) {
    for (const uint32_t flags : {0u, GSORT_DESCENDING, GSORT_NAN_LAST, GSORT_DESCENDING | GSORT_NAN_LAST}) {
      uint64_t last = 0;
      for (uint64_t raw = 1; raw <= element_type(t).mask(); raw++) {
        if (order_number(t, raw, flags) > order_number(t, last, flags)) last = raw;
      }
      EXPECT_EQ(last, last_element(t, flags)) << element_type(t).name << describe_flags(flags);
    }
  }
}

uint64_t sum_of(const std::vector<double> &values) { return reference_sum(make_array(GSORT_F64, values)); }
uint64_t mean_of(const std::vector<double> &values) { return reference_mean(make_array(GSORT_F64, values)); }

TEST(ExactSums, TwoElementsAsTheProcessorAdds) {
  Random random(4);
  for (int i = 0; i < 20000; i++) {
    // Near exponents, so that rounding matters; every tenth time anything.
    const uint64_t a = (random.next() & 0x801fffffffffffffu) | (1000 + random.below(60)) << 52;
    const uint64_t b =
        i % 10 == 0 ? random.next() : (random.next() & 0x801fffffffffffffu) | (990 + random.below(60)) << 52;
    const double expected = from_bits(a) + from_bits(b);
    if (std::isnan(expected)) continue;
    ASSERT_EQ(bits(expected), sum_of({from_bits(a), from_bits(b)})) << from_bits(a) << " + " << from_bits(b);
  }
}

TEST(ExactSums, ByHand) {
  const double greatest = 1.7976931348623157e308;
  const double least = 4.9406564584124654e-324;
  EXPECT_EQ(bits(least), sum_of({greatest, least, -greatest}));
  EXPECT_EQ(bits(1.0), sum_of({1.0, std::ldexp(1.0, -53)}));
  EXPECT_EQ(bits(1.0 + std::ldexp(1.0, -52)), sum_of({1.0, std::ldexp(1.0, -53), least}));
  EXPECT_EQ(bits(HUGE_VAL), sum_of({greatest, greatest}));
  EXPECT_EQ(bits(greatest), sum_of({greatest, greatest, -greatest}));
  EXPECT_EQ(bits(greatest), sum_of({greatest, std::ldexp(1.0, 970), -least}));
  EXPECT_EQ(bits(HUGE_VAL), sum_of({greatest, std::ldexp(1.0, 970)}));
  EXPECT_EQ(bits(-0.0), sum_of({-0.0, -0.0}));
  EXPECT_EQ(bits(0.0), sum_of({-0.0, 0.0}));
  EXPECT_EQ(bits(0.0), sum_of({}));
  EXPECT_EQ(0x7ff8000000000000u, sum_of({HUGE_VAL, -HUGE_VAL}));
  EXPECT_EQ(bits(-HUGE_VAL), sum_of({1.0, -HUGE_VAL}));
  EXPECT_EQ(static_cast<uint64_t>(-3), reference_sum(make_array(GSORT_I8, std::vector<int8_t>{-1, -2})));
  EXPECT_EQ(254u, reference_sum(make_array(GSORT_U8, std::vector<uint8_t>{127, 127})));
}

TEST(ExactSums, MeansByHand) {
  const double greatest = 1.7976931348623157e308;
  const double least = 4.9406564584124654e-324;
  EXPECT_EQ(bits(greatest), mean_of({greatest, greatest, greatest}));
  EXPECT_EQ(bits(1.0 / 3.0), mean_of({1.0, 0.0, 0.0}));
  EXPECT_EQ(bits(0.0), mean_of({least, 0.0}));  // half of the least: a tie, to even
  EXPECT_EQ(bits(-0.0), mean_of({-least, 0.0}));
  EXPECT_EQ(bits(2 * least), mean_of({least, 2 * least}));  // 1.5 of the least: a tie, to even
  EXPECT_EQ(bits(least), mean_of({least, least, 0.0}));     // two thirds
  EXPECT_EQ(bits(-2.5), reference_mean(make_array(GSORT_I8, std::vector<int8_t>{-2, -3})));
  EXPECT_EQ(bits(18446744073709551616.0),
            reference_mean(make_array(GSORT_U64, std::vector<uint64_t>{UINT64_MAX, UINT64_MAX, UINT64_MAX})));
  EXPECT_EQ(bits(-9223372036854775808.0),
            reference_mean(make_array(GSORT_I64, std::vector<int64_t>{INT64_MIN, INT64_MIN, INT64_MIN})));
}

TEST(ExactSums, QuotientsAsTheProcessorDivides) {
  Random random(9);
  for (int i = 0; i < 5000; i++) {
    const double value = from_bits((random.next() & 0x800fffffffffffffu) | random.below(2047) << 52);
    const uint64_t n = 1 + random.below(50);
    std::vector<double> values(n, 0.0);
    values[0] = value;
    ASSERT_EQ(bits(value / static_cast<double>(n)), mean_of(values)) << value << " / " << n;
  }
}

TEST(FloatScans, RoundingAsTheProcessorRounds) {
  Random random(3);
  for (int i = 0; i < 20000; i++) {
    const uint64_t exponent = 1023 - 160 + random.below(300);
    double value = from_bits((random.next() & 0x800fffffffffffffu) | exponent << 52);
    if (i % 3 == 0) value = from_bits(bits(value) & 0xfffffffff0000000u);  // ties
    ASSERT_EQ(bits(static_cast<float>(value)), round_to_type(GSORT_F32, value)) << value;
  }
  EXPECT_EQ(bits(0.1), round_to_type(GSORT_F64, 0.1));
  EXPECT_EQ(0x3c00u, round_to_type(GSORT_F16, 1.0));
  EXPECT_EQ(0x7bffu, round_to_type(GSORT_F16, 65504.0));
  EXPECT_EQ(0x7bffu, round_to_type(GSORT_F16, 65519.999));
  EXPECT_EQ(0x7c00u, round_to_type(GSORT_F16, 65520.0));
  EXPECT_EQ(0x0001u, round_to_type(GSORT_F16, 5.97e-8));
  EXPECT_EQ(0x8000u, round_to_type(GSORT_F16, -1e-30));
  EXPECT_EQ(0x3f80u, round_to_type(GSORT_BF16, 1.0 + 1.0 / 256));
  EXPECT_EQ(0x3f82u, round_to_type(GSORT_BF16, 1.0 + 3.0 / 256));
  EXPECT_EQ(0x7e00u, round_to_type(GSORT_F16, std::nan("")));
  EXPECT_EQ(0xff80u, round_to_type(GSORT_BF16, -HUGE_VAL));
}

TEST(FloatScans, EveryShortFloatRoundsToItself) {
  for (const gsort_dtype t : {GSORT_F16, GSORT_BF16}) {
    for (uint64_t raw = 0; raw <= 0xffff; raw++) {
      if (is_nan(t, raw)) continue;
      ASSERT_EQ(raw, round_to_type(t, float_value(t, raw)));
    }
  }
}

// Whole numbers far from the limit of doubles: any order gives the exact sums.
TEST(FloatScans, WholeNumbersAreExact) {
  const uint64_t n = 20000;
  std::vector<double> values(n);
  std::vector<double> sums(n);
  double sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    values[i] = static_cast<double>(i % 101) - 50;
    sum += values[i];
    sums[i] = sum;
  }
  const Array in = make_array(GSORT_F64, values);
  const Array out = reference_float_scan(in, 0);
  for (uint64_t i = 0; i < n; i++) ASSERT_EQ(sums[i], float_value(GSORT_F64, out.get(i))) << i;
  const Array exclusive = reference_float_scan(in, GSORT_EXCLUSIVE);
  EXPECT_EQ(0u, exclusive.get(0));
  for (uint64_t i = 1; i < n; i++) ASSERT_EQ(out.get(i - 1), exclusive.get(i));
}

TEST(Inputs, TheSameForTheSameSeedAndAsNamed) {
  for (const Distribution distribution : kAllDistributions) {
    for (const gsort_dtype t : kAllTypes) {
      if (!applies(distribution, t)) continue;
      EXPECT_TRUE(same_elements(generate(distribution, t, 500, 3), generate(distribution, t, 500, 3)));
    }
  }
  for (const gsort_dtype t : kAllTypes) {
    const Array sorted = generate(Distribution::kSorted, t, 3000, 1);
    const Array reverse = generate(Distribution::kReverse, t, 3000, 1);
    if (element_type(t).bytes > 1) {
      EXPECT_TRUE(same_elements(reference_sort(sorted, 0), sorted)) << element_type(t).name;
      EXPECT_TRUE(same_elements(reference_sort(reverse, GSORT_DESCENDING), reverse)) << element_type(t).name;
    }
  }
  uint64_t infinities = 0;
  const Array mostly = generate(Distribution::kInfinities, GSORT_F32, 100000, 1);
  for (uint64_t i = 0; i < mostly.size(); i++) infinities += is_infinity(GSORT_F32, mostly.get(i)) ? 1 : 0;
  EXPECT_GT(infinities, 99700u);
  EXPECT_LT(infinities, 100000u);
}

}  // namespace
}  // namespace gsort_test
