// SPDX-License-Identifier: MIT OR Apache-2.0
#include "number_units.h"

#include <math.h>
#include <stddef.h>

__extension__ typedef unsigned __int128 wide_natural;

bool number_in_units(const number *n, int scale, wide_integer *units) {
  enum { digits_max = 36 };
  *units = 0;
  if (n->kind != number_finite) return false;
  if (n->digits == NULL) return true;
  const int64_t wanted = n->exponent + scale;  // digits of the integer
  if (wanted > digits_max) return false;
  int64_t taken = 0;
  for (const char *at = n->digits; at < n->digits_end; at++) {
    if (*at == '.') continue;
    if (taken < wanted) {
      *units = *units * 10 + (*at - '0');
    } else if (*at != '0') {
      return false;
    }
    taken++;
  }
  for (; taken < wanted; taken++) *units *= 10;
  if (n->negative) *units = -*units;
  return true;
}

void number_print_units(wide_integer units, int scale, char *text) {
  char digits[48];
  int count = 0;
  const bool negative = units < 0;
  if (negative) units = -units;
  for (; units != 0 || count <= scale; units /= 10) digits[count++] = (char)('0' + (int)(units % 10));
  int length = 0;
  if (negative) text[length++] = '-';
  while (count > 0) {
    if (count == scale) text[length++] = '.';
    text[length++] = digits[--count];
  }
  if (scale > 0) {
    while (text[length - 1] == '0') length--;
    if (text[length - 1] == '.') length--;
  }
  text[length] = '\0';
}

bool number_mean(const number *a, const number *b, char *text) {
  enum { scale_max = 35 };
  wide_integer x, y;
  for (int scale = 0; scale <= scale_max; scale++) {
    if (!number_in_units(a, scale, &x) || !number_in_units(b, scale, &y)) continue;
    number_print_units((x + y) * 5, scale + 1, text);
    return true;
  }
  return false;
}

// The double next to (1 + a little, if `inexact`) * bits * 2^exponent, of which the highest bit is set; ties go to
// even.
static double rounded(uint64_t bits, bool inexact, int exponent) {
  enum { dropped = 64 - 53 };
  const uint64_t rest = bits & ((1u << dropped) - 1), half = 1u << (dropped - 1);
  uint64_t kept = bits >> dropped;
  if (rest > half || (rest == half && (inexact || (kept & 1) != 0))) kept++;
  return ldexp((double)kept, exponent + dropped);
}

double number_quotient(wide_integer units, int scale, uint64_t count) {
  const uint64_t top = (uint64_t)1 << 63;
  const bool negative = units < 0;
  wide_natural quotient, rest, divisor = count;
  int exponent = 0;
  bool inexact = false;
  if (units == 0) return 0;
  for (int i = 0; i < scale; i++) divisor *= 10;
  rest = negative ? 0 - (wide_natural)units : (wide_natural)units;
  quotient = rest / divisor;
  rest %= divisor;
  for (; quotient > UINT64_MAX; quotient >>= 1, exponent++) inexact = inexact || (quotient & 1) != 0;
  // As in a division on paper, a binary digit at a time.
  while (quotient < top) {
    rest *= 2;
    quotient = 2 * quotient + (rest >= divisor);
    if (rest >= divisor) rest -= divisor;
    exponent--;
  }
  const double magnitude = rounded((uint64_t)quotient, inexact || rest != 0, exponent);
  return negative ? -magnitude : magnitude;
}
