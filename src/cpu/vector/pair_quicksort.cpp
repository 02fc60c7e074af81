// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/pair_quicksort.h"

#include <cstring>

#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/pair_quicksort.cpp"
// Others have no permutations of words by a vector, and too few lanes.
#undef GSORT_VECTOR_PAIRS
#define GSORT_VECTOR_PAIRS (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)
// clang-format off
#include "cpu/vector/highway.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "cpu/vector/network-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
#if GSORT_VECTOR_PAIRS
namespace {

// Values beside as many keys as a vector has.
template <class K, class V>
using ValueTag = hn::Rebind<std::make_signed_t<V>, KeyTag<K>>;
template <class K, class V>
using ValueVec = hn::Vec<ValueTag<K, V>>;
template <class K>
using KeyMask = hn::Mask<KeyTag<K>>;

template <class K>
HWY_INLINE void store_keys(KeyVec<K> v, K *to) {
  hn::StoreU(v, KeyTag<K>(), reinterpret_cast<LaneOf<K> *>(to));
}
template <class K>
HWY_INLINE void store_some_keys(KeyVec<K> v, K *to, size_t count) {
  store_some<K>(v, reinterpret_cast<LaneOf<K> *>(to), count);
}

template <class K, class V>
HWY_INLINE ValueVec<K, V> load_values(const V *from) {
  return hn::LoadU(ValueTag<K, V>(), reinterpret_cast<const std::make_signed_t<V> *>(from));
}
template <class K, class V>
HWY_INLINE void store_values(ValueVec<K, V> v, V *to) {
  hn::StoreU(v, ValueTag<K, V>(), reinterpret_cast<std::make_signed_t<V> *>(to));
}
template <class K, class V>
HWY_INLINE void store_some_values(ValueVec<K, V> v, V *to, size_t count) {
  if constexpr (sizeof(K) == sizeof(V)) {
    store_some<K>(v, reinterpret_cast<LaneOf<K> *>(to), count);
  } else {
    HWY_ALIGN std::make_signed_t<V> lanes[kLanes<K>];
    hn::Store(v, ValueTag<K, V>(), lanes);
    std::memcpy(to, lanes, count * sizeof(V));
  }
}

// Some lanes of a vector of keys, which are brought to its front, and so are those of the values beside it.
template <class K>
class LaneSet {
 public:
#if HWY_TARGET == HWY_AVX3
  HWY_INLINE explicit LaneSet(KeyMask<K> lanes) : lanes_(lanes) {}
  HWY_INLINE size_t count() const { return hn::CountTrue(KeyTag<K>(), lanes_); }
  template <class Vec>
  HWY_INLINE Vec to_front(Vec v) const {
    if constexpr (sizeof(v.raw) == sizeof(KeyVec<K>().raw))
      return compress_lanes<K>(lanes_, v);
    else
      return Vec{_mm256_maskz_compress_epi32(lanes_.raw, v.raw)};
  }

 private:
  KeyMask<K> lanes_;
#else
  HWY_INLINE explicit LaneSet(KeyMask<K> lanes) {
    uint8_t bytes[8] = {};
    hn::StoreMaskBits(KeyTag<K>(), lanes, bytes);
    bits_ = bytes[0];
  }
  HWY_INLINE size_t count() const { return static_cast<size_t>(__builtin_popcount(bits_)); }
  template <class Vec>
  HWY_INLINE Vec to_front(Vec v) const {
    constexpr uint32_t kAll = (1u << kLanes<K>)-1;  // the tables have lanes whose bit is set behind the others
    if constexpr (sizeof(v.raw) == sizeof(KeyVec<K>().raw)) {
      const hn::Repartition<int32_t, KeyTag<K>> d;
      const hn::Rebind<uint8_t, decltype(d)> d_places;
      const auto places = hn::Load(d_places, kCompressTable<kLanes<K>, 8>.places[bits_ ^ kAll]);
      const auto words = hn::BitCast(d, v);
      return hn::BitCast(hn::DFromV<Vec>(),
                         hn::TableLookupLanes(words, hn::IndicesFromVec(d, hn::PromoteTo(d, places))));
    } else {
      const hn::Full128<uint8_t> d;
      const auto places = hn::Load(d, kCompressTable<kLanes<K>, 16>.places[bits_ ^ kAll]);
      return hn::BitCast(hn::DFromV<Vec>(), hn::TableLookupBytes(hn::BitCast(d, v), places));
    }
  }

