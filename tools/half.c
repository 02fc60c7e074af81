// SPDX-License-Identifier: MIT OR Apache-2.0
#include "half.h"

#include <math.h>
#include <string.h>

enum { double_mantissa_bits = 52, double_bias = 1023, double_exponent_mask = 0x7ff };

static int exponent_bits_of(int mantissa_bits) { return 15 - mantissa_bits; }

static int bias_of(int mantissa_bits) { return (1 << (exponent_bits_of(mantissa_bits) - 1)) - 1; }

static uint16_t infinity_of(int mantissa_bits) {
  return (uint16_t)(((1u << exponent_bits_of(mantissa_bits)) - 1u) << mantissa_bits);
}

uint16_t half_from_double(double value, int mantissa_bits, bool *tie) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint16_t sign = (uint16_t)((bits >> 63) << 15);
  const int biased = (int)((bits >> double_mantissa_bits) & double_exponent_mask);
  const uint16_t infinity = infinity_of(mantissa_bits);
  *tie = false;
  if (biased == double_exponent_mask) return (uint16_t)(sign | infinity);
  if (biased == 0) return sign;  // Zero, or a subnormal double, far below half of the least 16-bit float.

  const uint64_t hidden = UINT64_C(1) << double_mantissa_bits;
  const uint64_t significand = (bits & (hidden - 1)) | hidden;
  const int exponent = biased - double_bias;
  const int exponent_min = 1 - bias_of(mantissa_bits);
  const bool normal = exponent >= exponent_min;
  const int shift = double_mantissa_bits - mantissa_bits + (normal ? 0 : exponent_min - exponent);
  if (shift > double_mantissa_bits + 2) return sign;  // Less than half of the least subnormal.

  uint64_t kept = significand >> shift;
  const uint64_t dropped = significand & ((UINT64_C(1) << shift) - 1);
  const uint64_t half_unit = UINT64_C(1) << (shift - 1);
  *tie = dropped == half_unit;
  if (dropped > half_unit || (*tie && (kept & 1u) != 0)) kept++;
  // The hidden bit in `kept` adds the last one to the exponent, and a carry out of the mantissa goes there by itself.
  const uint64_t base = normal ? (uint64_t)(exponent - exponent_min) << mantissa_bits : 0;
  const uint64_t magnitude = base + kept;
  return (uint16_t)(sign | (magnitude > infinity ? infinity : magnitude));
}

double half_to_double(uint16_t half, int mantissa_bits) {
  const int exponent_max = (1 << exponent_bits_of(mantissa_bits)) - 1;
  const int biased = (half >> mantissa_bits) & exponent_max;
  const int mantissa = half & ((1 << mantissa_bits) - 1);
  const double sign = (half & 0x8000) != 0 ? -1.0 : 1.0;
  if (biased == exponent_max) return mantissa != 0 ? NAN : sign * INFINITY;
  const int significand = biased == 0 ? mantissa : mantissa | (1 << mantissa_bits);
  const int exponent = (biased == 0 ? 1 : biased) - bias_of(mantissa_bits) - mantissa_bits;
  return sign * ldexp((double)significand, exponent);
}
