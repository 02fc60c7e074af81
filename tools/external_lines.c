// SPDX-License-Identifier: MIT OR Apache-2.0
#include "external_lines.h"

#include <stdlib.h>

#include "behind.h"
#include "line_merge.h"
#include "line_output.h"
#include "memory_limit.h"
#include "ordered_lines.h"
#include "progress.h"
#include "report.h"
#include "scratch.h"

// A run's block: large enough that reading is mostly not seeking, and at least two runs are merged at a time.
enum { block_bytes_min = 1 << 17, fan_in_min = 2, fan_in_max = 1024 };

typedef struct external {
  job *j;
  const line_rules *rules;
  scratch runs;
  key_mode mode;  // the greatest of all pieces
  uint64_t limit_bytes, fan_in;
  uint64_t line_count;
  uint64_t merged_bytes, total_bytes;
} external;

static int merge_runs(void *context, uint64_t first, uint64_t count, output *to) {
  external *e = context;
  line_run *runs = calloc((size_t)count, sizeof *runs);
  if (runs == NULL) return report_failure("not enough memory");
  int code = exit_ok;
  for (uint64_t i = 0; code == exit_ok && i < count; i++) {
    const run_place *place = &e->runs.runs[first + i];
    code = source_open_region(&runs[i].s, e->runs.folder, e->runs.file.fd, place->begin, place->end);
  }
  line_merge m = {.rules = e->rules,
                  .runs = runs,
                  .run_count = (int)count,
                  .mode = e->mode,
                  // One more than there are runs: for buffers, and for what the allocator keeps.
                  .block_bytes = e->limit_bytes / (count + 1),
                  .unique = e->j->opt->unique,
                  .written_bytes = e->merged_bytes,
                  .total_bytes = e->total_bytes};
  if (code == exit_ok) code = line_merge_run(&m, to);
  e->merged_bytes = m.written_bytes;
  e->mode = m.mode;
  free(runs);
  return code;
}

static int sort_piece(external *e, lines *l) {
  if (l->mode > e->mode) e->mode = l->mode;
  e->line_count += l->count;
  int code = job_start(e->j, l->count);
  if (code == exit_ok) code = lines_sort(e->j->g, l);
  if (code == exit_ok) code = lines_write(&e->runs.file, l, e->j->opt->unique);
  return code == exit_ok ? scratch_end_run(&e->runs) : code;
}

// What follows the first piece is read while the piece before it is sorted and written: text has two places then.
typedef struct reading {
  source *s;
  uint64_t limit_bytes;
  source_memory aside;
} reading;

static int read_ahead(void *context, const array *none) {
  (void)none;
  const reading *r = context;
  return source_fill(r->s, r->limit_bytes / 2, line_overhead_bytes / 2);
}

static int make_other_runs(external *e, reading *r) {
  behind reader = {.take = read_ahead, .context = r, .at_once = behind_at_once(e->limit_bytes, e->rules->threads)};
  lines l = {.goes_on = true};
  int code = read_ahead(r, NULL);
  for (bool more = true; code == exit_ok && more;) {
    code = lines_parse(r->s, e->rules, keys_signed, &l);
    more = code == exit_ok && !source_ended(r->s);
    if (more) code = source_put_aside(r->s, &r->aside, r->s->capacity);
    more = more && code == exit_ok;
    if (more) behind_give(&reader, NULL);
    if (code == exit_ok) code = sort_piece(e, &l);
    const int read = more ? behind_wait(&reader) : exit_ok;
    if (code == exit_ok) code = read;
  }
  lines_free(&l);
  return code;
}

// Sorts piece after piece into the scratch file, the first of which is parsed already, and has the memory for itself.
static int make_runs(external *e, source *s, lines *first) {
  reading r = {.s = s, .limit_bytes = e->limit_bytes};
  int code = sort_piece(e, first);
  lines_free(first);
  job_stop(e->j);  // The library keeps as much memory as this piece took, and the next ones take less.
  if (code == exit_ok) code = source_put_aside(s, &r.aside, s->capacity / 2);
  free(r.aside.memory);
  r.aside = (source_memory){NULL, 0};
  if (code == exit_ok) code = make_other_runs(e, &r);
  free(r.aside.memory);
  return code;
}

static int merge_into_result(external *e) {
  const uint64_t count = e->runs.run_count;
  if (e->j->opt->command == command_sort) return merge_runs(e, 0, count, &e->j->out);
  if (e->line_count == 0) return e->j->opt->command == command_count ? exit_ok : report_failure("there are no numbers");
  ordered_lines ordered;
  ordered_lines_begin(&ordered, e->j, e->rules, e->mode, e->line_count);
  output to = {.fd = -1, .take = ordered_lines_take, .context = &ordered};
  int code = merge_runs(e, 0, count, &to);
  if (code == exit_ok) code = ordered_lines_end(&ordered);
  ordered_lines_free(&ordered);
  return code;
}

static int sort_in_pieces(external *e, source *s, lines *first) {
  int code = scratch_open(&e->runs, e->j->opt);
  progress_in_pieces(true);
  memory_return_promptly();
  if (code == exit_ok) code = make_runs(e, s, first);
  source_close(s);  // Its memory is the merge's now, and what the library kept for the next piece.
  job_stop(e->j);
  if (code == exit_ok) {
    e->fan_in = e->limit_bytes / block_bytes_min;
    if (e->fan_in < fan_in_min) e->fan_in = fan_in_min;
    if (e->fan_in > fan_in_max) e->fan_in = fan_in_max;
    e->total_bytes = e->runs.runs_bytes * scratch_passes(e->runs.run_count, e->fan_in);
    code = scratch_reduce(&e->runs, e->fan_in, merge_runs, e);
  }
  if (code == exit_ok) code = merge_into_result(e);
  scratch_close(&e->runs);
  return code;
}

// The default of a pipe, whose length is not known. What fits is quicker sorted at once; of several times as much
// pieces take 0.8 to 1.3 times as long as all at once would, in a fifth of the memory or less (bench/README.md).
static uint64_t limit_of(const options *opt, const source *s) {
  enum { pipe_bytes_max = 1 << 29 };
  const uint64_t limit = memory_limit(opt);
  return opt->memory_bytes == 0 && s->total_bytes == 0 && limit > pipe_bytes_max ? pipe_bytes_max : limit;
}

int external_lines_run(job *j, source *s, const line_rules *rules, int (*whole)(job *j, lines *l)) {
  external e = {.j = j, .rules = rules, .limit_bytes = limit_of(j->opt, s)};
  lines first = {0};
  int code = source_fill(s, e.limit_bytes, line_overhead_bytes);
  if (code == exit_ok) code = lines_parse(s, rules, keys_signed, &first);
  if (code == exit_ok) code = job_open_output(j);
  if (code == exit_ok) code = source_ended(s) ? whole(j, &first) : sort_in_pieces(&e, s, &first);
  lines_free(&first);
  return code;
}
