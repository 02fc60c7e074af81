// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums that never round, as the library keeps them: numbers may come piece by piece, in any order.
#ifndef GSORT_TOOLS_EXACT_SUM_H_
#define GSORT_TOOLS_EXACT_SUM_H_

#include <stdint.h>

#include "number_units.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct exact_sum {
  uint64_t state[72];
} exact_sum;

void exact_sum_clear(exact_sum *s);
void exact_sum_add(exact_sum *s, const double *values, uint64_t count);

// Adds an integer that is itself the sum of `count` numbers.
void exact_sum_add_integer(exact_sum *s, wide_integer value, uint64_t count);
void exact_sum_add_all(exact_sum *s, const exact_sum *other);

// Both end the sum: rounded once, with the rules of gsort_sum() for NaNs, infinities and -0; of no numbers 0 and NaN.
double exact_sum_rounded(exact_sum *s);
double exact_sum_mean(exact_sum *s);

#ifdef __cplusplus
}
#endif

#endif  // GSORT_TOOLS_EXACT_SUM_H_
