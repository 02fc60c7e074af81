// SPDX-License-Identifier: MIT OR Apache-2.0
// Decimal numbers of any length, as they stand in a text: understood, compared exactly, and made into 64-bit keys.
#ifndef GSORT_TOOLS_NUMBER_H_
#define GSORT_TOOLS_NUMBER_H_

#include <stdbool.h>
#include <stdint.h>

typedef enum number_kind { number_finite, number_infinite, number_nan } number_kind;

// The value of a finite number is 0.d1d2d3... x 10^exponent. Points into the text, so it is not to be copied where
// `digits` points into `storage`.
typedef struct number {
  number_kind kind;
  bool negative;
  bool is_integer;         // written as digits alone, or in hexadecimal
  const char *digits;      // the first digit that is not 0; NULL: the number is zero
  const char *digits_end;  // after the last digit; one '.' may stand between
  int64_t exponent;
  char storage[24];  // the decimal digits of a hexadecimal number
} number;

typedef enum scan_result {
  scan_ok,
  scan_not_a_number,
  scan_hexadecimal,        // 0x..., which is taken only if it was asked for
  scan_exponent_too_long,  // more digits than an exponent of 64 bits holds
  scan_out_of_range        // of hexadecimal digits more than 64 bits
} scan_result;

// Understands the characters from `begin` to `end`: an optional sign, digits with at most one point, an optional
// exponent; or inf, infinity, nan, nan(0x...). Nothing may stand around them.
scan_result number_scan(const char *begin, const char *end, bool take_hexadecimal, number *out);

// < 0, 0 or > 0. -nan < -inf < ... < inf < nan; -0 equals 0, and NaNs of one sign are equal.
int number_compare(const number *a, const number *b);

// A key that orders as the number does: a < b makes key(a) <= key(b). Equal keys that are exact are equal numbers;
// an exact and an inexact key are never equal.
uint64_t number_key(const number *n);
bool number_key_is_exact(uint64_t key);

// The same key of an integer of so many digits at most, divided by 10^places, of which there are no more either.
enum { number_short_digits = 16 };
extern const uint64_t number_powers[number_short_digits + 1];  // of 10
uint64_t number_short_key(bool negative, uint64_t digits, unsigned places);

// Keys of NaNs, for orders that put them last.
uint64_t number_nan_key(bool negative);

// `text` begins with `word`, in any case of letters. `word` is lower case.
bool number_begins_with(const char *begin, const char *end, const char *word);

#endif  // GSORT_TOOLS_NUMBER_H_
