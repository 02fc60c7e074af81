// SPDX-License-Identifier: MIT OR Apache-2.0
#include "line_tree.h"

#include <stdlib.h>

#include "text_bytes.h"

// A stretch's next line. One that has ended comes after every other.
typedef struct entry {
  uint64_t key;
  uint32_t stretch;  // with `ended` added to it once it has ended
} entry;

static const uint32_t ended = UINT32_C(1) << 31;

typedef struct line_tree {
  line_stretch *stretches;
  unsigned count;
  entry *losers;  // of the matches 1 to count - 1; match i is between those of matches, or leaves, 2 i and 2 i + 1
  entry winner;
} line_tree;

static entry next_of(const line_tree *t, uint32_t i) {
  const line_stretch *s = &t->stretches[i];
  return s->at < s->end ? (entry){s->block->keys[s->at], i} : (entry){UINT64_MAX, i | ended};
}

static bool breaks_tie(const line_tree *t, const entry *a, const entry *b) {
  if (((a->stretch | b->stretch) & ended) == 0) {
    const line_stretch *x = &t->stretches[a->stretch], *y = &t->stretches[b->stretch];
    const int order = lines_compare(x->block, x->at, y->block, y->at);
    if (order != 0) return order < 0;
  }
  return a->stretch < b->stretch;
}

static inline bool is_before(const line_tree *t, const entry *a, const entry *b) {
  bool before = a->key < b->key;
  if (a->key == b->key) before = breaks_tie(t, a, b);
  return before;
}

// `from` meets the losers on its way up from leaf `node`; the winner of the last match is returned.
static inline entry play(line_tree *t, entry from, unsigned node) {
  for (node /= 2; node > 0; node /= 2) {
    entry *loser = &t->losers[node];
    const bool loses = is_before(t, loser, &from);
    // Who wins is anybody's guess, so they change places without a branch.
    const uint64_t key_change = (loser->key ^ from.key) & (0 - (uint64_t)loses);
    const uint32_t stretch_change = (loser->stretch ^ from.stretch) & (0 - (uint32_t)loses);
    loser->key ^= key_change;
    loser->stretch ^= stretch_change;
    from.key ^= key_change;
    from.stretch ^= stretch_change;
  }
  return from;
}

// The winner of the matches at and below `node`, leaves having the numbers from `count` on.
static entry begin(line_tree *t, unsigned node) {
  if (node >= t->count) return next_of(t, node - t->count);
  const entry a = begin(t, 2 * node), b = begin(t, 2 * node + 1);
  const bool first = is_before(t, &a, &b);
  t->losers[node] = first ? b : a;
  return first ? a : b;
}

static const char *end_of_line(const lines *block, uint64_t i) {
  if (!block->adjacent) return text_line_end(lines_at(block, i)) + 1;
  return i + 1 < block->count ? lines_at(block, i + 1) : block->text + block->text_bytes;
}

bool line_tree_merge(line_stretch *stretches, unsigned count, bool unique, part_bytes *to) {
  line_tree t = {stretches, count, malloc(count * sizeof(entry)), {0, 0}};
  if (t.losers == NULL) return false;
  const lines *last = NULL;  // where the line written last is, for `unique`
  uint64_t last_at = 0;
  bool done = true;
  t.winner = begin(&t, 1);
  while (done && t.winner.stretch < ended) {
    line_stretch *s = &stretches[t.winner.stretch];
    if (!unique || last == NULL || lines_compare(last, last_at, s->block, s->at) != 0) {
      const char *line = lines_at(s->block, s->at);
      done = part_append(to, line, (size_t)(end_of_line(s->block, s->at) - line));
      last = s->block;
      last_at = s->at;
    }
    s->at++;
    t.winner = play(&t, next_of(&t, t.winner.stretch), t.winner.stretch + count);
  }
  free(t.losers);
  return done;
}
