// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reference/order.h"

namespace gsort_test {
namespace {

uint64_t magnitude_of(const ElementType &type, uint64_t bits) { return bits & (type.mask() ^ type.sign_bit()); }

uint64_t infinity_magnitude(const ElementType &type) {
  return ((uint64_t{1} << type.exponent_bits) - 1) << type.fraction_bits;
}

// totalOrder puts floats of one sign in the order of their magnitude bits, and -0 just before +0.
Int128 float_number(const ElementType &type, uint64_t bits) {
  const Int128 magnitude = magnitude_of(type, bits);
  return (bits & type.sign_bit()) != 0 ? -magnitude - 1 : magnitude;
}

Int128 integer_number(const ElementType &type, uint64_t bits) {
  const Int128 value = bits;
  const bool negative = type.is_signed && (bits & type.sign_bit()) != 0;
  return negative ? value - (Int128{1} << type.bits()) : value;
}

}  // namespace

bool is_nan(gsort_dtype t, uint64_t bits) {
  const ElementType &type = element_type(t);
  return type.is_float && magnitude_of(type, bits) > infinity_magnitude(type);
}

bool is_infinity(gsort_dtype t, uint64_t bits) {
  const ElementType &type = element_type(t);
  return type.is_float && magnitude_of(type, bits) == infinity_magnitude(type);
}

Int128 order_number(gsort_dtype t, uint64_t bits, uint32_t flags) {
  const ElementType &type = element_type(t);
  // Beyond every other number in either direction; among NaNs the bits ascend in either direction.
  if ((flags & GSORT_NAN_LAST) != 0 && is_nan(t, bits)) return (Int128{1} << 100) + static_cast<Int128>(bits);
  const Int128 number = type.is_float ? float_number(type, bits) : integer_number(type, bits);
  return (flags & GSORT_DESCENDING) != 0 ? -number : number;
}

uint64_t last_element(gsort_dtype t, uint32_t flags) {
  const ElementType &type = element_type(t);
  const bool descending = (flags & GSORT_DESCENDING) != 0;
  if (type.is_float && (flags & GSORT_NAN_LAST) != 0) return type.mask();
  if (type.is_float) return descending ? type.mask() : type.mask() ^ type.sign_bit();
  if (type.is_signed) return descending ? type.sign_bit() : type.mask() ^ type.sign_bit();
  return descending ? 0 : type.mask();
}

}  // namespace gsort_test
