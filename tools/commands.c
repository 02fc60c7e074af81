// SPDX-License-Identifier: MIT OR Apache-2.0
#include "commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "gsort.h"
#include "output.h"
#include "results.h"
#include "text.h"

// Everything that a command works with.
typedef struct job {
  const options *opt;
  gsort *g;
  array in;
  output out;
} job;

static int check(const job *j, gsort_status status) {
  progress_clear();
  if (status == GSORT_OK) return exit_ok;
  const char *message = gsort_error_message(j->g);
  return report_failure("%s", message[0] != '\0' ? message : gsort_status_name(status));
}

static int create_handle(job *j) {
  gsort_options how;
  memset(&how, 0, sizeof how);
  how.struct_size = sizeof how;
  how.backend = j->opt->backend;
  how.device = -1;
  how.threads = j->opt->threads;
  const int code = check(j, gsort_create(&how, &j->g));
  if (code != exit_ok) return code;
  progress_start(j->opt->progress);
  return check(j, gsort_set_progress(j->g, progress_draw, NULL));
}

// One byte more, since malloc(0) may return NULL.
static void *allocate(uint64_t count, size_t element_bytes) {
  if (count > (SIZE_MAX - 1) / element_bytes) return NULL;
  return malloc((size_t)count * element_bytes + 1);
}

static int run_sort(job *j) {
  const array *in = &j->in;
  const int code = check(j, gsort_sort(j->g, in->type->dtype, in->data, in->data, in->count, j->opt->flags));
  return code == exit_ok ? results_write_array(&j->out, j->opt->output_format, in) : code;
}

static int run_argsort(job *j) {
  const array *in = &j->in;
  array indices = {type_by_dtype(GSORT_U64), in->count, NULL, allocate(in->count, sizeof(uint64_t))};
  if (indices.memory == NULL) return report_failure("not enough memory for %" PRIu64 " indices", in->count);
  indices.data = indices.memory;
  int code =
      check(j, gsort_argsort(j->g, in->type->dtype, in->data, in->count, GSORT_U64, indices.data, j->opt->flags));
  if (code == exit_ok) code = results_write_array(&j->out, j->opt->output_format, &indices);
  array_free(&indices);
  return code;
}

static int run_topk(job *j) {
  const array *in = &j->in;
  const uint64_t k = j->opt->k;
  if (k > in->count) {
    return report_failure("--k %" PRIu64 " is more than there are numbers, %" PRIu64, k, in->count);
  }
  array values = {in->type, k, NULL, allocate(k, in->type->size_bytes)};
  uint64_t *indices = allocate(k, sizeof *indices);
  values.data = values.memory;
  int code = exit_ok;
  if (values.memory == NULL || indices == NULL) {
    code = report_failure("not enough memory for %" PRIu64 " results", k);
  } else {
    code = check(
        j, gsort_topk(j->g, in->type->dtype, in->data, in->count, k, values.data, GSORT_U64, indices, j->opt->flags));
  }
  if (code == exit_ok) code = results_write_pairs(&j->out, j->opt->output_format, indices, &values);
  array_free(&values);
  free(indices);
  return code;
}

static int run_sum(job *j) {
  const array *in = &j->in;
  static const gsort_dtype sum_types[] = {GSORT_U64, GSORT_I64, GSORT_F64};  // by kind
  uint64_t sum_bits = 0;                                                     // 8 bytes that hold any of them
  const int code = check(j, gsort_sum(j->g, in->type->dtype, in->data, in->count, &sum_bits, 0));
  const array sum = {type_by_dtype(sum_types[in->type->kind]), 1, &sum_bits, NULL};
  return code == exit_ok ? results_write_array(&j->out, format_text, &sum) : code;
}

static int run_info(job *j) {
  int code = describe_engine(j->g, &j->out);
  if (code == exit_ok && j->in.type != NULL) {
    code = describe_array(j->g, &j->out, &j->in, j->opt->flags & GSORT_NAN_LAST);
  }
  return code;
}

static int run(job *j) {
  switch (j->opt->command) {
    case command_sort:
      return run_sort(j);
    case command_argsort:
      return run_argsort(j);
    case command_topk:
      return run_topk(j);
    case command_sum:
      return run_sum(j);
    default:
      return run_info(j);
  }
}

// The output is opened after the input was understood and before the work, so that a folder that cannot be written to
// is known early, and before the library starts threads, so that the signal mask holds for the whole program.
int command_run(const options *opt) {
  job j;
  memset(&j, 0, sizeof j);
  j.opt = opt;
  const bool reads = opt->command != command_info || opt->input_path != NULL;
  int code = reads ? input_load(opt->input_path, opt->input_format, opt->type, &j.in) : exit_ok;
  if (code == exit_ok) {
    code = output_open(&j.out, opt->output_path);
    if (code == exit_ok) code = create_handle(&j);
    if (code == exit_ok) code = run(&j);
    if (code == exit_ok) code = output_commit(&j.out);
    output_close(&j.out);
  }
  gsort_destroy(j.g);
  array_free(&j.in);
  return code;
}
