// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorted runs in a file without a name.
#ifndef GSORT_TOOLS_SCRATCH_H_
#define GSORT_TOOLS_SCRATCH_H_

#include "options.h"
#include "output.h"

typedef struct run_place {
  uint64_t begin, end;  // bytes of the file
} run_place;

typedef struct scratch {
  output file;
  uint64_t run_begin;   // of the next one
  uint64_t runs_bytes;  // of all runs that were ended
  run_place *runs;
  uint64_t run_count;
  char *folder;
} scratch;

// Beside the output file, otherwise in $TMPDIR or /tmp, unless an option names a folder. Return exit codes.
int scratch_open(scratch *s, const options *opt);

// What was written to the file since the last run ended is a run.
int scratch_end_run(scratch *s);

// Calls merge(context, first, count, to) for `fan_in` runs after another until no more than that many are left, each
// time with the file as the target; the merged runs are then one. They stay in order.
int scratch_reduce(scratch *s, uint64_t fan_in, int (*merge)(void *context, uint64_t first, uint64_t count, output *to),
                   void *context);

// How often scratch_reduce() and a last merge together read everything.
uint64_t scratch_passes(uint64_t runs, uint64_t fan_in);

void scratch_close(scratch *s);

#endif  // GSORT_TOOLS_SCRATCH_H_
