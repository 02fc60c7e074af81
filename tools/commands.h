// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tool does: read, work, write.
#ifndef GSORT_TOOLS_COMMANDS_H_
#define GSORT_TOOLS_COMMANDS_H_

#include "options.h"

// Runs sort, argsort, topk, sum or info. Returns an exit code.
int command_run(const options *opt);

#endif  // GSORT_TOOLS_COMMANDS_H_
