// SPDX-License-Identifier: MIT OR Apache-2.0
// Loops over the bytes of a text. Words of eight are read with the first byte lowest, as on every machine that the
// library is made for.
#ifndef GSORT_TOOLS_TEXT_BYTES_H_
#define GSORT_TOOLS_TEXT_BYTES_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// As many bytes may be read behind the text where a function says so; what they are does not matter.
enum { text_padding_bytes = 8 };

// The newline that ends the line at `at`, which must be there.
static inline const char *text_line_end(const char *at) { return memchr(at, '\n', SIZE_MAX / 4); }

static inline uint64_t text_word(const char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

// The first of a word's bytes whose highest bit is set in `marks`, 8 if there is none.
static inline unsigned text_first_mark(uint64_t marks) { return marks == 0 ? 8 : (unsigned)__builtin_ctzll(marks) / 8; }

// The same as text_line_end(), quicker for short lines; the text is padded.
static inline const char *text_short_line_end(const char *at) {
  static const uint64_t ones = UINT64_C(0x0101010101010101);
  for (unsigned word = 0; word < 3; word++, at += 8) {
    const uint64_t difference = text_word(at) ^ ('\n' * ones);
    const uint64_t marks = (difference - ones) & ~difference & (0x80 * ones);  // right up to the first byte of 0
    if (marks != 0) return at + text_first_mark(marks);
  }
  return text_line_end(at);
}

// Digits at `at`, of a padded text: goes behind them, and returns how many they are. Of more than 18 only some are
// taken.
static inline unsigned text_take_digits(const char **at, uint64_t *value) {
  static const uint64_t ones = UINT64_C(0x0101010101010101);
  static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  unsigned count = 0, taken = 8;
  *value = 0;
  while (taken == 8 && count <= 18) {
    const uint64_t digits = text_word(*at) ^ ('0' * ones);  // 0 to 9 in the bytes of digits
    taken = text_first_mark(((digits + (0x80 - 10) * ones) | digits) & (0x80 * ones));
    if (taken == 0) break;
    uint64_t sum = digits << (64 - 8 * taken);  // zeroes in front
    sum = (sum * 10 + (sum >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    sum = (sum * 100 + (sum >> 16)) & UINT64_C(0x0000ffff0000ffff);
    sum = (sum * 10000 + (sum >> 32)) & UINT64_C(0x00000000ffffffff);
    *value = *value * powers[taken] + sum;
    *at += taken;
    count += taken;
  }
  return count;
}

uint64_t text_count_newlines(const char *at, size_t bytes);

#endif  // GSORT_TOOLS_TEXT_BYTES_H_
