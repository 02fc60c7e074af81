// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels with AVX-512: sorts of up to 32 vectors of 32 bytes, or fewer of 16, for processors that take twice
// as long for vectors of 64 bytes (see processor_is_of_amd). More rows of fewer lanes have fewer steps between lanes.
#if defined(GSORT_CPU_VECTOR_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_NARROW_INL_H_
#undef GSORT_CPU_VECTOR_NARROW_INL_H_
#else
#define GSORT_CPU_VECTOR_NARROW_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "cpu/vector/network-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET && HWY_TARGET == HWY_AVX3

template <class K>
using HalfKey = NarrowKey<K, 32>;
template <class K>
using QuarterKey = NarrowKey<K, 16>;

// Sorts rows of 32 bytes, so that keys follow each other along them, by comparing rows alone. As in network-inl.h,
// columns are sorted and merged by bitonic networks. But a key's place is a number whose last bits are the row at first
// and whose first bits are the lane; and before a step would compare lanes, a bit that is the lane's changes places
// with one that is the row's: two rows become two others, each of lanes of both. So a step takes two such exchanges and
// two comparisons for two rows, and the last ones leave the place's first bits in the row and its last bits in the lane
// (merges by exchanges: Chhugani and others, Efficient Implementation of Sorting on Multi-Core SIMD CPU Architecture,
// 2008).
template <class K, size_t kRows>
class ExchangeNetwork {
 public:
  using Vec = KeyVec<HalfKey<K>>;

  // Which row has the keys of a place in the end: its bits 1 and 0 are the place's first ones.
  static constexpr size_t row_at(size_t place) {
    const size_t row = (place >> (kBits - 1) & 1) << 1 | (place >> (kBits - 2) & 1);
    if constexpr (sizeof(K) == 4) return row | (place >> (kBits - 3) & 1) << 2 | place % (kRows / 8) << 3;
    return row | place % (kRows / 4) << 2;
  }
  static HWY_INLINE void run(Vec *v) {
    sort_columns<HalfKey<K>, 0, kRows>(v);
    if constexpr (sizeof(K) == 4) {
      merge_short(v);
    } else {
      merge_long(v);
    }
  }

 private:
  static constexpr size_t kBits = kRows == 4 ? 2 : kRows == 8 ? 3 : kRows == 16 ? 4 : 5;  // of a row's number
  static_assert(kRows == size_t{1} << kBits);

