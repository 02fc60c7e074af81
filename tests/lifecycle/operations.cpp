// SPDX-License-Identifier: MIT OR Apache-2.0
#include "lifecycle/operations.h"

#include <algorithm>

#include "reference/float_scan.h"
#include "reference/sorting.h"
#include "reference/sums.h"

namespace gsort_test {
namespace {

uint64_t k_of(const Arrays &a) { return a.n / 3; }

Bytes first(const Buffer &buffer, uint64_t bytes) {
  Bytes content = buffer.read();
  content.resize(bytes);
  return content;
}

Bytes keys_out(const Arrays &a) { return first(a.keys_out, a.keys_content.size()); }
Bytes indices_out(const Arrays &a) { return first(a.indices_out, a.n * 4); }
Bytes eight_bytes(const Arrays &a) { return first(a.values_out, 8); }

Bytes pairs_out(const Arrays &a) {
  Bytes all = keys_out(a);
  const Bytes values = a.values_out.read();
  all.insert(all.end(), values.begin(), values.end());
  return all;
}

Bytes best_out(const Arrays &a) {
  Bytes all = first(a.keys_out, k_of(a) * element_type(a.type).bytes);
  const Bytes indices = first(a.indices_out, k_of(a) * 4);
  all.insert(all.end(), indices.begin(), indices.end());
  return all;
}

Array input_of(const Arrays &a) { return Array(a.type, a.keys_content); }
Bytes as_indices(gsort_dtype t, const Indices &indices) { return make_indices(t, indices).bytes(); }
Bytes as_bytes(uint64_t bits) {
  Bytes bytes(8);
  std::memcpy(bytes.data(), &bits, 8);
  return bytes;
}
Bytes joined(Bytes first_bytes, const Bytes &second) {
  first_bytes.insert(first_bytes.end(), second.begin(), second.end());
  return first_bytes;
}

Bytes expected_pairs(const Arrays &a) {
  const Indices order = reference_argsort(input_of(a), GSORT_DESCENDING);
  return joined(gather(input_of(a), order).bytes(), gather_values(a.values_content, 4, order));
}

Bytes expected_best(const Arrays &a) {
  const Indices best = reference_topk(input_of(a), k_of(a), 0);
  return joined(gather(input_of(a), best).bytes(), as_indices(GSORT_U32, best));
}

Bytes expected_scan(const Arrays &a) {
  const bool is_float = element_type(a.type).is_float;
  return (is_float ? reference_float_scan(input_of(a), 0) : reference_integer_scan(input_of(a), 0)).bytes();
}

using Run = std::function<gsort_status(gsort *, const Arrays &)>;
using Content = std::function<Bytes(const Arrays &)>;

NamedOperation make_sort() {
  const Run run = [](gsort *g, const Arrays &a) {
    return gsort_sort(g, a.type, a.keys.data(), a.keys_out.data(), a.n, 0);
  };
  return {"sort", run, keys_out, [](const Arrays &a) { return reference_sort(input_of(a), 0).bytes(); }};
}

NamedOperation make_sort_pairs() {
  const Run run = [](gsort *g, const Arrays &a) {
    return gsort_sort_pairs(g, a.type, a.keys.data(), a.keys_out.data(), 4, a.values.data(), a.values_out.data(), a.n,
                            GSORT_DESCENDING);
  };
  return {"sort_pairs", run, pairs_out, expected_pairs};
}

NamedOperation make_argsort() {
  const Run run = [](gsort *g, const Arrays &a) {
    return gsort_argsort(g, a.type, a.keys.data(), a.n, GSORT_U32, a.indices_out.data(), 0);
  };
  return {"argsort", run, indices_out,
          [](const Arrays &a) { return as_indices(GSORT_U32, reference_argsort(input_of(a), 0)); }};
}

NamedOperation make_rank() {
  const Run run = [](gsort *g, const Arrays &a) {
    return gsort_rank(g, a.type, a.keys.data(), a.n, GSORT_I32, a.indices_out.data(), 0);
  };
  return {"rank", run, indices_out,
          [](const Arrays &a) { return as_indices(GSORT_I32, reference_rank(input_of(a), 0)); }};
}

NamedOperation make_merge() {
  const Run run = [](gsort *g, const Arrays &a) {
    const auto *halves = static_cast<const uint8_t *>(a.sorted_halves.data());
    return gsort_merge(g, a.type, halves, a.n / 2, halves + a.n / 2 * element_type(a.type).bytes, a.n - a.n / 2,
                       a.keys_out.data(), 0);
  };
  return {"merge", run, keys_out, [](const Arrays &a) { return reference_sort(input_of(a), 0).bytes(); }};
}

NamedOperation make_sort_segments() {
  const Run run = [](gsort *g, const Arrays &a) {
    return gsort_sort_segments(g, a.type, a.keys.data(), a.keys_out.data(), a.n,
                               static_cast<const uint64_t *>(a.offsets.data()), Arrays::kSegments, 0);
  };
  return {"sort_segments", run, keys_out,
          [](const Arrays &a) { return reference_sort_segments(input_of(a), a.offsets_content, 0).bytes(); }};
}

NamedOperation make_topk() {
  const Run run = [](gsort *g, const Arrays &a) {
    return gsort_topk(g, a.type, a.keys.data(), a.n, k_of(a), a.keys_out.data(), GSORT_U32, a.indices_out.data(), 0);
  };
  return {"topk", run, best_out, expected_best};
}

NamedOperation make_topk_rows() {
  const Run run = [](gsort *g, const Arrays &a) {
    return gsort_topk_rows(g, a.type, a.keys.data(), 3, a.n / 3, a.n / 3, a.n / 9, a.keys_out.data(), GSORT_U32,
                           a.indices_out.data(), GSORT_SMALLEST);
  };
  const Content expected = [](const Arrays &a) {
    return as_indices(GSORT_U32, reference_topk_rows(input_of(a), {3, a.n / 3, a.n / 3}, a.n / 9, GSORT_SMALLEST));
  };
  return {"topk_rows", run, [](const Arrays &a) { return first(a.indices_out, a.n / 9 * 12); }, expected};
}

NamedOperation make_topk_segments() {
  constexpr uint64_t k = Arrays::kBestOfSegments / Arrays::kSegments;
  const Run run = [](gsort *g, const Arrays &a) {
    return gsort_topk_segments(g, a.type, a.keys.data(), a.n, static_cast<const uint64_t *>(a.offsets.data()),
                               Arrays::kSegments, k, a.keys_out.data(), GSORT_U32, a.indices_out.data(), 0);
  };
  const Content expected = [](const Arrays &a) {
    return as_indices(GSORT_U32, reference_topk_segments(input_of(a), a.offsets_content, k, 0));
  };
  return {"topk_segments", run, [](const Arrays &a) { return first(a.indices_out, Arrays::kBestOfSegments * 4); },
          expected};
}

NamedOperation make_sum() {
  const Run run = [](gsort *g, const Arrays &a) {
    return gsort_sum(g, a.type, a.keys.data(), a.n, a.values_out.data(), 0);
  };
  return {"sum", run, eight_bytes, [](const Arrays &a) { return as_bytes(reference_sum(input_of(a))); }};
}

NamedOperation make_mean() {
  const Run run = [](gsort *g, const Arrays &a) {
    return gsort_reduce(g, GSORT_MEAN, a.type, a.keys.data(), a.n, a.values_out.data(), 0);
  };
  return {"mean", run, eight_bytes, [](const Arrays &a) { return as_bytes(reference_mean(input_of(a))); }};
}

NamedOperation make_scan() {
  const Run run = [](gsort *g, const Arrays &a) {
    return gsort_scan(g, a.type, a.keys.data(), a.keys_out.data(), a.n, 0);
  };
  return {"scan", run, keys_out, expected_scan};
}

}  // namespace

Arrays::Arrays(Place place, const Array &input)
    : type(input.type()),
      n(input.size()),
      keys_content(input.bytes()),
      values_content(generate_values(n, 4, 7)),
      offsets_content(generate_offsets(n, kSegments, 3)),
      keys(place, keys_content.size()),
      values(place, n * 4),
      sorted_halves(place, keys_content.size()),
      offsets(place, (kSegments + 1) * 8),
      keys_out(place, std::max(keys_content.size(), kBestOfSegments * element_type(type).bytes)),
      values_out(place, n * 4),
      indices_out(place, std::max(n, kBestOfSegments) * 4) {
  keys.write(keys_content);
  values.write(values_content);
  sorted_halves.write(reference_sort_segments(input, {0, n / 2, n}, 0).bytes());
  offsets.write(make_array(GSORT_U64, offsets_content).bytes());
}

bool Arrays::inputs_intact() const { return keys.read() == keys_content && values.read() == values_content; }

const std::vector<NamedOperation> &all_operations() {
  static const std::vector<NamedOperation> kOperations = {
      make_sort(), make_sort_pairs(), make_argsort(),       make_rank(), make_merge(), make_sort_segments(),
      make_topk(), make_topk_rows(),  make_topk_segments(), make_sum(),  make_mean(),  make_scan()};
  return kOperations;
}

}  // namespace gsort_test
