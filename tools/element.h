// SPDX-License-Identifier: MIT OR Apache-2.0
// One element of a type from its text and back.
#ifndef GSORT_TOOLS_ELEMENT_H_
#define GSORT_TOOLS_ELEMENT_H_

#include <stddef.h>

#include "number.h"
#include "types.h"

// The element that the characters from `begin` to `end` name. scan_not_a_number: no number of this type;
// scan_out_of_range: one that the type does not hold.
scan_result element_parse(const char *begin, const char *end, bool take_hexadecimal, const type_info *type,
                          void *element);

// Bytes that element_print() may write, the NUL included.
enum { element_text_bytes_max = 48 };

// Writes the shortest text that reads back as the same bits, without a newline. Returns its length.
size_t element_print(char *text, const type_info *type, const void *element);

#endif  // GSORT_TOOLS_ELEMENT_H_
