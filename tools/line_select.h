// SPDX-License-Identifier: MIT OR Apache-2.0
// Some of many lines.
#ifndef GSORT_TOOLS_LINE_SELECT_H_
#define GSORT_TOOLS_LINE_SELECT_H_

#include "job.h"
#include "lines.h"

// The first lines in order, at least k of them, sorted; equal ones in the order of the input. `l` must be as parsed.
int line_select(job *j, const lines *l, uint64_t k, lines *best);

// Place in `l`, from 0, of line i of `best`.
uint64_t line_index(const lines *l, const lines *best, uint64_t i);

// Place, from 0, of a percentile among `count` elements in order: the first with at least p percent up to it.
uint64_t percentile_place(uint64_t percentile, uint64_t count);

// "99.9"
void percentile_print(char *text, size_t text_bytes, uint64_t percentile);

// Writes the mean of the numbers of lines i and k: exactly if they have up to 36 digits, otherwise that of the nearest
// doubles, rounded once.
int line_write_mean(job *j, const lines *l, uint64_t i, uint64_t k);

#endif  // GSORT_TOOLS_LINE_SELECT_H_
