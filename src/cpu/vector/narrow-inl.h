// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels with AVX-512: a sort of 9 to 16 keys of 8 bytes in four vectors of 32 bytes, the network of
// network-inl.h. In two of 64 bytes three merges in place of two are between lanes, and their last steps wait longest.
#if defined(GSORT_CPU_VECTOR_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_NARROW_INL_H_
#undef GSORT_CPU_VECTOR_NARROW_INL_H_
#else
#define GSORT_CPU_VECTOR_NARROW_INL_H_
#endif

#include <hwy/highway.h>

#include "cpu/vector/network-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET && HWY_TARGET == HWY_AVX3

class NarrowRows {
 public:
  using Tag = hn::FixedTag<int64_t, 4>;
  using Vec = hn::Vec<Tag>;
  static constexpr size_t kKeysMin = 9, kKeysMax = 16;

  template <class K, bool kEncode>
  static HWY_NOINLINE void run(const SortCoder<K> &coder, const LaneOf<K> *in, LaneOf<K> *out, size_t n) {
    static_assert(kLanes<K> == 8 && !std::is_floating_point_v<LaneOf<K>>, "integers of 8 bytes");
    const KeyTag<K> d;
    const Tag narrow;
    Vec v[4];
    if (n == kKeysMax) {
      for (size_t row = 0; row < 4; ++row) {
        const auto keys = hn::LoadU(narrow, in + 4 * row);
        v[row] = kEncode ? encoded(keys, coder.encoding()) : keys;
      }
      sort(v);
      for (size_t row = 0; row < 4; ++row) hn::StoreU(decoded(v[row], coder.decoding()), narrow, out + 4 * row);
      return;
    }
    const auto first = hn::LoadU(d, in), lower = kEncode ? coder.encode(first) : first,
               upper = load_some<K, kEncode>(&coder, in + 8, n - 8);
    v[0] = hn::LowerHalf(narrow, lower);
    v[1] = hn::UpperHalf(narrow, lower);
    v[2] = hn::LowerHalf(narrow, upper);
    v[3] = hn::UpperHalf(narrow, upper);
    sort(v);
    hn::StoreU(coder.decode(hn::Combine(d, v[1], v[0])), d, out);
    store_some<K>(coder.decode(hn::Combine(d, v[3], v[2])), out + 8, n - 8);
  }

  // Sorts 16 integers of 8 bytes: the first four come to the first lanes of the rows.
  static HWY_INLINE void sort_columns(Vec *v) {
    sort_two(v[0], v[1]);
    sort_two(v[2], v[3]);
    sort_two(v[0], v[2]);
    sort_two(v[1], v[3]);
    sort_two(v[1], v[2]);
    mirror_columns(v[0], v[3]);
    mirror_columns(v[1], v[2]);
    merge_rows(v);
    mirror_halves(v[0], v[3]);
    mirror_halves(v[1], v[2]);
    for (size_t row = 0; row < 4; ++row) compare_columns(v[row]);
    merge_rows(v);
  }

 private:
  // As SortCoder does.
  template <class Masks>
  static HWY_INLINE Vec encoded(Vec key, const Masks &masks) {
    return hn::Xor(hn::Xor(key, constant(masks.mask)), hn::And(hn::BroadcastSignBit(key), constant(masks.both)));
  }
  template <class Masks>
  static HWY_INLINE Vec decoded(Vec ordered, const Masks &masks) {
    const auto bits = hn::Xor(ordered, constant(masks.mask));
    return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), constant(masks.both)));
  }
  static HWY_INLINE Vec constant(uint64_t value) { return hn::Set(Tag(), static_cast<int64_t>(value)); }

  static HWY_INLINE void sort_two(Vec &a, Vec &b) {
    const auto lower = hn::Min(a, b);
    b = hn::Max(a, b);
    a = lower;
  }
  // Steps of a merge between rows, the last ones of all.
  static HWY_INLINE void merge_rows(Vec *v) {
    sort_two(v[0], v[2]);
    sort_two(v[1], v[3]);
    sort_two(v[0], v[1]);
    sort_two(v[2], v[3]);
  }
  // The first step of a merge of pairs of columns, and of halves of two columns.
  static HWY_INLINE void mirror_columns(Vec &a, Vec &b) {
    const auto mirrored = hn::Shuffle01(b), lower = hn::Min(a, mirrored), upper = hn::Max(a, mirrored);
    a = hn::OddEven(upper, lower);
    b = hn::Shuffle01(hn::OddEven(lower, upper));
  }
  static HWY_INLINE void mirror_halves(Vec &a, Vec &b) {
    const Tag d;
    const auto mirrored = hn::Reverse4(d, b), lower = hn::Min(a, mirrored), upper = hn::Max(a, mirrored);
    a = hn::ConcatUpperLower(d, upper, lower);
    b = hn::Reverse4(d, hn::ConcatUpperLower(d, lower, upper));
  }
  static HWY_INLINE void compare_columns(Vec &a) {
    const auto other = hn::Shuffle01(a);
    a = hn::OddEven(hn::Max(a, other), hn::Min(a, other));
  }
  static HWY_INLINE void sort(Vec *v) {
    sort_columns(v);
    transpose(v);
  }
  static HWY_INLINE void transpose(Vec *v) {
    const Tag d;
    const auto a = hn::InterleaveLower(d, v[0], v[1]), b = hn::InterleaveUpper(d, v[0], v[1]),
               c = hn::InterleaveLower(d, v[2], v[3]), e = hn::InterleaveUpper(d, v[2], v[3]);
    v[0] = hn::ConcatLowerLower(d, c, a);
    v[1] = hn::ConcatLowerLower(d, e, b);
    v[2] = hn::ConcatUpperUpper(d, c, a);
    v[3] = hn::ConcatUpperUpper(d, e, b);
  }
};

#endif  // GSORT_VECTOR_TARGET && HWY_TARGET == HWY_AVX3
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_NARROW_INL_H_
