// SPDX-License-Identifier: MIT OR Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "lines.h"
#include "order.h"
#include "parallel.h"
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
  const uint64_t x = a->keys[i] >> a->place_bits, y = b->keys[j] >> b->place_bits;
  if (x != y) return x < y ? -1 : 1;
  return key_is_cut(a, x) ? lines_compare_text(a, lines_at(a, i), lines_at(b, j)) : 0;
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

// Parts of the keys, each looked at and packed by a thread.
typedef struct packing {
  lines *l;
  unsigned parts;
  uint64_t least[parallel_parts_max], most[parallel_parts_max];
} packing;

static uint64_t part_begin(const packing *p, unsigned part) {
  return part == p->parts ? p->l->count : p->l->count / p->parts * part;
}

static void find_range(void *context, unsigned part) {
  packing *p = context;
  const uint64_t *keys = p->l->keys;
  uint64_t least = UINT64_MAX, most = 0;
  for (uint64_t i = part_begin(p, part); i < part_begin(p, part + 1); i++) {
    if (keys[i] < least) least = keys[i];
    if (keys[i] > most) most = keys[i];
  }
  p->least[part] = least;
  p->most[part] = most;
}

static void pack_part(void *context, unsigned part) {
  const packing *p = context;
  lines *l = p->l;
  for (uint64_t i = part_begin(p, part); i < part_begin(p, part + 1); i++) {
    const uint64_t place = l->wide ? ((const uint64_t *)l->begins)[i] : ((const uint32_t *)l->begins)[i];
    l->keys[i] = (l->keys[i] - p->least[0]) << l->place_bits | place;
  }
}

static unsigned bits_of(uint64_t value) { return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value); }

// Puts each line's place behind its key, counted from the least one, if there is room.
static bool pack(lines *l) {
  enum { part_lines_min = 1 << 16 };
  packing p = {.l = l, .parts = (unsigned)(l->count / part_lines_min) + 1};
  // Cut keys are compared as they are.
  if (l->mode == keys_decimal || l->count < 2 || l->text_bytes == 0) return false;
  if (l->count / part_lines_min >= l->rules->threads) p.parts = l->rules->threads;
  parallel_run(p.parts, find_range, &p);
  for (unsigned i = 1; i < p.parts; i++) {
    if (p.least[i] < p.least[0]) p.least[0] = p.least[i];
    if (p.most[i] > p.most[0]) p.most[0] = p.most[i];
  }
  const unsigned place_bits = bits_of(l->text_bytes);
  if (bits_of(p.most[0] - p.least[0]) + place_bits > 64) return false;
  l->place_bits = place_bits;
  parallel_run(p.parts, pack_part, &p);
  if (!l->goes_on) {
    free(l->begins);
    l->begins = NULL;
    l->begins_room_bytes = 0;
  }
  return true;
}

int lines_sort(gsort *g, lines *l) {
  l->adjacent = false;
  const bool packed = pack(l);
  const uint32_t begin_bytes = l->wide ? sizeof(uint64_t) : sizeof(uint32_t);
  const gsort_status status =
      packed ? gsort_sort(g, GSORT_U64, l->keys, l->keys, l->count, 0)
             : gsort_sort_pairs(g, GSORT_U64, l->keys, l->keys, begin_bytes, l->begins, l->begins, l->count, 0);
  progress_clear();
  if (status != GSORT_OK) return report_failure("%s", gsort_error_message(g));
  return l->mode == keys_decimal ? sort_cut_runs(l) : exit_ok;
}
