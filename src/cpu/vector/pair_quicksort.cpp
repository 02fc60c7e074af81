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

using Key = uint32_t;
using Vec = KeyVec<Key>;
constexpr size_t kWide = kLanes<Key>;

HWY_INLINE Vec load(const uint32_t *from) { return load_bits(from); }
HWY_INLINE void store(Vec v, uint32_t *to) { hn::StoreU(v, KeyTag<Key>(), reinterpret_cast<LaneOf<Key> *>(to)); }
HWY_INLINE void store_part(Vec v, uint32_t *to, size_t count) {
  store_some<Key>(v, reinterpret_cast<LaneOf<Key> *>(to), count);
}

// Which lanes of a vector are lower ones and which are upper ones, and how either come to be side by side.
#if HWY_TARGET == HWY_AVX3
class LaneSplit {
 public:
  using Mask = hn::Mask<KeyTag<Key>>;
  HWY_INLINE LaneSplit(Mask lower, Mask upper) : lower_(lower), upper_(upper) {}
  HWY_INLINE size_t lower_count() const { return hn::CountTrue(KeyTag<Key>(), lower_); }
  HWY_INLINE Vec lower(Vec v) const { return compress_lanes<Key>(lower_, v); }
  HWY_INLINE Vec upper(Vec v) const { return compress_lanes<Key>(upper_, v); }

 private:
  Mask lower_, upper_;
};
#else
// Those whose bit is set first; the table has them behind the others.
HWY_INLINE Vec first_lanes(uint32_t bits, Vec v) {
  const hn::Rebind<uint8_t, KeyTag<Key>> d_places;
  const auto places = hn::Load(d_places, kCompressTable<kWide, kWide>.places[bits ^ 0xff]);
  return hn::TableLookupLanes(v, hn::IndicesFromVec(KeyTag<Key>(), hn::PromoteTo(KeyTag<Key>(), places)));
}

class LaneSplit {
 public:
  using Mask = hn::Mask<KeyTag<Key>>;
  HWY_INLINE LaneSplit(Mask lower, Mask upper) : lower_bits_(bits_of_mask(lower)), upper_bits_(bits_of_mask(upper)) {}
  HWY_INLINE size_t lower_count() const { return static_cast<size_t>(__builtin_popcount(lower_bits_)); }
  HWY_INLINE Vec lower(Vec v) const { return first_lanes(lower_bits_, v); }
  HWY_INLINE Vec upper(Vec v) const { return first_lanes(upper_bits_, v); }

 private:
  static HWY_INLINE uint32_t bits_of_mask(Mask mask) {
    uint8_t bytes[8] = {};
    hn::StoreMaskBits(KeyTag<Key>(), mask, bytes);
    return bytes[0];
  }
  uint32_t lower_bits_, upper_bits_;
};
#endif

// The next records of a split: encoded, if they are seen for the first time, and numbered if they have no values.
template <bool kEncode, bool kNumber>
class PairLoader {
 public:
  HWY_INLINE PairLoader(const SortCoder<Key> &coder, const RawPairs &from)
      : coder_(coder),
        keys_(from.keys),
        values_(from.values),
        number_(hn::Iota(KeyTag<Key>(), static_cast<LaneOf<Key>>(from.first))) {}
  HWY_INLINE Vec key(size_t i) const { return encoded(load(keys_ + i)); }
  HWY_INLINE Vec value(size_t i) { return kNumber ? next_number() : load(values_ + i); }
  HWY_INLINE Vec some_keys(size_t i, hn::Mask<KeyTag<Key>> mask) const { return encoded(some(keys_ + i, mask)); }
  HWY_INLINE Vec some_values(size_t i, hn::Mask<KeyTag<Key>> mask) {
    return kNumber ? next_number() : some(values_ + i, mask);
  }

 private:
  HWY_INLINE Vec encoded(Vec v) const { return kEncode ? coder_.encode(v) : v; }
  HWY_INLINE Vec next_number() {
    const Vec number = number_;
    number_ = hn::Add(number, hn::Set(KeyTag<Key>(), kWide));
    return number;
  }
  static HWY_INLINE Vec some(const uint32_t *from, hn::Mask<KeyTag<Key>> mask) {
    return hn::MaskedLoad(mask, KeyTag<Key>(), reinterpret_cast<const LaneOf<Key> *>(from));
  }
  const SortCoder<Key> &coder_;
  const uint32_t *keys_, *values_;
  Vec number_;
};

