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
#include "order_check.h"
#include "ordered_lines.h"
#include "report.h"

// Of text, more at once is not quicker. Elements are compared while they lie in the cache nearest to memory.
enum { piece_bytes_max = 1 << 24, elements_bytes_max = 1 << 20, bytes_per_line = sizeof(uint64_t) + sizeof(uint32_t) };

static uint64_t piece_bytes(const job *j, uint64_t most) {
  const uint64_t limit = memory_limit(j->opt);
  return limit < most ? limit : most;
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
  lines l = {.goes_on = true};
  int code = exit_ok;
  for (bool more = true; code == exit_ok && more; more = !source_ended(s)) {
    code = source_fill(s, piece_bytes(j, piece_bytes_max), bytes_per_line);
    if (code == exit_ok) code = lines_parse(s, &j->opt->lines, keys_signed, &l);
    if (code == exit_ok) code = check_lines(j, s, &l, &last);
    if (code == exit_ok && l.count > 0) code = kept_line_set(&last, lines_at(&l, l.count - 1));
  }
  lines_free(&l);
  free(last.text);
  return code;
}

// Elements are compared as they come, each with the one `gap` before it, which is the one before it in its row.
typedef struct checking {
  const job *j;
  element_source *from;
  array piece;     // `gap` elements that came before, and what was read
  uint64_t gap;    // elements from one of a row to the next; of this many rows, the elements alternate
  uint64_t block;  // elements of these rows together; UINT64_MAX: one row, however long
  uint64_t at;     // the place among all of what was read

  // The first row that is out of order. What is wrong in a later row of its block comes earlier, perhaps.
  bool found;
  uint64_t row, column, in_block;  // `in_block`: of its block's rows, which one
  int order;
} checking;

static int compare_elements(const checking *c, const void *a, const void *b) {
  const uint32_t flags = c->j->opt->lines.flags;
  const uint64_t x = order_key(c->piece.type, flags, a), y = order_key(c->piece.type, flags, b);
  return (x > y) - (x < y);
}

static int report_element(const checking *c) {
  const options *opt = c->j->opt;
  char where[48] = "";
  if (opt->check == check_quiet) return exit_failed;
  if (c->block != UINT64_MAX) snprintf(where, sizeof where, " of row %" PRIu64, c->row);
  return report_failure("%s: element %" PRIu64 "%s, counted from 0, is not in order: %s",
                        opt->path_count == 0  ? "standard input"
                        : opt->path_count > 1 ? "all files"
                                              : opt->paths[0],
                        c->column, where,
                        c->order == 0 ? "it was there before" : "it belongs before the one ahead of it");
}

// Element `at` of all, `here` in the piece, is out of order.
static void note(checking *c, uint64_t at, uint64_t here) {
  const uint64_t place = at % c->block;
  c->found = true;
  c->in_block = place % c->gap;
  c->column = place / c->gap;
  c->row = at / c->block * c->gap + c->in_block;
  c->order = compare_elements(c, array_at(&c->piece, here - c->gap), array_at(&c->piece, here));
}

// How many elements from `at` on can be looked at as one stretch; none: `*skip` of them need not be.
static uint64_t stretch(const checking *c, uint64_t at, uint64_t *skip) {
  const uint64_t place = at % c->block, row = place % c->gap;
  *skip = 0;
  if (place < c->gap) *skip = c->gap - place;  // the first ones of their rows
  if (*skip > 0) return 0;
  if (!c->found) return c->block - place;
  if (row >= c->in_block) *skip = c->gap - row;
  return *skip > 0 ? 0 : c->in_block - row;
}

// Whether nothing that is read from `at` on can be out of order at an earlier place than what was found.
static bool is_settled(const checking *c, uint64_t at) {
  return c->found && (c->in_block == 0 || at / c->block != c->row / c->gap);
}

static void check_piece(checking *c, uint64_t got) {
  const options *opt = c->j->opt;
  for (uint64_t i = 0; i < got && !is_settled(c, c->at + i);) {
    uint64_t skip, count = stretch(c, c->at + i, &skip);
    if (count > got - i) count = got - i;
    const void *before = array_at(&c->piece, i), *after = array_at(&c->piece, i + c->gap);
    const uint64_t right = order_first_wrong(c->piece.type, opt->lines.flags, opt->unique, before, after, count);
    if (right < count) note(c, c->at + i + right, i + right + c->gap);
    i += right < count ? right + 1 : count + skip;
  }
}

static int check_all(checking *c) {
  const type_info *type = c->from->type;
  uint64_t capacity = piece_bytes(c->j, elements_bytes_max) / type->size_bytes + 1, got = 1;
  if (capacity < c->gap) capacity = c->gap;  // so that what is kept is not moved more often than it is read
  const bool too_many = capacity > UINT64_MAX - c->gap;
  c->piece = array_make(type, 0, job_allocate(too_many ? UINT64_MAX : capacity + c->gap, type->size_bytes, "elements"));
  int code = c->piece.memory != NULL ? exit_ok : exit_failed;
  while (code == exit_ok && got > 0 && !is_settled(c, c->at)) {
    code = element_source_read(c->from, array_at(&c->piece, c->gap), capacity, &got);
    if (code != exit_ok) break;
    if (c->block > c->gap) check_piece(c, got);
    memmove(c->piece.data, array_at(&c->piece, got), (size_t)c->gap * type->size_bytes);
    c->at += got;
  }
  array_free(&c->piece);
  return code == exit_ok && c->found ? report_element(c) : code;
}

int check_elements_run(const job *j, file_format format) {
  const options *opt = j->opt;
  element_source from;
  axis_view view;
  int code = element_source_open(&from, opt, format);
  if (code == exit_ok) {
    array shape = from.shape;
    const bool rows = shape.dimensions > 1 && opt->axis_is != axis_none && !opt->unique;
    checking c = {.j = j, .from = &from, .gap = 1, .block = UINT64_MAX};
    code = axis_choose(opt, !rows, &shape, &view);
    if (code == exit_ok && rows && shape.count > 0) {
      c.gap = view.columns > 1 ? view.inner : 1;
      c.block = c.gap * view.columns;
    }
    if (code == exit_ok) code = check_all(&c);
  }
  element_source_close(&from);
  return code;
}
