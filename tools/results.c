// SPDX-License-Identifier: MIT OR Apache-2.0
#include "results.h"

#include <string.h>

#include "npy.h"
#include "text.h"

static const char *element_at(const array *a, uint64_t i) { return (const char *)a->data + i * a->type->size_bytes; }

static int write_text(output *out, const array *a) {
  char line[text_element_bytes_max + 1];
  int code = exit_ok;
  for (uint64_t i = 0; code == exit_ok && i < a->count; i++) {
    size_t length = text_print_element(line, a->type, element_at(a, i));
    line[length++] = '\n';
    code = output_write(out, line, length);
  }
  return code;
}

int results_write_array(output *out, file_format format, const array *a) {
  if (format == format_text) return write_text(out, a);
  const int code = format == format_npy ? npy_write_header(out, a->type, a->count) : exit_ok;
  return code == exit_ok ? output_write(out, a->data, (size_t)a->count * a->type->size_bytes) : code;
}

static int write_text_pair(output *out, uint64_t index, const type_info *type, const void *value) {
  char line[2 * text_element_bytes_max];
  size_t length = text_print_element(line, type_by_dtype(GSORT_U64), &index);
  line[length++] = '\t';
  length += text_print_element(line + length, type, value);
  line[length++] = '\n';
  return output_write(out, line, length);
}

static int write_record(output *out, uint64_t index, const type_info *type, const void *value) {
  char record[2 * sizeof(uint64_t)];
  memcpy(record, &index, sizeof index);
  memcpy(record + sizeof index, value, type->size_bytes);
  return output_write(out, record, sizeof index + type->size_bytes);
}

int results_write_pairs(output *out, file_format format, const uint64_t *indices, const array *values) {
  int code = format == format_npy ? npy_write_pair_header(out, values->type, values->count) : exit_ok;
  for (uint64_t i = 0; code == exit_ok && i < values->count; i++) {
    const char *value = element_at(values, i);
    code = format == format_text ? write_text_pair(out, indices[i], values->type, value)
                                 : write_record(out, indices[i], values->type, value);
  }
  return code;
}
