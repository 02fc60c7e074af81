// SPDX-License-Identifier: MIT OR Apache-2.0
#include "memory_limit.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { page_bytes = 4096 };

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t resource_limit(int resource) {
  struct rlimit limit;
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (uint64_t)limit.rlim_cur : UINT64_MAX;
}

// The limit of the process's own control group, of version 2 or 1. A file that is not there, or says "max", sets none.
static uint64_t group_limit(void) {
  static const char *const paths[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
  uint64_t limit = UINT64_MAX;
  for (int i = 0; i < 2; i++) {
    FILE *file = fopen(paths[i], "r");
    unsigned long long bytes;
    if (file == NULL) continue;
    if (fscanf(file, "%llu", &bytes) == 1) limit = least(limit, bytes);
    fclose(file);
  }
  return limit;
}

uint64_t memory_available(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), each_bytes = sysconf(_SC_PAGE_SIZE);
  uint64_t bytes = pages > 0 && each_bytes > 0 ? (uint64_t)pages * (uint64_t)each_bytes : UINT64_MAX;
  bytes = least(bytes, group_limit());
  bytes = least(bytes, resource_limit(RLIMIT_AS));
  return least(bytes, resource_limit(RLIMIT_DATA));
}

uint64_t memory_limit(const options *opt) {
  return opt->memory_bytes != 0 ? opt->memory_bytes : memory_available() / 2;
}

void memory_return_promptly(void) {
  enum { block_bytes_min = 1 << 17 };
  (void)mallopt(M_MMAP_THRESHOLD, block_bytes_min);
  (void)mallopt(M_TRIM_THRESHOLD, block_bytes_min);
}

void memory_use_large_pages(void *memory, uint64_t bytes) {
#if defined(MADV_HUGEPAGE)
  // A page may hold 2 MB, so a smaller block would take much more than it needs.
  enum { block_bytes_min = 1 << 24 };
  const uintptr_t first = ((uintptr_t)memory + page_bytes - 1) / page_bytes * page_bytes;
  const uintptr_t last = ((uintptr_t)memory + bytes) / page_bytes * page_bytes;
  if (memory != NULL && bytes >= block_bytes_min) (void)madvise((void *)first, last - first, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

void *memory_of_pages(uint64_t bytes) {
  void *memory =
      bytes > SIZE_MAX - page_bytes ? NULL : aligned_alloc(page_bytes, (size_t)(bytes / page_bytes + 1) * page_bytes);
  memory_use_large_pages(memory, bytes);
  return memory;
}
