// SPDX-License-Identifier: MIT OR Apache-2.0
// Error sentences and exit codes of the tool. A function that can fail prints its sentence and returns the exit code.
#ifndef GSORT_TOOLS_REPORT_H_
#define GSORT_TOOLS_REPORT_H_

enum { exit_ok = 0, exit_failed = 1, exit_usage = 2 };

#if defined(__GNUC__)
#define TOOL_PRINTF_LIKE(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#else
#define TOOL_PRINTF_LIKE(format_index, first_index)
#endif

// Prints "gsort: <sentence>" on stderr and returns exit_failed.
int report_failure(const char *format, ...) TOOL_PRINTF_LIKE(1, 2);

// Prints "gsort: <sentence>" and where help is, and returns exit_usage.
int report_usage(const char *format, ...) TOOL_PRINTF_LIKE(1, 2);

#endif  // GSORT_TOOLS_REPORT_H_
