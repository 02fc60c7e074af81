// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/exact_sum.h"

#include <cstring>
#include <type_traits>

#include "core/half.h"
#include "cpu/vector/fold.h"

namespace gsort_internal {

namespace {

// A block is folded into two windows of 52 bits below its greatest magnitude: adding to a number so large that every
// addition rounds to the same multiple splits each element without error, many lanes at a time (Rump, Ogita, Oishi,
// Accurate floating-point summation, 2008). What elements have below both windows goes to further pairs of windows, and
// what is left after a few of those to sums by exponent; blocks with infinities or NaNs go to the superaccumulator,
// element by element.

double power_of_two(int32_t exponent) { return double_of_bits(static_cast<uint64_t>(exponent + 1023) << 52); }

// Adds units * 2^exponent.
void add_units(Superaccumulator &sum, int64_t units, int32_t exponent) {
  sum.add_integer(units, static_cast<uint32_t>(exponent + static_cast<int32_t>(kSumOneBit)));
}

// The kernels where there are no vectors.
constexpr uint32_t kPlainLanes = 8;

uint64_t plain_greatest(const void *array, uint32_t items) {
  const double *const x = static_cast<const double *>(array);
  uint64_t greatest = 0;
  for (uint32_t i = 0; i < items; ++i) {
    const uint64_t magnitude = bits_of_double(x[i]) & ~kDoubleSign;
    greatest = magnitude > greatest ? magnitude : greatest;
  }
  return greatest;
}

Folded plain_fold_rest(const void *array, uint32_t items, double window_1, double window_2, double *rest) {
  const double *const x = static_cast<const double *>(array);
  double sums_1[kPlainLanes], sums_2[kPlainLanes];
  bool exact = true;
  for (uint32_t j = 0; j < kPlainLanes; ++j) sums_1[j] = window_1, sums_2[j] = window_2;
  for (uint32_t i = 0; i < items; i += kPlainLanes) {
    for (uint32_t j = 0; j < kPlainLanes; ++j) {
      const double next_1 = sums_1[j] + x[i + j], rest_1 = x[i + j] - (next_1 - sums_1[j]);
      sums_1[j] = next_1;
      const double next_2 = sums_2[j] + rest_1;
      rest[i + j] = rest_1 - (next_2 - sums_2[j]);
      exact &= rest[i + j] == 0;
      sums_2[j] = next_2;
    }
  }
  uint64_t units[2] = {0, 0};
  for (uint32_t j = 0; j < kPlainLanes; ++j) {
    units[0] += bits_of_double(sums_1[j]) - bits_of_double(window_1);
    units[1] += bits_of_double(sums_2[j]) - bits_of_double(window_2);
  }
  return {{static_cast<int64_t>(units[0]), static_cast<int64_t>(units[1])}, exact};
}

Folded plain_fold(const void *x, uint32_t items, double window_1, double window_2) {
  double unused[kFoldItems];
  return plain_fold_rest(x, items, window_1, window_2, unused);
}

constexpr FoldKernels kPlainFold = {plain_greatest, plain_fold, plain_fold_rest};

// How elements are widened, exactly, and what the kernels call their type.
struct HalfFloats {
  using Bits = uint16_t;
  static constexpr FoldType kType = FoldType::kHalf;
  static double widen(uint16_t bits) { return Half::to_double(bits); }
  static double magnitude(uint64_t bits) { return widen(static_cast<uint16_t>(bits)); }
};
struct BFloat16Floats {
  using Bits = uint16_t;
  static constexpr FoldType kType = FoldType::kBFloat16;
  static double widen(uint16_t bits) {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return static_cast<double>(value);
  }
  static double magnitude(uint64_t bits) { return widen(static_cast<uint16_t>(bits)); }
};
struct SingleFloats {
  using Bits = float;
  static constexpr FoldType kType = FoldType::kFloat;
  static double widen(float x) { return static_cast<double>(x); }
  static double magnitude(uint64_t bits) {
    const uint32_t narrow = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &narrow, sizeof value);
    return widen(value);
  }
};
struct DoubleFloats {
  using Bits = double;
  static constexpr FoldType kType = FoldType::kDouble;
  static double widen(double x) { return x; }
  static double magnitude(uint64_t bits) { return double_of_bits(bits); }
};

template <class F>
class RangeSum {
 public:
  explicit RangeSum(SumScratch &scratch) : scratch_(scratch) {}

  void add(const typename F::Bits *x, uint64_t count) {
    uint64_t i = 0;
    for (; i + kFoldItems <= count; i += kFoldItems) add_block(x + i, kFoldItems);
    if (i < count) add_block(x + i, static_cast<uint32_t>(count - i));
    scratch_.by_exponent.move_to(scratch_.sum);
  }

 private:
  static constexpr int32_t kExponentMin = -900, kExponentMax = 1000;  // windows stay among normal numbers
  static constexpr uint32_t kPassesMax = 4;  // pairs of windows; as many take as long as sums by exponent

  // Adds up to kFoldItems elements.
  void add_block(const typename F::Bits *x, uint32_t count) {
    if (kernels_ != nullptr && count % kFoldGrain == 0) {
      double rest[kFoldItems];
      return fold(*kernels_, x, count, F::magnitude(kernels_->greatest(x, count)), rest);
    }
    double widened[kFoldItems];
    const uint32_t whole = (count + kFoldGrain - 1) / kFoldGrain * kFoldGrain;
    for (uint32_t i = 0; i < whole; ++i) widened[i] = i < count ? F::widen(x[i]) : 0;
    fold(*doubles_, widened, whole, double_of_bits(doubles_->greatest(widened, whole)), widened);
  }

