// SPDX-License-Identifier: MIT OR Apache-2.0
// A bar on stderr for long work: reading, the work itself, writing.
#ifndef GSORT_TOOLS_PROGRESS_H_
#define GSORT_TOOLS_PROGRESS_H_

#include <stdint.h>

// auto: only if stderr is a terminal and the work has gone on for a while.
typedef enum progress_mode { progress_auto, progress_on, progress_off } progress_mode;

// In the order in which they come. Spilling and merging are steps of a sort that does not fit into memory.
typedef enum progress_phase {
  phase_reading,
  phase_working,
  phase_spilling,
  phase_merging,
  phase_writing
} progress_phase;

void progress_start(progress_mode mode);

// Draws at most ten times a second. `total` 0: not known.
void progress_show(progress_phase phase, uint64_t done, uint64_t total);

// A gsort_progress_fn for phase_working; never cancels.
int32_t progress_draw(void *user, uint64_t done, uint64_t total);

// The library's own steps are not shown while a sort in pieces is: the pieces are.
void progress_hold(int32_t held);

// Wipes the bar, if one is drawn.
void progress_clear(void);

#endif  // GSORT_TOOLS_PROGRESS_H_
