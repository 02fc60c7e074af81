// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes results in any of the three formats.
#ifndef GSORT_TOOLS_RESULTS_H_
#define GSORT_TOOLS_RESULTS_H_

#include "input.h"
#include "output.h"
#include "types.h"

// All return an exit code.
int results_write_array(output *out, file_format format, const array *a);

// Index and value side by side: "index<TAB>value" lines, or records of a u64 and an element.
int results_write_pairs(output *out, file_format format, const uint64_t *indices, const array *values);

#endif  // GSORT_TOOLS_RESULTS_H_
