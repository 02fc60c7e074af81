// SPDX-License-Identifier: MIT OR Apache-2.0
#include "line_output.h"

#include <stdlib.h>
#include <string.h>

#include "parallel.h"
#include "progress.h"
#include "report.h"

// Lines lie anywhere in the text, so each is asked for this many lines before it is copied: about as many as memory
// answers at once.
enum { prefetch_lines = 24 };

// A thread gathers this many lines at a time, which takes it about a millisecond and half a megabyte. Fewer lines in
// all than some such parts are not worth the threads.
enum { part_lines = 1 << 15, parallel_lines_min = 8 * part_lines };

typedef struct part_bytes {
  char *bytes;
  size_t filled, capacity;
  bool failed;
} part_bytes;

// Parts of lines from `first` on, each gathered by a thread and then written in their order.
typedef struct gathering {
  const lines *l;
  bool unique;
  uint64_t first;
  part_bytes parts[parallel_parts_max];
} gathering;

static size_t line_bytes(const char *line) {
  return (size_t)((const char *)memchr(line, '\n', SIZE_MAX / 2) - line) + 1;
}

int line_write(output *out, const char *line) { return output_write(out, line, line_bytes(line)); }

static inline void prefetch(const lines *l, uint64_t i) {
#if defined(__GNUC__)
  if (i + prefetch_lines < l->count) __builtin_prefetch(lines_at(l, i + prefetch_lines));
#else
  (void)l;
  (void)i;
#endif
}

static bool is_written(const lines *l, bool unique, uint64_t i) {
  return !unique || i == 0 || lines_compare(l, i - 1, l, i) != 0;
}

static bool append(part_bytes *to, const char *bytes, size_t count) {
  if (count > to->capacity - to->filled) {
    const size_t capacity = (to->filled + count) * 3 / 2;
    char *grown = realloc(to->bytes, capacity);
    if (grown == NULL) return false;
    to->bytes = grown;
    to->capacity = capacity;
  }
  memcpy(to->bytes + to->filled, bytes, count);
  to->filled += count;
  return true;
}

static void gather_part(void *context, unsigned index) {
  gathering *all = context;
  const lines *l = all->l;
  part_bytes *to = &all->parts[index];
  const uint64_t begin = all->first + (uint64_t)index * part_lines;
  const uint64_t end = begin + part_lines < l->count ? begin + part_lines : l->count;
  to->filled = 0;
  for (uint64_t i = begin; i < end && !to->failed; i++) {
    prefetch(l, i);
    const char *line = lines_at(l, i);
    if (is_written(l, all->unique, i)) to->failed = !append(to, line, line_bytes(line));
  }
}

static int write_in_parallel(output *out, const lines *l, bool unique, unsigned threads) {
  gathering *all = calloc(1, sizeof *all);
  if (all == NULL) return report_failure("not enough memory to write");
  all->l = l;
  all->unique = unique;
  int code = exit_ok;
  for (; code == exit_ok && all->first < l->count; all->first += (uint64_t)threads * part_lines) {
    progress_show(phase_writing, all->first, l->count);
    const uint64_t parts = (l->count - all->first + part_lines - 1) / part_lines;
    const unsigned used = parts < threads ? (unsigned)parts : threads;
    parallel_run(used, gather_part, all);
    for (unsigned i = 0; code == exit_ok && i < used; i++) {
      code = all->parts[i].failed ? report_failure("not enough memory to write")
                                  : output_write(out, all->parts[i].bytes, all->parts[i].filled);
    }
  }
  for (unsigned i = 0; i < threads; i++) free(all->parts[i].bytes);
  free(all);
  return code;
}

int lines_write(output *out, const lines *l, bool unique) {
  const unsigned threads = l->rules->threads;
  if (threads > 1 && l->count >= parallel_lines_min) return write_in_parallel(out, l, unique, threads);
  int code = exit_ok;
  for (uint64_t i = 0; code == exit_ok && i < l->count; i++) {
    prefetch(l, i);
    if (i % part_lines == 0) progress_show(phase_writing, i, l->count);
    if (is_written(l, unique, i)) code = line_write(out, lines_at(l, i));
  }
  return code;
}
