// SPDX-License-Identifier: MIT OR Apache-2.0
// Lines of text and the keys that they are ordered by. The lines stay where they are: what is sorted are keys and the
// places where the lines begin.
#ifndef GSORT_TOOLS_LINES_H_
#define GSORT_TOOLS_LINES_H_

#include <stdbool.h>
#include <stddef.h>

#include "gsort.h"
#include "number.h"
#include "source.h"
#include "types.h"

// How a line is understood and ordered.
typedef struct line_rules {
  uint64_t column;        // whose number counts, from 1; 0: the whole line is the number
  char separator;         // between columns; 0: blanks
  bool skip_blank;        // leave blank lines out
  char comment;           // leave lines out that begin with it; 0: none
  bool hexadecimal;       // take 0x...
  const type_info *type;  // the lines' values are those of this type; NULL: exact numbers of any length
  uint32_t flags;         // GSORT_DESCENDING, GSORT_NAN_LAST
  unsigned threads;
} line_rules;

// What the keys are made of; each holds what the one before it holds, and more.
typedef enum key_mode { keys_signed, keys_unsigned, keys_decimal, keys_typed } key_mode;

typedef struct lines {
  const char *text;     // not owned; each line ends with a newline; padded
  uint64_t text_bytes;  // all lines', those left out included
  uint64_t count;
  bool adjacent;   // each line begins where the one before it ends: none was left out, and they are not sorted
  uint64_t *keys;  // ascend in the order wanted
  void *begins;    // where in `text` each line begins: uint64_t if `wide`, otherwise uint32_t
  bool wide;
  unsigned place_bits;  // not 0: the lines are sorted, `begins` is gone, and the last bits of each key are its place
  key_mode mode;
  const line_rules *rules;
  uint64_t keys_room, begins_room_bytes;  // what there is memory for
  bool goes_on;                           // the memory will be wanted for more lines
} lines;

// Makes keys of all lines that `s` gave last. `mode`: the least to try, keys_signed where nothing is known. `out` is
// zeroed, or holds lines of before, whose memory it takes. Returns an exit code; a line that is not a number is named
// in the sentence.
int lines_parse(const source *s, const line_rules *rules, key_mode mode, lines *out);
void lines_free(lines *l);

// Stable, and exact where keys are cut numbers. Keys and places that have 64 bits together become one number, which is
// sorted in less time and memory than two.
int lines_sort(gsort *g, lines *l);

// `text` may be NULL, and the begins are then addresses: lines of several texts.
static inline const char *lines_at(const lines *l, uint64_t i) {
  if (l->place_bits != 0) return l->text + (l->keys[i] & ((UINT64_C(1) << l->place_bits) - 1));
  if (l->wide) return (const char *)((uintptr_t)l->text + ((const uint64_t *)l->begins)[i]);
  return l->text + ((const uint32_t *)l->begins)[i];
}

static inline void lines_put(lines *l, uint64_t i, const char *line, uint64_t key) {
  const uint64_t begin = (uint64_t)((uintptr_t)line - (uintptr_t)l->text);
  l->keys[i] = key;
  if (l->wide) {
    ((uint64_t *)l->begins)[i] = begin;
  } else {
    ((uint32_t *)l->begins)[i] = (uint32_t)begin;
  }
}

// The order of lines i and j, of one set or of two with the same rules and mode: < 0, 0, > 0.
int lines_compare(const lines *a, uint64_t i, const lines *b, uint64_t j);

// The same of two lines as they stand, read again: for lines whose keys are gone.
int lines_compare_text(const lines *l, const char *a, const char *b);

// The number in the line, as number_scan() understands it: the line must be one that lines_parse() took.
void lines_number(const line_rules *rules, const char *line, number *out);

// Its characters.
void lines_token(const line_rules *rules, const char *line, const char **begin, const char **end);

// Bytes for each line beside its text while it is parsed and sorted: its key and place, and one and a half times
// as much for the library.
enum { line_overhead_bytes = 5 * (sizeof(uint64_t) + sizeof(uint32_t)) / 2 };

#endif  // GSORT_TOOLS_LINES_H_
