// SPDX-License-Identifier: MIT OR Apache-2.0
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "memory_limit.h"
#include "options.h"
#include "report.h"

int parse_count(const char *option, const char *value, uint64_t max, uint64_t *count) {
  uint64_t total = 0;
  if (*value == '\0') return report_usage("%s needs a number", option);
  for (const char *at = value; *at != '\0'; at++) {
    if (*at < '0' || *at > '9') return report_usage("%s: \"%s\" is not a whole number", option, value);
    const uint64_t digit = (uint64_t)(*at - '0');
    if (total > (max - digit) / 10) return report_usage("%s: %s is too great", option, value);
    total = total * 10 + digit;
  }
  *count = total;
  return exit_ok;
}

int index_among(const char *value, const char *const *names, int count) {
  for (int i = 0; i < count; i++) {
    if (strcmp(value, names[i]) == 0) return i;
  }
  return -1;
}

static int parse_format(const char *option, const char *value, file_format *format) {
  static const file_format formats[] = {format_npy, format_raw, format_text};
  for (int i = 0; i < 3; i++) {
    if (strcmp(value, format_name(formats[i])) == 0) {
      *format = formats[i];
      return exit_ok;
    }
  }
  return report_usage("%s: there is no format \"%s\": use npy, raw or text", option, value);
}

static int apply_type(parse_state *state, const char *value) {
  state->out->lines.type = type_by_name(value);
  if (state->out->lines.type != NULL) return exit_ok;
  return report_usage("--type: there is no type \"%s\": use one of %s", value, TYPE_NAMES);
}

static int apply_descending(parse_state *state, const char *value) {
  (void)value;
  state->out->lines.flags |= GSORT_DESCENDING;
  return exit_ok;
}

static int apply_nan_last(parse_state *state, const char *value) {
  (void)value;
  state->out->lines.flags |= GSORT_NAN_LAST;
  return exit_ok;
}

static int apply_smallest(parse_state *state, const char *value) {
  (void)value;
  state->out->lines.flags |= GSORT_SMALLEST;
  return exit_ok;
}

// What sort(1) needs to be told and this program does anyway: compare numbers, keep equal lines in order.
static int apply_nothing(parse_state *state, const char *value) {
  (void)state;
  (void)value;
  return exit_ok;
}

static int apply_k(parse_state *state, const char *value) {
  state->has_k = true;
  return parse_count("--k", value, UINT64_MAX, &state->out->k);
}

// A column's number and letters behind it; leaves `*value` behind them.
static int take_column(parse_state *state, const char *all, const char **value, uint64_t *column) {
  char *end;
  *column = isdigit((unsigned char)**value) ? strtoull(*value, &end, 10) : 0;
  if (*column == 0) return report_usage("--key: \"%s\" is not the number of a column, from 1", all);
  for (; *end == 'n' || *end == 'g' || *end == 'r' || *end == 'b'; end++) {
    if (*end == 'r') state->out->lines.flags |= GSORT_DESCENDING;
  }
  *value = end;
  return exit_ok;
}

// N, or as sort(1) has it: N,N and the letters n, g, b and r.
static int apply_key(parse_state *state, const char *value) {
  const char *at = value;
  uint64_t last;
  if (state->out->lines.column != 0) {
    return report_usage("--key: there is one key; sort by the lesser one first, then by the other: sorts are stable");
  }
  int code = take_column(state, value, &at, &state->out->lines.column);
  if (code != exit_ok) return code;
  if (*at == ',') {
    at++;
    code = take_column(state, value, &at, &last);
    if (code != exit_ok) return code;
    if (last != state->out->lines.column) return report_usage("--key: \"%s\": the key is one column, as in 2,2", value);
  }
  return *at == '\0' ? exit_ok : report_usage("--key: \"%s\" is not a column: give its number, such as 2", value);
}

static int apply_separator(parse_state *state, const char *value) {
  if (strcmp(value, "\\t") == 0) value = "\t";
  const char c = value[0];
  if (c == '\0' || value[1] != '\0' || c == '\n') {
    return report_usage("--field-separator: \"%s\" is not one character (the type of the numbers is --type)", value);
  }
  state->out->lines.separator = c;
  return exit_ok;
}

static int apply_comments(parse_state *state, const char *value) {
  const char c = value[0];
  if (c == '\0' || value[1] != '\0' || isspace((unsigned char)c) || isalnum((unsigned char)c) ||
      strchr("+-.", c) != NULL) {
    return report_usage("--comments: \"%s\" is not one character with which no number begins, such as #", value);
  }
  state->out->lines.comment = c;
  return exit_ok;
}

static int apply_skip_blank(parse_state *state, const char *value) {
  (void)value;
  state->out->lines.skip_blank = true;
  return exit_ok;
}

