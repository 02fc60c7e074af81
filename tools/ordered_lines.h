// SPDX-License-Identifier: MIT OR Apache-2.0
// What count, median and percentile make of lines that come in order, piece by piece.
#ifndef GSORT_TOOLS_ORDERED_LINES_H_
#define GSORT_TOOLS_ORDERED_LINES_H_

#include "job.h"
#include "lines.h"
#include "ordered_elements.h"

// A line that outlives the memory that it came from.
typedef struct kept_line {
  char *text;
  size_t capacity;
} kept_line;

int kept_line_set(kept_line *kept, const char *line);

typedef struct ordered_lines {
  job *j;
  lines of;        // how lines are compared; it has none itself
  uint64_t at;     // lines that have come
  uint64_t equal;  // count: how many of them are equal to `first`, the last of them among these
  kept_line first;
  int place_count;
  uint64_t places[places_max];  // of the lines that the command asks for
  kept_line picked[places_max];
} ordered_lines;

// `total`: how many lines will come, at least one. The output is open.
void ordered_lines_begin(ordered_lines *o, job *j, const line_rules *rules, key_mode mode, uint64_t total);

// Takes whole lines, without a gap. `context` is an ordered_lines. Returns an exit code, as does the next one.
int ordered_lines_take(void *context, const char *text, size_t bytes);
int ordered_lines_end(ordered_lines *o);

void ordered_lines_free(ordered_lines *o);

#endif  // GSORT_TOOLS_ORDERED_LINES_H_
