// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort: sorts, selects and sums numbers in files. The public API alone is used, but for exact_sum.h.
#include <stdio.h>
#include <string.h>

#include "array_commands.h"
#include "check_command.h"
#include "cleanup.h"
#include "describe.h"
#include "element_sum.h"
#include "external_arrays.h"
#include "external_text.h"
#include "gsort.h"
#include "job.h"
#include "line_commands.h"
#include "merge_command.h"
#include "report.h"
#include "text_array.h"
#include "text_sum.h"

static int write_texts(const char *const *texts) {
  output out;
  int code = output_open(&out, NULL);
  for (; code == exit_ok && *texts != NULL; texts++) code = output_write(&out, *texts, strlen(*texts));
  if (code == exit_ok) code = output_commit(&out);
  output_close(&out);
  return code;
}

static int write_version(void) {
  char line[64];
  snprintf(line, sizeof line, "gsort %s\n", gsort_version_string());
  return write_texts((const char *const[]){line, NULL});
}

static int run_info(job *j, const array *in) {
  int code = job_open_output(j);
  if (code == exit_ok) code = job_start(j, UINT64_MAX);  // It shows what a long sort would run on.
  if (code == exit_ok) code = describe_engine(j->g, &j->out);
  if (code == exit_ok && in->type != NULL) {
    code = describe_array(j->g, &j->out, in, j->opt->lines.flags & GSORT_NAN_LAST);
  }
  return code;
}

static int run_on_array(job *j, array *in) {
  return j->opt->command == command_info ? run_info(j, in) : array_command_run(j, in);
}

// Text whose lines are printed, or counted, as they are; otherwise its numbers become an array.
static bool works_on_lines(const options *opt) {
  const bool indices = (opt->command & (command_argsort | command_rank)) != 0;
  return (opt->command & line_commands) != 0 && (indices || opt->output_format == format_text);
}

static int run_text(job *j) {
  source s;
  int code = source_open(&s, j->opt->paths, j->opt->path_count);
  if (code == exit_ok && j->opt->check != check_off) {
    code = check_lines_run(j, &s);
  } else if (code == exit_ok && works_on_lines(j->opt)) {
    code = line_command_run(j, &s);
  } else if (code == exit_ok && (j->opt->command & external_commands) != 0) {
    code = external_text_run(j, &s);
  } else if (code == exit_ok && (j->opt->command & (command_sum | command_mean)) != 0) {
    code = text_sum_run(j, &s);
  } else if (code == exit_ok) {
    array in;
    const command_kind which = j->opt->command;
    const text_array_use use = which == command_info ? text_array_described : text_array_written;
    code = text_array_load(&s, &j->opt->lines, which == command_scan ? text_array_added : use, &in);
    if (code == exit_ok) code = run_on_array(j, &in);
    array_free(&in);
  }
  source_close(&s);
  return code;
}

static int run_command(job *j) {
  const options *opt = j->opt;
  file_format format = opt->input_format;
  array in = {0};
  const bool reads = opt->command != command_info || opt->path_count > 0;
  if (reads && format == format_guess) format = format_of_content(opt->path_count > 0 ? opt->paths[0] : NULL);
  int code = options_check_input(opt, reads ? format : format_guess);
  if (code != exit_ok) return code;
  if (!reads) return run_info(j, &in);
  if (opt->command == command_merge) return merge_command_run(j, format);
  if (format == format_text) return run_text(j);
  if (opt->check != check_off) return check_elements_run(j, format);
  if (element_sum_wanted(opt)) return element_sum_run(j, format);
  if (external_arrays_wanted(opt, format)) return external_arrays_sort(j, format);
  code = input_load_all(opt->paths, opt->path_count, format, opt->lines.type, &in);
  if (code == exit_ok) code = run_on_array(j, &in);
  array_free(&in);
  return code;
}

int main(int argc, char **argv) {
  options opt;
  cleanup_install();
  int code = options_parse(argc, argv, &opt);
  if (code != exit_ok) return code;
  if (opt.command == command_help) return write_texts(help_texts);
  if (opt.command == command_version) return write_version();
  job j = {.opt = &opt, .out = {.fd = -1}};
  progress_start(opt.progress);
  code = run_command(&j);
  if (code == exit_ok && j.out.fd >= 0) code = output_commit(&j.out);
  progress_clear();
  output_close(&j.out);
  job_stop(&j);
  return code;
}
