// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts lines, also more of them than memory holds.
#ifndef GSORT_TOOLS_EXTERNAL_LINES_H_
#define GSORT_TOOLS_EXTERNAL_LINES_H_

#include "job.h"
#include "source.h"

// Sorts all that the source gives into the output. Returns an exit code.
int external_lines_sort(job *j, source *s, const line_rules *rules);

#endif  // GSORT_TOOLS_EXTERNAL_LINES_H_
