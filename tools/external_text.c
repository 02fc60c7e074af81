// SPDX-License-Identifier: MIT OR Apache-2.0
#include "external_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array_commands.h"
#include "array_runs.h"
#include "input.h"
#include "memory_limit.h"
#include "report.h"
#include "text_array.h"

// What an integer run's zeros are if it turns out that they are doubles: integers have one zero.
typedef struct run_zeros {
  uint64_t all, minus;  // `minus`: those that were written -0
} run_zeros;

// Without --type pieces are i64, or u64, as long as that holds all numbers so far. Of no negative numbers both are the
// same bits in the same order. From the first other number on all are f64, and the runs that there are become such:
// doubles that hold their integers have the same order.
typedef struct external_text {
  job *j;
  source *s;
  line_rules rules;  // for lines_parse(), without flags
  array_runs pieces;
  bool begun;            // there is a first run
  bool doubles;          // without --type
  bool negative, great;  // what the integer runs hold: numbers below 0, or above those of 63 bits
  unkept_integer unkept;
  run_zeros *zeros;  // of each run
} external_text;

static bool any_negative(const lines *l) {
  uint64_t all = UINT64_MAX;
  for (uint64_t i = 0; i < l->count; i++) all &= l->keys[i];
  return l->mode == keys_signed && l->count > 0 && all >> 63 == 0;
}

// The next lines, with keys that hold these numbers and those before.
static int next_lines(external_text *t, lines *l) {
  int code = source_fill(t->s, t->pieces.limit_bytes, line_overhead_bytes);
  if (code == exit_ok) code = lines_parse(t->s, &t->rules, t->doubles ? keys_decimal : keys_signed, l);
  if (code != exit_ok || l->mode == keys_typed || l->mode == keys_decimal) return code;
  const bool negative = t->negative || any_negative(l), great = t->great || l->mode == keys_unsigned;
  if (negative && great) return lines_parse(t->s, &t->rules, keys_decimal, l);
  t->negative = negative;
  t->great = great;
  return exit_ok;
}

static int read_run(const external_text *t, uint64_t offset, void *to, size_t bytes) {
  const scratch *runs = &t->pieces.runs;
  for (size_t done = 0; done < bytes;) {
    const long got = input_read_at(runs->file.fd, (char *)to + done, bytes - done, offset + done);
    if (got <= 0) {
      return report_failure("%s: cannot read a temporary file there: %s", runs->folder,
                            got < 0 ? strerror(errno) : "it is shorter than it was");
    }
    done += (size_t)got;
  }
  return exit_ok;
}

// In the direction of the sort -0 comes before 0, or behind it.
static double double_of(const external_text *t, uint64_t bits, const run_zeros *zeros, uint64_t *seen) {
  if (bits != 0) return t->great ? (double)bits : (double)(int64_t)bits;
  const bool descending = (t->j->opt->lines.flags & GSORT_DESCENDING) != 0;
  const bool minus = descending ? *seen >= zeros->all - zeros->minus : *seen < zeros->minus;
  (*seen)++;
  return minus ? -0.0 : 0.0;
}

static int convert_run(external_text *t, const run_place *run, const run_zeros *zeros) {
  enum { count_max = 1 << 12 };
  uint64_t values[count_max], seen = 0;
  int code = exit_ok;
  for (uint64_t at = run->begin; code == exit_ok && at < run->end; at += sizeof values) {
    const size_t bytes = run->end - at < sizeof values ? (size_t)(run->end - at) : sizeof values;
    code = read_run(t, at, values, bytes);
    for (size_t i = 0; code == exit_ok && i < bytes / sizeof *values; i++) {
      const double value = double_of(t, values[i], zeros, &seen);
      memcpy(&values[i], &value, sizeof value);
    }
    if (code == exit_ok) code = output_rewrite(&t->pieces.runs.file, at, values, bytes);
  }
  return code;
}

