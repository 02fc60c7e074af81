// SPDX-License-Identifier: MIT OR Apache-2.0
// Output that appears whole or not at all: a file is written without a name in the target's folder, synced, named and
// put in the target's place when it is complete, so that whatever ends the program before leaves nothing. Where the
// system has no files without a name, it has a temporary one, which failures and signals remove.
#ifndef GSORT_TOOLS_OUTPUT_H_
#define GSORT_TOOLS_OUTPUT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "past_cache.h"
#include "report.h"

typedef struct output {
  const char *name;  // for sentences
  char *target;      // where the file goes in the end; NULL if it is written in place (stdout, a device, a pipe)
  char *temporary;   // its name until then; NULL once it has none
  bool nameless;     // the temporary name is not given yet
  char *buffer;
  size_t buffered_bytes;
  uint64_t written_bytes;   // in all, those in the buffer included
  uint64_t unsynced_bytes;  // of a file: those that the system was not told to put on the disk yet
  past_cache direct;        // of a file that is long
  int fd;

  // Not NULL: what is written is given to it, and the output is nothing else.
  int (*take)(void *context, const char *bytes, size_t count);
  void *context;
} output;

// `path` "-" or NULL is stdout. All return an exit code.
int output_open(output *out, const char *path);

// A file without a name in a folder, which is gone when it is closed. It can be read back, once it is flushed.
int output_open_scratch(output *out, const char *folder);
int output_flush(output *out);
// Of a file that nothing was written to: from here on it is written past the page cache, where that can be done.
void output_pass_cache(output *out);
int output_write(output *out, const void *data, size_t bytes);
// In place of as many bytes that were written and flushed.
int output_rewrite(output *out, uint64_t offset, const void *data, size_t bytes);
int output_format(output *out, const char *format, ...) TOOL_PRINTF_LIKE(2, 3);

// Makes the file appear. Does not free: output_close() always follows.
int output_commit(output *out);

// Removes what was not committed and frees.
void output_close(output *out);

#endif  // GSORT_TOOLS_OUTPUT_H_
