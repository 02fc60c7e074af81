// SPDX-License-Identifier: MIT OR Apache-2.0
// The exact sum of the numbers of a text.
#ifndef GSORT_TOOLS_TEXT_SUM_H_
#define GSORT_TOOLS_TEXT_SUM_H_

#include "lines.h"

// Prints it with all its digits. False if one of the numbers is not finite, or 18 digits do not hold all of them as
// multiples of the least decimal place that one of them has; integers may have 64 bits.
bool text_sum(const lines *l, char *text);

#endif  // GSORT_TOOLS_TEXT_SUM_H_
