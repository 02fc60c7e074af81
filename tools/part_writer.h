// SPDX-License-Identifier: MIT OR Apache-2.0
// Output whose parts are made by several threads and written in their order; while some parts are made, those before
// them are written.
#ifndef GSORT_TOOLS_PART_WRITER_H_
#define GSORT_TOOLS_PART_WRITER_H_

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "output.h"
#include "parallel.h"

typedef struct part_bytes {
  char *bytes;
  size_t filled, capacity;
  bool failed;  // for want of memory
  bool ready;   // made, and not written yet
} part_bytes;

bool part_grow(part_bytes *to, size_t count);

// False for want of memory.
static inline bool part_append(part_bytes *to, const char *bytes, size_t count) {
  if (count > to->capacity - to->filled && !part_grow(to, count)) return false;
  memcpy(to->bytes + to->filled, bytes, count);
  to->filled += count;
  return true;
}

// Twice as many parts as threads are held, so that none waits for the one that is written.
enum { part_slots_max = 2 * parallel_parts_max };

// The first five are the caller's.
typedef struct part_writer {
  output *out;
  unsigned threads;
  void *context;
  void (*make)(void *context, uint64_t part, part_bytes *to);  // on any thread
  void (*show)(void *context, uint64_t done, uint64_t all);    // parts that are written, for the progress; may be NULL

  pthread_mutex_t mutex;  // of all below
  pthread_cond_t made, written;
  uint64_t parts, next, done;  // how many there are, are begun, are written
  unsigned slot_count;
  bool stopped;
  part_bytes slots[part_slots_max];
} part_writer;

// NULL for want of memory.
part_writer *part_writer_new(output *out, unsigned threads, void (*make)(void *context, uint64_t part, part_bytes *to));

// Makes and writes parts 0 to `parts` - 1. Returns an exit code. The memory is kept for the next call.
int part_writer_run(part_writer *w, uint64_t parts);

void part_writer_free(part_writer *w);  // NULL is fine

#endif  // GSORT_TOOLS_PART_WRITER_H_