  // The two windows of elements of exponents up to `exponent`. The elements of a lane add up to less than
  // 2^(exponent + 1 + kFoldLaneBits), half of the first window's leading bit; what they leave, at most half a unit
  // each, to less than half of the second's.
  struct Windows {
    explicit Windows(int32_t exponent)
        : exponent_1(exponent + kFoldLaneBits + 2), exponent_2(exponent_1 - 52 + kFoldLaneBits) {}
    double first() const { return 1.5 * power_of_two(exponent_1); }
    double second() const { return 1.5 * power_of_two(exponent_2); }
    int32_t exponent_1, exponent_2;
  };

  // `rest` has room for the block, and may be `x`.
  template <class T>
  void fold(const FoldKernels &kernels, const T *x, uint32_t items, double greatest, double *rest) {
    const int32_t exponent = static_cast<int32_t>(bits_of_double(greatest) >> 52 & 0x7ff) - 1023;
    if (exponent > kExponentMax) return add_one_by_one(x, items);
    Windows windows(exponent < kExponentMin ? kExponentMin : exponent);
    // What is needed of the last block is as a rule needed of this one.
    if (!keep_rest_) {
      const Folded folded = kernels.fold(x, items, windows.first(), windows.second());
      if (folded.exact) return add_units_of(folded, windows);
    }
    Folded folded = kernels.fold_rest(x, items, windows.first(), windows.second(), rest);
    add_units_of(folded, windows);
    keep_rest_ = !folded.exact;
    for (uint32_t pass = 1; !folded.exact; ++pass) {
      // The rest of each element is at most half a unit of the second window.
      const int32_t below = windows.exponent_2 - 53;
      if (pass == kPassesMax || below < kExponentMin) return scratch_.by_exponent.add(rest, items);
      windows = Windows(below);
      folded = doubles_->fold_rest(rest, items, windows.first(), windows.second(), rest);
      add_units_of(folded, windows);
    }
  }

  void add_units_of(const Folded &folded, const Windows &windows) {
    add_units(scratch_.sum, folded.units[0], windows.exponent_1 - 52);
    add_units(scratch_.sum, folded.units[1], windows.exponent_2 - 52);
  }

  void add_one_by_one(const typename F::Bits *x, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) scratch_.sum.add(F::widen(x[i]));
  }
  // Of elements that were widened, and filled up with zeros.
  template <class T, class = std::enable_if_t<!std::is_same<T, typename F::Bits>::value>>
  void add_one_by_one(const T *x, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) scratch_.sum.add(x[i]);
  }

  SumScratch &scratch_;
  bool keep_rest_ = false;
  const FoldKernels *kernels_ = fold_kernels(F::kType);
  const FoldKernels *doubles_ =
      fold_kernels(FoldType::kDouble) != nullptr ? fold_kernels(FoldType::kDouble) : &kPlainFold;
};

template <class F>
void add_range(const void *in, Range range, SumScratch &scratch) {
  RangeSum<F>(scratch).add(static_cast<const typename F::Bits *>(in) + range.begin, range.size());
}

}  // namespace

void ExponentSums::add(const double *x, uint32_t count) {
  if (!used_) std::memset(sums_, 0, sizeof sums_);
  used_ = true;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t bits = bits_of_double(x[i]);
    const uint32_t exponent = static_cast<uint32_t>(bits >> 52) & 0x7ff;
    const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
    const uint64_t mantissa = fraction | static_cast<uint64_t>(exponent != 0 ? 1 : 0) << 52;
    const int64_t sign = static_cast<int64_t>(bits) >> 63;
    const int64_t value = (static_cast<int64_t>(mantissa) ^ sign) - sign;
    sums_[exponent].low += value & 0xffffffff;
    sums_[exponent].high += value >> 32;
  }
}

void ExponentSums::move_to(Superaccumulator &sum) {
  if (!used_) return;
  for (uint32_t exponent = 0; exponent < kExponents; ++exponent) {
    const Parts &parts = sums_[exponent];
    if ((parts.low | parts.high) == 0) continue;
    const uint32_t position = exponent == 0 ? 0 : exponent - 1;
    sum.add_integer(parts.low, position);
    sum.add_integer(parts.high, position + 32);
  }
  used_ = false;
}

void add_floats(gsort_dtype t, const void *in, Range range, SumScratch &scratch) {
  switch (t) {
    case GSORT_F16:
      return add_range<HalfFloats>(in, range, scratch);
    case GSORT_BF16:
      return add_range<BFloat16Floats>(in, range, scratch);
    case GSORT_F32:
      return add_range<SingleFloats>(in, range, scratch);
    default:
      return add_range<DoubleFloats>(in, range, scratch);
  }
}

bool all_minus_zero(gsort_dtype t, const void *in, uint64_t n) {
  return with_width(dtype_bytes(t), [&](auto tag) {
    using K = typename decltype(tag)::type;
    const K *const bits = static_cast<const K *>(in);
    for (uint64_t i = 0; i < n; ++i)
      if (bits[i] != KeyCodec<K>::kTop) return false;
    return true;
  });
}

}  // namespace gsort_internal
