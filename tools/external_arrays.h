// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts, or merges, raw and .npy files of one dimension that memory does not hold, and what comes through a pipe, of
// which that is not known before it is read.
#ifndef GSORT_TOOLS_EXTERNAL_ARRAYS_H_
#define GSORT_TOOLS_EXTERNAL_ARRAYS_H_

#include "job.h"

// Whether the input of a sort is a pipe, or that of either is files of one dimension that are larger than the memory
// that may be used.
bool external_arrays_wanted(const options *opt, file_format format);

// Sorts or merges them. Return exit codes.
int external_arrays_sort(job *j, file_format format);
int external_arrays_merge(job *j, file_format format);

#endif  // GSORT_TOOLS_EXTERNAL_ARRAYS_H_
