// SPDX-License-Identifier: MIT OR Apache-2.0
// Which options go with each other and with the input. One that would be passed over in silence is refused.
#include <stddef.h>
#include <string.h>

#include "options.h"
#include "report.h"

static bool is_given(const options *opt, const char *name) {
  for (int i = 0; i < option_rule_count; i++) {
    if ((opt->given >> i & 1) != 0 && strcmp(option_rules[i].name, name) == 0) return true;
  }
  return false;
}

// -m makes another command of sort, behind options that the first one takes.
static int check_command(const options *opt, const char *name) {
  for (int i = 0; i < option_rule_count; i++) {
    if ((opt->given >> i & 1) == 0 || (option_rules[i].commands & (uint32_t)opt->command) != 0) continue;
    return report_usage("%s does not take the option --%s", opt->command == command_merge ? "merge" : name,
                        option_rules[i].name);
  }
  return exit_ok;
}

static int check_pairs(const options *opt) {
  static const struct {
    const char *first, *second, *why;
  } pairs[] = {
      {"check", "output", "--check writes nothing: no --output"},
      {"check", "output-format", "--check writes nothing: no --output-format"},
      {"check-quiet", "output", "--check-quiet writes nothing: no --output"},
      {"check-quiet", "output-format", "--check-quiet writes nothing: no --output-format"},
  };
  for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
    if (is_given(opt, pairs[i].first) && is_given(opt, pairs[i].second)) return report_usage("%s", pairs[i].why);
  }
  if (is_given(opt, "format") && is_given(opt, "input-format") && is_given(opt, "output-format")) {
    return report_usage("--format says nothing beside both --input-format and --output-format");
  }
  if (opt->unique && opt->axis_is == axis_number) {
    return report_usage("--unique takes all elements as one row: no --axis but none");
  }
  return exit_ok;
}

int options_check_together(const parse_state *state, const char *command_name) {
  const options *opt = state->out;
  if (opt->command == command_topk && !state->has_k) return report_usage("topk needs --k, how many numbers to give");
  if (opt->command == command_percentile && opt->percentile_count == 0) {
    return report_usage("percentile needs --percentiles, such as 50,90,99");
  }
  if (opt->lines.separator != 0 && opt->lines.column == 0) {
    return report_usage("--field-separator needs --key, the number of a column");
  }
  const int code = check_command(opt, command_name);
  return code == exit_ok ? check_pairs(opt) : code;
}

static uint32_t input_of(file_format format) {
  switch (format) {
    case format_text:
      return input_text;
    case format_npy:
      return input_npy;
    case format_raw:
      return input_raw;
    default:
      return input_none;
  }
}

// Text is added up, merged and checked, and arrays are checked, where their numbers are read.
static const char *work_of_the_cpu(const options *opt, uint32_t input) {
  if (opt->check != check_off) return "checks";
  if (input != input_text || opt->output_format != format_text) return NULL;
  if ((opt->command & (command_sum | command_mean)) != 0) return "sums and means of text";
  return opt->command == command_merge ? "merges of text" : NULL;
}

int options_check_input(const options *opt, file_format format) {
  const uint32_t input = input_of(format);
  for (int i = 0; i < option_rule_count; i++) {
    const option_rule *rule = &option_rules[i];
    if ((opt->given >> i & 1) == 0 || (rule->inputs & input) != 0) continue;
    if (input == input_none) return report_usage("--%s goes with a file, or - for standard input", rule->name);
    return report_usage("--%s goes with %s, and the input is %s", rule->name,
                        rule->inputs == input_text ? "text" : ".npy and raw files", format_name(format));
  }
  const char *work = opt->backend == GSORT_BACKEND_CUDA ? work_of_the_cpu(opt, input) : NULL;
  return work == NULL ? exit_ok : report_usage("--backend cuda: %s are the CPU's in any case", work);
}
