// SPDX-License-Identifier: MIT OR Apache-2.0
#include "element_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy.h"
#include "progress.h"
#include "report.h"

static int report_read(const element_source *s, long got) {
  if (got < 0) return report_failure("%s: cannot read: %s", s->name, strerror(errno));
  return report_failure("%s: ends before all its elements were read", s->name);
}

static int check_type(element_source *s, const type_info *type) {
  if (s->type != NULL && s->type != type) {
    return report_failure("%s holds %s numbers, the files before it %s: they must be of one type", s->name, type->name,
                          s->type->name);
  }
  s->type = type;
  return exit_ok;
}

static int report_part(const element_source *s, const type_info *type, uint64_t size) {
  return report_failure("%s: %" PRIu64 " bytes are not a whole number of %s elements, which take %" PRIu32
                        " bytes each",
                        s->name, size, type->name, type->size_bytes);
}

static int report_count(const element_source *s, uint64_t held_bytes) {
  return report_failure("%s: its header announces %" PRIu64 " %s elements of %" PRIu32 " bytes, but %" PRIu64
                        " bytes follow it",
                        s->name, s->shape.count, s->shape.type->name, s->shape.type->size_bytes, held_bytes);
}

static int begin_raw(element_source *s, uint64_t size) {
  const type_info *type = s->opt->lines.type;
  if (type == NULL) {
    return report_usage("raw input says nothing about its type: give --type, one of %s", TYPE_NAMES);
  }
  if (!s->is_stream && size % type->size_bytes != 0) return report_part(s, type, size);
  s->left = s->is_stream ? UINT64_MAX : size;
  s->shape = array_make(type, 0, NULL);
  return check_type(s, type);
}

// Reads `bytes` more, or up to the end of the file.
static int read_header_bytes(element_source *s, char *to, size_t bytes, size_t *have) {
  for (size_t end = *have + bytes; *have < end;) {
    const long got = input_read(s->fd, to + *have, end - *have);
    if (got < 0) return report_read(s, got);
    if (got == 0) break;
    *have += (size_t)got;
  }
  return exit_ok;
}

// What is there of the header, however long it says it is: npy_read_header() has the sentences. Leaves the file behind.
static int read_header(element_source *s, uint64_t size, char **header, size_t *have) {
  enum { piece_bytes = 1 << 16 };
  char first[npy_prefix_bytes] = {0};
  *have = 0;
  *header = NULL;
  int code = read_header_bytes(s, first, sizeof first, have);
  const uint64_t bytes = code == exit_ok ? npy_header_bytes(first, *have) : 0;
  uint64_t left = bytes > *have && bytes <= size ? bytes - *have : 0;
  size_t capacity = 0;
  do {
    const size_t piece = left < piece_bytes ? (size_t)left : piece_bytes, wanted = *have + piece + 1;
    char *grown = wanted <= capacity ? *header : realloc(*header, capacity = wanted + wanted / 2);
    if (code == exit_ok && grown == NULL) code = report_failure("not enough memory");
    if (code != exit_ok) break;
    if (*header == NULL) memcpy(grown, first, *have);
    *header = grown;
    const size_t before = *have;
    code = read_header_bytes(s, *header, piece, have);
    left = *have - before == piece ? left - piece : 0;
  } while (left > 0);
  return code;
}

static int begin_npy(element_source *s, uint64_t size) {
  char *header;
  size_t have;
  npy_layout layout = {.header_bytes = 0};
  int code = read_header(s, s->is_stream ? UINT64_MAX : size, &header, &have);
  if (code == exit_ok) code = npy_read_header(s->name, header, have, s->opt->lines.type, &layout);
  free(header);
  if (code != exit_ok) return code;
  if (s->opt->path_count > 1 && layout.shape.dimensions != 1) {
    return report_failure("%s has %" PRIu32 " dimensions: several files must have one each", s->name,
                          layout.shape.dimensions);
  }
  s->shape = layout.shape;
  s->header_bytes = layout.header_bytes;
  s->swapped = layout.swapped;
  s->left = layout.shape.count * layout.shape.type->size_bytes;
  // Of a stream it is seen at its end.
  if (!s->is_stream && s->left != size - layout.header_bytes) return report_count(s, size - layout.header_bytes);
  return check_type(s, layout.shape.type);
}

static int begin_file(element_source *s) {
  static const char *const standard_input[] = {"-"};
  struct stat status;
  const char *path = s->opt->path_count == 0 ? standard_input[s->next_path] : s->opt->paths[s->next_path];
  s->next_path++;
  s->fd = input_open(path, &s->name);
  if (s->fd < 0) return exit_failed;
  if (fstat(s->fd, &status) != 0) return report_read(s, -1);
  if (S_ISDIR(status.st_mode)) return report_failure("%s: is a folder, not a file", s->name);
  s->swapped = false;
  s->header_bytes = s->file_bytes = s->expected_end = 0;
  s->is_stream = s->fd == STDIN_FILENO || !S_ISREG(status.st_mode);
  if (s->past_cache && !s->is_stream) direct_input_open(&s->direct, s->fd);
  return s->format == format_npy ? begin_npy(s, (uint64_t)status.st_size) : begin_raw(s, (uint64_t)status.st_size);
}

