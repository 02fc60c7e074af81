// SPDX-License-Identifier: MIT OR Apache-2.0
// For the kernels of one vector target: elements of any float type as doubles, which is exact.
#if defined(GSORT_CPU_VECTOR_WIDEN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSORT_CPU_VECTOR_WIDEN_INL_H_
#undef GSORT_CPU_VECTOR_WIDEN_INL_H_
#else
#define GSORT_CPU_VECTOR_WIDEN_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const double *from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const float *from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}
// Of hwy::float16_t and hwy::bfloat16_t.
template <class D, class Small>
HWY_INLINE hn::Vec<D> load_widened(D d, const Small *from) {
  const hn::Rebind<float, D> d_float;
  return hn::PromoteTo(d, hn::PromoteTo(d_float, hn::LoadU(hn::Rebind<Small, D>(), from)));
}
#if HWY_TARGET == HWY_SSE4
// Without instructions for halves Highway (1.0.3) makes numbers of infinities and NaNs.
template <class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const hwy::float16_t *from) {
  const hn::Rebind<float, D> d_float;
  const hn::RebindToUnsigned<decltype(d_float)> d_bits;
  const auto half = hn::LoadU(hn::Rebind<hwy::float16_t, D>(), from);
  const auto bits = hn::PromoteTo(d_bits, hn::BitCast(hn::Rebind<uint16_t, D>(), half)),
             exponent = hn::Set(d_bits, 0x7c00);
  const auto special = hn::IfThenElseZero(hn::Eq(hn::And(bits, exponent), exponent), hn::Set(d_bits, 0x7f800000));
  const auto number = hn::BitCast(d_bits, hn::PromoteTo(d_float, half));
  return hn::PromoteTo(d, hn::BitCast(d_float, hn::Or(number, special)));
}
#endif

#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#endif  // GSORT_CPU_VECTOR_WIDEN_INL_H_
