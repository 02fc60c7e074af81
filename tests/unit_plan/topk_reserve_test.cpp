// SPDX-License-Identifier: MIT OR Apache-2.0
// A reservation for top-k by rows whose best are sorted by the library's own sort, which changes its plan at sizes of
// its own and may need less workspace above them than below.
#include <algorithm>

#include "core/dtype.h"
#include "cuda/sort/plan.h"
#include "cuda/topk/plan.h"
#include "plan_support.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;

Request rows_of(gsort_dtype t, uint64_t rows, uint64_t columns, uint64_t k) {
  Request r = make(Operation::kTopkRows, t, rows * columns, 0);
  r.rows = rows, r.columns = columns, r.row_stride = columns, r.k = k;
  return r;
}

// Rows of `columns` elements that are cut from n elements must fit what was reserved for n and k.
void expect_room(gsort_dtype t, uint64_t n, uint64_t k, const std::vector<uint64_t> &columns) {
  const uint64_t reserved = topk::make_plan(rows_of(t, 1, n, k), kLeastDevice).workspace_bytes;
  uint64_t most = 0;
  for (const uint64_t c : columns) {
    if (c < k || n / c < 2) continue;
    most = std::max(most, topk::make_plan(rows_of(t, n / c, c, k), kLeastDevice).workspace_bytes);
  }
  ASSERT_LE(most, reserved) << "n " << n << " k " << k << " type " << t;
}

TEST(TopkReserve, HoldsRowsOfEveryLengthThatIsSortedWhole) {
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_F32, GSORT_U64})
    for (const uint64_t k :
         {topk::kTeamItemsMax + 1, sort::lsd::kSmallTilesItemsMax * 3 / 4 + 1, sort::lsd::kSmallTilesItemsMax - 3000}) {
      std::vector<uint64_t> columns;
      for (uint64_t c = k; c <= k + k / 3 + 3; ++c) columns.push_back(c);
      expect_room(t, 3 * k, k, columns);
    }
}

// Sizes that a plan of the sort knows, with their neighbours, and lengths at random.
TEST(TopkReserve, HoldsRowsAroundTheSizesAtWhichTheSortChangesItsPlan) {
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_F32, GSORT_U64})
    for (const uint64_t edge :
         {sort::lsd::kSmallTilesItemsMax, sort::lsd::grid_items_max(8, true), sort::msd::kStableItemsMax,
          uint64_t{sort::lsd::kPortionItemsMax}, sort::msd::stable_items_min(4, 4), sort::msd::stable_items_min(8, 4),
          sort::msd::stable_items_min(8, 8), sort::sample_sort::stable_items_min(4),
          sort::sample_sort::stable_items_min(8), sort::sample_sort::kStableItemsMax,
          sort::fast_path::kCountFillItemsMin2, uint64_t{1} << 21, uint64_t{1} << 25, uint64_t{1} << 28,
          uint64_t{1} << 32})
      for (const uint64_t k : {edge - 1, edge, edge - edge / 5, edge - edge / 1000, edge / 4 * 3 + 2}) {
        if (k <= topk::kTeamItemsMax) continue;
        std::vector<uint64_t> columns = {k, k + 1, k + k / 3, k + k / 3 + 1, k + k / 3 + 2, 2 * k};
        for (uint64_t c = edge - 300; c <= edge + 300; ++c) columns.push_back(c);
        for (uint64_t i = 0; i < 300; ++i) columns.push_back(k + k / 3 / 300 * (i * 7919 % 300));
        for (const uint64_t n : {2 * k, 5 * k + 17}) expect_room(t, n, k, columns);
      }
}

// What is reserved beyond the longest row that is sorted whole is little; all of it may be such a row.
TEST(TopkReserve, TakesLittleMoreThanTheLongestRow) {
  for (const uint64_t k : {uint64_t{300000}, uint64_t{5000000}, uint64_t{300000000}}) {
    const uint64_t n = 4 * k, longest = k + k / 3 - 2;
    const uint64_t one = topk::make_plan(rows_of(GSORT_F32, 2, longest, k), kLeastDevice).workspace_bytes;
    const uint64_t reserved = topk::make_plan(rows_of(GSORT_F32, 1, n, k), kLeastDevice).workspace_bytes;
    const bool whole = topk::sorts_whole({1, n, k, 4});
    Request r = make(Operation::kTopk, GSORT_F32, n, 0);
    r.rows = 1, r.columns = n, r.k = k;
    const uint64_t most = whole ? std::max(one, topk::make_plan(r, kLeastDevice).workspace_bytes) : one;
    EXPECT_LE(reserved, most + most / 8 + (uint64_t{1} << 20));
  }
}

}  // namespace
}  // namespace gsort_test
