// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_sort_segments(): empty, tiny and huge segments, and keys that belong to none.
#include "inputs/samples.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

class SegmentsTest : public BackendTypeTest {
 protected:
  void check(const Array &keys, const Indices &offsets, const Where &where, uint32_t flags) {
    const Array sorted = run_sort_segments(where, keys, offsets, flags);
    ASSERT_TRUE(same_elements(reference_sort_segments(keys, offsets, flags), sorted));
  }
};

TEST_P(SegmentsTest, MatchesReference) {
  for (const Sample &sample : samples(type(), kSortFlags)) {
    const uint64_t counts[] = {1, 2, 5, 40, sample.n / 3 + 1};
    const uint64_t segments = counts[sample.seed % 5];
    SCOPED_TRACE(sample.describe() + ", segments " + std::to_string(segments));
    const Indices offsets = generate_offsets(sample.n, segments, sample.seed);
    check(sample.make(), offsets, sample.where(handle(), place()), sample.flags);
    if (HasFailure()) return;
  }
}

TEST_P(SegmentsTest, NoSegmentCopiesTheKeys) {
  const Array keys = generate(Distribution::kUniform, type(), 1000, 1);
  check(keys, {}, {handle(), place()}, 0);
  check(keys, {500}, {handle(), place()}, 0);
  check(keys, {500, 500}, {handle(), place()}, 0);
  check(keys, {1000, 1000, 1000}, {handle(), place()}, 0);
}

TEST_P(SegmentsTest, OffsetsOfZeroSegmentsMayBeNull) {
  const Array keys = generate(Distribution::kUniform, type(), 300, 1);
  Buffer in(place(), keys.bytes().size());
  in.write(keys.bytes());
  const Buffer out(place(), keys.bytes().size());
  ASSERT_TRUE(succeeded(handle(), gsort_sort_segments(handle(), type(), in.data(), out.data(), 300, nullptr, 0, 0)));
  ASSERT_TRUE(succeeded(handle(), gsort_synchronize(handle())));
  EXPECT_TRUE(same_bytes(keys.bytes(), out.read()));
}

TEST_P(SegmentsTest, WholeArrayIsOneSegment) {
  for (const uint64_t n : {uint64_t{2}, uint64_t{3000}, uint64_t{70000}}) {
    check(generate(Distribution::kUniform, type(), n, n), {0, n}, {handle(), place()}, GSORT_DESCENDING);
  }
}

// One long segment among thousands of short ones, so that work is uneven.
TEST_P(SegmentsTest, UnevenSegments) {
  const uint64_t n = 40000;
  Indices offsets;
  for (uint64_t begin = 0; begin < 10000; begin += offsets.size() % 8) offsets.push_back(begin);
  offsets.push_back(10000);
  offsets.push_back(35000);
  offsets.push_back(n);
  check(generate(Distribution::kUniform, type(), n, 1), offsets, {handle(), place()}, 0);
}

GSORT_INSTANTIATE_BACKENDS_TYPES(SegmentsTest, kAllTypes);

}  // namespace
}  // namespace gsort_test
