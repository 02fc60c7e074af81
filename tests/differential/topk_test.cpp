// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_topk(): values, order, lowest-index ties, every interesting k.
#include <algorithm>

#include "inputs/samples.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

class TopkTest : public BackendTypeTest {
 protected:
  void check(const Array &in, const Where &where, const TopkArguments &arguments) {
    const Selection best = run_topk(where, in, arguments);
    const Indices expected = reference_topk(in, arguments.k, arguments.flags);
    if (arguments.wanted != Wanted::kIndices) {
      ASSERT_TRUE(same_elements(gather(in, expected), best.values));
    }
    if (arguments.wanted == Wanted::kValues) return;
    ASSERT_TRUE(same_elements(make_indices(arguments.index_t, expected), best.indices)) << "indices";
  }
};

TEST_P(TopkTest, MatchesReference) {
  uint64_t turn = 0;
  constexpr Wanted kWanted[] = {Wanted::kBoth, Wanted::kValues, Wanted::kIndices};
  for (const Sample &sample : samples(type(), kTopkFlags)) {
    const uint64_t ks[] = {1, 10, 64, 100, 256, 257, sample.n / 2, sample.n, 1000, 0, 2048};
    const uint64_t k = std::min(ks[turn % 11], sample.n);
    SCOPED_TRACE(sample.describe() + ", k " + std::to_string(k));
    check(sample.make(), sample.where(handle(), place()), {k, kIndexTypes[turn % 4], kWanted[turn % 3], sample.flags});
    if (HasFailure()) return;
    turn++;
  }
}

// k around every power of two and at both ends, on inputs with and without ties at the boundary.
TEST_P(TopkTest, EveryK) {
  const uint64_t n = 5000;
  std::vector<uint64_t> ks = {0, 1, 2, n - 1, n};
  for (uint64_t power = 4; power < n; power *= 2) {
    for (const uint64_t k : {power - 1, power, power + 1}) ks.push_back(k);
  }
  for (const Distribution distribution : {Distribution::kUniform, Distribution::kTwoValues, Distribution::kMaxKey}) {
    const Array in = generate(distribution, type(), n, 11);
    for (const uint64_t k : ks) {
      for (const uint32_t flags : {0u, GSORT_SMALLEST}) {
        SCOPED_TRACE(testing::Message() << distribution_name(distribution) << ", k " << k << describe_flags(flags));
        check(in, {handle(), place()}, {k, GSORT_U64, Wanted::kBoth, flags});
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(TopkTest, LargerInputs) {
  for (const uint64_t n : {uint64_t{65537}, uint64_t{300001}}) {
    for (const Distribution distribution : {Distribution::kUniform, Distribution::kAllEqual, Distribution::kSorted}) {
      const Array in = generate(distribution, type(), n, 3);
      for (const uint64_t k : {uint64_t{1}, uint64_t{256}, uint64_t{3000}}) {
        SCOPED_TRACE(testing::Message() << distribution_name(distribution) << ", n " << n << ", k " << k);
        check(in, {handle(), place()}, {k, GSORT_U32, Wanted::kBoth, 0});
        if (HasFailure()) return;
      }
    }
  }
}

// More than half of so many that several threads select them, with ties in the part of each and without.
TEST_P(TopkTest, MoreThanHalfOfMany) {
  const uint64_t n = 700001;
  for (const Distribution distribution : {Distribution::kUniform, Distribution::kTwoValues}) {
    const Array in = generate(distribution, type(), n, 13);
    for (const uint32_t flags : {0u, GSORT_SMALLEST}) {
      SCOPED_TRACE(testing::Message() << distribution_name(distribution) << describe_flags(flags));
      check(in, {handle(), place()}, {n / 2 + 9, GSORT_U32, Wanted::kBoth, flags});
      if (HasFailure()) return;
    }
  }
}

// So many of so many that long keys are selected by a sample, in the order of the input, and sorted then.
TEST_P(TopkTest, LargeKOfMoreThanAMillion) {
  const uint64_t n = (uint64_t{1} << 20) + 100001;
  for (const Distribution distribution : {Distribution::kUniform, Distribution::kTwoValues, Distribution::kSorted}) {
    const Array in = generate(distribution, type(), n, 17);
    SCOPED_TRACE(distribution_name(distribution));
    check(in, {handle(), place()}, {30011, GSORT_U32, Wanted::kBoth, GSORT_SMALLEST});
    if (HasFailure()) return;
  }
}

// k that ends just before, at and just after the last of the elements that tie for the best.
TEST_P(TopkTest, KAtTheEndOfATie) {
  const Array in = generate(Distribution::kTwoValues, type(), 40000, 5);
  const uint64_t best = in.get(reference_topk(in, 1, 0)[0]);
  uint64_t ties = 0;
  for (uint64_t i = 0; i < in.size(); i++) ties += in.get(i) == best ? 1 : 0;
  for (const uint64_t k : {ties - 1, ties, ties + 1}) {
    SCOPED_TRACE(testing::Message() << "k " << k << " of " << ties << " equal elements");
    check(in, {handle(), place()}, {k, GSORT_U32, Wanted::kBoth, 0});
  }
}

GSORT_INSTANTIATE_BACKENDS_TYPES(TopkTest, kAllTypes);

}  // namespace
}  // namespace gsort_test
