// SPDX-License-Identifier: MIT OR Apache-2.0
// Sum and mean of the numbers of a text, made while it is read.
#ifndef GSORT_TOOLS_TEXT_SUM_H_
#define GSORT_TOOLS_TEXT_SUM_H_

#include "job.h"
#include "source.h"

// The sum is printed with all its digits, unless one of the numbers is not finite, or 18 digits do not hold all of them
// as multiples of the least decimal place that one of them has; integers may have 64 bits. Then, and for the mean, they
// are those of integers of 64 bits if all numbers are such, otherwise of doubles. Returns an exit code.
int text_sum_run(job *j, source *s);

#endif  // GSORT_TOOLS_TEXT_SUM_H_
