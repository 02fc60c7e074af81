// SPDX-License-Identifier: MIT OR Apache-2.0
#include "external_arrays.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array_commands.h"
#include "array_merge.h"
#include "element_source.h"
#include "memory_limit.h"
#include "npy.h"
#include "progress.h"
#include "report.h"
#include "results.h"
#include "scratch.h"

// Blocks below this are read with more seeking than reading; two runs are merged at a time at least.
enum { block_bytes_min = 1 << 16, fan_in_min = 2, fan_in_max = 1024 };

typedef struct external {
  job *j;
  element_source source;
  scratch runs;
  array_merge merge;
  uint64_t limit_bytes;
  char last[sizeof(uint64_t)];  // with --unique the last element that was written
  bool any;
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
  if (opt->command != command_sort || opt->check != check_off || opt->path_count == 0) return false;
  uint64_t bytes = 0;
  for (int i = 0; i < opt->path_count; i++) {
    struct stat status;
    if (strcmp(opt->paths[i], "-") == 0 || stat(opt->paths[i], &status) != 0 || !S_ISREG(status.st_mode)) return false;
    bytes += (uint64_t)status.st_size;
  }
  // The library sorts in as much memory again.
  if (bytes <= memory_limit(opt) / 2) return false;
  if (format == format_raw) return opt->lines.type != NULL;
  for (int i = 0; i < opt->path_count; i++) {
    if (!has_one_dimension(opt->paths[i], opt->lines.type)) return false;
  }
  return true;
}

static int write_piece(void *context, const array *piece) {
  external *e = context;
  const uint32_t size = piece->type->size_bytes;
  array kept = *piece;
  if (e->j->opt->unique) {
    array_keep_first(&kept, NULL);
    if (e->any && kept.count > 0 && memcmp(e->last, kept.data, size) == 0) {
      kept.data = array_at(&kept, 1);
      kept.count--;
    }
    if (kept.count > 0) memcpy(e->last, array_at(&kept, kept.count - 1), size);
    e->any = e->any || kept.count > 0;
  }
  const file_format format = e->j->opt->output_format == format_text ? format_text : format_raw;
  return results_write_array(&e->j->out, format, &kept);
}

static int spill_piece(void *context, const array *piece) { return results_write_array(context, format_raw, piece); }

static int merge_to_scratch(void *context, uint64_t first, uint64_t count, output *to) {
  external *e = context;
  return array_merge_run(&e->merge, first, count, spill_piece, to);
}

// Sorts what fits into half the memory, the other half being the library's, and writes it as a run.
static int make_runs(external *e) {
  const type_info *type = e->source.type;
  uint64_t most = e->limit_bytes / 2 / type->size_bytes;
  if (most == 0) most = 1;
  array piece = array_make(type, most, job_allocate(most, type->size_bytes, "elements"));
  int code = piece.memory != NULL ? job_start(e->j, most) : exit_failed;
  while (code == exit_ok) {
    code = element_source_read(&e->source, piece.data, most, &piece.count);
    if (code != exit_ok || piece.count == 0) break;
    code =
        job_check(e->j, gsort_sort(e->j->g, type->dtype, piece.data, piece.data, piece.count, e->j->opt->lines.flags));
    if (code == exit_ok) code = results_write_array(&e->runs.file, format_raw, &piece);
    if (code == exit_ok) code = scratch_end_run(&e->runs);
  }
  array_free(&piece);
  job_stop(e->j);
  return code;
}

static int merge_runs(external *e) {
  const uint64_t bytes = e->runs.file.written_bytes;
  uint64_t fan_in = e->limit_bytes / 3 / block_bytes_min;
  if (fan_in < fan_in_min) fan_in = fan_in_min;
  if (fan_in > fan_in_max) fan_in = fan_in_max;
  e->merge = (array_merge){.j = e->j, .type = e->source.type, .runs = &e->runs, .limit_bytes = e->limit_bytes};
  e->merge.total_bytes = bytes * scratch_passes(e->runs.run_count, fan_in);
  int code = job_start(e->j, bytes / e->source.type->size_bytes);
  if (code == exit_ok) code = scratch_reduce(&e->runs, fan_in, merge_to_scratch, e);
  if (code == exit_ok && e->j->opt->output_format == format_npy) {
    const array all = array_make(e->source.type, bytes / e->source.type->size_bytes, NULL);
    code = npy_write_header(&e->j->out, &all);
  }
  return code == exit_ok ? array_merge_run(&e->merge, 0, e->runs.run_count, write_piece, e) : code;
}

int external_arrays_sort(job *j, file_format format) {
  if (j->opt->unique && j->opt->output_format == format_npy) {
    return report_failure(
        "--unique of more than memory holds cannot write .npy, whose first bytes say how many "
        "elements follow: use --output-format raw");
  }
  external e = {.j = j, .limit_bytes = memory_limit(j->opt)};
  e.runs.file.fd = -1;
  int code = element_source_open(&e.source, j->opt, format);
  progress_in_pieces(true);
  j->library_bytes = UINT64_MAX;
  memory_return_promptly();
  if (code == exit_ok) code = job_open_output(j);
  if (code == exit_ok) code = scratch_open(&e.runs, j->opt);
  if (code == exit_ok) code = make_runs(&e);
  element_source_close(&e.source);
  if (code == exit_ok) code = merge_runs(&e);
  scratch_close(&e.runs);
  return code;
}
