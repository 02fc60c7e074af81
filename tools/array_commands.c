// SPDX-License-Identifier: MIT OR Apache-2.0
// Commands that treat an array as one row; those that go along an axis are in array_rows.c.
#include "array_commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array_rows.h"
#include "element.h"
#include "line_select.h"
#include "number_units.h"
#include "order.h"
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

void array_keep_first(array *a, uint64_t *counts) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < a->count;) {
    uint64_t end = i + 1;
    while (end < a->count && equal_elements(a, i, end)) end++;
    if (counts != NULL) counts[kept] = end - i;
    memmove(array_at(a, kept++), array_at(a, i), a->type->size_bytes);
    i = end;
  }
  a->count = kept;
  a->extents[0] = kept;
}

static int run_unique(job *j, array *in) {
  const int code = sort_flat(j, in);
  if (code != exit_ok) return code;
  array_keep_first(in, NULL);
  return results_write_array(&j->out, j->opt->output_format, in);
}

static int run_count(job *j, array *in) {
  int code = sort_flat(j, in);
  uint64_t *counts = code == exit_ok ? job_allocate(in->count, sizeof *counts, "counts") : NULL;
  if (counts == NULL) return exit_failed;
  array_keep_first(in, counts);
  if (j->opt->output_format != format_text) {
    code = results_write_pairs(&j->out, j->opt->output_format, "count", counts, in);
  }
  char text[element_text_bytes_max];
  for (uint64_t i = 0; code == exit_ok && j->opt->output_format == format_text && i < in->count; i++) {
    element_print(text, in->type, array_at(in, i));
    code = output_format(&j->out, "%7" PRIu64 " %s\n", counts[i], text);
  }
  free(counts);
  return code;
}

static int write_element(job *j, const char *label, const array *a, uint64_t i) {
  char text[element_text_bytes_max];
  element_print(text, a->type, array_at(a, i));
  return output_format(&j->out, "%s%s%s\n", label, label[0] != '\0' ? "\t" : "", text);
}

static int run_percentile(job *j, array *in) {
  if (in->count == 0) return report_failure("there are no numbers");
  int code = sort_flat(j, in);
  for (int i = 0; code == exit_ok && i < j->opt->percentile_count; i++) {
    char label[32];
    percentile_print(label, sizeof label, j->opt->percentiles[i]);
    code = write_element(j, label, in, percentile_place(j->opt->percentiles[i], in->count));
  }
  return code;
}

int array_write_mean(job *j, const type_info *type, const void *elements, uint64_t n) {
  double mean = 0;
  char text[element_text_bytes_max];
  const int code = job_check(j, gsort_reduce(j->g, GSORT_MEAN, type->dtype, elements, n, &mean, 0));
  element_print(text, type_by_dtype(GSORT_F64), &mean);
  return code == exit_ok ? output_format(&j->out, "%s\n", text) : code;
}

static int run_median(job *j, array *in) {
  if (in->count == 0) return report_failure("there are no numbers");
  const int code = sort_flat(j, in);
  if (code != exit_ok) return code;
  const uint64_t middle = in->count / 2;
  if (in->count % 2 != 0 || equal_elements(in, middle - 1, middle)) return write_element(j, "", in, middle);
  if (in->type->kind == kind_float) return array_write_mean(j, in->type, array_at(in, middle - 1), 2);
  char a[element_text_bytes_max], b[element_text_bytes_max];
  number x, y;
  number_scan(a, a + element_print(a, in->type, array_at(in, middle - 1)), false, &x);
  number_scan(b, b + element_print(b, in->type, array_at(in, middle)), false, &y);
  char text[units_text_bytes_max];
  (void)number_mean(&x, &y, text);  // Integers of 64 bits are within its limits.
  return output_format(&j->out, "%s\n", text);
}

int array_check_order(const job *j, const char *name, const array *a, uint64_t first) {
  const uint32_t flags = j->opt->lines.flags;
  for (uint64_t i = 1; i < a->count; i++) {
    if (order_key(a->type, flags, array_at(a, i - 1)) > order_key(a->type, flags, array_at(a, i))) {
      return report_failure("%s: element %" PRIu64 ", counted from 0, is not in order", name, first + i);
    }
  }
  return exit_ok;
}

// Whether the elements are in order as they stand.
static int run_check(const job *j, const array *in) {
  for (uint64_t i = 1; i < in->count; i++) {
    const uint64_t before = order_key(in->type, j->opt->lines.flags, array_at(in, i - 1));
    const uint64_t here = order_key(in->type, j->opt->lines.flags, array_at(in, i));
    if (before < here || (before == here && !j->opt->unique)) continue;
    if (j->opt->check == check_quiet) return exit_failed;
    return report_failure("%s: element %" PRIu64 ", counted from 0, is not in order: %s",
                          j->opt->path_count > 0 ? j->opt->paths[0] : "standard input", i,
                          before == here ? "it was there before" : "it belongs before the one ahead of it");
  }
  return exit_ok;
}

static int run(job *j, array *in) {
  switch (j->opt->command) {
    case command_count:
      return run_count(j, in);
    case command_percentile:
      return run_percentile(j, in);
    case command_median:
      return run_median(j, in);
    case command_sort:
      if (j->opt->unique) return run_unique(j, in);
      return array_rows_run(j, in);
    default:
      return array_rows_run(j, in);
  }
}

int array_command_run(job *j, array *in) {
  if (j->opt->check != check_off) return run_check(j, in);
  int code = job_open_output(j);
  if (code == exit_ok) code = job_start(j, in->count);
  return code == exit_ok ? run(j, in) : code;
}
