// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_sum() against exact big-integer sums, bit for bit.
#include "inputs/samples.h"
#include "reference/sums.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

class SumTest : public BackendTypeTest {
 protected:
  void check(const Array &in, const Where &where) {
    const uint64_t expected = reference_sum(in);
    const uint64_t actual = run_sum(where, in);
    ASSERT_EQ(expected, actual) << std::hex << "expected 0x" << expected << ", got 0x" << actual;
  }
  void check(const Array &in) { check(in, {handle(), place()}); }
  const ElementType &element() const { return element_type(type()); }
  uint64_t one() const { return ((uint64_t{1} << (element().exponent_bits - 1)) - 1) << element().fraction_bits; }
  uint64_t infinity() const { return ((uint64_t{1} << element().exponent_bits) - 1) << element().fraction_bits; }
  Array of(const std::vector<uint64_t> &bits) const {
    Array array(type(), bits.size());
    for (uint64_t i = 0; i < bits.size(); i++) array.set(i, bits[i]);
    return array;
  }
};

TEST_P(SumTest, MatchesExactSum) {
  for (const Sample &sample : samples(type(), {0})) {
    SCOPED_TRACE(sample.describe());
    check(sample.make(), sample.where(handle(), place()));
    if (HasFailure()) return;
  }
}

TEST_P(SumTest, LargerInputs) {
  for (const Distribution distribution : {Distribution::kMaxKey, Distribution::kWideExponents, Distribution::kAnd3}) {
    if (!applies(distribution, type())) continue;
    for (const uint64_t n : {uint64_t{200003}, uint64_t{1} << 20}) {
      SCOPED_TRACE(testing::Message() << distribution_name(distribution) << ", n " << n);
      check(generate(distribution, type(), n, 1));
      if (HasFailure()) return;
    }
  }
}

TEST_P(SumTest, SignOfZero) {
  if (!element().is_float) return;
  const uint64_t minus = element().sign_bit();
  check(of({}));
  check(of({minus}));
  check(of({minus, minus, minus}));
  check(of({0, minus}));
  check(of({minus, 0}));
  check(of({one(), one() | minus}));
  check(of({minus, one(), one() | minus, minus}));
  for (const uint64_t n : {uint64_t{33}, uint64_t{5000}}) {
    Array zeros = of(std::vector<uint64_t>(n, minus));
    check(zeros);
    zeros.set(n - 1, 0);
    check(zeros);
  }
}

TEST_P(SumTest, InfinitiesAndNans) {
  if (!element().is_float) return;
  const uint64_t minus = element().sign_bit();
  const uint64_t nan = infinity() | 1;
  check(of({infinity()}));
  check(of({infinity() | minus}));
  check(of({infinity(), infinity() | minus}));
  check(of({infinity() | minus, one(), infinity()}));
  check(of({nan}));
  check(of({nan | minus, infinity()}));
  Array many = generate(Distribution::kSmallRange, type(), 10000, 1);
  many.set(7777, infinity() | minus);
  check(many);
  many.set(9999, nan | minus);
  check(many);
}

// Everything cancels but the least element, over the whole range of exponents.
TEST_P(SumTest, CancellationLeavesTheLeast) {
  if (!element().is_float) return;
  const uint64_t minus = element().sign_bit();
  const uint64_t greatest = infinity() - 1;
  check(of({greatest, 1, greatest | minus}));
  check(of({greatest, greatest, 1 | minus, greatest | minus, greatest | minus}));
  check(of({1, one(), one() | minus, 1}));
  check(of({1 | minus, one()}));
  check(of({one(), 1}));
}

// Sums that pass the range on the way, at the end, and exactly at the edge of rounding to infinity.
TEST_P(SumTest, EdgeOfTheRange) {
  if (type() != GSORT_F64) return;
  const uint64_t greatest = infinity() - 1;
  const uint64_t minus = element().sign_bit();
  const uint64_t half_last_place = uint64_t{0x7c9} << 52;  // 2^970, half the distance to the next double
  check(of({greatest, greatest}));
  check(of({greatest, greatest, greatest | minus}));
  check(of({greatest, half_last_place}));
  check(of({greatest, half_last_place, 1 | minus}));
  check(of({greatest, half_last_place - 1}));
  check(of({greatest | minus, half_last_place | minus}));
}

// Ties between two doubles, broken by even bits or by an element hundreds of binades below.
TEST_P(SumTest, Ties) {
  if (type() != GSORT_F64) return;
  const uint64_t minus = element().sign_bit();
  const uint64_t half_ulp = uint64_t{0x3ca} << 52;  // 2^-53
  check(of({one(), half_ulp}));
  check(of({one() + 1, half_ulp}));
  check(of({one(), half_ulp, 1}));
  check(of({one(), half_ulp, 1 | minus}));
  check(of({one() | minus, half_ulp | minus, 1 | minus}));
  check(of({one() + 1, half_ulp, 1 | minus}));
}

// The order of the elements cannot matter to an exact sum.
TEST_P(SumTest, AnyOrderGivesTheSameBits) {
  Array in = generate(Distribution::kUniform, type(), 3001, 2);
  if (element().is_float) in = generate(Distribution::kWideExponents, type(), 3001, 2);
  const uint64_t sum = run_sum({handle(), place()}, in);
  EXPECT_EQ(sum, run_sum({handle(), place()}, reference_sort(in, 0)));
  EXPECT_EQ(sum, run_sum({handle(), place()}, reference_sort(in, GSORT_DESCENDING)));
}

GSORT_INSTANTIATE_BACKENDS_TYPES(SumTest, kAllTypes);

// Counters that suffice for a million elements may not for a hundred million. One type, for time and memory.
class SumOfManyTest : public BackendTest {};

TEST_P(SumOfManyTest, HundredMillionElements) {
  for (const Distribution distribution : {Distribution::kWideExponents, Distribution::kMaxKey}) {
    SCOPED_TRACE(distribution_name(distribution));
    const Array in = generate(distribution, GSORT_F32, 100000000, 1);
    ASSERT_EQ(reference_sum(in), run_sum({handle(), place()}, in));
  }
}

GSORT_INSTANTIATE_BACKENDS(SumOfManyTest);

}  // namespace
}  // namespace gsort_test
