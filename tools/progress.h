// SPDX-License-Identifier: MIT OR Apache-2.0
// A bar on stderr for long work: reading, the work itself, writing.
#ifndef GSORT_TOOLS_PROGRESS_H_
#define GSORT_TOOLS_PROGRESS_H_

#include <stdbool.h>
#include <stdint.h>

// auto: only if stderr is a terminal and the work has gone on for a while.
typedef enum progress_mode { progress_auto, progress_on, progress_off } progress_mode;

// Each phase is a part of the bar. Work in pieces reads, sorts and spills in the bar's first half, and merges in the
// second.
typedef enum progress_phase { phase_reading, phase_working, phase_writing, phase_merging } progress_phase;

void progress_start(progress_mode mode);

// Draws at most ten times a second. `total` 0: not known.
void progress_show(progress_phase phase, uint64_t done, uint64_t total);

// A gsort_progress_fn for phase_working; never cancels.
int32_t progress_draw(void *user, uint64_t done, uint64_t total);

// Whether the work is done in pieces: the steps of a single piece are not shown then.
void progress_in_pieces(bool in_pieces);

// Wipes the bar, if one is drawn.
void progress_clear(void);

#endif  // GSORT_TOOLS_PROGRESS_H_
