// SPDX-License-Identifier: MIT OR Apache-2.0
// One thread's stable sort of records that fit its cache: keys that are ordered bits, and values that go with them.
#ifndef GSORT_CPU_PRIMITIVE_BLOCK_SORT_H_
#define GSORT_CPU_PRIMITIVE_BLOCK_SORT_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/key_bits.h"
#include "cpu/primitive/copy.h"

namespace gsort_internal {

// Stands for the type of values where there are none.
struct NoValue {};
template <class V>
constexpr bool kHasValue = !std::is_same<V, NoValue>::value;
template <class V>
constexpr uint64_t kValueBytes = kHasValue<V> ? sizeof(V) : 0;

// Keys and the values beside them; `values` is NULL for NoValue.
template <class K, class V>
struct Records {
  K *keys;
  V *values;

  Records at(uint64_t i) const {
    if constexpr (kHasValue<V>) {
      return {keys + i, values + i};
    } else {
      return {keys + i, nullptr};
    }
  }
  void set(uint64_t i, const Records &from, uint64_t j) const {
    keys[i] = from.keys[j];
    if constexpr (kHasValue<V>) values[i] = from.values[j];
  }
  void copy(const Records &from, uint64_t count) const {
    copy_items<K>(keys, from.keys, count);
    if constexpr (kHasValue<V>) copy_items<V>(values, from.values, count);
  }
};

// Where records come from: raw keys, and values or, where `values` is NULL, the records' indices.
template <class K, class V>
struct RecordSource {
  const K *keys;
  const V *values;

  V value(uint64_t i) const {
    if constexpr (std::is_integral<V>::value) {
      return values != nullptr ? values[i] : static_cast<V>(i);
    } else {
      return values[i];
    }
  }
};

// Number of bits up to the highest one set.
inline uint32_t bit_width_of(uint64_t x) { return x == 0 ? 0 : 64 - static_cast<uint32_t>(__builtin_clzll(x)); }

template <class K>
K differing_bits(const K *keys, uint64_t count) {
  K differing = 0;
  const K first = keys[0];
  for (uint64_t i = 0; i < count; ++i) differing = static_cast<K>(differing | (keys[i] ^ first));
  return differing;
}

constexpr uint32_t kRadixBits = 8;  // 256 open lines: half of a 32 KiB first-level cache
constexpr uint32_t kDigitValues = 1u << kRadixBits;
// Below this a compare-and-shift sort beats any counting (Zen 3, 2 to 24 records tried).
constexpr uint32_t kInsertionItems = 16;

// Sorts by shifting each record down to its place; from `a` into `b`, which may be `a`.
template <class K, class V>
void insertion_sort(const Records<K, V> &a, const Records<K, V> &b, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const K key = a.keys[i];
    uint32_t j = i;
    if constexpr (kHasValue<V>) {
      const V value = a.values[i];
      for (; j > 0 && b.keys[j - 1] > key; --j) b.set(j, b, j - 1);
      b.values[j] = value;
    } else {
      for (; j > 0 && b.keys[j - 1] > key; --j) b.keys[j] = b.keys[j - 1];
    }
    b.keys[j] = key;
  }
}

// Turns counts into the start of each digit value's run.
inline void counts_to_starts(uint32_t *counts, uint32_t values) {
  uint32_t start = 0;
  for (uint32_t v = 0; v < values; ++v) {
    const uint32_t count = counts[v];
    counts[v] = start;
    start += count;
  }
}

// Moves every record from `a` to its digit's run in `b`; starts become ends.
template <class K, class V>
void scatter_block(const Records<K, V> &a, const Records<K, V> &b, uint32_t count, uint32_t shift, uint32_t mask,
                   uint32_t *starts) {
  for (uint32_t i = 0; i < count; ++i) {
    const K key = a.keys[i];
    const uint32_t to = starts[static_cast<uint32_t>(key >> shift) & mask]++;
    b.keys[to] = key;
    if constexpr (kHasValue<V>) b.values[to] = a.values[i];
  }
}

// Least digit first: one histogram of all digits, then a pass for each digit that is not constant.
template <class K, class V, uint32_t Passes>
__attribute__((noinline)) void lsd_sort(Records<K, V> a, Records<K, V> b, uint32_t count, bool to_b) {
  uint32_t counts[Passes][kDigitValues] = {};
  for (uint32_t i = 0; i < count; ++i) {
    const K key = a.keys[i];
    for (uint32_t p = 0; p < Passes; ++p) ++counts[p][static_cast<uint8_t>(key >> (p * kRadixBits))];
  }
  bool in_b = false;
  const K first = a.keys[0];
  for (uint32_t p = 0; p < Passes; ++p) {
    const uint32_t shift = p * kRadixBits;
    if (counts[p][static_cast<uint8_t>(first >> shift)] == count) continue;
    counts_to_starts(counts[p], kDigitValues);
    scatter_block(in_b ? b : a, in_b ? a : b, count, shift, kDigitValues - 1, counts[p]);
    in_b = !in_b;
  }
  if (in_b != to_b) (to_b ? b : a).copy(to_b ? a : b, count);
}

