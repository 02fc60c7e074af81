// SPDX-License-Identifier: MIT OR Apache-2.0
// Sort, merge, count, median and percentile of raw and .npy files that memory does not hold, and of what comes through
// a pipe, of which that is not known before it is read. Files are sorted and merged if they have one dimension.
#ifndef GSORT_TOOLS_EXTERNAL_ARRAYS_H_
#define GSORT_TOOLS_EXTERNAL_ARRAYS_H_

#include "job.h"

// Whether the input is a pipe, but that of a merge, or files that are larger than the memory that may be used.
bool external_arrays_wanted(const options *opt, file_format format);

// The first runs all but the merge. Return exit codes.
int external_arrays_sort(job *j, file_format format);
int external_arrays_merge(job *j, file_format format);

#endif  // GSORT_TOOLS_EXTERNAL_ARRAYS_H_
