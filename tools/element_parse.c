// SPDX-License-Identifier: MIT OR Apache-2.0
#include <ctype.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "half.h"

static scan_result parse_integer(const number *n, const type_info *type, void *element) {
  if (!n->is_integer) return scan_not_a_number;
  uint64_t magnitude = 0;
  for (const char *at = n->digits; at != NULL && at < n->digits_end; at++) {
    const uint64_t digit = (uint64_t)(*at - '0');
    if (magnitude > (UINT64_MAX - digit) / 10) return scan_out_of_range;
    magnitude = magnitude * 10 + digit;
  }
  const uint64_t all_ones = UINT64_MAX >> (64 - 8 * type->size_bytes);
  uint64_t limit = all_ones;
  if (type->kind == kind_signed) limit = n->negative ? all_ones / 2 + 1 : all_ones / 2;
  if (type->kind == kind_unsigned && n->negative) limit = 0;
  if (magnitude > limit) return scan_out_of_range;
  const uint64_t bits = n->negative ? 0 - magnitude : magnitude;
  memcpy(element, &bits, type->size_bytes);  // The low bytes: little-endian machines only, as the library.
  return scan_ok;
}

static int exponent_bits_of(const type_info *type) { return (int)type->size_bytes * 8 - 1 - type->mantissa_bits; }

// nan, -nan, or nan(0x...) with the mantissa's bits, so that a payload survives.
static scan_result parse_nan(const char *begin, const char *end, bool negative, const type_info *type, void *element) {
  uint64_t mantissa = UINT64_C(1) << (type->mantissa_bits - 1);
  const char *at = memchr(begin, 'x', (size_t)(end - begin));
  if (at == NULL) at = memchr(begin, 'X', (size_t)(end - begin));
  if (at != NULL) {
    mantissa = 0;
    for (at++; at < end - 1; at++) {
      const int letter = tolower((unsigned char)*at);
      if (mantissa >> 60 != 0) return scan_out_of_range;
      mantissa = mantissa << 4 | (uint64_t)(letter <= '9' ? letter - '0' : letter - 'a' + 10);
    }
    if (mantissa == 0 || mantissa >> type->mantissa_bits != 0) return scan_out_of_range;
  }
  const uint64_t exponent = (UINT64_C(1) << exponent_bits_of(type)) - 1;
  const uint64_t sign = negative ? 1 : 0;
  const uint64_t bits = sign << (type->size_bytes * 8 - 1) | exponent << type->mantissa_bits | mantissa;
  memcpy(element, &bits, type->size_bytes);
  return scan_ok;
}

// Of the two doubles around an inexact value the one with an odd last bit: it can never lie between two 16-bit floats,
// so rounding it again is as good as rounding the text itself (Boldo and Melquiond, "Emulation of FMA and correctly
// rounded sums: proved algorithms using rounding to odd", 2008).
static double read_odd(const char *text) {
  const int mode = fegetround();
  fesetround(FE_DOWNWARD);
  const double below = strtod(text, NULL);
  fesetround(FE_UPWARD);
  const double above = strtod(text, NULL);
  fesetround(mode);
  uint64_t bits;
  memcpy(&bits, &below, sizeof bits);
  return (bits & 1u) != 0 ? below : above;
}

static uint16_t read_half(const char *text, int mantissa_bits) {
  bool tie;
  const uint16_t half = half_from_double(strtod(text, NULL), mantissa_bits, &tie);
  return tie ? half_from_double(read_odd(text), mantissa_bits, &tie) : half;
}

// `text` is a finite number that number_scan() understood. False if it is too great for the type.
static bool read_finite(const char *text, const type_info *type, void *element) {
  if (type->size_bytes == sizeof(uint16_t)) {
    const uint16_t half = read_half(text, type->mantissa_bits);
    memcpy(element, &half, sizeof half);
    return !isinf(half_to_double(half, type->mantissa_bits));
  }
  if (type->size_bytes == sizeof(float)) {
    const float value = strtof(text, NULL);  // Straight to float: by way of a double it would be rounded twice.
    memcpy(element, &value, sizeof value);
    return !isinf(value);
  }
  const double value = strtod(text, NULL);
  memcpy(element, &value, sizeof value);
  return !isinf(value);
}

static scan_result parse_finite(const char *begin, const char *end, const number *n, const type_info *type,
                                void *element) {
  char buffer[128];
  const bool hexadecimal = n->digits == n->storage;
  if (hexadecimal) {
    begin = n->digits;
    end = n->digits_end;
  }
  // A copy of its own, so that whatever follows the number, a column's separator perhaps, is not read as part of it.
  const size_t length = (size_t)(end - begin), sign = hexadecimal && n->negative ? 1 : 0;
  char *text = sign + length < sizeof buffer ? buffer : malloc(sign + length + 1);
  if (text == NULL) return scan_out_of_range;
  text[0] = '-';
  memcpy(text + sign, begin, length);
  text[sign + length] = '\0';
  const bool fits = read_finite(text, type, element);
  if (text != buffer) free(text);
  return fits ? scan_ok : scan_out_of_range;
}

static void store_infinity(bool negative, const type_info *type, void *element) {
  const uint64_t exponent = ((UINT64_C(1) << exponent_bits_of(type)) - 1) << type->mantissa_bits;
  const uint64_t bits = exponent | (uint64_t)negative << (type->size_bytes * 8 - 1);
  memcpy(element, &bits, type->size_bytes);
}

scan_result element_parse(const char *begin, const char *end, bool take_hexadecimal, const type_info *type,
                          void *element) {
  number n;
  const scan_result result = number_scan(begin, end, take_hexadecimal, &n);
  if (result != scan_ok) return result;
  if (type->kind != kind_float) return parse_integer(&n, type, element);
  if (n.kind == number_nan) return parse_nan(begin, end, n.negative, type, element);
  if (n.kind == number_finite) return parse_finite(begin, end, &n, type, element);
  store_infinity(n.negative, type, element);
  return scan_ok;
}
