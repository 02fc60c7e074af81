// SPDX-License-Identifier: MIT OR Apache-2.0
// Merges runs of lines that are each in order. A block of each run is in memory. In each round the run whose block ends
// first in the order gives its whole block, every other run what comes before that end. These lines are divided into
// parts by binary searches, and the parts are merged by several threads and written. What a run reads is read in
// blocks, one after another.
#ifndef GSORT_TOOLS_LINE_MERGE_H_
#define GSORT_TOOLS_LINE_MERGE_H_

#include "job.h"
#include "lines.h"

typedef struct line_run {
  source s;
  lines block;
  uint64_t at;  // the first of the block's lines that is not written yet
} line_run;

typedef struct line_merge {
  const line_rules *rules;
  line_run *runs;  // equal lines come in the order of the runs
  int run_count;
  key_mode mode;         // the least that holds all runs' numbers, as far as known
  uint64_t block_bytes;  // memory for each run
  bool check_order;      // refuse a run that is not in order
  bool unique;
  uint64_t written_bytes, total_bytes;  // of the progress; total 0: not known
} line_merge;

// Returns an exit code. The runs' sources are open before and closed afterwards.
int line_merge_run(line_merge *m, output *out);

#endif  // GSORT_TOOLS_LINE_MERGE_H_
