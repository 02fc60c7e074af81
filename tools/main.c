// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort: sorts, selects and sums arrays in files. The public API alone is used.
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "commands.h"
#include "gsort.h"
#include "options.h"
#include "output.h"

static int write_text(const char *text) {
  output out;
  int code = output_open(&out, NULL);
  if (code == exit_ok) code = output_write(&out, text, strlen(text));
  if (code == exit_ok) code = output_commit(&out);
  output_close(&out);
  return code;
}

static int write_version(void) {
  char line[64];
  snprintf(line, sizeof line, "gsort %s\n", gsort_version_string());
  return write_text(line);
}

int main(int argc, char **argv) {
  options opt;
  cleanup_install();
  const int code = options_parse(argc, argv, &opt);
  if (code != exit_ok) return code;
  if (opt.command == command_help) return write_text(help_text);
  if (opt.command == command_version) return write_version();
  return command_run(&opt);
}
