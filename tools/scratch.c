// SPDX-License-Identifier: MIT OR Apache-2.0
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

static char *choose_folder(const options *opt) {
  if (opt->temporary_folder != NULL) return strdup(opt->temporary_folder);
  const char *path = opt->output_path;
  if (path == NULL || strcmp(path, "-") == 0) {
    const char *folder = getenv("TMPDIR");
    return strdup(folder != NULL && folder[0] != '\0' ? folder : "/tmp");
  }
  const char *slash = strrchr(path, '/');
  return slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
}

int scratch_open(scratch *s, const options *opt) {
  memset(s, 0, sizeof *s);
  s->file.fd = -1;
  s->folder = choose_folder(opt);
  return s->folder != NULL ? output_open_scratch(&s->file, s->folder) : report_failure("not enough memory");
}

// What is read past the page cache begins with a whole block.
static int end_block(scratch *s) {
  static const char zeros[past_cache_block_bytes];
  const uint64_t in_block = s->file.written_bytes % past_cache_block_bytes;
  const size_t missing = s->file.direct.begun && in_block > 0 ? (size_t)(past_cache_block_bytes - in_block) : 0;
  int code = output_write(&s->file, zeros, missing);
  if (code == exit_ok) code = output_flush(&s->file);
  s->run_begin = s->file.written_bytes;
  return code;
}

int scratch_end_run(scratch *s) {
  run_place *runs = realloc(s->runs, (size_t)(s->run_count + 1) * sizeof *runs);
  if (runs == NULL) return report_failure("not enough memory");
  s->runs = runs;
  s->runs[s->run_count++] = (run_place){s->run_begin, s->file.written_bytes};
  s->runs_bytes += s->file.written_bytes - s->run_begin;
  return end_block(s);
}

// One round: every `fan_in` runs become one. The runs of the round before lie in front of the file's new ones.
static int reduce_once(scratch *s, uint64_t fan_in,
                       int (*merge)(void *context, uint64_t first, uint64_t count, output *to), void *context) {
  uint64_t made = 0;
  int code = exit_ok;
  for (uint64_t first = 0; code == exit_ok && first < s->run_count; first += fan_in) {
    const uint64_t left = s->run_count - first, count = left < fan_in ? left : fan_in;
    if (count == 1) {
      s->runs[made++] = s->runs[first];
      continue;
    }
    code = merge(context, first, count, &s->file);
    s->runs[made++] = (run_place){s->run_begin, s->file.written_bytes};  // at or before the runs merged already
    if (code == exit_ok) code = end_block(s);
  }
  s->run_count = made;
  return code;
}

int scratch_reduce(scratch *s, uint64_t fan_in, int (*merge)(void *context, uint64_t first, uint64_t count, output *to),
                   void *context) {
  int code = exit_ok;
  while (code == exit_ok && s->run_count > fan_in) code = reduce_once(s, fan_in, merge, context);
  return code;
}

uint64_t scratch_passes(uint64_t runs, uint64_t fan_in) {
  uint64_t passes = 1;
  for (; runs > fan_in; runs = (runs + fan_in - 1) / fan_in) passes++;
  return passes;
}

void scratch_close(scratch *s) {
  output_close(&s->file);
  free(s->runs);
  free(s->folder);
  memset(s, 0, sizeof *s);
  s->file.fd = -1;
}
