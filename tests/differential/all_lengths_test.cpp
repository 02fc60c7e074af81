// SPDX-License-Identifier: MIT OR Apache-2.0
// Every length from 0 to 1023, for the operations and types that are used most; of sorts of keys of 1 and 2 bytes every
// one to 5000.
#include <algorithm>

#include "inputs/samples.h"
#include "reference/float_scan.h"
#include "reference/sums.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

constexpr uint64_t kLengths = 1024;
constexpr gsort_dtype kMainTypes[] = {GSORT_U8, GSORT_I16, GSORT_U32, GSORT_F32, GSORT_I64, GSORT_F64};

class AllLengthsTest : public BackendTypeTest {
 protected:
  Array input(uint64_t n) const {
    constexpr Distribution kTurns[] = {Distribution::kUniform, Distribution::kSmallRange, Distribution::kMaxKey};
    return generate(kTurns[n % 3], type(), n, n);
  }
  Where where(uint64_t n) const { return {handle(), place(), place(), static_cast<uint32_t>(n % 5), n % 2 == 1}; }
};

TEST_P(AllLengthsTest, Sort) {
  for (uint64_t n = 0; n < kLengths; n++) {
    const uint32_t flags = kSortFlags[n % 4];
    const Array keys = input(n);
    ASSERT_TRUE(same_elements(reference_sort(keys, flags), run_sort(where(n), keys, flags))) << "n " << n;
    if (HasFailure()) return;
  }
}

TEST_P(AllLengthsTest, SortPairs) {
  for (uint64_t n = 0; n < kLengths; n++) {
    const uint32_t flags = kSortFlags[n / 4 % 4];
    const uint32_t value_bytes = n % 2 == 0 ? 4 : 8;
    const Pairs in = {input(n), generate_values(n, value_bytes, n)};
    const Pairs out = run_sort_pairs(where(n), in, value_bytes, flags);
    const Indices order = reference_argsort(in.keys, flags);
    ASSERT_TRUE(same_elements(gather(in.keys, order), out.keys)) << "n " << n;
    ASSERT_TRUE(same_bytes(gather_values(in.values, value_bytes, order), out.values)) << "values, n " << n;
    if (HasFailure()) return;
  }
}

TEST_P(AllLengthsTest, Argsort) {
  for (uint64_t n = 0; n < kLengths; n++) {
    const uint32_t flags = kSortFlags[n % 4];
    const Array keys = input(n);
    const Array order = run_argsort(where(n), keys, GSORT_U32, flags);
    ASSERT_TRUE(same_elements(make_indices(GSORT_U32, reference_argsort(keys, flags)), order)) << "n " << n;
    if (HasFailure()) return;
  }
}

TEST_P(AllLengthsTest, Topk) {
  for (uint64_t n = 0; n < kLengths; n++) {
    const uint64_t k = std::min<uint64_t>(n, n % 3 == 0 ? n : 1 + n % 70);
    const uint32_t flags = kTopkFlags[n % 4];
    const Array in = input(n);
    const Selection best = run_topk(where(n), in, {k, GSORT_U32, Wanted::kBoth, flags});
    const Indices expected = reference_topk(in, k, flags);
    ASSERT_TRUE(same_elements(gather(in, expected), best.values)) << "n " << n << ", k " << k;
    ASSERT_TRUE(same_elements(make_indices(GSORT_U32, expected), best.indices)) << "indices, n " << n << ", k " << k;
    if (HasFailure()) return;
  }
}

TEST_P(AllLengthsTest, SumAndReduce) {
  for (uint64_t n = 0; n < kLengths; n++) {
    const Array in = input(n);
    ASSERT_EQ(reference_sum(in), run_sum(where(n), in)) << "n " << n;
    for (const uint32_t op : {GSORT_MIN, GSORT_ARGMAX, GSORT_MEAN}) {
      ASSERT_EQ(reference_reduce(op, in, 0), run_reduce(where(n), op, in, 0)) << "op " << op << ", n " << n;
    }
    if (HasFailure()) return;
  }
}

