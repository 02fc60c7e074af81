// SPDX-License-Identifier: MIT OR Apache-2.0
// How much memory a sort may take before it uses files.
#ifndef GSORT_TOOLS_MEMORY_LIMIT_H_
#define GSORT_TOOLS_MEMORY_LIMIT_H_

#include "options.h"

// What this process may have: of the machine's memory, of its control group's and of its own limits the least.
uint64_t memory_available(void);

// --memory; without it half of that.
uint64_t memory_limit(const options *opt);

// From now on freed blocks of more than a few pages go back to the system at once, so that what one step of a sort in
// pieces has freed does not count beside what the next one takes.
void memory_return_promptly(void);

// Asks for large pages for a block that was just allocated, if it is large: its pages come more quickly, and what is
// read here and there in it is found more quickly.
void memory_use_large_pages(void *memory, uint64_t bytes);

// As malloc(), but of whole pages, of large ones if it is large.
void *memory_of_pages(uint64_t bytes);

#endif  // GSORT_TOOLS_MEMORY_LIMIT_H_
