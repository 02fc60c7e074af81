// SPDX-License-Identifier: MIT OR Apache-2.0
#include "npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { header_alignment = 64, header_text_bytes_max = 1024 };

int npy_adopt(file_bytes *file, const type_info *type, array *out) {
  npy_layout layout;
  const int code = npy_read_header(file->name, file->memory, file->size_bytes, type, &layout);
  if (code != exit_ok) return code;
  size_t data_offset = (size_t)layout.header_bytes;
  const size_t held_bytes = file->size_bytes - data_offset;
  *out = layout.shape;
  const uint32_t size_bytes = out->type->size_bytes;
  if (out->count * size_bytes != held_bytes) {
    return report_failure("%s: its header announces %" PRIu64 " %s elements of %" PRIu32
                          " bytes, but %zu bytes follow it",
                          file->name, out->count, out->type->name, size_bytes, held_bytes);
  }
  // Headers are padded so that the data is aligned; one that is not costs a move.
  if (data_offset % size_bytes != 0) {
    memmove(file->memory, file->memory + data_offset, held_bytes);
    data_offset = 0;
  }
  out->data = file->memory + data_offset;
  out->memory = file->memory;
  file->memory = NULL;
  if (layout.swapped) npy_swap_bytes(out->data, out->count, size_bytes);
  return exit_ok;
}

void npy_swap_bytes(void *data, uint64_t count, uint32_t size_bytes) {
  unsigned char *element = data;
  for (uint64_t i = 0; i < count; i++, element += size_bytes) {
    for (uint32_t low = 0, high = size_bytes - 1; low < high; low++, high--) {
      const unsigned char kept = element[low];
      element[low] = element[high];
      element[high] = kept;
    }
  }
}

// "(3, 4)", and "(3,)" of one dimension, as Python has it.
static void print_shape(char *text, size_t text_bytes, const array *a) {
  size_t length = (size_t)snprintf(text, text_bytes, "(");
  for (uint32_t i = 0; i < a->dimensions; i++) {
    const char *mark = a->dimensions == 1 ? "," : i + 1 < a->dimensions ? ", " : "";
    length += (size_t)snprintf(text + length, text_bytes - length, "%" PRIu64 "%s", a->extents[i], mark);
  }
  snprintf(text + length, text_bytes - length, ")");
}

static int write_header(output *out, const char *descr, const array *a) {
  enum { prefix_bytes = 10 };
  char shape[dimensions_max * 22 + 3], text[header_text_bytes_max];
  print_shape(shape, sizeof shape, a);
  const int length = snprintf(text, sizeof text, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr,
                              a->fortran_order ? "True" : "False", shape);
  // Blanks and a newline at the end, so that the data begins at a multiple of 64.
  const size_t used = prefix_bytes + (size_t)length + 1;
  const size_t all = (used + header_alignment - 1) / header_alignment * header_alignment;
  unsigned char header[header_text_bytes_max + 2 * header_alignment];
  memset(header, ' ', sizeof header);
  memcpy(header, npy_magic, npy_magic_bytes);
  header[6] = 1;
  header[7] = 0;
  header[8] = (unsigned char)((all - prefix_bytes) & 0xff);
  header[9] = (unsigned char)((all - prefix_bytes) >> 8);
  memcpy(header + prefix_bytes, text, (size_t)length);
  header[all - 1] = '\n';
  return output_write(out, header, all);
}

int npy_write_header(output *out, const array *a) {
  char descr[16];
  snprintf(descr, sizeof descr, "'%s'", a->type->npy_descr);
  return write_header(out, descr, a);
}

int npy_write_pair_header(output *out, const char *first_name, const array *values) {
  char descr[64];
  snprintf(descr, sizeof descr, "[('%s', '<u8'), ('value', '%s')]", first_name, values->type->npy_descr);
  return write_header(out, descr, values);
}
