// SPDX-License-Identifier: MIT OR Apache-2.0
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "half.h"
#include "text.h"

static size_t print_unsigned(char *text, uint64_t number) {
  char reversed[20];
  size_t digits = 0;
  do {
    reversed[digits++] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
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
                         ? snprintf(text, text_element_bytes_max, "%snan", sign)
                         : snprintf(text, text_element_bytes_max, "%snan(0x%llx)", sign, (unsigned long long)mantissa);
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

size_t text_print_element(char *text, const type_info *type, const void *element) {
  uint64_t bits = 0;
  memcpy(&bits, element, type->size_bytes);
  if (type->kind != kind_float) return print_integer(text, type, bits);
  const double value = widen(type, bits, element);
  if (isnan(value)) return print_nan(text, type, bits);
  const int length = snprintf(text, text_element_bytes_max, "%.*g", type->decimal_digits, value);
  return (size_t)length;
}
