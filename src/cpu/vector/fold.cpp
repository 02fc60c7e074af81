// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/fold.h"

#include <cstddef>

#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#ifndef GSORT_CPU_VECTOR_FOLD_TABLE_
#define GSORT_CPU_VECTOR_FOLD_TABLE_
namespace gsort_internal {
// In the order of FoldType.
struct FoldTable {
  FoldKernels of_type[4];
};
}  // namespace gsort_internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector/fold.cpp"
// clang-format off
#include "cpu/vector/highway.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;
constexpr size_t kWide = HWY_MAX_BYTES / sizeof(double);
constexpr size_t kAccumulators = 4;  // side by side, because an addition waits for the one before
static_assert(kFoldGrain % (kAccumulators * kWide) == 0, "grains are whole steps");
static_assert((kFoldItems / (kAccumulators * kWide)) >> kFoldLaneBits <= 1, "a lane takes no more than it may");

// Exact, for every type.
HWY_INLINE DoubleVec load_widened(const double *from) { return hn::LoadU(DoubleTag(), from); }
HWY_INLINE DoubleVec load_widened(const float *from) {
  return hn::PromoteTo(DoubleTag(), hn::LoadU(hn::Rebind<float, DoubleTag>(), from));
}
template <class Small>
HWY_INLINE DoubleVec load_small(const Small *from) {
  const hn::Rebind<float, DoubleTag> d_float;
  return hn::PromoteTo(DoubleTag(), hn::PromoteTo(d_float, hn::LoadU(hn::Rebind<Small, DoubleTag>(), from)));
}
HWY_INLINE DoubleVec load_widened(const hwy::float16_t *from) { return load_small(from); }
HWY_INLINE DoubleVec load_widened(const hwy::bfloat16_t *from) { return load_small(from); }

// As integers of the elements' size, which order magnitudes and put NaNs behind them.
template <class T>
HWY_NOINLINE uint64_t greatest(const void *array, uint32_t items) {
  const hn::ScalableTag<T> d;
  const T *const x = static_cast<const T *>(array);
  constexpr size_t kLaneCount = HWY_MAX_BYTES / sizeof(T);
  const auto magnitude = hn::Set(d, hwy::LimitsMax<T>());
  auto g0 = hn::Zero(d), g1 = g0;
  size_t i = 0;
  for (; i + 2 * kLaneCount <= items; i += 2 * kLaneCount) {
    g0 = hn::Max(g0, hn::And(hn::LoadU(d, x + i), magnitude));
    g1 = hn::Max(g1, hn::And(hn::LoadU(d, x + i + kLaneCount), magnitude));
  }
  HWY_ALIGN T lane[kLaneCount];
  hn::Store(hn::Max(g0, g1), d, lane);
  T result = 0;
  for (const T value : lane) result = value > result ? value : result;
  for (; i < items; ++i) {
    const T value = static_cast<T>(x[i] & hwy::LimitsMax<T>());
    result = value > result ? value : result;
  }
  return static_cast<uint64_t>(result);
}

// Adds one vector to both windows; returns what is below.
HWY_INLINE DoubleVec add(DoubleVec x, DoubleVec &sum_1, DoubleVec &sum_2) {
  const auto next_1 = hn::Add(sum_1, x);
  const auto rest_1 = hn::Sub(x, hn::Sub(next_1, sum_1));
  sum_1 = next_1;
  const auto next_2 = hn::Add(sum_2, rest_1);
  const auto rest_2 = hn::Sub(rest_1, hn::Sub(next_2, sum_2));
  sum_2 = next_2;
  return rest_2;
}

// Sums keep their window's exponent, so their bits differ from it by the number of units added.
HWY_INLINE uint64_t units_of(DoubleVec sum, double window) {
  const hn::RebindToUnsigned<DoubleTag> d;
  HWY_ALIGN uint64_t lane[kWide];
  hn::Store(hn::BitCast(d, sum), d, lane);
  uint64_t bits = 0, units = 0;
  __builtin_memcpy(&bits, &window, sizeof bits);
  for (const uint64_t value : lane) units += value - bits;
  return units;
}

template <class F, bool kKeepRest>
HWY_NOINLINE Folded fold_block(const F *x, uint32_t items, double window_1, double window_2, double *rest) {
  const DoubleTag d;
  auto a1 = hn::Set(d, window_1), b1 = a1, c1 = a1, e1 = a1;
  auto a2 = hn::Set(d, window_2), b2 = a2, c2 = a2, e2 = a2;
  auto below = hn::Zero(d);
  for (size_t i = 0; i < items; i += kAccumulators * kWide) {
    const auto a = add(load_widened(x + i), a1, a2), b = add(load_widened(x + i + kWide), b1, b2);
    const auto c = add(load_widened(x + i + 2 * kWide), c1, c2), e = add(load_widened(x + i + 3 * kWide), e1, e2);
    below = hn::Or(below, hn::Or(hn::Or(a, b), hn::Or(c, e)));
    if constexpr (kKeepRest) {
      hn::StoreU(a, d, rest + i);
      hn::StoreU(b, d, rest + i + kWide);
      hn::StoreU(c, d, rest + i + 2 * kWide);
      hn::StoreU(e, d, rest + i + 3 * kWide);
    }
  }
  const uint64_t units_1 =
      units_of(a1, window_1) + units_of(b1, window_1) + units_of(c1, window_1) + units_of(e1, window_1);
  const uint64_t units_2 =
      units_of(a2, window_2) + units_of(b2, window_2) + units_of(c2, window_2) + units_of(e2, window_2);
  // A rest of -0 is none.
  const bool exact = hn::AllTrue(d, hn::Eq(below, hn::Zero(d)));
  return {{static_cast<int64_t>(units_1), static_cast<int64_t>(units_2)}, exact};
}

template <class F>
Folded fold(const void *x, uint32_t items, double window_1, double window_2) {
  return fold_block<F, false>(static_cast<const F *>(x), items, window_1, window_2, nullptr);
}
template <class F>
Folded fold_rest(const void *x, uint32_t items, double window_1, double window_2, double *rest) {
  return fold_block<F, true>(static_cast<const F *>(x), items, window_1, window_2, rest);
}

}  // namespace

extern const FoldTable kFold;
const FoldTable kFold = {{{greatest<int16_t>, fold<hwy::float16_t>, fold_rest<hwy::float16_t>},
                          {greatest<int16_t>, fold<hwy::bfloat16_t>, fold_rest<hwy::bfloat16_t>},
                          {greatest<int32_t>, fold<float>, fold_rest<float>},
                          {greatest<int64_t>, fold<double>, fold_rest<double>}}};
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort_internal {
const FoldKernels *fold_kernels(FoldType type) {
  static const FoldTable *const table[] = GSORT_VECTOR_TABLE(kFold);
  const FoldTable *const picked = pick_kernels(table);
  return picked == nullptr ? nullptr : &picked->of_type[static_cast<uint32_t>(type)];
}
}  // namespace gsort_internal
#endif  // HWY_ONCE

#else  // GSORT_HIGHWAY

namespace gsort_internal {
const FoldKernels *fold_kernels(FoldType) { return nullptr; }
}  // namespace gsort_internal

#endif  // GSORT_HIGHWAY
