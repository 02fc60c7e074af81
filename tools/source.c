// SPDX-License-Identifier: MIT OR Apache-2.0
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "memory_limit.h"
#include "progress.h"
#include "report.h"
#include "text_bytes.h"

// Large enough that calls cost nothing, small enough to lie in a cache when its newlines are counted.
enum { piece_bytes_max = 1 << 18, piece_bytes_min = 1 << 12, mark_bytes = 3 };

// Where little memory is allowed, what is read at once is small beside it.
static size_t piece_bytes_of(uint64_t limit_bytes) {
  if (limit_bytes / 8 > piece_bytes_max) return piece_bytes_max;
  return limit_bytes / 8 < piece_bytes_min ? piece_bytes_min : (size_t)(limit_bytes / 8);
}

static bool is_stdin(const char *path) { return strcmp(path, "-") == 0; }

// The sum of the files' sizes, 0 if one of them is not a regular file.
static uint64_t size_of_all(const char *const *paths, int count) {
  uint64_t total = 0;
  for (int i = 0; i < count; i++) {
    struct stat status;
    const int failed = is_stdin(paths[i]) ? fstat(STDIN_FILENO, &status) : stat(paths[i], &status);
    if (failed != 0 || !S_ISREG(status.st_mode) || status.st_size < 0) return 0;
    total += (uint64_t)status.st_size;
  }
  return total;
}

int source_open(source *s, const char *const *paths, int path_count) {
  static const char *const standard_input[] = {"-"};
  memset(s, 0, sizeof *s);
  s->fd = -1;
  s->paths = path_count == 0 ? standard_input : paths;
  s->path_count = path_count == 0 ? 1 : path_count;
  s->total_bytes = size_of_all(s->paths, s->path_count);
  s->marks = calloc((size_t)s->path_count, sizeof *s->marks);
  return s->marks != NULL ? exit_ok : report_failure("not enough memory");
}

int source_open_region(source *s, const char *name, int fd, uint64_t begin, uint64_t end) {
  memset(s, 0, sizeof *s);
  s->fd = fd;
  s->is_region = true;
  s->region_at = begin;
  s->region_end = end;
  s->total_bytes = end - begin;
  s->marks = calloc(1, sizeof *s->marks);
  if (s->marks == NULL) return report_failure("not enough memory");
  s->marks[0].name = name;
  s->mark_count = 1;
  return exit_ok;
}

static const char *current_name(const source *s) {
  return s->mark_count == 0 ? "standard input" : s->marks[s->mark_count - 1].name;
}

static int open_next(source *s) {
  const char *name;
  s->fd = input_open(s->paths[s->next_path++], &name);
  if (s->fd < 0) return exit_failed;
  s->marks[s->mark_count].name = name;
  s->marks[s->mark_count++].offset = s->base + s->filled;
  return exit_ok;
}

