// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable sort of any number of records on all threads: split on the first digits that differ until the parts fit a
// thread's cache, then sort the parts there. Parts that are still too large are split again, each by one thread where
// there are enough of them, otherwise by all threads together.
#ifndef GSORT_CPU_SORT_RECORD_SORT_H_
#define GSORT_CPU_SORT_RECORD_SORT_H_

#include <cstdint>

#include "core/random_draws.h"
#include "cpu/engine/context.h"
#include "cpu/primitive/block_sort.h"
#include "cpu/primitive/scatter.h"
#include "cpu/sort/pair_quicksort.h"
#include "cpu/sort/word_sort.h"
#include "cpu/vector/target.h"

namespace gsort_internal {

// A block and its scratch together fill about half a megabyte of second-level cache.
constexpr uint64_t kBlockBytes = 256 * 1024;
template <class K, class V>
constexpr uint64_t kBlockItems = kBlockBytes / (sizeof(K) + kValueBytes<V>);

// Records with 4-byte keys are split to as few as this, which words of 4 bytes sort: in more of them too many words
// would agree. A run of more is not worth a split of its own while words have room for 17 bits of the key.
constexpr uint64_t kShortBlockItems = 1 << 12;
constexpr uint64_t kShortRunItems = 5 << 12;

constexpr uint32_t kSplitDigitBits = 8;
constexpr uint32_t kSplitValues = 1u << kSplitDigitBits;
// Splits for words need not be as fine: they make runs of about as many records as a network sorts. The runs are
// neighbouring values of a finer digit, as a sample of the keys evens them out: floats crowd in few of those.
constexpr uint32_t kSplitDigitBitsMin = 4;
constexpr uint32_t kSplitRunBits = 9;
constexpr uint32_t kMappedFinerBits = kMappedDigitBits - kSplitDigitBits;
constexpr uint32_t kDrawsOfRun = 8;
constexpr uint32_t kMappedLevels = 2;  // then digits as they are, so that whatever the sample, bits become fewer
constexpr uint64_t kSplitChunkItems = 1 << 18;     // fine enough to share among threads and to cancel between
constexpr uint64_t kSplitChunkItemsMin = 1 << 13;  // for 256 runs: enough that walking its counters does not show
constexpr uint64_t kSplitChunksMax = 512;
// A run of up to a thread's share and a quarter, and of no more than this, is sorted by one thread, the longest runs
// first: the threads end at about the same time, need not wait for each other at every step of every run, and hear of
// a cancel soon.
constexpr uint64_t kAloneItemsMax = 1 << 20;
// After so many splits a thread parts what is left of a run, if it can: each further split takes more stack.
constexpr uint32_t kLevelsOfDigits = 2;
constexpr uint32_t kRecordDraws = 128;
constexpr uint64_t kWordsTellMin = 1 << 12;    // for fewer the draws take longer than they save
constexpr uint64_t kPartedItemsMax = 1 << 21;  // of runs that are split quickly, too

// Keys drawn at random, and the width of what differs in them.
template <class K>
struct KeyDraws {
  K keys[kRecordDraws];
  uint32_t bits;

