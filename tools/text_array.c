// SPDX-License-Identifier: MIT OR Apache-2.0
#include "text_array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "order.h"
#include "report.h"

// The type whose elements the keys hold.
static const type_info *type_of_keys(const lines *l) {
  switch (l->mode) {
    case keys_signed:
      return type_by_dtype(GSORT_I64);
    case keys_unsigned:
      return type_by_dtype(GSORT_U64);
    default:
      return l->rules->type;
  }
}

static void note_unkept(const source *s, const lines *l, uint64_t i, unkept_integer *out) {
  const char *begin, *end;
  out->name = source_place(s, lines_at(l, i), &out->line);
  lines_token(l->rules, lines_at(l, i), &begin, &end);
  const size_t length = end - begin < unkept_text_bytes ? (size_t)(end - begin) : unkept_text_bytes;
  memcpy(out->text, begin, length);
  out->text[length] = '\0';
}

int text_array_report_unkept(const unkept_integer *u) {
  return report_failure("%s: line %" PRIu64
                        ": f64, which the other lines ask for, does not hold \"%s\" exactly: "
                        "give --type",
                        u->name, u->line, u->text);
}

void text_array_find_unkept(const source *s, const lines *l, unkept_integer *out) {
  enum { double_bits = 53 };
  for (uint64_t i = 0; i < l->count; i++) {
    const uint64_t bits = l->mode == keys_signed ? l->keys[i] ^ (UINT64_C(1) << 63) : l->keys[i];
    const uint64_t magnitude = l->mode == keys_signed && bits >> 63 != 0 ? 0 - bits : bits;
    if (magnitude >> double_bits == 0 || magnitude >> __builtin_ctzll(magnitude) >> double_bits == 0) continue;
    note_unkept(s, l, i, out);
    return;
  }
}

// Doubles hold every integer up to 2^53. A greater one is compared with the text of the double that stands for it.
static int check_kept(const source *s, const lines *l) {
  enum { digits_kept = 15 };
  for (uint64_t i = 0; i < l->count; i++) {
    number n, again;
    lines_number(l->rules, lines_at(l, i), &n);
    if (!n.is_integer || n.digits == NULL || n.exponent <= digits_kept) continue;
    char text[400];
    double value;
    order_element(l->rules->type, l->keys[i], &value);
    const int length = snprintf(text, sizeof text, "%.0f", value);
    number_scan(text, text + length, false, &again);
    if (number_compare(&n, &again) == 0) continue;
    unkept_integer found;
    note_unkept(s, l, i, &found);
    return text_array_report_unkept(&found);
  }
  return exit_ok;
}

// Keys become elements in the memory that they lie in: an element is never longer than a key.
static void adopt_keys(lines *l, array *out) {
  const type_info *type = type_of_keys(l);
  *out = array_make(type, l->count, l->keys);
  for (uint64_t i = 0; i < l->count; i++) order_element(type, l->keys[i], array_at(out, i));
  l->keys = NULL;
  l->keys_room = 0;
}

int text_array_of_lines(const source *s, lines *l, bool keep, array *out) {
  int code = exit_ok;
  line_rules typed = *l->rules;
  if (l->mode == keys_decimal) {
    lines_free(l);
    typed.type = type_by_dtype(GSORT_F64);
    code = lines_parse(s, &typed, keys_typed, l);
    if (code == exit_ok && keep) code = check_kept(s, l);
  }
  if (code == exit_ok) adopt_keys(l, out);
  return code;
}

// Running sums that wrap would be wrong without a word.
static int check_sums(const source *s, const lines *l, const array *a) {
  int64_t sum = 0;
  uint64_t great = 0;
  for (uint64_t i = 0; i < a->count && a->type->kind != kind_float; i++) {
    const bool is_signed = a->type->kind == kind_signed;
    const bool wraps = is_signed ? __builtin_add_overflow(sum, ((const int64_t *)a->data)[i], &sum)
                                 : __builtin_add_overflow(great, ((const uint64_t *)a->data)[i], &great);
    if (!wraps) continue;
    uint64_t line;
    const char *name = source_place(s, lines_at(l, i), &line);
    return report_failure(
        "%s: line %" PRIu64
        ": the sum up to here is out of range for %s: give --type f64, or --type %s for sums modulo 2^64",
        name, line, a->type->name, a->type->name);
  }
  return exit_ok;
}

int text_array_load(source *s, const line_rules *rules, text_array_use use, array *out) {
  memset(out, 0, sizeof *out);
  const int code = source_fill(s, UINT64_MAX, 0);
  return code == exit_ok ? text_array_make(s, rules, use, out) : code;
}

int text_array_make(const source *s, const line_rules *rules, text_array_use use, array *out) {
  line_rules plain = *rules;
  plain.flags = 0;
  memset(out, 0, sizeof *out);
  lines l = {0};
  int code = lines_parse(s, &plain, keys_signed, &l);
  if (code == exit_ok) code = text_array_of_lines(s, &l, use != text_array_described, out);
  if (code == exit_ok && use == text_array_added && rules->type == NULL) code = check_sums(s, &l, out);
  lines_free(&l);
  return code;
}
