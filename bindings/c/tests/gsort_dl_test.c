// SPDX-License-Identifier: MIT OR Apache-2.0
// usage: gsort_dl_test LIBGSORT FAKE_NEXT_MAJOR FAKE_INCOMPLETE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gsort_dl.h"

static int failures = 0;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      failures++;                                                             \
    }                                                                         \
  } while (0)

static void check_empty(const gsort_dl *dl) {
  CHECK(dl->library == NULL);
  CHECK(dl->create == NULL);
  CHECK(dl->status_name == NULL);
}

static void test_refused(const char *path, int error, const char *word) {
  gsort_dl dl;
  CHECK(gsort_dl_open(&dl, path) == error);
  if (strstr(dl.error, word) == NULL) {
    fprintf(stderr, "\"%s\" does not say \"%s\"\n", dl.error, word);
    failures++;
  }
  CHECK(strstr(dl.error, path) != NULL);
  check_empty(&dl);
  gsort_dl_close(&dl);
}

static void test_works(const char *path) {
  gsort_dl dl;
  gsort *g = NULL;
  uint32_t keys[] = {3, 1, 4, 1, 5, 9, 2, 6};
  const uint32_t sorted[] = {1, 1, 2, 3, 4, 5, 6, 9};
  uint64_t sum = 0;
  CHECK(gsort_dl_open(&dl, path) == GSORT_DL_OK);
  CHECK(dl.error[0] == '\0');
  if (dl.library == NULL) {
    fprintf(stderr, "%s\n", dl.error);
    return;
  }
  CHECK(dl.version() / 10000 == GSORT_VERSION_MAJOR);
  CHECK(strcmp(dl.status_name(GSORT_ERROR_CANCELLED), "GSORT_ERROR_CANCELLED") == 0);
  CHECK(dl.create(NULL, &g) == GSORT_OK);
  CHECK(dl.sort_u32(g, keys, 8, 0) == GSORT_OK);
  CHECK(memcmp(keys, sorted, sizeof keys) == 0);
  CHECK(dl.sum(g, GSORT_U32, keys, 8, &sum, 0) == GSORT_OK);
  CHECK(sum == 31);
  CHECK(dl.topk(g, GSORT_U32, keys, 8, 9, keys, GSORT_U32, NULL, 0) == GSORT_ERROR_INVALID_ARGUMENT);
  CHECK(dl.error_message(g)[0] != '\0');
  dl.destroy(g);
  gsort_dl_close(&dl);
  check_empty(&dl);
  gsort_dl_close(&dl);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: gsort_dl_test LIBGSORT FAKE_NEXT_MAJOR FAKE_INCOMPLETE\n");
    return 2;
  }
  test_refused("/nowhere/libgsort.so.1", GSORT_DL_NOT_FOUND, "cannot load");
  test_refused(argv[0], GSORT_DL_NOT_FOUND, "cannot load");  // a program is no library
  test_refused("libc.so.6", GSORT_DL_NOT_GSORT, "no function gsort_version");
  test_refused(argv[2], GSORT_DL_WRONG_VERSION, "is gsort 2.3.4");
  test_refused(argv[3], GSORT_DL_NOT_GSORT, "no function gsort_create");
  test_works(argv[1]);
  test_works(argv[1]);  // again, after it was closed

  setenv("GSORT_LIBRARY", argv[1], 1);
  test_works(NULL);
  setenv("GSORT_LIBRARY", "/nowhere/else.so", 1);
  gsort_dl dl;
  CHECK(gsort_dl_open(&dl, NULL) == GSORT_DL_NOT_FOUND);
  CHECK(strstr(dl.error, "/nowhere/else.so") != NULL);
  printf("%s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}