  KeyDraws(const K *from, uint64_t n) {
    K differing = 0;
    RandomDraws draws(n);
    for (K &key : keys) {
      key = from[draws.below(n)];
      differing = static_cast<K>(differing | (key ^ keys[0]));
    }
    bits = bit_width_of(differing);
  }
};

// Whether another split by a digit makes many runs of keys, as drawn ones say.
template <class K>
__attribute__((noinline)) bool digit_spreads(const K *keys, uint64_t n) {
  const KeyDraws<K> drawn(keys, n);
  const uint32_t shift = drawn.bits > kSplitDigitBits ? drawn.bits - kSplitDigitBits : 0;
  uint8_t counts[kSplitValues] = {};
  uint32_t most = 0;
  for (const K key : drawn.keys) {
    const uint32_t count = ++counts[static_cast<uint32_t>(key >> shift) & (kSplitValues - 1)];
    if (count > most) most = count;
  }
  return most <= kRecordDraws / 4;
}

// Whether a fourth of some keys that are drawn are as others of them.
template <class K>
__attribute__((noinline)) bool keys_repeat(const K *keys, uint64_t n) {
  KeyDraws<K> drawn(keys, n);
  sort_kernels(K{})->sort_few(kUnsignedOrder, drawn.keys, drawn.keys, kRecordDraws);
  uint32_t alike = 0;
  for (uint32_t i = 0; i + 1 < kRecordDraws; ++i) alike += drawn.keys[i] == drawn.keys[i + 1] ? 1 : 0;
  return alike >= kRecordDraws / 4;
}

// Whether so many records with keys of 8 bytes are parted by what the keys are, on one thread; others are split by a
// digit. Splits of some lengths go through lines to memory, which takes longer than partitions do with AVX-512.
template <class K, class V>
bool parts_by_length(uint64_t n) {
  const bool streams = n * (sizeof(K) + kValueBytes<V>) >= kStreamBytes;
  return streams && n <= kPartedItemsMax && vector_target() == VectorTarget::kAvx512;
}
template <class K, class V>
bool parts_long_keys(const K *keys, uint64_t n) {
  return parts_by_length<K, V>(n) || !digit_spreads(keys, n);
}

template <class K, class V>
class RecordSort {
 public:
  // For sorts of up to n_max records, as many as `scratch` holds. Allocates all it needs, writes nothing.
  RecordSort(Context &context, const KeyCodec<K> &codec, Records<K, V> scratch, uint64_t n_max)
      : context_(context), codec_(codec), scratch_(scratch), n_max_(n_max) {
    if constexpr (kSortsByWords<K, V>) {
      if (sort_kernels(uint64_t{}) != nullptr) {
        if (sizeof(K) == 8) quicksort_kernels_ = find_pair_quicksort_kernels<K, V>();
        if (sizeof(K) == 4) block_items_ = kShortBlockItems, run_items_ = kShortRunItems;
        words_of_thread_ = max_u64(is_large(n_max) ? min_u64(run_items_, n_max) : n_max, words_of_partitions());
        words_ = HostBuffer<uint64_t>(context.memory, words_of_thread_ * (is_large(n_max) ? context.threads() : 1));
      }
    }
    if (!is_large(n_max)) return;
    context.prefer_large_pages(scratch.keys, n_max * sizeof(K));
    if constexpr (kHasValue<V>) context.prefer_large_pages(scratch.values, n_max * sizeof(V));
    counts_ = HostBuffer<uint64_t>(context.memory, chunks_max(n_max) * kSplitValues);
    bounds_ = HostBuffer<uint64_t>(context.memory, kLevelsMax * kBoundsOfLevel);
    differing_ = HostBuffer<K>(context.memory, kSplitChunksMax);
    alone_ = HostBuffer<uint64_t>(context.memory, context.threads() * kWordsAlone);
    if (context.threads() > 1) order_ = HostBuffer<uint8_t>(context.memory, kSplitValues);
    if (streams(n_max)) lines_ = HostBuffer<unsigned char>(context.memory, context.threads() * kLines);
  }

  void log_plan(const char *operation) const {
    if (!context_.control.has_log()) return;
    context_.control.log("cpu %s: n = %llu, %u-byte keys, %u-byte values, %s, %u threads", operation,
                         static_cast<unsigned long long>(n_max_), static_cast<uint32_t>(sizeof(K)),
                         static_cast<uint32_t>(kValueBytes<V>),
                         is_large(n_max_) ? "radix split, then sorts in cache" : "one sort in cache",
                         is_large(n_max_) ? context_.threads() : 1);
  }

