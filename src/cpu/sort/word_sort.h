// SPDX-License-Identifier: MIT OR Apache-2.0
// One thread's stable sort of records that fit its cache, by the vector sort of keys alone: words of the keys' upper
// bits and, below those, the record's index. No two words are equal, so that whatever sorts them leaves the stable
// order, in which the records are then fetched. Words that agree in the key's bits may stand for keys that differ
// further down; those few are put right one by one.
#ifndef GSORT_CPU_SORT_WORD_SORT_H_
#define GSORT_CPU_SORT_WORD_SORT_H_

#include <cstdint>
#include <type_traits>

#include "cpu/primitive/block_sort.h"
#include "cpu/vector/select.h"
#include "cpu/vector/sort.h"

namespace gsort_internal {

// Whether words pay for such records.
template <class K, class V>
constexpr bool kSortsByWords = kHasValue<V> && sizeof(K) >= 4;

// Fewer are sorted about as fast by insertion.
constexpr uint32_t kWordItemsMin = 9;
// Words of 4 bytes, which are sorted twice as fast, serve where of evenly spread keys few share a word's bits. Longer
// keys that do are read for the second time from farther away.
template <class K>
constexpr uint32_t kShortIndexBits = sizeof(K) == 4 ? 15 : 14;
// Longer runs of records whose words agree in the key's bits say that those bits were badly chosen.
constexpr uint32_t kTiesMax = 32;

template <class W, class K, class V>
class WordSort {
 public:
  // Keys differ in no bit at or above `bits`. `words` has room for `count`.
  WordSort(const Records<K, V> &a, uint32_t count, uint32_t bits, W *words)
      : a_(a), count_(count), words_(words), index_bits_(bit_width_of(count - 1)) {
    const uint32_t key_bits = sizeof(W) * 8 - index_bits_;
    dropped_bits_ = bits > key_bits ? bits - key_bits : 0;
  }

  // Leaves the records of `a` in order in `b`; false if too many words agree, and `b` holds nothing of use then.
  bool run(const Records<K, V> &b) {
    for (uint32_t i = 0; i < count_; ++i)
      words_[i] = static_cast<W>(static_cast<W>(static_cast<W>(a_.keys[i] >> dropped_bits_) << index_bits_) | i);
    sort_kernels(W{})->sort_few(kUnsignedOrder, words_, words_, count_);
    if constexpr (sizeof(K) == sizeof(W)) {
      if (dropped_bits_ == 0) {
        fetch_values(b);
        return true;
      }
    }
    const W index_mask = static_cast<W>((W{1} << index_bits_) - 1);
    for (uint32_t i = 0; i < count_; ++i) b.set(i, a_, static_cast<uint32_t>(words_[i] & index_mask));
    if (dropped_bits_ == 0 || in_order(b)) return true;
    return sort_ties(b);
  }

 private:
  // Words hold all bits in which keys differ.
  void fetch_values(const Records<K, V> &b) const {
    const W index_mask = static_cast<W>((W{1} << index_bits_) - 1);
    const uint32_t index_bits = index_bits_;
    const K common = static_cast<K>(a_.keys[0] & ~static_cast<K>(static_cast<K>(~K{0}) >> index_bits));
    const V *const from = a_.values;
    for (uint32_t i = 0; i < count_; ++i) b.keys[i] = static_cast<K>(words_[i] >> index_bits | common);
    for (uint32_t i = 0; i < count_; ++i) b.values[i] = from[words_[i] & index_mask];
  }

  bool in_order(const Records<K, V> &b) const {
    if (count_ <= kGlanceItems) {  // for which a call takes longer than the look
      uint32_t wrong = 0;
      for (uint32_t i = 0; i + 1 < count_; ++i) wrong |= b.keys[i] > b.keys[i + 1] ? 1u : 0u;
      return wrong == 0;
    }
    constexpr KeyCodec<K> as_they_are{0, 0, 0};
    return select_kernels(K{})->ordered(as_they_are, b.keys, count_ - 1, false) == count_ - 1;
  }

  bool sort_ties(const Records<K, V> &b) const {
    const auto same_bits = [this](uint32_t i, uint32_t j) {
      return words_[i] >> index_bits_ == words_[j] >> index_bits_;
    };
    for (uint32_t i = 0; i + 1 < count_; ++i) {
      if (b.keys[i] <= b.keys[i + 1]) continue;
      uint32_t begin = i, end = i + 2;
      while (begin > 0 && same_bits(begin - 1, i)) --begin;
      while (end < count_ && same_bits(end, i)) ++end;
      if (end - begin > kTiesMax) return false;
      insertion_sort(b.at(begin), b.at(begin), end - begin);
      i = end - 1;
    }
    return true;
  }

  static constexpr uint32_t kGlanceItems = 32;

  Records<K, V> a_;
  uint32_t count_;
  W *words_;
  uint32_t index_bits_, dropped_bits_;
};

// The stable order of few ordered keys by words of 4 bytes; false, and nothing of use in `places`, if words do not tell
// it. `words` has room for `count`.
template <class K, class I>
bool place_few_by_words(const K *keys, uint32_t count, uint32_t *words, I *places) {
  const uint32_t differing = bit_width_of(differing_bits(keys, count)), index_bits = bit_width_of(count - 1);
  if (differing == 0) return false;
  const uint32_t key_bits = 32 - index_bits, dropped_bits = differing > key_bits ? differing - key_bits : 0;
  for (uint32_t i = 0; i < count; ++i) words[i] = static_cast<uint32_t>(keys[i] >> dropped_bits) << index_bits | i;
  sort_kernels(uint32_t{})->sort_few(kUnsignedOrder, words, words, count);
  const uint32_t index_mask = (1u << index_bits) - 1;
  K before = 0;
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t place = words[i] & index_mask;
    const K key = keys[place];
    wrong |= key < before ? 1u : 0u;
    before = key;
    places[i] = static_cast<I>(place);
  }
  return wrong == 0;
}

// Leaves the records of `a`, whose keys differ in the bit below `bits` and in none above, in order there, or in `b` if
// to_b; false, with `a` as it was and nothing of use in `b`, if words do not tell the order. `words` has room for
// `count`, or is NULL without vectors. On a line's boundary, for its loops are up to a tenth slower on others.
template <class K, class V>
__attribute__((aligned(64))) bool sort_by_words_of(Records<K, V> a, Records<K, V> b, uint32_t count, uint32_t bits,
                                                   bool to_b, uint64_t *words) {
  if constexpr (kSortsByWords<K, V>) {
    if (words == nullptr || count < kWordItemsMin || bits == 0) return false;
    const uint32_t index_bits = bit_width_of(count - 1);
    const bool is_short = index_bits <= kShortIndexBits<K> || bits + index_bits <= 32;
    if (!(is_short ? WordSort<uint32_t, K, V>(a, count, bits, reinterpret_cast<uint32_t *>(words)).run(b)
                   : WordSort<uint64_t, K, V>(a, count, bits, words).run(b)))
      return false;
    if (!to_b) a.copy(b, count);
    return true;
  }
  return false;
}

// The same of keys that differ in no bit at or above `bits`.
template <class K, class V>
bool sort_by_words(Records<K, V> a, Records<K, V> b, uint32_t count, uint32_t bits, bool to_b, uint64_t *words) {
  if (!kSortsByWords<K, V> || words == nullptr || count < kWordItemsMin) return false;
  const uint32_t differing = bit_width_of(differing_bits(a.keys, count));
  return sort_by_words_of(a, b, count, differing < bits ? differing : bits, to_b, words);
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_SORT_WORD_SORT_H_
