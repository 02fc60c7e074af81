// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_merge(): two sorted arrays of any two lengths.
#include <algorithm>

#include "inputs/samples.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

class MergeTest : public BackendTypeTest {
 protected:
  void check(const Array &a, const Array &b, const Where &where, uint32_t flags) {
    const Array merged = run_merge(where, a, b, flags);
    ASSERT_TRUE(same_elements(reference_merge(a, b, flags), merged));
  }
};

TEST_P(MergeTest, MatchesReference) {
  uint64_t turn = 0;
  for (const Sample &sample : samples(type(), kSortFlags)) {
    SCOPED_TRACE(sample.describe());
    const Array all = sample.make();
    // Splits near the start, in the middle and near the end, and one side empty.
    const uint64_t splits[] = {sample.n / 2, 0, sample.n, sample.n / 3, sample.n - std::min<uint64_t>(sample.n, 1)};
    const uint64_t split = splits[turn++ % 5];
    const Array a = reference_sort(slice(all, 0, split), sample.flags);
    const Array b = reference_sort(slice(all, split, sample.n), sample.flags);
    check(a, b, sample.where(handle(), place()), sample.flags);
    if (HasFailure()) return;
  }
}

TEST_P(MergeTest, OneSideBelowTheOther) {
  const Array all = reference_sort(generate(Distribution::kUniform, type(), 9000, 1), 0);
  const Array low = slice(all, 0, 4111);
  const Array high = slice(all, 4111, 9000);
  check(low, high, {handle(), place()}, 0);
  check(high, low, {handle(), place()}, 0);
}

TEST_P(MergeTest, UnsortedInputsKeepTheMultiset) {
  const Array a = generate(Distribution::kUniform, type(), 3000, 1);
  const Array b = generate(Distribution::kOrganPipe, type(), 2000, 2);
  const Array merged = run_merge({handle(), place()}, a, b, 0);
  EXPECT_TRUE(same_elements(reference_merge(a, b, 0), reference_sort(merged, 0)));
}

GSORT_INSTANTIATE_BACKENDS_TYPES(MergeTest, kAllTypes);

}  // namespace
}  // namespace gsort_test
