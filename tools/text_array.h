// SPDX-License-Identifier: MIT OR Apache-2.0
// The numbers of a text as an array of one type, for results that are computed or binary.
#ifndef GSORT_TOOLS_TEXT_ARRAY_H_
#define GSORT_TOOLS_TEXT_ARRAY_H_

#include "lines.h"
#include "source.h"
#include "types.h"

// The type is the rules' if they name one; otherwise i64 or u64 if all numbers are integers of that type, else f64.
// `keep`: the numbers themselves are written later, so an integer that f64 does not hold is refused. Returns an exit
// code.
int text_array_load(source *s, const line_rules *rules, bool keep, array *out);

// The same of text whose lines are parsed without flags and a type; they are given away.
int text_array_of_lines(const source *s, lines *l, bool keep, array *out);

#endif  // GSORT_TOOLS_TEXT_ARRAY_H_
