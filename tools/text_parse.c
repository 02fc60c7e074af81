// SPDX-License-Identifier: MIT OR Apache-2.0
#include <ctype.h>
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "report.h"
#include "text.h"

typedef enum parse_result { parsed, not_a_number, out_of_range } parse_result;

// A number's characters; `end` is where a line end, a blank or the final NUL stands.
typedef struct token {
  const char *begin;
  const char *end;
} token;

static bool token_is(token t, const char *word) {
  const size_t length = strlen(word);
  if ((size_t)(t.end - t.begin) < length) return false;
  for (size_t i = 0; i < length; i++) {
    if (tolower((unsigned char)t.begin[i]) != word[i]) return false;
  }
  return true;
}

static parse_result parse_integer(token t, const type_info *type, void *element) {
  const char *at = t.begin;
  const bool negative = at < t.end && *at == '-';
  if (at < t.end && (*at == '-' || *at == '+')) at++;
  if (at == t.end) return not_a_number;
  uint64_t magnitude = 0;
  bool too_great = false;
  for (; at < t.end; at++) {
    if (*at < '0' || *at > '9') return not_a_number;
    const uint64_t digit = (uint64_t)(*at - '0');
    if (magnitude > (UINT64_MAX - digit) / 10) too_great = true;
    magnitude = magnitude * 10 + digit;
  }
  const uint64_t all_ones = UINT64_MAX >> (64 - 8 * type->size_bytes);
  uint64_t limit = all_ones;
  if (type->kind == kind_signed) limit = negative ? all_ones / 2 + 1 : all_ones / 2;
  if (type->kind == kind_unsigned && negative) limit = 0;
  if (too_great || magnitude > limit) return out_of_range;
  const uint64_t bits = negative ? 0 - magnitude : magnitude;
  memcpy(element, &bits, type->size_bytes);  // The low bytes: little-endian machines only, as the library.
  return parsed;
}

static int exponent_bits_of(const type_info *type) { return (int)type->size_bytes * 8 - 1 - type->mantissa_bits; }

// nan, -nan, or nan(0x...) with the mantissa's bits, so that a payload survives.
static parse_result parse_nan(token t, const type_info *type, void *element) {
  const bool negative = *t.begin == '-';
  if (*t.begin == '-' || *t.begin == '+') t.begin++;
  t.begin += 3;
  uint64_t mantissa = UINT64_C(1) << (type->mantissa_bits - 1);
  if (t.begin != t.end) {
    if (!token_is(t, "(0x") || t.end[-1] != ')') return not_a_number;
    mantissa = 0;
    const char *at = t.begin + 3;
    if (at == t.end - 1) return not_a_number;
    for (; at < t.end - 1; at++) {
      if (!isxdigit((unsigned char)*at)) return not_a_number;
      const int letter = tolower((unsigned char)*at);
      if (mantissa >> 60 != 0) return out_of_range;
      mantissa = mantissa << 4 | (uint64_t)(letter <= '9' ? letter - '0' : letter - 'a' + 10);
    }
    if (mantissa == 0 || mantissa >> type->mantissa_bits != 0) return out_of_range;
  }
  const uint64_t exponent = (UINT64_C(1) << exponent_bits_of(type)) - 1;
  const uint64_t sign = negative ? 1 : 0;
  const uint64_t bits = sign << (type->size_bytes * 8 - 1) | exponent << type->mantissa_bits | mantissa;
  memcpy(element, &bits, type->size_bytes);
  return parsed;
}

// Of the two doubles around an inexact value the one with an odd last bit: it can never lie between two 16-bit floats,
// so rounding it again is as good as rounding the text itself.
static double read_odd(const char *text) {
  const int mode = fegetround();
  fesetround(FE_DOWNWARD);
  const double below = strtod(text, NULL);
  fesetround(FE_UPWARD);
  const double above = strtod(text, NULL);
  fesetround(mode);
  uint64_t bits;
  memcpy(&bits, &below, sizeof bits);
  return (bits & 1u) != 0 ? below : above;
}

static uint16_t read_half(const char *text, double nearest, int mantissa_bits) {
  bool tie;
  const uint16_t half = half_from_double(nearest, mantissa_bits, &tie);
  return tie ? half_from_double(read_odd(text), mantissa_bits, &tie) : half;
}

