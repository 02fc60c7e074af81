// SPDX-License-Identifier: MIT OR Apache-2.0
#include "options.h"

#include <stddef.h>
#include <string.h>

#include "report.h"

// What has been seen beyond the values in `options`.
typedef struct parse_state {
  options *out;
  bool has_k;
  file_format both_formats;
} parse_state;

typedef struct option_rule {
  const char *name;
  char letter;  // 0: none
  bool takes_value;
  uint32_t commands;  // command bits that it goes with
  int (*apply)(parse_state *state, const char *value);
} option_rule;

enum {
  ordering_commands = command_sort | command_argsort,
  reading_commands = command_sort | command_argsort | command_topk | command_sum | command_info
};

static int parse_count(const char *option, const char *value, uint64_t max, uint64_t *count) {
  uint64_t number = 0;
  if (*value == '\0') return report_usage("%s needs a number", option);
  for (const char *at = value; *at != '\0'; at++) {
    if (*at < '0' || *at > '9') return report_usage("%s: \"%s\" is not a whole number", option, value);
    const uint64_t digit = (uint64_t)(*at - '0');
    if (number > (max - digit) / 10) return report_usage("%s: %s is too great", option, value);
    number = number * 10 + digit;
  }
  *count = number;
  return exit_ok;
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

// Index of `value` among `names`, -1 if it is none of them.
static int index_among(const char *value, const char *const *names, int count) {
  for (int i = 0; i < count; i++) {
    if (strcmp(value, names[i]) == 0) return i;
  }
  return -1;
}

static int apply_type(parse_state *state, const char *value) {
  state->out->type = type_by_name(value);
  if (state->out->type != NULL) return exit_ok;
  return report_usage("--type: there is no type \"%s\": use one of %s", value, TYPE_NAMES);
}

static int apply_descending(parse_state *state, const char *value) {
  (void)value;
  state->out->flags |= GSORT_DESCENDING;
  return exit_ok;
}

static int apply_nan_last(parse_state *state, const char *value) {
  (void)value;
  state->out->flags |= GSORT_NAN_LAST;
  return exit_ok;
}

static int apply_smallest(parse_state *state, const char *value) {
  (void)value;
  state->out->flags |= GSORT_SMALLEST;
  return exit_ok;
}

static int apply_k(parse_state *state, const char *value) {
  state->has_k = true;
  return parse_count("--k", value, UINT64_MAX, &state->out->k);
}

static int apply_threads(parse_state *state, const char *value) {
  uint64_t count = 0;
  const int code = parse_count("--threads", value, UINT32_MAX, &count);
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

static const option_rule rules[] = {
    {"type", 't', true, reading_commands, apply_type},
    {"descending", 'd', false, ordering_commands, apply_descending},
    {"nan-last", 0, false, ordering_commands | command_topk | command_info, apply_nan_last},
    {"k", 'k', true, command_topk, apply_k},
    {"smallest", 0, false, command_topk, apply_smallest},
    {"output", 'o', true, reading_commands, apply_output},
    {"format", 'f', true, reading_commands, apply_format},
    {"input-format", 0, true, reading_commands, apply_input_format},
    {"output-format", 0, true, reading_commands, apply_output_format},
    {"backend", 0, true, reading_commands, apply_backend},
    {"threads", 0, true, reading_commands, apply_threads},
    {"progress", 0, true, reading_commands, apply_progress},
    {"help", 'h', false, reading_commands, apply_help},
    {"version", 'V', false, reading_commands, apply_version},
};

enum { rule_count = sizeof(rules) / sizeof(rules[0]) };

static const option_rule *rule_by_name(const char *name, size_t length) {
  for (int i = 0; i < rule_count; i++) {
    if (strlen(rules[i].name) == length && memcmp(rules[i].name, name, length) == 0) return &rules[i];
  }
  return NULL;
}

static const option_rule *rule_by_letter(char letter) {
  for (int i = 0; i < rule_count; i++) {
    if (letter != 0 && rules[i].letter == letter) return &rules[i];
  }
  return NULL;
}

// Takes the option at argv[*at], and its value, which may be the rest of the word or the next one.
static int parse_option(int argc, char **argv, int *at, parse_state *state) {
  const char *word = argv[*at];
  const bool is_long = word[1] == '-';
  const char *equals = is_long ? strchr(word, '=') : NULL;
  const size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
  const option_rule *rule = is_long ? rule_by_name(word + 2, length - 2) : rule_by_letter(word[1]);
  if (rule == NULL) return report_usage("there is no option %.*s", is_long ? (int)length : 2, word);
  const char *command_name = argv[1];
  if ((rule->commands & (uint32_t)state->out->command) == 0) {
    return report_usage("%s does not take the option --%s", command_name, rule->name);
  }
  const char *value = equals != NULL ? equals + 1 : NULL;
  if (!is_long && word[2] != '\0') value = word + 2;
  if (!rule->takes_value && value != NULL) return report_usage("--%s takes no value", rule->name);
  if (rule->takes_value && value == NULL) {
    if (*at + 1 == argc) return report_usage("--%s needs a value", rule->name);
    value = argv[++*at];
  }
  return rule->apply(state, value);
}

static bool asks_for_text(const options *out) {
  return out->command == command_help || out->command == command_version;
}

static int parse_words(int argc, char **argv, parse_state *state) {
  bool options_ended = false;
  for (int at = 2; at < argc; at++) {
    const char *word = argv[at];
    if (!options_ended && strcmp(word, "--") == 0) {
      options_ended = true;
    } else if (!options_ended && word[0] == '-' && word[1] != '\0') {
      const int code = parse_option(argc, argv, &at, state);
      if (code != exit_ok || asks_for_text(state->out)) return code;
    } else if (state->out->input_path != NULL) {
      return report_usage("one file at a time: \"%s\" is one too many", word);
    } else {
      state->out->input_path = word;
    }
  }
  return exit_ok;
}

static int parse_command(int argc, char **argv, options *out) {
  static const char *const names[] = {"sort", "argsort", "topk",    "sum", "info",     "help",
                                      "-h",   "--help",  "version", "-V",  "--version"};
  static const command commands[] = {command_sort,    command_argsort, command_topk,   command_sum,
                                     command_info,    command_help,    command_help,   command_help,
                                     command_version, command_version, command_version};
  if (argc < 2) return report_usage("no command: use sort, argsort, topk, sum or info");
  const int index = index_among(argv[1], names, (int)(sizeof(names) / sizeof(names[0])));
  if (index < 0) return report_usage("there is no command \"%s\": use sort, argsort, topk, sum or info", argv[1]);
  out->command = commands[index];
  return exit_ok;
}

// Formats that no option named.
static int settle_formats(parse_state *state) {
  options *out = state->out;
  const bool writes_text = out->command == command_sum || out->command == command_info;
  if (out->input_format == format_guess) out->input_format = state->both_formats;
  if (out->input_format == format_guess) out->input_format = format_of_path(out->input_path);
  if (out->output_format == format_guess && !writes_text) out->output_format = state->both_formats;
  if (out->output_format == format_guess) out->output_format = format_of_path(out->output_path);
  if (writes_text && out->output_format != format_text) {
    return report_usage("sum and info write text, not %s", format_name(out->output_format));
  }
  return exit_ok;
}

int options_parse(int argc, char **argv, options *out) {
  memset(out, 0, sizeof *out);
  parse_state state = {out, false, format_guess};
  int code = parse_command(argc, argv, out);
  if (code != exit_ok || asks_for_text(out)) return code;
  code = parse_words(argc, argv, &state);
  if (code != exit_ok || asks_for_text(out)) return code;
  if (out->command == command_topk && !state.has_k) return report_usage("topk needs --k, how many numbers to give");
  return settle_formats(&state);
}
