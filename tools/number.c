// SPDX-License-Identifier: MIT OR Apache-2.0
#include "number.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

// A key is a sign and a magnitude of 63 bits. The magnitude holds the exponent, in `exponent_slots` steps, the leading
// `key_digits` digits, and in its lowest bit whether digits other than 0 follow them. Cutting digits off never changes
// an order, only makes numbers equal, and a cut number is greater than the same digits without a rest: so a rest of 1
// bit keeps the order and tells which equal keys need to be compared in full.
// 16 digits begin with one that is not 0, so they take 9 * 10^15 values; 511 exponents of them and a bit fit into 63.
enum { key_digits = number_short_digits, exponent_slots = 512, exponent_bias = 256 };
static const uint64_t least_mantissa = UINT64_C(1000000000000000);
static const uint64_t slot_mantissas = UINT64_C(9000000000000000);
static const uint64_t sign_bit = UINT64_C(1) << 63;

static const uint64_t underflow_magnitude = 1;                                        // above 0, below slot 1; inexact
static const uint64_t overflow_magnitude = 2 * UINT64_C(9000000000000000) * 511 + 1;  // of slot 511; inexact
static const uint64_t infinity_magnitude = 2 * UINT64_C(9000000000000000) * 511 + 2;
static const uint64_t nan_magnitude = 2 * UINT64_C(9000000000000000) * 511 + 4;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool number_begins_with(const char *begin, const char *end, const char *word) {
  const size_t length = strlen(word);
  if ((size_t)(end - begin) < length) return false;
  for (size_t i = 0; i < length; i++) {
    if (tolower((unsigned char)begin[i]) != word[i]) return false;
  }
  return true;
}

static bool is_word(const char *begin, const char *end, const char *word) {
  return (size_t)(end - begin) == strlen(word) && number_begins_with(begin, end, word);
}

// nan, or nan(0x...) with hexadecimal digits, which say what a float's mantissa holds.
static bool is_nan_text(const char *at, const char *end) {
  if (is_word(at, end, "nan")) return true;
  if (!number_begins_with(at, end, "nan(0x") || end - at < 8 || end[-1] != ')') return false;
  for (at += 6; at < end - 1; at++) {
    if (!isxdigit((unsigned char)*at)) return false;
  }
  return true;
}

static void store_digits(uint64_t value, number *out) {
  char reversed[20];
  int count = 0;
  for (; value != 0; value /= 10) reversed[count++] = (char)('0' + value % 10);
  for (int i = 0; i < count; i++) out->storage[i] = reversed[count - 1 - i];
  out->digits = count == 0 ? NULL : out->storage;
  out->digits_end = out->storage + count;
  out->exponent = count;
}

static scan_result scan_hexadecimal_digits(const char *at, const char *end, bool wanted, number *out) {
  uint64_t value = 0;
  bool too_great = false;
  if (at == end) return scan_not_a_number;
  for (; at < end; at++) {
    if (!isxdigit((unsigned char)*at)) return scan_not_a_number;
    const int letter = tolower((unsigned char)*at);
    too_great = too_great || value >> 60 != 0;
    value = value << 4 | (uint64_t)(letter <= '9' ? letter - '0' : letter - 'a' + 10);
  }
  if (!wanted) return scan_hexadecimal;
  if (too_great) return scan_out_of_range;
  out->is_integer = true;
  store_digits(value, out);
  return scan_ok;
}

// e, an optional sign, digits; nothing behind them.
static scan_result scan_exponent(const char *at, const char *end, int64_t *exponent) {
  enum { digits_max = 17 };  // so that the digits of a text can be added without overflow
  const bool negative = ++at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) at++;
  if (at == end) return scan_not_a_number;
  for (const char *c = at; c < end; c++) {
    if (!is_digit(*c)) return scan_not_a_number;
  }
  while (at < end && *at == '0') at++;
  if (end - at > digits_max) return scan_exponent_too_long;
  int64_t value = 0;
  for (; at < end; at++) value = value * 10 + (*at - '0');
  *exponent = negative ? -value : value;
  return scan_ok;
}

static scan_result scan_decimal(const char *at, const char *end, number *out) {
  const char *point = NULL, *first = NULL, *after = at;
  const char *start = at;
  for (; at < end; at++) {
    if (*at == '.' && point == NULL) {
      point = at;
    } else if (is_digit(*at)) {
      if (first == NULL && *at != '0') first = at;
      after = at + 1;
    } else {
      break;
    }
  }
  if (at - start == (point != NULL)) return scan_not_a_number;  // no digit at all
  out->is_integer = at == end && point == NULL;
  int64_t power = 0;
  if (at < end) {
    if (*at != 'e' && *at != 'E') return scan_not_a_number;
    const scan_result result = scan_exponent(at, end, &power);
    if (result != scan_ok) return result;
  }
  out->digits = first;
  out->digits_end = after;
  if (first == NULL) return scan_ok;
  const char *units_end = point != NULL ? point : at;  // where the point stands, or would
  out->exponent = power + (first < units_end ? units_end - first : units_end + 1 - first);
  return scan_ok;
}

