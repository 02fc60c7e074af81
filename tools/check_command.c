// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "element_source.h"
#include "lines.h"
#include "memory_limit.h"
#include "order.h"
#include "ordered_lines.h"
#include "report.h"

// More at once is not quicker.
enum { piece_bytes_max = 1 << 24, bytes_per_line = sizeof(uint64_t) + sizeof(uint32_t) };

static uint64_t piece_bytes(const job *j) {
  const uint64_t limit = memory_limit(j->opt);
  return limit < piece_bytes_max ? limit : piece_bytes_max;
}

// `order`: of the one before to this one.
static bool is_right(const options *opt, int order) { return order < 0 || (order == 0 && !opt->unique); }

static int report_line(const job *j, const source *s, const char *at, int order) {
  uint64_t line;
  if (j->opt->check == check_quiet) return exit_failed;
  const char *name = source_place(s, at, &line);
  return report_failure("%s: line %" PRIu64 ": is not in order: %s", name, line,
                        order == 0 ? "its number was there before" : "it belongs before the line above it");
}

// `last`: the line before these; its text is NULL if there is none.
static int check_lines(const job *j, const source *s, const lines *l, const kept_line *last) {
  for (uint64_t i = last->text == NULL; i < l->count; i++) {
    const int order = i == 0 ? lines_compare_text(l, last->text, lines_at(l, i)) : lines_compare(l, i - 1, l, i);
    if (!is_right(j->opt, order)) return report_line(j, s, lines_at(l, i), order);
  }
  return exit_ok;
}

int check_lines_run(const job *j, source *s) {
  kept_line last = {NULL, 0};
  int code = exit_ok;
  for (bool more = true; code == exit_ok && more; more = !source_ended(s)) {
    lines l = {0};
    code = source_fill(s, piece_bytes(j), bytes_per_line);
    if (code == exit_ok) code = lines_parse(s, &j->opt->lines, keys_signed, &l);
    if (code == exit_ok) code = check_lines(j, s, &l, &last);
    if (code == exit_ok && l.count > 0) code = kept_line_set(&last, lines_at(&l, l.count - 1));
    lines_free(&l);
  }
  free(last.text);
  return code;
}

static int compare_elements(const job *j, const type_info *type, const void *a, const void *b) {
  const uint64_t x = order_key(type, j->opt->lines.flags, a), y = order_key(type, j->opt->lines.flags, b);
  return (x > y) - (x < y);
}

static int report_element(const job *j, uint64_t at, uint64_t row, bool one_row, int order) {
  const options *opt = j->opt;
  char where[48] = "";
  if (opt->check == check_quiet) return exit_failed;
  if (!one_row) snprintf(where, sizeof where, " of row %" PRIu64, row);
  return report_failure("%s: element %" PRIu64 "%s, counted from 0, is not in order: %s",
                        opt->path_count == 0  ? "standard input"
                        : opt->path_count > 1 ? "all files"
                                              : opt->paths[0],
                        at, where, order == 0 ? "it was there before" : "it belongs before the one ahead of it");
}

// The last element of a piece lies in front of the next one.
static int check_one_row(const job *j, element_source *from) {
  const uint32_t size = from->type->size_bytes;
  const uint64_t capacity = piece_bytes(j) / size + 2;
  array piece = array_make(from->type, 0, job_allocate(capacity, size, "elements"));
  int code = piece.memory != NULL ? exit_ok : exit_failed;
  uint64_t before = 0, got = 1;
  while (code == exit_ok && got > 0) {
    code = element_source_read(from, array_at(&piece, 1), capacity - 1, &got);
    for (uint64_t i = before == 0 ? 2 : 1; code == exit_ok && i <= got; i++) {
      const int order = compare_elements(j, piece.type, array_at(&piece, i - 1), array_at(&piece, i));
      if (!is_right(j->opt, order)) code = report_element(j, before + i - 1, 0, true, order);
    }
    if (code == exit_ok && got > 0) memcpy(piece.data, array_at(&piece, got), size);
    before += got;
  }
  array_free(&piece);
  return code;
}

static int check_rows(const job *j, const array *a, const axis_view *view) {
  for (uint64_t i = 1; i < a->count; i++) {
    if (i % view->columns == 0) continue;
    const int order = compare_elements(j, a->type, array_at(a, i - 1), array_at(a, i));
    if (!is_right(j->opt, order)) return report_element(j, i % view->columns, i / view->columns, false, order);
  }
  return exit_ok;
}

static int check_along_axis(const job *j, element_source *from) {
  array all = from->shape;
  axis_view view = {0};
  uint64_t got = 0;
  all.data = all.memory = job_allocate(all.count, all.type->size_bytes, "elements");
  int code = all.memory == NULL ? exit_failed : element_source_read(from, all.data, all.count + 1, &got);
  if (code == exit_ok) code = axis_choose(j->opt, false, &all, &view);
  if (code == exit_ok) code = axis_to_rows(&all, &view);
  if (code == exit_ok) code = check_rows(j, &all, &view);
  array_free(&all);
  return code;
}

int check_elements_run(const job *j, file_format format) {
  const options *opt = j->opt;
  element_source from;
  axis_view view;
  int code = element_source_open(&from, opt, format);
  if (code == exit_ok && from.shape.dimensions > 1 && opt->axis_is != axis_none && !opt->unique) {
    code = check_along_axis(j, &from);
  } else if (code == exit_ok) {
    array shape = from.shape;
    code = axis_choose(opt, true, &shape, &view);
    if (code == exit_ok) code = check_one_row(j, &from);
  }
  element_source_close(&from);
  return code;
}
