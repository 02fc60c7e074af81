// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_topk_segments(): empty, short and long rows, and rows shorter than k.
#include <algorithm>

#include "inputs/samples.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

class TopkSegmentsTest : public BackendTypeTest {
 protected:
  void check(const Array &in, const Indices &offsets, const Where &where, const TopkArguments &arguments) {
    const Selection best = run_topk_segments(where, in, offsets, arguments);
    const Indices expected = reference_topk_segments(in, offsets, arguments.k, arguments.flags);
    if (arguments.wanted != Wanted::kIndices) {
      Array values(in.type(), expected.size());  // zeros
      for (uint64_t i = 0; i < expected.size(); i++)
        if (expected[i] != kNoElement) values.set(i, in.get(offsets[i / arguments.k] + expected[i]));
      ASSERT_TRUE(same_elements(values, best.values));
    }
    if (arguments.wanted == Wanted::kValues) return;
    ASSERT_TRUE(same_elements(make_indices(arguments.index_t, expected), best.indices)) << "indices";
  }
};

TEST_P(TopkSegmentsTest, MatchesReference) {
  constexpr Wanted kWanted[] = {Wanted::kBoth, Wanted::kValues, Wanted::kIndices};
  uint64_t turn = 0;
  for (const Sample &sample : samples(type(), kTopkFlags)) {
    const uint64_t counts[] = {1, 2, 5, 40, sample.n / 3 + 1}, ks[] = {1, 3, 64, 10, 257, 2100};
    // Outputs of at most some hundred thousand elements, most of which are fillings where rows are short.
    const uint64_t segments = counts[turn % 5], k = std::min(ks[turn % 6], 400000 / segments + 1);
    SCOPED_TRACE(sample.describe() + ", segments " + std::to_string(segments) + ", k " + std::to_string(k));
    const Indices offsets = generate_offsets(sample.n, segments, sample.seed);
    check(sample.make(), offsets, sample.where(handle(), place()),
          {k, kIndexTypes[turn % 4], kWanted[turn % 3], sample.flags});
    if (HasFailure()) return;
    turn++;
  }
}

TEST_P(TopkSegmentsTest, NothingToSelectFrom) {
  const Array none(type(), 0), some = generate(Distribution::kUniform, type(), 100, 1);
  check(none, {0, 0, 0, 0}, {handle(), place()}, {5, GSORT_U32});
  check(some, {7, 7, 100, 100}, {handle(), place()}, {5, GSORT_I64});
  check(some, {}, {handle(), place()}, {5, GSORT_U32});
  check(some, {50}, {handle(), place()}, {5, GSORT_U32});
  run_topk_segments({handle(), place()}, some, {0, 50, 100}, {0, GSORT_U32});
}

TEST_P(TopkSegmentsTest, KAboveEveryLength) {
  const Array in = generate(Distribution::kTwoValues, type(), 200, 3);
  check(in, {0, 1, 3, 90, 200}, {handle(), place()}, {300, GSORT_U64});
}

// A few long rows among thousands of short ones, so that work is uneven.
TEST_P(TopkSegmentsTest, UnevenSegments) {
  const uint64_t n = 400000;
  Indices offsets;
  for (uint64_t begin = 0; begin < 10000; begin += offsets.size() % 8) offsets.push_back(begin);
  for (const uint64_t end : {uint64_t{10000}, uint64_t{35000}, n - 3, n}) offsets.push_back(end);
  for (const uint64_t k : {uint64_t{2}, uint64_t{300}})
    check(generate(Distribution::kUniform, type(), n, k), offsets, {handle(), place()}, {k, GSORT_U32});
}

// So many that a warp looks at several at once: most are tiny, of every length that a lane does and a few more.
TEST_P(TopkSegmentsTest, VeryManyTinySegments) {
  Indices offsets;
  uint64_t begin = 0;
  for (uint64_t i = 0; i < 70000; ++i) {
    offsets.push_back(begin);
    begin += i % 1000 == 999 ? 300 : i * 2654435761u % 20;
  }
  offsets.push_back(begin);
  for (const uint64_t k : {uint64_t{1}, uint64_t{7}, uint64_t{70}}) {
    const Indices few(offsets.begin(), offsets.begin() + static_cast<int64_t>(k < 10 ? offsets.size() : 6000));
    check(generate(k == 7 ? Distribution::kTwoValues : Distribution::kUniform, type(), few.back(), k), few,
          {handle(), place()}, {k, GSORT_U32, Wanted::kBoth, kTopkFlags[k % 4]});
  }
}

// More elements each than a warp does, and as many rows as fill a device with blocks; some rows are far longer.
TEST_P(TopkSegmentsTest, ManyMiddlingSegments) {
  Indices offsets = {0};
  for (uint64_t i = 0; i < 560; ++i)
    offsets.push_back(offsets.back() + (i % 100 == 7 ? 20000 : 1025 + i * 2654435761u % 400));
  for (const uint64_t k : {uint64_t{1}, uint64_t{40}, uint64_t{128}})
    check(generate(k == 40 ? Distribution::kTwoValues : Distribution::kUniform, type(), offsets.back(), k), offsets,
          {handle(), place()}, {k, GSORT_U32, Wanted::kBoth, kTopkFlags[k % 4]});
}

// Long ones, which teams of blocks do side by side, and one that is longer than all others together.
TEST_P(TopkSegmentsTest, LongSegments) {
  for (const Indices &offsets : {Indices{0, 270000, 540000, 810000, 1080000}, Indices{0, 5, 1100000, 1370000}})
    check(generate(Distribution::kUniform, type(), offsets.back(), 5), offsets, {handle(), place()}, {40, GSORT_U32});
}

GSORT_INSTANTIATE_BACKENDS_TYPES(TopkSegmentsTest, kAllTypes);

}  // namespace
}  // namespace gsort_test
