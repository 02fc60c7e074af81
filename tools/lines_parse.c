// SPDX-License-Identifier: MIT OR Apache-2.0
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "lines.h"
#include "memory_limit.h"
#include "order.h"
#include "parallel.h"
#include "report.h"
#include "text_bytes.h"

// Less text than this is not worth a thread.
enum { part_bytes_min = 1 << 19 };

typedef enum line_fault {
  fault_none,
  fault_mode,  // the keys must be of a greater mode
  fault_empty,
  fault_column,
  fault_number
} line_fault;

typedef struct part {
  const char *begin, *end;
  uint64_t first;  // its place in the arrays
  uint64_t count;
  line_fault fault;
  scan_result why;
  const char *at;        // the line of the fault
  bool negative, great;  // whether an integer below 0, or above those of 63 bits, was seen
} part;

typedef struct parse {
  const line_rules *rules;
  lines *out;
  part parts[parallel_parts_max];
} parse;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The column's characters. False if the line has no such column.
static bool find_column(const line_rules *rules, const char **begin, const char **end) {
  const char *at = *begin, *const line = *end;
  for (uint64_t column = 1;; column++) {
    if (rules->separator == 0) {
      while (at < line && is_blank(*at)) at++;
      if (at == line) return false;
    }
    const char *after = at;
    if (rules->separator != 0) {
      after = memchr(at, rules->separator, (size_t)(line - at));
      if (after == NULL) after = line;
    } else {
      while (after < line && !is_blank(*after)) after++;
    }
    if (column == rules->column) {
      *begin = at;
      *end = after;
      return true;
    }
    if (after == line) return false;
    at = after + (rules->separator != 0);
  }
}

static void trim(const char **begin, const char **end) {
  while (*begin < *end && is_blank(**begin)) (*begin)++;
  while (*end > *begin && is_blank((*end)[-1])) (*end)--;
}

void lines_token(const line_rules *rules, const char *line, const char **begin, const char **end) {
  *begin = line;
  *end = text_line_end(line);
  if (rules->column != 0) (void)find_column(rules, begin, end);
  trim(begin, end);
}

void lines_number(const line_rules *rules, const char *line, number *out) {
  const char *begin, *end;
  lines_token(rules, line, &begin, &end);
  (void)number_scan(begin, end, rules->hexadecimal, out);
}

static uint64_t directed(const line_rules *rules, uint64_t key) {
  return (rules->flags & GSORT_DESCENDING) != 0 ? ~key : key;
}

static uint64_t decimal_key(const line_rules *rules, const number *n) {
  if (n->kind == number_nan && (rules->flags & GSORT_NAN_LAST) != 0) return UINT64_MAX;
  return directed(rules, number_key(n));
}

// An integer's key in one of the integer modes; false if it needs another mode.
static bool integer_key(const line_rules *rules, key_mode mode, part *p, uint64_t magnitude, bool negative,
                        uint64_t *key) {
  negative = negative && magnitude != 0;
  p->negative = p->negative || negative;
  const uint64_t limit = (uint64_t)INT64_MAX + negative;
  p->great = p->great || magnitude > limit;
  if (mode == keys_signed ? magnitude > limit : negative) return false;
  const uint64_t bits = negative ? 0 - magnitude : magnitude;
  *key = directed(rules, mode == keys_signed ? bits ^ (UINT64_C(1) << 63) : bits);
  return true;
}

static bool magnitude_of(const number *n, uint64_t *magnitude) {
  *magnitude = 0;
  if (n->exponent > 20) return false;
  for (const char *at = n->digits; at != NULL && at < n->digits_end; at++) {
    const uint64_t digit = (uint64_t)(*at - '0');
    if (*magnitude > (UINT64_MAX - digit) / 10) return false;
    *magnitude = *magnitude * 10 + digit;
  }
  return true;
}

// A sign, and up to 16 digits with or without a point. Returns what is behind them, or NULL if there are more.
static const char *scan_short_decimal(const line_rules *rules, const char *at, uint64_t *key) {
  const bool negative = *at == '-';
  uint64_t whole, fraction = 0;
  if (*at == '-' || *at == '+') at++;
  unsigned digits = text_take_digits(&at, &whole), places = 0;
  if (digits <= number_short_digits && *at == '.') {
    at++;
    places = text_take_digits(&at, &fraction);
    digits += places;
  }
  if (digits == 0 || digits > number_short_digits) return NULL;
  *key = directed(rules, number_short_key(negative, whole * number_powers[places] + fraction, places));
  return at;
}

// Most lines of decimals are no more. Returns the newline, or NULL if the line is any other.
static const char *scan_decimal_line(const line_rules *rules, const char *at, uint64_t *key) {
  while (is_blank(*at)) at++;
  at = scan_short_decimal(rules, at, key);
  while (at != NULL && is_blank(*at)) at++;
  return at != NULL && *at == '\n' ? at : NULL;
}

