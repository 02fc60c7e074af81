// SPDX-License-Identifier: MIT OR Apache-2.0
// Commands on lines of text, which are printed as they were.
#ifndef GSORT_TOOLS_LINE_COMMANDS_H_
#define GSORT_TOOLS_LINE_COMMANDS_H_

#include "job.h"
#include "source.h"

// Runs sort, argsort, rank, topk, count, merge, min, max, median or percentile. Returns an exit code.
int line_command_run(job *j, source *s);

#endif  // GSORT_TOOLS_LINE_COMMANDS_H_
