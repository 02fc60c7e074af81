// SPDX-License-Identifier: MIT OR Apache-2.0
// Letters and shortened names mean what the command takes: -k is a column, or the k of topk. That, and sentences that
// name what was meant, is why getopt_long() does not read them.
#include "options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "parallel.h"
#include "report.h"

#define COMMAND_NAMES "sort, argsort, rank, topk, count, merge, scan, sum, mean, min, max, median, percentile or info"

static bool goes_with(const option_rule *rule, const options *out) {
  return (rule->commands & (uint32_t)out->command) != 0;
}

// The rule with this letter, rather one that goes with the command.
static const option_rule *rule_by_letter(char letter, const options *out) {
  const option_rule *found = NULL;
  for (int i = 0; i < option_rule_count; i++) {
    const option_rule *rule = &option_rules[i];
    if (letter != 0 && rule->letter == letter && (found == NULL || goes_with(rule, out))) found = rule;
  }
  return found;
}

// The rule of this name, or the only one of the command's whose name begins so.
static int rule_by_name(const char *name, size_t length, const options *out, const option_rule **found) {
  const option_rule *prefix = NULL, *foreign = NULL, *second = NULL;
  for (int i = 0; i < option_rule_count; i++) {
    const option_rule *rule = &option_rules[i];
    if (strncmp(rule->name, name, length) != 0) continue;
    const bool exact = rule->name[length] == '\0';
    if (!goes_with(rule, out)) {
      if (exact) foreign = rule;
      continue;
    }
    if (exact) {
      *found = rule;
      return exit_ok;
    }
    if (prefix == NULL) prefix = rule;
    if (prefix->apply != rule->apply) second = rule;
  }
  *found = prefix != NULL ? prefix : foreign;
  if (length == 0 || *found == NULL) return report_usage("there is no option --%.*s", (int)length, name);
  if (second == NULL) return exit_ok;
  return report_usage("--%.*s may be --%s or --%s", (int)length, name, prefix->name, second->name);
}

static int apply_rule(const option_rule *rule, const char *command_name, const char *value, parse_state *state) {
  if (!goes_with(rule, state->out)) {
    if (state->out->command == command_merge) command_name = "merge";
    return report_usage("%s does not take the option --%s", command_name, rule->name);
  }
  const char **before = &state->values[rule - option_rules];
  if (rule->value == value_once && *before != NULL && strcmp(*before, value) != 0) {
    return report_usage("--%s is given twice, as \"%s\" and as \"%s\"", rule->name, *before, value);
  }
  *before = value;
  state->out->given |= UINT64_C(1) << (rule - option_rules);
  return rule->apply(state, value);
}

// --name, --name=value or --name value.
static int parse_long(int argc, char **argv, int *at, parse_state *state) {
  const char *name = argv[*at] + 2, *equals = strchr(name, '=');
  const option_rule *rule;
  const int code = rule_by_name(name, equals != NULL ? (size_t)(equals - name) : strlen(name), state->out, &rule);
  if (code != exit_ok) return code;
  const char *value = equals != NULL ? equals + 1 : NULL;
  if (rule->value == value_none && value != NULL) return report_usage("--%s takes no value", rule->name);
  if (rule->value != value_none && value == NULL) {
    if (*at + 1 == argc) return report_usage("--%s needs a value", rule->name);
    value = argv[++*at];
  }
  return apply_rule(rule, argv[1], value, state);
}

static bool asks_for_text(const options *out) {
  return out->command == command_help || out->command == command_version;
}

// -a, -abc, -kVALUE, -abk VALUE.
static int parse_letters(int argc, char **argv, int *at, parse_state *state) {
  for (const char *letter = argv[*at] + 1; *letter != '\0'; letter++) {
    const option_rule *rule = rule_by_letter(*letter, state->out);
    if (rule == NULL) return report_usage("there is no option -%c", *letter);
    const char *value = NULL;
    if (rule->value != value_none) {
      value = letter[1] != '\0' ? letter + 1 : NULL;
      if (value == NULL && *at + 1 < argc) value = argv[++*at];
      if (value == NULL) return report_usage("-%c, --%s needs a value", *letter, rule->name);
    }
    const int code = apply_rule(rule, argv[1], value, state);
    // To sort(1) they are orders, whose users would find a text that they did not ask for in the place of a result.
    if (code == exit_ok && asks_for_text(state->out) && argc > 3) {
      return report_usage("-%c is --%s here and stands alone; there is no such order", *letter, rule->name);
    }
    if (code != exit_ok || rule->value != value_none) return code;
  }
  return exit_ok;
}

