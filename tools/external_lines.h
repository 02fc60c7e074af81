// SPDX-License-Identifier: MIT OR Apache-2.0
// Sort, count, median and percentile of lines, also of more than memory holds.
#ifndef GSORT_TOOLS_EXTERNAL_LINES_H_
#define GSORT_TOOLS_EXTERNAL_LINES_H_

#include "job.h"
#include "source.h"

// Runs the command on all that the source gives, by whole(j, lines) where memory holds it. Returns an exit code.
int external_lines_run(job *j, source *s, const line_rules *rules, int (*whole)(job *j, lines *l));

#endif  // GSORT_TOOLS_EXTERNAL_LINES_H_
