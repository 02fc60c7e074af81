// SPDX-License-Identifier: MIT OR Apache-2.0
#include "line_output.h"

#include <string.h>

#include "progress.h"
#include "report.h"

// Lines lie anywhere in the text, so each is asked for this many lines before it is copied: about as many as memory
// answers at once.
enum { prefetch_lines = 24, shown_lines = 1 << 16 };

int line_write(output *out, const char *line) {
  const char *end = memchr(line, '\n', SIZE_MAX / 2);
  return output_write(out, line, (size_t)(end - line) + 1);
}

static inline void prefetch(const char *at) {
#if defined(__GNUC__)
  __builtin_prefetch(at);
#else
  (void)at;
#endif
}

int lines_write(output *out, const lines *l, bool unique) {
  int code = exit_ok;
  for (uint64_t i = 0; code == exit_ok && i < l->count; i++) {
    if (i + prefetch_lines < l->count) prefetch(lines_at(l, i + prefetch_lines));
    if (i % shown_lines == 0) progress_show(phase_writing, i, l->count);
    if (!unique || i == 0 || lines_compare(l, i - 1, l, i) != 0) code = line_write(out, lines_at(l, i));
  }
  return code;
}
