// SPDX-License-Identifier: MIT OR Apache-2.0
#include "part_writer.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

bool part_grow(part_bytes *to, size_t count) {
  const size_t capacity = (to->filled + count) * 3 / 2;
  char *grown = realloc(to->bytes, capacity);
  if (grown == NULL) return false;
  to->bytes = grown;
  to->capacity = capacity;
  return true;
}

static void write_ready(part_writer *w) {
  const part_bytes *set = w->sets[!w->turn];
  for (unsigned i = 0; w->code == exit_ok && i < w->ready; i++) {
    w->code = set[i].failed ? report_failure("not enough memory to write")
                            : output_write(w->out, set[i].bytes, set[i].filled);
  }
}

static void make_part(part_writer *w, unsigned index) {
  part_bytes *to = &w->sets[w->turn][index];
  to->filled = 0;
  to->failed = false;
  w->make(w->context, w->first + index, to);
}

// Step 0 is the caller's: only there is anything reported or drawn.
static void run_step(void *context, unsigned step) {
  part_writer *w = context;
  if (step == 0) {
    write_ready(w);
  } else {
    make_part(w, step - 1);
  }
}

static void run_set(part_writer *w) {
  if (w->threads > 1 && w->made + (w->ready > 0) > 1) {
    parallel_run(w->made + 1, run_step, w);
  } else {
    for (unsigned step = 0; step <= w->made; step++) run_step(w, step);
  }
}

int part_writer_run(part_writer *w, uint64_t parts) {
  // One of the threads that parallel_run() can start is the writer.
  const unsigned most = w->threads < parallel_parts_max ? w->threads : parallel_parts_max - 1;
  w->code = exit_ok;
  w->ready = 0;
  for (w->first = 0; w->code == exit_ok && (w->first < parts || w->ready > 0); w->first += w->made) {
    const uint64_t left = parts - w->first;
    w->made = left < most ? (unsigned)left : most;
    run_set(w);
    if (w->show != NULL) w->show(w->context, w->first, parts);
    w->ready = w->made;
    w->turn = !w->turn;
  }
  return w->code;
}

void part_writer_free(part_writer *w) {
  for (unsigned i = 0; i < parallel_parts_max; i++) {
    free(w->sets[0][i].bytes);
    free(w->sets[1][i].bytes);
  }
}
