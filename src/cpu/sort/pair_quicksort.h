// SPDX-License-Identifier: MIT OR Apache-2.0
// One thread's stable sort of records with keys and values of 4 or 8 bytes, and its share in that of a few threads
// (team_pair_quicksort.h): quicksort whose partition leaves both sides
// in the order that they have, because each side has an array to itself. The lower records stay in or go to the output,
// where they belong, and the upper ones stay in or go to the scratch, which is as long; so every part of the array has
// as much room in the other one, and no partition counts before it writes. Blocks are sorted by words of key and place;
// one whose words do not tell the order is split as a longer part is.
#ifndef GSORT_CPU_SORT_PAIR_QUICKSORT_H_
#define GSORT_CPU_SORT_PAIR_QUICKSORT_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "core/random_draws.h"
#include "cpu/engine/context.h"
#include "cpu/primitive/block_sort.h"
#include "cpu/primitive/copy.h"
#include "cpu/sort/part_list.h"
#include "cpu/vector/pair_quicksort.h"

namespace gsort_internal {

template <class K, class V>
constexpr bool kHasPairQuicksort =
    (sizeof(K) == 4 && sizeof(V) == 4) || (sizeof(K) == 8 && (sizeof(V) == 4 || sizeof(V) == 8));

// The kernels for such keys and values on this processor; NULL where there are none.
template <class K, class V>
const PairQuicksortKernels<K, V> *find_pair_quicksort_kernels() {
  if constexpr (kHasPairQuicksort<K, V>) {
    const PairQuicksortKernels<K, V> *const kernels = pair_quicksort_kernels(PairArrays<K, V>{});
    return kernels == nullptr || kernels->block_items == 0 ? nullptr : kernels;
  }
  return nullptr;
}

template <class K, class V>
class PairQuicksort {
 public:
  using Arrays = PairArrays<K, V>;
  using Codec = KeyCodec<K>;
  using Kernels = PairQuicksortKernels<K, V>;
  using Inner = InnerKey<K>;
  static constexpr Inner kLeast = std::numeric_limits<Inner>::min(), kGreatest = std::numeric_limits<Inner>::max();

  // Records with keys from `least` to `greatest`, which lie in the output or in the scratch. At `out_begin` they belong
  // in the output, at `scratch_begin` is their room in the scratch.
  struct Part {
    uint64_t out_begin, scratch_begin, n;
    bool in_scratch;
    Inner least, greatest;
    uint32_t draws_left;  // then pivots halve the range of keys, as in the sort of keys alone
  };
  // The median of keys drawn at random, and whether all of those were the same.
  struct Pivot {
    Inner key;
    bool is_only;
  };

  // `scratch` has room for as many records as are sorted; `words` has words_for(kernels). The codec's order has no NaNs
  // last. polls: the calling thread's, which has chances to cancel.
  PairQuicksort(Context &context, const Kernels &kernels, const Codec &codec, const Arrays &scratch, uint64_t *words,
                bool polls)
      : context_(context), kernels_(kernels), codec_(codec), scratch_(scratch), words_(words), polls_(polls) {}

  // For a block, and for parts that wait: frames of a recursion would be more than stacks may have.
  static uint64_t words_for(const Kernels &kernels) { return kernels.block_items + kWaitingMax * kWordsOfPart; }

  // Sorts the records of `keys` and `values` (their indices where that is NULL) into `out`. They may lie there, or in
  // the scratch. split_advances: the first split is n elements of the call's work, as the sort of what it leaves is.
  // When the context is stopped, it ends early and leaves a permutation of the records in `out`.
  void run(const K *keys, const V *values, uint64_t n, const Arrays &out, bool split_advances) {
    out_ = out;
    const Part whole{0, 0, n, true, kLeast, kGreatest, 2 * bit_width_of(n)};
    if (n <= kernels_.block_items) {
      kernels_.split_first(codec_, {keys, values, 0}, n, kGreatest, scratch_, out);  // all are lower ones
      if (split_advances) context_.advance(n);
      return sort(whole);
    }
    const Inner pivot = below(draw_pivot(keys, n, codec_).key, kGreatest);
    uint64_t lowers = 0;
    in_pieces(n, [&](uint64_t begin, uint64_t count) {
      const RawPairs<K, V> from{keys + begin, values != nullptr ? values + begin : nullptr, begin};
      lowers += kernels_.split_first(codec_, from, count, pivot, out.at(lowers), scratch_.at(begin - lowers));
      if (split_advances) context_.advance(count);
    });
    sort(lower_part(whole, lowers, pivot));
    sort(upper_part(whole, lowers, pivot));
    poll();
  }

