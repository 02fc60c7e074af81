// SPDX-License-Identifier: MIT OR Apache-2.0
// The sum of elements that come in pieces, and sum and mean of files of elements, which are made while they are read.
#ifndef GSORT_TOOLS_ELEMENT_SUM_H_
#define GSORT_TOOLS_ELEMENT_SUM_H_

#include "exact_sum.h"
#include "input.h"
#include "job.h"

typedef struct element_sum {
  exact_sum floats;
  wide_integer integers;
  uint64_t count;
} element_sum;

void element_sum_clear(element_sum *s);
void element_sum_add(element_sum *s, const array *piece, unsigned threads);

// Writes the sum, or the mean, as the command asks, of elements of this type, as gsort_sum() and gsort_reduce() define
// them. Opens the output. Returns an exit code.
int element_sum_write(job *j, element_sum *s, const type_info *type);

// Whether sum or mean of raw or .npy input is made while it is read. Otherwise the library has to have all of it.
bool element_sum_wanted(const options *opt);
int element_sum_run(job *j, file_format format);

#endif  // GSORT_TOOLS_ELEMENT_SUM_H_