  // Sorts the n records of `source`, which may be `out`, into `out` and decodes the keys. When the context is stopped,
  // it ends early and leaves a permutation of the source in `out`, if it was the source.
  void run(const RecordSource<K, V> &source, Records<K, V> out, uint64_t n) {
    if (n == 0) return;
    if (!is_large(n)) return sort_whole_block(source, out, n);
    split(source, n, Split{scratch_, out, false, kWidth, 0}, all_threads());
  }

 private:
  static constexpr uint32_t kWidth = sizeof(K) * 8;
  static constexpr bool kMapsDigits = kSortsByWords<K, V> && sizeof(K) == 4;
  // Each level takes a digit, except that the last takes what is left.
  static constexpr uint32_t kLevelsMax = kWidth / kSplitDigitBitsMin + kMappedLevels;
  static constexpr uint64_t kBoundsOfLevel = kSplitValues + 1;

  // Where a split's runs go and how their sort goes on: runs are made in `to`, and end, sorted, in `to` if final_is_to,
  // otherwise in `other`. Keys differ in no bit at or above `bits`.
  struct Split {
    Records<K, V> to, other;
    bool final_is_to;
    uint32_t bits;
    uint32_t level;

    Records<K, V> final_records() const { return final_is_to ? to : other; }
  };

  // Who does a split, and with which memory: all threads together, or one of them alone.
  struct Crew {
    uint64_t *counts, *bounds;  // see counts_ and bounds_
    bool alone;
    uint32_t worker;  // the one that is alone

    template <class F>
    void for_each(Context &context, uint64_t items, F &&f) const {
      if (!alone) return context.for_each(items, f);
      for (uint64_t i = 0; i < items; ++i) f(i, worker);
    }
  };
  static constexpr uint64_t kWordsAlone = kSplitValues + kLevelsMax * kBoundsOfLevel;

  static constexpr uint64_t kLines = kLinesBytes<kSplitValues, K, V>;
  static bool streams(uint64_t n) { return n * (sizeof(K) + kValueBytes<V>) >= kStreamBytes; }

  Crew all_threads() { return {&counts_[0], &bounds_[0], false, 0}; }
  Crew one_thread(uint32_t worker) {
    uint64_t *const own = &alone_[worker * kWordsAlone];
    return {own, own + kSplitValues, true, worker};
  }

  bool is_large(uint64_t n) const { return n > block_items_; }
  bool blocks_are_short() const { return run_items_ != kBlockItems<K, V>; }
  uint32_t split_digit_bits(uint64_t n) const {
    if (!blocks_are_short()) return kSplitDigitBits;
    const uint32_t wanted = bit_width_of(n - 1);
    if (wanted < kSplitRunBits + kSplitDigitBitsMin) return kSplitDigitBitsMin;
    return wanted < kSplitRunBits + kSplitDigitBits ? wanted - kSplitRunBits : kSplitDigitBits;
  }
  uint64_t split_chunks(uint64_t n, const Crew &crew) const {
    if (crew.alone) return 1;
    const uint64_t for_threads = min_u64(uint64_t{context_.threads()} * 2, divide_up(n, kSplitChunkItemsMin));
    return min_u64(max_u64(divide_up(n, kSplitChunkItems), for_threads), kSplitChunksMax);
  }

  // At least split_chunks() of any n up to n_max, which does not quite rise with n.
  uint64_t chunks_max(uint64_t n_max) const {
    return min_u64(divide_up(n_max, kSplitChunkItems) + uint64_t{context_.threads()} * 2, kSplitChunksMax);
  }

  void sort_whole_block(const RecordSource<K, V> &source, Records<K, V> out, uint64_t n) {
    load_records(codec_, source.keys, source.values, 0, n, scratch_);
    sort_part(scratch_, out, n, kWidth, true, 0);
    decode_keys(codec_, out.keys, n);
  }

  uint64_t *words_of(uint32_t worker) const {
    return words_.count() == 0 ? nullptr : &words_[is_large(n_max_) ? worker * words_of_thread_ : 0];
  }