TEST_P(AllLengthsTest, Scan) {
  const auto reference = element_type(type()).is_float ? reference_float_scan : reference_integer_scan;
  for (uint64_t n = 0; n < kLengths; n++) {
    const uint32_t flags = n % 2 == 0 ? 0 : GSORT_EXCLUSIVE;
    const Array in = input(n);
    ASSERT_TRUE(same_elements(reference(in, flags), run_scan(where(n), in, flags))) << "n " << n;
    if (HasFailure()) return;
  }
}

TEST_P(AllLengthsTest, MergeAndSegments) {
  for (uint64_t n = 0; n < kLengths; n++) {
    const Array all = input(n);
    const Array a = reference_sort(slice(all, 0, n / 3), 0);
    const Array b = reference_sort(slice(all, n / 3, n), 0);
    ASSERT_TRUE(same_elements(reference_merge(a, b, 0), run_merge(where(n), a, b, 0))) << "n " << n;
    const Indices offsets = generate_offsets(n, 1 + n % 9, n);
    ASSERT_TRUE(same_elements(reference_sort_segments(all, offsets, 0), run_sort_segments(where(n), all, offsets, 0)))
        << "n " << n;
    if (HasFailure()) return;
  }
}

GSORT_INSTANTIATE_BACKENDS_TYPES(AllLengthsTest, kMainTypes);

class NarrowLengthsTest : public BackendTypeTest {
 protected:
  static constexpr uint64_t kMost = 5000;

  Array input(uint64_t n) const {
    constexpr Distribution kTurns[] = {Distribution::kUniform, Distribution::kTwoValues, Distribution::kOneDigit,
                                       Distribution::kAnd3, Distribution::kAllEqual};
    return generate(kTurns[n % 5], type(), n, n);
  }
  Where where(uint64_t n) const { return {handle(), place(), place(), static_cast<uint32_t>(n % 5), n % 2 == 1}; }
};

TEST_P(NarrowLengthsTest, Sort) {
  for (uint64_t n = 0; n <= kMost; n++) {
    const uint32_t flags = kSortFlags[n % 4];
    const Array keys = input(n);
    ASSERT_TRUE(same_elements(reference_sort(keys, flags), run_sort(where(n), keys, flags))) << "n " << n;
    if (HasFailure()) return;
  }
}

// Pairs, argsorts and ranks take turns.
TEST_P(NarrowLengthsTest, SortsWithPlaces) {
  constexpr uint32_t kValueBytes[] = {4, 8, 2, 12, 1};
  for (uint64_t n = 0; n <= kMost; n++) {
    const uint32_t flags = kSortFlags[n / 3 % 4], value_bytes = kValueBytes[n / 12 % 5];
    const gsort_dtype index_t = n / 12 % 2 == 0 ? GSORT_U32 : GSORT_U64;
    const Pairs in = {input(n), generate_values(n, value_bytes, n)};
    const Indices order = reference_argsort(in.keys, flags);
    if (n % 3 == 0) {
      const Pairs out = run_sort_pairs(where(n), in, value_bytes, flags);
      ASSERT_TRUE(same_elements(gather(in.keys, order), out.keys)) << "n " << n;
      ASSERT_TRUE(same_bytes(gather_values(in.values, value_bytes, order), out.values)) << "values, n " << n;
    } else if (n % 3 == 1) {
      const Array places = run_argsort(where(n), in.keys, index_t, flags);
      ASSERT_TRUE(same_elements(make_indices(index_t, order), places)) << "n " << n;
    } else {
      const Array ranks = run_rank(where(n), in.keys, index_t, flags);
      ASSERT_TRUE(same_elements(make_indices(index_t, reference_rank(in.keys, flags)), ranks)) << "n " << n;
    }
    if (HasFailure()) return;
  }
}

constexpr gsort_dtype kNarrowTypes[] = {GSORT_U8, GSORT_U16, GSORT_F16};
GSORT_INSTANTIATE_BACKENDS_TYPES(NarrowLengthsTest, kNarrowTypes);

}  // namespace
}  // namespace gsort_test
