// SPDX-License-Identifier: MIT OR Apache-2.0
#include "element_sum.h"

#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "element_source.h"
#include "half.h"
#include "parallel.h"
#include "report.h"

enum { piece_bytes = 1 << 24, part_elements_min = 1 << 16 };

typedef struct adding {
  const array *piece;
  unsigned parts;
  element_sum sums[parallel_parts_max];
} adding;

void element_sum_clear(element_sum *s) {
  exact_sum_clear(&s->floats);
  s->integers = 0;
  s->count = 0;
}

static double float_at(const type_info *type, const char *at) {
  if (type->size_bytes == sizeof(uint16_t)) {
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return half_to_double(half, type->mantissa_bits);
  }
  float value;
  memcpy(&value, at, sizeof value);
  return (double)value;
}

static void add_floats(element_sum *s, const type_info *type, const char *from, uint64_t count) {
  enum { block = 512 };
  double values[block];
  if (type->size_bytes == sizeof(double)) {
    exact_sum_add(&s->floats, (const double *)(const void *)from, count);
    return;
  }
  for (uint64_t i = 0; i < count;) {
    uint64_t filled = 0;
    for (; filled < block && i < count; filled++, i++) values[filled] = float_at(type, from + i * type->size_bytes);
    exact_sum_add(&s->floats, values, filled);
  }
}

static void add_integers(element_sum *s, const type_info *type, const char *from, uint64_t count) {
  const uint32_t size = type->size_bytes;
  const unsigned unused_bits = 64 - 8 * size;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t bits = 0;
    memcpy(&bits, from + i * size, size);
    s->integers +=
        type->kind == kind_signed ? (wide_integer)((int64_t)(bits << unused_bits) >> unused_bits) : (wide_integer)bits;
  }
}

static void add_part(void *context, unsigned part) {
  adding *all = context;
  const array *piece = all->piece;
  const uint64_t each = piece->count / all->parts, begin = part * each;
  const uint64_t count = part + 1 == all->parts ? piece->count - begin : each;
  element_sum *s = &all->sums[part];
  element_sum_clear(s);
  if (piece->type->kind == kind_float) {
    add_floats(s, piece->type, array_at(piece, begin), count);
  } else {
    add_integers(s, piece->type, array_at(piece, begin), count);
  }
}

void element_sum_add(element_sum *s, const array *piece, unsigned threads) {
  adding all = {.piece = piece, .parts = (unsigned)(piece->count / part_elements_min + 1)};
  if (all.parts > threads) all.parts = threads;
  parallel_run(all.parts, add_part, &all);
  for (unsigned i = 0; i < all.parts; i++) {
    exact_sum_add_all(&s->floats, &all.sums[i].floats);
    s->integers += all.sums[i].integers;
  }
  s->count += piece->count;
}

int element_sum_write(job *j, element_sum *s, const type_info *type) {
  const bool mean = j->opt->command == command_mean, is_float = type->kind == kind_float;
  const type_info *result_type = type_by_dtype(mean || is_float              ? GSORT_F64
                                               : type->kind == kind_unsigned ? GSORT_U64
                                                                             : GSORT_I64);
  char text[element_text_bytes_max];
  uint64_t result = (uint64_t)s->integers;
  if (mean && s->count == 0) return report_failure("there are no numbers");
  if (mean || is_float) {
    if (!is_float) exact_sum_add_integer(&s->floats, s->integers, s->count);
    const double value = mean ? exact_sum_mean(&s->floats) : exact_sum_rounded(&s->floats);
    memcpy(&result, &value, sizeof value);
  }
  const int code = job_open_output(j);
  element_print(text, result_type, &result);
  return code == exit_ok ? output_format(&j->out, "%s\n", text) : code;
}

bool element_sum_wanted(const options *opt) {
  return (opt->command & (command_sum | command_mean)) != 0 && opt->axis_is != axis_number &&
         opt->backend != GSORT_BACKEND_CUDA;
}

int element_sum_run(job *j, file_format format) {
  element_source from;
  element_sum sum;
  int code = element_source_open(&from, j->opt, format);
  array piece = array_make(from.type, 0, code == exit_ok ? job_allocate(piece_bytes, 1, "bytes") : NULL);
  if (code == exit_ok && piece.memory == NULL) code = exit_failed;
  element_sum_clear(&sum);
  for (uint64_t got = 1; code == exit_ok && got > 0; piece.count = got) {
    if (piece.count > 0) element_sum_add(&sum, &piece, j->opt->lines.threads);
    code = element_source_read(&from, piece.data, piece_bytes / from.type->size_bytes, &got);
  }
  if (code == exit_ok) code = element_sum_write(j, &sum, from.type);
  array_free(&piece);
  element_source_close(&from);
  return code;
}
