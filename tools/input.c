// SPDX-License-Identifier: MIT OR Apache-2.0
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy.h"
#include "past_cache.h"
#include "progress.h"
#include "report.h"

const char *format_name(file_format format) {
  switch (format) {
    case format_npy:
      return "npy";
    case format_raw:
      return "raw";
    default:
      return "text";
  }
}

file_format format_of_path(const char *path) {
  if (path == NULL) return format_guess;
  const char *slash = strrchr(path, '/');
  const char *dot = strrchr(slash == NULL ? path : slash, '.');
  if (dot == NULL) return format_guess;
  if (strcmp(dot, ".npy") == 0) return format_npy;
  if (strcmp(dot, ".raw") == 0 || strcmp(dot, ".bin") == 0) return format_raw;
  return strcmp(dot, ".txt") == 0 ? format_text : format_guess;
}

// What was read from standard input to look at its first bytes, and is not yet given to a reader.
static char peeked[npy_magic_bytes];
static size_t peeked_bytes, peeked_given;

static bool is_stdin(const char *path) { return path == NULL || strcmp(path, "-") == 0; }

static void peek_stdin(void) {
  while (peeked_bytes < sizeof peeked) {
    const ssize_t got = read(STDIN_FILENO, peeked + peeked_bytes, sizeof peeked - peeked_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;  // An error comes again when it is read in earnest.
    peeked_bytes += (size_t)got;
    if (memcmp(peeked, npy_magic, peeked_bytes) != 0) return;
  }
}

file_format format_of_content(const char *path) {
  if (is_stdin(path)) {
    if (peeked_bytes == 0) peek_stdin();
    return peeked_bytes == sizeof peeked && memcmp(peeked, npy_magic, sizeof peeked) == 0 ? format_npy : format_text;
  }
  char first[npy_magic_bytes];
  struct stat status;
  // Of a named pipe nothing is taken: what was read would be lost.
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return format_text;
  const int fd = open(path, O_RDONLY);
  if (fd < 0) return format_text;
  const ssize_t got = read(fd, first, sizeof first);
  close(fd);
  return got == sizeof first && memcmp(first, npy_magic, sizeof first) == 0 ? format_npy : format_text;
}

int input_open(const char *path, const char **name) {
  *name = is_stdin(path) ? "standard input" : path;
  const int fd = is_stdin(path) ? STDIN_FILENO : open(path, O_RDONLY);
  if (fd < 0 && errno == ENOENT) report_failure("%s: no such file", path);
  if (fd < 0 && errno != ENOENT) report_failure("%s: cannot open: %s", path, strerror(errno));
#if defined(POSIX_FADV_SEQUENTIAL)
  if (fd >= 0) (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
  return fd;
}

long input_read(int fd, void *to, size_t bytes) {
  if (fd == STDIN_FILENO && peeked_given < peeked_bytes) {
    const size_t left = peeked_bytes - peeked_given, given = bytes < left ? bytes : left;
    memcpy(to, peeked + peeked_given, given);
    peeked_given += given;
    return (long)given;
  }
  for (;;) {
    const ssize_t got = read(fd, to, bytes);
    if (got >= 0 || errno != EINTR) return got;
  }
}

long input_read_at(int fd, void *to, size_t bytes, uint64_t offset) {
  for (;;) {
    const ssize_t got = pread(fd, to, bytes, (off_t)offset);
    if (got >= 0 || errno != EINTR) return got;
  }
}

void input_expect(int fd, uint64_t offset, uint64_t bytes) {
  // More than this would push out of the page cache what is read first.
  enum { expected_bytes_max = 1 << 29 };
#if defined(POSIX_FADV_WILLNEED)
  if (bytes > expected_bytes_max) bytes = expected_bytes_max;
  (void)posix_fadvise(fd, (off_t)offset, (off_t)bytes, POSIX_FADV_WILLNEED);
#else
  (void)fd;
  (void)offset;
  (void)bytes;
#endif
}

void input_give_back(int fd, uint64_t begin, uint64_t end) {
#if defined(FALLOC_FL_PUNCH_HOLE)
  const uint64_t block = past_cache_block_bytes;
  begin = (begin + block - 1) / block * block;
  end = end / block * block;
  if (begin >= end) return;
  (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin, (off_t)(end - begin));
#else
  (void)fd;
  (void)begin;
  (void)end;
#endif
}

void input_close(int fd) {
  if (fd > STDIN_FILENO) close(fd);
}

// The size of a regular file is known, so that it is read in one go; of a pipe nothing is.
static uint64_t size_of(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 ? (uint64_t)status.st_size : 0;
}

static int grow(file_bytes *file, size_t *capacity, size_t wanted) {
  char *memory = wanted < *capacity ? NULL : realloc(file->memory, wanted);
  if (memory == NULL) return report_failure("%s: not enough memory for %zu bytes", file->name, wanted);
  file->memory = memory;
  *capacity = wanted;
  return exit_ok;
}

static int report_read(const file_bytes *file) {
  if (errno == EISDIR) return report_failure("%s: is a folder, not a file", file->name);
  return report_failure("%s: cannot read: %s", file->name, strerror(errno));
}

static int read_descriptor(int fd, file_bytes *file) {
  enum { first_bytes = 1 << 16, piece_bytes = 1 << 24 };
  const uint64_t total = size_of(fd);
  size_t capacity = 0;
  int code = grow(file, &capacity, total > 0 && total < SIZE_MAX ? (size_t)total : (size_t)first_bytes);
  while (code == exit_ok) {
    // At the announced end: a byte on the stack tells the end of the file without more memory.
    char next;
    const size_t room = capacity - file->size_bytes;
    char *to = room == 0 ? &next : file->memory + file->size_bytes;
    const long got = input_read(fd, to, room == 0 ? 1 : room < piece_bytes ? room : piece_bytes);
    if (got < 0) return report_read(file);
    if (got == 0) return exit_ok;
    if (room == 0) {
      code = grow(file, &capacity, capacity + capacity / 2 + 1);
      if (code == exit_ok) file->memory[file->size_bytes] = next;
    }
    file->size_bytes += (size_t)got;
    progress_show(phase_reading, file->size_bytes, total);
  }
  return code;
}

static int adopt_raw(file_bytes *file, const type_info *type, array *out) {
  if (file->size_bytes % type->size_bytes != 0) {
    return report_failure("%s: %zu bytes are not a whole number of %s elements, which take %" PRIu32 " bytes each",
                          file->name, file->size_bytes, type->name, type->size_bytes);
  }
  *out = array_make(type, file->size_bytes / type->size_bytes, file->memory);
  file->memory = NULL;
  return exit_ok;
}

int input_load(const char *path, file_format format, const type_info *type, array *out) {
  memset(out, 0, sizeof *out);
  if (format == format_raw && type == NULL) {
    return report_usage("raw input says nothing about its type: give --type, one of %s", TYPE_NAMES);
  }
  file_bytes file = {NULL, NULL, 0};
  const int fd = input_open(path, &file.name);
  if (fd < 0) return exit_failed;
  int code = read_descriptor(fd, &file);
  input_close(fd);
  if (code == exit_ok) code = format == format_npy ? npy_adopt(&file, type, out) : adopt_raw(&file, type, out);
  free(file.memory);
  return code;
}

static int append(const char *const *paths, int i, const array *next, array *all) {
  if (next->type != all->type) {
    return report_failure("%s holds %s numbers and %s %s: they must be of one type", paths[0], all->type->name,
                          paths[i], next->type->name);
  }
  if (next->dimensions != 1 || all->dimensions != 1) {
    return report_failure("%s has %" PRIu32 " dimensions: several files must have one each",
                          next->dimensions != 1 ? paths[i] : paths[0],
                          next->dimensions != 1 ? next->dimensions : all->dimensions);
  }
  const uint64_t size = all->type->size_bytes, count = all->count + next->count;
  char *memory = malloc((size_t)(count * size) + 1);
  if (memory == NULL) return report_failure("not enough memory for %" PRIu64 " elements", count);
  memcpy(memory, all->data, (size_t)(all->count * size));
  memcpy(memory + all->count * size, next->data, (size_t)(next->count * size));
  array_free(all);
  *all = array_make(next->type, count, memory);
  return exit_ok;
}

int input_load_all(const char *const *paths, int path_count, file_format format, const type_info *type, array *out) {
  int code = input_load(path_count > 0 ? paths[0] : NULL, format, type, out);
  for (int i = 1; code == exit_ok && i < path_count; i++) {
    array next;
    code = input_load(paths[i], format, type, &next);
    if (code == exit_ok) code = append(paths, i, &next, out);
    array_free(&next);
  }
  return code;
}
