// SPDX-License-Identifier: MIT OR Apache-2.0
// The command line.
#ifndef GSORT_TOOLS_OPTIONS_H_
#define GSORT_TOOLS_OPTIONS_H_

#include <stdbool.h>
#include <stdint.h>

#include "input.h"
#include "lines.h"
#include "progress.h"
#include "types.h"

typedef enum command_kind {
  command_help = 1 << 0,
  command_version = 1 << 1,
  command_sort = 1 << 2,
  command_argsort = 1 << 3,
  command_rank = 1 << 4,
  command_topk = 1 << 5,
  command_count = 1 << 6,
  command_merge = 1 << 7,
  command_scan = 1 << 8,
  command_sum = 1 << 9,
  command_mean = 1 << 10,
  command_min = 1 << 11,
  command_max = 1 << 12,
  command_median = 1 << 13,
  command_percentile = 1 << 14,
  command_info = 1 << 15
} command_kind;

typedef enum check_mode { check_off, check_told, check_quiet } check_mode;
typedef enum axis_mode { axis_unset, axis_number, axis_none } axis_mode;

enum { percentiles_max = 64, percentile_scale = 1000000 };

typedef struct options {
  command_kind command;
  const char *const *paths;  // as named; none: standard input
  int path_count;
  const char *output_path;       // NULL: none was named
  const char *temporary_folder;  // NULL: beside the output
  file_format input_format;
  file_format output_format;
  line_rules lines;  // also holds --type and the flags of the library's calls
  uint64_t k;
  bool unique;
  check_mode check;
  axis_mode axis_is;
  int64_t axis;
  uint64_t percentiles[percentiles_max];  // in steps of 1 / percentile_scale of a percent
  int percentile_count;
  uint64_t memory_bytes;  // 0: by the machine
  uint32_t backend;
  uint32_t threads;
  progress_mode progress;
  uint64_t given;  // a bit for each of option_rules[]
} options;

// Sorts argv's words, so that paths lie together. Formats are guessed here, so that none is format_guess afterwards
// but that of input which is told by its first bytes. Returns an exit code.
int options_parse(int argc, char **argv, options *out);

// Once the input's format is known: whether all options have a meaning with it, so that none is passed over in silence.
// format_guess: nothing is read. Returns an exit code.
int options_check_input(const options *opt, file_format format);

extern const char *const help_texts[];  // one after another; NULL ends them

// Used by options_parse() and the rules of the single options.
typedef struct parse_state {
  options *out;
  bool has_k;
  file_format both_formats;
  const char *values[64];  // of the options that were given, by their rules
} parse_state;

enum {
  line_commands = command_sort | command_argsort | command_rank | command_topk | command_count | command_merge |
                  command_min | command_max | command_median | command_percentile,
  reading_commands = line_commands | command_scan | command_sum | command_mean | command_info,
  external_commands = command_sort | command_count | command_median | command_percentile,  // and merge
  ordering_commands = line_commands & ~(command_topk | command_min | command_max | command_median | command_percentile)
};

// What an option may be given with. Most that take a value take one, since a second would make nothing of the first;
// the rest says how work is done, where the last one counts, or looks after itself.
typedef enum value_rule { value_none, value_once, value_repeated } value_rule;

// What is read.
enum { input_text = 1 << 0, input_npy = 1 << 1, input_raw = 1 << 2, input_none = 1 << 3 };

typedef struct option_rule {
  const char *name;
  char letter;  // 0: none
  value_rule value;
  uint32_t commands;  // command bits that it goes with
  uint32_t inputs;    // bits of the inputs with which it has a meaning
  int (*apply)(parse_state *state, const char *value);
} option_rule;

extern const option_rule option_rules[];
extern const int option_rule_count;

// What several options say together, once all are read. Returns an exit code.
int options_check_together(const parse_state *state, const char *command_name);

// Words and numbers of option values.
int parse_count(const char *option, const char *value, uint64_t max, uint64_t *count);
int index_among(const char *value, const char *const *names, int count);  // -1: none of them

#endif  // GSORT_TOOLS_OPTIONS_H_
