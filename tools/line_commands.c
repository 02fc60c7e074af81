// SPDX-License-Identifier: MIT OR Apache-2.0
#include "line_commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "external_lines.h"
#include "line_output.h"
#include "line_select.h"
#include "report.h"
#include "results.h"

static int sort_lines(job *j, lines *l) {
  const int code = job_start(j, l->count);
  return code == exit_ok ? lines_sort(j->g, l) : code;
}

static int run_sort(job *j, lines *l) {
  const int code = sort_lines(j, l);
  return code == exit_ok ? lines_write(&j->out, l, j->opt->unique) : code;
}

// How often each number is there, as uniq -c has it, with the first of its lines.
static int run_count(job *j, lines *l) {
  int code = sort_lines(j, l);
  for (uint64_t i = 0; code == exit_ok && i < l->count;) {
    uint64_t end = i + 1;
    while (end < l->count && lines_compare(l, i, l, end) == 0) end++;
    code = output_format(&j->out, "%7" PRIu64 " ", end - i);
    if (code == exit_ok) code = line_write(&j->out, lines_at(l, i));
    i = end;
  }
  return code;
}

// Lines are told apart by where they begin, and their places in the text ascend as their numbers do. So the ranks of
// the sorted lines' places are the sorted lines' indices, and the order of these places is the ranks of the lines.
static int run_indices(job *j, lines *l) {
  int code = sort_lines(j, l);
  if (code != exit_ok) return code;
  array indices = array_make(type_by_dtype(GSORT_U64), l->count, job_allocate(l->count, sizeof(uint64_t), "indices"));
  if (indices.memory == NULL) return exit_failed;
  const bool packed = l->place_bits != 0;
  for (uint64_t i = 0; packed && i < l->count; i++) l->keys[i] &= (UINT64_C(1) << l->place_bits) - 1;
  const gsort_dtype t = packed || l->wide ? GSORT_U64 : GSORT_U32;
  gsort_status (*const order)(gsort *, gsort_dtype, const void *, uint64_t, gsort_dtype, void *, uint32_t) =
      j->opt->command == command_rank ? gsort_argsort : gsort_rank;
  code = job_check(j, order(j->g, t, packed ? l->keys : l->begins, l->count, GSORT_U64, indices.data, 0));
  if (code == exit_ok) code = results_write_array(&j->out, j->opt->output_format, &indices);
  array_free(&indices);
  return code;
}

static int run_topk(job *j, lines *l) {
  const uint64_t k = j->opt->k;
  if (k > l->count) return report_failure("--k %" PRIu64 " is more than there are numbers, %" PRIu64, k, l->count);
  lines best;
  int code = line_select(j, l, k, &best);
  for (uint64_t i = 0; code == exit_ok && i < k; i++) {
    code = output_format(&j->out, "%" PRIu64 "\t", line_index(l, &best, i));
    if (code == exit_ok) code = line_write(&j->out, lines_at(&best, i));
  }
  lines_free(&best);
  return code;
}

static int run_extreme(job *j, lines *l) {
  if (l->count == 0) return report_failure("there are no numbers");
  lines best;
  int code = line_select(j, l, 1, &best);
  if (code == exit_ok) code = line_write(&j->out, lines_at(&best, 0));
  lines_free(&best);
  return code;
}

// The p-th percentile is the first line in order that has at least p percent of all up to it (the nearest rank).
static int run_percentile(job *j, lines *l) {
  if (l->count == 0) return report_failure("there are no numbers");
  int code = sort_lines(j, l);
  for (int i = 0; code == exit_ok && i < j->opt->percentile_count; i++) {
    const uint64_t place = percentile_place(j->opt->percentiles[i], l->count);
    char label[32];
    percentile_print(label, sizeof label, j->opt->percentiles[i]);
    code = output_format(&j->out, "%s\t", label);
    if (code == exit_ok) code = line_write(&j->out, lines_at(l, place));
  }
  return code;
}

static int run_median(job *j, lines *l) {
  if (l->count == 0) return report_failure("there are no numbers");
  const int code = sort_lines(j, l);
  if (code != exit_ok) return code;
  const uint64_t middle = l->count / 2;
  if (l->count % 2 != 0 || lines_compare(l, middle - 1, l, middle) == 0) {
    return line_write(&j->out, lines_at(l, l->count % 2 != 0 ? middle : middle - 1));
  }
  return line_write_mean(j, l, middle - 1, middle);
}

static int run(job *j, lines *l) {
  switch (j->opt->command) {
    case command_argsort:
    case command_rank:
      return run_indices(j, l);
    case command_topk:
      return run_topk(j, l);
    case command_count:
      return run_count(j, l);
    case command_min:
    case command_max:
      return run_extreme(j, l);
    case command_median:
      return run_median(j, l);
    case command_percentile:
      return run_percentile(j, l);
    default:
      return run_sort(j, l);
  }
}

int line_command_run(job *j, source *s) {
  const options *opt = j->opt;
  line_rules rules = opt->lines;
  // Selections give the first lines of an order, so the greatest come first unless the least are wanted.
  const bool greatest =
      opt->command == command_max || (opt->command == command_topk && !(rules.flags & GSORT_SMALLEST));
  if ((opt->command & (command_topk | command_min | command_max)) != 0) rules.flags &= GSORT_NAN_LAST;
  if (greatest) rules.flags |= GSORT_DESCENDING;
  if ((opt->command & external_commands) != 0) return external_lines_run(j, s, &rules, run);
  lines l = {0};
  int code = source_fill(s, UINT64_MAX, 0);
  if (code == exit_ok) code = lines_parse(s, &rules, keys_signed, &l);
  if (code == exit_ok) code = job_open_output(j);
  if (code == exit_ok) code = run(j, &l);
  lines_free(&l);
  return code;
}