// Where records go as they are read: lower ones are no more than were read, and so are upper ones. A whole vector is
// stored where only some of its lanes are of that side, in place of what was read or is written next: nothing beyond n
// records is touched, and nothing that is still to be read.
class PairSides {
 public:
  using Mask = LaneSplit::Mask;
  HWY_INLINE PairSides(const ShortPairs &lower, const ShortPairs &upper, LaneOf<Key> pivot)
      : lower_(lower), upper_(upper), pivot_(hn::Set(KeyTag<Key>(), pivot)) {}

  HWY_INLINE void put(Vec key, Vec value) {
    const auto above = hn::Gt(key, pivot_);
    const LaneSplit split(hn::Not(above), above);
    store(split.lower(key), lower_.keys + lowers_);
    store(split.lower(value), lower_.values + lowers_);
    store(split.upper(key), upper_.keys + uppers_);
    store(split.upper(value), upper_.values + uppers_);
    const size_t count = split.lower_count();
    lowers_ += count;
    uppers_ += kWide - count;
  }
  // The last ones, of which `there` are some.
  HWY_INLINE void put_some(Vec key, Vec value, Mask there, size_t all) {
    const auto above = hn::And(hn::Gt(key, pivot_), there);
    const LaneSplit split(hn::AndNot(above, there), above);
    const size_t count = split.lower_count(), rest = all - count;
    store_part(split.lower(key), lower_.keys + lowers_, count);
    store_part(split.lower(value), lower_.values + lowers_, count);
    store_part(split.upper(key), upper_.keys + uppers_, rest);
    store_part(split.upper(value), upper_.values + uppers_, rest);
    lowers_ += count;
  }
  HWY_INLINE size_t lowers() const { return lowers_; }

 private:
  ShortPairs lower_, upper_;
  Vec pivot_;
  size_t lowers_ = 0, uppers_ = 0;
};

template <bool kEncode, bool kNumber>
HWY_NOINLINE uint64_t split_records(const SortCoder<Key> coder, const RawPairs pairs, size_t n, LaneOf<Key> pivot,
                                    const ShortPairs lower, const ShortPairs upper) {
  PairLoader<kEncode, kNumber> from(coder, pairs);
  PairSides sides(lower, upper, pivot);
  size_t i = 0;
  for (; i + 2 * kWide <= n; i += 2 * kWide) {
    const Vec key = from.key(i), next_key = from.key(i + kWide);
    const Vec value = from.value(i), next_value = from.value(i + kWide);
    sides.put(key, value);
    sides.put(next_key, next_value);
  }
  if (i + kWide <= n) {
    sides.put(from.key(i), from.value(i));
    i += kWide;
  }
  if (i < n) {
    const auto there = hn::FirstN(KeyTag<Key>(), n - i);
    sides.put_some(from.some_keys(i, there), from.some_values(i, there), there, n - i);
  }
  return sides.lowers();
}

uint64_t split(const ShortPairs &from, uint64_t n, InnerKey<Key> pivot, const ShortPairs &lower,
               const ShortPairs &upper) {
  const SortCoder<Key> coder(kInnerOrder<Key>, kInnerOrder<Key>);
  return split_records<false, false>(coder, {from.keys, from.values, 0}, n, pivot, lower, upper);
}

uint64_t split_first(const KeyCodec<Key> &encode, const RawPairs &from, uint64_t n, InnerKey<Key> pivot,
                     const ShortPairs &lower, const ShortPairs &upper) {
  const SortCoder<Key> coder(encode, kInnerOrder<Key>);
  if (from.values == nullptr) return split_records<true, true>(coder, from, n, pivot, lower, upper);
  return split_records<true, false>(coder, from, n, pivot, lower, upper);
}

bool is_one_key(const uint32_t *keys, uint64_t n) {
  const KeyTag<Key> d;
  const auto first = hn::Set(d, static_cast<LaneOf<Key>>(keys[0]));
  uint64_t i = 0;
  for (; i + 2 * kWide <= n; i += 2 * kWide)
    if (!hn::AllTrue(d, hn::And(hn::Eq(load(keys + i), first), hn::Eq(load(keys + i + kWide), first)))) return false;
  for (; i < n; ++i)
    if (keys[i] != keys[0]) return false;
  return true;
}

// Sorts a block by words of 4 bytes: how far a key lies above the least one, without the last bits where they do not
// fit, and below that the record's place. No two words are the same.
class BlockSort {
 public:
  HWY_INLINE BlockSort(const SortCoder<Key> &coder, const ShortPairs &from, uint32_t n, uint32_t *words)
      : coder_(coder), from_(from), n_(n), words_(words) {}

