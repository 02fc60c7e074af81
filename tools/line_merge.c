// SPDX-License-Identifier: MIT OR Apache-2.0
#include "line_merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "line_output.h"
#include "progress.h"
#include "report.h"

// Keys and places of a block's lines, of the lines that a round gathers, and of the library's copy of these.
enum { bytes_per_line = 12 + 2 * 16 };

// A line of its own, which outlives the block that it came from.
typedef struct kept_line {
  lines line;
  char *text;
  size_t capacity;
  uint64_t key, begin;
} kept_line;

static int keep_line(kept_line *kept, const lines *from, uint64_t i) {
  const char *line = lines_at(from, i);
  const size_t bytes = (size_t)((const char *)memchr(line, '\n', SIZE_MAX / 2) - line) + 1;
  if (bytes > kept->capacity) {
    char *text = realloc(kept->text, bytes);
    if (text == NULL) return report_failure("not enough memory for a line");
    kept->text = text;
    kept->capacity = bytes;
  }
  memcpy(kept->text, line, bytes);
  kept->line = *from;
  kept->line.text = NULL;
  kept->line.wide = true;
  kept->line.count = 1;
  kept->line.keys = &kept->key;
  kept->line.begins = &kept->begin;
  lines_put(&kept->line, 0, kept->text, from->keys[i]);
  return exit_ok;
}

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
  lines_free(&run->block);
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

// How many lines of run i come before, or with, the end of the first run's block: of equal ones those of earlier runs.
static uint64_t lines_up_to(const line_merge *m, int i, int first) {
  const line_run *run = &m->runs[i];
  const lines *end = &m->runs[first].block;
  uint64_t low = run->at, high = run->block.count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const int order = lines_compare(&run->block, middle, end, end->count - 1);
    if (order < 0 || (order == 0 && i <= first)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static int gather(line_merge *m, int first, lines *all) {
  uint64_t count = 0;
  for (int i = 0; i < m->run_count; i++) count += lines_up_to(m, i, first) - m->runs[i].at;
  *all = m->runs[first].block;
  all->text = NULL;
  all->wide = true;
  all->count = 0;
  all->keys = job_allocate(count, sizeof(uint64_t), "lines");
  all->begins = all->keys == NULL ? NULL : job_allocate(count, sizeof(uint64_t), "lines");
  if (all->begins == NULL) return exit_failed;
  for (int i = 0; i < m->run_count; i++) {
    line_run *run = &m->runs[i];
    const uint64_t end = i == first ? run->block.count : lines_up_to(m, i, first);
    for (; run->at < end; run->at++) {
      lines_put(all, all->count++, lines_at(&run->block, run->at), run->block.keys[run->at]);
    }
  }
  return exit_ok;
}

// Sorts and writes one round's lines. `last` is the last line written, of which --unique keeps no second one.
static int write_round(line_merge *m, int first, kept_line *last, output *out) {
  lines all = {0};
  int code = gather(m, first, &all);
  if (code == exit_ok) code = lines_sort(m->j->g, &all);
  uint64_t from = 0;
  if (code == exit_ok && m->unique && last->text != NULL) {
    while (from < all.count && lines_compare_text(&all, last->text, lines_at(&all, from)) == 0) from++;
  }
  for (uint64_t i = from; code == exit_ok && i < all.count; i++) {
    if (m->unique && i > from && lines_compare(&all, i - 1, &all, i) == 0) continue;
    code = line_write(out, lines_at(&all, i));
  }
  if (code == exit_ok && m->unique && all.count > 0) code = keep_line(last, &all, all.count - 1);
  lines_free(&all);
  return code;
}

static void show(line_merge *m) {
  uint64_t read_bytes = 0;
  for (int i = 0; i < m->run_count; i++) read_bytes += m->runs[i].s.read_bytes;
  progress_show(phase_merging, m->written_bytes + read_bytes, m->total_bytes);
}

static int merge_all(line_merge *m, kept_line *kept, kept_line *last, output *out) {
  int code = exit_ok;
  while (code == exit_ok) {
    for (int i = 0; code == exit_ok && i < m->run_count; i++) {
      line_run *run = &m->runs[i];
      while (code == exit_ok && run->at == run->block.count && !run_ended(run)) code = refill(m, run, &kept[i]);
    }
    if (code == exit_ok) code = use_one_mode(m);
    const int first = code == exit_ok ? find_first_end(m) : -1;
    if (first < 0) break;
    code = write_round(m, first, last, out);
    show(m);
  }
  return code;
}

int line_merge_run(line_merge *m, output *out) {
  kept_line *kept = calloc((size_t)m->run_count + 1, sizeof *kept);
  if (kept == NULL) return report_failure("not enough memory");
  const int code = merge_all(m, kept, &kept[m->run_count], out);
  for (int i = 0; i <= m->run_count; i++) free(kept[i].text);
  free(kept);
  for (int i = 0; i < m->run_count; i++) {
    m->written_bytes += m->runs[i].s.read_bytes;
    lines_free(&m->runs[i].block);
    source_close(&m->runs[i].s);
  }
  return code;
}
