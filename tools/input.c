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
#include "report.h"
#include "text.h"

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
  if (path == NULL) return format_text;
  const char *slash = strrchr(path, '/');
  const char *dot = strrchr(slash == NULL ? path : slash, '.');
  if (dot == NULL) return format_text;
  if (strcmp(dot, ".npy") == 0) return format_npy;
  if (strcmp(dot, ".raw") == 0 || strcmp(dot, ".bin") == 0) return format_raw;
  return format_text;
}

// The size of a regular file is known, so that it is read in one go; of a pipe nothing is.
static size_t first_capacity(int fd) {
  enum { pipe_bytes = 1 << 16 };
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return pipe_bytes;
  return (uint64_t)status.st_size >= SIZE_MAX ? SIZE_MAX : (size_t)status.st_size + 1;
}

static int grow(file_bytes *file, size_t *capacity) {
  const size_t wanted = file->memory == NULL ? *capacity : *capacity + *capacity / 2;
  char *memory = wanted < *capacity || wanted == SIZE_MAX ? NULL : realloc(file->memory, wanted);
  if (memory == NULL) return report_failure("%s: not enough memory for %zu bytes", file->name, wanted);
  file->memory = memory;
  *capacity = wanted;
  return exit_ok;
}

// Keeps one byte free for the NUL at the end.
static int read_descriptor(int fd, file_bytes *file) {
  size_t capacity = first_capacity(fd);
  int code = grow(file, &capacity);
  while (code == exit_ok) {
    size_t room = capacity - 1 - file->size_bytes;
    if (room == 0) {
      // At the announced end: a byte on the stack tells the end of the file without doubling the memory.
      char next;
      const ssize_t more = read(fd, &next, 1);
      if (more == 0) break;
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) return report_failure("%s: cannot read: %s", file->name, strerror(errno));
      code = grow(file, &capacity);
      if (code == exit_ok) file->memory[file->size_bytes++] = next;
      continue;
    }
    const ssize_t got = read(fd, file->memory + file->size_bytes, room);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EISDIR) return report_failure("%s: is a folder, not a file", file->name);
    if (got < 0) return report_failure("%s: cannot read: %s", file->name, strerror(errno));
    file->size_bytes += (size_t)got;
  }
  if (code == exit_ok) file->memory[file->size_bytes] = '\0';
  return code;
}

static int read_whole(const char *path, file_bytes *file) {
  memset(file, 0, sizeof *file);
  if (path == NULL || strcmp(path, "-") == 0) {
    file->name = "standard input";
    return read_descriptor(STDIN_FILENO, file);
  }
  file->name = path;
  const int fd = open(path, O_RDONLY);
  if (fd < 0 && errno == ENOENT) return report_failure("%s: no such file", path);
  if (fd < 0) return report_failure("%s: cannot open: %s", path, strerror(errno));
  const int code = read_descriptor(fd, file);
  close(fd);
  return code;
}

static int adopt_raw(file_bytes *file, const type_info *type, array *out) {
  if (file->size_bytes % type->size_bytes != 0) {
    return report_failure("%s: %zu bytes are not a whole number of %s elements, which take %" PRIu32 " bytes each",
                          file->name, file->size_bytes, type->name, type->size_bytes);
  }
  out->type = type;
  out->count = file->size_bytes / type->size_bytes;
  out->memory = file->memory;
  out->data = file->memory;
  file->memory = NULL;
  return exit_ok;
}

int input_load(const char *path, file_format format, const type_info *type, array *out) {
  memset(out, 0, sizeof *out);
  if (format == format_raw && type == NULL) {
    return report_usage("raw input says nothing about its type: give --type, one of %s", TYPE_NAMES);
  }
  file_bytes file;
  int code = read_whole(path, &file);
  if (code == exit_ok && format == format_npy) code = npy_adopt(&file, type, out);
  if (code == exit_ok && format == format_raw) code = adopt_raw(&file, type, out);
  if (code == exit_ok && format == format_text) code = text_parse(&file, type, out);
  free(file.memory);
  return code;
}