  HWY_INLINE bool run(const ShortPairs &out) {
    if (find_range() == 0) return copy(out);
    make_words();
    sort_kernels(Key{})->sort_few(kUnsignedOrder, words_, words_, n_);
    fetch_records(from_, words_, n_, (1u << place_bits_) - 1, out);
    return decode_in_order(out.keys) || order_ties(out);
  }

 private:
  // Longer runs, or more of them, say that a block has to be sorted another way.
  static constexpr uint32_t kTiesMax = 32, kTiesOfItems = 16;
  using Bits = hn::RebindToUnsigned<KeyTag<Key>>;

  static HWY_INLINE hn::Mask<KeyTag<Key>> first(uint32_t count) { return hn::FirstN(KeyTag<Key>(), count); }
  static HWY_INLINE Vec load_part(const uint32_t *from, uint32_t count, Vec others) {
    const auto *const lanes = reinterpret_cast<const LaneOf<Key> *>(from);
    return hn::IfThenElse(first(count), hn::MaskedLoad(first(count), KeyTag<Key>(), lanes), others);
  }

  // Returns how far the greatest key lies above the least one.
  HWY_INLINE uint32_t find_range() {
    const KeyTag<Key> d;
    const uint32_t *const keys = from_.keys;
    const uint32_t n = n_;
    const auto one = hn::Set(d, static_cast<LaneOf<Key>>(keys[0]));
    auto least = one, greatest = one;
    uint32_t i = 0;
    for (; i + kWide <= n; i += kWide) {
      const auto key = load(keys + i);
      least = hn::Min(least, key);
      greatest = hn::Max(greatest, key);
    }
    const auto last = load_part(keys + i, n - i, one);
    least = hn::MinOfLanes(d, hn::Min(least, last));
    greatest = hn::MaxOfLanes(d, hn::Max(greatest, last));
    least_ = static_cast<uint32_t>(hn::GetLane(least));
    const uint32_t range = static_cast<uint32_t>(hn::GetLane(greatest)) - least_;
    const uint32_t bits = range == 0 ? 0 : 32 - static_cast<uint32_t>(__builtin_clz(range));
    place_bits_ = n == 1 ? 1 : 32 - static_cast<uint32_t>(__builtin_clz(n - 1));
    dropped_bits_ = bits + place_bits_ > 32 ? bits + place_bits_ - 32 : 0;
    return range;
  }

  // Records of one key.
  bool copy(const ShortPairs &out) const {
    const uint32_t key = static_cast<uint32_t>(coder_.decode_one(static_cast<LaneOf<Key>>(least_)));
    for (uint32_t i = 0; i < n_; ++i) out.keys[i] = key;
    std::memcpy(out.values, from_.values, n_ * sizeof(uint32_t));
    return true;
  }

  HWY_INLINE void make_words() const {
    const KeyTag<Key> d;
    const Bits d_bits;
    const uint32_t *const keys = from_.keys;
    uint32_t *const words = words_;
    const uint32_t n = n_;
    const auto least = hn::Set(d_bits, least_), step = hn::Set(d_bits, kWide);
    const int dropped = static_cast<int>(dropped_bits_), shift = static_cast<int>(place_bits_);
    auto places = hn::Iota(d_bits, 0);
    const auto word = [&](Vec key) HWY_ATTR {
      const auto above_least = hn::Sub(hn::BitCast(d_bits, key), least);
      const auto bits = hn::ShiftLeftSame(hn::ShiftRightSame(above_least, dropped), shift);
      return hn::BitCast(d, hn::Or(bits, places));
    };
    uint32_t i = 0;
    for (; i + kWide <= n; i += kWide) {
      store(word(load(keys + i)), words + i);
      places = hn::Add(places, step);
    }
    store_part(word(load_part(keys + i, n - i, hn::Zero(d))), words + i, n - i);
  }

  static HWY_INLINE void fetch_records(const ShortPairs from, const uint32_t *words, uint32_t n, uint32_t mask,
                                       const ShortPairs out) {
    uint32_t i = 0;
#if HWY_TARGET == HWY_AVX3
    const KeyTag<Key> d;
    const auto place_mask = hn::Set(d, static_cast<LaneOf<Key>>(mask));
    const auto *const keys = reinterpret_cast<const LaneOf<Key> *>(from.keys);
    const auto *const values = reinterpret_cast<const LaneOf<Key> *>(from.values);
    for (; i + kWide <= n; i += kWide) {
      const auto places = hn::And(load(words + i), place_mask);
      store(hn::GatherIndex(d, keys, places), out.keys + i);
      store(hn::GatherIndex(d, values, places), out.values + i);
    }
#endif
    for (; i < n; ++i) {
      const uint32_t place = words[i] & mask;
      out.keys[i] = from.keys[place];
      out.values[i] = from.values[place];
    }
  }