  uint64_t words_of_partitions() const {
    if constexpr (kHasPairQuicksort<K, V>)
      if (can_part(n_max_)) return PairQuicksort<K, V>::words_for(*quicksort_kernels_);
    return 0;
  }

  // Whether so many records can be parted by what their keys are, however those crowd.
  bool can_part(uint64_t n) const { return quicksort_kernels_ != nullptr && n > quicksort_kernels_->block_items; }

  // Whether words of 4 bytes, which sort so many records, leave no long runs of different keys alike, by how many of
  // some draws are. A few keys far from all others, which draws miss, leave fewer bits to the words of those, too: so
  // what the draws say is asked of all the bits that keys differ in, which go to `bits`.
  __attribute__((noinline)) static bool words_tell(const K *keys, uint64_t n, uint32_t &bits) {
    KeyDraws<K> drawn(keys, n);
    sort_kernels(K{})->sort_few(kUnsignedOrder, drawn.keys, drawn.keys, kRecordDraws);
    const uint32_t key_bits = 32 - bit_width_of(n - 1);
    const auto are_apart = [&](uint32_t differing_below) {
      constexpr uint32_t agreeing_max = 5;
      const uint32_t shift = differing_below > key_bits ? differing_below - key_bits : 0;
      uint32_t agreeing = 0;
      for (uint32_t i = 0; i + 1 < kRecordDraws; ++i) {
        const K differing = static_cast<K>(drawn.keys[i] ^ drawn.keys[i + 1]);
        agreeing += differing != 0 && differing >> shift == 0 ? 1 : 0;
      }
      return agreeing <= agreeing_max;
    };
    if (!are_apart(drawn.bits)) return false;
    bits = bit_width_of(differing_bits(keys, n));
    return bits == drawn.bits || are_apart(bits);
  }

  bool parts_run(const K *keys, uint64_t n, uint32_t level) const {
    return can_part(n) && (level >= kLevelsOfDigits || parts_long_keys<K, V>(keys, n));
  }

  // Sorts records of `from` into `other` or, if not to_other, into `from`. On its own, as the next one, so that it is
  // no part of the frames of splits.
  __attribute__((noinline)) void sort_by_partitions(Records<K, V> from, Records<K, V> other, uint64_t n, bool to_other,
                                                    uint32_t worker) {
    if constexpr (kHasPairQuicksort<K, V>) {
      const Records<K, V> result = to_other ? other : from, scratch = to_other ? from : other;
      PairQuicksort<K, V>(context_, *quicksort_kernels_, KeyCodec<K>{0, 0, 0}, {scratch.keys, scratch.values},
                          words_of(worker), worker == 0)
          .run(from.keys, from.values, n, {result.keys, result.values}, false);
    }
  }

  // The same, of records that fit a thread's cache.
  void sort_part(Records<K, V> from, Records<K, V> other, uint64_t n, uint32_t bits, bool to_other, uint32_t worker) {
    const uint32_t count = static_cast<uint32_t>(n);
    const bool asks = can_part(n) && n >= kWordsTellMin;
    bool is_done = false;
    if (!asks) {
      is_done = sort_by_words(from, other, count, bits, to_other, words_of(worker));
    } else if (words_tell(from.keys, n, bits)) {
      is_done = sort_by_words_of(from, other, count, bits, to_other, words_of(worker));
    }
    if (!is_done) {
      if (can_part(n)) return sort_by_partitions(from, other, n, to_other, worker);
      sort_block(from, other, static_cast<uint32_t>(n), bits, to_other);
    }
    context_.advance(n);
  }

  // What a split left: runs of keys that differ in no bit at or above `bits`, and in none at all if that is 0.
  struct Runs {
    uint32_t count, bits;
  };

