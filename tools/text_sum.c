// SPDX-License-Identifier: MIT OR Apache-2.0
#include "text_sum.h"

#include <string.h>

#include "element.h"
#include "element_sum.h"
#include "exact_sum.h"
#include "lines.h"
#include "order.h"
#include "parallel.h"
#include "report.h"
#include "text_array.h"

// digits_max: so that the sum of 2^64 numbers stays within 128 bits. Lines of less than a part are not worth a thread.
enum { digits_max = 18, piece_bytes = 1 << 24, part_lines_min = 1 << 14 };

// What is known of all numbers, of which the last one tells how they are to be added.
typedef struct text_total {
  uint64_t count, integer_count;
  wide_integer integers;               // sum of the integers of 64 bits
  wide_integer rounding;               // what that sum would change by, were each of them a double
  wide_integer units[digits_max + 1];  // sums of the other numbers, by their decimal places
  exact_sum doubles;                   // of the same, as doubles
  int64_t places, exponent;            // the most of each among all numbers
  bool too_long;                       // a number is not finite, or has more digits
  bool negative, great, others;  // integers below 0, integers of 64 bits without a sign, numbers that are none of these
  bool unparsed;                 // a double does not hold one of them
} text_total;

static void clear(text_total *t) {
  memset(t, 0, sizeof *t);
  t->exponent = INT64_MIN;
  exact_sum_clear(&t->doubles);
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static void add_all(text_total *t, const text_total *other) {
  t->count += other->count;
  t->integer_count += other->integer_count;
  t->integers += other->integers;
  t->rounding += other->rounding;
  for (int i = 0; i <= digits_max; i++) t->units[i] += other->units[i];
  exact_sum_add_all(&t->doubles, &other->doubles);
  t->places = most(t->places, other->places);
  t->exponent = most(t->exponent, other->exponent);
  t->too_long = t->too_long || other->too_long;
  t->negative = t->negative || other->negative;
  t->great = t->great || other->great;
  t->others = t->others || other->others;
  t->unparsed = t->unparsed || other->unparsed;
}

static int64_t digits_of(uint64_t magnitude) {
  int64_t digits = 0;
  for (; magnitude > 0; magnitude /= 10) digits++;
  return digits;
}

static void add_integers(text_total *t, const lines *l, uint64_t begin, uint64_t end) {
  const bool is_signed = l->mode == keys_signed;
  const type_info *type = type_by_dtype(is_signed ? GSORT_I64 : GSORT_U64);
  const wide_integer double_holds = (wide_integer)1 << 53;
  uint64_t greatest = 0;
  t->integer_count = end - begin;
  for (uint64_t i = begin; i < end; i++) {
    uint64_t bits;
    order_element(type, l->keys[i], &bits);
    const bool negative = is_signed && bits >> 63 != 0;
    const uint64_t magnitude = negative ? 0 - bits : bits;
    const wide_integer value = negative ? -(wide_integer)magnitude : (wide_integer)magnitude;
    t->integers += value;
    if (value > double_holds || value < -double_holds) t->rounding += (wide_integer)(double)value - value;
    t->negative = t->negative || negative;
    if (magnitude > greatest) greatest = magnitude;
  }
  t->great = t->great || (!is_signed && greatest > INT64_MAX);
  if (greatest > 0) t->exponent = most(t->exponent, digits_of(greatest));
}

// Decimal places of a finite number; more than digits_max if it has too many digits.
static int64_t places_of(const number *n) {
  int64_t digits = 0, used = 0;
  if (n->digits == NULL) return 0;
  for (const char *at = n->digits; at < n->digits_end; at++) {
    if (*at == '.') continue;
    digits++;
    if (*at != '0') used = digits;
  }
  return n->exponent > digits_max ? digits_max + 1 : most(used - n->exponent, 0);
}

// The double next to the number. What 53 bits hold, divided by a power of ten that they hold, is rounded once.
static bool double_of(const lines *l, uint64_t i, const number *n, int64_t places, wide_integer units, double *value) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
  const wide_integer limit = (wide_integer)1 << 53;
  if (n->kind == number_finite && places <= digits_max && units != 0 && units < limit && units > -limit) {
    *value = (double)(int64_t)units / powers[places];
    return true;
  }
  const char *begin, *end;
  lines_token(l->rules, lines_at(l, i), &begin, &end);
  return element_parse(begin, end, l->rules->hexadecimal, type_by_dtype(GSORT_F64), value) == scan_ok;
}

