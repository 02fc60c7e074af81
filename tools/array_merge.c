// SPDX-License-Identifier: MIT OR Apache-2.0
#include "array_merge.h"

#include <stdlib.h>
#include <string.h>

#include "behind.h"
#include "block_reader.h"
#include "memory_limit.h"
#include "order.h"
#include "progress.h"
#include "report.h"

// What is in memory of a run: one half of its block is merged while the other one is read. In front of each half there
// is room for what is left of the other one, so that a round need not end where a few elements of one run do.
typedef struct block {
  char *halves[2];
  int turn;        // the half that the elements are in
  char *elements;  // those that are not given yet
  uint64_t count;
  block_read next;               // into the other half; of 0 bytes: the run has ended
  uint64_t next_byte, end_byte;  // what of the run was not asked for, in the file
} block;

// Elements of a run, or of several merged ones, that go into a round.
typedef struct stretch {
  char *elements;
  uint64_t count;
} stretch;

typedef struct round_of_blocks {
  array_merge *m;
  block *blocks;
  stretch *stretches;
  uint64_t block_count;
  uint64_t half_elements, room_elements;  // of a half, and of what is left in front of it
  block_reader reader;
  char *memory;           // of all blocks
  char *merged[2];        // what is made, and what is written meanwhile
  char *between;          // merged runs that are merged again
  uint64_t result_bytes;  // of the target, up to the next round
  bool turn;
} round_of_blocks;

static uint64_t key_at(const round_of_blocks *r, const block *b, uint64_t i) {
  return order_key(r->m->type, r->m->j->opt->lines.flags, b->elements + i * r->m->type->size_bytes);
}

static void ask_for_next(round_of_blocks *r, block *b) {
  const uint64_t left = b->end_byte - b->next_byte, room = r->half_elements * r->m->type->size_bytes;
  b->next = (block_read){.to = b->halves[!b->turn], .offset = b->next_byte, .bytes = left < room ? left : room};
  b->next_byte += b->next.bytes;
  if (b->next.bytes > 0) block_reader_ask(&r->reader, &b->next);
}

// Goes on to the next half where few elements are left of this one.
static int refill(round_of_blocks *r, block *b) {
  const uint32_t size = r->m->type->size_bytes;
  if (b->next.bytes == 0 || b->count > r->room_elements) return exit_ok;
  const int error = block_reader_wait(&r->reader, &b->next);
  if (error != 0) {
    return report_failure("%s: cannot read a temporary file there: %s", r->m->runs->folder,
                          error > 0 ? strerror(error) : "it is shorter than it was");
  }
  char *begin = b->next.to - b->count * size;
  memcpy(begin, b->elements, (size_t)(b->count * size));
  b->elements = begin;
  b->count += b->next.bytes / size;
  b->turn = !b->turn;
  r->m->merged_bytes += b->next.bytes;
  progress_show(phase_merging, r->m->merged_bytes, r->m->total_bytes);
  ask_for_next(r, b);
  return exit_ok;
}

// The least of the last keys of all blocks: what comes after it may have to wait for elements that are not read yet. A
// block that is the last of its run holds nothing back.
static bool find_bound(const round_of_blocks *r, uint64_t *bound) {
  bool found = false;
  *bound = UINT64_MAX;
  for (uint64_t i = 0; i < r->block_count; i++) {
    const block *b = &r->blocks[i];
    if (b->count == 0) continue;
    found = true;
    if (b->next.bytes == 0) continue;
    const uint64_t key = key_at(r, b, b->count - 1);
    if (key < *bound) *bound = key;
  }
  return found;
}

static uint64_t elements_up_to(const round_of_blocks *r, const block *b, uint64_t bound) {
  uint64_t low = 0, high = b->count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (key_at(r, b, middle) <= bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Takes what all runs give to a round. Returns how many stretches these are.
static uint64_t take_stretches(round_of_blocks *r, uint64_t bound) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < r->block_count; i++) {
    block *b = &r->blocks[i];
    const uint64_t taken = elements_up_to(r, b, bound);
    if (taken > 0) r->stretches[count++] = (stretch){b->elements, taken};
    b->elements += taken * r->m->type->size_bytes;
    b->count -= taken;
  }
  return count;
}

// Merges stretches, halves of them first, into the beginning of `to`; the halves go to `between`, whose beginning and
// end are as far apart. A single stretch stays where it is.
static int merge_stretches(const round_of_blocks *r, const stretch *from, uint64_t count, char *to, char *between,
                           stretch *out) {
  const job *j = r->m->j;
  const uint32_t size = r->m->type->size_bytes;
  stretch a, b;
  *out = from[0];
  if (count == 1) return exit_ok;
  int code = merge_stretches(r, from, count / 2, between, to, &a);
  const uint64_t a_bytes = a.count * size;
  if (code == exit_ok) {
    code = merge_stretches(r, from + count / 2, count - count / 2, between + a_bytes, to + a_bytes, &b);
  }
  if (code != exit_ok) return code;
  *out = (stretch){to, a.count + b.count};
  return job_check(
      j, gsort_merge(j->g, r->m->type->dtype, a.elements, a.count, b.elements, b.count, to, j->opt->lines.flags));
}

