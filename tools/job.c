// SPDX-License-Identifier: MIT OR Apache-2.0
#include "job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "report.h"

// A process that starts CUDA waits for it: 0.33 s beside an H200, of whose 16 processors the CPU engine sorted 2^28 u32
// from file to file in 1.44 s and the GPU in 1.63 s, 2^26 in 0.41 and 0.72 s (2026-11-22, bench/README.md). The
// difference shrinks with every doubling, so a device is looked for from the next one on, unless it is asked for.
static const uint64_t device_worthwhile_items = UINT64_C(1) << 29;

int job_check(const job *j, gsort_status status) {
  progress_clear();
  if (status == GSORT_OK) return exit_ok;
  const char *message = gsort_error_message(j->g);
  return report_failure("%s", message[0] != '\0' ? message : gsort_status_name(status));
}

int job_start(job *j, uint64_t count) {
  if (j->g != NULL) return exit_ok;
  gsort_options how;
  memset(&how, 0, sizeof how);
  how.struct_size = sizeof how;
  how.backend = j->opt->backend;
  if (how.backend == GSORT_BACKEND_AUTO && count < device_worthwhile_items && getenv("GSORT_BACKEND") == NULL) {
    how.backend = GSORT_BACKEND_CPU;
  }
  how.device = -1;
  if (j->memory != NULL) {
    how.host_allocate = library_memory_allocate;
    how.host_deallocate = library_memory_deallocate;
    how.allocator_user = j->memory;
  }
  how.threads = j->opt->threads;
  const int code = job_check(j, gsort_create(&how, &j->g));
  return code == exit_ok ? job_check(j, gsort_set_progress(j->g, progress_draw, NULL)) : code;
}

void job_stop(job *j) {
  gsort_destroy(j->g);
  j->g = NULL;
}

int job_open_output(job *j) { return output_open(&j->out, j->opt->output_path); }

void *job_allocate(uint64_t count, size_t element_bytes, const char *what) {
  void *memory = count > (SIZE_MAX - 1) / element_bytes ? NULL : malloc((size_t)count * element_bytes + 1);
  if (memory == NULL) report_failure("not enough memory for %" PRIu64 " %s", count, what);
  return memory;
}
