// SPDX-License-Identifier: MIT OR Apache-2.0
// The merge of two sorted arrays.
#include "cpu/merge.h"

#include <cstdint>

#include "cpu/operations.h"
#include "cpu/scatter.h"

namespace gsort_internal {

namespace {

template <class K, class Encode>
void merge(Context &context, const MergeInputs<K> &in, K *out, Encode encode) {
  const uint64_t n = in.a_n + in.b_n;
  context.limit_threads(n, kMergeItemsOfThread);
  const uint64_t parts = merge_parts(context, n);
  if (parts == 1) {
    context.begin(n);
    merge_part(in, out, encode);
    return context.advance(n);
  }
  const HostBuffer<uint64_t> cuts(context.memory, parts + 1);
  context.begin(n);
  for_merge_parts(context, in, parts, true, cuts.data(), encode, [&](Range range, const MergeInputs<K> &part) {
    merge_part(part, out + range.begin, encode);
    context.advance(range.size());
  });
  context.throw_if_stopped();
}

}  // namespace

void cpu_merge(Context &context, const Request &r) {
  if (r.n + r.b_n == 0) return;
  with_width(dtype_bytes(r.order.dtype), [&](auto tag) {
    using K = typename decltype(tag)::type;
    const MergeInputs<K> in{static_cast<const K *>(r.in), r.n, static_cast<const K *>(r.b), r.b_n};
    with_encoder(make_codec<K>(r.order), [&](auto encode) { merge(context, in, static_cast<K *>(r.out), encode); });
  });
}

}  // namespace gsort_internal
