// SPDX-License-Identifier: MIT OR Apache-2.0
#include "line_merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "line_output.h"
#include "line_tree.h"
#include "ordered_lines.h"
#include "progress.h"
#include "report.h"
#include "text_bytes.h"

// Keys and places of a block's lines, where a block has less than 4 GB of text.
enum { bytes_per_line = sizeof(uint64_t) + sizeof(uint32_t) };

static int keep_line(kept_line *kept, const lines *from, uint64_t i) { return kept_line_set(kept, lines_at(from, i)); }

static bool run_ended(const line_run *run) { return run->at == run->block.count && source_ended(&run->s); }

static int report_disorder(const line_run *run, uint64_t i) {
  uint64_t line;
  const char *name = source_place(&run->s, lines_at(&run->block, i), &line);
  return report_failure("%s: line %" PRIu64 ": is not in order: it belongs before the line above it", name, line);
}

// The first line of a block is compared with the last of the block before, as exact numbers, since keys may have
// changed between them.
static int check_run(line_run *run, const char *last_line) {
  const lines *block = &run->block;
  if (block->count == 0) return exit_ok;
  if (last_line != NULL && lines_compare_text(block, last_line, lines_at(block, 0)) > 0) return report_disorder(run, 0);
  for (uint64_t i = 1; i < block->count; i++) {
    if (lines_compare(block, i - 1, block, i) > 0) return report_disorder(run, i);
  }
  return exit_ok;
}

static int parse_block(line_merge *m, line_run *run) {
  run->block.goes_on = true;
  return lines_parse(&run->s, m->rules, m->mode, &run->block);
}

// Keys of one mode compare with each other, so a block that needs a greater mode is a reason to parse all again. What
// is written of a block stays written: its lines are the same.
static int use_one_mode(line_merge *m) {
  for (;;) {
    key_mode mode = m->mode;
    for (int i = 0; i < m->run_count; i++) {
      if (m->runs[i].block.mode > mode) mode = m->runs[i].block.mode;
    }
    bool same = true;
    m->mode = mode;
    for (int i = 0; i < m->run_count; i++) {
      if (m->runs[i].block.mode == mode) continue;
      same = false;
      const int code = parse_block(m, &m->runs[i]);
      if (code != exit_ok) return code;
    }
    if (same) return exit_ok;
  }
}

static int refill(line_merge *m, line_run *run, kept_line *last) {
  const char *last_line = NULL;
  int code = exit_ok;
  if (m->check_order && run->block.count > 0) {
    code = keep_line(last, &run->block, run->block.count - 1);
    last_line = last->text;
  }
  run->at = 0;
  if (code == exit_ok) code = source_fill(&run->s, m->block_bytes, bytes_per_line);
  if (code == exit_ok) code = parse_block(m, run);
  return code == exit_ok && m->check_order ? check_run(run, last_line) : code;
}

// The run whose block ends first; -1 if none has lines left.
static int find_first_end(const line_merge *m) {
  int first = -1;
  for (int i = 0; i < m->run_count; i++) {
    const lines *block = &m->runs[i].block;
    if (m->runs[i].at == block->count) continue;
    if (first < 0) {
      first = i;
      continue;
    }
    const lines *best = &m->runs[first].block;
    if (lines_compare(block, block->count - 1, best, best->count - 1) < 0) first = i;
  }
  return first;
}