static line_fault number_key_of(const line_rules *rules, key_mode mode, part *p, const char *begin, const char *end,
                                uint64_t *key) {
  if (mode == keys_typed) {
    uint64_t element = 0;
    p->why = element_parse(begin, end, rules->hexadecimal, rules->type, &element);
    *key = order_key(rules->type, rules->flags, &element);
    return p->why == scan_ok ? fault_none : fault_number;
  }
  if (mode == keys_decimal && scan_short_decimal(rules, begin, key) == end) return fault_none;
  number n;
  p->why = number_scan(begin, end, rules->hexadecimal, &n);
  if (p->why != scan_ok) return fault_number;
  if (mode == keys_decimal) {
    *key = decimal_key(rules, &n);
    return fault_none;
  }
  uint64_t magnitude;
  if (!n.is_integer || !magnitude_of(&n, &magnitude)) {
    p->negative = p->great = true;  // no integers
    return fault_mode;
  }
  return integer_key(rules, mode, p, magnitude, n.negative, key) ? fault_none : fault_mode;
}

// Any line. `*skipped` tells that it is left out.
static line_fault parse_line(const line_rules *rules, key_mode mode, part *p, const char *begin, const char *end,
                             uint64_t *key, bool *skipped) {
  const char *first = begin, *last = end;
  trim(&first, &last);
  *skipped = first == last ? rules->skip_blank : rules->comment != 0 && *first == rules->comment;
  if (*skipped) return fault_none;
  if (first == last) return fault_empty;
  if (rules->column != 0) {
    // Untrimmed: a separator may itself be a blank, such as a tabulator.
    if (!find_column(rules, &begin, &end)) return fault_column;
    first = begin;
    last = end;
    trim(&first, &last);
    if (first == last) return fault_empty;
  }
  return number_key_of(rules, mode, p, first, last, key);
}

// Most lines are a sign and up to 18 digits. Returns the newline, or NULL if the line is any other.
static const char *scan_short_integer(const char *at, uint64_t *magnitude, bool *negative) {
  while (is_blank(*at)) at++;
  *negative = *at == '-';
  if (*at == '-' || *at == '+') at++;
  const unsigned digits = text_take_digits(&at, magnitude);
  if (digits == 0 || digits > 18) return NULL;
  while (is_blank(*at)) at++;
  return *at == '\n' ? at : NULL;
}

static void parse_part(void *context, unsigned index) {
  parse *all = context;
  const line_rules *rules = all->rules;
  const key_mode mode = all->out->mode;
  const bool integers = rules->column == 0 && (mode == keys_signed || mode == keys_unsigned);
  const bool decimals = rules->column == 0 && mode == keys_decimal;
  part *p = &all->parts[index];
  const char *next = p->begin;
  for (const char *at = p->begin; at < p->end; at = next) {
    uint64_t key = 0, magnitude;
    bool negative, skipped = false;
    const char *end = integers ? scan_short_integer(at, &magnitude, &negative) : NULL;
    if (end != NULL && !integer_key(rules, mode, p, magnitude, negative, &key)) end = NULL;
    if (decimals) end = scan_decimal_line(rules, at, &key);
    if (end == NULL) {
      end = text_line_end(at);
      p->fault = parse_line(rules, mode, p, at, end, &key, &skipped);
      if (p->fault != fault_none) {
        p->at = at;
        return;
      }
    }
    next = end + 1;
    if (!skipped) lines_put(all->out, p->first + p->count++, at, key);
  }
}

// Parts of about the same size, each of whole lines.
static unsigned divide(const source *s, parse *all) {
  const size_t bytes = s->lines_bytes;
  unsigned parts = (unsigned)(bytes / part_bytes_min + 1);
  if (parts > all->rules->threads) parts = all->rules->threads;
  const char *const end = s->memory + bytes, *at = s->memory;
  uint64_t first = 0;
  for (unsigned i = 0; i < parts; i++) {
    const char *to = i + 1 == parts ? end : s->memory + bytes / parts * (i + 1);
    if (to < at) to = at;
    if (to > s->memory && to < end && to[-1] != '\n') to = text_line_end(to) + 1;
    all->parts[i] = (part){.begin = at, .end = to, .first = first};
    if (i + 1 < parts) first += text_count_newlines(at, (size_t)(to - at));
    at = to;
  }
  return parts;
}