static int apply_hex(parse_state *state, const char *value) {
  (void)value;
  state->out->lines.hexadecimal = true;
  return exit_ok;
}

static int apply_unique(parse_state *state, const char *value) {
  (void)value;
  state->out->unique = true;
  return exit_ok;
}

static int apply_check(parse_state *state, const char *value) {
  (void)value;
  state->out->check = check_told;
  return exit_ok;
}

static int apply_check_quiet(parse_state *state, const char *value) {
  (void)value;
  state->out->check = check_quiet;
  return exit_ok;
}

static int apply_merge(parse_state *state, const char *value) {
  (void)value;
  state->out->command = command_merge;
  return exit_ok;
}

// A decimal number up to 100 with at most six digits behind the point.
static int parse_percentile(const char *text, size_t length, uint64_t *percentile) {
  uint64_t value = 0, scale = percentile_scale;
  bool point = false, digits = false, good = length > 0 && length < 16;
  for (size_t i = 0; good && i < length; i++) {
    if (text[i] == '.') {
      good = !point;
      point = true;
      continue;
    }
    good = isdigit((unsigned char)text[i]) != 0 && (!point || scale > 1);
    digits = true;
    value = value * 10 + (uint64_t)(text[i] - '0');
    if (point) scale /= 10;
  }
  *percentile = value * scale;
  if (good && digits && *percentile <= (uint64_t)100 * percentile_scale) return exit_ok;
  return report_usage("--percentiles: \"%.*s\" is not a number from 0 to 100 with up to six decimals", (int)length,
                      text);
}

static int apply_percentiles(parse_state *state, const char *value) {
  options *out = state->out;
  for (;;) {
    const size_t length = strcspn(value, ",");
    if (out->percentile_count == percentiles_max) return report_usage("--percentiles: more than %d", percentiles_max);
    const int code = parse_percentile(value, length, &out->percentiles[out->percentile_count++]);
    if (code != exit_ok) return code;
    if (value[length] == '\0') return exit_ok;
    value += length + 1;
  }
}

static int apply_axis(parse_state *state, const char *value) {
  if (strcmp(value, "none") == 0) {
    state->out->axis_is = axis_none;
    return exit_ok;
  }
  uint64_t count = 0;
  const bool negative = value[0] == '-';
  if (!isdigit((unsigned char)value[negative])) {
    return report_usage("--axis: \"%s\" is not the number of an axis, such as 0 or -1 for the last, nor none", value);
  }
  const int code = parse_count("--axis", value + negative, 31, &count);
  state->out->axis_is = axis_number;
  state->out->axis = negative ? -(int64_t)count : (int64_t)count;
  return code;
}

// A percentage of the memory that there is.
static int apply_percentage(parse_state *state, const char *digits) {
  uint64_t percent = 0;
  const int code = parse_count("--memory", digits, 100, &percent);
  if (code != exit_ok) return code;
  state->out->memory_bytes = memory_available() / 100 * percent;
  return percent > 0 ? exit_ok : report_usage("--memory: no memory is not enough");
}

// A number and a unit.
static int apply_memory(parse_state *state, const char *value) {
  static const char units[] = "%bKMGT";
  const size_t length = strlen(value);
  // As sort(1) has it, k, m, g and t are the same.
  const char last = length > 1 ? value[length - 1] : '\0';
  const char *unit = last == '\0' ? NULL : strchr(units, last == 'b' ? last : toupper((unsigned char)last));
  char digits[24];
  if (unit == NULL || length > sizeof digits) {
    return report_usage("--memory: \"%s\" is not a number and a unit %%, b, K, M, G or T, such as 512M", value);
  }
  memcpy(digits, value, length - 1);
  digits[length - 1] = '\0';
  if (*unit == '%') return apply_percentage(state, digits);
  const unsigned shift = 10 * (unsigned)(unit - units - 1);
  uint64_t count = 0;
  const int code = parse_count("--memory", digits, UINT64_MAX >> shift, &count);
  if (code != exit_ok) return code;
  if (count == 0) return report_usage("--memory: no memory is not enough");
  state->out->memory_bytes = count << shift;
  return exit_ok;
}

static int apply_temporary(parse_state *state, const char *value) {
  if (*value == '\0') return report_usage("--temporary-directory needs the name of a folder");
  state->out->temporary_folder = value;
  return exit_ok;
}

static int apply_threads(parse_state *state, const char *value) {
  enum { threads_max = 4096 };  // that a handle takes
  uint64_t count = 0;
  const int code = parse_count("--threads", value, threads_max, &count);
  state->out->threads = (uint32_t)count;
  return code;
}

