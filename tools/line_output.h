// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes lines as they were read.
#ifndef GSORT_TOOLS_LINE_OUTPUT_H_
#define GSORT_TOOLS_LINE_OUTPUT_H_

#include "lines.h"
#include "output.h"

// Lines that are gathered at a time, by one thread.
uint64_t lines_of_part(const lines *l);

// One line, with its newline.
int line_write(output *out, const char *line);

// All lines in the order of `l`, or, with `unique`, the first of those whose numbers are equal. Shows the progress.
int lines_write(output *out, const lines *l, bool unique);

#endif  // GSORT_TOOLS_LINE_OUTPUT_H_
