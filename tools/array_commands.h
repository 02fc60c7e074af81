// SPDX-License-Identifier: MIT OR Apache-2.0
// Commands on arrays of elements of one type.
#ifndef GSORT_TOOLS_ARRAY_COMMANDS_H_
#define GSORT_TOOLS_ARRAY_COMMANDS_H_

#include "job.h"
#include "types.h"

// Runs any command but merge and info. Returns an exit code.
int array_command_run(job *j, array *in);

// One element of each value. The elements are sorted.
void array_keep_first(array *a);

// A sentence about the first element that is not in order, if there is one; `first` is the number of a's first one.
int array_check_order(const job *j, const char *name, const array *a, uint64_t first);

#endif  // GSORT_TOOLS_ARRAY_COMMANDS_H_
