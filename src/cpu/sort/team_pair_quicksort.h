// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable quicksort of records by one thread or a few. Parts that are more than one thread's share are split by all
// of them, from one array into the other: each counts in chunks how many records are up to the pivot, which tells where
// those of each chunk belong, and then brings them there. Other parts are sorted by whoever has nothing to do.
#ifndef GSORT_CPU_SORT_TEAM_PAIR_QUICKSORT_H_
#define GSORT_CPU_SORT_TEAM_PAIR_QUICKSORT_H_

#include <cstdint>
#include <utility>

#include "cpu/engine/context.h"
#include "cpu/primitive/range.h"
#include "cpu/sort/pair_quicksort.h"
#include "cpu/sort/part_list.h"

namespace gsort_internal {

template <class K, class V>
class TeamPairQuicksort {
 public:
  using Arrays = PairArrays<K, V>;
  using Source = RawPairs<K, V>;
  using Kernels = PairQuicksortKernels<K, V>;

  // For as many threads as the context has now. Allocates all it needs. `scratch` has room for as many records as are
  // sorted.
  TeamPairQuicksort(Context &context, const Kernels &kernels, const Arrays &scratch)
      : context_(context),
        kernels_(kernels),
        scratch_(scratch),
        words_(context.memory, context.threads() * Alone::words_for(kernels)),
        lowers_(context.memory, context.threads() == 1 ? 0 : kChunksMax),
        list_(context.memory, context.threads() == 1 ? 0 : context.threads() * kRoomOfThread) {}

  // Sorts n records into `out`, where they may lie. The codec's order has no NaNs last. When the context is stopped, it
  // ends early and leaves a permutation of the records in an `out` where they lay.
  void run(const KeyCodec<K> &codec, const Source &source, uint64_t n, const Arrays &out) {
    if (context_.threads() == 1 || n <= kernels_.block_items)
      return worker(codec, 0).run(source.keys, source.values, n, out, true);
    share_ = n / context_.threads();
    const uint64_t piece = min_u64(max_u64(share_ / kPiecesOfShare, kPieceItemsMin), kChunkItemsMax);
    const Inner pivot = Alone::below(Alone::draw_pivot(source.keys, n, codec).key, Alone::kGreatest);
    const uint64_t lowers = split(codec, source, n, pivot, scratch_, true);
    if (context_.stopped()) return;
    splits_left_ = kSplitsOfThread * context_.threads();
    const Part whole{0, 0, n, true, Alone::kLeast, Alone::kGreatest, 2 * bit_width_of(n)};
    split_or_list(half(whole, true, 0, lowers, Alone::kLeast, pivot), out);
    split_or_list(half(whole, true, lowers, n, static_cast<Inner>(pivot + 1), Alone::kGreatest), out);
    context_.repeat([&](uint32_t number) {
      return list_.step([&](const Part &part) { worker(codec, number).sort_shared(part, out, list_, piece); });
    });
  }

 private:
  using Alone = PairQuicksort<K, V>;
  using Part = typename Alone::Part;
  using Inner = InnerKey<K>;

  // Chunks are for two steps of each thread, and for chances to cancel.
  static constexpr uint64_t kChunksOfThread = 2, kChunksMax = 1024, kChunkItemsMax = 1 << 18;
  // What a thread takes last is little of its share, so that all end at about the same time.
  static constexpr uint64_t kPiecesOfShare = 16, kPieceItemsMin = 1 << 11;
  static constexpr uint32_t kSplitsOfThread = 4;  // by all threads: keys that resist those are of few values
  // A thread that goes on with lesser halves leaves no more parts than a number can be halved; and the first ones.
  static constexpr uint64_t kRoomOfThread = 48 + 2 * kSplitsOfThread;

  Alone worker(const KeyCodec<K> &codec, uint32_t number) const {
    return Alone(context_, kernels_, codec, scratch_, &words_[number * Alone::words_for(kernels_)], number == 0);
  }

  // Records from `begin` to `end` of a part that all threads have split, so that both halves lie in one array.
  static Part half(const Part &whole, bool in_scratch, uint64_t begin, uint64_t end, Inner least, Inner greatest) {
    return {whole.out_begin + begin, whole.scratch_begin + begin, end - begin, in_scratch, least, greatest,
            whole.draws_left};
  }

  // Brings records up to the pivot to the front of `to`, which is elsewhere, and the others behind them; returns how
  // many are up to the pivot. Where the split advances, it can be cancelled.
  uint64_t split(const KeyCodec<K> &codec, const Source &from, uint64_t n, Inner pivot, const Arrays &to,
                 bool advances) {
    const uint64_t wanted = max_u64(kChunksOfThread * context_.threads(), divide_up(n, kChunkItemsMax));
    const uint64_t chunks = max_u64(1, min_u64(min_u64(wanted, n / kPieceItemsMin), kChunksMax));
    const auto range = [&](uint64_t c) { return part_of(n, c, chunks, kLineBytes); };
    context_.for_each(chunks, [&](uint64_t c, uint32_t) {
      lowers_[c] = kernels_.count(codec, from.keys + range(c).begin, range(c).size(), pivot);
    });
    uint64_t lowers = 0;
    for (uint64_t c = 0; c < chunks; ++c) lowers_[c] = std::exchange(lowers, lowers + lowers_[c]);
    const auto lowers_of = [&](uint64_t c) { return (c + 1 < chunks ? lowers_[c + 1] : lowers) - lowers_[c]; };
    context_.for_each(chunks, [&](uint64_t c, uint32_t) {
      if (advances && context_.stopped()) return;
      const Range chunk = range(c);
      const Source source{from.keys + chunk.begin, from.values != nullptr ? from.values + chunk.begin : nullptr,
                          from.first + chunk.begin};
      kernels_.split_apart(codec, source, chunk.size(), pivot, lowers_of(c), to.at(lowers_[c]),
                           to.at(lowers + (chunk.begin - lowers_[c])));
      if (advances) context_.advance(chunk.size());
    });
    return lowers;
  }

  // Splits a part by all threads as long as it is more than a thread's share, and lists what is not.
  void split_or_list(Part part, const Arrays &out) {
    while (part.n > share_ + share_ / 4 && part.least != part.greatest && splits_left_ > 0 && !context_.stopped()) {
      --splits_left_;
      const Arrays from = part.in_scratch ? scratch_.at(part.scratch_begin) : out.at(part.out_begin);
      const Arrays to = part.in_scratch ? out.at(part.out_begin) : scratch_.at(part.scratch_begin);
      const auto drawn = Alone::draw_pivot(from.keys, part.n, kInnerOrder<K>);
      if (drawn.is_only) break;  // for one thread, which looks whether they all are
      const Inner pivot = Alone::below(drawn.key, part.greatest);
      const uint64_t lowers = split(kInnerOrder<K>, {from.keys, from.values, 0}, part.n, pivot, to, false);
      Part small = half(part, !part.in_scratch, 0, lowers, part.least, pivot);
      Part large = half(part, !part.in_scratch, lowers, part.n, static_cast<Inner>(pivot + 1), part.greatest);
      if (small.n > large.n) std::swap(small, large);
      split_or_list(small, out);
      part = large;
    }
    if (part.n > 0) list_.add(part);  // for which there is room
  }

  Context &context_;
  const Kernels &kernels_;
  Arrays scratch_;
  HostBuffer<uint64_t> words_;   // for every thread
  HostBuffer<uint64_t> lowers_;  // of every chunk, then where they belong
  PartList<Part> list_;
  uint64_t share_ = 0;
  uint32_t splits_left_ = 0;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_TEAM_PAIR_QUICKSORT_H_
