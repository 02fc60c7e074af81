// SPDX-License-Identifier: MIT OR Apache-2.0
#include "progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { bar_cells = 40, line_cells = bar_cells + 24 };
static const double first_draw_s = 0.5;  // Shorter work needs no bar.
static const double redraw_s = 0.1;

typedef struct phase_rule {
  const char *name;
  double begin, part;  // of the bar
} phase_rule;

// By phase; about how the time of a long sort of text divides.
static const phase_rule whole_rules[] = {
    {"reading", 0, 0.4}, {"working", 0.4, 0.3}, {"writing", 0.7, 0.3}, {"merging", 0, 1}};
static const phase_rule piece_rules[] = {{"sorting", 0, 0.5}, {NULL, 0, 0}, {NULL, 0, 0}, {"merging", 0.5, 0.5}};

static progress_mode active_mode = progress_off;
static bool drawn = false;
static const phase_rule *rules = whole_rules;
static double next_draw_s = 0;
static pthread_mutex_t mutex =
    PTHREAD_MUTEX_INITIALIZER;  // of the two above: a failure may be told of on another thread

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
  char cells[bar_cells + 1];
  memset(cells, '.', bar_cells);
  memset(cells, '#', (size_t)(part * bar_cells));
  cells[bar_cells] = '\0';
  fprintf(stderr, "\r%s [%s] %3d %%", name, cells, (int)(part * 100));
}

static void show(const phase_rule *rule, uint64_t done, uint64_t total) {
  const double now = now_s();
  if (now < next_draw_s) return;
  next_draw_s = now + redraw_s;
  if (total > 0) {
    const double part = done < total ? (double)done / (double)total : 1;
    draw_bar(rule->name, rule->begin + rule->part * part);
  } else {
    fprintf(stderr, "\r%s %*.1f MB", rule->name, bar_cells, (double)done * 1e-6);
  }
  fflush(stderr);
  drawn = true;
}

void progress_show(progress_phase phase, uint64_t done, uint64_t total) {
  const phase_rule *rule = &rules[phase];
  if (active_mode == progress_off || rule->name == NULL) return;
  pthread_mutex_lock(&mutex);
  show(rule, done, total);
  pthread_mutex_unlock(&mutex);
}

int32_t progress_draw(void *user, uint64_t done, uint64_t total) {
  (void)user;
  if (total > 0) progress_show(phase_working, done, total);
  return 0;
}

void progress_in_pieces(bool in_pieces) { rules = in_pieces ? piece_rules : whole_rules; }

void progress_clear(void) {
  pthread_mutex_lock(&mutex);
  if (drawn) {
    fprintf(stderr, "\r%*s\r", line_cells, "");
    fflush(stderr);
  }
  drawn = false;
  pthread_mutex_unlock(&mutex);
}
