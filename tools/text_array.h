// SPDX-License-Identifier: MIT OR Apache-2.0
// The numbers of a text as an array of one type, for results that are computed or binary.
#ifndef GSORT_TOOLS_TEXT_ARRAY_H_
#define GSORT_TOOLS_TEXT_ARRAY_H_

#include "lines.h"
#include "source.h"
#include "types.h"

// What is made of the numbers, and so which of them are refused where no type was asked for.
typedef enum text_array_use {
  text_array_described,  // none
  text_array_written,    // integers that f64 does not hold
  text_array_added       // these, and integers whose running sums leave their type
} text_array_use;

// The type is the rules' if they name one; otherwise i64 or u64 if all numbers are integers of that type, else f64.
// Returns an exit code.
int text_array_load(source *s, const line_rules *rules, text_array_use use, array *out);

// The same of what the source gave last.
int text_array_make(const source *s, const line_rules *rules, text_array_use use, array *out);

// The same of text whose lines are parsed without flags and a type; they are given away. `keep`: as
// for text_array_written.
int text_array_of_lines(const source *s, lines *l, bool keep, array *out);

// An integer that f64 does not hold.
enum { unkept_text_bytes = 40 };
typedef struct unkept_integer {
  const char *name;  // of its file; NULL: there is none
  uint64_t line;
  char text[unkept_text_bytes + 1];
} unkept_integer;

// The first one of lines whose keys are those of integers. Its sentence is for text of which other lines are none.
void text_array_find_unkept(const source *s, const lines *l, unkept_integer *out);
int text_array_report_unkept(const unkept_integer *u);

#endif  // GSORT_TOOLS_TEXT_ARRAY_H_
