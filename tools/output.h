// SPDX-License-Identifier: MIT OR Apache-2.0
// Output that appears whole or not at all: a file is written under a temporary name in the target's folder, synced and
// renamed when it is complete. Failures and signals remove the temporary file.
#ifndef GSORT_TOOLS_OUTPUT_H_
#define GSORT_TOOLS_OUTPUT_H_

#include <stddef.h>

#include "report.h"

typedef struct output {
  const char *name;  // for sentences
  char *target;      // where the file goes in the end; NULL if it is written in place (stdout, a device, a pipe)
  char *temporary;
  char *buffer;
  size_t buffered_bytes;
  int fd;
} output;

// `path` "-" or NULL is stdout. All return an exit code.
int output_open(output *out, const char *path);
int output_write(output *out, const void *data, size_t bytes);
int output_format(output *out, const char *format, ...) TOOL_PRINTF_LIKE(2, 3);

// Makes the file appear. Does not free: output_close() always follows.
int output_commit(output *out);

// Removes what was not committed and frees.
void output_close(output *out);

#endif  // GSORT_TOOLS_OUTPUT_H_
