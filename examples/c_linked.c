// SPDX-License-Identifier: MIT OR Apache-2.0
// A log of requests in columns: which took longest, how long all of them took, and the whole log in order of time.
// usage: c_linked [COUNT]
#include <gsort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example_args.h"

enum { slowest_count = 5 };

typedef struct request {
  uint32_t id;
  uint16_t status;
  uint16_t server;
} request;

typedef struct request_log {
  uint64_t count;
  float *duration_ms;
  float *sorted_ms;
  request *requests;
  request *sorted_requests;
} request_log;

static int make_log(request_log *log, uint64_t count) {
  log->count = count;
  log->duration_ms = malloc(count * sizeof *log->duration_ms);
  log->sorted_ms = malloc(count * sizeof *log->sorted_ms);
  log->requests = malloc(count * sizeof *log->requests);
  log->sorted_requests = malloc(count * sizeof *log->sorted_requests);
  if (!log->duration_ms || !log->sorted_ms || !log->requests || !log->sorted_requests) return example_failed;
  uint64_t state = 1;
  for (uint64_t i = 0; i < count; i++) {
    log->duration_ms[i] = (float)(next_number(&state) >> 16) / 64.0f;
    log->requests[i] = (request){(uint32_t)i, 200, (uint16_t)(next_number(&state) % 7)};
  }
  return example_ok;
}

static void free_log(request_log *log) {
  free(log->duration_ms);
  free(log->sorted_ms);
  free(log->requests);
  free(log->sorted_requests);
}

// The three calls. Every one returns a status; the sentence that goes with it names argument, value and remedy.
static gsort_status analyse(gsort *g, request_log *log, uint64_t k, uint64_t *slowest, double *total_ms) {
  const uint64_t n = log->count;
  gsort_status status = gsort_topk_f32(g, log->duration_ms, n, k, NULL, slowest, 0);
  if (status == GSORT_OK) status = gsort_sum_f32(g, log->duration_ms, n, total_ms, 0);
  if (status == GSORT_OK) {
    status = gsort_sort_pairs(g, GSORT_F32, log->duration_ms, log->sorted_ms, sizeof(request), log->requests,
                              log->sorted_requests, n, GSORT_DESCENDING);
  }
  return status;
}

// Says what is wrong, or NULL.
static const char *check(const request_log *log, uint64_t k, const uint64_t *slowest, double total_ms) {
  double expected_ms = 0;
  for (uint64_t i = 0; i < log->count; i++) {
    const request r = log->sorted_requests[i];
    if (r.id >= log->count || log->duration_ms[r.id] != log->sorted_ms[i]) return "a request lost its duration";
    if (i > 0 && log->sorted_ms[i - 1] < log->sorted_ms[i]) return "the log is out of order";
    if (i > 0 && log->sorted_ms[i - 1] == log->sorted_ms[i] && log->sorted_requests[i - 1].id >= r.id) {
      return "equal durations changed their order";
    }
    expected_ms += (double)log->duration_ms[i];  // Sixty-fourths far below 2^53: exact in any order.
  }
  for (uint64_t i = 0; i < k; i++) {
    if (slowest[i] != log->sorted_requests[i].id) return "the slowest requests are not those that the sort found";
  }
  return total_ms == expected_ms ? NULL : "the sum is wrong";
}

int main(int argc, char **argv) {
  const uint64_t count = count_from_args(argc, argv, 100000);
  if (count == 0) return example_usage;

  gsort *g = NULL;
  gsort_info info;
  request_log log;
  memset(&info, 0, sizeof info);
  memset(&log, 0, sizeof log);
  info.struct_size = sizeof info;
  const uint64_t k = count < slowest_count ? count : slowest_count;
  uint64_t slowest[slowest_count];
  double total_ms = 0;
  const char *problem = NULL;
  if (make_log(&log, count) != example_ok) {
    problem = "not enough memory";
  } else if (gsort_create(NULL, &g) != GSORT_OK || gsort_info_get(g, &info) != GSORT_OK ||
             analyse(g, &log, k, slowest, &total_ms) != GSORT_OK) {
    problem = gsort_error_message(g);
  } else {
    problem = check(&log, k, slowest, total_ms);
  }

  if (problem != NULL) {
    fprintf(stderr, "c_linked: %s\n", problem);
  } else {
    printf("gsort %s on %s (%s)\n", gsort_version_string(), info.device_name, info.reason);
    printf("%llu requests, %.3f ms in all; the slowest:\n", (unsigned long long)count, total_ms);
    for (uint64_t i = 0; i < k; i++) {
      const request r = log.sorted_requests[i];
      printf("  %10.3f ms  request %u on server %u\n", (double)log.sorted_ms[i], r.id, (unsigned)r.server);
    }
  }
  gsort_destroy(g);
  free_log(&log);
  return problem == NULL ? example_ok : example_failed;
}
