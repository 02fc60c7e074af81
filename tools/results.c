// SPDX-License-Identifier: MIT OR Apache-2.0
#include "results.h"

#include <string.h>

#include "element.h"
#include "npy.h"
#include "progress.h"

enum { shown_elements = 1 << 15, shown_bytes = 1 << 22 };

// Elements on a line of text. In Fortran order they do not lie in lines, so each has its own.
static uint64_t line_elements(const array *a) {
  return a->dimensions > 1 && !a->fortran_order && a->count > 0 ? a->extents[a->dimensions - 1] : 1;
}

static int write_text(output *out, const array *a) {
  char text[element_text_bytes_max + 1];
  const uint64_t columns = line_elements(a);
  int code = exit_ok;
  for (uint64_t i = 0; code == exit_ok && i < a->count; i++) {
    if (i % shown_elements == 0) progress_show(phase_writing, i, a->count);
    size_t length = element_print(text, a->type, array_at(a, i));
    text[length++] = (i + 1) % columns == 0 ? '\n' : '\t';
    code = output_write(out, text, length);
  }
  return code;
}

// In pieces, between which the progress is shown.
static int write_bytes(output *out, const char *data, uint64_t bytes) {
  int code = exit_ok;
  for (uint64_t at = 0; code == exit_ok && at < bytes; at += shown_bytes) {
    progress_show(phase_writing, at, bytes);
    code = output_write(out, data + at, (size_t)(bytes - at < shown_bytes ? bytes - at : shown_bytes));
  }
  return code;
}

int results_write_array(output *out, file_format format, const array *a) {
  if (format == format_text) return write_text(out, a);
  const int code = format == format_npy ? npy_write_header(out, a) : exit_ok;
  return code == exit_ok ? write_bytes(out, a->data, a->count * a->type->size_bytes) : code;
}

static int write_text_pair(output *out, uint64_t first, const type_info *type, const void *value) {
  char line[2 * element_text_bytes_max];
  size_t length = element_print(line, type_by_dtype(GSORT_U64), &first);
  line[length++] = '\t';
  length += element_print(line + length, type, value);
  line[length++] = '\n';
  return output_write(out, line, length);
}

static int write_record(output *out, uint64_t first, const type_info *type, const void *value) {
  char record[2 * sizeof(uint64_t)];
  memcpy(record, &first, sizeof first);
  memcpy(record + sizeof first, value, type->size_bytes);
  return output_write(out, record, sizeof first + type->size_bytes);
}

int results_write_pairs(output *out, file_format format, const char *name, const uint64_t *numbers,
                        const array *values) {
  int code = format == format_npy ? npy_write_pair_header(out, name, values) : exit_ok;
  for (uint64_t i = 0; code == exit_ok && i < values->count; i++) {
    if (i % shown_elements == 0) progress_show(phase_writing, i, values->count);
    const void *value = array_at(values, i);
    code = format == format_text ? write_text_pair(out, numbers[i], values->type, value)
                                 : write_record(out, numbers[i], values->type, value);
  }
  return code;
}