// Room for a piece and the newline that a last line may lack.
static int grow(source *s, uint64_t limit_bytes) {
  const size_t piece = piece_bytes_of(limit_bytes);
  if (s->capacity - s->filled > piece) return exit_ok;
  size_t wanted = s->capacity + s->capacity / 2 + 2 * piece;
  if (s->memory == NULL && s->total_bytes > 0) {
    const uint64_t all = s->total_bytes < limit_bytes ? s->total_bytes : limit_bytes;
    wanted = all < SIZE_MAX / 2 ? (size_t)all + 2 * piece : SIZE_MAX;
  }
  const bool too_much = wanted < s->capacity || wanted > SIZE_MAX - text_padding_bytes;
  char *memory = too_much ? NULL : realloc(s->memory, wanted + text_padding_bytes);
  if (memory == NULL) return report_failure("%s: not enough memory for %zu bytes", current_name(s), wanted);
  // Blocks of both kinds of pages are copied to grow, so only one that need not grow asks.
  if (s->memory == NULL && s->total_bytes > 0) memory_use_large_pages(memory, wanted);
  s->memory = memory;
  s->capacity = wanted;
  return exit_ok;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The current file's first byte in memory.
static size_t file_begin(const source *s) {
  const uint64_t offset = s->marks[s->mark_count - 1].offset;
  return offset > s->base ? (size_t)(offset - s->base) : 0;
}

// Where the blank lines begin that end the bytes from `begin` to `end`; the end if there are none.
static size_t before_blank_lines(const source *s, size_t begin, size_t end) {
  size_t at = end;
  while (at > begin && is_blank(s->memory[at - 1])) at--;
  if (at == begin) return begin;
  const char *newline = memchr(s->memory + at, '\n', end - at);
  return newline == NULL ? end : (size_t)(newline - s->memory) + 1;
}

static void end_file(source *s) {
  if (!s->is_region) input_close(s->fd);
  s->fd = -1;
  const size_t begin = file_begin(s), end = before_blank_lines(s, begin, s->filled);
  s->line_ends -= text_count_newlines(s->memory + end, s->filled - end);
  s->filled = end;
  if (end > begin && s->memory[end - 1] != '\n') {
    s->memory[s->filled++] = '\n';
    s->line_ends++;
  }
}

static void leave_out_byte_order_mark(source *s, size_t filled_before) {
  const size_t begin = file_begin(s);
  if (s->marks[s->mark_count - 1].offset < s->base || filled_before >= begin + mark_bytes) return;
  if (s->filled < begin + mark_bytes || memcmp(s->memory + begin, "\xef\xbb\xbf", mark_bytes) != 0) return;
  memmove(s->memory + begin, s->memory + begin + mark_bytes, s->filled - begin - mark_bytes);
  s->filled -= mark_bytes;
}

static long read_some(source *s, size_t bytes) {
  if (!s->is_region) return input_read(s->fd, s->memory + s->filled, bytes);
  const uint64_t left = s->region_end - s->region_at;
  const long got = input_read_at(s->fd, s->memory + s->filled, left < bytes ? (size_t)left : bytes, s->region_at);
  if (got > 0) {
    input_give_back(s->fd, s->region_at, s->region_at + (uint64_t)got);
    s->region_at += (uint64_t)got;
  }
  return got;
}

static int read_piece(source *s, size_t bytes) {
  const long got = read_some(s, bytes);
  if (got < 0 && errno == EISDIR) return report_failure("%s: is a folder, not a file", current_name(s));
  if (got < 0) return report_failure("%s: cannot read: %s", current_name(s), strerror(errno));
  if (got == 0) {
    end_file(s);
    return exit_ok;
  }
  const size_t before = s->filled;
  s->line_ends += text_count_newlines(s->memory + before, (size_t)got);
  s->filled += (size_t)got;
  s->read_bytes += (uint64_t)got;
  if (s->is_region) return exit_ok;
  leave_out_byte_order_mark(s, before);
  progress_show(phase_reading, s->read_bytes, s->total_bytes);
  return exit_ok;
}

// The whole lines in memory. Blank ones at the end wait: they may turn out to be the last of their file.
static size_t whole_lines(const source *s) {
  if (s->fd < 0) return s->filled;
  size_t end = s->filled;
  while (end > 0 && s->memory[end - 1] != '\n') end--;
  const size_t begin = file_begin(s);
  return end <= begin ? end : before_blank_lines(s, begin, end);
}

// Goes on behind the lines, with what follows them moved to `to`.
static void leave_lines(source *s, char *to) {
  const uint64_t last_begin = s->marks[s->mark_count - 1].offset;
  if (last_begin <= s->base) {  // all are of one file
    s->lines_before = s->line_ends + (last_begin < s->base ? s->lines_before : 0);
  } else {
    uint64_t line;
    source_place(s, s->memory + s->lines_bytes, &line);
    s->lines_before = line - 1;
  }
  s->filled -= s->lines_bytes;
  memmove(to, s->memory + s->lines_bytes, s->filled);
  s->memory = to;
  s->base += s->lines_bytes;
  s->lines_bytes = 0;
  s->line_ends = text_count_newlines(s->memory, s->filled);
}

int source_put_aside(source *s, source_memory *aside, size_t capacity) {
  const source_memory old = {s->memory, s->capacity};
  const size_t rest = s->filled - s->lines_bytes;
  if (capacity < rest) capacity = rest;
  if (aside->capacity < capacity) {
    free(aside->memory);
    aside->memory = capacity > SIZE_MAX - text_padding_bytes ? NULL : malloc(capacity + text_padding_bytes);
    aside->capacity = aside->memory == NULL ? 0 : capacity;
    memory_use_large_pages(aside->memory, capacity);
  }
  if (aside->memory == NULL) return report_failure("not enough memory for %zu bytes", capacity);
  leave_lines(s, aside->memory);
  s->capacity = aside->capacity;
  *aside = old;
  return exit_ok;
}

bool source_ended(const source *s) { return s->fd < 0 && s->next_path == s->path_count && s->lines_bytes == s->filled; }

// As much as this call read will be read by the next one, while these lines are worked on.
static void expect_more(const source *s) {
  if (s->fd < 0) return;
  const off_t at = s->is_region ? (off_t)s->region_at : lseek(s->fd, 0, SEEK_CUR);
  if (at >= 0) input_expect(s->fd, (uint64_t)at, s->filled);
}

int source_fill(source *s, uint64_t limit_bytes, uint64_t bytes_per_line) {
  if (s->lines_bytes > 0) leave_lines(s, s->memory);
  int code = exit_ok;
  while (code == exit_ok && (s->fd >= 0 || s->next_path < s->path_count)) {
    const bool full = s->filled + bytes_per_line * s->line_ends >= limit_bytes;
    // Of a line whose end is still to come, every byte would be looked at each time.
    if (full && s->line_ends > 0 && whole_lines(s) > 0) break;
    if (s->fd < 0) code = open_next(s);
    if (code == exit_ok) code = grow(s, limit_bytes);
    if (code == exit_ok) code = read_piece(s, piece_bytes_of(limit_bytes));
  }
  s->lines_bytes = whole_lines(s);
  s->line_ends -= text_count_newlines(s->memory + s->lines_bytes, s->filled - s->lines_bytes);
  expect_more(s);
  return code;
}

const char *source_place(const source *s, const char *at, uint64_t *line) {
  const uint64_t offset = s->base + (uint64_t)(at - s->memory);
  int i = s->mark_count - 1;
  while (i > 0 && s->marks[i].offset > offset) i--;
  const bool begins_here = s->marks[i].offset >= s->base;
  const size_t begin = begins_here ? (size_t)(s->marks[i].offset - s->base) : 0;
  *line = 1 + text_count_newlines(s->memory + begin, (size_t)(at - s->memory) - begin) +
          (begins_here ? 0 : s->lines_before);
  return s->marks[i].name;
}

void source_close(source *s) {
  if (!s->is_region) input_close(s->fd);
  free(s->memory);
  free(s->marks);
  memset(s, 0, sizeof *s);
  s->fd = -1;
}
