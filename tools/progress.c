// SPDX-License-Identifier: MIT OR Apache-2.0
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { bar_cells = 40, line_cells = bar_cells + 24 };
static const double first_draw_s = 0.5;  // Shorter work needs no bar.
static const double redraw_s = 0.1;

static const char *const phase_names[] = {"reading", "working", "sorting", "merging", "writing"};

static progress_mode active_mode = progress_off;
static bool drawn = false;
static bool library_held = false;
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

static void draw_bar(const char *name, double part) {
  if (part > 1) part = 1;
  char cells[bar_cells + 1];
  memset(cells, '.', bar_cells);
  memset(cells, '#', (size_t)(part * bar_cells));
  cells[bar_cells] = '\0';
  fprintf(stderr, "\r%s [%s] %3d %%", name, cells, (int)(part * 100));
}

void progress_show(progress_phase phase, uint64_t done, uint64_t total) {
  if (active_mode == progress_off) return;
  const double now = now_s();
  if (now < next_draw_s) return;
  next_draw_s = now + redraw_s;
  if (total > 0) {
    draw_bar(phase_names[phase], (double)done / (double)total);
  } else {
    fprintf(stderr, "\r%s %*.1f MB", phase_names[phase], bar_cells, (double)done * 1e-6);
  }
  fflush(stderr);
  drawn = true;
}

int32_t progress_draw(void *user, uint64_t done, uint64_t total) {
  (void)user;
  if (!library_held && total > 0) progress_show(phase_working, done, total);
  return 0;
}

void progress_hold(int32_t held) { library_held = held != 0; }

void progress_clear(void) {
  if (!drawn) return;
  fprintf(stderr, "\r%*s\r", line_cells, "");
  fflush(stderr);
  drawn = false;
}
