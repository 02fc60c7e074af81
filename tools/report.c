// SPDX-License-Identifier: MIT OR Apache-2.0
#include "report.h"

#include <stdarg.h>
#include <stdio.h>

#include "progress.h"

static void print_sentence(const char *format, va_list arguments) {
  progress_clear();
  fputs("gsort: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

int report_failure(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_sentence(format, arguments);
  va_end(arguments);
  return exit_failed;
}

int report_usage(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_sentence(format, arguments);
  va_end(arguments);
  fputs("Try: gsort --help\n", stderr);
  return exit_usage;
}