// Options are taken; the other words move to the front of argv[2...], in their order.
static int parse_words(int argc, char **argv, parse_state *state) {
  bool options_ended = false;
  options *out = state->out;
  for (int at = 2; at < argc; at++) {
    char *word = argv[at];
    int code = exit_ok;
    if (!options_ended && strcmp(word, "--") == 0) {
      options_ended = true;
    } else if (!options_ended && word[0] == '-' && word[1] == '-') {
      code = parse_long(argc, argv, &at, state);
    } else if (!options_ended && word[0] == '-' && word[1] != '\0') {
      code = parse_letters(argc, argv, &at, state);
    } else {
      argv[2 + out->path_count++] = word;
    }
    if (code != exit_ok || asks_for_text(out)) return code;
  }
  out->paths = (const char *const *)(argv + 2);
  return exit_ok;
}

static int parse_command(int argc, char **argv, options *out) {
  static const char *const names[] = {"sort", "argsort", "rank", "topk",   "count",   "merge",      "scan",
                                      "sum",  "mean",    "min",  "max",    "median",  "percentile", "percentiles",
                                      "info", "help",    "-h",   "--help", "version", "-V",         "--version"};
  static const command_kind commands[] = {
      command_sort,       command_argsort,    command_rank,   command_topk, command_count, command_merge,
      command_scan,       command_sum,        command_mean,   command_min,  command_max,   command_median,
      command_percentile, command_percentile, command_info,   command_help, command_help,  command_help,
      command_version,    command_version,    command_version};
  if (argc < 2) return report_usage("no command: use " COMMAND_NAMES);
  const int index = index_among(argv[1], names, (int)(sizeof(names) / sizeof(names[0])));
  if (index < 0) return report_usage("there is no command \"%s\": use " COMMAND_NAMES, argv[1]);
  out->command = commands[index];
  return exit_ok;
}

// The format that the names of the files tell; guess where none does. Of a file whose name tells nothing, such as a
// pipe, the first bytes have the last word, so that it may stand beside others; but a raw file has no such bytes.
static int settle_input_format(options *out) {
  const char *named = NULL, *nameless = NULL;
  for (int i = 0; i < out->path_count; i++) {
    const file_format format = format_of_path(out->paths[i]);
    const char **first = format == format_guess ? &nameless : &named;
    if (*first == NULL) *first = out->paths[i];
    if (format != format_guess && format != format_of_path(named)) {
      return report_usage("%s and %s are of different formats: give --input-format", named, out->paths[i]);
    }
  }
  if (named != NULL) out->input_format = format_of_path(named);
  if (nameless == NULL || out->input_format != format_raw) return exit_ok;
  return report_usage("%s is raw, and the name of %s does not say what it is: give --input-format", named, nameless);
}

// Formats that no option named. Several files have one format.
static int settle_formats(parse_state *state) {
  options *out = state->out;
  const bool writes_text = (out->command & (command_sum | command_mean | command_min | command_max | command_median |
                                            command_percentile | command_info)) != 0;
  if (out->input_format == format_guess) out->input_format = state->both_formats;
  const int code = out->input_format == format_guess ? settle_input_format(out) : exit_ok;
  if (code != exit_ok) return code;
  if (out->output_format == format_guess && !(writes_text && out->axis_is != axis_number)) {
    out->output_format = state->both_formats;
  }
  if (out->output_format == format_guess) out->output_format = format_of_path(out->output_path);
  if (out->output_format == format_guess) out->output_format = format_text;
  if (writes_text && out->axis_is != axis_number && out->output_format != format_text) {
    return report_usage("this command writes text, not %s", format_name(out->output_format));
  }
  return exit_ok;
}

int options_parse(int argc, char **argv, options *out) {
  memset(out, 0, sizeof *out);
  parse_state state = {out, false, format_guess, {NULL}};
  int code = parse_command(argc, argv, out);
  if (code != exit_ok || asks_for_text(out)) return code;
  code = parse_words(argc, argv, &state);
  if (code != exit_ok || asks_for_text(out)) return code;
  out->lines.threads = parallel_threads(out->threads);
  code = options_check_together(&state, argv[1]);
  return code == exit_ok ? settle_formats(&state) : code;
}
