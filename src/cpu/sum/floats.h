// SPDX-License-Identifier: MIT OR Apache-2.0
// The float types, as exact sums take them.
#ifndef GSORT_CPU_SUM_FLOATS_H_
#define GSORT_CPU_SUM_FLOATS_H_

#include <cstdint>
#include <cstring>

#include "core/dtype.h"
#include "core/half.h"
#include "cpu/vector/fold.h"

namespace gsort_internal {

// Of a normal number.
inline double power_of_two(int32_t exponent) { return double_of_bits(static_cast<uint64_t>(exponent + 1023) << 52); }

// How elements are widened, exactly, what the kernels call their type, and the exponents of the least magnitude and the
// greatest.
struct HalfFloats {
  using Bits = uint16_t;
  static constexpr FoldType kType = FoldType::kHalf;
  static constexpr int32_t kFractionBits = 10, kLeastExponent = -24, kGreatestExponent = 15;
  static double widen(uint16_t bits) { return Half::to_double(bits); }
  static double magnitude(uint64_t bits) { return widen(static_cast<uint16_t>(bits)); }
};
struct BFloat16Floats {
  using Bits = uint16_t;
  static constexpr FoldType kType = FoldType::kBFloat16;
  static constexpr int32_t kFractionBits = 7, kLeastExponent = -133, kGreatestExponent = 127;
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
  static constexpr int32_t kFractionBits = 23, kLeastExponent = -149, kGreatestExponent = 127;
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
  static constexpr int32_t kFractionBits = 52, kLeastExponent = -1074, kGreatestExponent = 1023;
  static double widen(double x) { return x; }
  static double magnitude(uint64_t bits) { return double_of_bits(bits); }
};

// Calls f with the tag of the type of those above that `t` is.
template <class F>
void with_floats(gsort_dtype t, F &&f) {
  switch (t) {
    case GSORT_F16:
      return f(TypeTag<HalfFloats>());
    case GSORT_BF16:
      return f(TypeTag<BFloat16Floats>());
    case GSORT_F32:
      return f(TypeTag<SingleFloats>());
    default:
      return f(TypeTag<DoubleFloats>());
  }
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_SUM_FLOATS_H_
