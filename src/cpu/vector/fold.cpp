// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/vector/fold.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "core/rounding_record.h"
#include "cpu/vector/target.h"

#if GSORT_HIGHWAY
#ifndef GSORT_CPU_VECTOR_FOLD_TABLE_
#define GSORT_CPU_VECTOR_FOLD_TABLE_
namespace gsort_internal {
// In the order of FoldType.
struct FoldTable {
  FoldKernels of_type[4];
  PlainSum plain_sum;
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
#include "cpu/vector/widen-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace gsort_internal {
namespace HWY_NAMESPACE {
#if GSORT_VECTOR_TARGET
namespace {

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;
constexpr size_t kWide = HWY_MAX_BYTES / sizeof(double);
constexpr size_t kAccumulators = 4;  // side by side, because an addition waits for the one before
constexpr size_t kChains = 2;        // of windows, which fill the registers
static_assert(kFoldGrain % (2 * kAccumulators * kWide) == 0, "grains are whole steps");
static_assert(kLaneSumsMax >= kAccumulators * kWide, "room for all lanes");
// A lane takes no more than it may, and what is read twice is not lost from the nearest cache meanwhile.
constexpr size_t kLaneItems = kChains * kWide << kFoldLaneBits;
template <class F>
constexpr size_t kItemsMax = std::min(kLaneItems, std::min<size_t>(kFoldGroupItems, (16 << 10) / sizeof(F)));
static_assert(kLaneItems >= kFoldItems, "groups are one block or more");
static_assert(kFoldItems >> kFoldItemBits == 1 && kFoldGroupItems >> kFoldGroupItemBits == 1, "bits of numbers");

template <class T, class D>
HWY_INLINE Magnitudes magnitudes_of_lanes(D d, hn::Vec<D> greatest, hn::Vec<D> least_1) {
  constexpr size_t kLaneCount = HWY_MAX_BYTES / sizeof(T);
  HWY_ALIGN T lane[2 * kLaneCount];
  hn::Store(greatest, d, lane);
  hn::Store(least_1, d, lane + kLaneCount);
  T most = 0, least = hwy::LimitsMax<T>();
  for (size_t i = 0; i < kLaneCount; ++i) {
    most = lane[i] > most ? lane[i] : most;
    least = lane[kLaneCount + i] < least ? lane[kLaneCount + i] : least;
  }
  return {most, least};
}

// As integers of the elements' size, which order magnitudes and put NaNs behind them. One less, zeros are the greatest.
template <class T>
HWY_NOINLINE Magnitudes magnitudes(const void *array, uint32_t items) {
  const hn::ScalableTag<T> d;
  const T *const x = static_cast<const T *>(array);
  constexpr size_t kLaneCount = HWY_MAX_BYTES / sizeof(T);
  const auto sign_off = hn::Set(d, static_cast<T>(hwy::LimitsMax<T>() >> 1)), one = hn::Set(d, T{1});
  auto g0 = hn::Zero(d), g1 = g0, l0 = hn::Set(d, hwy::LimitsMax<T>()), l1 = l0;
  for (size_t i = 0; i < items; i += 2 * kLaneCount) {
    const auto a = hn::And(hn::LoadU(d, x + i), sign_off), b = hn::And(hn::LoadU(d, x + i + kLaneCount), sign_off);
    g0 = hn::Max(g0, a);
    g1 = hn::Max(g1, b);
    l0 = hn::Min(l0, hn::Sub(a, one));
    l1 = hn::Min(l1, hn::Sub(b, one));
  }
  Magnitudes m = magnitudes_of_lanes<T>(d, hn::Max(g0, g1), hn::Min(l0, l1));
  m.least = static_cast<T>(m.least + 1);
  if (m.least == 0) m.least = ~uint64_t{0};
  return m;
}

// Of doubles by their upper halves, which are zeros of no element as a rule.
HWY_NOINLINE Magnitudes magnitudes_of_doubles(const void *array, uint32_t items) {
  const hn::ScalableTag<uint64_t> d;
  const hn::ScalableTag<uint32_t> d_halves;
  const uint64_t *const x = static_cast<const uint64_t *>(array);
  const auto sign_off = hn::Set(d_halves, 0x7fffffffu);
  auto g0 = hn::Zero(d_halves), g1 = g0, l0 = hn::Set(d_halves, ~0u), l1 = l0;
  const auto halves = [&](size_t i) {
    const auto lower = hn::BitCast(d_halves, hn::ShiftRight<32>(hn::LoadU(d, x + i)));
    return hn::And(hn::OddEven(hn::BitCast(d_halves, hn::LoadU(d, x + i + kWide)), lower), sign_off);
  };
  for (size_t i = 0; i < items; i += 4 * kWide) {
    const auto a = halves(i), b = halves(i + 2 * kWide);
    g0 = hn::Max(g0, a);
    g1 = hn::Max(g1, b);
    l0 = hn::Min(l0, a);
    l1 = hn::Min(l1, b);
  }
  const Magnitudes m = magnitudes_of_lanes<uint32_t>(d_halves, hn::Max(g0, g1), hn::Min(l0, l1));
  if (m.least == 0) return magnitudes<uint64_t>(array, items);
  return {m.greatest << 32, m.least << 32};
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

// A window's sums and those of what is below. Multipliers are free where adders are busy. The constructors are written
// out: GCC would compile those that it makes itself without the target's instructions.
template <uint32_t Windows, uint32_t All = Windows>
struct Chain {
  DoubleVec sum;
  Chain<Windows - 1, All> below;

  HWY_INLINE explicit Chain(const double *windows) : sum(hn::Set(DoubleTag(), windows[0])), below(windows + 1) {}
  HWY_INLINE void add(DoubleVec x) {
#if HWY_TARGET == HWY_SSE4
    const auto next = hn::Add(sum, x);
    const auto rest = hn::Sub(x, hn::Sub(next, sum));
#else
    const auto one = hn::Set(DoubleTag(), 1.0);
    const auto next = Windows % 2 == 1 ? hn::Add(sum, x) : hn::MulAdd(x, one, sum);
    const auto rest = hn::NegMulAdd(hn::Sub(next, sum), one, x);
#endif
    sum = next;
    below.add(rest);
  }
  HWY_INLINE void end(const double *windows, int64_t *units, DoubleVec &rest) const {
    *units = static_cast<int64_t>(static_cast<uint64_t>(*units) + units_of(sum, windows[0]));
    below.end(windows + 1, units + 1, rest);
  }
};
template <uint32_t All>
struct Chain<0, All> {
  DoubleVec sum;

  HWY_INLINE explicit Chain(const double *) : sum(hn::Zero(DoubleTag())) {}
  HWY_INLINE void add(DoubleVec x) {
#if HWY_TARGET == HWY_SSE4
    sum = hn::Add(sum, x);
#else
    sum = All % 2 == 0 ? hn::Add(sum, x) : hn::MulAdd(x, hn::Set(DoubleTag(), 1.0), sum);
#endif
  }
  HWY_INLINE void end(const double *, int64_t *, DoubleVec &rest) const { rest = hn::Add(rest, sum); }
};

template <class F, uint32_t Windows>
HWY_NOINLINE void fold_block(const F *x, uint32_t items, const double *windows, Folded *folded) {
  // A chain's additions wait for each other; of more windows two chains fill the registers.
  constexpr size_t chains = Windows == 1 ? 2 * kChains : kChains;
  Chain<Windows> a(windows), b(windows), c(windows), e(windows);
  for (size_t i = 0; i < items; i += chains * kWide) {
    a.add(load_widened(DoubleTag(), x + i));
    b.add(load_widened(DoubleTag(), x + i + kWide));
    if constexpr (chains > 2) {
      c.add(load_widened(DoubleTag(), x + i + 2 * kWide));
      e.add(load_widened(DoubleTag(), x + i + 3 * kWide));
    }
  }
  for (int64_t &units : folded->units) units = 0;
  auto rest = hn::Zero(DoubleTag());
  a.end(windows, folded->units, rest);
  b.end(windows, folded->units, rest);
  if constexpr (chains > 2) {
    c.end(windows, folded->units, rest);
    e.end(windows, folded->units, rest);
  }
  folded->below = hn::GetLane(hn::SumOfLanes(DoubleTag(), rest));
}
template <class F>
void fold(const void *array, uint32_t items, const double *windows, uint32_t count, Folded *folded) {
  const F *const x = static_cast<const F *>(array);
  static_assert(kWindowsMax == 5, "a case for each number of windows");
  switch (count) {
    case 1:
      return fold_block<F, 1>(x, items, windows, folded);
    case 2:
      return fold_block<F, 2>(x, items, windows, folded);
    case 3:
      return fold_block<F, 3>(x, items, windows, folded);
    case 4:
      return fold_block<F, 4>(x, items, windows, folded);
    default:
      return fold_block<F, 5>(x, items, windows, folded);
  }
}

// Adds two vectors of elements to the two sums, of doubles one vector in two parts: 26 leading bits and 27.
template <class F>
HWY_INLINE void add_pair(const F *x, DoubleVec &sum_1, DoubleVec &sum_2) {
  sum_1 = hn::Add(sum_1, load_widened(DoubleTag(), x));
  sum_2 = hn::Add(sum_2, load_widened(DoubleTag(), x + kWide));
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
HWY_INLINE void add_step(const F *x, LaneSums &s) {
  constexpr size_t pair = kPairItems<F>;
  add_pair(x, s.a1, s.a2);
  add_pair(x + pair, s.b1, s.b2);
  add_pair(x + 2 * pair, s.c1, s.c2);
  add_pair(x + 3 * pair, s.e1, s.e2);
}

template <class F>
HWY_NOINLINE uint32_t lane_sums(const void *x, uint32_t items, double *high, double *low) {
  const DoubleTag d;
  const auto zero = hn::Zero(d);
  LaneSums s = {zero, zero, zero, zero, zero, zero, zero, zero};
  for (size_t i = 0; i < items; i += 4 * kPairItems<F>) add_step(static_cast<const F *>(x) + i, s);
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

// Of elements far from each other few tell that additions round. A look takes as long as some 50 elements.
constexpr size_t kLookFrom = 512, kLookAfter = 128;

template <class F>
HWY_NOINLINE bool two_sums(const void *array, uint32_t items, double *high, double *low) {
  constexpr size_t pair = kPairItems<F>, step = 4 * pair;
  const F *const x = static_cast<const F *>(array);
  const auto zero = hn::Zero(DoubleTag());
  LaneSums s = {zero, zero, zero, zero, zero, zero, zero, zero};
  static_assert(kLookAfter % step == 0, "whole steps");
  const size_t whole = items / step * step, first = items < kLookFrom ? whole : kLookAfter;
  size_t i = 0;
  for (; i < first; i += step) add_step(x + i, s);
  if (first < whole && RoundingRecord::get() != 0) return false;
  for (; i < whole; i += step) add_step(x + i, s);
  for (; i + pair <= items; i += pair) add_pair(x + i, s.a1, s.a2);
  if (i < items) {
    F last[pair] = {};
    __builtin_memcpy(last, x + i, (items - i) * sizeof(F));
    add_pair(last, s.b1, s.b2);
  }
  *high = sum_of_lanes(hn::Add(hn::Add(s.a1, s.b1), hn::Add(s.c1, s.e1)));
  *low = sum_of_lanes(hn::Add(hn::Add(s.a2, s.b2), hn::Add(s.c2, s.e2)));
  return true;
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
  // Added as unsigned numbers, which wrap: the compilers' own sum of the lanes of AVX-512 is one of signed numbers.
  const hn::ScalableTag<uint64_t> u;
  uint64_t lanes[kWide], sum = 0;
  hn::StoreU(hn::BitCast(u, hn::Add(hn::Add(a, b), hn::Add(c, e))), u, lanes);
  for (const uint64_t lane : lanes) sum += lane;
  for (; i < items; ++i) sum += static_cast<uint64_t>(x[i]);
  return sum;
}

template <class F>
constexpr FoldKernels kKernels = {sizeof(F) == 2   ? magnitudes<uint16_t>
                                  : sizeof(F) == 4 ? magnitudes<uint32_t>
                                                   : magnitudes_of_doubles,
                                  fold<F>, lane_sums<F>, two_sums<F>, kItemsMax<F>};

}  // namespace

extern const FoldTable kFold;
const FoldTable kFold = {{kKernels<hwy::float16_t>, kKernels<hwy::bfloat16_t>, kKernels<float>, kKernels<double>},
                         plain_sum,
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
IntegerSum integer_sum_kernel(IntegerType) { return nullptr; }
}  // namespace gsort_internal

#endif  // GSORT_HIGHWAY
