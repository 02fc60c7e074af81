// SPDX-License-Identifier: MIT OR Apache-2.0
// The quicksort of keys alone, in place, by vector kernels: one thread's, and the steps of it that several threads take
// (team_quicksort.h, vector_sort.h).
#ifndef GSORT_CPU_SORT_KEY_QUICKSORT_H_
#define GSORT_CPU_SORT_KEY_QUICKSORT_H_

#include <cstdint>
#include <limits>
#include <utility>

#include "core/random_draws.h"
#include "cpu/engine/context.h"
#include "cpu/primitive/scatter.h"
#include "cpu/vector/sort.h"

namespace gsort_internal {

// Any thread calls any function, on keys of its own.
template <class K>
class KeyQuicksort {
 public:
  using Inner = InnerKey<K>;
  static constexpr Inner kLeast = std::numeric_limits<Inner>::min(), kGreatest = std::numeric_limits<Inner>::max();
  static constexpr uint64_t kPartItems = 1 << 20;  // one thread's work between chances to cancel: some milliseconds

  // The keys of a part of the result, from `least` to `greatest`, in the kernels' own order. Pivots are drawn
  // `draws_left` times; then they halve the range of keys, as in the kernels' own quicksort.
  struct Part {
    K *keys;
    uint64_t n;
    Inner least, greatest;
    uint32_t draws_left;
  };
  // The median of keys drawn at random, and whether they were of one or two values.
  struct Pivot {
    Inner key;
    bool few_values;
  };

  KeyQuicksort(Context &context, const SortKernels<K> &kernels, const KeyCodec<K> &codec)
      : context_(context),
        kernels_(kernels),
        codec_(codec),
        encode_(codec.nan_count == 0 ? codec : KeyCodec<K>{0, 0, 0}) {}

  // Sorts n keys of `in` into `out`, which may be `in`, on one thread. Once the context is stopped it leaves a
  // permutation in an `out` that was `in`.
  void run(const K *in, K *out, uint64_t n) const {
    if (n <= kPartItems) return sort_whole(in, out, n);
    Part small{}, large{};
    split_whole(in, out, n, draw_pivot(in, n).key, small, large);
    context_.poll();
    sort_or_split(small);
    sort_or_split(large);
  }

  // The same without a chance to cancel.
  void sort_whole(const K *in, K *out, uint64_t n) const {
    if (nans_last()) encode_keys(codec_, in, out, n);
    kernels_.sort(encode_, encode_, nans_last() ? out : in, out, n);
    if (nans_last()) decode_keys(codec_, out, n);
    context_.advance(n);
  }

  // Brings the keys to `out`, which may be `in`, in the kernels' own order: first those up to the pivot, whose number
  // it returns.
  uint64_t split(const K *in, K *out, uint64_t n, Inner pivot) const {
    if (nans_last()) encode_keys(codec_, in, out, n);
    return kernels_.split(encode_, nans_last() ? out : in, out, n, pivot);
  }

  // Splits the keys, which are not in that order yet, or a part of more than one possible key, into two, of which
  // `small` is at most half.
  void split_whole(const K *in, K *out, uint64_t n, Inner pivot, Part &small, Part &large) const {
    make_halves(whole(out, n), split(in, out, n, pivot), pivot, small, large);
  }
  void split_part(Part part, Part &small, Part &large) const {
    Inner pivot = static_cast<Inner>((part.least >> 1) + (part.greatest >> 1) + (part.least & part.greatest & 1));
    if (part.draws_left > 0) {
      --part.draws_left;
      pivot = draw_pivot(part.keys, part.n, kInnerOrder<K>, part.greatest).key;
    }
    make_halves(part, kernels_.split(kInnerOrder<K>, part.keys, part.keys, part.n, pivot), pivot, small, large);
  }

  // Sorts a part, or leaves its keys in any order once the context is stopped; either way as the caller knows them.
  void sort_part(const Part &part) const {
    if (context_.stopped()) return decode(part.keys, part.n);
    kernels_.sort_part(encode_, part.keys, part.n, part.least, part.greatest);
    if (nans_last()) decode_keys(codec_, part.keys, part.n);
    context_.advance(part.n);
  }

  static constexpr Part whole(K *keys, uint64_t n) { return {keys, n, kLeast, kGreatest, 2 * kWidth}; }
  // The halves of a part whose first `lowers` keys are up to the pivot.
  static void make_halves(const Part &part, uint64_t lowers, Inner pivot, Part &small, Part &large) {
    small = {part.keys, lowers, part.least, pivot, part.draws_left};
    large = {part.keys + lowers, part.n - lowers, static_cast<Inner>(pivot + 1), part.greatest, part.draws_left};
    if (small.n > large.n) std::swap(small, large);
  }

  // Draws `count` keys of n at random and leaves them in the kernels' own order, sorted.
  void draw(const K *keys, uint64_t n, const KeyCodec<K> &codec, K *drawn, uint32_t count) const {
    RandomDraws draws(n);
    for (uint32_t i = 0; i < count; ++i)
      drawn[i] = static_cast<K>(codec.encode(keys[draws.below(n)]) ^ KeyCodec<K>::kTop);
    kernels_.sort(kInnerOrder<K>, kInnerOrder<K>, drawn, drawn, count);
  }
  static bool are_few_values(const K *sorted, uint32_t count) {
    uint32_t lesser = 1;
    while (lesser < count && sorted[lesser] == sorted[0]) ++lesser;
    return lesser == count || sorted[lesser] == sorted[count - 1];
  }

  // Of keys that are not in the kernels' own order yet.
  Pivot draw_pivot(const K *in, uint64_t n) const { return draw_pivot(in, n, codec_, kGreatest); }

 private:
  static constexpr uint32_t kWidth = sizeof(K) * 8;
  static constexpr uint32_t kDraws = 256;  // for one pivot

  // NaNs last are no order of the kernels: such keys are encoded beforehand and decoded afterwards.
  bool nans_last() const { return codec_.nan_count != 0; }

  void decode(K *keys, uint64_t n) const {
    kernels_.decode(encode_, keys, keys, n);
    if (nans_last()) decode_keys(codec_, keys, n);
  }

  // Below the greatest key that may be, so that each half has fewer. On its own, so that the keys drawn are no part of
  // the frames of the recursion.
  __attribute__((noinline)) Pivot draw_pivot(const K *keys, uint64_t n, const KeyCodec<K> &codec,
                                             Inner greatest) const {
    K drawn[kDraws];
    draw(keys, n, codec, drawn, kDraws);
    const Inner median = static_cast<Inner>(drawn[kDraws / 2]);
    return {median < greatest ? median : static_cast<Inner>(greatest - 1), are_few_values(drawn, kDraws)};
  }

  // Splits until parts are small enough to be sorted without a chance to cancel.
  void sort_or_split(Part part) const {
    while (part.n > kPartItems && part.least != part.greatest && !context_.stopped()) {
      Part small{}, large{};
      split_part(part, small, large);
      sort_or_split(small);
      part = large;
    }
    sort_part(part);
    context_.poll();
  }

  Context &context_;
  const SortKernels<K> &kernels_;
  KeyCodec<K> codec_, encode_;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_KEY_QUICKSORT_H_
