// SPDX-License-Identifier: MIT OR Apache-2.0
// What sorts, ranks, merges and selections must give: std::stable_sort and the order of reference/order.h, no more.
#ifndef GSORT_TESTS_REFERENCE_SORTING_H_
#define GSORT_TESTS_REFERENCE_SORTING_H_

#include "reference/order.h"

namespace gsort_test {

using Indices = std::vector<uint64_t>;

Indices reference_argsort(const Array &keys, uint32_t flags);
Array gather(const Array &from, const Indices &indices);
Bytes gather_values(const Bytes &values, uint32_t value_bytes, const Indices &indices);
Array reference_sort(const Array &keys, uint32_t flags);
Indices reference_rank(const Array &keys, uint32_t flags);
Array reference_merge(const Array &a, const Array &b, uint32_t flags);
Array reference_sort_segments(const Array &keys, const Indices &offsets, uint32_t flags);

// Indices of the k best. Flags: GSORT_SMALLEST, GSORT_NAN_LAST.
Indices reference_topk(const Array &in, uint64_t k, uint32_t flags);

struct Matrix {
  uint64_t rows;
  uint64_t columns;
  uint64_t row_stride;
};
// Column indices, rows x k.
Indices reference_topk_rows(const Array &in, const Matrix &matrix, uint64_t k, uint32_t flags);

// k entries a segment, counted from its beginning; kNoElement where it has fewer.
constexpr uint64_t kNoElement = UINT64_MAX;
Indices reference_topk_segments(const Array &in, const Indices &offsets, uint64_t k, uint32_t flags);

Array slice(const Array &from, uint64_t begin, uint64_t end);

}  // namespace gsort_test

#endif  // GSORT_TESTS_REFERENCE_SORTING_H_