  // One of several threads' share: sorts a part and, as long as it is of more than `piece` records, leaves larger
  // halves to the others. On its own, as what it calls, for the loop of one thread is a twentieth slower with it.
  __attribute__((noinline)) void sort_shared(Part part, const Arrays &out, PartList<Part> &others, uint64_t piece) {
    out_ = out;
    while (part.n > piece) {
      Part small{}, large{};
      if (!split_shared(part, small, large)) return;
      if (!others.add(large)) sort(large);
      part = small;
    }
    sort(part);
  }

  static Inner below(Inner pivot, Inner greatest) {
    return pivot < greatest ? pivot : static_cast<Inner>(greatest - 1);
  }

  // On its own, so that the keys are no part of the frame of sorts.
  __attribute__((noinline)) static Pivot draw_pivot(const K *keys, uint64_t n, const Codec &codec) {
    K drawn[kDrawsMax];
    const uint32_t draws = n < (1 << 13) ? 32 : n < (1 << 16) ? 64 : kDrawsMax;
    RandomDraws random(n);
    for (uint32_t i = 0; i < draws; ++i) drawn[i] = codec.encode(keys[random.below(n)]) ^ Codec::kTop;
    sort_kernels(K{})->sort_few(kSignedOrder, drawn, drawn, draws);
    return {static_cast<Inner>(drawn[draws / 2 - 1]), drawn[0] == drawn[draws - 1]};
  }

 private:
  static constexpr uint32_t kDrawsMax = 128, kLongBlocks = 15;
  static constexpr uint64_t kItemsUnheard = 1 << 17;  // between chances to cancel: half a millisecond

  static constexpr uint64_t kWaitingMax = 48;  // each is at most half of the one before, and no memory holds 2^48
  static constexpr uint64_t kWordsOfPart = sizeof(Part) / sizeof(uint64_t);
  static_assert(sizeof(Part) % sizeof(uint64_t) == 0 && alignof(Part) <= alignof(uint64_t));

  void poll() {
    if (polls_) context_.poll();
  }
  static Part lower_part(const Part &part, uint64_t lowers, Inner pivot) {
    return {part.out_begin, part.scratch_begin + (part.n - lowers), lowers, false, part.least, pivot, part.draws_left};
  }
  static Part upper_part(const Part &part, uint64_t lowers, Inner pivot) {
    return {part.out_begin + lowers,       part.scratch_begin, part.n - lowers, true,
            static_cast<Inner>(pivot + 1), part.greatest,      part.draws_left};
  }

  // Calls piece(begin, count) for all of n records, with chances to cancel after each, of which it makes no use itself:
  // what is half split is neither here nor there.
  template <class F>
  void in_pieces(uint64_t n, F &&piece) {
    for_each_piece(n, kItemsUnheard, [&](uint64_t begin, uint64_t count) {
      piece(begin, count);
      if (count == kItemsUnheard) poll();
    });
  }

  void sort(Part part) {
    Part *const waiting = reinterpret_cast<Part *>(words_ + kernels_.block_items);
    uint64_t count = 0;
    for (;;) {
      Part small{}, large{};
      if (sort_or_split(part, small, large)) {
        new (waiting + count++) Part(large);
        part = small;
      } else {
        if (count == 0) return;
        part = waiting[--count];
      }
    }
  }

  __attribute__((noinline)) bool split_shared(const Part &part, Part &small, Part &large) {
    return sort_or_split(part, small, large);
  }