static int report_line(const source *s, const part *p, const line_rules *rules) {
  uint64_t line;
  const char *name = source_place(s, p->at, &line);
  if (p->fault == fault_empty && rules->column == 0) {
    return report_failure("%s: line %" PRIu64 ": is empty, not a number", name, line);
  }
  if (p->fault != fault_number) {
    return report_failure("%s: line %" PRIu64 ": has no number in column %" PRIu64, name, line, rules->column);
  }
  const char *begin, *end;
  char text[44];
  lines_token(rules, p->at, &begin, &end);
  size_t length = 0;
  for (; begin < end && length < sizeof text - 4; begin++) {
    text[length++] = isprint((unsigned char)*begin) ? *begin : '?';
  }
  strcpy(text + length, begin < end ? "..." : "");
  switch (p->why) {
    case scan_hexadecimal:
      return report_failure("%s: line %" PRIu64 ": \"%s\" is hexadecimal: give --hex to take such numbers", name, line,
                            text);
    case scan_exponent_too_long:
      return report_failure("%s: line %" PRIu64 ": \"%s\" has an exponent of more than 17 digits", name, line, text);
    case scan_out_of_range:
      return report_failure("%s: line %" PRIu64 ": \"%s\" is out of range for %s", name, line, text,
                            rules->type != NULL ? rules->type->name : "64 bits");
    default:
      break;
  }
  if (rules->column == 0 && strpbrk(text, ",; ") != NULL) {
    return report_failure("%s: line %" PRIu64
                          ": \"%s\" is not a number: give --key, and --field-separator, to take that of a column",
                          name, line, text);
  }
  const bool typed = rules->type != NULL && rules->type->kind != kind_float;
  return report_failure("%s: line %" PRIu64 ": \"%s\" is not a number%s%s", name, line, text, typed ? " of type " : "",
                        typed ? rules->type->name : "");
}

// Closes the gaps that lines left out have made between the parts.
static void close_gaps(lines *out, const part *parts, unsigned count) {
  const size_t begin_bytes = out->wide ? sizeof(uint64_t) : sizeof(uint32_t);
  out->count = 0;
  for (unsigned i = 0; i < count; i++) {
    const part *p = &parts[i];
    if (out->count != p->first) {
      memmove(out->keys + out->count, out->keys + p->first, p->count * sizeof *out->keys);
      memmove((char *)out->begins + out->count * begin_bytes, (char *)out->begins + p->first * begin_bytes,
              p->count * begin_bytes);
    }
    out->count += p->count;
  }
}

// Of all parts: whether integers of a greater mode are needed, or decimal keys.
static key_mode greater_mode(key_mode mode, const part *parts, unsigned count) {
  bool negative = false, great = false;
  for (unsigned i = 0; i < count; i++) {
    negative = negative || parts[i].negative;
    great = great || parts[i].great;
  }
  return mode == keys_signed && great && !negative ? keys_unsigned : keys_decimal;
}

// New memory has to be cleared by the system, so that of lines of before is taken, if it is enough.
static int allocate(const source *s, lines *out) {
  const size_t begin_bytes = out->wide ? sizeof(uint64_t) : sizeof(uint32_t);
  // One more, since malloc(0) may return NULL, and somewhat more where another piece may have more lines.
  const uint64_t room = s->line_ends + 1 + (out->goes_on ? s->line_ends / 16 : 0);
  if (out->keys_room <= s->line_ends) {
    free(out->keys);
    out->keys = malloc((size_t)room * sizeof *out->keys);
    out->keys_room = out->keys == NULL ? 0 : room;
    memory_use_large_pages(out->keys, room * sizeof *out->keys);
  }
  if (out->begins_room_bytes <= s->line_ends * begin_bytes) {
    free(out->begins);
    out->begins = malloc((size_t)room * begin_bytes);
    out->begins_room_bytes = out->begins == NULL ? 0 : room * begin_bytes;
    memory_use_large_pages(out->begins, room * begin_bytes);
  }
  if (out->keys != NULL && out->begins != NULL) return exit_ok;
  return report_failure("not enough memory for %" PRIu64 " lines", s->line_ends);
}

int lines_parse(const source *s, const line_rules *rules, key_mode mode, lines *out) {
  *out = (lines){.text = s->memory,
                 .text_bytes = s->lines_bytes,
                 .wide = s->lines_bytes > UINT32_MAX,
                 .rules = rules,
                 .mode = rules->type != NULL ? keys_typed : mode,
                 .keys = out->keys,
                 .begins = out->begins,
                 .keys_room = out->keys_room,
                 .begins_room_bytes = out->begins_room_bytes,
                 .goes_on = out->goes_on};
  int code = allocate(s, out);
  if (code != exit_ok) return code;
  parse all = {.rules = rules, .out = out};
  for (;;) {
    const unsigned parts = divide(s, &all);
    parallel_run(parts, parse_part, &all);
    bool again = false;
    const part *wrong = NULL;
    for (unsigned i = parts; i-- > 0;) {
      again = again || all.parts[i].fault == fault_mode;
      if (all.parts[i].fault > fault_mode) wrong = &all.parts[i];
    }
    if (!again && wrong != NULL) return report_line(s, wrong, rules);
    if (!again) {
      close_gaps(out, all.parts, parts);
      out->adjacent = out->count == s->line_ends;
      return exit_ok;
    }
    out->mode = greater_mode(out->mode, all.parts, parts);
  }
}

void lines_free(lines *l) {
  free(l->keys);
  free(l->begins);
  l->keys = NULL;
  l->begins = NULL;
  l->keys_room = l->begins_room_bytes = 0;
}
