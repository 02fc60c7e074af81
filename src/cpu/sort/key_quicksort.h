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

// Any thread calls any function, on keys of its own; `worker` is its number, of which 0 is the calling thread's. Keys
// stay as the caller knows them but for those of a part that is being sorted, so that a sort may end after any split,
// and in the midst of one.
template <class K>
class KeyQuicksort {
 public:
  using Inner = InnerKey<K>;
  static constexpr Inner kLeast = std::numeric_limits<Inner>::min(), kGreatest = std::numeric_limits<Inner>::max();
  // One thread's work between chances to cancel, some four milliseconds; and that of few values, which are counted.
  static constexpr uint64_t kPartItems = (1 << 22) / sizeof(K), kFewValuesItems = 1 << 20;

  // The keys of a part of the result, from `least` to `greatest` in the kernels' own order. Pivots are drawn
  // `draws_left` times; then they halve the range of keys, as in the kernels' own quicksort.
  struct Part {
    K *keys;
    uint64_t n;
    Inner least, greatest;
    uint32_t draws_left;
  };
  // The median of keys drawn at random, in the kernels' own order, and whether they were of one or two values.
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
    const Pivot pivot = draw_pivot(in, n);
    if (pivot.few_values && n <= kFewValuesItems) return sort_whole(in, out, n);
    Part small{}, large{};
    split_whole(in, out, n, pivot.key, small, large, 0);
    sort_part(small, 0);
    sort_part(large, 0);
  }

  // The same without a chance to cancel.
  void sort_whole(const K *in, K *out, uint64_t n) const {
    if (nans_last()) encode_keys(codec_, in, out, n);
    kernels_.sort(encode_, encode_, nans_last() ? out : in, out, n);
    if (nans_last()) decode_keys(codec_, out, n);
    context_.advance(n);
  }

  // Brings the keys to `out`, which may be `in`: first those up to the pivot, whose number it returns. Once the context
  // is stopped, an `out` that was `in` has them in any order, another one has anything, and the number means nothing.
  uint64_t split(const K *in, K *out, uint64_t n, Inner pivot, uint32_t worker) const {
    Asker asker{&context_, worker};
    const auto ask = [](void *user) {
      const Asker &a = *static_cast<const Asker *>(user);
      return a.context->goes_on(a.worker);
    };
    return kernels_.split(codec_, in, out, n, pivot, {ask, &asker});
  }

  // Splits all keys, of which `small` gets at most half.
  void split_whole(const K *in, K *out, uint64_t n, Inner pivot, Part &small, Part &large, uint32_t worker) const {
    make_halves(whole(out, n), split(in, out, n, pivot, worker), pivot, small, large);
  }
  // The same of a part; false if it is better sorted as it is: it is of at most `piece` keys, or nothing is left to
  // split, or to do.
  bool split_part(Part part, uint64_t piece, Part &small, Part &large, uint32_t worker) const {
    if (part.n <= piece || part.least == part.greatest || context_.stopped()) return false;
    Inner pivot = static_cast<Inner>((part.least >> 1) + (part.greatest >> 1) + (part.least & part.greatest & 1));
    if (part.draws_left > 0) {
      --part.draws_left;
      const Pivot drawn = draw_pivot(part.keys, part.n, part.greatest);
      if (drawn.few_values && part.n <= kFewValuesItems) return false;
      pivot = drawn.key;
    }
    make_halves(part, split(part.keys, part.keys, part.n, pivot, worker), pivot, small, large);
    return true;
  }

  // Sorts a part that is not split any more, unless the context is stopped.
  void finish_part(const Part &part) const {
    if (context_.stopped()) return;
    if (part.least != part.greatest) {
      if (nans_last()) encode_keys(codec_, part.keys, part.keys, part.n);
      kernels_.sort_part(encode_, part.keys, part.n, part.least, part.greatest);
      if (nans_last()) decode_keys(codec_, part.keys, part.n);
    }
    context_.advance(part.n);
  }
  // Splits until parts are small enough to be sorted without a chance to cancel.
  void sort_part(Part part, uint32_t worker) const {
    Part small{}, large{};
    while (split_part(part, kPartItems, small, large, worker)) {
      sort_part(small, worker);
      part = large;
    }
    finish_part(part);
    context_.goes_on(worker);
  }

  static constexpr Part whole(K *keys, uint64_t n) { return {keys, n, kLeast, kGreatest, 2 * kWidth}; }
  // The halves of a part whose first `lowers` keys are up to the pivot.
  static void make_halves(const Part &part, uint64_t lowers, Inner pivot, Part &small, Part &large) {
    small = {part.keys, lowers, part.least, pivot, part.draws_left};
    large = {part.keys + lowers, part.n - lowers, static_cast<Inner>(pivot + 1), part.greatest, part.draws_left};
    if (small.n > large.n) std::swap(small, large);
  }

  // Draws `count` keys of n at random and leaves them in the kernels' own order, sorted.
  void draw(const K *keys, uint64_t n, K *drawn, uint32_t count) const {
    RandomDraws draws(n);
    for (uint32_t i = 0; i < count; ++i)
      drawn[i] = static_cast<K>(codec_.encode(keys[draws.below(n)]) ^ KeyCodec<K>::kTop);
    kernels_.sort(kInnerOrder<K>, kInnerOrder<K>, drawn, drawn, count);
  }
  static bool are_few_values(const K *sorted, uint32_t count) {
    uint32_t lesser = 1;
    while (lesser < count && sorted[lesser] == sorted[0]) ++lesser;
    return lesser == count || sorted[lesser] == sorted[count - 1];
  }

  // Below the greatest key that may be, so that each half has fewer. On its own, so that the keys drawn are no part of
  // the frames of the recursion.
  __attribute__((noinline)) Pivot draw_pivot(const K *keys, uint64_t n, Inner greatest = kGreatest) const {
    K drawn[kDraws];
    const uint32_t draws = context_.threads() == 1 ? kDrawsAlone : kDraws;
    draw(keys, n, drawn, draws);
    const Inner median = static_cast<Inner>(drawn[draws / 2]);
    return {median < greatest ? median : static_cast<Inner>(greatest - 1), are_few_values(drawn, draws)};
  }

 private:
  static constexpr uint32_t kWidth = sizeof(K) * 8;
  // For one pivot. Uneven halves cost more where threads share them.
  static constexpr uint32_t kDraws = 256, kDrawsAlone = 64;

  // NaNs last are no order that the kernels sort by: such keys are encoded beforehand and decoded afterwards.
  bool nans_last() const { return codec_.nan_count != 0; }

  struct Asker {
    Context *context;
    uint32_t worker;
  };

  Context &context_;
  const SortKernels<K> &kernels_;
  KeyCodec<K> codec_, encode_;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_KEY_QUICKSORT_H_
