// SPDX-License-Identifier: MIT OR Apache-2.0
// Everything that a command works with.
#ifndef GSORT_TOOLS_JOB_H_
#define GSORT_TOOLS_JOB_H_

#include "gsort.h"
#include "library_memory.h"
#include "options.h"
#include "output.h"

typedef struct job {
  const options *opt;
  gsort *g;
  output out;
  library_memory *memory;  // for a sort in pieces; NULL: the library's own
} job;

// The library's handle, made when it is first needed for `count` elements. Returns an exit code.
int job_start(job *j, uint64_t count);

// Ends it, and gives the memory back that it holds; job_start() makes another.
void job_stop(job *j);

// Prints the library's sentence if a call failed. Returns an exit code.
int job_check(const job *j, gsort_status status);

// Opens the output. Called after the input was understood and before the work, so that a folder that cannot be written
// to is known early.
int job_open_output(job *j);

// malloc() of an array, one byte more, since malloc(0) may return NULL. NULL after a sentence that names `what`.
void *job_allocate(uint64_t count, size_t element_bytes, const char *what);

#endif  // GSORT_TOOLS_JOB_H_