static int path_count_of(const options *opt) { return opt->path_count == 0 ? 1 : opt->path_count; }

int element_source_open(element_source *s, const options *opt, file_format format) {
  *s = (element_source){.opt = opt, .format = format, .fd = -1, .direct = DIRECT_INPUT_NONE};
  for (int i = 0; i < opt->path_count; i++) {
    struct stat status;
    if (stat(opt->paths[i], &status) == 0) s->total_bytes += (uint64_t)status.st_size;
  }
  return begin_file(s);
}

void element_source_pass_cache(element_source *s) {
  s->past_cache = true;
  if (s->fd >= 0 && !s->is_stream) direct_input_open(&s->direct, s->fd);
}

// A stream's last bytes were read, or what its header announces.
static int end_stream(element_source *s) {
  enum { rest_bytes = 1 << 12 };
  char rest[rest_bytes];
  const uint32_t size = s->type->size_bytes;
  if (s->left == UINT64_MAX) return s->file_bytes % size == 0 ? exit_ok : report_part(s, s->type, s->file_bytes);
  for (long got = 1; got > 0; s->file_bytes += got > 0 ? (uint64_t)got : 0) {
    got = input_read(s->fd, rest, sizeof rest);
    if (got < 0) return report_read(s, got);
  }
  return s->file_bytes == s->shape.count * size ? exit_ok : report_count(s, s->file_bytes);
}

static int end_file(element_source *s) {
  const int code = s->is_stream ? end_stream(s) : exit_ok;
  input_close(s->fd);
  direct_input_close_file(&s->direct);
  s->fd = -1;
  return code;
}

// What the page cache holds comes from there.
static long read_some(element_source *s, char *to, size_t bytes) {
  if (!s->past_cache || s->is_stream) return input_read(s->fd, to, bytes);
  const uint64_t at = s->header_bytes + s->file_bytes;
  if (direct_input_is_cached(s->fd, at, bytes)) return input_read_at(s->fd, to, bytes, at);
  return direct_input_read_at(&s->direct, s->fd, to, bytes, at);
}

// Reads up to `bytes`, which are whole elements, so that their bytes can be swapped; fewer at the end of the file.
static int read_piece(element_source *s, char *to, uint64_t bytes, uint64_t *filled) {
  const uint32_t size = s->type->size_bytes;
  uint64_t have = 0;
  while (have < bytes) {
    const long got = read_some(s, to + have, (size_t)(bytes - have));
    if (got < 0 || (got == 0 && !s->is_stream)) return report_read(s, got);
    if (got == 0) break;
    have += (uint64_t)got;
    s->file_bytes += (uint64_t)got;
  }
  if (s->swapped) npy_swap_bytes(to, have / size, size);
  s->read_bytes += have;
  if (s->left != UINT64_MAX) s->left -= have;
  *filled += have / size * size;
  progress_show(phase_reading, s->read_bytes, s->total_bytes);
  return have < bytes ? end_file(s) : exit_ok;
}

// The next pieces come while this one is worked on. Of small ones several are asked for at once, since every question
// makes the system look for all that it has of them.
static void expect_more(element_source *s, uint64_t wanted_bytes) {
  enum { expected_bytes_min = 1 << 24 };
  const off_t at = s->fd < 0 || s->is_stream || s->past_cache ? -1 : lseek(s->fd, 0, SEEK_CUR);
  if (at < 0 || s->left == 0) return;
  const uint64_t ahead = wanted_bytes > expected_bytes_min ? wanted_bytes : expected_bytes_min;
  const uint64_t begin = (uint64_t)at, end = begin + (ahead < s->left ? ahead : s->left);
  if (begin + ahead / 2 < s->expected_end || end <= s->expected_end) return;
  const uint64_t from = begin > s->expected_end ? begin : s->expected_end;
  input_expect(s->fd, from, end - from);
  s->expected_end = end;
}

int element_source_read(element_source *s, void *to, uint64_t count, uint64_t *got) {
  enum { piece_bytes = 1 << 24 };
  const uint64_t wanted = count * s->type->size_bytes;
  uint64_t filled = 0;
  int code = exit_ok;
  while (code == exit_ok && filled < wanted) {
    if (s->fd >= 0 && s->left == 0) {
      code = end_file(s);
    } else if (s->fd < 0) {
      if (s->next_path == path_count_of(s->opt)) break;
      code = begin_file(s);
    } else {
      uint64_t bytes = wanted - filled < s->left ? wanted - filled : s->left;
      if (bytes > piece_bytes) bytes = piece_bytes;
      code = read_piece(s, (char *)to + filled, bytes, &filled);
    }
  }
  if (code != exit_ok) return code;
  *got = filled / s->type->size_bytes;
  expect_more(s, wanted);
  return exit_ok;
}

void element_source_close(element_source *s) {
  input_close(s->fd);
  direct_input_close(&s->direct);
  s->fd = -1;
}
