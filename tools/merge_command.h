// SPDX-License-Identifier: MIT OR Apache-2.0
// Merges files that are sorted already.
#ifndef GSORT_TOOLS_MERGE_COMMAND_H_
#define GSORT_TOOLS_MERGE_COMMAND_H_

#include "job.h"

int merge_command_run(job *j, file_format format);

#endif  // GSORT_TOOLS_MERGE_COMMAND_H_