  // How the bit B of a row's number changes places with lanes of 4 bytes, whose number in a half is two bits, the upper
  // one U and the lower one L. Mirrored ones leave the second row's lanes in the reverse order, as far as the first
  // step of a merge wants that: by U, or by U and L.
  struct Upper {  // B and U
    static HWY_INLINE void run(Vec &a, Vec &b) {
      const Vec x = a, y = b;
      a = Vec{_mm256_unpacklo_epi64(x.raw, y.raw)};
      b = Vec{_mm256_unpackhi_epi64(x.raw, y.raw)};
    }
  };
  struct UpperMirrored {
    static HWY_INLINE void run(Vec &a, Vec &b) {
      const Vec x = a, y = b;
      a = Vec{_mm256_unpacklo_epi64(x.raw, y.raw)};
      b = Vec{_mm256_unpackhi_epi64(y.raw, x.raw)};
    }
  };
  struct ToLower {  // B becomes L, L becomes U, and U becomes B
    static HWY_INLINE void run(Vec &a, Vec &b) {
      const Vec x = a, y = b;
      a = Vec{_mm256_unpacklo_epi32(x.raw, y.raw)};
      b = Vec{_mm256_unpackhi_epi32(x.raw, y.raw)};
    }
  };
  template <int kFirstLanes, int kSecondLanes>
  static HWY_INLINE void shuffle(Vec &a, Vec &b, Vec x, Vec y) {
    a = Vec{
        _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a.raw), _mm256_castsi256_ps(b.raw), kFirstLanes))};
    b = Vec{
        _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(x.raw), _mm256_castsi256_ps(y.raw), kSecondLanes))};
  }
  struct ToUpper {  // B becomes U, U becomes L, and L becomes B
    static HWY_INLINE void run(Vec &a, Vec &b) { shuffle<0x88, 0xdd>(a, b, a, b); }
  };
  struct ToUpperMirrored {
    static HWY_INLINE void run(Vec &a, Vec &b) { shuffle<0x88, 0xdd>(a, b, b, a); }
  };
  struct ToUpperMirroredBoth {
    static HWY_INLINE void run(Vec &a, Vec &b) { shuffle<0x88, 0x77>(a, b, b, a); }
  };
  struct Halves {  // B and the half
    static HWY_INLINE void run(Vec &a, Vec &b) {
      const Vec x = a, y = b;
      a = Vec{_mm256_inserti128_si256(x.raw, _mm256_castsi256_si128(y.raw), 1)};
      b = Vec{_mm256_permute2x128_si256(x.raw, y.raw, 0x31)};
    }
  };
  struct HalvesMirrored {
    static HWY_INLINE void run(Vec &a, Vec &b) {
      const Vec x = a, y = b;
      a = Vec{_mm256_inserti128_si256(x.raw, _mm256_castsi256_si128(y.raw), 1)};
      b = reverse_lanes<HalfKey<K>, kLanes<HalfKey<K>> / 2>(Vec{_mm256_permute2x128_si256(y.raw, x.raw, 0x31)});
    }
  };

  // Merges columns of keys of 4 bytes. Comments: which bits of the place are the row's bits 0, 1 and 2 and the lane's
  // half, U and L; n stands for the number of the row's bits.
  static HWY_INLINE void merge_short(Vec *v) {
    static_assert(kBits >= 3);
    // 0, 1, 2; n + 2, n + 1, n.
    exchange<0, ToUpperMirrored>(v);  // n, 1, 2; n + 2, 0, n + 1
    compare_mirrored<0>(v);
    compare_down<kBits - 1, 1>(v);
    exchange<0, Upper>(v);  // 0, 1, 2; n + 2, n, n + 1
    compare<0>(v);

    exchange<0, ToUpperMirroredBoth>(v);  // n + 1, 1, 2; n + 2, 0, n
    compare_mirrored<0>(v);
    exchange<0, ToUpper>(v);  // n, 1, 2; n + 2, n + 1, 0
    compare<0>(v);
    compare_down<kBits - 1, 1>(v);
    exchange<0, ToUpper>(v);  // 0, 1, 2; n + 2, n, n + 1
    compare<0>(v);

    exchange<1, HalvesMirrored>(v);  // 0, n + 2, 2; 1, n, n + 1
    compare_mirrored<1>(v);
    exchange<0, ToUpper>(v);  // n + 1, n + 2, 2; 1, 0, n
    compare<0>(v);
    exchange<2, ToUpper>(v);  // n + 1, n + 2, n; 1, 2, 0
    compare<2>(v);
    compare_down<kBits - 1, 3>(v);
    exchange<1, ToLower>(v);  // n + 1, 2, n; 1, 0, n + 2
    compare<1>(v);
    exchange<1, Halves>(v);  // n + 1, 1, n; 2, 0, n + 2
    compare<1>(v);
    exchange<1, ToLower>(v);  // n + 1, 0, n; 2, n + 2, 1
    compare<1>(v);
    exchange<1, ToLower>(v);  // n + 1, n + 2, n; 2, 1, 0
  }
  // Of keys of 8 bytes. Comments: the row's bits 0, 1 and 2, the lane's half, and its place in that.
  static HWY_INLINE void merge_long(Vec *v) {
    static_assert(kBits >= 2);
    constexpr size_t kTwo = kBits == 2 ? 0 : 2;  // the row's bit that is the place's bit 2 in the end
    // 0, 1, 2; n + 1, n.
    exchange<0, UpperMirrored>(v);  // n, 1, 2; n + 1, 0
    compare_mirrored<0>(v);
    compare_down<kBits - 1, 1>(v);
    exchange<1, Upper>(v);  // n, 0, 2; n + 1, 1
    compare<1>(v);

    exchange<1, HalvesMirrored>(v);  // n, n + 1, 2; 0, 1
    compare_mirrored<1>(v);
    compare<0>(v);
    compare_down<kBits - 1, 2>(v);
    exchange<kTwo, Upper>(v);  // n, n + 1, 1; 0, 2
    compare<kTwo>(v);
    exchange<kTwo, Halves>(v);  // n, n + 1, 0; 1, 2
    compare<kTwo>(v);
    exchange<kTwo, Upper>(v);  // n, n + 1, 2; 1, 0
  }
  template <size_t kBit, class Exchange, size_t kRow = 0>
  static HWY_INLINE void exchange(Vec *v) {
    if constexpr (kRow < kRows) {
      if constexpr ((kRow >> kBit & 1) == 0) Exchange::run(v[kRow], v[kRow | size_t{1} << kBit]);
      exchange<kBit, Exchange, kRow + 1>(v);
    }
  }
  // Compares rows whose numbers differ in one bit.
  template <size_t kBit, size_t kRow = 0>
  static HWY_INLINE void compare(Vec *v) {
    if constexpr (kRow < kRows) {
      if constexpr ((kRow >> kBit & 1) == 0) sort_two<HalfKey<K>>(v[kRow], v[kRow | size_t{1} << kBit]);
      compare<kBit, kRow + 1>(v);
    }
  }
  template <size_t kBit, size_t kLast>
  static HWY_INLINE void compare_down(Vec *v) {
    if constexpr (kBit >= kLast) {
      compare<kBit>(v);
      compare_down<kBit - 1, kLast>(v);
    }
  }
  // The first step of a merge: rows whose numbers differ in all bits.
  template <size_t kBit, size_t kRow = 0>
  static HWY_INLINE void compare_mirrored(Vec *v) {
    if constexpr (kRow < kRows) {
      if constexpr ((kRow >> kBit & 1) == 0) sort_two<HalfKey<K>>(v[kRow], v[kRow ^ (kRows - 1)]);
      compare_mirrored<kBit, kRow + 1>(v);
    }
  }
};

