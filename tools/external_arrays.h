// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts raw and .npy files of one dimension that memory does not hold.
#ifndef GSORT_TOOLS_EXTERNAL_ARRAYS_H_
#define GSORT_TOOLS_EXTERNAL_ARRAYS_H_

#include "job.h"

// Whether the files are such ones and larger than the memory that may be used.
bool external_arrays_wanted(const options *opt, file_format format);

// Sorts them. Returns an exit code.
int external_arrays_sort(job *j, file_format format);

#endif  // GSORT_TOOLS_EXTERNAL_ARRAYS_H_
