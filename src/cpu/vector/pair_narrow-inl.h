// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels with AVX-512: sorts of 9 to 16 records by words of 8 bytes, of a key and its record's place, in the
// columns of four vectors of 32 bytes. In two of 64 bytes three merges in place of two are between lanes, and their
// last steps wait longest.
#if defined(GSORT_CPU_VECTOR_PAIR_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_PAIR_NARROW_INL_H_
#undef GSORT_CPU_VECTOR_PAIR_NARROW_INL_H_
#else
#define GSORT_CPU_VECTOR_PAIR_NARROW_INL_H_
#endif

#include <hwy/highway.h>

#include <limits>

#include "cpu/vector/narrow-inl.h"
#include "cpu/vector/pair_lanes-inl.h"
#include "cpu/vector/pair_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET && HWY_TARGET == HWY_AVX3

class NarrowPairs {
 public:
  static constexpr uint32_t kPairsMin = 9, kPairsMax = 16;

  // True, for a tail call.
  static HWY_NOINLINE bool run(const SortCoder<uint32_t> &coder, const uint32_t *keys, const uint32_t *values,
                               uint32_t n, uint32_t *keys_out, uint32_t *values_out) {
    return sort(coder, keys, values, n, keys_out, values_out);
  }
  // The same where the compiler knows n.
  static HWY_INLINE bool sort(const SortCoder<uint32_t> &coder, const uint32_t *keys, const uint32_t *values,
                              uint32_t n, uint32_t *keys_out, uint32_t *values_out) {
    const KeyTag<uint32_t> d;
    const hn::Half<KeyTag<uint32_t>> half;
    const auto key = load_up_to(keys, n), value = load_up_to(values, n),
               ordered = or_greatest<uint32_t>(coder.encode(key), n);
    Word words[2] = {word_of(hn::PromoteTo(WordTag(), hn::LowerHalf(half, ordered)), 0),
                     word_of(hn::PromoteTo(WordTag(), hn::UpperHalf(half, ordered)), 8)};
    sort_columns(words);
    const auto places = _mm512_permutex2var_epi32(words[0].raw, hn::Load(d, kLowerHalvesInOrder).raw, words[1].raw);
    store_up_to<uint32_t>(KeyVec<uint32_t>{_mm512_permutexvar_epi32(places, key.raw)}, keys_out, n);
    store_up_to<uint32_t>(KeyVec<uint32_t>{_mm512_permutexvar_epi32(places, value.raw)}, values_out, n);
    return true;
  }

  // False, and nothing written, if keys differ in their first bits and some only in their last ones, which words leave
  // out, and those are in the wrong order.
  static HWY_NOINLINE bool run(const SortCoder<uint64_t> &coder, const uint64_t *keys, const uint64_t *values,
                               uint32_t n, uint64_t *keys_out, uint64_t *values_out) {
    const WordTag d;
    const uint32_t upper = n - 8;
    const Word value[2] = {load_up_to(values, 8), load_up_to(values + 8, upper)},
               key[2] = {coder.encode(load_up_to(keys, 8)),
                         or_greatest<uint64_t>(coder.encode(load_up_to(keys + 8, upper)), upper)};
    const bool is_whole = first_bits_agree(key, hn::Set(d, coder.encode_one(keys[0])), upper);
    const auto top = hn::Set(d, std::numeric_limits<int64_t>::min());
    Word words[2], sorted[2];
    for (size_t vec = 0; vec < 2; ++vec) {  // whole keys in the order of unsigned bits
      words[vec] = is_whole ? hn::Xor(word_of(key[vec], 8 * vec), top)
                            : hn::Or(hn::And(key[vec], above_places()), places_from(8 * vec));
    }
    sort_columns(words);
    const Word columns[2] = {words[0], words[1]};
    for (size_t vec = 0; vec < 2; ++vec) words[vec] = fetch(columns, hn::Load(d, kInOrder + 8 * vec));
    for (size_t vec = 0; vec < 2; ++vec) sorted[vec] = fetch(key, words[vec]);
    if (!is_whole && has_twins(words, n)) {
      OrderCheck<uint64_t> check{top, hn::Zero(d)};
      check.meet(sorted[0]);
      check.meet(sorted[1]);
      if (!check.passed()) return false;
    }
    store_up_to<uint64_t>(coder.decode(sorted[0]), keys_out, 8);
    store_up_to<uint64_t>(fetch(value, words[0]), values_out, 8);
    store_up_to<uint64_t>(coder.decode(sorted[1]), keys_out + 8, upper);
    store_up_to<uint64_t>(fetch(value, words[1]), values_out + 8, upper);
    return true;
  }

