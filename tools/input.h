// SPDX-License-Identifier: MIT OR Apache-2.0
// Files and standard input: what they hold, and raw and .npy ones as arrays.
#ifndef GSORT_TOOLS_INPUT_H_
#define GSORT_TOOLS_INPUT_H_

#include <stddef.h>
#include <stdint.h>

#include "types.h"

typedef enum file_format { format_guess, format_npy, format_raw, format_text } file_format;

// "npy", "raw", "text".
const char *format_name(file_format format);

// By the extension; format_guess where it says nothing, and for "-" and NULL.
file_format format_of_path(const char *path);

// npy if the file, or standard input, begins as such a file does, otherwise text.
file_format format_of_content(const char *path);

// Opens a file, or standard input ("-" or NULL), after a sentence -1. `*name` is for sentences.
int input_open(const char *path, const char **name);

// read(), with what format_of_content() took from a pipe given first, and interruptions passed over.
long input_read(int fd, void *to, size_t bytes);

// pread(), with interruptions passed over.
long input_read_at(int fd, void *to, size_t bytes, uint64_t offset);

// Tells the system that these bytes will be read soon, so that it reads them while something else is done.
void input_expect(int fd, uint64_t offset, uint64_t bytes);

// Gives the place of bytes that were read, and will not be again, back to the disk, in whole blocks. Of the tool's own
// files; where the file system cannot, they lie there until the file is closed.
void input_give_back(int fd, uint64_t begin, uint64_t end);

void input_close(int fd);

// Bytes of a whole file.
typedef struct file_bytes {
  const char *name;  // for sentences
  char *memory;      // malloc'd
  size_t size_bytes;
} file_bytes;

// Reads a raw or .npy file. `type` NULL: what the file says, an error for raw. Returns an exit code.
int input_load(const char *path, file_format format, const type_info *type, array *out);

// The same for several, one array after the other, which must be of one type, and of one dimension if they are more
// than one. Without a path, standard input.
int input_load_all(const char *const *paths, int path_count, file_format format, const type_info *type, array *out);

#endif  // GSORT_TOOLS_INPUT_H_
