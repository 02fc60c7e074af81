// SPDX-License-Identifier: MIT OR Apache-2.0
// One function an operation: lays the arrays out in guarded memory, calls the library, waits, checks that the call
// succeeded, that inputs are unchanged and that nothing outside the outputs was written, and returns the result.
#ifndef GSORT_TESTS_SUPPORT_RUN_H_
#define GSORT_TESTS_SUPPORT_RUN_H_

#include <gtest/gtest.h>

#include "reference/sorting.h"
#include "support/buffer.h"

namespace gsort_test {

struct Where {
  gsort *g;
  Place place = Place::kHost;
  Place place_out = place;
  uint32_t offset_elements = 0;  // how far arrays begin off the boundary of 256 bytes, in their own elements
  bool in_place = false;
};

struct Pairs {
  Array keys;
  Bytes values;
};

struct Selection {
  Array values;
  Array indices;
};
enum class Wanted { kBoth, kValues, kIndices };

Array run_sort(const Where &where, const Array &keys, uint32_t flags);
Pairs run_sort_pairs(const Where &where, const Pairs &in, uint32_t value_bytes, uint32_t flags);
Array run_argsort(const Where &where, const Array &keys, gsort_dtype index_t, uint32_t flags);
Array run_rank(const Where &where, const Array &keys, gsort_dtype index_t, uint32_t flags);
Array run_merge(const Where &where, const Array &a, const Array &b, uint32_t flags);
Array run_sort_segments(const Where &where, const Array &keys, const Indices &offsets, uint32_t flags);

struct TopkArguments {
  uint64_t k;
  gsort_dtype index_t = GSORT_U32;
  Wanted wanted = Wanted::kBoth;
  uint32_t flags = 0;
};
Selection run_topk(const Where &where, const Array &in, const TopkArguments &arguments);
Selection run_topk_rows(const Where &where, const Array &in, const Matrix &matrix, const TopkArguments &arguments);

Selection run_topk_segments(const Where &where, const Array &in, const Indices &offsets,
                            const TopkArguments &arguments);

uint64_t run_sum(const Where &where, const Array &in);
uint64_t run_reduce(const Where &where, uint32_t op, const Array &in, uint32_t flags);
Array run_scan(const Where &where, const Array &in, uint32_t flags);

// Names the first element that differs.
::testing::AssertionResult same_elements(const Array &expected, const Array &actual);
::testing::AssertionResult same_bytes(const Bytes &expected, const Bytes &actual);
// GSORT_OK, or a failure with the library's message.
::testing::AssertionResult succeeded(gsort *g, gsort_status status);

}  // namespace gsort_test

#endif  // GSORT_TESTS_SUPPORT_RUN_H_