  // Level 0 reads raw keys, the others ordered ones. Goes on with the longest of the runs that all threads split, in
  // place of a call of its own: whatever the keys, few calls lie inside each other.
  void split(RecordSource<K, V> source, uint64_t n, Split s, const Crew &crew) {
    for (;;) {
      Runs runs{0, 0};
      if (!split_once(source, n, s, crew, runs)) return;
      uint64_t *const bounds = bounds_of(s, crew);
      const uint32_t next = sort_runs(bounds, n, runs, s, crew);
      if (next == runs.count) return;
      n = bounds[next + 1] - bounds[next];
      const Records<K, V> run = s.to.at(bounds[next]);
      source = {run.keys, run.values};
      s = further(s, bounds[next], runs.bits);
    }
  }

  static uint64_t *bounds_of(const Split &s, const Crew &crew) { return crew.bounds + s.level * kBoundsOfLevel; }
  static Split further(const Split &s, uint64_t begin, uint32_t bits) {
    return {s.other.at(begin), s.to.at(begin), !s.final_is_to, bits, s.level + 1};
  }

  // Makes runs and returns whether they are still to be sorted. On its own, so that it is no part of the frames of
  // splits.
  __attribute__((noinline)) bool split_once(const RecordSource<K, V> &source, uint64_t n, const Split &s,
                                            const Crew &crew, Runs &runs) {
    const KeyCodec<K> codec = s.level == 0 ? codec_ : KeyCodec<K>{0, 0, 0};
    const uint32_t differing = bit_width_of(all_differing_bits(codec, source.keys, n, crew));
    const uint32_t bits = differing < s.bits ? differing : s.bits;
    if (bits == 0 && s.level > 0) {  // what is split is in `other`
      if (s.final_is_to) s.to.copy(s.other, n);
      decode_keys(codec_, s.final_records().keys, n);
      context_.advance(n);
      return false;
    }
    const uint32_t digit_bits = split_digit_bits(n), shift = bits > digit_bits ? bits - digit_bits : 0;
    runs = {1u << (bits - shift), shift};
    if constexpr (kMapsDigits) {
      const bool even_out = blocks_are_short() && s.level < kMappedLevels && shift != 0;
      if (even_out) runs.bits = bits;
      make_mapped_runs(codec, source, n, bits, even_out, runs.count, s, bounds_of(s, crew), crew);
    } else {
      make_runs(codec, source, n, Digit{shift, runs.count - 1}, s, bounds_of(s, crew), crew);
    }
    return s.level > 0 || !context_.stopped();  // else the source still holds everything
  }

  // Runs of about as many records each, as a sample tells, or the digit's values. On its own, so that the table is gone
  // when runs are split.
  __attribute__((noinline)) void make_mapped_runs(const KeyCodec<K> &codec, const RecordSource<K, V> &source,
                                                  uint64_t n, uint32_t bits, bool even_out, uint32_t runs,
                                                  const Split &s, uint64_t *bounds, const Crew &crew) {
    const uint32_t digit_bits = bit_width_of(runs - 1) + (even_out ? kMappedFinerBits : 0);
    const uint32_t fine_bits = digit_bits < bits ? digit_bits : bits;
    const Digit fine{bits - fine_bits, (1u << fine_bits) - 1};
    uint8_t run_of[1u << kMappedDigitBits];
    if (even_out) {
      even_out_runs(codec, source.keys, n, fine, runs, run_of);
    } else {
      for (uint32_t v = 0; v <= fine.mask; ++v) run_of[v] = static_cast<uint8_t>(v);
    }
    make_runs(codec, source, n, MappedDigit{fine.shift, runs - 1, fine.mask, run_of}, s, bounds, crew);
  }

  // Which of `runs` a value of the digit belongs to.
  __attribute__((noinline)) void even_out_runs(const KeyCodec<K> &codec, const K *keys, uint64_t n, const Digit &fine,
                                               uint32_t runs, uint8_t *run_of) const {
    uint16_t drawn[1u << kMappedDigitBits] = {};
    RandomDraws draws(n);
    for (uint32_t i = 0; i < runs * kDrawsOfRun; ++i) ++drawn[fine.of(codec.encode(keys[draws.below(n)]))];
    uint32_t before = 0;  // draws of lesser values
    for (uint32_t v = 0; v <= fine.mask; ++v) {
      run_of[v] = static_cast<uint8_t>(min_u64((before + drawn[v] / 2u) / kDrawsOfRun, runs - 1));
      before += drawn[v];
    }
  }

