// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort_topk_rows(): rows of every length, gaps between rows.
#include <algorithm>

#include "inputs/samples.h"
#include "support/backend.h"

namespace gsort_test {
namespace {

class TopkRowsTest : public BackendTypeTest {
 protected:
  void check(const Array &in, const Matrix &matrix, const Where &where, const TopkArguments &arguments) {
    const Selection best = run_topk_rows(where, in, matrix, arguments);
    const Indices expected = reference_topk_rows(in, matrix, arguments.k, arguments.flags);
    Indices flat = expected;
    for (uint64_t i = 0; i < flat.size(); i++) flat[i] += i / arguments.k * matrix.row_stride;
    if (arguments.wanted != Wanted::kIndices) {
      ASSERT_TRUE(same_elements(gather(in, flat), best.values));
    }
    if (arguments.wanted == Wanted::kValues) return;
    ASSERT_TRUE(same_elements(make_indices(arguments.index_t, expected), best.indices)) << "indices";
  }
};

TEST_P(TopkRowsTest, MatchesReference) {
  constexpr Matrix kMatrices[] = {{1, 1, 1},     {1, 1000, 1000}, {7, 1, 3},       {3, 100, 128},
                                  {100, 33, 33}, {64, 257, 300},  {5, 4097, 4100}, {300, 16, 16}};
  constexpr Wanted kWanted[] = {Wanted::kBoth, Wanted::kValues, Wanted::kIndices};
  uint64_t turn = 0;
  for (const Distribution distribution : kAllDistributions) {
    if (!applies(distribution, type())) continue;
    for (const Matrix &matrix : kMatrices) {
      const uint64_t ks[] = {1, 5, 64, matrix.columns, matrix.columns / 2, 256, 17};
      const uint64_t k = std::min(std::max<uint64_t>(ks[turn % 7], 1), matrix.columns);
      const uint32_t flags = kTopkFlags[turn % 4];
      SCOPED_TRACE(testing::Message() << distribution_name(distribution) << ", " << matrix.rows << " x "
                                      << matrix.columns << ", stride " << matrix.row_stride << ", k " << k
                                      << describe_flags(flags));
      // The last row has no gap behind it: reading one would reach into the red zone.
      const uint64_t n = (matrix.rows - 1) * matrix.row_stride + matrix.columns;
      const Where where = {handle(), place(), place(), static_cast<uint32_t>(turn % 16)};
      check(generate(distribution, type(), n, turn), matrix, where,
            {k, kIndexTypes[turn % 4], kWanted[turn % 3], flags});
      if (HasFailure()) return;
      turn++;
    }
  }
}

TEST_P(TopkRowsTest, NothingToDo) {
  const Array in = generate(Distribution::kUniform, type(), 100, 1);
  run_topk_rows({handle(), place()}, in, {10, 10, 10}, {0, GSORT_U32});
  run_topk_rows({handle(), place()}, Array(type(), 0), {0, 10, 10}, {5, GSORT_U32});
  run_topk_rows({handle(), place()}, Array(type(), 0), {5, 0, 0}, {0, GSORT_U32});
}

TEST_P(TopkRowsTest, ManyShortRowsAndFewLongOnes) {
  const Array in = generate(Distribution::kUniform, type(), 60000, 4);
  check(in, {20000, 3, 3}, {handle(), place()}, {2, GSORT_I32});
  check(in, {2, 30000, 30000}, {handle(), place()}, {500, GSORT_U64});
}

// Rows that a block holds whole, of all sizes of blocks, on data that spreads, crowds and has few values.
TEST_P(TopkRowsTest, RowsOfABlockWithManyResults) {
  constexpr Matrix kMatrices[] = {{3, 64, 64},     {3, 609, 613},   {2, 1024, 1024}, {3, 1025, 1025},
                                  {2, 2049, 2050}, {2, 4096, 4096}, {2, 4097, 4097}, {2, 8192, 8192}};
  uint64_t turn = 0;
  for (const Distribution distribution : kAllDistributions) {
    if (!applies(distribution, type())) continue;
    for (const uint64_t part : {16, 3, 1}) {
      const Matrix &matrix = kMatrices[turn % 8];
      const uint64_t k = matrix.columns / part;
      SCOPED_TRACE(testing::Message() << distribution_name(distribution) << ", " << matrix.rows << " x "
                                      << matrix.columns << ", k " << k);
      const Array in = generate(distribution, type(), (matrix.rows - 1) * matrix.row_stride + matrix.columns, turn);
      check(in, matrix, {handle(), place()}, {k, kIndexTypes[turn % 4], Wanted::kBoth, kTopkFlags[turn % 4]});
      if (HasFailure()) return;
      turn++;
    }
  }
}

GSORT_INSTANTIATE_BACKENDS_TYPES(TopkRowsTest, kAllTypes);

}  // namespace
}  // namespace gsort_test
