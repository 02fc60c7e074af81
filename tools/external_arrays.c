// SPDX-License-Identifier: MIT OR Apache-2.0
#include "external_arrays.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array_commands.h"
#include "array_runs.h"
#include "behind.h"
#include "element_source.h"
#include "memory_limit.h"
#include "npy.h"
#include "progress.h"
#include "report.h"
#include "results.h"

typedef struct piece_memory {
  array piece;
  uint64_t capacity;  // elements
} piece_memory;

typedef struct external {
  job *j;
  element_source source;
  array_runs pieces;
  uint64_t limit_bytes;
} external;

static bool has_one_dimension(const char *path, const type_info *type) {
  char first[1 << 12];
  const char *name;
  const int fd = input_open(path, &name);
  const long got = fd < 0 ? -1 : input_read_at(fd, first, sizeof first, 0);
  input_close(fd);
  // Headers that are not read whole, or are wrong, are the other way's, which has the sentences.
  const uint64_t bytes = got < 0 ? 0 : npy_header_bytes(first, (size_t)got);
  npy_layout layout;
  if (bytes == 0 || bytes > (uint64_t)got) return false;
  return npy_read_header(name, first, (size_t)bytes, type, &layout) == exit_ok && layout.shape.dimensions == 1;
}

bool external_arrays_wanted(const options *opt, file_format format) {
  const bool sorts = (opt->command & external_commands) != 0;
  if (format == format_text || (format == format_raw && opt->lines.type == NULL)) return false;
  if (opt->path_count == 0) return sorts;
  uint64_t bytes = 0;
  for (int i = 0; i < opt->path_count; i++) {
    struct stat status;
    if (strcmp(opt->paths[i], "-") == 0) return sorts;
    // What cannot be opened is told of elsewhere. A pipe tells its size at its end.
    if (stat(opt->paths[i], &status) != 0 || S_ISDIR(status.st_mode)) return false;
    if (!S_ISREG(status.st_mode)) return sorts;
    bytes += (uint64_t)status.st_size;
  }
  // The library sorts in as much memory again.
  if (bytes <= memory_limit(opt) / 2) return false;
  // The others take an array of several dimensions as one row.
  const bool rows = (opt->command & (command_sort | command_merge)) != 0;
  for (int i = 0; rows && format == format_npy && i < opt->path_count; i++) {
    if (!has_one_dimension(opt->paths[i], opt->lines.type)) return false;
  }
  return true;
}

// Memory for `most` elements at once, in whole pages, where files tell that they have as many.
static int allocate_whole(const external *e, piece_memory *to, uint64_t most) {
  const uint64_t bytes = most * to->piece.type->size_bytes;
  if (to->capacity > 0 || e->source.total_bytes < bytes) return exit_ok;
  to->piece.data = to->piece.memory = memory_of_pages(bytes);
  if (to->piece.memory == NULL) return report_failure("not enough memory for %" PRIu64 " elements", most);
  to->capacity = most;
  return exit_ok;
}

// Reads on, up to `most` elements in all, into memory that grows with them, since a pipe does not tell how many will
// come.
static int read_piece(external *e, piece_memory *to, uint64_t most) {
  enum { first_count = 1 << 16 };
  array *piece = &to->piece;
  int code = allocate_whole(e, to, most);
  for (uint64_t got = 1; code == exit_ok && got > 0 && piece->count < most; piece->count += got) {
    if (piece->count == to->capacity) {
      const uint64_t wanted = to->capacity < first_count ? first_count : to->capacity + to->capacity / 2;
      const uint64_t capacity = wanted < most ? wanted : most, bytes = capacity * piece->type->size_bytes;
      void *memory = realloc(piece->memory, (size_t)bytes);
      if (memory == NULL) return report_failure("not enough memory for %" PRIu64 " elements", capacity);
      to->capacity = capacity;
      piece->data = piece->memory = memory;
      // Blocks of both kinds of pages are copied to grow, so only the last one asks.
      if (capacity == most) memory_use_large_pages(memory, bytes);
    }
    code = element_source_read(&e->source, array_at(piece, piece->count), to->capacity - piece->count, &got);
    if (code != exit_ok) got = 0;
  }
  piece->extents[0] = piece->count;
  return code;
}