// Sorts up to kNarrowKeys keys.
template <class K>
constexpr size_t kNarrowKeys = 32 * kLanes<HalfKey<K>>;
template <class K>
HWY_INLINE void sort_in_narrow_rows(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n) {
  constexpr size_t kHalf = kLanes<HalfKey<K>>;
  if (n <= 2 * kHalf) {
    if constexpr (sizeof(K) == 4)
      if (n <= kHalf / 2) return RowSort<QuarterKey<K>, 1, true>::run(coder, in, out, n);
    if (n <= kHalf) return RowSort<QuarterKey<K>, 2, true>::run(coder, in, out, n);
    return RowSort<HalfKey<K>, 2, true>::run(coder, in, out, n);
  }
  if (n <= 4 * kHalf) {
    using Network = std::conditional_t<sizeof(K) == 4, ColumnNetwork<HalfKey<K>, 4>, ExchangeNetwork<K, 4>>;
    return RowSort<HalfKey<K>, 4, true, Network>::run(coder, in, out, n);
  }
  if (n <= 8 * kHalf) return RowSort<HalfKey<K>, 8, true, ExchangeNetwork<K, 8>>::run(coder, in, out, n);
  if (n <= 16 * kHalf) return RowSort<HalfKey<K>, 16, true, ExchangeNetwork<K, 16>>::run(coder, in, out, n);
  RowSort<HalfKey<K>, 32, true, ExchangeNetwork<K, 32>>::run(coder, in, out, n);
}

#endif  // GSORT_VECTOR_TARGET && HWY_TARGET == HWY_AVX3
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_NARROW_INL_H_
