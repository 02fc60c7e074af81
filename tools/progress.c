// SPDX-License-Identifier: MIT OR Apache-2.0
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { bar_cells = 40 };
static const double first_draw_s = 0.5;  // Shorter work needs no bar.
static const double redraw_s = 0.1;

static progress_mode active_mode = progress_off;
static bool drawn = false;
static double next_draw_s = 0;

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_start(progress_mode mode) {
  active_mode = mode == progress_auto && isatty(STDERR_FILENO) == 0 ? progress_off : mode;
  next_draw_s = now_s() + (mode == progress_on ? 0 : first_draw_s);
}

int32_t progress_draw(void *user, uint64_t done, uint64_t total) {
  (void)user;
  if (active_mode == progress_off || total == 0) return 0;
  const double now = now_s();
  if (now < next_draw_s) return 0;
  next_draw_s = now + redraw_s;
  double part = (double)done / (double)total;
  if (part > 1) part = 1;
  const int filled = (int)(part * bar_cells);
  char cells[bar_cells + 1];
  memset(cells, '.', bar_cells);
  memset(cells, '#', (size_t)filled);
  cells[bar_cells] = '\0';
  fprintf(stderr, "\r[%s] %3d %%", cells, (int)(part * 100));
  fflush(stderr);
  drawn = true;
  return 0;
}

void progress_clear(void) {
  if (!drawn) return;
  fprintf(stderr, "\r%*s\r", bar_cells + 8, "");
  fflush(stderr);
  drawn = false;
}
