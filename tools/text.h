// SPDX-License-Identifier: MIT OR Apache-2.0
// Text: a number a line.
#ifndef GSORT_TOOLS_TEXT_H_
#define GSORT_TOOLS_TEXT_H_

#include "input.h"
#include "types.h"

// `type` NULL: i64 if every number is written as an integer, f64 otherwise.
int text_parse(const file_bytes *file, const type_info *type, array *out);

// Bytes that text_print_element() may write, the NUL included.
enum { text_element_bytes_max = 48 };

// Writes the number without a newline, so that reading it gives the same bits. Returns its length.
size_t text_print_element(char *text, const type_info *type, const void *element);

#endif  // GSORT_TOOLS_TEXT_H_