// How many of a run's lines up to `end` come before line `at` of `block`, or with it if `equal_too`.
static uint64_t lines_up_to(const line_run *run, uint64_t end, const lines *block, uint64_t at, bool equal_too) {
  uint64_t low = run->at, high = end;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const int order = lines_compare(&run->block, middle, block, at);
    if (order < 0 || (order == 0 && equal_too)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The lines that a round writes, and how they are divided into parts: by lines of the run that gives most, so that
// equal lines are in one part.
typedef struct merge_round {
  const line_merge *m;
  const uint64_t *ends;  // of each run
  int guide;             // the run whose lines divide
  uint64_t guide_lines;  // of them in a part
} merge_round;

// The first of run i's lines that comes after part `part`.
static uint64_t part_end(const merge_round *r, int i, uint64_t part) {
  const line_run *guide = &r->m->runs[r->guide];
  const uint64_t lines_left = r->ends[r->guide] - guide->at;
  if (lines_left <= (part + 1) * r->guide_lines) return r->ends[i];
  const uint64_t last = guide->at + (part + 1) * r->guide_lines - 1;
  return lines_up_to(&r->m->runs[i], r->ends[i], &guide->block, last, true);
}

static void merge_part(void *context, uint64_t part, part_bytes *to) {
  const merge_round *r = context;
  const unsigned count = (unsigned)r->m->run_count;
  line_stretch *stretches = malloc(count * sizeof *stretches);
  to->failed = stretches == NULL;
  for (unsigned i = 0; !to->failed && i < count; i++) {
    const line_run *run = &r->m->runs[i];
    stretches[i].block = &run->block;
    stretches[i].at = part == 0 ? run->at : part_end(r, (int)i, part - 1);
    stretches[i].end = part_end(r, (int)i, part);
  }
  if (!to->failed) to->failed = !line_tree_merge(stretches, count, r->m->unique, to);
  free(stretches);
}

// Chooses the ends of all runs: what comes before, or with, the end of the first run's block. Returns the number of
// parts.
static uint64_t divide_round(merge_round *r, int first, uint64_t *ends) {
  const line_merge *m = r->m;
  const lines *end = &m->runs[first].block;
  uint64_t all = 0, most = 0, part_lines = UINT64_MAX;
  for (int i = 0; i < m->run_count; i++) {
    const line_run *run = &m->runs[i];
    ends[i] = lines_up_to(run, run->block.count, end, end->count - 1, i <= first);
    const uint64_t given = ends[i] - run->at;
    if (given == 0) continue;
    all += given;
    if (given >= most) r->guide = i;
    if (given >= most) most = given;
    if (lines_of_part(&run->block) < part_lines) part_lines = lines_of_part(&run->block);
  }
  const uint64_t parts = all / part_lines + 1;
  r->guide_lines = (most + parts - 1) / parts;
  return (most + r->guide_lines - 1) / r->guide_lines;
}

// With --unique, what is equal to the line written last, in the round before, is passed over.
static void pass_over(line_merge *m, const char *last_line) {
  for (int i = 0; i < m->run_count; i++) {
    line_run *run = &m->runs[i];
    while (run->at < run->block.count &&
           lines_compare_text(&run->block, last_line, lines_at(&run->block, run->at)) == 0) {
      run->at++;
    }
  }
}

static int write_round(line_merge *m, int first, part_writer *writer) {
  uint64_t *ends = malloc((size_t)m->run_count * sizeof *ends);
  if (ends == NULL) return report_failure("not enough memory to merge");
  merge_round r = {.m = m, .ends = ends};
  const uint64_t parts = divide_round(&r, first, ends);
  writer->context = &r;
  const int code = part_writer_run(writer, parts);
  for (int i = 0; i < m->run_count; i++) m->runs[i].at = ends[i];
  free(ends);
  return code;
}

static void show(line_merge *m) {
  uint64_t read_bytes = 0;
  for (int i = 0; i < m->run_count; i++) read_bytes += m->runs[i].s.read_bytes;
  progress_show(phase_merging, m->written_bytes + read_bytes, m->total_bytes);
}

static bool needs_refill(const line_run *run) { return run->at == run->block.count && !run_ended(run); }

static int merge_all(line_merge *m, kept_line *kept, kept_line *last, part_writer *writer) {
  for (;;) {
    int code = exit_ok;
    bool again = false;
    for (int i = 0; code == exit_ok && i < m->run_count; i++) {
      while (code == exit_ok && needs_refill(&m->runs[i])) code = refill(m, &m->runs[i], &kept[i]);
    }
    if (code == exit_ok) code = use_one_mode(m);
    if (code != exit_ok) return code;
    if (last->text != NULL) pass_over(m, last->text);
    for (int i = 0; i < m->run_count; i++) again = again || needs_refill(&m->runs[i]);
    if (again) continue;
    const int first = find_first_end(m);
    if (first < 0) return exit_ok;
    code = write_round(m, first, writer);
    const lines *block = &m->runs[first].block;
    if (code == exit_ok && m->unique) code = keep_line(last, block, block->count - 1);
    if (code != exit_ok) return code;
    show(m);
  }
}

int line_merge_run(line_merge *m, output *out) {
  kept_line *kept = calloc((size_t)m->run_count + 1, sizeof *kept);
  part_writer *writer = part_writer_new(out, m->rules->threads, merge_part);
  int code = kept != NULL && writer != NULL ? exit_ok : report_failure("not enough memory");
  if (code == exit_ok) code = merge_all(m, kept, &kept[m->run_count], writer);
  part_writer_free(writer);
  for (int i = 0; kept != NULL && i <= m->run_count; i++) free(kept[i].text);
  free(kept);
  for (int i = 0; i < m->run_count; i++) {
    m->written_bytes += m->runs[i].s.read_bytes;
    lines_free(&m->runs[i].block);
    source_close(&m->runs[i].s);
  }
  return code;
}
