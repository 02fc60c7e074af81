// SPDX-License-Identifier: MIT OR Apache-2.0
// Merges sorted runs of elements in a file, in rounds as line_merge.h describes them. Equal elements are the same bits,
// so their order does not matter.
#ifndef GSORT_TOOLS_ARRAY_MERGE_H_
#define GSORT_TOOLS_ARRAY_MERGE_H_

#include "job.h"
#include "scratch.h"

typedef struct array_merge {
  job *j;
  const type_info *type;
  const scratch *runs;
  uint64_t target_bytes;               // that lie before the result in its file, as far as that is known
  uint64_t limit_bytes;                // for all blocks and what is gathered from them
  uint64_t merged_bytes, total_bytes;  // of the progress
} array_merge;

// Gives `count` runs from `first` on, as one, to take(context, elements) piece by piece. Returns an exit code.
int array_merge_run(array_merge *m, uint64_t first, uint64_t count, int (*take)(void *context, const array *piece),
                    void *context);

#endif  // GSORT_TOOLS_ARRAY_MERGE_H_
