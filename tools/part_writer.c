// SPDX-License-Identifier: MIT OR Apache-2.0
#include "part_writer.h"

#include <stdlib.h>

#include "report.h"

bool part_grow(part_bytes *to, size_t count) {
  const size_t capacity = (to->filled + count) * 3 / 2;
  char *grown = realloc(to->bytes, capacity);
  if (grown == NULL) return false;
  to->bytes = grown;
  to->capacity = capacity;
  return true;
}

static part_bytes *slot_of(part_writer *w, uint64_t part) { return &w->slots[part % w->slot_count]; }

static void make_part(part_writer *w, uint64_t part) {
  part_bytes *to = slot_of(w, part);
  to->filled = 0;
  to->failed = false;
  w->make(w->context, part, to);
}

// Takes the next part whose slot is free. False if there is none left to make.
static bool take_part(part_writer *w, uint64_t *part) {
  while (!w->stopped && w->next < w->parts && w->next >= w->done + w->slot_count) {
    pthread_cond_wait(&w->written, &w->mutex);
  }
  *part = w->next;
  if (w->stopped || w->next >= w->parts) return false;
  w->next++;
  return true;
}

static void *make_parts(void *argument) {
  part_writer *w = argument;
  uint64_t part;
  pthread_mutex_lock(&w->mutex);
  while (take_part(w, &part)) {
    pthread_mutex_unlock(&w->mutex);
    make_part(w, part);
    pthread_mutex_lock(&w->mutex);
    slot_of(w, part)->ready = true;
    pthread_cond_signal(&w->made);
  }
  pthread_mutex_unlock(&w->mutex);
  return NULL;
}

// The caller's thread writes, and makes the parts where there is no other thread.
static void await_part(part_writer *w, uint64_t part, bool alone) {
  if (alone) {
    make_part(w, part);
    return;
  }
  pthread_mutex_lock(&w->mutex);
  while (!slot_of(w, part)->ready) pthread_cond_wait(&w->made, &w->mutex);
  pthread_mutex_unlock(&w->mutex);
}

static void release_part(part_writer *w, uint64_t part, bool stop) {
  pthread_mutex_lock(&w->mutex);
  slot_of(w, part)->ready = false;
  w->done = part + 1;
  w->stopped = stop;
  pthread_cond_broadcast(&w->written);
  pthread_mutex_unlock(&w->mutex);
}

static int write_parts(part_writer *w, bool alone) {
  int code = exit_ok;
  for (uint64_t part = 0; code == exit_ok && part < w->parts; part++) {
    if (w->show != NULL) w->show(w->context, part, w->parts);
    await_part(w, part, alone);
    const part_bytes *from = slot_of(w, part);
    code =
        from->failed ? report_failure("not enough memory to write") : output_write(w->out, from->bytes, from->filled);
    release_part(w, part, code != exit_ok);
  }
  return code;
}

part_writer *part_writer_new(output *out, unsigned threads,
                             void (*make)(void *context, uint64_t part, part_bytes *to)) {
  part_writer *w = calloc(1, sizeof *w);
  if (w == NULL) return NULL;
  w->out = out;
  w->threads = threads < parallel_parts_max ? threads : parallel_parts_max;
  w->make = make;
  w->slot_count = 2 * w->threads;
  pthread_mutex_init(&w->mutex, NULL);
  pthread_cond_init(&w->made, NULL);
  pthread_cond_init(&w->written, NULL);
  return w;
}

int part_writer_run(part_writer *w, uint64_t parts) {
  pthread_t threads[parallel_parts_max];
  const unsigned wanted = parts < w->threads ? (unsigned)parts : w->threads;
  unsigned started = 0;
  w->parts = parts;
  w->next = w->done = 0;
  w->stopped = false;
  while (wanted > 1 && started < wanted && pthread_create(&threads[started], NULL, make_parts, w) == 0) started++;
  const int code = write_parts(w, started == 0);
  for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
  for (unsigned i = 0; i < w->slot_count; i++) w->slots[i].ready = false;  // of parts that a failure left
  return code;
}

void part_writer_free(part_writer *w) {
  if (w == NULL) return;
  for (unsigned i = 0; i < part_slots_max; i++) free(w->slots[i].bytes);
  pthread_mutex_destroy(&w->mutex);
  pthread_cond_destroy(&w->made);
  pthread_cond_destroy(&w->written);
  free(w);
}
