// SPDX-License-Identifier: MIT OR Apache-2.0
#include "external_lines.h"

#include "line_output.h"
#include "report.h"

int external_lines_sort(job *j, source *s, const line_rules *rules) {
  lines l = {0};
  int code = source_fill(s, UINT64_MAX, 0);
  if (code == exit_ok) code = lines_parse(s, rules, keys_signed, &l);
  if (code == exit_ok) code = job_open_output(j);
  if (code == exit_ok) code = job_start(j, l.count);
  if (code == exit_ok) code = lines_sort(j->g, &l);
  if (code == exit_ok) code = lines_write(&j->out, &l, j->opt->unique);
  lines_free(&l);
  return code;
}