static int apply_backend(parse_state *state, const char *value) {
  static const char *const names[] = {"auto", "cpu", "cuda"};
  static const uint32_t backends[] = {GSORT_BACKEND_AUTO, GSORT_BACKEND_CPU, GSORT_BACKEND_CUDA};
  const int index = index_among(value, names, 3);
  if (index < 0) return report_usage("--backend: there is no backend \"%s\": use auto, cpu or cuda", value);
  state->out->backend = backends[index];
  return exit_ok;
}

static int apply_progress(parse_state *state, const char *value) {
  static const char *const names[] = {"auto", "on", "off"};
  static const progress_mode modes[] = {progress_auto, progress_on, progress_off};
  const int index = index_among(value, names, 3);
  if (index < 0) return report_usage("--progress: there is no \"%s\": use auto, on or off", value);
  state->out->progress = modes[index];
  return exit_ok;
}

static int apply_output(parse_state *state, const char *value) {
  if (*value == '\0') return report_usage("--output needs the name of a file");
  state->out->output_path = value;
  return exit_ok;
}

static int apply_format(parse_state *state, const char *value) {
  return parse_format("--format", value, &state->both_formats);
}

static int apply_input_format(parse_state *state, const char *value) {
  return parse_format("--input-format", value, &state->out->input_format);
}

static int apply_output_format(parse_state *state, const char *value) {
  return parse_format("--output-format", value, &state->out->output_format);
}

static int apply_help(parse_state *state, const char *value) {
  (void)value;
  state->out->command = command_help;
  return exit_ok;
}

static int apply_version(parse_state *state, const char *value) {
  (void)value;
  state->out->command = command_version;
  return exit_ok;
}

enum {
  axis_commands = command_sort | command_argsort | command_rank | command_topk | command_scan | command_sum |
                  command_mean | command_min | command_max,
  nan_commands = reading_commands & ~(command_sum | command_mean | command_scan),
  arrays = input_npy | input_raw,
  files = input_text | arrays,
  any = files | input_none
};

const option_rule option_rules[] = {
    {"type", 0, value_once, reading_commands, files, apply_type},
    {"descending", 'd', value_none, ordering_commands, files, apply_descending},
    {"reverse", 'r', value_none, ordering_commands, files, apply_descending},
    {"numeric-sort", 'n', value_none, line_commands, files, apply_nothing},
    {"general-numeric-sort", 'g', value_none, line_commands, files, apply_nothing},
    {"stable", 's', value_none, line_commands, files, apply_nothing},
    {"ignore-leading-blanks", 'b', value_none, line_commands, files, apply_nothing},
    {"nan-last", 0, value_none, nan_commands, files, apply_nan_last},
    {"k", 'k', value_once, command_topk, files, apply_k},
    {"key", 'k', value_repeated, reading_commands & ~command_topk, input_text, apply_key},
    {"key", 0, value_repeated, command_topk, input_text, apply_key},
    {"field-separator", 't', value_once, reading_commands, input_text, apply_separator},
    {"skip-blank", 'B', value_none, reading_commands, input_text, apply_skip_blank},
    {"comments", '#', value_once, reading_commands, input_text, apply_comments},
    {"hex", 'x', value_none, reading_commands, input_text, apply_hex},
    {"unique", 'u', value_none, command_sort | command_merge, files, apply_unique},
    {"check", 'c', value_none, command_sort, files, apply_check},
    {"check-quiet", 'C', value_none, command_sort, files, apply_check_quiet},
    {"merge", 'm', value_none, command_sort | command_merge, files, apply_merge},
    {"smallest", 0, value_none, command_topk, files, apply_smallest},
    {"percentiles", 'p', value_repeated, command_percentile, files, apply_percentiles},
    {"axis", 0, value_once, axis_commands, arrays, apply_axis},
    {"output", 'o', value_once, reading_commands, any, apply_output},
    {"format", 'f', value_once, reading_commands, files, apply_format},
    {"input-format", 0, value_once, reading_commands, files, apply_input_format},
    {"output-format", 0, value_once, reading_commands, any, apply_output_format},
    {"memory", 'S', value_repeated, external_commands | command_merge, files, apply_memory},
    {"buffer-size", 0, value_repeated, external_commands | command_merge, files, apply_memory},
    {"temporary-directory", 'T', value_repeated, external_commands | command_merge, files, apply_temporary},
    {"backend", 0, value_repeated, reading_commands, any, apply_backend},
    {"threads", 0, value_repeated, reading_commands, any, apply_threads},
    {"parallel", 0, value_repeated, reading_commands, any, apply_threads},
    {"progress", 0, value_repeated, reading_commands, any, apply_progress},
    {"help", 'h', value_none, reading_commands, any, apply_help},
    {"version", 'V', value_none, reading_commands, any, apply_version},
};

const int option_rule_count = sizeof(option_rules) / sizeof(option_rules[0]);
