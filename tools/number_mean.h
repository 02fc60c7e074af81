// SPDX-License-Identifier: MIT OR Apache-2.0
// The mean of two decimal numbers, exactly.
#ifndef GSORT_TOOLS_NUMBER_MEAN_H_
#define GSORT_TOOLS_NUMBER_MEAN_H_

#include "number.h"

enum { number_mean_bytes_max = 64 };

// Prints it with all its digits. False if one of the two is not finite or needs more than 36 digits.
bool number_mean(const number *a, const number *b, char *text);

#endif  // GSORT_TOOLS_NUMBER_MEAN_H_
