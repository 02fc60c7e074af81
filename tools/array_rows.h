// SPDX-License-Identifier: MIT OR Apache-2.0
// Commands that work along an axis of an array.
#ifndef GSORT_TOOLS_ARRAY_ROWS_H_
#define GSORT_TOOLS_ARRAY_ROWS_H_

#include "job.h"
#include "types.h"

// Runs sort, argsort, rank, topk, scan, sum, mean, min or max. Returns an exit code.
int array_rows_run(job *j, array *in);

#endif  // GSORT_TOOLS_ARRAY_ROWS_H_