static int become_doubles(external_text *t) {
  int code = exit_ok;
  if (t->unkept.name != NULL) code = text_array_report_unkept(&t->unkept);
  for (uint64_t i = 0; code == exit_ok && i < t->pieces.runs.run_count; i++) {
    code = convert_run(t, &t->pieces.runs.runs[i], &t->zeros[i]);
  }
  t->doubles = true;
  return code;
}

// Keeps what would be asked of integers if they became doubles.
static int note_integers(external_text *t, const lines *l) {
  const uint64_t run = t->pieces.runs.run_count, zero = l->mode == keys_signed ? UINT64_C(1) << 63 : 0;
  run_zeros *grown = realloc(t->zeros, (size_t)(run + 1) * sizeof *grown);
  if (grown == NULL) return report_failure("not enough memory");
  t->zeros = grown;
  grown[run] = (run_zeros){0, 0};
  for (uint64_t i = 0; i < l->count; i++) {
    if (l->keys[i] != zero) continue;
    const char *begin, *end;
    lines_token(l->rules, lines_at(l, i), &begin, &end);
    grown[run].all++;
    grown[run].minus += *begin == '-';
  }
  if (t->unkept.name == NULL) text_array_find_unkept(t->s, l, &t->unkept);
  return exit_ok;
}

static int begin(external_text *t) {
  if (t->begun) return exit_ok;
  t->begun = true;
  return array_runs_begin(&t->pieces);
}

static int sort_piece(external_text *t, lines *l) {
  if (l->count == 0) return exit_ok;
  int code = begin(t);
  if (code == exit_ok && l->mode == keys_decimal && !t->doubles) code = become_doubles(t);
  if (code == exit_ok && l->mode < keys_decimal) code = note_integers(t, l);
  array piece = {0};
  if (code == exit_ok) code = text_array_of_lines(t->s, l, true, &piece);
  lines_free(l);
  if (code == exit_ok) code = job_start(t->j, piece.count);
  if (code == exit_ok) {
    const uint32_t flags = t->j->opt->lines.flags;
    t->pieces.type = t->great && !t->doubles ? type_by_dtype(GSORT_U64) : piece.type;
    code = job_check(t->j, gsort_sort(t->j->g, piece.type->dtype, piece.data, piece.data, piece.count, flags));
  }
  if (code == exit_ok) {
    code = output_write(&t->pieces.runs.file, piece.data, (size_t)(piece.count * piece.type->size_bytes));
  }
  array_free(&piece);
  return code == exit_ok ? scratch_end_run(&t->pieces.runs) : code;
}

static int run_whole(job *j, const source *s, lines *l) {
  array all = {0};
  int code = text_array_of_lines(s, l, true, &all);
  if (code == exit_ok) code = array_command_run(j, &all);
  array_free(&all);
  return code;
}

static int run_in_pieces(external_text *t, lines *l) {
  int code = array_runs_check_output(t->j->opt);
  while (code == exit_ok) {
    code = sort_piece(t, l);
    if (code != exit_ok || source_ended(t->s)) break;
    code = next_lines(t, l);
  }
  if (code == exit_ok && !t->begun) return run_whole(t->j, t->s, l);  // all lines were left out
  job_stop(t->j);
  source_close(t->s);  // Its memory is the merge's now, and what was kept for the library.
  if (!t->begun) return code;
  library_memory_clear(&t->pieces.memory);
  if (code == exit_ok) code = array_runs_merge(&t->pieces);
  array_runs_end(&t->pieces);
  return code;
}

int external_text_run(job *j, source *s) {
  external_text t = {.j = j, .s = s, .rules = j->opt->lines};
  t.rules.flags = 0;
  t.pieces = (array_runs){.j = j, .limit_bytes = memory_limit(j->opt), .runs = {.file = {.fd = -1}}};
  lines l = {0};
  int code = next_lines(&t, &l);
  if (code == exit_ok) code = source_ended(s) ? run_whole(j, s, &l) : run_in_pieces(&t, &l);
  lines_free(&l);
  free(t.zeros);
  return code;
}