 private:
  uint32_t bits_;
#endif
};

// The next records of a split: encoded, if they are seen for the first time, and numbered if they have no values.
template <class K, class V, bool kEncode, bool kNumber>
class PairLoader {
 public:
  using Key = KeyVec<K>;
  using Value = ValueVec<K, V>;
  HWY_INLINE PairLoader(const SortCoder<K> &coder, const RawPairs<K, V> &from)
      : coder_(coder),
        keys_(from.keys),
        values_(from.values),
        number_(hn::Iota(ValueTag<K, V>(), static_cast<std::make_signed_t<V>>(from.first))) {}
  HWY_INLINE Key key(size_t i) const { return encoded(load_bits(keys_ + i)); }
  HWY_INLINE Value value(size_t i) { return kNumber ? next_number() : load_values<K>(values_ + i); }
  HWY_INLINE Key some_keys(size_t i, size_t count) const {
    const KeyTag<K> d;
    return encoded(hn::MaskedLoad(hn::FirstN(d, count), d, reinterpret_cast<const LaneOf<K> *>(keys_ + i)));
  }
  HWY_INLINE Value some_values(size_t i, size_t count) {
    if (kNumber) return next_number();
    const ValueTag<K, V> d;
    return hn::MaskedLoad(hn::FirstN(d, count), d, reinterpret_cast<const std::make_signed_t<V> *>(values_ + i));
  }

 private:
  HWY_INLINE Key encoded(Key v) const { return kEncode ? coder_.encode(v) : v; }
  HWY_INLINE Value next_number() {
    const Value number = number_;
    number_ = hn::Add(number, hn::Set(ValueTag<K, V>(), kLanes<K>));
    return number;
  }
  const SortCoder<K> &coder_;
  const K *keys_;
  const V *values_;
  Value number_;
};

// Where records go as they are read: there are no more lower ones than were read, nor upper ones. A whole vector is
// stored where only some of its lanes are of that side, in place of what was read or is written next: nothing beyond n
// records is touched, and nothing that is still to be read.
template <class K, class V>
class PairSides {
 public:
  using Arrays = PairArrays<K, V>;
  HWY_INLINE PairSides(const Arrays &lower, const Arrays &upper, LaneOf<K> pivot)
      : lower_(lower), upper_(upper), pivot_(hn::Set(KeyTag<K>(), pivot)) {}

  HWY_INLINE void put(KeyVec<K> key, ValueVec<K, V> value) {
    const auto above = hn::Gt(key, pivot_);
    const LaneSet<K> lower(hn::Not(above)), upper(above);
    store_keys<K>(lower.to_front(key), lower_.keys + lowers_);
    store_values<K>(lower.to_front(value), lower_.values + lowers_);
    store_keys<K>(upper.to_front(key), upper_.keys + uppers_);
    store_values<K>(upper.to_front(value), upper_.values + uppers_);
    const size_t count = lower.count();
    lowers_ += count;
    uppers_ += kLanes<K> - count;
  }
  // The last ones.
  HWY_INLINE void put_some(KeyVec<K> key, ValueVec<K, V> value, size_t all) {
    const auto there = hn::FirstN(KeyTag<K>(), all);
    const auto above = hn::And(hn::Gt(key, pivot_), there);
    const LaneSet<K> lower(hn::AndNot(above, there)), upper(above);
    const size_t count = lower.count(), rest = all - count;
    store_some_keys<K>(lower.to_front(key), lower_.keys + lowers_, count);
    store_some_values<K>(lower.to_front(value), lower_.values + lowers_, count);
    store_some_keys<K>(upper.to_front(key), upper_.keys + uppers_, rest);
    store_some_values<K>(upper.to_front(value), upper_.values + uppers_, rest);
    lowers_ += count;
    uppers_ += rest;
  }
  HWY_INLINE size_t lowers() const { return lowers_; }
  HWY_INLINE size_t uppers() const { return uppers_; }

