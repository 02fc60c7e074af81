// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_reduce(): minimum, maximum, their indices, and the exact mean.
#include <cmath>

#include "inputs/samples.h"
#include "reference/sums.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

class ReduceTest : public BackendTypeTest {
 protected:
  void check(uint32_t op, const Array &in, const Where &where, uint32_t flags) {
    const uint64_t expected = reference_reduce(op, in, flags);
    const uint64_t actual = run_reduce(where, op, in, flags);
    ASSERT_EQ(expected, actual) << "op " << op << std::hex << ", expected 0x" << expected << ", got 0x" << actual;
  }
};

TEST_P(ReduceTest, MinimumAndMaximum) {
  for (const Sample &sample : samples(type(), {0, GSORT_NAN_LAST})) {
    SCOPED_TRACE(sample.describe());
    const Array in = sample.make();
    for (const uint32_t op : {GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX}) {
      check(op, in, sample.where(handle(), place()), sample.flags);
    }
    if (HasFailure()) return;
  }
}

TEST_P(ReduceTest, Mean) {
  for (const Sample &sample : samples(type(), {0})) {
    if (sample.n == 0) continue;
    SCOPED_TRACE(sample.describe());
    check(GSORT_MEAN, sample.make(), sample.where(handle(), place()), 0);
    if (HasFailure()) return;
  }
}

TEST_P(ReduceTest, MeanOfNothingIsNan) {
  const uint64_t bits = run_reduce({handle(), place()}, GSORT_MEAN, Array(type(), 0), 0);
  EXPECT_TRUE(is_nan(GSORT_F64, bits));
}

// A sum past the range of double has a mean inside it; integer sums past 64 bits likewise.
TEST_P(ReduceTest, MeanOfTheGreatest) {
  for (const Distribution distribution : {Distribution::kMaxKey, Distribution::kMinKey}) {
    const Array extremes = generate(distribution, type(), 5000, 8);
    check(GSORT_MEAN, extremes, {handle(), place()}, 0);
  }
  const ElementType &element = element_type(type());
  const uint64_t infinity = ((uint64_t{1} << element.exponent_bits) - 1) << element.fraction_bits;
  Array greatest(type(), 1001);
  for (uint64_t i = 0; i < 1001; i++) greatest.set(i, element.is_float ? infinity - 1 - i % 3 : element.mask() - i % 3);
  check(GSORT_MEAN, greatest, {handle(), place()}, 0);
}

// Quotients that are subnormal, or halfway between two doubles.
TEST_P(ReduceTest, MeanOfTheLeast) {
  for (const uint64_t n : {uint64_t{2}, uint64_t{3}, uint64_t{4}, uint64_t{7}, uint64_t{1000}}) {
    for (const uint64_t sign : {uint64_t{0}, element_type(type()).sign_bit()}) {
      SCOPED_TRACE(testing::Message() << "n " << n << ", sign " << sign);
      Array in(type(), n);
      for (uint64_t ones = 1; ones <= n && ones < 5; ones++) {
        in.set(ones - 1, 1 | sign);
        check(GSORT_MEAN, in, {handle(), place()}, 0);
      }
    }
  }
}

TEST_P(ReduceTest, LargerInputs) {
  for (const uint64_t n : {uint64_t{65536}, uint64_t{300007}}) {
    const Array in = generate(Distribution::kAnd1, type(), n, 6);
    for (const uint32_t op : {GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX, GSORT_MEAN}) {
      check(op, in, {handle(), place()}, 0);
    }
  }
}

// The extreme element at every place of a warp and at the ends.
TEST_P(ReduceTest, ExtremeAnywhere) {
  Array in = generate(Distribution::kAllEqual, type(), 600, 1);
  for (uint64_t i = 0; i < in.size(); i += i < 70 || i > 520 ? 1 : 37) {
    const uint64_t kept = in.get(i);
    for (const uint32_t flags : {0u, GSORT_DESCENDING}) {
      in.set(i, last_element(type(), flags));
      check(flags == 0 ? GSORT_ARGMAX : GSORT_ARGMIN, in, {handle(), place()}, 0);
    }
    in.set(i, kept);
  }
}

GSORT_INSTANTIATE_BACKENDS_TYPES(ReduceTest, kAllTypes);

}  // namespace
}  // namespace gsort_test
