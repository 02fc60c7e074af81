// SPDX-License-Identifier: MIT OR Apache-2.0
// 16-bit floats: f16 (5 exponent bits, 10 mantissa bits) and bf16 (8 and 7), told apart by the mantissa bits.
#ifndef GSORT_TOOLS_HALF_H_
#define GSORT_TOOLS_HALF_H_

#include <stdbool.h>
#include <stdint.h>

// Rounds a double that is not NaN to the nearest, ties to even; too great a value becomes infinity. `*tie` tells
// whether the value lay exactly between two neighbours, where an earlier rounding could have misled this one.
uint16_t half_from_double(double value, int mantissa_bits, bool *tie);

// Exact. NaNs become a NaN.
double half_to_double(uint16_t half, int mantissa_bits);

#endif  // GSORT_TOOLS_HALF_H_