 private:
  Arrays lower_, upper_;
  KeyVec<K> pivot_;
  size_t lowers_ = 0, uppers_ = 0;
};

template <class K, class V, bool kEncode, bool kNumber>
HWY_NOINLINE uint64_t split_records(const SortCoder<K> coder, const RawPairs<K, V> pairs, size_t n, LaneOf<K> pivot,
                                    const PairArrays<K, V> lower, const PairArrays<K, V> upper) {
  constexpr size_t kWide = kLanes<K>;
  PairLoader<K, V, kEncode, kNumber> from(coder, pairs);
  PairSides<K, V> sides(lower, upper, pivot);
  size_t i = 0;
  for (; i + 2 * kWide <= n; i += 2 * kWide) {
    const auto key = from.key(i), next_key = from.key(i + kWide);
    const auto value = from.value(i), next_value = from.value(i + kWide);
    sides.put(key, value);
    sides.put(next_key, next_value);
  }
  if (i + kWide <= n) {
    sides.put(from.key(i), from.value(i));
    i += kWide;
  }
  if (i < n) sides.put_some(from.some_keys(i, n - i), from.some_values(i, n - i), n - i);
  return sides.lowers();
}

// Where the next records of one side go whose number is known: to where they belong as long as two whole vectors have
// room there, and the last ones by way of room of their own.
template <class K, class V>
class SideApart {
 public:
  using Arrays = PairArrays<K, V>;
  static constexpr size_t kStep = 2 * kLanes<K>;
  HWY_INLINE SideApart(const Arrays &to, size_t count) : to_(to), left_(count) { look(); }
  HWY_INLINE const Arrays &next() const { return to_; }
  // Up to so many records a step of kStep may follow.
  HWY_INLINE size_t limit() const { return is_apart_ ? SIZE_MAX : left_ - kStep; }
  HWY_INLINE void advance(size_t count) {
    to_ = to_.at(count);
    left_ -= count;
    look();
  }
  HWY_INLINE void finish() const {
    if (!is_apart_) return;
    std::memcpy(end_.keys, keys_, apart_ * sizeof(K));
    std::memcpy(end_.values, values_, apart_ * sizeof(V));
  }

