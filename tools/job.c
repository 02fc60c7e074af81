// SPDX-License-Identifier: MIT OR Apache-2.0
#include "job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "report.h"

// A process that starts CUDA waits some tenths of a second for it; in that time the CPU engine sorts about as many
// keys as this. So a device is looked for only where there are more, unless it is asked for.
static const uint64_t device_worthwhile_items = UINT64_C(1) << 27;

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
