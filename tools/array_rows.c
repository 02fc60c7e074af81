// SPDX-License-Identifier: MIT OR Apache-2.0
#include "array_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "report.h"
#include "results.h"

static int allocate(array *a, const char *what) {
  a->memory = job_allocate(a->count, a->type->size_bytes, what);
  a->data = a->memory;
  return a->memory != NULL ? exit_ok : exit_failed;
}

static int sort_rows(job *j, array *a, const axis_view *view) {
  const uint32_t flags = j->opt->lines.flags;
  if (view->rows <= 1) return job_check(j, gsort_sort(j->g, a->type->dtype, a->data, a->data, a->count, flags));
  uint64_t *offsets = job_allocate(view->rows + 1, sizeof *offsets, "rows");
  if (offsets == NULL) return exit_failed;
  for (uint64_t row = 0; row <= view->rows; row++) offsets[row] = row * view->columns;
  const int code =
      job_check(j, gsort_sort_segments(j->g, a->type->dtype, a->data, a->data, a->count, offsets, view->rows, flags));
  free(offsets);
  return code;
}

static int run_sort(job *j, array *in, const axis_view *view) {
  int code = axis_to_rows(in, view);
  if (code == exit_ok) code = sort_rows(j, in, view);
  if (code == exit_ok) code = axis_from_rows(in, view);
  return code == exit_ok ? results_write_array(&j->out, j->opt->output_format, in) : code;
}

static void scan_row_in_place(uint64_t *order, uint64_t *scratch, uint64_t columns) {
  memcpy(scratch, order, (size_t)columns * sizeof *order);
  for (uint64_t i = 0; i < columns; i++) order[scratch[i]] = i;
}

// The order of each row; of rows it is the top of all their columns.
static int order_rows(job *j, const array *in, const axis_view *view, uint64_t *order) {
  const uint32_t nan_last = j->opt->lines.flags & GSORT_NAN_LAST;
  const bool descending = (j->opt->lines.flags & GSORT_DESCENDING) != 0;
  const gsort_dtype t = in->type->dtype;
  if (view->rows > 1) {
    return job_check(j, gsort_topk_rows(j->g, t, in->data, view->rows, view->columns, view->columns, view->columns,
                                        NULL, GSORT_U64, order, nan_last | (descending ? 0 : GSORT_SMALLEST)));
  }
  return job_check(j, gsort_argsort(j->g, t, in->data, in->count, GSORT_U64, order, j->opt->lines.flags));
}

static int run_order(job *j, array *in, const axis_view *view) {
  array order = axis_shape(in, view, type_by_dtype(GSORT_U64), view->columns);
  int code = axis_to_rows(in, view);
  if (code == exit_ok) code = allocate(&order, "indices");
  if (code == exit_ok && in->count > 0) code = order_rows(j, in, view, order.data);
  if (code == exit_ok && j->opt->command == command_rank && in->count > 0) {
    uint64_t *scratch = job_allocate(view->columns, sizeof *scratch, "ranks");
    if (scratch == NULL) code = exit_failed;
    for (uint64_t row = 0; code == exit_ok && row < view->rows; row++) {
      scan_row_in_place((uint64_t *)order.data + row * view->columns, scratch, view->columns);
    }
    free(scratch);
  }
  if (code == exit_ok) code = axis_from_rows(&order, view);
  if (code == exit_ok) code = results_write_array(&j->out, j->opt->output_format, &order);
  array_free(&order);
  return code;
}

