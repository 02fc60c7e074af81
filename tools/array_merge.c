// SPDX-License-Identifier: MIT OR Apache-2.0
#include "array_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "behind.h"
#include "memory_limit.h"
#include "order.h"
#include "progress.h"
#include "report.h"

typedef struct block {
  char *elements;
  uint64_t at, count;            // those from `at` on are not given yet
  uint64_t next_byte, end_byte;  // of the run, in the file
} block;

typedef struct round_of_blocks {
  array_merge *m;
  block *blocks;
  uint64_t block_count, block_elements;
  char *memory;       // of all blocks
  char *gathered[2];  // what is sorted, and what is written meanwhile
  bool turn;
} round_of_blocks;

static uint64_t key_at(const round_of_blocks *r, const block *b, uint64_t i) {
  return order_key(r->m->type, r->m->j->opt->lines.flags, b->elements + i * r->m->type->size_bytes);
}

static int read_block(round_of_blocks *r, block *b) {
  const uint32_t size = r->m->type->size_bytes;
  const uint64_t left = b->end_byte - b->next_byte, room = r->block_elements * size;
  const uint64_t bytes = left < room ? left : room;
  for (uint64_t have = 0; have < bytes;) {
    const long got =
        input_read_at(r->m->runs->file.fd, b->elements + have, (size_t)(bytes - have), b->next_byte + have);
    if (got <= 0) {
      return report_failure("%s: cannot read a temporary file there: %s", r->m->runs->folder,
                            got < 0 ? strerror(errno) : "it is shorter than it was");
    }
    have += (uint64_t)got;
  }
  b->next_byte += bytes;
  b->at = 0;
  b->count = bytes / size;
  input_expect(r->m->runs->file.fd, b->next_byte, left - bytes < room ? left - bytes : room);
  r->m->merged_bytes += bytes;
  progress_show(phase_merging, r->m->merged_bytes, r->m->total_bytes);
  return exit_ok;
}

// The least of the last keys of all blocks: what comes after it may have to wait for elements that are not read yet. A
// block that is the last of its run holds nothing back.
static bool find_bound(const round_of_blocks *r, uint64_t *bound) {
  bool found = false;
  *bound = UINT64_MAX;
  for (uint64_t i = 0; i < r->block_count; i++) {
    const block *b = &r->blocks[i];
    if (b->at == b->count) continue;
    found = true;
    if (b->next_byte == b->end_byte) continue;
    const uint64_t key = key_at(r, b, b->count - 1);
    if (key < *bound) *bound = key;
  }
  return found;
}

static uint64_t elements_up_to(const round_of_blocks *r, const block *b, uint64_t bound) {
  uint64_t low = b->at, high = b->count;
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

static array gather(round_of_blocks *r, uint64_t bound) {
  const uint32_t size = r->m->type->size_bytes;
  array all = array_make(r->m->type, 0, NULL);
  all.data = r->gathered[r->turn];
  for (uint64_t i = 0; i < r->block_count; i++) {
    block *b = &r->blocks[i];
    const uint64_t end = elements_up_to(r, b, bound);
    memcpy(r->gathered[r->turn] + all.count * size, b->elements + b->at * size, (size_t)((end - b->at) * size));
    all.count += end - b->at;
    b->at = end;
  }
  all.extents[0] = all.count;
  return all;
}

static int merge_round(round_of_blocks *r, uint64_t bound, behind *writer) {
  const job *j = r->m->j;
  const array all = gather(r, bound);
  const int code = job_check(j, gsort_sort(j->g, all.type->dtype, all.data, all.data, all.count, j->opt->lines.flags));
  const int written = behind_wait(writer);
  if (code != exit_ok || written != exit_ok) return code != exit_ok ? code : written;
  behind_give(writer, &all);
  r->turn = !r->turn;
  return exit_ok;
}

static int merge_rounds(round_of_blocks *r, behind *writer) {
  for (;;) {
    int code = exit_ok;
    for (uint64_t i = 0; code == exit_ok && i < r->block_count; i++) {
      block *b = &r->blocks[i];
      if (b->at == b->count && b->next_byte < b->end_byte) code = read_block(r, b);
    }
    uint64_t bound;
    if (code != exit_ok || !find_bound(r, &bound)) return code;
    code = merge_round(r, bound, writer);
    if (code != exit_ok) return code;
  }
}

int array_merge_run(array_merge *m, uint64_t first, uint64_t count, int (*take)(void *context, const array *piece),
                    void *context) {
  const uint32_t size = m->type->size_bytes;
  round_of_blocks r = {.m = m, .block_count = count};
  // A quarter for the blocks, one for what is gathered of them, one for the library to sort it in, and one for what is
  // written meanwhile.
  r.block_elements = m->limit_bytes / 4 / count / size;
  if (r.block_elements == 0) r.block_elements = 1;
  const size_t block_bytes = (size_t)(r.block_elements * size);
  r.blocks = calloc((size_t)count, sizeof *r.blocks);
  r.memory = malloc(block_bytes * (size_t)count);
  for (int i = 0; i < 2; i++) r.gathered[i] = malloc(block_bytes * (size_t)count);
  memory_use_large_pages(r.memory, block_bytes * count);
  for (int i = 0; i < 2; i++) memory_use_large_pages(r.gathered[i], block_bytes * count);
  int code = exit_ok;
  if (r.blocks == NULL || r.memory == NULL || r.gathered[0] == NULL || r.gathered[1] == NULL)
    code = report_failure("not enough memory to merge");
  for (uint64_t i = 0; code == exit_ok && i < count; i++) {
    const run_place *place = &m->runs->runs[first + i];
    r.blocks[i] = (block){r.memory + i * block_bytes, 0, 0, place->begin, place->end};
  }
  behind writer = {.take = take, .context = context, .at_once = m->j->opt->lines.threads == 1};
  if (code == exit_ok) code = merge_rounds(&r, &writer);
  const int written = behind_wait(&writer);
  if (code == exit_ok) code = written;
  free(r.blocks);
  free(r.memory);
  free(r.gathered[0]);
  free(r.gathered[1]);
  return code;
}