 private:
  HWY_INLINE void look() {
    if (is_apart_ || left_ >= kStep) return;
    is_apart_ = true;
    end_ = to_;
    apart_ = left_;
    to_ = {keys_, values_};
  }
  Arrays to_, end_{nullptr, nullptr};
  size_t left_, apart_ = 0;
  bool is_apart_ = false;
  K keys_[2 * kStep];
  V values_[2 * kStep];
};

template <class K, class V, bool kNumber>
HWY_NOINLINE void split_records_apart(const SortCoder<K> coder, const RawPairs<K, V> pairs, size_t n, LaneOf<K> pivot,
                                      size_t lowers, const PairArrays<K, V> lower, const PairArrays<K, V> upper) {
  constexpr size_t kWide = kLanes<K>, kStep = SideApart<K, V>::kStep;
  PairLoader<K, V, true, kNumber> from(coder, pairs);
  SideApart<K, V> low(lower, lowers), high(upper, n - lowers);
  size_t i = 0;
  while (i + kStep <= n) {
    PairSides<K, V> sides(low.next(), high.next(), pivot);
    const size_t low_limit = low.limit(), high_limit = high.limit();
    do {
      const auto key = from.key(i), next_key = from.key(i + kWide);
      const auto value = from.value(i), next_value = from.value(i + kWide);
      sides.put(key, value);
      sides.put(next_key, next_value);
      i += kStep;
    } while (i + kStep <= n && sides.lowers() <= low_limit && sides.uppers() <= high_limit);
    low.advance(sides.lowers());
    high.advance(sides.uppers());
  }
  PairSides<K, V> sides(low.next(), high.next(), pivot);
  for (; i < n; i += kWide) {
    const size_t count = n - i < kWide ? n - i : kWide;
    sides.put_some(from.some_keys(i, count), from.some_values(i, count), count);
  }
  low.finish();
  high.finish();
}

template <class K, class V>
void split_apart(const KeyCodec<K> &encode, const RawPairs<K, V> &from, uint64_t n, InnerKey<K> pivot, uint64_t lowers,
                 const PairArrays<K, V> &lower, const PairArrays<K, V> &upper) {
  const SortCoder<K> coder(encode, kInnerOrder<K>);
  if (from.values == nullptr) return split_records_apart<K, V, true>(coder, from, n, pivot, lowers, lower, upper);
  split_records_apart<K, V, false>(coder, from, n, pivot, lowers, lower, upper);
}

template <class K>
uint64_t count_lowers(const KeyCodec<K> &encode, const K *keys, uint64_t n, InnerKey<K> pivot_key) {
  const KeyTag<K> d;
  constexpr size_t kWide = kLanes<K>;
  const SortCoder<K> coder(encode, kInnerOrder<K>);
  const auto pivot = hn::Set(d, pivot_key);
  uint64_t uppers = 0, i = 0;
  for (; i + 2 * kWide <= n; i += 2 * kWide)
    uppers += hn::CountTrue(d, hn::Gt(coder.encode(load_bits(keys + i)), pivot)) +
              hn::CountTrue(d, hn::Gt(coder.encode(load_bits(keys + i + kWide)), pivot));
  for (; i < n; ++i) uppers += static_cast<InnerKey<K>>(coder.encode_one(keys[i])) > pivot_key ? 1 : 0;
  return n - uppers;
}

template <class K, class V>
uint64_t split(const PairArrays<K, V> &from, uint64_t n, InnerKey<K> pivot, const PairArrays<K, V> &lower,
               const PairArrays<K, V> &upper) {
  const SortCoder<K> coder(kInnerOrder<K>, kInnerOrder<K>);
  return split_records<K, V, false, false>(coder, {from.keys, from.values, 0}, n, pivot, lower, upper);
}

template <class K, class V>
uint64_t split_first(const KeyCodec<K> &encode, const RawPairs<K, V> &from, uint64_t n, InnerKey<K> pivot,
                     const PairArrays<K, V> &lower, const PairArrays<K, V> &upper) {
  const SortCoder<K> coder(encode, kInnerOrder<K>);
  if (from.values == nullptr) return split_records<K, V, true, true>(coder, from, n, pivot, lower, upper);
  return split_records<K, V, true, false>(coder, from, n, pivot, lower, upper);
}

template <class K>
bool is_one_key(const K *keys, uint64_t n) {
  const KeyTag<K> d;
  constexpr size_t kWide = kLanes<K>;
  const auto first = hn::Set(d, static_cast<LaneOf<K>>(keys[0]));
  uint64_t i = 0;
  for (; i + 2 * kWide <= n; i += 2 * kWide)
    if (!hn::AllTrue(d, hn::And(hn::Eq(load_bits(keys + i), first), hn::Eq(load_bits(keys + i + kWide), first))))
      return false;
  for (; i < n; ++i)
    if (keys[i] != keys[0]) return false;
  return true;
}

// Sorts a block by words of W: how far a key lies above the least one, without the last bits where they do not fit, and
// below that the record's place. No two words are the same.
template <class K, class V, class W>
class BlockSort {
 public:
  using Arrays = PairArrays<K, V>;
  HWY_INLINE BlockSort(const SortCoder<K> &coder, const Arrays &from, uint32_t n, W *words)
      : coder_(coder), from_(from), n_(n), words_(words) {}

