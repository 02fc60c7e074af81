// SPDX-License-Identifier: MIT OR Apache-2.0
#include "text_bytes.h"

// Counters of a byte each, which compilers keep in vectors; they are added up before one of them can overflow.
enum { lanes = 64, steps_max = 255 };

uint64_t text_count_newlines(const char *at, size_t bytes) {
  uint64_t count = 0;
  while (bytes >= lanes) {
    unsigned char counters[lanes] = {0};
    size_t steps = bytes / lanes;
    if (steps > steps_max) steps = steps_max;
    for (size_t step = 0; step < steps; step++, at += lanes) {
      for (size_t i = 0; i < lanes; i++) counters[i] = (unsigned char)(counters[i] + (at[i] == '\n'));
    }
    for (size_t i = 0; i < lanes; i++) count += counters[i];
    bytes -= steps * lanes;
  }
  for (size_t i = 0; i < bytes; i++) count += at[i] == '\n';
  return count;
}
