// SPDX-License-Identifier: MIT OR Apache-2.0
#include "ordered_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "line_output.h"
#include "line_select.h"
#include "report.h"
#include "text_bytes.h"

int kept_line_set(kept_line *kept, const char *line) {
  const size_t bytes = (size_t)(text_line_end(line) - line) + 1;
  if (bytes > kept->capacity) {
    char *text = realloc(kept->text, bytes);
    if (text == NULL) return report_failure("not enough memory for a line");
    kept->text = text;
    kept->capacity = bytes;
  }
  memcpy(kept->text, line, bytes);
  return exit_ok;
}

void ordered_lines_begin(ordered_lines *o, job *j, const line_rules *rules, key_mode mode, uint64_t total) {
  *o = (ordered_lines){.j = j, .of = {.rules = rules, .mode = mode}};
  o->place_count = ordered_places(j->opt, total, o->places);
}

static int write_count(ordered_lines *o) {
  const int code = output_format(&o->j->out, "%7" PRIu64 " ", o->equal);
  return code == exit_ok ? line_write(&o->j->out, o->first.text) : code;
}

static int count(ordered_lines *o, const char *line, size_t bytes) {
  int code = exit_ok;
  const bool same = o->equal > 0 && ((bytes <= o->first.capacity && memcmp(o->first.text, line, bytes) == 0) ||
                                     lines_compare_text(&o->of, o->first.text, line) == 0);
  if (!same) {
    if (o->equal > 0) code = write_count(o);
    if (code == exit_ok) code = kept_line_set(&o->first, line);
    o->equal = 0;
  }
  o->equal++;
  return code;
}

static int pick(ordered_lines *o, const char *line) {
  int code = exit_ok;
  for (int i = 0; code == exit_ok && i < o->place_count; i++) {
    if (o->places[i] == o->at) code = kept_line_set(&o->picked[i], line);
  }
  return code;
}

// Lines up to the next one that is asked for.
static uint64_t lines_to_pass(const ordered_lines *o) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < o->place_count; i++) {
    if (o->places[i] >= o->at && o->places[i] - o->at < least) least = o->places[i] - o->at;
  }
  return least;
}

static int take_picked(ordered_lines *o, const char *text, size_t bytes) {
  const char *const end = text + bytes;
  int code = exit_ok;
  uint64_t pass = lines_to_pass(o);
  const uint64_t come = text_count_newlines(text, bytes), at = o->at;
  while (code == exit_ok && pass < at + come - o->at) {
    for (o->at += pass; pass > 0; pass--) text = text_line_end(text) + 1;
    code = pick(o, text);
    text = text_line_end(text) + 1;
    o->at++;
    pass = text < end ? lines_to_pass(o) : UINT64_MAX;
  }
  o->at = at + come;
  return code;
}

int ordered_lines_take(void *context, const char *text, size_t bytes) {
  ordered_lines *o = context;
  if (o->j->opt->command != command_count) return take_picked(o, text, bytes);
  int code = exit_ok;
  for (const char *const end = text + bytes; code == exit_ok && text < end;) {
    const char *next = text_line_end(text) + 1;
    code = count(o, text, (size_t)(next - text));
    text = next;
  }
  return code;
}

static int write_median(ordered_lines *o) {
  const char *a = o->picked[0].text, *b = o->picked[1].text;
  if (lines_compare_text(&o->of, a, b) == 0) return line_write(&o->j->out, a);
  uint64_t keys[2] = {0, 0}, begins[2] = {(uint64_t)(uintptr_t)a, (uint64_t)(uintptr_t)b};
  lines two = o->of;
  two.count = 2;
  two.keys = keys;
  two.begins = begins;
  two.wide = true;
  return line_write_mean(o->j, &two, 0, 1);
}

int ordered_lines_end(ordered_lines *o) {
  if (o->j->opt->command == command_count) return o->equal > 0 ? write_count(o) : exit_ok;
  if (o->j->opt->command == command_median) return write_median(o);
  int code = exit_ok;
  for (int i = 0; code == exit_ok && i < o->place_count; i++) {
    char label[32];
    percentile_print(label, sizeof label, o->j->opt->percentiles[i]);
    code = output_format(&o->j->out, "%s\t", label);
    if (code == exit_ok) code = line_write(&o->j->out, o->picked[i].text);
  }
  return code;
}

void ordered_lines_free(ordered_lines *o) {
  free(o->first.text);
  for (int i = 0; i < o->place_count; i++) free(o->picked[i].text);
}