  // Decodes the keys; false if they are not in order.
  HWY_INLINE bool decode_in_order(uint32_t *keys) const {
    const KeyTag<Key> d;
    const SortCoder<Key> coder = coder_;
    const uint32_t n = n_;
    auto wrong = hn::Zero(d);
    const auto meet = [&](Vec key, Vec next) HWY_ATTR { wrong = hn::Or(wrong, hn::VecFromMask(d, hn::Gt(key, next))); };
    uint32_t i = 0;
    for (; i + kWide < n; i += kWide) {  // the last key of a vector meets the first one of the next
      const auto key = load(keys + i);
      meet(key, load(keys + i + 1));
      store(coder.decode(key), keys + i);
    }
    const auto last = load_part(keys + i, n - i, hn::Set(d, kGreatestLane<Key>));
    meet(last, load_part(keys + i + 1, n - i - 1, hn::Set(d, kGreatestLane<Key>)));
    store_part(coder.decode(last), keys + i, n - i);
    return hn::AllTrue(d, hn::Eq(wrong, hn::Zero(d)));
  }

  // Puts records right whose words agree in the bits of keys that they have; false if too many do.
  HWY_NOINLINE bool order_ties(const ShortPairs &out) {
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
    const Bits d_bits;
    const int shift = static_cast<int>(place_bits_);
    for (; i + kWide < n_; i += kWide) {
      const auto differing = hn::BitCast(d_bits, hn::Xor(load(words_ + i), load(words_ + i + 1)));
      const auto ties = hn::Eq(hn::ShiftRightSame(differing, shift), hn::Zero(d_bits));
      const intptr_t first_tie = hn::FindFirstTrue(d_bits, ties);
      if (first_tie >= 0) return i + static_cast<uint32_t>(first_tie);
    }
    return i;
  }

  LaneOf<Key> key_of(uint32_t word) const {
    return static_cast<LaneOf<Key>>(from_.keys[word & ((1u << place_bits_) - 1)]);
  }
  bool is_in_order(uint32_t begin, uint32_t end) const {
    for (uint32_t i = begin; i + 1 < end; ++i)
      if (key_of(words_[i]) > key_of(words_[i + 1])) return false;
    return true;
  }
  void order_run(uint32_t begin, uint32_t end, const ShortPairs &out) {
    for (uint32_t i = begin + 1; i < end; ++i) {
      const uint32_t word = words_[i];
      uint32_t j = i;
      for (; j > begin && key_of(words_[j - 1]) > key_of(word); --j) words_[j] = words_[j - 1];
      words_[j] = word;
    }
    for (uint32_t i = begin; i < end; ++i) {
      out.keys[i] = static_cast<uint32_t>(coder_.decode_one(key_of(words_[i])));
      out.values[i] = from_.values[words_[i] & ((1u << place_bits_) - 1)];
    }
  }

  const SortCoder<Key> &coder_;
  ShortPairs from_;
  uint32_t n_;
  uint32_t *words_;
  uint32_t least_ = 0, place_bits_ = 0, dropped_bits_ = 0;
};

bool sort_block(const KeyCodec<Key> &decode, const ShortPairs &from, uint32_t n, uint32_t *words,
                const ShortPairs &out) {
  const SortCoder<Key> coder(kInnerOrder<Key>, decode);
  return BlockSort(coder, from, n, words).run(out);
}

constexpr uint32_t kBlockItems = HWY_TARGET == HWY_AVX3 ? 1024 : 2048;
static_assert(kBlockItems <= kPairBlockItemsMax);

}  // namespace

extern const PairQuicksortKernels kPairQuicksort;
const PairQuicksortKernels kPairQuicksort = {split, split_first, is_one_key, sort_block, kBlockItems};
#else
extern const PairQuicksortKernels kPairQuicksort;
const PairQuicksortKernels kPairQuicksort = {nullptr, nullptr, nullptr, nullptr, 0};
#endif
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
GSORT_DEFINE_KERNELS_OF(PairQuicksortKernels, pair_quicksort_kernels, uint32_t, kPairQuicksort)
}  // namespace gsort_internal
#endif
