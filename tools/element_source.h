// SPDX-License-Identifier: MIT OR Apache-2.0
// The elements of several raw or .npy files, one after another. They are read, not mapped: the elements are sorted
// where they lie in memory, so they would be copied all the same, and a file that shrinks or cannot be read ends with a
// sentence instead of a signal.
#ifndef GSORT_TOOLS_ELEMENT_SOURCE_H_
#define GSORT_TOOLS_ELEMENT_SOURCE_H_

#include "direct_input.h"
#include "input.h"
#include "options.h"

typedef struct element_source {
  const options *opt;
  file_format format;
  const type_info *type;
  int next_path;
  int fd;                 // of the file that is read; -1 between two
  const char *name;       // of that file
  bool swapped;           // its elements' bytes come in the other order
  bool is_stream;         // not a regular file, or standard input: read from where it stands, of a size not known
  uint64_t left;          // bytes of it that are still to come; UINT64_MAX if it does not say
  array shape;            // of a .npy file what its header says, without data
  uint64_t header_bytes;  // of the file that is read, before its elements
  uint64_t file_bytes;    // of its elements that were read
  uint64_t expected_end;  // of the bytes that the system was told of
  uint64_t read_bytes, total_bytes;
  bool past_cache;  // regular files are read past the page cache, but for what it holds already
  direct_input direct;
} element_source;

// Without a path, standard input. `type` is known afterwards, and `shape` of the first file. Return exit codes.
int element_source_open(element_source *s, const options *opt, file_format format);

// Of a source from which nothing was read yet: its files are long.
void element_source_pass_cache(element_source *s);

// Reads up to `count` elements; fewer only at the end of all files.
int element_source_read(element_source *s, void *to, uint64_t count, uint64_t *got);

void element_source_close(element_source *s);

#endif  // GSORT_TOOLS_ELEMENT_SOURCE_H_
