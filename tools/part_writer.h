// SPDX-License-Identifier: MIT OR Apache-2.0
// Output whose parts are made by several threads and written in their order; while some parts are made, those before
// them are written.
#ifndef GSORT_TOOLS_PART_WRITER_H_
#define GSORT_TOOLS_PART_WRITER_H_

#include <stdbool.h>
#include <string.h>

#include "output.h"
#include "parallel.h"

typedef struct part_bytes {
  char *bytes;
  size_t filled, capacity;
  bool failed;  // for want of memory
} part_bytes;

bool part_grow(part_bytes *to, size_t count);

// False for want of memory.
static inline bool part_append(part_bytes *to, const char *bytes, size_t count) {
  if (count > to->capacity - to->filled && !part_grow(to, count)) return false;
  memcpy(to->bytes + to->filled, bytes, count);
  to->filled += count;
  return true;
}

// Begins as zeroes but for the first three.
typedef struct part_writer {
  output *out;
  unsigned threads;
  void *context;
  void (*make)(void *context, uint64_t part, part_bytes *to);  // on any thread
  void (*show)(void *context, uint64_t done, uint64_t all);    // parts that are written, for the progress; may be NULL

  uint64_t parts, first;  // of the set that is made
  unsigned made, ready;   // parts in the set that is made, and in the one before it
  bool turn;              // which of the two is made
  int code;               // of the writes
  part_bytes sets[2][parallel_parts_max];
} part_writer;

// Makes and writes parts 0 to `parts` - 1. Returns an exit code. The memory is kept for the next call.
int part_writer_run(part_writer *w, uint64_t parts);
void part_writer_free(part_writer *w);

#endif  // GSORT_TOOLS_PART_WRITER_H_
