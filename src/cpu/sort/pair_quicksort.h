// SPDX-License-Identifier: MIT OR Apache-2.0
// One thread's stable sort of records with keys and values of 4 bytes: quicksort whose partition leaves both sides in
// the order that they have, because each side has an array to itself. The lower records stay in or go to the output,
// where they belong, and the upper ones stay in or go to the scratch, which is as long; so every part of the array has
// as much room in the other one, and no partition counts before it writes. Blocks are sorted by words of key and place.
#ifndef GSORT_CPU_SORT_PAIR_QUICKSORT_H_
#define GSORT_CPU_SORT_PAIR_QUICKSORT_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "cpu/engine/context.h"
#include "cpu/primitive/block_sort.h"
#include "cpu/primitive/scatter.h"
#include "cpu/sort/word_sort.h"
#include "cpu/vector/pair_quicksort.h"

namespace gsort_internal {

class PairQuicksort {
 public:
  using Codec = KeyCodec<uint32_t>;

  // For n records, whose order has no NaNs last. Allocates all it needs, writes nothing.
  PairQuicksort(Context &context, const PairQuicksortKernels &kernels, const Codec &codec, uint64_t n)
      : context_(context),
        kernels_(kernels),
        codec_(codec),
        keys_(context.memory, n),
        values_(context.memory, n),
        words_(context.memory, kernels.block_items) {
    context.prefer_large_pages(keys_.data(), n * sizeof(uint32_t));
    context.prefer_large_pages(values_.data(), n * sizeof(uint32_t));
  }

  // Sorts the records of `keys` and `values` (their indices where that is NULL) into `out`, whose arrays may be those.
  // When the context is stopped, it ends early and leaves a permutation of the records in `out`.
  void run(const uint32_t *keys, const uint32_t *values, uint64_t n, const ShortPairs &out) {
    out_ = out;
    if (n <= kernels_.block_items) {
      kernels_.split_first(codec_, {keys, values, 0}, n, kGreatest, scratch(0), out);  // all are lower ones
      context_.advance(n);
      return sort_block({0, 0, n, true, kLeast, kGreatest, 0});
    }
    const Inner pivot = below(draw_pivot(keys, n, codec_).key, kGreatest);
    uint64_t lowers = 0;
    in_pieces(n, [&](uint64_t begin, uint64_t count) {
      const RawPairs from{keys + begin, values != nullptr ? values + begin : nullptr, begin};
      lowers += kernels_.split_first(codec_, from, count, pivot, out.at(lowers), scratch(begin - lowers));
      context_.advance(count);
    });
    const Part whole{0, 0, n, false, kLeast, kGreatest, 2 * bit_width_of(n)};
    sort(lower_part(whole, lowers, pivot));
    sort(upper_part(whole, lowers, pivot));
    context_.poll();
  }

 private:
  using Inner = InnerKey<uint32_t>;
  static constexpr Inner kLeast = std::numeric_limits<Inner>::min(), kGreatest = std::numeric_limits<Inner>::max();
  static constexpr uint32_t kDrawsMax = 128;
  static constexpr uint64_t kItemsUnheard = 1 << 17;  // between chances to cancel: half a millisecond

  // Records with keys from `least` to `greatest`, which lie in the output or in the scratch. At `out_begin` they belong
  // in the output, at `scratch_begin` is their room in the scratch.
  struct Part {
    uint64_t out_begin, scratch_begin, n;
    bool in_scratch;
    Inner least, greatest;
    uint32_t draws_left;  // then pivots halve the range of keys, as in the sort of keys alone
  };

  ShortPairs scratch(uint64_t begin) const { return ShortPairs{keys_.data(), values_.data()}.at(begin); }

  static Inner below(Inner pivot, Inner greatest) {
    return pivot < greatest ? pivot : static_cast<Inner>(greatest - 1);
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
    for (uint64_t begin = 0; begin < n; begin += kItemsUnheard) {
      const uint64_t count = min_u64(kItemsUnheard, n - begin);
      piece(begin, count);
      if (count == kItemsUnheard) context_.poll();
    }
  }

  void sort(Part part) {
    for (;;) {
      if (part.n == 0) return;
      if (part.least == part.greatest || context_.stopped()) return leave(part);
      if (part.n <= kernels_.block_items) return sort_block(part);
      const ShortPairs from = place_of(part);
      Inner pivot = static_cast<Inner>((part.least >> 1) + (part.greatest >> 1) + (part.least & part.greatest & 1));
      if (part.draws_left > 0) {
        --part.draws_left;
        const Pivot drawn = draw_pivot(from.keys, part.n, kInnerOrder<uint32_t>);
        if (drawn.is_only && kernels_.is_one_key(from.keys, part.n)) return leave(part);
        pivot = below(drawn.key, part.greatest);
      }
      const uint64_t lowers = split(part, pivot);
      Part small = lower_part(part, lowers, pivot), large = upper_part(part, lowers, pivot);
      if (small.n > large.n) std::swap(small, large);
      sort(small);  // at most half, so as deep as n has bits
      part = large;
    }
  }

