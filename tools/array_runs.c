// SPDX-License-Identifier: MIT OR Apache-2.0
#include "array_runs.h"

#include <string.h>

#include "array_commands.h"
#include "memory_limit.h"
#include "npy.h"
#include "ordered_elements.h"
#include "progress.h"
#include "report.h"
#include "results.h"

// Blocks below this are read with more seeking than reading; two runs are merged at a time at least.
enum { block_bytes_min = 1 << 16, fan_in_min = 2, fan_in_max = 1024 };

static int write_piece(void *context, const array *piece) {
  array_runs *e = context;
  const uint32_t size = piece->type->size_bytes;
  array kept = *piece;
  if (e->j->opt->unique) {
    array_keep_first(&kept);
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
  array_runs *e = context;
  e->merge.target_bytes = to->written_bytes;
  return array_merge_run(&e->merge, first, count, spill_piece, to);
}

static int merge_into_result(array_runs *e, uint64_t total) {
  e->merge.target_bytes = e->j->out.written_bytes;
  if ((e->j->opt->command & (command_sort | command_merge)) != 0) {
    return array_merge_run(&e->merge, 0, e->runs.run_count, write_piece, e);
  }
  ordered_elements o;
  ordered_elements_begin(&o, e->j, e->type, total);
  const int code = array_merge_run(&e->merge, 0, e->runs.run_count, ordered_elements_take, &o);
  return code == exit_ok ? ordered_elements_end(&o) : code;
}

int array_runs_merge(array_runs *e) {
  const uint64_t bytes = e->runs.runs_bytes;
  uint64_t fan_in = e->limit_bytes / 4 / block_bytes_min;
  if (fan_in < fan_in_min) fan_in = fan_in_min;
  if (fan_in > fan_in_max) fan_in = fan_in_max;
  e->merge = (array_merge){.j = e->j, .type = e->type, .runs = &e->runs, .limit_bytes = e->limit_bytes};
  e->merge.total_bytes = bytes * scratch_passes(e->runs.run_count, fan_in);
  int code = job_start(e->j, bytes / e->type->size_bytes);
  if (code == exit_ok) code = scratch_reduce(&e->runs, fan_in, merge_to_scratch, e);
  if (code == exit_ok && e->j->opt->output_format == format_npy) {
    const array all = array_make(e->type, bytes / e->type->size_bytes, NULL);
    code = npy_write_header(&e->j->out, &all);
  }
  return code == exit_ok ? merge_into_result(e, bytes / e->type->size_bytes) : code;
}

int array_runs_check_output(const options *opt) {
  const bool counts = opt->command == command_count;
  if ((!opt->unique && !counts) || opt->output_format != format_npy) return exit_ok;
  return report_failure(
      "%s of more than memory holds cannot write .npy, whose first bytes say how many elements follow: use "
      "--output-format raw",
      counts ? "count" : "--unique");
}

int array_runs_begin(array_runs *e) {
  progress_in_pieces(true);
  memory_return_promptly();
  e->memory = (library_memory)LIBRARY_MEMORY_INIT;
  e->j->memory = &e->memory;
  int code = job_open_output(e->j);
  if (code == exit_ok) code = scratch_open(&e->runs, e->j->opt);
  // The page cache would hold what is written until it needs the room, and takes much of the processors' time for that.
  if (code == exit_ok && e->limit_bytes >= past_cache_bytes_min) {
    output_pass_cache(&e->j->out);
    output_pass_cache(&e->runs.file);
  }
  return code;
}

void array_runs_end(array_runs *e) {
  job_stop(e->j);
  library_memory_clear(&e->memory);
  e->j->memory = NULL;
  scratch_close(&e->runs);
}