static int run_topk(job *j, array *in, const axis_view *view) {
  const uint64_t k = j->opt->k;
  const uint32_t flags = j->opt->lines.flags & (GSORT_SMALLEST | GSORT_NAN_LAST);
  if (k > view->columns) {
    return report_failure("--k %" PRIu64 " is more than there are numbers, %" PRIu64, k, view->columns);
  }
  array values = axis_shape(in, view, in->type, k), places = axis_shape(in, view, type_by_dtype(GSORT_U64), k);
  int code = axis_to_rows(in, view);
  if (code == exit_ok) code = allocate(&values, "results");
  if (code == exit_ok) code = allocate(&places, "results");
  if (code == exit_ok && values.count > 0) {
    code = job_check(j, gsort_topk_rows(j->g, in->type->dtype, in->data, view->rows, view->columns, view->columns, k,
                                        values.data, GSORT_U64, places.data, flags));
  }
  if (code == exit_ok) code = axis_from_rows(&values, view);
  if (code == exit_ok) code = axis_from_rows(&places, view);
  if (code == exit_ok) {
    code = results_write_pairs(&j->out, j->opt->output_format, "index", places.data, &values);
  }
  array_free(&values);
  array_free(&places);
  return code;
}

static int run_scan(job *j, array *in, const axis_view *view) {
  if (type_is_bool(in->type)) return report_failure("running sums of bool have no type: give --type u8");
  int code = axis_to_rows(in, view);
  for (uint64_t row = 0; code == exit_ok && row < view->rows; row++) {
    void *elements = array_at(in, row * view->columns);
    code = job_check(j, gsort_scan(j->g, in->type->dtype, elements, elements, view->columns, 0));
  }
  if (code == exit_ok) code = axis_from_rows(in, view);
  return code == exit_ok ? results_write_array(&j->out, j->opt->output_format, in) : code;
}

static const type_info *result_type(command_kind which, const type_info *type) {
  static const gsort_dtype sum_types[] = {GSORT_U64, GSORT_I64, GSORT_F64};  // by kind
  if (which == command_mean) return type_by_dtype(GSORT_F64);
  return which == command_sum ? type_by_dtype(sum_types[type->kind]) : type;
}

static gsort_status reduce_row(job *j, const array *in, uint64_t begin, uint64_t columns, void *to) {
  const uint32_t nan_last = j->opt->lines.flags & GSORT_NAN_LAST;
  const void *row = array_at(in, begin);
  uint64_t result[1] = {0};
  gsort_status status = GSORT_OK;
  if (j->opt->command == command_sum) {
    status = gsort_sum(j->g, in->type->dtype, row, columns, result, 0);
  } else if (j->opt->command == command_mean) {
    status = gsort_reduce(j->g, GSORT_MEAN, in->type->dtype, row, columns, result, 0);
  } else {
    const uint32_t op = j->opt->command == command_min ? GSORT_MIN : GSORT_MAX;
    status = gsort_reduce(j->g, op, in->type->dtype, row, columns, result, nan_last);
  }
  memcpy(to, result, result_type(j->opt->command, in->type)->size_bytes);
  return status;
}

static int run_reduce(job *j, array *in, const axis_view *view) {
  const bool whole = j->opt->axis_is != axis_number;
  if (view->columns == 0 && j->opt->command != command_sum) return report_failure("there are no numbers");
  array results = axis_shape(in, view, result_type(j->opt->command, in->type), axis_dropped);
  int code = axis_to_rows(in, view);
  if (code == exit_ok) code = allocate(&results, "results");
  for (uint64_t row = 0; code == exit_ok && row < view->rows; row++) {
    code = job_check(j, reduce_row(j, in, row * view->columns, view->columns, array_at(&results, row)));
  }
  if (code == exit_ok) code = results_write_array(&j->out, whole ? format_text : j->opt->output_format, &results);
  array_free(&results);
  return code;
}

int array_rows_run(job *j, array *in) {
  const command_kind which = j->opt->command;
  const bool reduces = (which & (command_sum | command_mean | command_min | command_max)) != 0;
  axis_view view;
  const int code = axis_choose(j->opt, reduces, in, &view);
  if (code != exit_ok) return code;
  if (reduces) return run_reduce(j, in, &view);
  if (which == command_sort) return run_sort(j, in, &view);
  if (which == command_topk) return run_topk(j, in, &view);
  return which == command_scan ? run_scan(j, in, &view) : run_order(j, in, &view);
}
