// SPDX-License-Identifier: MIT OR Apache-2.0
// Uses gsort if it is there and qsort() if not, and says which.
// usage: c_dlopen [COUNT]
// The environment variable GSORT_LIBRARY names the library to open.
#include <stdio.h>
#include <stdlib.h>

#include "example_args.h"
#include "gsort_dl.h"

static int compare_numbers(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a;
  const uint32_t y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

// Returns 0 if it sorted.
static int sort_with_gsort(const gsort_dl *dl, uint32_t *keys, uint64_t n) {
  gsort *g = NULL;
  gsort_status status = dl->create(NULL, &g);
  if (status == GSORT_OK) status = dl->sort_u32(g, keys, n, 0);
  if (status == GSORT_OK) {
    printf("sorted %llu numbers with gsort %s\n", (unsigned long long)n, dl->version_string());
  } else {
    fprintf(stderr, "c_dlopen: %s: %s\n", dl->status_name(status), dl->error_message(g));
  }
  dl->destroy(g);
  return status == GSORT_OK ? 0 : 1;
}

static int sort_either_way(uint32_t *keys, uint64_t n) {
  gsort_dl dl;
  if (gsort_dl_open(&dl, NULL) != GSORT_DL_OK) {
    printf("%s\n", dl.error);
    qsort(keys, n, sizeof *keys, compare_numbers);
    printf("sorted %llu numbers with qsort\n", (unsigned long long)n);
    return 0;
  }
  const int failed = sort_with_gsort(&dl, keys, n);
  gsort_dl_close(&dl);
  return failed;
}

// In order, and the same numbers as before as far as their sum tells.
static int is_right(const uint32_t *keys, uint64_t n, uint64_t sum_before) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    if (i > 0 && keys[i - 1] > keys[i]) return 0;
    sum += keys[i];
  }
  return sum == sum_before;
}

int main(int argc, char **argv) {
  const uint64_t n = count_from_args(argc, argv, 100000);
  if (n == 0) return example_usage;
  uint32_t *keys = malloc(n * sizeof *keys);
  if (keys == NULL) {
    fprintf(stderr, "c_dlopen: not enough memory for %llu numbers\n", (unsigned long long)n);
    return example_failed;
  }
  uint64_t state = 7;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; i++) sum += keys[i] = next_number(&state);

  int code = sort_either_way(keys, n) == 0 ? example_ok : example_failed;
  if (code == example_ok && !is_right(keys, n, sum)) {
    fprintf(stderr, "c_dlopen: the result is wrong\n");
    code = example_failed;
  }
  free(keys);
  return code;
}
