// SPDX-License-Identifier: MIT OR Apache-2.0
// What each operation must give for a shape.
#include <algorithm>

#include "reference/float_scan.h"
#include "reference/sums.h"
#include "shapes/shape.h"

namespace gsort_test {
namespace {

using Calling = std::function<void(bool)>;

// Tells that the library is being called, for the time of the call alone.
template <typename Run>
auto called(const Calling &calling, Run run) {
  calling(true);
  auto result = run();
  calling(false);
  return result;
}

Where where_of(gsort *g, const Shape &s) {
  return {g, s.in_place ? s.place_out : s.place, s.place_out, s.offset_elements, s.in_place};
}

TopkArguments arguments_of(const Shape &s) { return {s.k, s.index_t, s.wanted, s.flags}; }

// `places` are indices into the input, kNoElement where a segment was too short, `indices` what is to be written.
void compare_selection(const Shape &s, const Array &in, const Indices &places, const Indices &indices,
                       const Selection &got) {
  if (s.wanted != Wanted::kIndices) {
    Array values(s.type, places.size());
    for (uint64_t i = 0; i < places.size(); i++) values.set(i, places[i] == kNoElement ? 0 : in.get(places[i]));
    EXPECT_TRUE(same_elements(values, got.values)) << "values";
  }
  if (s.wanted != Wanted::kValues) {
    EXPECT_TRUE(same_elements(make_indices(s.index_t, indices), got.indices)) << "indices";
  }
}

void check_topk(gsort *g, const Shape &s, const Array &in, const Calling &calling) {
  const Selection got = called(calling, [&] { return run_topk(where_of(g, s), in, arguments_of(s)); });
  const Indices best = reference_topk(in, s.k, s.flags);
  compare_selection(s, in, best, best, got);
}

void check_topk_rows(gsort *g, const Shape &s, const Array &in, const Calling &calling) {
  const Selection got = called(calling, [&] { return run_topk_rows(where_of(g, s), in, s.matrix, arguments_of(s)); });
  const Indices best = reference_topk_rows(in, s.matrix, s.k, s.flags);
  Indices places = best;
  for (uint64_t i = 0; i < places.size(); i++) places[i] += i / s.k * s.matrix.row_stride;
  compare_selection(s, in, places, best, got);
}

void check_topk_segments(gsort *g, const Shape &s, const Array &in, const Calling &calling) {
  const Selection got =
      called(calling, [&] { return run_topk_segments(where_of(g, s), in, s.offsets, arguments_of(s)); });
  const Indices best = reference_topk_segments(in, s.offsets, s.k, s.flags);
  Indices places = best;
  for (uint64_t i = 0; i < places.size(); i++)
    if (places[i] != kNoElement) places[i] += s.offsets[i / s.k];
  compare_selection(s, in, places, best, got);
}

void check_merge(gsort *g, const Shape &s, const Array &unsorted, const Calling &calling) {
  const Array a = reference_sort(unsorted, s.flags);
  const Array b = reference_sort(generate(s.distribution, s.type, s.b_n, s.seed + 1), s.flags);
  const Array got = called(calling, [&] { return run_merge(where_of(g, s), a, b, s.flags); });
  EXPECT_TRUE(same_elements(reference_merge(a, b, s.flags), got));
}

void check_pairs(gsort *g, const Shape &s, const Array &keys, const Calling &calling) {
  const Pairs in{keys, generate_values(s.n, s.value_bytes, s.seed)};
  const Pairs got = called(calling, [&] { return run_sort_pairs(where_of(g, s), in, s.value_bytes, s.flags); });
  const Indices order = reference_argsort(keys, s.flags);
  EXPECT_TRUE(same_elements(gather(keys, order), got.keys)) << "keys";
  EXPECT_TRUE(same_bytes(gather_values(in.values, s.value_bytes, order), got.values)) << "values";
}

void check_scan(gsort *g, const Shape &s, const Array &in, const Calling &calling) {
  const Array got = called(calling, [&] { return run_scan(where_of(g, s), in, s.flags); });
  const bool is_float = element_type(s.type).is_float;
  EXPECT_TRUE(same_elements(is_float ? reference_float_scan(in, s.flags) : reference_integer_scan(in, s.flags), got));
}

}  // namespace

void check_shape(gsort *g, const Shape &s, const Calling &calling) {
  const Array in = generate(s.distribution, s.type, s.n, s.seed);
  const Where where = where_of(g, s);
  switch (s.operation) {
    case GSORT_OP_SORT:
      EXPECT_TRUE(
          same_elements(called(calling, [&] { return run_sort(where, in, s.flags); }), reference_sort(in, s.flags)));
      break;
    case GSORT_OP_SORT_PAIRS:
      return check_pairs(g, s, in, calling);
    case GSORT_OP_ARGSORT:
      EXPECT_TRUE(same_elements(called(calling, [&] { return run_argsort(where, in, s.index_t, s.flags); }),
                                make_indices(s.index_t, reference_argsort(in, s.flags))));
      break;
    case GSORT_OP_RANK:
      EXPECT_TRUE(same_elements(called(calling, [&] { return run_rank(where, in, s.index_t, s.flags); }),
                                make_indices(s.index_t, reference_rank(in, s.flags))));
      break;
    case GSORT_OP_MERGE:
      return check_merge(g, s, in, calling);
    case GSORT_OP_SORT_SEGMENTS:
      EXPECT_TRUE(same_elements(called(calling, [&] { return run_sort_segments(where, in, s.offsets, s.flags); }),
                                reference_sort_segments(in, s.offsets, s.flags)));
      break;
    case GSORT_OP_TOPK:
      return check_topk(g, s, in, calling);
    case GSORT_OP_TOPK_ROWS:
      return check_topk_rows(g, s, in, calling);
    case GSORT_OP_TOPK_SEGMENTS:
      return check_topk_segments(g, s, in, calling);
    case GSORT_OP_SUM:
      EXPECT_EQ(called(calling, [&] { return run_sum(where, in); }), reference_sum(in));
      break;
    case GSORT_OP_REDUCE:
      EXPECT_EQ(called(calling, [&] { return run_reduce(where, s.reduce_op, in, s.flags); }),
                s.reduce_op == GSORT_MEAN ? reference_mean(in) : reference_reduce(s.reduce_op, in, s.flags));
      break;
    case GSORT_OP_SCAN:
      return check_scan(g, s, in, calling);
    default:
      ADD_FAILURE() << "no operation " << s.operation;
  }
}

}  // namespace gsort_test
