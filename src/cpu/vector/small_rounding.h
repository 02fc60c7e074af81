// SPDX-License-Identifier: MIT OR Apache-2.0
// How doubles become 2-byte floats by one addition, which vector kernels and the engine without them do alike.
#ifndef GSORT_CPU_VECTOR_SMALL_ROUNDING_H_
#define GSORT_CPU_VECTOR_SMALL_ROUNDING_H_

#include <cstdint>

#include "core/half.h"

namespace gsort_internal {

// The sum of a double's magnitude and 2^52 of the units that the small float (core/half.h) has in the double's binade
// is rounded to such a unit by the processor, to nearest even, and its last bits are the number of units. A binade
// further is an exponent more; the units' leading bit adds 1 to it, and a carry one more.
template <class Small>
struct SmallRounding {
  static constexpr uint64_t power_bits(int32_t exponent) { return static_cast<uint64_t>(exponent + 1023) << 52; }

  static constexpr uint32_t kShift = 52 - Small::kMantissaBits;
  static constexpr uint64_t kLeastNormal = power_bits(1 - Small::kBias);  // below it units are no smaller
  static constexpr uint64_t kBound = power_bits(Small::kBias + 1);        // from here on there are infinities
  static constexpr uint64_t kToUnits = uint64_t{kShift} << 52;            // of a binade's power, added to its bits
  static constexpr uint16_t kExcess = static_cast<uint16_t>(kToUnits + (kLeastNormal >> kShift));

  // As Small::from_double(), without branches but for NaNs.
  static uint16_t round(double x) {
    if (x != x) return Small::kQuietNan;
    const uint64_t bits = bits_of_double(x), magnitude = bits & ~kDoubleSign;
    const uint64_t bounded = magnitude < kBound ? magnitude : kBound, power = bounded & kDoubleInf,
                   binade = power > kLeastNormal ? power : kLeastNormal,
                   units = bits_of_double(double_of_bits(bounded) + double_of_bits(binade + kToUnits));
    const uint64_t small = (binade >> kShift) + (units - binade) - kExcess;
    return static_cast<uint16_t>(static_cast<uint16_t>(small) | static_cast<uint16_t>(bits >> 48 & 0x8000));
  }

  // As Small::to_double() but for the signs and the payloads of NaNs. A number's bits as the first ones of a double are
  // the same power of two below it, whatever number it is.
  static double widen(uint16_t bits) {
    const uint16_t magnitude = bits & 0x7fff;
    if (magnitude >= Small::kInfinity) return Small::to_double(bits);
    const double small =
        double_of_bits(uint64_t{magnitude} << kShift) * double_of_bits(power_bits(1023 - Small::kBias));
    return double_of_bits(bits_of_double(small) | uint64_t{static_cast<uint16_t>(bits & 0x8000)} << 48);
  }
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_SMALL_ROUNDING_H_
