// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/short_sort.h"

#include "cpu/vector/sort.h"
#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/short_sort.cpp"
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
#undef GSORT_SHORT_SORT
#define GSORT_SHORT_SORT (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)
#if GSORT_SHORT_SORT
namespace {

using Key = KeyVec<uint16_t>;
using Coder = SortCoder<uint16_t>;
constexpr size_t kWide = kLanes<uint16_t>;

constexpr Coder coder_of(uint32_t order) {
  return {kNumberedCodecs<uint16_t>[order], kNumberedCodecs<uint16_t>[order]};
}
constexpr Coder kCoders[kNumberedOrders] = {coder_of(0), coder_of(1), coder_of(2),
                                            coder_of(3), coder_of(4), coder_of(5)};

// Up to kRows vectors of keys.
template <size_t kRows>
class ShortRows {
 public:
  static HWY_NOINLINE void run(const Coder &coder, const uint16_t *in, uint16_t *out, uint32_t n) {
    Key v[kRows == 1 ? 1 : 2 * kRows];
    load<0>(coder, in, n, v);
    sort_columns<uint16_t, 0, kRows>(v);
    merge_columns<uint16_t, kRows, 2>(v);
    Transpose<uint16_t, kRows>::run(v);
    store<0>(coder, v, out, n);
  }

 private:
  template <size_t kRow>
  static HWY_INLINE void load(const Coder &coder, const uint16_t *in, uint32_t n, Key *v) {
    if constexpr (kRow < kRows) {
      constexpr size_t kBegin = kRow * kWide;
      const KeyTag<uint16_t> d;
      if (n >= kBegin + kWide) {
        v[kRow] = coder.encode(load_bits(in + kBegin));
      } else if (n > kBegin) {
        v[kRow] = load_last<kRow>(coder, in, n);
      } else {
        v[kRow] = hn::Set(d, kGreatestLane<uint16_t>);
      }
      load<kRow + 1>(coder, in, n, v);
    }
  }
  // The last keys, less than a vector: from the last vector of all, whose other keys another row has; or all there are.
  template <size_t kRow>
  static HWY_INLINE Key load_last(const Coder &coder, const uint16_t *in, uint32_t n) {
    const KeyTag<uint16_t> d;
    const auto greatest = hn::Set(d, kGreatestLane<uint16_t>);
    if constexpr (kRow > 0) {
      const auto is_of_another = hn::FirstN(d, (kRow + 1) * kWide - n);
      return hn::IfThenElse(is_of_another, greatest, coder.encode(load_bits(in + n - kWide)));
    }
    const auto mask = hn::FirstN(d, n);
    return hn::IfThenElse(mask, coder.encode(hn::MaskedLoad(mask, d, reinterpret_cast<const int16_t *>(in))), greatest);
  }

  template <size_t kRow>
  static HWY_INLINE void store(const Coder &coder, const Key *v, uint16_t *out, uint32_t n) {
    if constexpr (kRow < kRows) {
      constexpr size_t kBegin = kRow * kWide;
      if (n <= kBegin) return;
      const KeyTag<uint16_t> d;
      const auto keys = coder.decode(v[kRow]);
      if (n >= kBegin + kWide) {
        hn::StoreU(keys, d, reinterpret_cast<int16_t *>(out + kBegin));
        return store<kRow + 1>(coder, v, out, n);
      }
      HWY_ALIGN int16_t last[kWide];  // not by a masked store: see store_some()
      hn::Store(keys, d, last);
      __builtin_memcpy(out + kBegin, last, (n - kBegin) * sizeof *out);
    }
  }
};

// Whether all are the same, which a glance must have found probable. More than a vector of keys.
HWY_NOINLINE bool are_of_one_value(const uint16_t *in, uint32_t n) {
  const KeyTag<uint16_t> d;
  const auto first = broadcast<uint16_t>(in[0]);
  auto differing = hn::Xor(load_bits(in + n - kWide), first);
  for (size_t i = 0; i + kWide < n; i += kWide) differing = hn::Or(differing, hn::Xor(load_bits(in + i), first));
  return hn::AllTrue(d, hn::Eq(differing, hn::Zero(d)));
}

void sort_short(uint32_t order, const uint16_t *in, uint16_t *out, uint32_t n) {
  const Coder &coder = kCoders[order];
  if (n > 2 * kWide && HWY_UNLIKELY(in[0] == in[n - 1] && in[0] == in[n / 2] && in[0] == in[n / 2 - 1]) &&
      are_of_one_value(in, n)) {
    if (in != out) __builtin_memcpy(out, in, n * sizeof *in);
    return;
  }
  if (n <= kWide) return ShortRows<1>::run(coder, in, out, n);
  if (n <= 2 * kWide) return ShortRows<2>::run(coder, in, out, n);
  if (n <= 4 * kWide) return ShortRows<4>::run(coder, in, out, n);
  if (n <= 8 * kWide) return ShortRows<8>::run(coder, in, out, n);
  ShortRows<16>::run(coder, in, out, n);
}

}  // namespace
#endif

extern const ShortSortKernels kShortSort;
#if GSORT_SHORT_SORT
const ShortSortKernels kShortSort = {sort_short, 16 * kWide};
static_assert(16 * kWide <= kShortSortItemsMax);
#else
const ShortSortKernels kShortSort = {nullptr, 0};
#endif
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_HIGHWAY

#if !GSORT_HIGHWAY || HWY_ONCE
namespace gsort_internal {
GSORT_DEFINE_KERNELS_OF(ShortSortKernels, short_sort_kernels, , kShortSort)
}  // namespace gsort_internal
#endif
