// SPDX-License-Identifier: MIT OR Apache-2.0
// Conversions between the 2-byte floats and double, by integer operations alone. Shared by host and device code.
#ifndef GSORT_CORE_HALF_H_
#define GSORT_CORE_HALF_H_

#include <cstdint>

#include "core/superaccumulator.h"

namespace gsort_internal {

// A float of 1 sign bit, ExponentBits and MantissaBits, 16 bits in all.
template <uint32_t ExponentBits, uint32_t MantissaBits>
struct SmallFloat {
  static_assert(1 + ExponentBits + MantissaBits == 16, "a small float has 16 bits");
  static constexpr uint32_t kMantissaBits = MantissaBits;
  static constexpr uint32_t kExponentMax = (1u << ExponentBits) - 1;
  static constexpr int32_t kBias = (1 << (ExponentBits - 1)) - 1;
  static constexpr uint16_t kInfinity = static_cast<uint16_t>(kExponentMax << MantissaBits);
  static constexpr uint16_t kQuietNan = static_cast<uint16_t>(kInfinity | (1u << (MantissaBits - 1)));

  // Exact. A NaN's sign and payload go to the upper bits of the double's.
  GSORT_HOST_DEVICE static double to_double(uint16_t bits) {
    const uint64_t sign = static_cast<uint64_t>(bits >> 15) << 63;
    uint32_t exponent = (bits >> MantissaBits) & kExponentMax;
    uint64_t fraction = bits & ((1u << MantissaBits) - 1);
    if (exponent == kExponentMax) return double_of_bits(sign | kDoubleInf | fraction << (52 - MantissaBits));
    if (exponent == 0 && fraction == 0) return double_of_bits(sign);
    uint32_t lowered = 0;
    if (exponent == 0) {  // subnormal here, normal as a double: bring the top bit to its position
      exponent = 1;
      while (!(fraction >> MantissaBits)) fraction <<= 1, ++lowered;
      fraction &= (1u << MantissaBits) - 1;
    }
    const uint64_t wide_exponent = exponent + 1023 - static_cast<uint32_t>(kBias) - lowered;
    return double_of_bits(sign | wide_exponent << 52 | fraction << (52 - MantissaBits));
  }

  // Rounded once to nearest even. Any NaN becomes the quiet NaN without sign or payload.
  GSORT_HOST_DEVICE static uint16_t from_double(double x) {
    const uint64_t bits = bits_of_double(x);
    const uint16_t sign = static_cast<uint16_t>((bits >> 63) << 15);
    const uint64_t magnitude = bits & ~kDoubleSign;
    if (magnitude > kDoubleInf) return kQuietNan;
    const int32_t exponent = static_cast<int32_t>(magnitude >> 52) - 1023;
    if (exponent > kBias) return sign | kInfinity;
    // Steps of the smallest normal's binade above it; below it the mantissa is shifted instead.
    const int32_t steps = exponent - (1 - kBias);
    const uint32_t shift = 52 - MantissaBits + (steps < 0 ? static_cast<uint32_t>(-steps) : 0);
    if (shift > 53) return sign;  // under half of the smallest subnormal; a double's subnormals too
    const uint64_t mantissa = (magnitude & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 52;
    uint64_t kept = mantissa >> shift;
    const uint64_t rest = mantissa & ((uint64_t{1} << shift) - 1), half = uint64_t{1} << (shift - 1);
    if (rest > half || (rest == half && (kept & 1))) ++kept;
    // The mantissa's own top bit adds the missing 1 to the exponent; a carry goes on to infinity rightly.
    const uint64_t small = (static_cast<uint64_t>(steps < 0 ? 0 : steps) << MantissaBits) + kept;
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(small));
  }
};

using Half = SmallFloat<5, 10>;
using BFloat16 = SmallFloat<8, 7>;

}  // namespace gsort_internal

#endif  // GSORT_CORE_HALF_H_
