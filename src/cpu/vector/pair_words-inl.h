// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels of one vector target: sorts of some more records than few, by words in registers.
#if defined(GSORT_CPU_VECTOR_PAIR_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_PAIR_WORDS_INL_H_
#undef GSORT_CPU_VECTOR_PAIR_WORDS_INL_H_
#else
#define GSORT_CPU_VECTOR_PAIR_WORDS_INL_H_
#endif

#include <hwy/highway.h>

#include <limits>

#include "cpu/vector/network-inl.h"
#include "cpu/vector/pair_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET && GSORT_VECTOR_PAIRS

// Whether keys that come one vector after the other are in order.
template <class K>
struct OrderCheck {
  KeyVec<K> before;  // nothing comes before what it begins with
  KeyVec<K> wrong;   // zero until a key comes after the next one

  HWY_INLINE void meet(KeyVec<K> v) {
    wrong = hn::Or(wrong, hn::VecFromMask(KeyTag<K>(), hn::Gt(one_further<K>(before, v), v)));
    before = v;
  }
  HWY_INLINE bool passed() const {
    const KeyTag<K> d;
    return hn::AllTrue(d, hn::Eq(wrong, hn::Zero(d)));
  }
};

// More than half as many records as kRows vectors hold, by words as long as their keys: the first of the bits that
// differ among keys and, below them, the record's place. Keys may differ further down.
template <class K, size_t kRows>
class WordNetwork {
 public:
  // False, and nothing written, if some that do are in the wrong order then.
  static HWY_NOINLINE bool run(const SortCoder<K> &coder, const K *keys, const K *values, uint32_t n, K *keys_out,
                               K *values_out) {
    const KeyTag<K> d;
    Vec key[kRows], value[kRows], words[2 * kRows];
    Vec differing = hn::Zero(d);
    load<0>(coder, hn::Set(d, coder.encode_one(keys[0])), keys, values, n, key, value, differing);
    // The greatest has the first bit of all.
    const hn::RebindToUnsigned<KeyTag<K>> d_bits;
    const K bits = hn::GetLane(hn::MaxOfLanes(d_bits, hn::BitCast(d_bits, differing)));
    if (bits == 0) return store_unmoved<0>(coder, n, key, value, keys_out, values_out);
    make_words<0>(key, n, __builtin_clzll(bits) - (64 - static_cast<int>(sizeof(K) * 8)), words);
    sort_columns<K, 0, kRows>(words);
    merge_columns<K, kRows, 2>(words);
    Transpose<K, kRows>::run(words);
    return move_records(coder, words, n, key, value, keys_out, values_out);
  }

 private:
  using Vec = KeyVec<K>;
  using LaneType = LaneOf<K>;
  static constexpr size_t kWide = kLanes<K>;
  static constexpr uint32_t kPlaces = kRows * kWide;
  static constexpr LaneType kGreatest = std::numeric_limits<LaneType>::max();

  static HWY_INLINE bool is_whole(size_t row, uint32_t n) { return row < kRows / 2 || n >= (row + 1) * kWide; }
  static HWY_INLINE auto mask_of(size_t row, uint32_t n) {
    return hn::FirstN(KeyTag<K>(), n < row * kWide ? 0 : n - row * kWide);
  }

  // Behind the last record, the greatest key.
  template <size_t kRow>
  static HWY_INLINE void load(const SortCoder<K> &coder, Vec first, const K *keys, const K *values, uint32_t n,
                              Vec *key, Vec *value, Vec &differing) {
    if constexpr (kRow < kRows) {
      const KeyTag<K> d;
      const auto *const keys_at = reinterpret_cast<const LaneType *>(keys) + kRow * kWide;
      const auto *const values_at = reinterpret_cast<const LaneType *>(values) + kRow * kWide;
      if (is_whole(kRow, n)) {
        key[kRow] = coder.encode(hn::LoadU(d, keys_at));
        value[kRow] = hn::LoadU(d, values_at);
        differing = hn::Or(differing, hn::Xor(key[kRow], first));
      } else {
        const auto mask = mask_of(kRow, n);
        const auto encoded = coder.encode(hn::MaskedLoad(mask, d, keys_at));
        key[kRow] = hn::IfThenElse(mask, encoded, hn::Set(d, kGreatest));
        value[kRow] = hn::MaskedLoad(mask, d, values_at);
        differing = hn::Or(differing, hn::IfThenElseZero(mask, hn::Xor(encoded, first)));
      }
      load<kRow + 1>(coder, first, keys, values, n, key, value, differing);
    }
  }

  // Equal keys are in order as they are. True, for a tail call.
  template <size_t kRow>
  static HWY_INLINE bool store_unmoved(const SortCoder<K> &coder, uint32_t n, const Vec *key, const Vec *value,
                                       K *keys_out, K *values_out) {
    if constexpr (kRow < kRows) {
      constexpr size_t kBegin = kRow * kWide;
      if (kBegin > 0 && n <= kBegin) return true;
      store_up_to<K>(coder.decode(key[kRow]), keys_out + kBegin, n - kBegin);
      store_up_to<K>(value[kRow], values_out + kBegin, n - kBegin);
      return store_unmoved<kRow + 1>(coder, n, key, value, keys_out, values_out);
    }
    return true;
  }