 private:
  using WordTag = KeyTag<uint64_t>;
  using Word = KeyVec<uint64_t>;
  static constexpr int kPlaceBits = 4;
  static_assert(kPairsMax == 1 << kPlaceBits && kPairsMin > kLanes<uint64_t>);

  // Where sorted words are, which stand in columns, and the halves of them that have their places.
  HWY_ALIGN static constexpr int64_t kInOrder[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  HWY_ALIGN static constexpr int32_t kLowerHalvesInOrder[16] = {0, 8,  16, 24, 2, 10, 18, 26,
                                                                4, 12, 20, 28, 6, 14, 22, 30};

  static HWY_INLINE Word places_from(size_t first) { return hn::Iota(WordTag(), static_cast<int64_t>(first)); }
  static HWY_INLINE Word above_places() { return hn::Set(WordTag(), -(int64_t{1} << kPlaceBits)); }
  // Without the key's first bits.
  static HWY_INLINE Word word_of(Word key, size_t first) {
    return hn::Or(hn::ShiftLeft<kPlaceBits>(key), places_from(first));
  }
  // By the last bits of `places`, those of a place.
  static HWY_INLINE Word fetch(const Word *from, Word places) {
    return Word{_mm512_permutex2var_epi64(from[0].raw, places.raw, from[1].raw)};
  }

  template <class K>
  static HWY_INLINE KeyVec<K> load_up_to(const K *from, size_t count) {
    const KeyTag<K> d;
    const auto *const lanes = reinterpret_cast<const LaneOf<K> *>(from);
    return count >= kLanes<K> ? hn::LoadU(d, lanes) : hn::MaskedLoad(hn::FirstN(d, count), d, lanes);
  }
  // Behind the last record, the greatest key, which comes after others by its place.
  template <class K>
  static HWY_INLINE KeyVec<K> or_greatest(KeyVec<K> ordered, size_t count) {
    const KeyTag<K> d;
    return hn::IfThenElse(hn::FirstN(d, count), ordered, hn::Set(d, kGreatestLane<K>));
  }

  // Whether a shift leaves out none of the bits in which keys differ from the first one.
  static HWY_INLINE bool first_bits_agree(const Word *key, Word first, uint32_t upper) {
    const WordTag d;
    const auto differing =
        hn::Or(hn::Xor(key[0], first), hn::IfThenElseZero(hn::FirstN(d, upper), hn::Xor(key[1], first)));
    return hn::AllTrue(d, hn::Eq(hn::ShiftRight<64 - kPlaceBits>(differing), hn::Zero(d)));
  }
  // Whether words next to each other differ in their places alone.
  static HWY_INLINE bool has_twins(const Word *words, uint32_t n) {
    const WordTag d;
    const Word next[2] = {Word{_mm512_alignr_epi64(words[1].raw, words[0].raw, 1)},
                          rotate_lanes<uint64_t, 1>(words[1])};
    const auto twins = hn::Eq(hn::And(hn::Xor(words[0], next[0]), above_places()), hn::Zero(d)),
               upper_twins = hn::Eq(hn::And(hn::Xor(words[1], next[1]), above_places()), hn::Zero(d));
    return !hn::AllFalse(d, hn::Or(twins, hn::And(upper_twins, hn::FirstN(d, n - 9))));
  }

  static HWY_INLINE void sort_columns(Word *words) {
    const WordTag d;
    const hn::Half<WordTag> half;
    hn::Vec<hn::Half<WordTag>> rows[4] = {hn::LowerHalf(half, words[0]), hn::UpperHalf(half, words[0]),
                                          hn::LowerHalf(half, words[1]), hn::UpperHalf(half, words[1])};
    gsort_internal::HWY_NAMESPACE::sort_columns<HalfKey<uint64_t>, 0, 4>(rows);
    merge_columns<HalfKey<uint64_t>, 4, 2>(rows);
    words[0] = hn::Combine(d, rows[1], rows[0]);
    words[1] = hn::Combine(d, rows[3], rows[2]);
  }
};

#endif  // GSORT_VECTOR_TARGET && HWY_TARGET == HWY_AVX3
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_PAIR_NARROW_INL_H_