static void add_others(text_total *t, const lines *l, uint64_t begin, uint64_t end) {
  t->others = true;
  for (uint64_t i = begin; i < end; i++) {
    number n;
    wide_integer units = 0;
    double value = 0;
    lines_number(l->rules, lines_at(l, i), &n);
    const int64_t places = n.kind == number_finite ? places_of(&n) : digits_max + 1;
    // As many decimal places as this number has, or more, are those of all.
    t->too_long = t->too_long || places > digits_max || (n.digits != NULL && n.exponent > digits_max - places);
    if (!t->too_long && number_in_units(&n, (int)places, &units)) {
      t->units[places] += units;
      t->places = most(t->places, places);
      if (n.digits != NULL) t->exponent = most(t->exponent, n.exponent);
    }
    if (!double_of(l, i, &n, places, units, &value)) t->unparsed = true;
    exact_sum_add(&t->doubles, &value, 1);
  }
}

typedef struct adding {
  const lines *l;
  unsigned parts;
  text_total totals[parallel_parts_max];
} adding;

static void add_part(void *context, unsigned part) {
  adding *all = context;
  const lines *l = all->l;
  const uint64_t each = l->count / all->parts, begin = part * each;
  const uint64_t end = part + 1 == all->parts ? l->count : begin + each;
  text_total *t = &all->totals[part];
  clear(t);
  t->count = end - begin;
  if (l->mode == keys_decimal) {
    add_others(t, l, begin, end);
  } else {
    add_integers(t, l, begin, end);
  }
}

static void add_lines(text_total *t, const lines *l) {
  adding all = {.l = l, .parts = (unsigned)(l->count / part_lines_min + 1)};
  if (all.parts > l->rules->threads) all.parts = l->rules->threads;
  parallel_run(all.parts, add_part, &all);
  for (unsigned i = 0; i < all.parts; i++) add_all(t, &all.totals[i]);
}

static bool are_integers(const text_total *t) { return !t->others && !(t->negative && t->great); }

// Whether all numbers are multiples of the least decimal place by 18 digits, or integers of 64 bits.
static bool has_all_digits(const text_total *t) {
  return are_integers(t) || (!t->too_long && (t->exponent == INT64_MIN || t->exponent <= digits_max - t->places));
}

static wide_integer units_of(const text_total *t) {
  wide_integer total = t->integers, power = 1;
  for (int64_t i = 0; i < t->places; i++) total *= 10;
  for (int64_t places = t->places; places >= 0; places--, power *= 10) total += t->units[places] * power;
  return total;
}

static int write_total(job *j, text_total *t) {
  char text[element_text_bytes_max + units_text_bytes_max];
  const bool mean = j->opt->command == command_mean;
  if (mean && t->count == 0) return report_failure("there are no numbers");
  if (!mean && has_all_digits(t)) {
    number_print_units(units_of(t), (int)t->places, text);
  } else {
    double value;
    if (has_all_digits(t)) {
      value = number_quotient(units_of(t), (int)t->places, t->count);
    } else {
      exact_sum_add_integer(&t->doubles, t->integers + t->rounding, t->integer_count);
      value = mean ? exact_sum_mean(&t->doubles) : exact_sum_rounded(&t->doubles);
    }
    element_print(text, type_by_dtype(GSORT_F64), &value);
  }
  const int code = job_open_output(j);
  return code == exit_ok ? output_format(&j->out, "%s\n", text) : code;
}

// The sentence about the first line that a double does not hold.
static int report_range(const source *s, const line_rules *rules) {
  line_rules typed = *rules;
  lines l = {0};
  typed.type = type_by_dtype(GSORT_F64);
  const int code = lines_parse(s, &typed, keys_typed, &l);
  lines_free(&l);
  return code;
}

static int add_typed(element_sum *sum, const source *s, lines *l) {
  array piece = {0};
  const int code = text_array_of_lines(s, l, false, &piece);
  if (code == exit_ok) element_sum_add(sum, &piece, l->rules->threads);
  array_free(&piece);
  return code;
}

int text_sum_run(job *j, source *s) {
  enum { bytes_per_line = sizeof(uint64_t) + sizeof(uint32_t) };
  line_rules rules = j->opt->lines;
  text_total total;
  element_sum typed;
  int code = exit_ok;
  rules.flags = 0;
  clear(&total);
  element_sum_clear(&typed);
  lines l = {.goes_on = true};
  while (code == exit_ok && !source_ended(s)) {
    code = source_fill(s, piece_bytes, bytes_per_line);
    if (code == exit_ok) code = lines_parse(s, &rules, keys_signed, &l);
    if (code == exit_ok && rules.type != NULL) code = add_typed(&typed, s, &l);
    if (code == exit_ok && rules.type == NULL) add_lines(&total, &l);
    if (code == exit_ok && total.unparsed) code = report_range(s, &rules);
  }
  lines_free(&l);
  if (code != exit_ok) return code;
  return rules.type != NULL ? element_sum_write(j, &typed, rules.type) : write_total(j, &total);
}
