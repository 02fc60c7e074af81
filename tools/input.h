// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads a file or standard input into an array.
#ifndef GSORT_TOOLS_INPUT_H_
#define GSORT_TOOLS_INPUT_H_

#include <stddef.h>

#include "types.h"

typedef enum file_format { format_guess, format_npy, format_raw, format_text } file_format;

// "npy", "raw", "text".
const char *format_name(file_format format);

// By the extension; text for "-", NULL and any extension that is not known.
file_format format_of_path(const char *path);

// Bytes of a whole file.
typedef struct file_bytes {
  const char *name;  // for sentences
  char *memory;      // malloc'd; one NUL follows the bytes
  size_t size_bytes;
} file_bytes;

// `format` is not format_guess. `type` NULL: what the file says, for text the type that its numbers ask for, an error
// for raw. Returns an exit code.
int input_load(const char *path, file_format format, const type_info *type, array *out);

#endif  // GSORT_TOOLS_INPUT_H_