  K all_differing_bits(const KeyCodec<K> &codec, const K *keys, uint64_t n, const Crew &crew) {
    const K first = codec.encode(keys[0]);
    if (crew.alone) return differing_bits_of(codec, keys, Range{0, n}, first);
    const uint64_t chunks = split_chunks(n, crew);
    context_.for_each(chunks, [&](uint64_t c, uint32_t) {
      differing_[c] = differing_bits_of(codec, keys, part_of(n, c, chunks, kLineBytes), first);
    });
    K differing = 0;
    for (uint64_t c = 0; c < chunks; ++c) differing = static_cast<K>(differing | differing_[c]);
    return differing;
  }

  // Counts, finds where every chunk's part of every run begins, scatters.
  template <class D>
  void make_runs(const KeyCodec<K> &codec, const RecordSource<K, V> &source, uint64_t n, const D &digit, const Split &s,
                 uint64_t *bounds, const Crew &crew) {
    const uint64_t chunks = split_chunks(n, crew);
    uint64_t *const counts = crew.counts;
    crew.for_each(context_, chunks, [&](uint64_t c, uint32_t) {
      count_digits(codec, source.keys, part_of(n, c, chunks, kLineBytes), digit, counts + c * kSplitValues);
    });
    uint64_t start = 0;
    for (uint32_t v = 0; v <= digit.mask; ++v) {
      bounds[v] = start;
      for (uint64_t c = 0; c < chunks; ++c) {
        const uint64_t count = counts[c * kSplitValues + v];
        counts[c * kSplitValues + v] = start;
        start += count;
      }
    }
    bounds[digit.mask + 1] = start;
    const bool stream = streams(n);
    crew.for_each(context_, chunks, [&](uint64_t c, uint32_t worker) {
      if (s.level == 0 && context_.stopped()) return;
      const Range range = part_of(n, c, chunks, kLineBytes);
      const ScatterJob<K, V, D> job{
          source, range, digit, counts + c * kSplitValues, s.to, stream, stream ? &lines_[worker * kLines] : nullptr};
      scatter_records<kSplitValues>(codec, job);
      if (s.level == 0) context_.advance(range.size());
    });
  }

  // Sorts runs, one a thread, but large ones one after the other on all of them, and the longest of those not at all:
  // returns which it is, or how many runs there are.
  uint32_t sort_runs(const uint64_t *bounds, uint64_t n, const Runs &runs, const Split &s, const Crew &crew) {
    const uint64_t share = n / context_.threads(),
                   size_alone = crew.alone ? n : min_u64(share + share / 4, kAloneItemsMax);
    const auto size_of = [&](uint64_t v) { return bounds[v + 1] - bounds[v]; };
    const auto is_for_all = [&](uint64_t v) {
      return runs.bits != 0 && size_of(v) > run_items_ && size_of(v) > size_alone;
    };
    const uint8_t *const order = crew.alone || order_.count() == 0 ? nullptr : longest_first(bounds, runs.count);
    crew.for_each(context_, runs.count, [&](uint64_t i, uint32_t worker) {
      const uint64_t v = order == nullptr ? i : order[i];
      if (size_of(v) != 0 && !is_for_all(v)) sort_run(bounds[v], size_of(v), runs.bits, s, worker);
    });
    uint32_t longest = runs.count;
    for (uint32_t v = 0; v < runs.count; ++v)
      if (is_for_all(v) && (longest == runs.count || size_of(v) > size_of(longest))) longest = v;
    for (uint32_t v = 0; v < runs.count; ++v)
      if (is_for_all(v) && v != longest && !ends_otherwise(bounds[v], size_of(v), s))
        split_run(bounds[v], size_of(v), runs.bits, s, all_threads());
    if (longest != runs.count && ends_otherwise(bounds[longest], size_of(longest), s)) return runs.count;
    return longest;
  }

