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

static int begin_raw(element_source *s, uint64_t size) {
  const type_info *type = s->opt->lines.type;
  if (type == NULL) {
    return report_usage("raw input says nothing about its type: give --type, one of %s", TYPE_NAMES);
  }
  if (size % type->size_bytes != 0) {
    return report_failure("%s: %" PRIu64 " bytes are not a whole number of %s elements, which take %" PRIu32
                          " bytes each",
                          s->name, size, type->name, type->size_bytes);
  }
  s->left = size;
  return check_type(s, type);
}

static int begin_npy(element_source *s, uint64_t size) {
  char first[npy_prefix_bytes] = {0};
  const long got = input_read_at(s->fd, first, sizeof first, 0);
  if (got < 0) return report_read(s, got);
  uint64_t bytes = npy_header_bytes(first, (size_t)got);
  if (bytes < (uint64_t)got || bytes > size) bytes = (uint64_t)got;  // too short, or no header: it will say so
  char *header = malloc((size_t)bytes + 1);
  if (header == NULL) return report_failure("not enough memory");
  const long all = input_read_at(s->fd, header, (size_t)bytes, 0);
  npy_layout layout;
  int code = all < 0 ? report_read(s, all) : npy_read_header(s->name, header, (size_t)all, s->opt->lines.type, &layout);
  free(header);
  if (code != exit_ok) return code;
  s->left = layout.shape.count * layout.shape.type->size_bytes;
  s->swapped = layout.swapped;
  if (s->left != size - layout.header_bytes) {
    return report_failure("%s: its header announces %" PRIu64 " %s elements of %" PRIu32 " bytes, but %" PRIu64
                          " bytes follow it",
                          s->name, layout.shape.count, layout.shape.type->name, layout.shape.type->size_bytes,
                          size - layout.header_bytes);
  }
  if (lseek(s->fd, (off_t)layout.header_bytes, SEEK_SET) < 0) return report_read(s, -1);
  return check_type(s, layout.shape.type);
}

static int begin_file(element_source *s) {
  struct stat status;
  s->fd = input_open(s->opt->paths[s->next_path++], &s->name);
  if (s->fd < 0) return exit_failed;
  if (fstat(s->fd, &status) != 0) return report_read(s, -1);
  s->swapped = false;
  return s->format == format_npy ? begin_npy(s, (uint64_t)status.st_size) : begin_raw(s, (uint64_t)status.st_size);
}

int element_source_open(element_source *s, const options *opt, file_format format) {
  *s = (element_source){.opt = opt, .format = format, .fd = -1};
  for (int i = 0; i < opt->path_count; i++) {
    struct stat status;
    if (stat(opt->paths[i], &status) == 0) s->total_bytes += (uint64_t)status.st_size;
  }
  return begin_file(s);
}

int element_source_read(element_source *s, void *to, uint64_t count, uint64_t *got) {
  enum { piece_bytes = 1 << 24 };
  const uint64_t wanted = count * s->type->size_bytes;
  uint64_t filled = 0;
  while (filled < wanted) {
    if (s->left == 0) {
      input_close(s->fd);
      s->fd = -1;
      if (s->next_path == s->opt->path_count) break;
      const int code = begin_file(s);
      if (code != exit_ok) return code;
      continue;
    }
    uint64_t bytes = wanted - filled < s->left ? wanted - filled : s->left;
    if (bytes > piece_bytes) bytes = piece_bytes;
    char *at = (char *)to + filled;
    long done = 0;
    // A piece is whole elements, so that their bytes can be swapped.
    for (uint64_t have = 0; have < bytes; have += (uint64_t)done) {
      done = input_read(s->fd, at + have, (size_t)(bytes - have));
      if (done <= 0) return report_read(s, done);
    }
    if (s->swapped) npy_swap_bytes(at, bytes / s->type->size_bytes, s->type->size_bytes);
    filled += bytes;
    s->left -= bytes;
    s->read_bytes += bytes;
    progress_show(phase_reading, s->read_bytes, s->total_bytes);
  }
  *got = filled / s->type->size_bytes;
  // The next piece comes while this one is sorted.
  const off_t at = s->fd < 0 ? -1 : lseek(s->fd, 0, SEEK_CUR);
  if (at >= 0 && s->left > 0) input_expect(s->fd, (uint64_t)at, wanted < s->left ? wanted : s->left);
  return exit_ok;
}

void element_source_close(element_source *s) {
  input_close(s->fd);
  s->fd = -1;
}