scan_result number_scan(const char *begin, const char *end, bool take_hexadecimal, number *out) {
  out->kind = number_finite;
  out->is_integer = false;
  out->digits = NULL;
  out->digits_end = NULL;
  out->exponent = 0;
  out->negative = begin < end && *begin == '-';
  if (begin < end && (*begin == '-' || *begin == '+')) begin++;
  if (begin == end) return scan_not_a_number;
  if (is_digit(*begin) || *begin == '.') {
    if (number_begins_with(begin, end, "0x")) {
      return scan_hexadecimal_digits(begin + 2, end, take_hexadecimal, out);
    }
    return scan_decimal(begin, end, out);
  }
  out->kind = is_nan_text(begin, end) ? number_nan : number_infinite;
  if (out->kind == number_nan || is_word(begin, end, "inf") || is_word(begin, end, "infinity")) return scan_ok;
  return scan_not_a_number;
}

// The next digit of a number, 0 after the last.
static int next_digit(const char **at, const char *end) {
  if (*at < end && **at == '.') (*at)++;
  return *at < end ? *(*at)++ - '0' : 0;
}

static int compare_magnitudes(const number *a, const number *b) {
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;  // the enum's order is that of the magnitudes
  if (a->kind != number_finite) return 0;
  if (a->digits == NULL || b->digits == NULL) return (a->digits != NULL) - (b->digits != NULL);
  if (a->exponent != b->exponent) return a->exponent < b->exponent ? -1 : 1;
  const char *a_at = a->digits, *b_at = b->digits;
  while (a_at < a->digits_end || b_at < b->digits_end) {
    const int difference = next_digit(&a_at, a->digits_end) - next_digit(&b_at, b->digits_end);
    if (difference != 0) return difference;
  }
  return 0;
}

static bool is_zero(const number *n) { return n->kind == number_finite && n->digits == NULL; }

int number_compare(const number *a, const number *b) {
  if (is_zero(a) && is_zero(b)) return 0;
  if (a->negative != b->negative) return a->negative ? -1 : 1;
  const int order = compare_magnitudes(a, b);
  return a->negative ? -order : order;
}

static uint64_t finite_magnitude(const number *n) {
  if (n->digits == NULL) return 0;
  if (n->exponent <= -exponent_bias) return underflow_magnitude;
  if (n->exponent >= exponent_slots - 1 - exponent_bias) return overflow_magnitude;
  const char *at = n->digits;
  uint64_t mantissa = 0;
  for (int i = 0; i < key_digits; i++) mantissa = mantissa * 10 + (uint64_t)next_digit(&at, n->digits_end);
  uint64_t rest = 0;
  while (at < n->digits_end && rest == 0) rest = next_digit(&at, n->digits_end) != 0;
  const uint64_t slot = (uint64_t)(n->exponent + exponent_bias);
  return (slot * slot_mantissas + (mantissa - least_mantissa)) * 2 + rest;
}

static uint64_t with_sign(bool negative, uint64_t magnitude) {
  return negative ? ~(sign_bit | magnitude) : sign_bit | magnitude;
}

uint64_t number_nan_key(bool negative) { return with_sign(negative, nan_magnitude); }

const uint64_t number_powers[] = {UINT64_C(1),
                                  UINT64_C(10),
                                  UINT64_C(100),
                                  UINT64_C(1000),
                                  UINT64_C(10000),
                                  UINT64_C(100000),
                                  UINT64_C(1000000),
                                  UINT64_C(10000000),
                                  UINT64_C(100000000),
                                  UINT64_C(1000000000),
                                  UINT64_C(10000000000),
                                  UINT64_C(100000000000),
                                  UINT64_C(1000000000000),
                                  UINT64_C(10000000000000),
                                  UINT64_C(100000000000000),
                                  UINT64_C(1000000000000000),
                                  UINT64_C(10000000000000000)};

// Decimal digits of a number that is not 0: those of the power of 2 at or below it, or one more.
static unsigned digits_of(uint64_t value) {
  const unsigned least = (64 - (unsigned)__builtin_clzll(value)) * 1233 >> 12;
  return least + (value >= number_powers[least]);
}

uint64_t number_short_key(bool negative, uint64_t digits, unsigned places) {
  if (digits == 0) return with_sign(false, 0);
  const unsigned count = digits_of(digits);
  const uint64_t slot = count + exponent_bias - places;
  const uint64_t mantissa = digits * number_powers[key_digits - count];
  return with_sign(negative, (slot * slot_mantissas + (mantissa - least_mantissa)) * 2);
}

uint64_t number_key(const number *n) {
  if (n->kind == number_nan) return number_nan_key(n->negative);
  if (n->kind == number_infinite) return with_sign(n->negative, infinity_magnitude);
  const uint64_t magnitude = finite_magnitude(n);
  return with_sign(n->negative && magnitude != 0, magnitude);
}

bool number_key_is_exact(uint64_t key) { return ((key & sign_bit) != 0 ? key & 1 : ~key & 1) == 0; }
