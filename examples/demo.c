/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The main job on real input: the sizes of all files below a folder, then 64 Mi generated keys. Each is sorted,
 * argsorted, cut to its 10 greatest and summed; every result is checked against a count made without the library.
 *
 * usage: demo [FOLDER [KEYS]]     default: / and 67108864
 */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "gsort.h"

enum { SHOWN = 10 };

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void die(const char *text) {
  fprintf(stderr, "demo: %s\n", text);
  exit(1);
}

static void *get(size_t count, size_t size) {
  void *memory = count > SIZE_MAX / size ? NULL : malloc(count * size);
  if (memory == NULL) die("not enough memory; pass a smaller number of keys");
  return memory;
}

static void must(gsort *g, gsort_status status) {
  if (status == GSORT_OK) return;
  fprintf(stderr, "demo: %s: %s\n", gsort_status_name(status), gsort_error_message(g));
  exit(1);
}

static void report(const char *what, size_t n, double ms) {
  printf("  %-24s %10.2f ms  %8.1f M/s\n", what, ms, (double)n / ms * 1e-3);
}

/* ---- the files of the machine ---- */

static uint64_t *sizes;
static char **paths;
static size_t files, room;

static int take_file(const char *path, const struct stat *status, int type, struct FTW *place) {
  (void)place;
  if (type != FTW_F || !S_ISREG(status->st_mode)) return 0;
  if (files == room) {
    room = room == 0 ? 65536 : room * 2;
    sizes = realloc(sizes, room * sizeof *sizes);
    paths = realloc(paths, room * sizeof *paths);
    if (sizes == NULL || paths == NULL) die("not enough memory for the list of files");
  }
  sizes[files] = (uint64_t)status->st_size;
  paths[files] = get(strlen(path) + 1, 1);
  strcpy(paths[files++], path);
  return 0;
}

static void file_sizes(gsort *g, const char *folder) {
  if (nftw(folder, take_file, 64, FTW_PHYS | FTW_MOUNT) != 0) {
    fprintf(stderr, "demo: the folder '%s' could not be read; name one that exists\n", folder);
    exit(1);
  }
  printf("\n%zu files below %s\n", files, folder);
  if (files == 0) return;

  uint64_t counted = 0, greatest = 0;
  for (size_t i = 0; i < files; ++i) {
    counted += sizes[i];
    if (sizes[i] > greatest) greatest = sizes[i];
  }
  uint64_t total = 0;
  must(g, gsort_sum(g, GSORT_U64, sizes, files, &total, 0));
  if (total != counted) die("the sum of the sizes is wrong");

  const size_t k = files < SHOWN ? files : SHOWN;
  uint64_t best[SHOWN], where[SHOWN];
  must(g, gsort_topk(g, GSORT_U64, sizes, files, k, best, GSORT_U64, where, 0));
  if (best[0] != greatest) die("the greatest size is wrong");
  for (size_t i = 0; i < k; ++i) {
    if (sizes[where[i]] != best[i]) die("a size and its index do not agree");
    printf("  %14" PRIu64 "  %s\n", best[i], paths[where[i]]);
  }
  must(g, gsort_sort_u64(g, sizes, files, 0));
  for (size_t i = 1; i < files; ++i)
    if (sizes[i - 1] > sizes[i]) die("the sizes are not in order");
  printf("  %" PRIu64 " bytes in all, median %" PRIu64 " bytes\n", total, sizes[files / 2]);
}

/* ---- generated keys ---- */

/* SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* The same for any order of the same keys. */
struct tally {
  uint64_t sum, squares;
  uint64_t by_top_bits[256];
};

static void count_keys(const uint32_t *keys, size_t n, struct tally *out) {
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < n; ++i) {
    out->sum += keys[i];
    out->squares += (uint64_t)keys[i] * keys[i];
    out->by_top_bits[keys[i] >> 24]++;
  }
}

static void check_order(const uint32_t *keys, const uint32_t *sorted, const uint32_t *order, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (order[i] >= n || keys[order[i]] != sorted[i]) die("the argsort does not lead to the sorted keys");
    if (i > 0 && sorted[i - 1] > sorted[i]) die("the keys are not in order");
    if (i > 0 && sorted[i - 1] == sorted[i] && order[i - 1] >= order[i]) die("the argsort is not stable");
  }
}

static void generated_keys(gsort *g, size_t n) {
  printf("\n%zu generated 32-bit keys, %.0f MB\n", n, (double)n * 4e-6);
  uint32_t *keys = get(n, sizeof *keys), *sorted = get(n, sizeof *sorted), *order = get(n, sizeof *order);
  uint64_t state = (uint64_t)time(NULL);
  for (size_t i = 0; i < n; ++i) keys[i] = (uint32_t)next_random(&state);

  double start = now_ms();
  must(g, gsort_sort(g, GSORT_U32, keys, sorted, n, 0));
  report("sort", n, now_ms() - start);
  start = now_ms();
  must(g, gsort_argsort(g, GSORT_U32, keys, n, GSORT_U32, order, 0));
  report("argsort", n, now_ms() - start);
  uint32_t best[SHOWN];
  const size_t k = n < SHOWN ? n : SHOWN;
  start = now_ms();
  must(g, gsort_topk(g, GSORT_U32, keys, n, k, best, GSORT_U64, NULL, 0));
  report("top 10", n, now_ms() - start);
  uint64_t total = 0;
  start = now_ms();
  must(g, gsort_sum(g, GSORT_U32, keys, n, &total, 0));
  report("sum", n, now_ms() - start);

  struct tally before, after;
  count_keys(keys, n, &before);
  count_keys(sorted, n, &after);
  if (memcmp(&before, &after, sizeof before) != 0) die("the sorted keys are not the keys that went in");
  check_order(keys, sorted, order, n);
  for (size_t i = 0; i < k; ++i)
    if (best[i] != sorted[n - 1 - i]) die("the top 10 are not the end of the sorted keys");
  if (total != before.sum) die("the sum is wrong");
  free(keys);
  free(sorted);
  free(order);
}

int main(int argc, char **argv) {
  const char *folder = argc > 1 ? argv[1] : "/";
  size_t n = (size_t)1 << 26;
  if (argc > 2) {
    char *end;
    n = (size_t)strtoull(argv[2], &end, 10);
    if (argc > 3 || *end != '\0' || argv[2][0] == '-' || n == 0 || n >= (uint64_t)1 << 32) {
      fprintf(stderr, "usage: demo [FOLDER [KEYS]], KEYS from 1 to 4294967295\n");
      return 2;
    }
  }
  gsort *g = NULL;
  must(NULL, gsort_create(NULL, &g));
  gsort_info info = {0};
  info.struct_size = sizeof info;
  must(g, gsort_info_get(g, &info));
  printf("gsort %s on the %s: %s, %" PRIu32 " threads (%s)\n", gsort_version_string(),
         info.backend == GSORT_BACKEND_CUDA ? "GPU" : "CPU", info.device_name, info.threads, info.reason);
  file_sizes(g, folder);
  generated_keys(g, n);
  gsort_destroy(g);
  for (size_t i = 0; i < files; ++i) free(paths[i]);
  free(paths);
  free(sizes);
  printf("\nevery result agrees with an independent count\n");
  return 0;
}
