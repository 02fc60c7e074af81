// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact sums and means at every exponent that a type has: single values, blocks of one value whose sum is known without
// any addition, blocks of many exponents, and blocks that cancel down to the least bits.
#include <algorithm>
#include <cmath>

#include "inputs/distributions.h"
#include "reference/sums.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

constexpr gsort_dtype kFloats[] = {GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64};
constexpr uint64_t kBlockItems = 4500;  // more than two blocks of any method, and no multiple of one

class ExponentsTest : public BackendTypeTest {
 protected:
  const ElementType &element() const { return element_type(type()); }
  // Exponent fields from 0 (subnormals) to the greatest finite one. On the GPU every seventh, as copies take the time.
  uint64_t fields() const { return (uint64_t{1} << element().exponent_bits) - 1; }
  uint64_t step() const { return backend() == GSORT_BACKEND_CUDA && type() == GSORT_F64 ? 7 : 1; }
  uint64_t value(uint64_t field, uint64_t fraction) const {
    return field << element().fraction_bits | (fraction & ((uint64_t{1} << element().fraction_bits) - 1));
  }
  uint64_t quarter() const { return uint64_t{1} << (element().fraction_bits - 2); }
  uint64_t sum(const Array &in) const { return run_sum({handle(), place()}, in); }
  uint64_t mean(const Array &in) const { return run_reduce({handle(), place()}, GSORT_MEAN, in, 0); }
  static uint64_t bits(double x) { return load_bits(&x, 8); }
};

TEST_P(ExponentsTest, OneValue) {
  for (uint64_t field = 0; field < fields(); field += step()) {
    Array in(type(), 1);
    in.set(0, value(field, quarter()));
    const uint64_t expected = bits(float_value(type(), in.get(0)));
    ASSERT_EQ(expected, sum(in)) << "exponent field " << field;
    ASSERT_EQ(expected, mean(in)) << "exponent field " << field;
  }
}

// n times 1.25 x 2^e is 1.25 n x 2^e, and no more digits than a double has.
TEST_P(ExponentsTest, BlocksOfOneValue) {
  for (uint64_t field = 0; field < fields(); field += step()) {
    Array in(type(), kBlockItems);
    for (uint64_t i = 0; i < in.size(); i++) in.set(i, value(field, quarter()));
    const double one = float_value(type(), in.get(0));
    ASSERT_EQ(bits(one * static_cast<double>(kBlockItems)), sum(in)) << "exponent field " << field;
    ASSERT_EQ(bits(one), mean(in)) << "exponent field " << field;
  }
}

// Random digits over spans of exponents below each: what a method keeps in one window, in two, and in none.
TEST_P(ExponentsTest, BlocksOfManyExponents) {
  constexpr uint64_t kSpans[] = {0, 20, 40, 47, 52, 60, 90, 110};
  Random random(7);
  const uint64_t stride = type() == GSORT_F64 ? 3 * step() : step();
  for (uint64_t field = 0, turn = 0; field < fields(); field += stride, turn++) {
    const uint64_t span = std::min(kSpans[turn % 8], field);
    Array in(type(), kBlockItems);
    for (uint64_t i = 0; i < in.size(); i++) {
      const uint64_t sign = random.below(2) == 0 ? 0 : element().sign_bit();
      in.set(i, value(field - random.below(span + 1), random.next()) | sign);
    }
    ASSERT_EQ(reference_sum(in), sum(in)) << "exponent field " << field << ", span " << span;
  }
}

// Every element and its negative, far apart, and one that is left: the least, or one some exponents below.
TEST_P(ExponentsTest, BlocksThatCancel) {
  Random random(8);
  const uint64_t stride = type() == GSORT_F64 ? 3 * step() : step();
  for (uint64_t field = 0, turn = 0; field < fields(); field += stride, turn++) {
    Array in(type(), kBlockItems + 1 - kBlockItems % 2);
    const uint64_t half = in.size() / 2;
    for (uint64_t i = 0; i < half; i++) {
      const uint64_t x = value(field, random.next());
      in.set(i, x);
      in.set(in.size() - 1 - i, x | element().sign_bit());
    }
    in.set(half, turn % 3 == 0 ? 1 : value(field - std::min<uint64_t>(field, turn % 130), quarter()));
    ASSERT_EQ(bits(float_value(type(), in.get(half))), sum(in)) << "exponent field " << field;
  }
}

GSORT_INSTANTIATE_BACKENDS_TYPES(ExponentsTest, kFloats);

}  // namespace
}  // namespace gsort_test
