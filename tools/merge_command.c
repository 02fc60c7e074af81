// SPDX-License-Identifier: MIT OR Apache-2.0
#include "merge_command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array_commands.h"
#include "external_arrays.h"
#include "line_merge.h"
#include "memory_limit.h"
#include "report.h"
#include "results.h"
#include "text_array.h"

static int merge_text(job *j) {
  static const char *const standard_input[] = {"-"};
  const int count = j->opt->path_count > 0 ? j->opt->path_count : 1;
  const char *const *paths = j->opt->path_count > 0 ? j->opt->paths : standard_input;
  line_merge m = {.rules = &j->opt->lines, .run_count = count, .check_order = true, .unique = j->opt->unique};
  m.block_bytes = memory_limit(j->opt) / (uint64_t)count;
  m.runs = calloc((size_t)count, sizeof *m.runs);
  int code = m.runs != NULL ? exit_ok : report_failure("not enough memory");
  for (int i = 0; code == exit_ok && i < count; i++) {
    code = source_open(&m.runs[i].s, paths + i, 1);
    m.total_bytes += m.runs[i].s.total_bytes;
  }
  if (code == exit_ok) code = job_open_output(j);
  if (code == exit_ok) code = line_merge_run(&m, &j->out);
  free(m.runs);
  return code;
}

// Text that becomes an array, beside `held_bytes` of those before it.
static int load_text(job *j, const char *path, uint64_t held_bytes, array *out) {
  source s;
  const uint64_t limit = memory_limit(j->opt);
  int code = source_open(&s, &path, 1);
  if (code == exit_ok) code = source_fill(&s, limit > held_bytes ? limit - held_bytes : 0, line_overhead_bytes);
  if (code == exit_ok && !source_ended(&s)) {
    code = report_failure(
        "merge of more text than memory holds cannot write .npy or raw: use sort, whose result is "
        "the same");
  }
  if (code == exit_ok) code = text_array_make(&s, &j->opt->lines, text_array_written, out);
  source_close(&s);
  return code;
}

static int load(job *j, const char *path, file_format format, uint64_t held_bytes, array *out) {
  int code = exit_ok;
  if (format == format_text) {
    code = load_text(j, path, held_bytes, out);
  } else {
    code = input_load(path, format, j->opt->lines.type, out);
  }
  if (code == exit_ok && out->dimensions != 1) {
    code = report_failure("%s has %" PRIu32 " dimensions: only arrays of one can be merged", path, out->dimensions);
  }
  return code == exit_ok ? array_check_order(j, path, out, 0) : code;
}

// Merges b into a.
static int merge_two(job *j, array *a, array *b, const char *path) {
  if (a->type != b->type) {
    return report_failure("%s holds %s numbers, the files before it %s: they must be of one type", path, b->type->name,
                          a->type->name);
  }
  array all =
      array_make(a->type, a->count + b->count, job_allocate(a->count + b->count, a->type->size_bytes, "elements"));
  if (all.memory == NULL) return exit_failed;
  const int code = job_check(
      j, gsort_merge(j->g, a->type->dtype, a->data, a->count, b->data, b->count, all.data, j->opt->lines.flags));
  array_free(a);
  *a = all;
  return code;
}

static int merge_arrays(job *j, file_format format) {
  const int count = j->opt->path_count > 0 ? j->opt->path_count : 1;
  array all = {0};
  int code = load(j, j->opt->path_count > 0 ? j->opt->paths[0] : "-", format, 0, &all);
  if (code == exit_ok) code = job_open_output(j);
  if (code == exit_ok) code = job_start(j, all.count * (uint64_t)count);
  for (int i = 1; code == exit_ok && i < count; i++) {
    array next = {0};
    code = load(j, j->opt->paths[i], format, all.count * all.type->size_bytes, &next);
    if (code == exit_ok) code = merge_two(j, &all, &next, j->opt->paths[i]);
    array_free(&next);
  }
  if (code == exit_ok && j->opt->unique) array_keep_first(&all);
  if (code == exit_ok) code = results_write_array(&j->out, j->opt->output_format, &all);
  array_free(&all);
  return code;
}

int merge_command_run(job *j, file_format format) {
  if (format == format_text && j->opt->output_format == format_text) return merge_text(j);
  if (external_arrays_wanted(j->opt, format)) return external_arrays_merge(j, format);
  return merge_arrays(j, format);
}