  HWY_INLINE bool run(const Arrays &out) {
    if (find_range() == 0) return copy(out);
    make_words();
    sort_kernels(W{})->sort_few(kUnsignedOrder, words_, words_, n_);
    fetch_records(from_, words_, n_, (W{1} << place_bits_) - 1, out);
    return decode_in_order(out.keys) || order_ties(out);
  }

 private:
  // Longer runs, or more of them, say that a block has to be sorted another way.
  static constexpr uint32_t kTiesMax = 32, kTiesOfItems = 16;
  static constexpr size_t kWide = kLanes<K>;
  using Tag = KeyTag<K>;
  using Vec = KeyVec<K>;

  static HWY_INLINE KeyMask<K> first(uint32_t count) { return hn::FirstN(Tag(), count); }
  static HWY_INLINE Vec load_part(const K *from, uint32_t count, Vec others) {
    const auto *const lanes = reinterpret_cast<const LaneOf<K> *>(from);
    return hn::IfThenElse(first(count), hn::MaskedLoad(first(count), Tag(), lanes), others);
  }
  static uint32_t bit_width(uint64_t x) { return x == 0 ? 0 : 64 - static_cast<uint32_t>(__builtin_clzll(x)); }

  // Returns how far the greatest key lies above the least one.
  HWY_INLINE K find_range() {
    const Tag d;
    const K *const keys = from_.keys;
    const uint32_t n = n_;
    const auto one = hn::Set(d, static_cast<LaneOf<K>>(keys[0]));
    auto least = one, greatest = one;
    uint32_t i = 0;
    for (; i + kWide <= n; i += kWide) {
      const auto key = load_bits(keys + i);
      least = hn::Min(least, key);
      greatest = hn::Max(greatest, key);
    }
    const auto last = load_part(keys + i, n - i, one);
    least = hn::MinOfLanes(d, hn::Min(least, last));
    greatest = hn::MaxOfLanes(d, hn::Max(greatest, last));
    least_ = static_cast<K>(hn::GetLane(least));
    const K range = static_cast<K>(hn::GetLane(greatest)) - least_;
    const uint32_t bits = bit_width(range);
    place_bits_ = n == 1 ? 1 : bit_width(n - 1);
    constexpr uint32_t word_bits = sizeof(W) * 8;
    dropped_bits_ = bits + place_bits_ > word_bits ? bits + place_bits_ - word_bits : 0;
    return range;
  }

  // Records of one key.
  bool copy(const Arrays &out) const {
    const K key = static_cast<K>(coder_.decode_one(static_cast<LaneOf<K>>(least_)));
    for (uint32_t i = 0; i < n_; ++i) out.keys[i] = key;
    std::memcpy(out.values, from_.values, n_ * sizeof(V));
    return true;
  }

  HWY_INLINE void make_words() const {
    const K *const keys = from_.keys;
    W *const words = words_;
    const uint32_t n = n_;
    const int dropped = static_cast<int>(dropped_bits_), shift = static_cast<int>(place_bits_);
    if constexpr (sizeof(K) == 8 || sizeof(W) == 8) {
      const K least = least_;
      for (uint32_t i = 0; i < n; ++i)
        words[i] = static_cast<W>(static_cast<K>(keys[i] - least) >> dropped) << shift | i;
    } else {
      const Tag d;
      const hn::RebindToUnsigned<Tag> d_bits;
      const auto least = hn::Set(d_bits, least_), step = hn::Set(d_bits, kWide);
      auto places = hn::Iota(d_bits, 0);
      const auto word = [&](Vec key) HWY_ATTR {
        const auto above_least = hn::Sub(hn::BitCast(d_bits, key), least);
        const auto bits = hn::ShiftLeftSame(hn::ShiftRightSame(above_least, dropped), shift);
        return hn::BitCast(d, hn::Or(bits, places));
      };
      uint32_t i = 0;
      for (; i + kWide <= n; i += kWide) {
        store_keys<K>(word(load_bits(keys + i)), words + i);
        places = hn::Add(places, step);
      }
      store_some_keys<K>(word(load_part(keys + i, n - i, hn::Zero(d))), words + i, n - i);
    }
  }