static parse_result parse_float(token t, const type_info *type, void *element) {
  const char *unsigned_begin = t.begin + (*t.begin == '-' || *t.begin == '+');
  if (token_is((token){unsigned_begin, t.end}, "nan")) return parse_nan(t, type, element);
  const bool infinite = token_is((token){unsigned_begin, t.end}, "inf");
  char *end;
  bool overflow;
  if (type->dtype == GSORT_F32) {
    const float value = strtof(t.begin, &end);  // Straight to float: by way of a double it would be rounded twice.
    overflow = isinf(value);
    memcpy(element, &value, sizeof value);
  } else {
    const double value = strtod(t.begin, &end);
    overflow = isinf(value);
    if (end == t.end && type->size_bytes == sizeof(uint16_t)) {
      const uint16_t half = read_half(t.begin, value, type->mantissa_bits);
      overflow = isinf(half_to_double(half, type->mantissa_bits));
      memcpy(element, &half, sizeof half);
    } else {
      memcpy(element, &value, type->size_bytes);
    }
  }
  if (end != t.end) return not_a_number;
  return overflow && !infinite ? out_of_range : parsed;
}

// The number with anything unprintable replaced, cut if long.
static const char *shown(token t, char *text, size_t text_bytes) {
  size_t length = 0;
  for (const char *at = t.begin; at < t.end; at++) {
    if (length + 4 == text_bytes) {
      memcpy(text + length, "...", 3);
      length += 3;
      break;
    }
    text[length++] = isprint((unsigned char)*at) ? *at : '?';
  }
  text[length] = '\0';
  return text;
}

static int report_bad_line(const file_bytes *file, uint64_t line, token t, parse_result result, const type_info *type) {
  char text[44];
  if (t.begin == t.end) return report_failure("%s: line %" PRIu64 ": is empty, not a number", file->name, line);
  shown(t, text, sizeof text);
  if (result == out_of_range) {
    return report_failure("%s: line %" PRIu64 ": \"%s\" is out of range for %s", file->name, line, text, type->name);
  }
  if (type->kind != kind_float) {
    return report_failure("%s: line %" PRIu64 ": \"%s\" is not a number of type %s", file->name, line, text,
                          type->name);
  }
  return report_failure("%s: line %" PRIu64 ": \"%s\" is not a number", file->name, line, text);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Anything that no integer holds: a point, an exponent, inf, nan.
static const type_info *guess_type(token whole) {
  for (const char *at = whole.begin; at < whole.end; at++) {
    if (*at == '.' || (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z')) return type_by_dtype(GSORT_F64);
  }
  return type_by_dtype(GSORT_I64);
}

static uint64_t count_lines(token whole) {
  uint64_t lines = 0;
  for (const char *at = whole.begin; at < whole.end; at++) {
    lines++;
    at = memchr(at, '\n', (size_t)(whole.end - at));
    if (at == NULL) break;
  }
  return lines;
}

// Without a byte order mark at the start and empty lines at the end.
static token number_lines(const file_bytes *file) {
  token whole = {file->memory, file->memory + file->size_bytes};
  if (file->size_bytes >= 3 && memcmp(whole.begin, "\xef\xbb\xbf", 3) == 0) whole.begin += 3;
  while (whole.end > whole.begin && (is_blank(whole.end[-1]) || whole.end[-1] == '\n')) whole.end--;
  return whole;
}

static token next_line(token *rest) {
  const char *newline = memchr(rest->begin, '\n', (size_t)(rest->end - rest->begin));
  token line = {rest->begin, newline != NULL ? newline : rest->end};
  rest->begin = newline != NULL ? newline + 1 : rest->end;
  while (line.begin < line.end && is_blank(*line.begin)) line.begin++;
  while (line.end > line.begin && is_blank(line.end[-1])) line.end--;
  return line;
}

int text_parse(const file_bytes *file, const type_info *type, array *out) {
  token rest = number_lines(file);
  const uint64_t lines = count_lines(rest);
  if (type == NULL) type = guess_type(rest);
  out->type = type;
  if (lines > SIZE_MAX / type->size_bytes) return report_failure("%s: too many numbers", file->name);
  // One byte more, since malloc(0) may return NULL.
  char *elements = malloc((size_t)lines * type->size_bytes + 1);
  if (elements == NULL) return report_failure("%s: not enough memory for %" PRIu64 " numbers", file->name, lines);
  out->memory = elements;
  out->data = elements;
  for (uint64_t i = 0; i < lines; i++) {
    const token line = next_line(&rest);
    void *element = elements + i * type->size_bytes;
    parse_result result = not_a_number;
    if (line.begin < line.end) {
      result = type->kind == kind_float ? parse_float(line, type, element) : parse_integer(line, type, element);
    }
    if (result != parsed) return report_bad_line(file, i + 1, line, result, type);
  }
  out->count = lines;
  return exit_ok;
}
