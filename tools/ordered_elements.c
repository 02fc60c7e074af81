// SPDX-License-Identifier: MIT OR Apache-2.0
#include "ordered_elements.h"

#include <inttypes.h>
#include <string.h>

#include "element.h"
#include "line_select.h"
#include "number_units.h"
#include "results.h"

int ordered_places(const options *opt, uint64_t total, uint64_t *places) {
  if (opt->command == command_median) {
    places[0] = (total - 1) / 2;
    places[1] = total / 2;
    return 2;
  }
  for (int i = 0; i < opt->percentile_count; i++) places[i] = percentile_place(opt->percentiles[i], total);
  return opt->command == command_percentile ? opt->percentile_count : 0;
}

void ordered_elements_begin(ordered_elements *o, job *j, const type_info *type, uint64_t total) {
  *o = (ordered_elements){.j = j, .type = type};
  o->place_count = ordered_places(j->opt, total, o->places);
}

static int write_count(ordered_elements *o) {
  array one = array_make(o->type, 1, NULL);
  one.data = &o->last;
  if (o->j->opt->output_format != format_text) {
    return results_write_pairs(&o->j->out, format_raw, "count", &o->equal, &one);
  }
  char text[element_text_bytes_max];
  element_print(text, o->type, &o->last);
  return output_format(&o->j->out, "%7" PRIu64 " %s\n", o->equal, text);
}

static int count(ordered_elements *o, const array *piece) {
  const uint32_t size = o->type->size_bytes;
  int code = exit_ok;
  for (uint64_t i = 0; code == exit_ok && i < piece->count; i++, o->equal++) {
    const void *element = array_at(piece, i);
    if (o->equal > 0 && memcmp(&o->last, element, size) == 0) continue;
    if (o->equal > 0) code = write_count(o);
    memcpy(&o->last, element, size);
    o->equal = 0;
  }
  return code;
}

int ordered_elements_take(void *context, const array *piece) {
  ordered_elements *o = context;
  for (int i = 0; i < o->place_count; i++) {
    const uint64_t place = o->places[i];
    if (place < o->at || place - o->at >= piece->count) continue;
    memcpy(&o->picked[i], array_at(piece, place - o->at), o->type->size_bytes);
  }
  o->at += piece->count;
  return o->j->opt->command == command_count ? count(o, piece) : exit_ok;
}

static int write_element(job *j, const char *label, const type_info *type, const void *element) {
  char text[element_text_bytes_max];
  element_print(text, type, element);
  return output_format(&j->out, "%s%s%s\n", label, label[0] != '\0' ? "\t" : "", text);
}

static int write_mean_of_two(job *j, const type_info *type, const uint64_t *two) {
  char text[units_text_bytes_max], a[element_text_bytes_max], b[element_text_bytes_max];
  char both[2 * sizeof(uint64_t)];
  if (type->kind == kind_float) {
    double mean = 0;
    for (int i = 0; i < 2; i++) memcpy(both + i * type->size_bytes, &two[i], type->size_bytes);
    const int code = job_check(j, gsort_reduce(j->g, GSORT_MEAN, type->dtype, both, 2, &mean, 0));
    return code == exit_ok ? write_element(j, "", type_by_dtype(GSORT_F64), &mean) : code;
  }
  number x, y;
  number_scan(a, a + element_print(a, type, &two[0]), false, &x);
  number_scan(b, b + element_print(b, type, &two[1]), false, &y);
  (void)number_mean(&x, &y, text);  // Integers of 64 bits are within its limits.
  return output_format(&j->out, "%s\n", text);
}

int ordered_elements_end(ordered_elements *o) {
  job *j = o->j;
  if (j->opt->command == command_count) return o->equal > 0 ? write_count(o) : exit_ok;
  if (j->opt->command == command_median) {
    if (memcmp(&o->picked[0], &o->picked[1], o->type->size_bytes) != 0) return write_mean_of_two(j, o->type, o->picked);
    return write_element(j, "", o->type, &o->picked[0]);
  }
  int code = exit_ok;
  for (int i = 0; code == exit_ok && i < o->place_count; i++) {
    char label[32];
    percentile_print(label, sizeof label, j->opt->percentiles[i]);
    code = write_element(j, label, o->type, &o->picked[i]);
  }
  return code;
}
