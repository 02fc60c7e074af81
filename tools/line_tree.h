// SPDX-License-Identifier: MIT OR Apache-2.0
// Merges stretches of lines, each in order, by a tree of losers (Knuth, The Art of Computer Programming, volume 3,
// section 5.4.1): each line passes one comparison for each doubling of the number of stretches.
#ifndef GSORT_TOOLS_LINE_TREE_H_
#define GSORT_TOOLS_LINE_TREE_H_

#include "lines.h"
#include "part_writer.h"

// Lines `at` to `end` of `block`.
typedef struct line_stretch {
  const lines *block;
  uint64_t at, end;
} line_stretch;

// Appends the lines of all `count` stretches in order, of equal ones those of earlier stretches first, or, with
// `unique`, the first alone. The blocks have keys of one mode. False for want of memory.
bool line_tree_merge(line_stretch *stretches, unsigned count, bool unique, part_bytes *to);

#endif  // GSORT_TOOLS_LINE_TREE_H_
