// SPDX-License-Identifier: MIT OR Apache-2.0
// The command line.
#ifndef GSORT_TOOLS_OPTIONS_H_
#define GSORT_TOOLS_OPTIONS_H_

#include <stdbool.h>
#include <stdint.h>

#include "input.h"
#include "progress.h"
#include "types.h"

typedef enum command {
  command_help = 1 << 0,
  command_version = 1 << 1,
  command_sort = 1 << 2,
  command_argsort = 1 << 3,
  command_topk = 1 << 4,
  command_sum = 1 << 5,
  command_info = 1 << 6
} command;

typedef struct options {
  command command;
  const char *input_path;   // NULL: none was named
  const char *output_path;  // NULL: none was named
  const type_info *type;    // NULL: by the input
  file_format input_format;
  file_format output_format;
  uint32_t flags;  // of the library's calls
  uint64_t k;
  uint32_t backend;
  uint32_t threads;
  progress_mode progress;
} options;

// Formats are guessed here, so that none is format_guess afterwards. Returns an exit code.
int options_parse(int argc, char **argv, options *out);

extern const char help_text[];

#endif  // GSORT_TOOLS_OPTIONS_H_