// A sorted piece that becomes a run, and whose memory takes the next one.
typedef struct exchange {
  external *e;
  piece_memory *of;
  uint64_t most;
} exchange;

// Writes the piece bit by bit, and reads into what is written already: the disk does both while another piece is
// sorted.
static int write_and_read(void *context, const array *piece) {
  enum { bit_bytes = 1 << 23 };
  const exchange *x = context;
  external *e = x->e;
  const uint64_t count = piece->count, size = piece->type->size_bytes;
  uint64_t filled = 0, got = 1;
  int code = exit_ok;
  for (uint64_t written = 0; code == exit_ok && written < count;) {
    const uint64_t bit = count - written < bit_bytes / size ? count - written : bit_bytes / size;
    code = output_write(&e->pieces.runs.file, array_at(piece, written), (size_t)(bit * size));
    written += bit;
    if (code == exit_ok && got > 0) {
      code = element_source_read(&e->source, array_at(piece, filled), written - filled, &got);
      filled += code == exit_ok ? got : 0;
    }
  }
  if (code == exit_ok && count > 0) code = scratch_end_run(&e->pieces.runs);
  x->of->piece.count = x->of->piece.extents[0] = filled;
  return code == exit_ok && got > 0 ? read_piece(e, x->of, x->most) : code;
}

// Sorts piece after piece, of which the first is read already. While one is sorted, the one before is written as a run
// and the one behind is read.
static int make_runs(external *e, piece_memory pieces[2], uint64_t most) {
  const job *j = e->j;
  exchange x = {.e = e, .most = most};
  behind worker = {
      .take = write_and_read, .context = &x, .at_once = behind_at_once(e->limit_bytes, j->opt->lines.threads)};
  int code = job_start(e->j, most), turn = 0;
  for (; code == exit_ok && pieces[turn].piece.count > 0; turn = !turn) {
    const array *piece = &pieces[turn].piece;
    x.of = &pieces[!turn];
    behind_give(&worker, &x.of->piece);
    code =
        job_check(j, gsort_sort(j->g, piece->type->dtype, piece->data, piece->data, piece->count, j->opt->lines.flags));
    const int exchanged = behind_wait(&worker);
    if (code == exit_ok) code = exchanged;
  }
  job_stop(e->j);
  x.of = &pieces[!turn];
  return code == exit_ok ? write_and_read(&x, &x.of->piece) : code;
}

static int sort_in_pieces(external *e, piece_memory pieces[2], uint64_t most) {
  e->pieces.type = e->source.type;
  int code = array_runs_begin(&e->pieces);
  if (code == exit_ok) code = make_runs(e, pieces, most);
  array_free(&pieces[0].piece);
  array_free(&pieces[1].piece);
  library_memory_clear(&e->pieces.memory);
  if (code == exit_ok) code = array_runs_merge(&e->pieces);
  array_runs_end(&e->pieces);
  return code;
}

// An array of several dimensions that came through a pipe is sorted by rows, in memory.
static int sort_rows(external *e) {
  array all = e->source.shape;
  uint64_t got = 0;
  all.data = all.memory = job_allocate(all.count, all.type->size_bytes, "elements");
  int code = all.memory == NULL ? exit_failed : element_source_read(&e->source, all.data, all.count + 1, &got);
  if (code == exit_ok) code = array_command_run(e->j, &all);
  array_free(&all);
  return code;
}

