// SPDX-License-Identifier: MIT OR Apache-2.0
#include "line_output.h"

#include <stdlib.h>
#include <string.h>

#include "part_writer.h"
#include "progress.h"
#include "report.h"
#include "text_bytes.h"

// Lines lie anywhere in the text, so each is asked for this many lines before it is copied: about as many as memory
// answers at once.
enum { prefetch_lines = 24 };

// Parts of an output, each gathered by a thread.
typedef struct gathering {
  const lines *l;
  bool unique;
  uint64_t part_lines;
} gathering;

int line_write(output *out, const char *line) {
  return output_write(out, line, (size_t)(text_line_end(line) - line) + 1);
}

uint64_t lines_of_part(const lines *l) {
  enum { wanted_bytes = 1 << 19 };  // about a millisecond's work for a thread
  return l->text_bytes == 0 ? 1 : l->count * wanted_bytes / l->text_bytes + 1;
}

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

static void gather_part(void *context, uint64_t part, part_bytes *to) {
  const gathering *all = context;
  const lines *l = all->l;
  const uint64_t begin = part * all->part_lines;
  const uint64_t end = l->count - begin < all->part_lines ? l->count : begin + all->part_lines;
  for (uint64_t i = begin; i < end && !to->failed; i++) {
    prefetch(l, i);
    const char *line = lines_at(l, i);
    if (!is_written(l, all->unique, i)) continue;
    to->failed = !part_append(to, line, (size_t)(text_short_line_end(line) - line) + 1);
  }
}

static void show(void *context, uint64_t done, uint64_t all) {
  (void)context;
  progress_show(phase_writing, done, all);
}

int lines_write(output *out, const lines *l, bool unique) {
  gathering all = {l, unique, lines_of_part(l)};
  part_writer *w = part_writer_new(out, l->rules->threads, gather_part);
  if (w == NULL) return report_failure("not enough memory to write");
  w->context = &all;
  w->show = show;
  const int code = part_writer_run(w, (l->count + all.part_lines - 1) / all.part_lines);
  part_writer_free(w);
  return code;
}
