// SPDX-License-Identifier: MIT OR Apache-2.0
// Whether the input is in order as it stands.
#ifndef GSORT_TOOLS_CHECK_COMMAND_H_
#define GSORT_TOOLS_CHECK_COMMAND_H_

#include "job.h"
#include "source.h"

// Lines, and elements of one row, are read piece by piece and compared, within the memory that may be used; rows of an
// array along an axis are read whole. Return exit codes; what is out of order is told, unless that is not wanted.
int check_lines_run(const job *j, source *s);
int check_elements_run(const job *j, file_format format);

#endif  // GSORT_TOOLS_CHECK_COMMAND_H_
