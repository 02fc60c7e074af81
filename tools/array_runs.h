// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorted runs of elements in a temporary file, of which the result of sort, merge, count, median or percentile is made.
#ifndef GSORT_TOOLS_ARRAY_RUNS_H_
#define GSORT_TOOLS_ARRAY_RUNS_H_

#include "array_merge.h"
#include "job.h"
#include "library_memory.h"
#include "scratch.h"

// The first three are the caller's.
typedef struct array_runs {
  job *j;
  const type_info *type;
  uint64_t limit_bytes;

  scratch runs;
  array_merge merge;
  library_memory memory;
  char last[sizeof(uint64_t)];  // with --unique the last element that was written
  bool any;
} array_runs;

// Says why the result of --unique, or of count, cannot be written piece by piece, if it cannot. Returns an exit code.
int array_runs_check_output(const options *opt);

// Opens the output and the temporary file: runs are written to the latter, each with scratch_end_run(). From here on
// memory that is given back counts no longer. Returns an exit code.
int array_runs_begin(array_runs *e);

// Merges them into the result. Returns an exit code.
int array_runs_merge(array_runs *e);

// Follows array_runs_begin() in any case.
void array_runs_end(array_runs *e);

// Work in so much memory writes files as long as half of it at least, which the disk may as well have at once.
enum { past_cache_bytes_min = 1 << 26 };

#endif  // GSORT_TOOLS_ARRAY_RUNS_H_
