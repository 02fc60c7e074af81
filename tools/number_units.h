// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums and means of decimal numbers, exactly: as integers that count units of 10^-scale.
#ifndef GSORT_TOOLS_NUMBER_UNITS_H_
#define GSORT_TOOLS_NUMBER_UNITS_H_

#include "number.h"

__extension__ typedef __int128 wide_integer;

// The number in units of 10^-scale. False if that is no integer of up to 36 digits, of which 128 bits hold sums.
bool number_in_units(const number *n, int scale, wide_integer *units);

// Prints units of 10^-scale as a decimal number without zeros at its end.
enum { units_text_bytes_max = 64 };
void number_print_units(wide_integer units, int scale, char *text);

// units / (10^scale * count), rounded once. The divisor must be below 2^127.
double number_quotient(wide_integer units, int scale, uint64_t count);

// Prints the mean with all its digits. False if one of the two is not finite or needs more than 36 digits.
bool number_mean(const number *a, const number *b, char *text);

#endif  // GSORT_TOOLS_NUMBER_UNITS_H_
