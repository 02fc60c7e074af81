// SPDX-License-Identifier: MIT OR Apache-2.0
// Threads for the tool's own loops over text.
#ifndef GSORT_TOOLS_PARALLEL_H_
#define GSORT_TOOLS_PARALLEL_H_

#include <stdint.h>

enum { parallel_parts_max = 64 };

// `wanted`, or one a processor that this program may use if it is 0; at most parallel_parts_max.
unsigned parallel_threads(uint32_t wanted);

// Calls work(context, part) once for each part below `parts`, each on a thread of its own, and waits. Where a thread
// cannot be made the caller's does its part.
void parallel_run(unsigned parts, void (*work)(void *context, unsigned part), void *context);

#endif  // GSORT_TOOLS_PARALLEL_H_
