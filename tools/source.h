// SPDX-License-Identifier: MIT OR Apache-2.0
// The bytes of several files of text, one after another, read piece by piece in whole lines.
#ifndef GSORT_TOOLS_SOURCE_H_
#define GSORT_TOOLS_SOURCE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where a file begins in the stream of all.
typedef struct source_mark {
  const char *name;  // for sentences
  uint64_t offset;
} source_mark;

typedef struct source {
  const char *const *paths;  // "-" is standard input
  int path_count;
  int next_path;
  int fd;          // of the file that is read; -1 between two
  bool is_region;  // `fd` is the caller's, and bytes `region_at` to `region_end` of it are read
  uint64_t region_at, region_end;
  uint64_t total_bytes;  // of all files, 0 if not known
  uint64_t read_bytes;

  char *memory;  // padded: `filled` bytes, of which the first `lines_bytes` are whole lines, each ending with a newline
  size_t capacity;
  size_t filled;
  size_t lines_bytes;
  uint64_t line_ends;  // newlines in them

  uint64_t base;          // of memory[0] in the stream
  uint64_t lines_before;  // in memory[0]'s file
  source_mark *marks;
  int mark_count;
} source;

// Without a path, standard input. All that return int return an exit code.
int source_open(source *s, const char *const *paths, int path_count);

// A part of a temporary file that is open, `name` for sentences. It must be whole lines. Their place on the disk is
// given back as they are read.
int source_open_region(source *s, const char *name, int fd, uint64_t begin, uint64_t end);

// Drops the lines that the last call gave and reads on, until all is read or the lines, with `bytes_per_line` more for
// each, would take more than `limit_bytes` (one line is given, however long). A byte order mark, and blank lines at
// the end of a file, are left out; the last line of each file gets its newline if it lacks one.
int source_fill(source *s, uint64_t limit_bytes, uint64_t bytes_per_line);

// Lets the lines that the last call gave stay where they are, in memory that is `aside`'s from now on, while the source
// reads on in what `aside` had, which was of no use any more, or in new memory of `capacity` bytes.
typedef struct source_memory {
  char *memory;  // malloc'd
  size_t capacity;
} source_memory;
int source_put_aside(source *s, source_memory *aside, size_t capacity);

// Whether everything has been given.
bool source_ended(const source *s);

// Name of the file and number of the line (from 1) of a place in `memory`.
const char *source_place(const source *s, const char *at, uint64_t *line);

void source_close(source *s);

#endif  // GSORT_TOOLS_SOURCE_H_
