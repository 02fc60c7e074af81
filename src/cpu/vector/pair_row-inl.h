// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels with AVX-512: sorts of 5 to 8 records of 8-byte keys and values by words of a key and its record's
// place, in one vector.
#if defined(GSORT_CPU_VECTOR_PAIR_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_PAIR_ROW_INL_H_
#undef GSORT_CPU_VECTOR_PAIR_ROW_INL_H_
#else
#define GSORT_CPU_VECTOR_PAIR_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include "cpu/vector/network-inl.h"
#include "cpu/vector/pair_ranks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET && HWY_TARGET == HWY_AVX3

template <uint32_t kN>
class PairRow {
 public:
  // True, for a tail call.
  static bool run(const SortCoder<uint64_t> &coder, const uint64_t *keys, const uint64_t *values, uint64_t *keys_out,
                  uint64_t *values_out) {
    const KeyTag<uint64_t> d;
    const Vec key = load(keys), value = load(values), ordered = coder.encode(key);
    const auto first = _mm512_broadcastq_epi64(_mm512_castsi512_si128(ordered.raw));
    // Whether a shift leaves out none of the bits in which keys differ.
    const bool is_whole = _mm512_mask_test_epi64_mask(kAll, _mm512_xor_si512(ordered.raw, first),
                                                      _mm512_set1_epi64(-(int64_t{1} << (64 - kPlaceBits)))) == 0;
    const auto places = hn::Iota(d, 0), above = hn::Set(d, -(int64_t{1} << kPlaceBits));
    Vec words = ordered;
    if (is_whole) {
      const auto top = hn::Set(d, std::numeric_limits<int64_t>::min());
      words = hn::Xor(hn::ShiftLeft<kPlaceBits>(ordered), top);  // in the order of unsigned bits
    }
    words = or_greatest(hn::Or(hn::And(words, above), places));
    merge_columns<uint64_t, 1, 2>(&words);
    if (!is_whole && HWY_UNLIKELY(has_twins(words)) &&
        !is_in_order(Vec{_mm512_permutexvar_epi64(words.raw, ordered.raw)}))
      return RankSort<uint64_t, 1>::run(coder, keys, values, kN, keys_out, values_out);
    store(Vec{_mm512_permutexvar_epi64(words.raw, key.raw)}, keys_out);
    store(Vec{_mm512_permutexvar_epi64(words.raw, value.raw)}, values_out);
    return true;
  }

 private:
  using Vec = KeyVec<uint64_t>;
  static constexpr int kPlaceBits = 3;
  static constexpr uint32_t kWide = 8;
  static constexpr __mmask8 kAll = static_cast<__mmask8>((1 << kN) - 1), kButLast = kAll >> 1;
  static_assert(kN > kWide / 2 && kN <= kWide);

  static HWY_INLINE Vec load(const uint64_t *from) {
    if constexpr (kN == kWide) return Vec{_mm512_loadu_si512(from)};
    return Vec{_mm512_maskz_loadu_epi64(kAll, from)};
  }
  static HWY_INLINE Vec or_greatest(Vec words) {
    if constexpr (kN == kWide) return words;
    return Vec{_mm512_mask_mov_epi64(_mm512_set1_epi64(std::numeric_limits<int64_t>::max()), kAll, words.raw)};
  }
  // Whether words next to each other differ in their places alone.
  static HWY_INLINE bool has_twins(Vec words) {
    const auto differing = _mm512_xor_si512(words.raw, _mm512_alignr_epi64(words.raw, words.raw, 1));
    return _mm512_mask_testn_epi64_mask(kButLast, differing, _mm512_set1_epi64(-(int64_t{1} << kPlaceBits))) != 0;
  }
  static HWY_INLINE bool is_in_order(Vec sorted) {
    return _mm512_mask_cmpgt_epi64_mask(kButLast, sorted.raw, _mm512_alignr_epi64(sorted.raw, sorted.raw, 1)) == 0;
  }
  static HWY_INLINE void store(Vec sorted, uint64_t *out) {
    if constexpr (kN == kWide) {
      _mm512_storeu_si512(out, sorted.raw);
    } else {
      constexpr uint32_t kHalf = kWide / 2;
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(out), _mm512_castsi512_si256(sorted.raw));
      const auto last = _mm512_alignr_epi64(sorted.raw, sorted.raw, kN - kHalf);
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + (kN - kHalf)), _mm512_castsi512_si256(last));
    }
  }
};

#endif  // GSORT_VECTOR_TARGET && HWY_TARGET == HWY_AVX3
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_PAIR_ROW_INL_H_
