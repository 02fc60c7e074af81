// SPDX-License-Identifier: MIT OR Apache-2.0
#include "describe.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "element.h"

int describe_engine(gsort *g, output *out) {
  gsort_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  if (gsort_info_get(g, &info) != GSORT_OK) return report_failure("%s", gsort_error_message(g));
  const double mib = 1.0 / (1024.0 * 1024.0);
  const bool cuda = info.backend == GSORT_BACKEND_CUDA;
  int code = output_format(out, "version   %s\nbackend   %s\nreason    %s\ndevice    %s\nthreads   %" PRIu32 "\n",
                           gsort_version_string(), cuda ? "cuda" : "cpu", info.reason, info.device_name, info.threads);
  if (code == exit_ok && cuda) {
    code = output_format(out,
                         "ordinal   %" PRId32 "\ncompute   %" PRIu32 ".%" PRIu32 "\ndriver    CUDA %" PRIu32 ".%" PRIu32
                         "\nmemory    %.0f MiB, %.0f MiB free\n",
                         info.device, info.compute_capability / 10, info.compute_capability % 10,
                         info.driver_version / 1000, info.driver_version % 1000 / 10,
                         (double)info.device_memory_bytes * mib, (double)info.device_memory_free_bytes * mib);
  }
  return code;
}

static int describe_reduction(gsort *g, output *out, const array *a, uint32_t op, uint32_t flags) {
  static const char *const labels[] = {"", "least", "greatest", "", "", "mean"};  // by GSORT_MIN, GSORT_MAX, GSORT_MEAN
  const type_info *type = op == GSORT_MEAN ? type_by_dtype(GSORT_F64) : a->type;
  uint64_t result = 0;
  const uint32_t op_flags = op == GSORT_MEAN ? 0 : flags;
  if (gsort_reduce(g, op, a->type->dtype, a->data, a->count, &result, op_flags) != GSORT_OK) {
    return report_failure("%s", gsort_error_message(g));
  }
  char text[element_text_bytes_max];
  element_print(text, type, &result);
  return output_format(out, "%-9s %s\n", labels[op], text);
}

int describe_array(gsort *g, output *out, const array *a, uint32_t flags) {
  int code = output_format(out, "type      %s\ncount     %" PRIu64 "\n", a->type->name, a->count);
  for (uint32_t i = 0; code == exit_ok && a->dimensions > 1 && i < a->dimensions; i++) {
    code = output_format(out, "%s%" PRIu64 "%s", i == 0 ? "shape     " : " x ", a->extents[i],
                         i + 1 == a->dimensions ? "\n" : "");
  }
  if (a->count == 0) return code;
  if (code == exit_ok) code = describe_reduction(g, out, a, GSORT_MIN, flags);
  if (code == exit_ok) code = describe_reduction(g, out, a, GSORT_MAX, flags);
  if (code == exit_ok) code = describe_reduction(g, out, a, GSORT_MEAN, 0);
  return code;
}
