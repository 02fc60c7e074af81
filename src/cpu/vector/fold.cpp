// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/fold.h"

#include <cstddef>
#include <type_traits>

#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#ifndef GSORT_CPU_VECTOR_FOLD_TABLE_
#define GSORT_CPU_VECTOR_FOLD_TABLE_
namespace gsort_internal {
// In the order of FoldType.
struct FoldTable {
  FoldKernels of_type[4];
  PlainSum plain_sum;
  AddToBins add_to_bins;
  IntegerSum integer_sums[3];  // in the order of IntegerType
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
constexpr size_t kAccumulators = kFoldGroup;  // side by side, because an addition waits for the one before
static_assert(kFoldGrain % (2 * kAccumulators * kWide) == 0, "grains are whole steps");
static_assert(kLaneSumsMax >= kAccumulators * kWide, "room for all lanes");
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

// A group are the elements that come to one lane in a step.
template <class F, bool kKeepRest>
HWY_NOINLINE Folded fold_block(const F *x, uint32_t items, double window_1, double window_2, double *rest) {
  const DoubleTag d;
  auto a1 = hn::Set(d, window_1), b1 = a1, c1 = a1, e1 = a1;
  auto a2 = hn::Set(d, window_2), b2 = a2, c2 = a2, e2 = a2;
  const hn::RebindToSigned<DoubleTag> d_count;
  auto groups = hn::Zero(d_count);  // minus the groups that a lane has something of below
  for (size_t i = 0; i < items; i += kAccumulators * kWide) {
    const auto a = add(load_widened(x + i), a1, a2), b = add(load_widened(x + i + kWide), b1, b2);
    const auto c = add(load_widened(x + i + 2 * kWide), c1, c2), e = add(load_widened(x + i + 3 * kWide), e1, e2);
    // A rest of -0 is none.
    const auto below = hn::Ne(hn::Or(hn::Or(a, b), hn::Or(c, e)), hn::Zero(d));
    groups = hn::Add(groups, hn::VecFromMask(d_count, hn::RebindMask(d_count, below)));
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
  const uint32_t groups_left = static_cast<uint32_t>(-hn::GetLane(hn::SumOfLanes(d_count, groups)));
  return {{static_cast<int64_t>(units_1), static_cast<int64_t>(units_2)}, groups_left};
}

template <class F>
Folded fold(const void *x, uint32_t items, double window_1, double window_2) {
  return fold_block<F, false>(static_cast<const F *>(x), items, window_1, window_2, nullptr);
}
template <class F>
Folded fold_rest(const void *x, uint32_t items, double window_1, double window_2, double *rest) {
  return fold_block<F, true>(static_cast<const F *>(x), items, window_1, window_2, rest);
}

// Adds two vectors of elements to the two sums, of doubles one vector in two parts: 26 leading bits and 27.
template <class F>
HWY_INLINE void add_pair(const F *x, DoubleVec &sum_1, DoubleVec &sum_2) {
  sum_1 = hn::Add(sum_1, load_widened(x));
  sum_2 = hn::Add(sum_2, load_widened(x + kWide));
}
HWY_INLINE void add_pair(const double *from, DoubleVec &high, DoubleVec &low) {
  const DoubleTag d;
  const hn::RebindToUnsigned<DoubleTag> d_bits;
  const auto x = hn::LoadU(d, from);
  const auto leading = hn::And(x, hn::BitCast(d, hn::Set(d_bits, ~((uint64_t{1} << 27) - 1))));
  high = hn::Add(high, leading);
#if HWY_TARGET == HWY_SSE4
  low = hn::Add(low, hn::Sub(x, leading));
#else
  low = hn::Add(low, hn::NegMulAdd(leading, hn::Set(d, 1.0), x));  // multipliers are free where adders are busy
#endif
}
template <class F>
constexpr size_t kPairItems = sizeof(F) == sizeof(double) ? kWide : 2 * kWide;

struct LaneSums {
  DoubleVec a1, a2, b1, b2, c1, c2, e1, e2;
};

template <class F>
HWY_INLINE LaneSums add_lanes(const F *x, size_t items) {
  constexpr size_t pair = kPairItems<F>;
  const auto zero = hn::Zero(DoubleTag());
  LaneSums s = {zero, zero, zero, zero, zero, zero, zero, zero};
  for (size_t i = 0; i < items; i += 4 * pair) {
    add_pair(x + i, s.a1, s.a2);
    add_pair(x + i + pair, s.b1, s.b2);
    add_pair(x + i + 2 * pair, s.c1, s.c2);
    add_pair(x + i + 3 * pair, s.e1, s.e2);
  }
  return s;
}

template <class F>
HWY_NOINLINE uint32_t lane_sums(const void *x, uint32_t items, double *high, double *low) {
  const DoubleTag d;
  const LaneSums s = add_lanes(static_cast<const F *>(x), items);
  hn::StoreU(s.a1, d, high);
  hn::StoreU(s.b1, d, high + kWide);
  hn::StoreU(s.c1, d, high + 2 * kWide);
  hn::StoreU(s.e1, d, high + 3 * kWide);
  hn::StoreU(s.a2, d, low);
  hn::StoreU(s.b2, d, low + kWide);
  hn::StoreU(s.c2, d, low + 2 * kWide);
  hn::StoreU(s.e2, d, low + 3 * kWide);
  return 4 * kWide;
}

HWY_INLINE double sum_of_lanes(DoubleVec x) { return hn::GetLane(hn::SumOfLanes(DoubleTag(), x)); }

template <class F>
HWY_NOINLINE void two_sums(const void *array, uint32_t items, double *high, double *low) {
  constexpr size_t pair = kPairItems<F>, step = 4 * pair;
  const F *const x = static_cast<const F *>(array);
  size_t i = items / step * step;
  LaneSums s = add_lanes(x, i);
  for (; i + pair <= items; i += pair) add_pair(x + i, s.a1, s.a2);
  if (i < items) {
    F last[pair] = {};
    __builtin_memcpy(last, x + i, (items - i) * sizeof(F));
    add_pair(last, s.b1, s.b2);
  }
  *high = sum_of_lanes(hn::Add(hn::Add(s.a1, s.b1), hn::Add(s.c1, s.e1)));
  *low = sum_of_lanes(hn::Add(hn::Add(s.a2, s.b2), hn::Add(s.c2, s.e2)));
}

HWY_NOINLINE double plain_sum(const double *x, uint32_t items) {
  const DoubleTag d;
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (size_t i = 0; i < items; i += kAccumulators * kWide) {
    a = hn::Add(a, hn::LoadU(d, x + i));
    b = hn::Add(b, hn::LoadU(d, x + i + kWide));
    c = hn::Add(c, hn::LoadU(d, x + i + 2 * kWide));
    e = hn::Add(e, hn::LoadU(d, x + i + 3 * kWide));
  }
  return sum_of_lanes(hn::Add(hn::Add(a, b), hn::Add(c, e)));
}

HWY_INLINE void add_to_bin(const double *x, uint64_t *bins) {
  const hn::Full128<uint64_t> d;
  const hn::Full64<uint32_t> d_halves;
  HWY_ALIGN static constexpr uint64_t kMasks[2] = {0xffffffffu, 0xfffffu}, kOne[2] = {0, uint64_t{1} << 40};
  uint16_t top = 0;
  __builtin_memcpy(&top, reinterpret_cast<const unsigned char *>(x) + 6, sizeof top);
  uint64_t *const bin = bins + (top >> 4) * 2;
  const auto halves = hn::PromoteTo(d, hn::BitCast(d_halves, hn::LoadU(hn::Full64<double>(), x)));
  hn::Store(hn::Add(hn::Load(d, bin), hn::Add(hn::And(halves, hn::Load(d, kMasks)), hn::Load(d, kOne))), d, bin);
}
HWY_NOINLINE void add_to_bins(const double *x, uint32_t items, uint64_t *bins) {
  size_t i = 0;
  for (; i + 4 <= items; i += 4)
    for (size_t j = 0; j < 4; ++j) add_to_bin(x + i + j, bins);
  for (; i < items; ++i) add_to_bin(x + i, bins);
}

template <class T>
using SumTag = hn::ScalableTag<std::conditional_t<std::is_signed<T>::value, int64_t, uint64_t>>;
template <class T>
HWY_INLINE hn::Vec<SumTag<T>> load_integers(const T *from) {
  if constexpr (sizeof(T) == 8) {
    return hn::LoadU(SumTag<T>(), from);
  } else {
    return hn::PromoteTo(SumTag<T>(), hn::LoadU(hn::Rebind<T, SumTag<T>>(), from));
  }
}

template <class T>
HWY_NOINLINE uint64_t integer_sum(const void *array, uint64_t items) {
  const SumTag<T> d;
  const T *const x = static_cast<const T *>(array);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  uint64_t i = 0;
  for (; i + 4 * kWide <= items; i += 4 * kWide) {
    a = hn::Add(a, load_integers(x + i));
    b = hn::Add(b, load_integers(x + i + kWide));
    c = hn::Add(c, load_integers(x + i + 2 * kWide));
    e = hn::Add(e, load_integers(x + i + 3 * kWide));
  }
  uint64_t sum = static_cast<uint64_t>(hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e)))));
  for (; i < items; ++i) sum += static_cast<uint64_t>(x[i]);
  return sum;
}

