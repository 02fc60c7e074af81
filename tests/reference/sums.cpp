// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reference/sums.h"

#include <cmath>

namespace gsort_test {
namespace {

constexpr uint32_t kUnitExponent = 1074;  // units are 2^-1074, the least double
constexpr uint64_t kQuietNan = 0x7ff8000000000000u;
constexpr uint64_t kInfinity = 0x7ff0000000000000u;
constexpr uint64_t kSign = 0x8000000000000000u;

struct Parts {
  uint64_t significand;
  uint32_t shift;  // the value is significand * 2^(shift - 1074)
};

Parts split(const ElementType &type, uint64_t bits) {
  const uint64_t fraction = bits & ((uint64_t{1} << type.fraction_bits) - 1);
  const auto exponent = static_cast<uint32_t>(bits >> type.fraction_bits & ((uint64_t{1} << type.exponent_bits) - 1));
  const uint32_t bias = (1u << (type.exponent_bits - 1)) - 1;
  const uint32_t scale = exponent == 0 ? 1 : exponent;
  const uint64_t significand = exponent == 0 ? fraction : fraction | uint64_t{1} << type.fraction_bits;
  return {significand, scale + kUnitExponent - bias - type.fraction_bits};
}

uint64_t bits_of(double value) { return load_bits(&value, 8); }

// Rounds units + remainder / divisor to the nearest double, ties to even. `remainder` is below `divisor`.
uint64_t round_units(const BigInteger &units, uint64_t remainder, uint64_t divisor) {
  const uint32_t length = units.bit_length();
  if (length <= 53) {
    // One unit is the distance between doubles here, so the remainder alone decides.
    uint64_t whole = units.bits_from(0);
    const uint64_t rest = divisor - remainder;
    if (remainder > rest || (remainder == rest && (whole & 1) != 0)) whole++;
    return bits_of(std::ldexp(static_cast<double>(whole), -static_cast<int>(kUnitExponent)));
  }
  const uint32_t dropped = length - 53;
  uint64_t top = units.bits_from(dropped);
  const bool half = units.bit(dropped - 1);
  const bool beyond = remainder != 0 || units.any_bit_below(dropped - 1);
  if (half && (beyond || (top & 1) != 0)) top++;
  return bits_of(std::ldexp(static_cast<double>(top), static_cast<int>(dropped) - static_cast<int>(kUnitExponent)));
}

}  // namespace

void ExactSum::add_float(const ElementType &type, uint64_t bits) {
  const bool negative = (bits & type.sign_bit()) != 0;
  if (is_nan(type.id, bits)) {
    nan_ = true;
  } else if (is_infinity(type.id, bits)) {
    (negative ? negative_infinity_ : positive_infinity_) = true;
  } else {
    const Parts parts = split(type, bits);
    (negative ? negative_ : positive_).add(parts.significand, parts.shift);
  }
  if (bits != type.sign_bit()) only_negative_zeros_ = false;
}

void ExactSum::add(gsort_dtype t, uint64_t bits) {
  const ElementType &type = element_type(t);
  empty_ = false;
  if (type.is_float) return add_float(type, bits);
  only_negative_zeros_ = false;
  const bool negative = type.is_signed && (bits & type.sign_bit()) != 0;
  const uint64_t magnitude = negative ? type.mask() - bits + 1 : bits;
  (negative ? negative_ : positive_).add(magnitude, kUnitExponent);
}

uint64_t ExactSum::rounded(uint64_t divisor) const {
  if (nan_ || (positive_infinity_ && negative_infinity_)) return kQuietNan;
  if (positive_infinity_) return kInfinity;
  if (negative_infinity_) return kInfinity | kSign;
  const int side = positive_.compare(negative_);
  if (side == 0) return only_negative_zeros_ && !empty_ ? kSign : 0;
  BigInteger units = side > 0 ? positive_ : negative_;
  units.subtract(side > 0 ? negative_ : positive_);
  const uint64_t remainder = divisor == 1 ? 0 : units.divide(divisor);
  return round_units(units, remainder, divisor) | (side > 0 ? 0 : kSign);
}

uint64_t reference_sum(const Array &in) {
  const ElementType &type = element_type(in.type());
  if (type.is_float) {
    ExactSum sum;
    for (uint64_t i = 0; i < in.size(); i++) sum.add(in.type(), in.get(i));
    return sum.rounded();
  }
  uint64_t sum = 0;
  for (uint64_t i = 0; i < in.size(); i++) {
    const uint64_t bits = in.get(i);
    const bool negative = type.is_signed && (bits & type.sign_bit()) != 0;
    sum += negative ? bits | ~type.mask() : bits;
  }
  return sum;
}

uint64_t reference_mean(const Array &in) {
  if (in.size() == 0) return kQuietNan;
  ExactSum sum;
  for (uint64_t i = 0; i < in.size(); i++) sum.add(in.type(), in.get(i));
  return sum.rounded(in.size());
}

uint64_t reference_reduce(uint32_t op, const Array &in, uint32_t flags) {
  if (op == GSORT_MEAN) return reference_mean(in);
  const bool wants_index = op == GSORT_ARGMIN || op == GSORT_ARGMAX;
  const uint32_t order = flags | (op == GSORT_MAX || op == GSORT_ARGMAX ? GSORT_DESCENDING : 0u);
  if (in.size() == 0) return wants_index ? UINT64_MAX : last_element(in.type(), order);
  uint64_t best = 0;
  for (uint64_t i = 1; i < in.size(); i++) {
    if (order_number(in.type(), in.get(i), order) < order_number(in.type(), in.get(best), order)) best = i;
  }
  return wants_index ? best : in.get(best);
}

Array reference_integer_scan(const Array &in, uint32_t flags) {
  Array out(in.type(), in.size());
  uint64_t sum = 0;
  for (uint64_t i = 0; i < in.size(); i++) {
    const uint64_t before = sum;
    sum += in.get(i);
    out.set(i, (flags & GSORT_EXCLUSIVE) != 0 ? before : sum);
  }
  return out;
}

double float_value(gsort_dtype t, uint64_t bits) {
  const ElementType &type = element_type(t);
  const double sign = (bits & type.sign_bit()) != 0 ? -1.0 : 1.0;
  if (is_nan(t, bits)) return std::nan("");
  if (is_infinity(t, bits)) return sign * HUGE_VAL;
  const Parts parts = split(type, bits & ~type.sign_bit());
  return sign * std::ldexp(static_cast<double>(parts.significand),
                           static_cast<int>(parts.shift) - static_cast<int>(kUnitExponent));
}

}  // namespace gsort_test