  // Returns how many records are lower ones. On its own, so that it is no part of the frames of the recursion.
  __attribute__((noinline)) uint64_t split(const Part &part, Inner pivot) {
    const ShortPairs from = place_of(part);
    uint64_t lowers = 0;
    in_pieces(part.n, [&](uint64_t begin, uint64_t count) {
      lowers += kernels_.split(from.at(begin), count, pivot, out_.at(part.out_begin + lowers),
                               scratch(part.scratch_begin + begin - lowers));
    });
    return lowers;
  }

  ShortPairs place_of(const Part &part) const {
    return part.in_scratch ? scratch(part.scratch_begin) : out_.at(part.out_begin);
  }

  // The median of keys drawn at random, and whether all of those were the same.
  struct Pivot {
    Inner key;
    bool is_only;
  };

  // On its own, so that the keys are no part of the frames of the recursion.
  __attribute__((noinline)) Pivot draw_pivot(const uint32_t *keys, uint64_t n, const Codec &codec) const {
    __extension__ typedef unsigned __int128 Product;
    uint32_t drawn[kDrawsMax];
    const uint32_t draws = n < (1 << 13) ? 32 : n < (1 << 16) ? 64 : kDrawsMax;
    uint64_t state = n;
    for (uint32_t i = 0; i < draws; ++i) {
      state = state * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u;
      const uint32_t key = keys[static_cast<uint64_t>(static_cast<Product>(state) * n >> 64)];
      drawn[i] = codec.encode(key) ^ Codec::kTop;
    }
    sort_kernels(uint32_t{})->sort_few(kSignedOrder, drawn, drawn, draws);
    return {static_cast<Inner>(drawn[draws / 2 - 1]), drawn[0] == drawn[draws - 1]};
  }

  void sort_block(const Part &part) {
    const ShortPairs from = scratch(part.scratch_begin), to = out_.at(part.out_begin);
    if (!part.in_scratch) copy(to, from, part.n);
    const uint32_t n = static_cast<uint32_t>(part.n);
    if (!kernels_.sort_block(codec_, from, n, reinterpret_cast<uint32_t *>(words_.data()), to))
      sort_odd_block(from, n, to);
    context_.advance(part.n);
    unheard_ += part.n;
    if (unheard_ < kItemsUnheard) return;
    unheard_ = 0;
    context_.poll();
  }

  // By words of 8 bytes, which hold all of a key.
  __attribute__((noinline)) void sort_odd_block(const ShortPairs &from, uint32_t n, const ShortPairs &to) {
    for (uint32_t i = 0; i < n; ++i) from.keys[i] ^= Codec::kTop;
    using Pairs = Records<uint32_t, uint32_t>;
    WordSort<uint64_t, uint32_t, uint32_t>({from.keys, from.values}, n, 32, words_.data())
        .run(Pairs{to.keys, to.values});
    decode_keys(codec_, to.keys, n);
  }

  // Brings a part to where it belongs as it is: its order is right already, or does not matter any more.
  void leave(const Part &part) {
    const ShortPairs all_from = place_of(part), all_to = out_.at(part.out_begin);
    in_pieces(part.n, [&](uint64_t begin, uint64_t count) {
      const ShortPairs from = all_from.at(begin), to = all_to.at(begin);
      sort_kernels(uint32_t{})->decode(codec_, from.keys, to.keys, count);
      if (part.in_scratch) std::memcpy(to.values, from.values, count * sizeof(uint32_t));
      context_.advance(count);
    });
  }

  static void copy(const ShortPairs &from, const ShortPairs &to, uint64_t n) {
    std::memcpy(to.keys, from.keys, n * sizeof(uint32_t));
    std::memcpy(to.values, from.values, n * sizeof(uint32_t));
  }

  Context &context_;
  const PairQuicksortKernels &kernels_;
  Codec codec_;
  HostBuffer<uint32_t> keys_, values_;  // the scratch
  HostBuffer<uint64_t> words_;          // for a block
  ShortPairs out_{nullptr, nullptr};
  uint64_t unheard_ = 0;  // records of blocks since the last chance to cancel
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_PAIR_QUICKSORT_H_