  static HWY_INLINE void fetch_records(const Arrays from, const W *words, uint32_t n, W mask, const Arrays out) {
    uint32_t i = 0;
#if HWY_TARGET == HWY_AVX3
    if constexpr (sizeof(W) == 4) i = gather_records(from, words, n, mask, out);
#endif
    for (; i < n; ++i) {
      const W place = words[i] & mask;
      out.keys[i] = from.keys[place];
      out.values[i] = from.values[place];
    }
  }

#if HWY_TARGET == HWY_AVX3
  // Of all whole vectors; returns of how many records.
  static HWY_INLINE uint32_t gather_records(const Arrays from, const uint32_t *words, uint32_t n, uint32_t mask,
                                            const Arrays out) {
    const Tag d;
    const ValueTag<K, V> d_values;
    const auto *const keys = reinterpret_cast<const LaneOf<K> *>(from.keys);
    const auto *const values = reinterpret_cast<const std::make_signed_t<V> *>(from.values);
    const hn::Rebind<int32_t, Tag> d_places;
    const auto place_mask = hn::Set(d_places, static_cast<int32_t>(mask));
    uint32_t i = 0;
    for (; i + kWide <= n; i += kWide) {
      const auto places = hn::And(hn::LoadU(d_places, reinterpret_cast<const int32_t *>(words + i)), place_mask);
      if constexpr (sizeof(K) == 4) {
        store_keys<K>(hn::GatherIndex(d, keys, places), out.keys + i);
        store_values<K>(hn::GatherIndex(d_values, values, places), out.values + i);
      } else {
        const auto wide_places = hn::PromoteTo(d, places);
        store_keys<K>(hn::GatherIndex(d, keys, wide_places), out.keys + i);
        if constexpr (sizeof(V) == 8)
          store_values<K>(hn::GatherIndex(d_values, values, wide_places), out.values + i);
        else
          store_values<K>(hn::GatherIndex(d_values, values, places), out.values + i);
      }
    }
    return i;
  }
#endif

  // Decodes the keys; false if they are not in order.
  HWY_INLINE bool decode_in_order(K *keys) const {
    const Tag d;
    const SortCoder<K> coder = coder_;
    const uint32_t n = n_;
    auto wrong = hn::Zero(d);
    const auto meet = [&](Vec key, Vec next) HWY_ATTR { wrong = hn::Or(wrong, hn::VecFromMask(d, hn::Gt(key, next))); };
    uint32_t i = 0;
    for (; i + kWide < n; i += kWide) {  // the last key of a vector meets the first one of the next
      const auto key = load_bits(keys + i);
      meet(key, load_bits(keys + i + 1));
      store_keys<K>(coder.decode(key), keys + i);
    }
    const auto last = load_part(keys + i, n - i, hn::Set(d, kGreatestLane<K>));
    meet(last, load_part(keys + i + 1, n - i - 1, hn::Set(d, kGreatestLane<K>)));
    store_some_keys<K>(coder.decode(last), keys + i, n - i);
    return hn::AllTrue(d, hn::Eq(wrong, hn::Zero(d)));
  }

  // Puts records right whose words agree in the bits of keys that they have; false if too many do.
  HWY_NOINLINE bool order_ties(const Arrays &out) {
    uint32_t left = n_ / kTiesOfItems + kTiesMax;
    for (uint32_t i = 0; i + 1 < n_;) {
      const uint32_t begin = next_tie(i);
      uint32_t end = begin + 1;
      while (end < n_ && words_[end] >> place_bits_ == words_[begin] >> place_bits_) ++end;
      i = end;
      if (is_in_order(begin, end)) continue;
      const uint32_t count = end - begin;
      if (count > kTiesMax || count > left) return false;
      left -= count;
      order_run(begin, end, out);
    }
    return true;
  }

