// SPDX-License-Identifier: MIT OR Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "lines.h"
#include "order.h"
#include "progress.h"
#include "report.h"

// A line among others of the same key, whose number has more digits than the key holds.
typedef struct tied {
  number value;
  const char *line;
} tied;

// Whether equal keys may be those of different numbers.
static bool key_is_cut(const lines *l, uint64_t key) {
  if (l->mode != keys_decimal) return false;
  if (key == UINT64_MAX && (l->rules->flags & GSORT_NAN_LAST) != 0) return false;
  return !number_key_is_exact((l->rules->flags & GSORT_DESCENDING) != 0 ? ~key : key);
}

static uint64_t typed_key(const line_rules *rules, const char *line) {
  const char *begin, *end;
  uint64_t element = 0;
  lines_token(rules, line, &begin, &end);
  (void)element_parse(begin, end, rules->hexadecimal, rules->type, &element);
  return order_key(rules->type, rules->flags, &element);
}

int lines_compare_text(const lines *l, const char *a, const char *b) {
  const line_rules *rules = l->rules;
  if (l->mode == keys_typed) {
    const uint64_t x = typed_key(rules, a), y = typed_key(rules, b);
    return (x > y) - (x < y);
  }
  number x, y;
  lines_number(rules, a, &x);
  lines_number(rules, b, &y);
  const bool x_nan = x.kind == number_nan, y_nan = y.kind == number_nan;
  if ((rules->flags & GSORT_NAN_LAST) != 0 && (x_nan || y_nan)) return x_nan - y_nan;
  const int order = number_compare(&x, &y);
  return (rules->flags & GSORT_DESCENDING) != 0 ? -order : order;
}

int lines_compare(const lines *a, uint64_t i, const lines *b, uint64_t j) {
  if (a->keys[i] != b->keys[j]) return a->keys[i] < b->keys[j] ? -1 : 1;
  return key_is_cut(a, a->keys[i]) ? lines_compare_text(a, lines_at(a, i), lines_at(b, j)) : 0;
}

// Merges the sorted halves a[0..middle) and a[middle..n) by way of `scratch`.
static void merge_halves(const tied **a, const tied **scratch, uint64_t middle, uint64_t n, bool descending) {
  memcpy(scratch, a, (size_t)middle * sizeof *a);
  uint64_t left = 0, right = middle;
  for (uint64_t to = 0; left < middle; to++) {
    int order = -1;
    if (right < n) {
      order = number_compare(&scratch[left]->value, &a[right]->value);
      if (descending) order = -order;
    }
    a[to] = right == n || order <= 0 ? scratch[left++] : a[right++];
  }
}

// A stable merge sort, bottom up.
static void sort_tied(const tied **a, const tied **scratch, uint64_t n, bool descending) {
  for (uint64_t width = 1; width < n; width *= 2) {
    for (uint64_t at = 0; at + width < n; at += 2 * width) {
      const uint64_t left = n - at < 2 * width ? n - at : 2 * width;
      merge_halves(a + at, scratch, width, left, descending);
    }
  }
}

static int sort_run(lines *l, uint64_t first, uint64_t count) {
  tied *all = malloc((size_t)count * sizeof *all);
  const tied **order = malloc(2 * (size_t)count * sizeof *order);
  if (all == NULL || order == NULL) {
    free(all);
    free(order);
    return report_failure("not enough memory to compare numbers in full");
  }
  for (uint64_t i = 0; i < count; i++) {
    all[i].line = lines_at(l, first + i);
    lines_number(l->rules, all[i].line, &all[i].value);
    order[i] = &all[i];
  }
  sort_tied(order, order + count, count, (l->rules->flags & GSORT_DESCENDING) != 0);
  for (uint64_t i = 0; i < count; i++) lines_put(l, first + i, order[i]->line, l->keys[first]);
  free(all);
  free(order);
  return exit_ok;
}

static int sort_cut_runs(lines *l) {
  int code = exit_ok;
  for (uint64_t i = 0; code == exit_ok && i < l->count;) {
    uint64_t end = i + 1;
    while (end < l->count && l->keys[end] == l->keys[i]) end++;
    if (end - i > 1 && key_is_cut(l, l->keys[i])) code = sort_run(l, i, end - i);
    i = end;
  }
  return code;
}

int lines_sort(gsort *g, lines *l) {
  l->adjacent = false;
  const uint32_t begin_bytes = l->wide ? sizeof(uint64_t) : sizeof(uint32_t);
  const gsort_status status =
      gsort_sort_pairs(g, GSORT_U64, l->keys, l->keys, begin_bytes, l->begins, l->begins, l->count, 0);
  progress_clear();
  if (status != GSORT_OK) return report_failure("%s", gsort_error_message(g));
  return l->mode == keys_decimal ? sort_cut_runs(l) : exit_ok;
}
