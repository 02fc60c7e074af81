// SPDX-License-Identifier: MIT OR Apache-2.0
// Commands that treat an array as one row; those that go along an axis are in array_rows.c.
#include "array_commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array_rows.h"
#include "npy.h"
#include "order_check.h"
#include "ordered_elements.h"
#include "report.h"
#include "results.h"

static int sort_flat(job *j, array *in) {
  in->dimensions = 1;
  in->extents[0] = in->count;
  in->fortran_order = false;
  return job_check(j, gsort_sort(j->g, in->type->dtype, in->data, in->data, in->count, j->opt->lines.flags));
}

static bool equal_elements(const array *a, uint64_t i, uint64_t k) {
  return memcmp(array_at(a, i), array_at(a, k), a->type->size_bytes) == 0;
}

void array_keep_first(array *a) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < a->count;) {
    uint64_t end = i + 1;
    while (end < a->count && equal_elements(a, i, end)) end++;
    memmove(array_at(a, kept++), array_at(a, i), a->type->size_bytes);
    i = end;
  }
  a->count = kept;
  a->extents[0] = kept;
}

static int run_unique(job *j, array *in) {
  const int code = sort_flat(j, in);
  if (code != exit_ok) return code;
  array_keep_first(in);
  return results_write_array(&j->out, j->opt->output_format, in);
}

static uint64_t count_different(const array *a) {
  uint64_t different = a->count > 0;
  for (uint64_t i = 1; i < a->count; i++) different += !equal_elements(a, i - 1, i);
  return different;
}

// count, median and percentile.
static int run_ordered(job *j, array *in) {
  if (in->count == 0 && j->opt->command != command_count) return report_failure("there are no numbers");
  int code = sort_flat(j, in);
  if (code == exit_ok && j->opt->output_format == format_npy) {
    const array values = array_make(in->type, count_different(in), NULL);
    code = npy_write_pair_header(&j->out, "count", &values);
  }
  ordered_elements o;
  ordered_elements_begin(&o, j, in->type, in->count);
  if (code == exit_ok) code = ordered_elements_take(&o, in);
  return code == exit_ok ? ordered_elements_end(&o) : code;
}

int array_check_order(const job *j, const char *name, const array *a, uint64_t first) {
  if (a->count < 2) return exit_ok;
  const uint64_t pairs = a->count - 1;
  const uint64_t right = order_first_wrong(a->type, j->opt->lines.flags, false, a->data, array_at(a, 1), pairs);
  if (right == pairs) return exit_ok;
  return report_failure("%s: element %" PRIu64 ", counted from 0, is not in order", name, first + right + 1);
}

static int run(job *j, array *in) {
  switch (j->opt->command) {
    case command_count:
    case command_percentile:
    case command_median:
      return run_ordered(j, in);
    case command_sort:
      if (j->opt->unique) return run_unique(j, in);
      return array_rows_run(j, in);
    default:
      return array_rows_run(j, in);
  }
}

int array_command_run(job *j, array *in) {
  int code = job_open_output(j);
  if (code == exit_ok) code = job_start(j, in->count);
  return code == exit_ok ? run(j, in) : code;
}
