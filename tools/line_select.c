// SPDX-License-Identifier: MIT OR Apache-2.0
#include "line_select.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "number_units.h"
#include "report.h"

// The k-th least key.
static int find_bound(job *j, const lines *l, uint64_t k, uint64_t *bound) {
  if (k == 1) return job_check(j, gsort_reduce(j->g, GSORT_MIN, GSORT_U64, l->keys, l->count, bound, 0));
  uint64_t *least = job_allocate(k, sizeof *least, "results");
  if (least == NULL) return exit_failed;
  const int code =
      job_check(j, gsort_topk(j->g, GSORT_U64, l->keys, l->count, k, least, GSORT_U64, NULL, GSORT_SMALLEST));
  if (code == exit_ok) *bound = least[k - 1];
  free(least);
  return code;
}

// Cut keys do not tell which of their lines come first, so all lines up to the k-th key are taken and sorted in full.
int line_select(job *j, const lines *l, uint64_t k, lines *best) {
  *best = *l;
  best->keys = NULL;
  best->begins = NULL;
  best->count = 0;
  uint64_t bound = 0;
  int code = job_start(j, l->count);
  if (code == exit_ok && k > 0) code = find_bound(j, l, k, &bound);
  if (code != exit_ok || k == 0) return code;
  uint64_t count = 0;
  for (uint64_t i = 0; i < l->count; i++) count += l->keys[i] <= bound;
  best->keys = job_allocate(count, sizeof(uint64_t), "results");
  best->begins = best->keys == NULL ? NULL : job_allocate(count, l->wide ? 8 : 4, "results");
  if (best->begins == NULL) return exit_failed;
  for (uint64_t i = 0; i < l->count; i++) {
    if (l->keys[i] <= bound) lines_put(best, best->count++, lines_at(l, i), l->keys[i]);
  }
  return lines_sort(j->g, best);
}

uint64_t line_index(const lines *l, const lines *best, uint64_t i) {
  const char *line = lines_at(best, i);
  uint64_t low = 0, high = l->count;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    if (lines_at(l, middle) <= line) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

uint64_t percentile_place(uint64_t percentile, uint64_t count) {
  // ceil(count * p / 100) - 1 without a product of more than 64 bits: the count is divided by the whole first.
  const uint64_t whole = (uint64_t)100 * percentile_scale;
  const uint64_t rest = count % whole * percentile;
  const uint64_t rank = count / whole * percentile + rest / whole + (rest % whole != 0);
  return rank > 0 ? rank - 1 : 0;
}

void percentile_print(char *text, size_t text_bytes, uint64_t percentile) {
  snprintf(text, text_bytes, "%" PRIu64 ".%06" PRIu64, percentile / percentile_scale, percentile % percentile_scale);
  size_t length = strlen(text);
  while (text[length - 1] == '0') length--;
  if (text[length - 1] == '.') length--;
  text[length] = '\0';
}

static int write_mean_of_doubles(job *j, const lines *l, uint64_t i, uint64_t k) {
  double values[2] = {0, 0}, mean = 0;
  const type_info *f64 = type_by_dtype(GSORT_F64);
  const char *begin, *end;
  lines_token(l->rules, lines_at(l, i), &begin, &end);
  scan_result result = element_parse(begin, end, l->rules->hexadecimal, f64, &values[0]);
  lines_token(l->rules, lines_at(l, k), &begin, &end);
  if (result == scan_ok) result = element_parse(begin, end, l->rules->hexadecimal, f64, &values[1]);
  if (result != scan_ok) return report_failure("the mean of the two numbers in the middle is out of range for f64");
  int code = job_start(j, 2);  // Where runs were merged, the library has been left.
  if (code == exit_ok) code = job_check(j, gsort_reduce(j->g, GSORT_MEAN, GSORT_F64, values, 2, &mean, 0));
  char text[element_text_bytes_max];
  element_print(text, f64, &mean);
  return code == exit_ok ? output_format(&j->out, "%s\n", text) : code;
}

int line_write_mean(job *j, const lines *l, uint64_t i, uint64_t k) {
  number a, b;
  lines_number(l->rules, lines_at(l, i), &a);
  lines_number(l->rules, lines_at(l, k), &b);
  char text[units_text_bytes_max];
  if (number_mean(&a, &b, text)) return output_format(&j->out, "%s\n", text);
  return write_mean_of_doubles(j, l, i, k);
}
