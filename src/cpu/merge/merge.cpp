// SPDX-License-Identifier: MIT OR Apache-2.0
// The merge of two sorted arrays.
#include "cpu/merge/merge.h"

#include <cstdint>

#include "cpu/engine/operations.h"

namespace gsort_internal {

namespace {

// Splits sorted inputs where f() of a key turns true.
template <class K, class F>
void split_inputs(const MergeInputs<K> &in, F &&f, MergeInputs<K> &before, MergeInputs<K> &after) {
  const auto first_of = [&f](const K *keys, uint64_t n) {
    if (n == 0 || !f(keys[n - 1])) return n;
    uint64_t low = 0, high = n - 1;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      f(keys[middle]) ? high = middle : low = middle + 1;
    }
    return low;
  };
  const uint64_t a_n = first_of(in.a, in.a_n), b_n = first_of(in.b, in.b_n);
  before = {in.a, a_n, in.b, b_n};
  after = {in.a + a_n, in.a_n - a_n, in.b + b_n, in.b_n - b_n};
}

// Merges keys that have the same top bit: they are in order or in the reverse order as they are.
template <class K>
void merge_same_sign(const KeyCodec<K> &codec, const MergeInputs<K> &in, K *out) {
  constexpr K top = KeyCodec<K>::kTop;
  if (in.a_n + in.b_n == 0) return;
  const K one = in.a_n > 0 ? in.a[0] : in.b[0], mask = (one & top) != 0 ? codec.mask_negative : codec.mask_positive;
  if ((mask & static_cast<K>(~top)) == 0) {
    merge_part(in, out, [](K bits) { return bits; });
  } else {
    merge_part(in, out, [](K bits) { return static_cast<K>(~bits); });
  }
}

template <class K>
void merge_by_sign(const KeyCodec<K> &codec, const MergeInputs<K> &in, K *out) {
  MergeInputs<K> lower, upper;
  split_inputs(in, [&codec](K key) { return (codec.encode(key) & KeyCodec<K>::kTop) != 0; }, lower, upper);
  merge_same_sign(codec, lower, out);
  merge_same_sign(codec, upper, out + lower.a_n + lower.b_n);
}

template <class K>
void merge_keys(const KeyCodec<K> &codec, const MergeInputs<K> &in, K *out) {
  if (codec.is_identity()) return merge_part(in, out, [](K bits) { return bits; });
  if (codec.nan_count == 0) return merge_by_sign(codec, in, out);
  constexpr K all_but_top = static_cast<K>(~KeyCodec<K>::kTop);
  const K infinity = static_cast<K>(all_but_top - codec.nan_count);
  MergeInputs<K> numbers, nans;
  split_inputs(in, [infinity](K key) { return static_cast<K>(key & all_but_top) > infinity; }, numbers, nans);
  merge_by_sign(KeyCodec<K>{codec.mask_positive, codec.mask_negative, 0}, numbers, out);
  merge_part(nans, out + numbers.a_n + numbers.b_n, [codec](K bits) { return codec.encode(bits); });
}

template <class K>
void merge(Context &context, const KeyCodec<K> &codec, const MergeInputs<K> &in, K *out) {
  const uint64_t n = in.a_n + in.b_n;
  context.limit_threads(n, kMergeItemsOfThread);
  const uint64_t parts = merge_parts(context, n);
  if (parts == 1) {
    context.begin(n);
    merge_keys(codec, in, out);
    return context.advance(n);
  }
  const HostBuffer<uint64_t> cuts(context.memory, parts + 1);
  const auto encode = [codec](K bits) { return codec.encode(bits); };
  context.begin(n);
  for_merge_parts(context, in, parts, true, cuts.data(), encode, [&](Range range, const MergeInputs<K> &part) {
    merge_keys(codec, part, out + range.begin);
    context.advance(range.size());
  });
  context.throw_if_stopped();
}

// So few are sooner sorted by vectors, in which nothing waits for a comparison, than merged: floats, whose two signs
// are merged each for itself, also where they are fewer still, but not integers of 8 bytes. Keys that are equal in the
// order are the same bits, so that it does not show.
bool are_sooner_sorted(const KeyOrder &order, uint64_t n) {
  constexpr uint64_t floats_least = 3, integers_least = 13, most = 256, most_of_8_bytes = 64;
  if (!are_few_keys(order, n)) return false;
  if (dtype_bytes(order.dtype) == 8) return is_float(order.dtype) && n >= floats_least && n <= most_of_8_bytes;
  return n >= (is_float(order.dtype) ? floats_least : integers_least) && n <= most;
}

template <class K>
void merge_few_of(const FewMerge &m) {
  const MergeInputs<K> in{static_cast<const K *>(m.a), m.a_n, static_cast<const K *>(m.b), m.b_n};
  K *const out = static_cast<K *>(m.out);
  if (!are_sooner_sorted(m.order, in.a_n + in.b_n)) return merge_keys(make_codec<K>(m.order), in, out);
  if (in.a_n > 0) std::memcpy(out, in.a, in.a_n * sizeof(K));
  if (in.b_n > 0) std::memcpy(out + in.a_n, in.b, in.b_n * sizeof(K));
  sort_few_keys(m.order, out, out, in.a_n + in.b_n);
}

}  // namespace

void merge_few(const FewMerge &m) noexcept {
  with_width(dtype_bytes(m.order.dtype), [&](auto tag) { merge_few_of<typename decltype(tag)::type>(m); });
}

void cpu_merge(Context &context, const Request &r) {
  if (r.n + r.b_n == 0) return;
  with_width(dtype_bytes(r.order.dtype), [&](auto tag) {
    using K = typename decltype(tag)::type;
    const MergeInputs<K> in{static_cast<const K *>(r.in), r.n, static_cast<const K *>(r.b), r.b_n};
    merge(context, make_codec<K>(r.order), in, static_cast<K *>(r.out));
  });
}

}  // namespace gsort_internal