template <class F, class Bits>
constexpr FoldKernels kKernels = {greatest<Bits>, fold<F>, fold_rest<F>, lane_sums<F>, two_sums<F>};

}  // namespace

extern const FoldTable kFold;
const FoldTable kFold = {{kKernels<hwy::float16_t, int16_t>, kKernels<hwy::bfloat16_t, int16_t>,
                          kKernels<float, int32_t>, kKernels<double, int64_t>},
                         plain_sum,
                         add_to_bins,
                         {integer_sum<uint32_t>, integer_sum<int32_t>, integer_sum<uint64_t>}};
#endif  // GSORT_VECTOR_TARGET
}  // namespace HWY_NAMESPACE
}  // namespace gsort_internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsort_internal {
static const FoldTable *picked_table() {
  static const FoldTable *const table[] = GSORT_VECTOR_TABLE(kFold);
  return pick_kernels(table);
}
const FoldKernels *fold_kernels(FoldType type) {
  const FoldTable *const picked = picked_table();
  return picked == nullptr ? nullptr : &picked->of_type[static_cast<uint32_t>(type)];
}
PlainSum plain_sum_kernel() {
  const FoldTable *const picked = picked_table();
  return picked == nullptr ? nullptr : picked->plain_sum;
}
AddToBins add_to_bins_kernel() {
  const FoldTable *const picked = picked_table();
  return picked == nullptr ? nullptr : picked->add_to_bins;
}
IntegerSum integer_sum_kernel(IntegerType type) {
  const FoldTable *const picked = picked_table();
  return picked == nullptr ? nullptr : picked->integer_sums[static_cast<uint32_t>(type)];
}
}  // namespace gsort_internal
#endif  // HWY_ONCE

#else  // GSORT_HIGHWAY

namespace gsort_internal {
const FoldKernels *fold_kernels(FoldType) { return nullptr; }
PlainSum plain_sum_kernel() { return nullptr; }
AddToBins add_to_bins_kernel() { return nullptr; }
IntegerSum integer_sum_kernel(IntegerType) { return nullptr; }
}  // namespace gsort_internal

#endif  // GSORT_HIGHWAY