  // Without the first bits that are `common` to all keys.
  template <size_t kRow>
  static HWY_INLINE void make_words(const Vec *key, uint32_t n, int common, Vec *words) {
    if constexpr (kRow < kRows) {
      const KeyTag<K> d;
      const auto places = hn::Iota(d, kRow * kWide), above = hn::Set(d, -static_cast<LaneType>(kPlaces));
      // Below the sign, bits have the order of unsigned ones.
      const auto top = hn::Set(d, common == 0 ? LaneType{0} : std::numeric_limits<LaneType>::min());
      const auto bits = hn::Xor(hn::And(hn::ShiftLeftSame(key[kRow], common), above), top);
      words[kRow] = hn::Or(bits, places);
      if (!is_whole(kRow, n)) {
        const auto greatest = hn::Or(hn::And(hn::Set(d, kGreatest), above), places);
        words[kRow] = hn::IfThenElse(mask_of(kRow, n), words[kRow], greatest);
      }
      make_words<kRow + 1>(key, n, common, words);
    }
  }

#if HWY_TARGET == HWY_AVX3
  // From registers to registers, and from there to memory.
  static HWY_INLINE bool move_records(const SortCoder<K> &coder, const Vec *words, uint32_t n, const Vec *key,
                                      const Vec *value, K *keys_out, K *values_out) {
    const KeyTag<K> d;
    Vec sorted[kRows];
    OrderCheck<K> check{hn::Set(d, std::numeric_limits<LaneType>::min()), hn::Zero(d)};
    fetch_keys<0>(words, key, sorted, check);
    if (!check.passed()) return false;
    store<0>(coder, words, n, sorted, value, keys_out, values_out);
    return true;
  }

  template <size_t kRow>
  static HWY_INLINE void fetch_keys(const Vec *words, const Vec *key, Vec *sorted, OrderCheck<K> &check) {
    if constexpr (kRow < kRows) {
      sorted[kRow] = fetch_lanes<K, kRows>(key, words[kRow], lanes_of_places<K>(words[kRow]));
      check.meet(sorted[kRow]);
      fetch_keys<kRow + 1>(words, key, sorted, check);
    }
  }

  template <size_t kRow>
  static HWY_INLINE void store(const SortCoder<K> &coder, const Vec *words, uint32_t n, const Vec *sorted,
                               const Vec *value, K *keys_out, K *values_out) {
    if constexpr (kRow < kRows) {
      constexpr size_t kBegin = kRow * kWide;
      if (kBegin > 0 && n <= kBegin) return;
      store_up_to<K>(coder.decode(sorted[kRow]), keys_out + kBegin, n - kBegin);
      store_up_to<K>(fetch_lanes<K, kRows>(value, words[kRow], lanes_of_places<K>(words[kRow])), values_out + kBegin,
                     n - kBegin);
      store<kRow + 1>(coder, words, n, sorted, value, keys_out, values_out);
    }
  }
#else
  // Narrow vectors hold too few places for permutations: one by one, from memory.
  struct InMemory {
    HWY_ALIGN LaneType keys[kPlaces];
    HWY_ALIGN K values[kPlaces], places[kPlaces];
  };

  static HWY_INLINE bool move_records(const SortCoder<K> &coder, const Vec *words, uint32_t n, const Vec *key,
                                      const Vec *value, K *keys_out, K *values_out) {
    const KeyTag<K> d;
    InMemory from;
    write<0>(words, key, value, from);
    HWY_ALIGN LaneType sorted[kPlaces];
    for (uint32_t i = 0; i < n; ++i) sorted[i] = from.keys[from.places[i]];
    for (uint32_t i = n; i % kWide != 0; ++i) sorted[i] = kGreatest;
    OrderCheck<K> check{hn::Set(d, std::numeric_limits<LaneType>::min()), hn::Zero(d)};
    for (uint32_t i = 0; i < n; i += kWide) check.meet(hn::Load(d, sorted + i));
    if (!check.passed()) return false;
    for (uint32_t i = 0; i < n; i += kWide) store_up_to<K>(coder.decode(hn::Load(d, sorted + i)), keys_out + i, n - i);
    for (uint32_t i = 0; i < n; ++i) values_out[i] = from.values[from.places[i]];
    return true;
  }

  template <size_t kRow>
  static HWY_INLINE void write(const Vec *words, const Vec *key, const Vec *value, InMemory &to) {
    if constexpr (kRow < kRows) {
      const KeyTag<K> d;
      constexpr size_t kBegin = kRow * kWide;
      hn::Store(key[kRow], d, to.keys + kBegin);
      hn::Store(value[kRow], d, reinterpret_cast<LaneType *>(to.values) + kBegin);
      const auto places = hn::And(words[kRow], hn::Set(d, static_cast<LaneType>(kPlaces - 1)));
      hn::Store(places, d, reinterpret_cast<LaneType *>(to.places) + kBegin);
      write<kRow + 1>(words, key, value, to);
    }
  }
#endif
};

#endif  // GSORT_VECTOR_TARGET && GSORT_VECTOR_PAIRS
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_PAIR_WORDS_INL_H_
