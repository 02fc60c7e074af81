// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reference/sorting.h"

#include <algorithm>

namespace gsort_test {
namespace {

struct Entry {
  Int128 number;
  uint64_t index;
};

}  // namespace

Indices reference_argsort(const Array &keys, uint32_t flags) {
  std::vector<Entry> entries(keys.size());
  for (uint64_t i = 0; i < entries.size(); i++) entries[i] = {order_number(keys.type(), keys.get(i), flags), i};
  std::stable_sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) { return a.number < b.number; });
  Indices order(entries.size());
  for (uint64_t i = 0; i < order.size(); i++) order[i] = entries[i].index;
  return order;
}

Array gather(const Array &from, const Indices &indices) {
  Array to(from.type(), indices.size());
  for (uint64_t i = 0; i < indices.size(); i++) to.set(i, from.get(indices[i]));
  return to;
}

Bytes gather_values(const Bytes &values, uint32_t value_bytes, const Indices &indices) {
  Bytes to(indices.size() * value_bytes);
  for (uint64_t i = 0; i < indices.size(); i++) {
    std::memcpy(to.data() + i * value_bytes, values.data() + indices[i] * value_bytes, value_bytes);
  }
  return to;
}

Array reference_sort(const Array &keys, uint32_t flags) { return gather(keys, reference_argsort(keys, flags)); }

Indices reference_rank(const Array &keys, uint32_t flags) {
  const Indices order = reference_argsort(keys, flags);
  Indices ranks(order.size());
  for (uint64_t place = 0; place < order.size(); place++) ranks[order[place]] = place;
  return ranks;
}

Array reference_merge(const Array &a, const Array &b, uint32_t flags) {
  Array both(a.type(), a.size() + b.size());
  for (uint64_t i = 0; i < a.size(); i++) both.set(i, a.get(i));
  for (uint64_t i = 0; i < b.size(); i++) both.set(a.size() + i, b.get(i));
  return reference_sort(both, flags);
}

Array slice(const Array &from, uint64_t begin, uint64_t end) {
  Array to(from.type(), end - begin);
  for (uint64_t i = begin; i < end; i++) to.set(i - begin, from.get(i));
  return to;
}

Array reference_sort_segments(const Array &keys, const Indices &offsets, uint32_t flags) {
  Array out = keys;
  for (size_t s = 0; s + 1 < offsets.size(); s++) {
    const Array sorted = reference_sort(slice(keys, offsets[s], offsets[s + 1]), flags);
    for (uint64_t i = 0; i < sorted.size(); i++) out.set(offsets[s] + i, sorted.get(i));
  }
  return out;
}

Indices reference_topk(const Array &in, uint64_t k, uint32_t flags) {
  const uint32_t direction = (flags & GSORT_SMALLEST) != 0 ? 0u : GSORT_DESCENDING;
  Indices order = reference_argsort(in, direction | (flags & GSORT_NAN_LAST));
  order.resize(k);
  return order;
}

Indices reference_topk_rows(const Array &in, const Matrix &matrix, uint64_t k, uint32_t flags) {
  Indices all;
  for (uint64_t r = 0; r < matrix.rows; r++) {
    const uint64_t begin = r * matrix.row_stride;
    const Indices row = reference_topk(slice(in, begin, begin + matrix.columns), k, flags);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

Indices reference_topk_segments(const Array &in, const Indices &offsets, uint64_t k, uint32_t flags) {
  Indices all;
  for (size_t s = 0; s + 1 < offsets.size(); s++) {
    const uint64_t size = offsets[s + 1] - offsets[s];
    Indices row = reference_topk(slice(in, offsets[s], offsets[s + 1]), size < k ? size : k, flags);
    row.resize(k, kNoElement);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

}  // namespace gsort_test
