// SPDX-License-Identifier: MIT OR Apache-2.0
// A bar on stderr for long work.
#ifndef GSORT_TOOLS_PROGRESS_H_
#define GSORT_TOOLS_PROGRESS_H_

#include <stdint.h>

// auto: only if stderr is a terminal and the work has gone on for a while.
typedef enum progress_mode { progress_auto, progress_on, progress_off } progress_mode;

void progress_start(progress_mode mode);

// A gsort_progress_fn; draws at most a few times a second and never cancels.
int32_t progress_draw(void *user, uint64_t done, uint64_t total);

// Wipes the bar, if one is drawn.
void progress_clear(void);

#endif  // GSORT_TOOLS_PROGRESS_H_
