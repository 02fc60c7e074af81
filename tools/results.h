// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes results in any of the three formats.
#ifndef GSORT_TOOLS_RESULTS_H_
#define GSORT_TOOLS_RESULTS_H_

#include "input.h"
#include "output.h"
#include "types.h"

// All return an exit code. Text has an element a line; of more than one dimension, the last one's elements on a line
// with tabs between.
int results_write_array(output *out, file_format format, const array *a);

// A number and an element side by side: "number<TAB>value" lines, or records of a u64, of this name in a .npy file, and
// an element. Shaped as `values`.
int results_write_pairs(output *out, file_format format, const char *name, const uint64_t *numbers,
                        const array *values);

#endif  // GSORT_TOOLS_RESULTS_H_