static int merge_round(round_of_blocks *r, uint64_t bound, behind *writer) {
  const uint64_t count = take_stretches(r, bound);
  array all = array_make(r->m->type, 0, NULL);
  // In memory as in the file that it goes to, so that it is written from there.
  char *to = r->merged[r->turn] + r->result_bytes % past_cache_block_bytes;
  stretch result;
  const int code = merge_stretches(r, r->stretches, count, to, r->between, &result);
  // A block is read into again before all of it is written.
  if (code == exit_ok && count == 1) memcpy(to, result.elements, (size_t)(result.count * all.type->size_bytes));
  const int written = behind_wait(writer);
  if (code != exit_ok || written != exit_ok) return code != exit_ok ? code : written;
  all.data = to;
  all.count = all.extents[0] = result.count;
  r->result_bytes += result.count * all.type->size_bytes;
  behind_give(writer, &all);
  r->turn = !r->turn;
  return exit_ok;
}

static int merge_rounds(round_of_blocks *r, behind *writer) {
  for (;;) {
    int code = exit_ok;
    for (uint64_t i = 0; code == exit_ok && i < r->block_count; i++) code = refill(r, &r->blocks[i]);
    uint64_t bound;
    if (code != exit_ok || !find_bound(r, &bound)) return code;
    code = merge_round(r, bound, writer);
    if (code != exit_ok) return code;
  }
}

// Five parts of the memory: two halves of the blocks, two for what is made of one of them and is written, and one that
// the merges need between them.
static int allocate(round_of_blocks *r) {
  const uint64_t size = r->m->type->size_bytes, count = r->block_count, block_elements = past_cache_block_bytes / size;
  const uint64_t part_elements = r->m->limit_bytes / 5 / count / size;
  r->room_elements = part_elements / 8;
  // Whole blocks of the disk.
  if (part_elements > block_elements) r->room_elements -= r->room_elements % block_elements;
  r->half_elements = part_elements > 1 ? part_elements - r->room_elements : 1;
  if (r->half_elements > block_elements) r->half_elements -= r->half_elements % block_elements;
  const uint64_t part_bytes = (r->room_elements + r->half_elements) * size * count;
  r->blocks = calloc((size_t)count, sizeof *r->blocks);
  r->stretches = calloc((size_t)count, sizeof *r->stretches);
  r->memory = memory_of_pages(2 * part_bytes);
  r->between = memory_of_pages(part_bytes);
  for (int i = 0; i < 2; i++) r->merged[i] = memory_of_pages(part_bytes + past_cache_block_bytes);
  if (r->blocks == NULL || r->stretches == NULL || r->memory == NULL || r->between == NULL || r->merged[0] == NULL ||
      r->merged[1] == NULL)
    return report_failure("not enough memory to merge");
  return exit_ok;
}

// Asks for the first half of every block.
static void begin_blocks(round_of_blocks *r, const run_place *places) {
  const uint64_t size = r->m->type->size_bytes;
  const uint64_t room_bytes = r->room_elements * size, half_bytes = room_bytes + r->half_elements * size;
  for (uint64_t i = 0; i < r->block_count; i++) {
    char *begin = r->memory + 2 * i * half_bytes;
    r->blocks[i] = (block){.halves = {begin + room_bytes, begin + half_bytes + room_bytes},
                           .turn = 1,
                           .next_byte = places[i].begin,
                           .end_byte = places[i].end};
    r->blocks[i].elements = r->blocks[i].halves[1];
    ask_for_next(r, &r->blocks[i]);
  }
}

int array_merge_run(array_merge *m, uint64_t first, uint64_t count, int (*take)(void *context, const array *piece),
                    void *context) {
  const bool at_once = behind_at_once(m->limit_bytes, m->j->opt->lines.threads);
  round_of_blocks r = {.m = m, .block_count = count, .result_bytes = m->target_bytes};
  behind writer = {.take = take, .context = context, .at_once = at_once};
  int code = allocate(&r);
  if (code == exit_ok) {
    block_reader_start(&r.reader, m->runs->file.fd, m->runs->file.direct.begun, at_once);
    begin_blocks(&r, m->runs->runs + first);
    code = merge_rounds(&r, &writer);
    block_reader_stop(&r.reader);
  }
  const int written = behind_wait(&writer);
  if (code == exit_ok) code = written;
  free(r.blocks);
  free(r.stretches);
  free(r.memory);
  free(r.between);
  free(r.merged[0]);
  free(r.merged[1]);
  return code;
}
