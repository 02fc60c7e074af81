// SPDX-License-Identifier: MIT OR Apache-2.0
// Merge of two sorted arrays: the output is cut into equal parts, and a search along the merge path finds the inputs of
// each.
#include <cstdint>
#include <cstring>

#include "cpu/operations.h"
#include "cpu/scatter.h"

namespace gsort_internal {

namespace {

constexpr uint64_t kMergeChunkItems = 1 << 16;
constexpr uint64_t kMergeItemsOfThread = 1 << 13;  // some ten microseconds of work

template <class K>
struct MergeInputs {
  const K *a;
  uint64_t a_n;
  const K *b;
  uint64_t b_n;
};

// How many elements of `a` are among the first `out_n` of the merge; equal keys of `a` go first.
template <class K, class Encode>
uint64_t merge_path(const MergeInputs<K> &in, uint64_t out_n, Encode encode) {
  uint64_t low = out_n > in.b_n ? out_n - in.b_n : 0, high = min_u64(out_n, in.a_n);
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (encode(in.a[middle]) <= encode(in.b[out_n - 1 - middle])) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <class K, class Encode>
void merge_part(const K *a, uint64_t a_n, const K *b, uint64_t b_n, K *out, Encode encode) {
  const K *const a_end = a + a_n, *const b_end = b + b_n;
  while (a != a_end && b != b_end) {
    const K a_key = *a, b_key = *b;
    const bool take_a = encode(a_key) <= encode(b_key);
    *out++ = take_a ? a_key : b_key;
    a += take_a;
    b += !take_a;
  }
  if (a != a_end) std::memcpy(out, a, static_cast<uint64_t>(a_end - a) * sizeof(K));
  if (b != b_end) std::memcpy(out, b, static_cast<uint64_t>(b_end - b) * sizeof(K));
}

template <class K, class Encode>
void merge(Context &context, const MergeInputs<K> &in, K *out, Encode encode) {
  const uint64_t n = in.a_n + in.b_n;
  context.limit_threads(n, kMergeItemsOfThread);
  const uint64_t parts = context.parts_for(n, kMergeItemsOfThread, kMergeChunkItems);
  const HostBuffer<uint64_t> cuts(context.memory, parts + 1);
  context.begin(n);
  const auto range_of = [n, parts](uint64_t p) { return part_of(n, p, parts, kLineBytes); };
  cuts[0] = 0;
  context.for_each_unbroken(parts,
                            [&](uint64_t p, uint32_t) { cuts[p + 1] = merge_path(in, range_of(p).end, encode); });
  // Sorted inputs give rising cuts; whatever the inputs, these bounds make every element go out once.
  for (uint64_t p = 0; p < parts; ++p)
    cuts[p + 1] = min_u64(max_u64(cuts[p + 1], cuts[p]), cuts[p] + range_of(p).size());
  context.for_each(parts, [&](uint64_t p, uint32_t) {
    if (context.stopped()) return;
    const uint64_t begin = range_of(p).begin, end = range_of(p).end;
    const uint64_t b_begin = begin - cuts[p], b_end = end - cuts[p + 1];
    merge_part(in.a + cuts[p], cuts[p + 1] - cuts[p], in.b + b_begin, b_end - b_begin, out + begin, encode);
    context.advance(end - begin);
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
