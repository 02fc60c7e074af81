// SPDX-License-Identifier: MIT OR Apache-2.0
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "half.h"

static size_t print_unsigned(char *text, uint64_t value) {
  char reversed[20];
  size_t digits = 0;
  do {
    reversed[digits++] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  for (size_t i = 0; i < digits; i++) text[i] = reversed[digits - 1 - i];
  text[digits] = '\0';
  return digits;
}

static size_t print_integer(char *text, const type_info *type, uint64_t bits) {
  const uint64_t sign_bit = UINT64_C(1) << (type->size_bytes * 8 - 1);
  if (type->kind == kind_unsigned || (bits & sign_bit) == 0) return print_unsigned(text, bits);
  text[0] = '-';
  return 1 + print_unsigned(text + 1, sign_bit - (bits & (sign_bit - 1)));
}

static size_t print_nan(char *text, const type_info *type, uint64_t bits) {
  const bool negative = bits >> (type->size_bytes * 8 - 1) != 0;
  const uint64_t mantissa = bits & ((UINT64_C(1) << type->mantissa_bits) - 1);
  const bool plain = mantissa == UINT64_C(1) << (type->mantissa_bits - 1);
  const char *sign = negative ? "-" : "";
  const int length = plain
                         ? snprintf(text, element_text_bytes_max, "%snan", sign)
                         : snprintf(text, element_text_bytes_max, "%snan(0x%llx)", sign, (unsigned long long)mantissa);
  return (size_t)length;
}

static double widen(const type_info *type, uint64_t bits, const void *element) {
  if (type->size_bytes == sizeof(uint16_t)) return half_to_double((uint16_t)bits, type->mantissa_bits);
  if (type->size_bytes == sizeof(float)) {
    float value;
    memcpy(&value, element, sizeof value);
    return (double)value;
  }
  double value;
  memcpy(&value, element, sizeof value);
  return value;
}

static bool reads_back(const char *text, const type_info *type, uint64_t bits) {
  uint64_t again = 0;
  return element_parse(text, text + strlen(text), false, type, &again) == scan_ok && again == bits;
}

// Next to a power of two the distance to the neighbours is not the same on both sides, so of the texts of one length
// the nearest to the value may belong to the nearer neighbour while the next one reads back.
static bool next_text_reads_back(char *text, int digits, double value, const type_info *type, uint64_t bits) {
  snprintf(text, element_text_bytes_max, "%.*e", digits - 1, value);
  char *last = strchr(text, 'e');
  if (last == NULL || *--last < '0' || *last >= '9') return false;  // a carry would shorten it, which was tried
  (*last)++;
  return reads_back(text, type, bits);
}

static size_t print_digits(char *text, int digits, double value) {
  char buffer[400];  // more than any precision asks for, which the compiler cannot know
  const int length = snprintf(buffer, sizeof buffer, "%.*g", digits, value);
  memcpy(text, buffer, (size_t)length + 1);
  return (size_t)length;
}

// Decimal digits that every number of the type keeps, from text and back to text: FLT_DIG, DBL_DIG and their kin.
static int kept_digits(const type_info *type) { return type->mantissa_bits * 301 / 1000; }

size_t element_print(char *text, const type_info *type, const void *element) {
  uint64_t bits = 0;
  memcpy(&bits, element, type->size_bytes);
  if (type->kind != kind_float) return print_integer(text, type, bits);
  const double value = widen(type, bits, element);
  if (isnan(value)) return print_nan(text, type, bits);
  const uint64_t mantissa = bits & ((UINT64_C(1) << type->mantissa_bits) - 1);
  const uint64_t exponent =
      bits >> type->mantissa_bits & ((UINT64_C(1) << (type->size_bytes * 8 - 1 - type->mantissa_bits)) - 1);
  // A normal number whose shortest text has up to kept_digits() digits is printed as that text with as many digits,
  // since %g leaves out zeros at the end. Subnormal numbers have fewer digits, so each length is tried.
  int digits = exponent == 0 ? 1 : kept_digits(type);
  for (; digits < type->decimal_digits; digits++) {
    print_digits(text, digits, value);
    if (reads_back(text, type, bits)) return strlen(text);
    if (mantissa == 0 && next_text_reads_back(text, digits, value, type, bits)) return strlen(text);
  }
  return print_digits(text, type->decimal_digits, value);
}