// The digit that splits a block may be wider than a pass's: the aim is runs of one or two records, which one shift sort
// of the whole block then puts right. 2^11 counters are 8 KiB of stack.
constexpr uint32_t kBlockDigitBitsMax = 11;
// No less, so that 64 bits are 13 levels at most, whatever the keys: each takes some stack.
constexpr uint32_t kBlockDigitBitsMin = 5;

inline uint32_t block_digit_bits(uint32_t count) {
  const uint32_t wanted = bit_width_of(count) - 1;
  if (wanted < kBlockDigitBitsMin) return kBlockDigitBitsMin;
  return wanted < kBlockDigitBitsMax ? wanted : kBlockDigitBitsMax;
}

// Whether sorting on all digits from the least beats splitting on the first one (Zen 3, one thread, 2026-11).
inline bool lsd_pays(uint32_t count, uint32_t bits) {
  const uint32_t passes = (bits + kRadixBits - 1) / kRadixBits;
  return passes == 1 || (count >= 128 && passes == 2) || (count >= 256 && passes == 3) ||
         (count >= 1024 && passes == 4);
}

template <class K, class V>
void lsd_sort_any(Records<K, V> a, Records<K, V> b, uint32_t count, uint32_t bits, bool to_b) {
  const uint32_t passes = (bits + kRadixBits - 1) / kRadixBits;
  if (passes == 1) return lsd_sort<K, V, 1>(a, b, count, to_b);
  if constexpr (sizeof(K) >= 2)
    if (passes == 2) return lsd_sort<K, V, 2>(a, b, count, to_b);
  if constexpr (sizeof(K) >= 4) {
    if (passes == 3) return lsd_sort<K, V, 3>(a, b, count, to_b);
    return lsd_sort<K, V, 4>(a, b, count, to_b);
  }
}

template <class K, class V>
void sort_block(Records<K, V> a, Records<K, V> b, uint32_t count, uint32_t bits, bool to_b);

// Moves the records of `a` to their digits' runs in `b` and returns the length of the longest. On its own, so that the
// counters are gone when runs are split in their turn: a call may take no more than 16 KiB of stack at any depth.
template <class K, class V>
__attribute__((noinline)) uint32_t make_runs(Records<K, V> a, Records<K, V> b, uint32_t count, uint32_t shift,
                                             uint32_t values) {
  uint32_t starts[1u << kBlockDigitBitsMax];
  std::memset(starts, 0, values * sizeof starts[0]);
  for (uint32_t i = 0; i < count; ++i) ++starts[static_cast<uint32_t>(a.keys[i] >> shift) & (values - 1)];
  uint32_t longest = 0;
  for (uint32_t v = 0; v < values; ++v) longest = starts[v] > longest ? starts[v] : longest;
  counts_to_starts(starts, values);
  scatter_block(a, b, count, shift, values - 1, starts);
  return longest;
}

// Splits `a` on its first digit into runs in `b`, and sorts those.
template <class K, class V>
void split_block(Records<K, V> a, Records<K, V> b, uint32_t count, uint32_t bits, bool to_b) {
  const uint32_t digit_bits = block_digit_bits(count), shift = bits > digit_bits ? bits - digit_bits : 0;
  const uint32_t values = 1u << (bits - shift);
  if (make_runs(a, b, count, shift, values) <= kInsertionItems) return insertion_sort(b, to_b ? b : a, count);
  const auto digit_at = [&](uint32_t i) { return static_cast<uint32_t>(b.keys[i] >> shift) & (values - 1); };
  for (uint32_t begin = 0, end = 0; begin < count; begin = end) {
    const uint32_t digit = digit_at(begin);
    for (end = begin + 1; end < count && digit_at(end) == digit;) ++end;
    sort_block(b.at(begin), a.at(begin), end - begin, shift, !to_b);
  }
}

// Sorts `count` records of `a`, whose keys differ in no bit at or above `bits`. `b` is as long. The result is left in
// `b` if to_b, otherwise in `a`; the other holds leftovers.
template <class K, class V>
void sort_block(Records<K, V> a, Records<K, V> b, uint32_t count, uint32_t bits, bool to_b) {
  if (count <= kInsertionItems) return insertion_sort(a, to_b ? b : a, count);
  const uint32_t differing = bit_width_of(differing_bits(a.keys, count));
  if (differing < bits) bits = differing;
  if (bits == 0) {
    if (to_b) b.copy(a, count);
    return;
  }
  if (lsd_pays(count, bits)) return lsd_sort_any(a, b, count, bits, to_b);
  split_block(a, b, count, bits, to_b);
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_PRIMITIVE_BLOCK_SORT_H_
