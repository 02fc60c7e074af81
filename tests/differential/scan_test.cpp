// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_scan(): integers exactly, floats bit for bit in the stated order and close to the exact sums.
#include <cmath>

#include "inputs/samples.h"
#include "reference/float_scan.h"
#include "reference/sums.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

Array reference_scan(const Array &in, uint32_t flags) {
  return element_type(in.type()).is_float ? reference_float_scan(in, flags) : reference_integer_scan(in, flags);
}

class ScanTest : public BackendTypeTest {};

TEST_P(ScanTest, MatchesReference) {
  for (const Sample &sample : samples(type(), {0, GSORT_EXCLUSIVE})) {
    SCOPED_TRACE(sample.describe());
    const Array in = sample.make();
    const Array out = run_scan(sample.where(handle(), place()), in, sample.flags);
    ASSERT_TRUE(same_elements(reference_scan(in, sample.flags), out));
    if (HasFailure()) return;
  }
}

// Across the edges of tiles, of runs of tiles and of the group.
TEST_P(ScanTest, LargerInputs) {
  const uint64_t tile = 8192;
  for (const uint64_t n : {tile - 1, tile + 1, 8 * tile + 1, 256 * tile - 1, 256 * tile + 1, 520 * tile + 77}) {
    for (const uint32_t flags : {0u, GSORT_EXCLUSIVE}) {
      SCOPED_TRACE(testing::Message() << "n " << n << describe_flags(flags));
      const Array in = generate(Distribution::kSmallRange, type(), n, 5);
      ASSERT_TRUE(same_elements(reference_scan(in, flags), run_scan({handle(), place()}, in, flags)));
    }
  }
}

// Independent of any stated order: every running sum lies near the exact one.
TEST_P(ScanTest, FloatsLieNearTheExactSums) {
  if (!element_type(type()).is_float) return;
  const uint64_t n = 3000;
  const Array in = generate(Distribution::kSmallRange, type(), n, 12);
  const Array out = run_scan({handle(), place()}, in, 0);
  ExactSum exact;
  for (uint64_t i = 0; i < n; i++) {
    exact.add(type(), in.get(i));
    const uint64_t bits = exact.rounded();
    const double sum = float_value(GSORT_F64, bits);
    const double last_place = std::ldexp(sum, -static_cast<int>(element_type(type()).fraction_bits));
    // Half a last place for the rounding to the type, and far less than another half for the doubles below it; doubles
    // themselves get a last place for each of the few additions that lead to an element.
    const double allowed = type() == GSORT_F64 ? 32 * last_place : last_place;
    ASSERT_NEAR(sum, float_value(type(), out.get(i)), allowed) << "element " << i;
  }
}

GSORT_INSTANTIATE_BACKENDS_TYPES(ScanTest, kAllTypes);

}  // namespace
}  // namespace gsort_test