static int sort_all(external *e) {
  if (e->source.shape.dimensions != 1 && e->j->opt->command == command_sort) return sort_rows(e);
  // A third for what is sorted, one for the library, and one for what is written and read meanwhile.
  uint64_t most = e->limit_bytes / 3 / e->source.type->size_bytes;
  if (most == 0) most = 1;
  // Whole blocks of the disk.
  const uint64_t block_elements = past_cache_block_bytes / e->source.type->size_bytes;
  if (most > block_elements) most -= most % block_elements;
  piece_memory pieces[2] = {{array_make(e->source.type, 0, NULL), 0}, {array_make(e->source.type, 0, NULL), 0}};
  if (e->source.total_bytes > e->limit_bytes / 2) progress_in_pieces(true);
  int code = read_piece(e, &pieces[0], most);
  if (code == exit_ok && pieces[0].piece.count < most) {
    code = array_command_run(e->j, &pieces[0].piece);
  } else {
    if (code == exit_ok) code = array_runs_check_output(e->j->opt);
    if (code == exit_ok) code = sort_in_pieces(e, pieces, most);
  }
  array_free(&pieces[0].piece);
  array_free(&pieces[1].piece);
  return code;
}

static external begin(job *j) {
  const uint64_t limit = memory_limit(j->opt);
  return (external){
      .j = j, .pieces = {.j = j, .limit_bytes = limit, .runs = {.file = {.fd = -1}}}, .limit_bytes = limit};
}

int external_arrays_sort(job *j, file_format format) {
  external e = begin(j);
  int code = element_source_open(&e.source, j->opt, format);
  if (e.limit_bytes >= past_cache_bytes_min) element_source_pass_cache(&e.source);
  if (code == exit_ok) code = sort_all(&e);
  element_source_close(&e.source);
  return code;
}

static int check_same_type(const external *e, const type_info *type, const char *path) {
  if (type == NULL || type == e->source.type) return exit_ok;
  return report_failure("%s holds %s numbers, the files before it %s: they must be of one type", path,
                        e->source.type->name, type->name);
}

// Copies what the source gives, which must be in order, by way of `buffer`, which has room for one element and `bytes`
// more. The last element of a piece is put in front of the next one, to be compared with it.
static int copy_in_order(external *e, char *buffer, uint64_t bytes) {
  const type_info *type = e->source.type;
  const uint32_t size = type->size_bytes;
  uint64_t got = 0;
  for (uint64_t first = 0;; first += got) {
    int code = element_source_read(&e->source, buffer + size, bytes / size, &got);
    if (code != exit_ok || got == 0) return code;
    array piece = array_make(type, got, NULL);
    piece.data = first > 0 ? buffer : buffer + size;
    piece.count += first > 0;
    code = array_check_order(e->j, e->source.name, &piece, first > 0 ? first - 1 : 0);
    memcpy(buffer, buffer + got * size, size);
    if (code == exit_ok) code = output_write(&e->pieces.runs.file, buffer + size, (size_t)(got * size));
    if (code != exit_ok) return code;
  }
}

// A file that is in order already becomes a run.
static int copy_run(external *e, const char *const *path, file_format format, char *buffer, uint64_t bytes) {
  const type_info *type = e->source.type;
  options one = *e->j->opt;
  one.paths = path;
  one.path_count = 1;
  int code = element_source_open(&e->source, &one, format);
  if (code == exit_ok) code = check_same_type(e, type, *path);
  if (code == exit_ok) code = copy_in_order(e, buffer, bytes);
  element_source_close(&e->source);
  return code == exit_ok ? scratch_end_run(&e->pieces.runs) : code;
}

int external_arrays_merge(job *j, file_format format) {
  external e = begin(j);
  int code = array_runs_check_output(j->opt);
  if (code != exit_ok) return code;
  const uint64_t bytes = e.limit_bytes / 2 + sizeof(uint64_t);
  char *buffer = job_allocate(bytes + sizeof(uint64_t), 1, "bytes");
  if (buffer == NULL) return exit_failed;
  code = array_runs_begin(&e.pieces);
  for (int i = 0; code == exit_ok && i < j->opt->path_count; i++) {
    code = copy_run(&e, &j->opt->paths[i], format, buffer, bytes);
  }
  free(buffer);
  e.pieces.type = e.source.type;
  if (code == exit_ok) code = array_runs_merge(&e.pieces);
  array_runs_end(&e.pieces);
  return code;
}