  // A word from `i` on that may agree with the next one in the bits of keys.
  HWY_INLINE uint32_t next_tie(uint32_t i) const {
    const hn::RebindToUnsigned<KeyTag<W>> d;
    const int shift = static_cast<int>(place_bits_);
    for (; i + kLanes<W> < n_; i += kLanes<W>) {
      const auto differing = hn::BitCast(d, hn::Xor(load_bits(words_ + i), load_bits(words_ + i + 1)));
      const auto ties = hn::Eq(hn::ShiftRightSame(differing, shift), hn::Zero(d));
      const intptr_t first_tie = hn::FindFirstTrue(d, ties);
      if (first_tie >= 0) return i + static_cast<uint32_t>(first_tie);
    }
    return i;
  }

  W place_of(W word) const { return word & ((W{1} << place_bits_) - 1); }
  LaneOf<K> key_of(W word) const { return static_cast<LaneOf<K>>(from_.keys[place_of(word)]); }
  bool is_in_order(uint32_t begin, uint32_t end) const {
    for (uint32_t i = begin; i + 1 < end; ++i)
      if (key_of(words_[i]) > key_of(words_[i + 1])) return false;
    return true;
  }
  void order_run(uint32_t begin, uint32_t end, const Arrays &out) {
    for (uint32_t i = begin + 1; i < end; ++i) {
      const W word = words_[i];
      uint32_t j = i;
      for (; j > begin && key_of(words_[j - 1]) > key_of(word); --j) words_[j] = words_[j - 1];
      words_[j] = word;
    }
    for (uint32_t i = begin; i < end; ++i) {
      out.keys[i] = static_cast<K>(coder_.decode_one(key_of(words_[i])));
      out.values[i] = from_.values[place_of(words_[i])];
    }
  }

  const SortCoder<K> &coder_;
  Arrays from_;
  uint32_t n_;
  W *words_;
  K least_ = 0;
  uint32_t place_bits_ = 0, dropped_bits_ = 0;
};

template <class K, class V>
bool sort_block(const KeyCodec<K> &decode, const PairArrays<K, V> &from, uint32_t n, bool long_words, uint64_t *words,
                const PairArrays<K, V> &out) {
  const SortCoder<K> coder(kInnerOrder<K>, decode);
  if (long_words) return BlockSort<K, V, uint64_t>(coder, from, n, words).run(out);
  return BlockSort<K, V, uint32_t>(coder, from, n, reinterpret_cast<uint32_t *>(words)).run(out);
}

constexpr uint32_t kBlockItems = HWY_TARGET == HWY_AVX3 ? 1024 : 2048;
static_assert(kBlockItems <= kPairBlockItemsMax);

template <class K, class V>
constexpr PairQuicksortKernels<K, V> kKernels = {split<K, V>,   split_first<K, V>, count_lowers<K>, split_apart<K, V>,
                                                 is_one_key<K>, sort_block<K, V>,  kBlockItems};
#else
namespace {
template <class K, class V>
constexpr PairQuicksortKernels<K, V> kKernels = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0};
#endif

}  // namespace

extern const PairQuicksort32 kPairQuicksort32;
const PairQuicksort32 kPairQuicksort32 = kKernels<uint32_t, uint32_t>;
extern const PairQuicksort64With32 kPairQuicksort64With32;
const PairQuicksort64With32 kPairQuicksort64With32 = kKernels<uint64_t, uint32_t>;
extern const PairQuicksort64 kPairQuicksort64;
const PairQuicksort64 kPairQuicksort64 = kKernels<uint64_t, uint64_t>;
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
GSORT_DEFINE_KERNELS_OF(PairQuicksort32, pair_quicksort_kernels, Pairs32, kPairQuicksort32)
GSORT_DEFINE_KERNELS_OF(PairQuicksort64With32, pair_quicksort_kernels, Pairs64With32, kPairQuicksort64With32)
GSORT_DEFINE_KERNELS_OF(PairQuicksort64, pair_quicksort_kernels, Pairs64, kPairQuicksort64)
}  // namespace gsort_internal
#endif