  // A run that one thread sorts.
  void sort_run(uint64_t begin, uint64_t size, uint32_t bits, const Split &s, uint32_t worker) {
    if (bits == 0 || context_.stopped()) return leave(s, begin, size);
    if (size > run_items_) {
      if (parts_run(s.to.keys + begin, size, s.level)) return part_run(begin, size, s, worker);
      return split_run(begin, size, bits, s, one_thread(worker));
    }
    sort_part(s.to.at(begin), s.other.at(begin), size, bits, !s.final_is_to, worker);
    decode_keys(codec_, s.final_records().keys + begin, size);
  }

  // Brings a run that all threads would split to its end in another way, if there is one, and returns whether there
  // was.
  bool ends_otherwise(uint64_t begin, uint64_t size, const Split &s) {
    if (context_.stopped()) {
      leave(s, begin, size);
    } else if (context_.threads() == 1 && parts_run(s.to.keys + begin, size, s.level)) {
      part_run(begin, size, s, 0);
    } else {
      return false;
    }
    return true;
  }

  void split_run(uint64_t begin, uint64_t size, uint32_t bits, const Split &s, const Crew &crew) {
    const Records<K, V> run = s.to.at(begin);
    split({run.keys, run.values}, size, further(s, begin, bits), crew);
  }

  void part_run(uint64_t begin, uint64_t size, const Split &s, uint32_t worker) {
    sort_by_partitions(s.to.at(begin), s.other.at(begin), size, !s.final_is_to, worker);
    decode_keys(codec_, s.final_records().keys + begin, size);
  }

  // The runs in the order in which threads take them: those that are still to be split by their length, then the others
  // as they lie.
  const uint8_t *longest_first(const uint64_t *bounds, uint32_t count) {
    uint8_t *const order = &order_[0];
    const auto size_of = [&](uint32_t v) { return bounds[v + 1] - bounds[v]; };
    uint32_t placed = 0;
    for (uint32_t v = 0; v < count; ++v) {
      if (size_of(v) <= run_items_) continue;
      uint32_t at = placed++;
      for (; at > 0 && size_of(order[at - 1]) < size_of(v); --at) order[at] = order[at - 1];
      order[at] = static_cast<uint8_t>(v);
    }
    for (uint32_t v = 0; v < count; ++v)
      if (size_of(v) <= run_items_) order[placed++] = static_cast<uint8_t>(v);
    return order;
  }

  // Brings a run to where the result belongs as it is: its order is right already, or does not matter any more.
  void leave(const Split &s, uint64_t begin, uint64_t size) {
    const Records<K, V> result = s.final_records().at(begin);
    if (!s.final_is_to) result.copy(s.to.at(begin), size);
    decode_keys(codec_, result.keys, size);
    context_.advance(size);
  }

  Context &context_;
  KeyCodec<K> codec_;
  Records<K, V> scratch_;
  uint64_t n_max_;
  uint64_t block_items_ = kBlockItems<K, V>;  // more are split
  uint64_t run_items_ = kBlockItems<K, V>;    // runs of more are split again
  const PairQuicksortKernels<K, V> *quicksort_kernels_ = nullptr;
  HostBuffer<uint64_t> counts_;      // of every chunk, then where its part of every run begins
  HostBuffer<uint64_t> bounds_;      // of the runs of every level
  HostBuffer<K> differing_;          // of every chunk
  HostBuffer<unsigned char> lines_;  // kLines for every thread, if lines are streamed
  uint64_t words_of_thread_ = 0;
  HostBuffer<uint64_t> words_;  // for every thread, if parts are sorted by words
  HostBuffer<uint8_t> order_;   // in which several threads take runs
  HostBuffer<uint64_t> alone_;  // kWordsAlone for every thread: counts and bounds of what it splits alone
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_RECORD_SORT_H_