  // Sorts a part, or splits it into two, of which `small` is at most half, and returns whether it did that.
  __attribute__((always_inline)) bool sort_or_split(Part part, Part &small, Part &large) {
    if (part.n == 0) return false;
    if (part.least == part.greatest || context_.stopped()) return leave(part);
    if (part.n <= kernels_.block_items && sort_block(part)) return false;
    const Arrays from = place_of(part);
    Inner pivot = static_cast<Inner>((part.least >> 1) + (part.greatest >> 1) + (part.least & part.greatest & 1));
    if (part.draws_left > 0) {
      --part.draws_left;
      const Pivot drawn = draw_pivot(from.keys, part.n, kInnerOrder<K>);
      if (drawn.is_only && kernels_.is_one_key(from.keys, part.n)) return leave(part);
      pivot = below(drawn.key, part.greatest);
    }
    const uint64_t lowers = split(part, pivot);
    small = lower_part(part, lowers, pivot);
    large = upper_part(part, lowers, pivot);
    if (small.n > large.n) std::swap(small, large);
    return true;
  }

  // Returns how many records are lower ones.
  uint64_t split(const Part &part, Inner pivot) {
    const Arrays from = place_of(part);
    uint64_t lowers = 0;
    in_pieces(part.n, [&](uint64_t begin, uint64_t count) {
      lowers += kernels_.split(from.at(begin), count, pivot, out_.at(part.out_begin + lowers),
                               scratch_.at(part.scratch_begin + begin - lowers));
    });
    return lowers;
  }

  Arrays place_of(const Part &part) const {
    return part.in_scratch ? scratch_.at(part.scratch_begin) : out_.at(part.out_begin);
  }

  // False if words of key and place do not tell the order; the records lie in the scratch then, as they were.
  bool sort_block(Part &part) {
    const Arrays from = scratch_.at(part.scratch_begin), to = out_.at(part.out_begin);
    if (!part.in_scratch) copy(to, from, part.n);
    part.in_scratch = true;
    if (!sort_by_words(from, static_cast<uint32_t>(part.n), to)) return false;
    context_.advance(part.n);
    unheard_ += part.n;
    if (unheard_ < kItemsUnheard) return true;
    unheard_ = 0;
    poll();
    return true;
  }

  // Words of 8 bytes take twice as long, and are used at once for some blocks where shorter ones have failed.
  bool sort_by_words(const Arrays &from, uint32_t n, const Arrays &to) {
    if (long_blocks_ > 0) {
      --long_blocks_;
    } else {
      if (kernels_.sort_block(codec_, from, n, false, words_, to)) return true;
      long_blocks_ = kLongBlocks;
    }
    return kernels_.sort_block(codec_, from, n, true, words_, to);
  }

  // Brings a part to where it belongs as it is: its order is right already, or does not matter any more. False, for
  // nothing is left to sort.
  __attribute__((noinline)) bool leave(const Part &part) {
    const Arrays all_from = place_of(part), all_to = out_.at(part.out_begin);
    in_pieces(part.n, [&](uint64_t begin, uint64_t count) {
      const Arrays from = all_from.at(begin), to = all_to.at(begin);
      sort_kernels(K{})->decode(codec_, from.keys, to.keys, count);
      if (part.in_scratch) copy_items<V>(to.values, from.values, count);
      context_.advance(count);
    });
    return false;
  }

  static void copy(const Arrays &from, const Arrays &to, uint64_t n) {
    copy_items<K>(to.keys, from.keys, n);
    copy_items<V>(to.values, from.values, n);
  }

  Context &context_;
  const Kernels &kernels_;
  Codec codec_;
  Arrays scratch_, out_{nullptr, nullptr};
  uint64_t *words_;
  bool polls_;
  uint32_t long_blocks_ = 0;  // that are sorted by words of 8 bytes
  uint64_t unheard_ = 0;      // records of blocks since the last chance to cancel
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_PAIR_QUICKSORT_H_
