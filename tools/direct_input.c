// SPDX-License-Identifier: MIT OR Apache-2.0
#include "direct_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input.h"
#include "past_cache.h"

enum { buffer_bytes = 1 << 22 };

void direct_input_open(direct_input *d, int fd) {
  d->fd = -1;
#if defined(O_DIRECT)
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  d->fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
#else
  (void)fd;
#endif
}

// By way of the buffer: the blocks in which the bytes lie, up to where direct reads can go on.
static long read_blocks_around(direct_input *d, char *to, size_t bytes, uint64_t offset) {
  const size_t block = past_cache_block_bytes, skip = (size_t)(offset % block);
  const bool alike = (uintptr_t)to % block == skip;
  if (d->buffer == NULL) d->buffer = aligned_alloc(block, buffer_bytes);
  if (d->buffer == NULL) {
    errno = EINVAL;  // the usual way needs none
    return -1;
  }
  size_t wanted = alike && skip > 0 ? block : (skip + bytes + block - 1) / block * block;
  if (wanted > buffer_bytes) wanted = buffer_bytes;
  const long got = input_read_at(d->fd, d->buffer, wanted, offset - skip);
  if (got >= 0 && (size_t)got <= skip) errno = EINVAL;  // the end of the file, which the usual way tells
  if (got <= (long)skip) return -1;
  const size_t behind = (size_t)got - skip, taken = behind < bytes ? behind : bytes;
  memcpy(to, d->buffer + skip, taken);
  return (long)taken;
}

long direct_input_read_at(direct_input *d, int fd, void *to, size_t bytes, uint64_t offset) {
  const size_t block = past_cache_block_bytes;
  if (d->fd >= 0 && bytes > 0) {
    const bool whole = offset % block == 0 && (uintptr_t)to % block == 0 && bytes >= block;
    const long got =
        whole ? input_read_at(d->fd, to, bytes / block * block, offset) : read_blocks_around(d, to, bytes, offset);
    // The file system may want larger blocks than these.
    if (got >= 0 || errno != EINVAL) return got;
    direct_input_close_file(d);
  }
  return input_read_at(fd, to, bytes, offset);
}

// By a look at the pages alone: a read that must not wait would begin to read what is not there.
bool direct_input_is_cached(int fd, uint64_t offset, uint64_t bytes) {
  enum { page_bytes = 1 << 12, pages_max = 1 << 12 };
  unsigned char there[pages_max];
  const uint64_t first = offset / page_bytes * page_bytes,
                 wanted = (offset + bytes - first + page_bytes - 1) / page_bytes;
  const size_t pages = wanted < pages_max ? (size_t)wanted : (size_t)pages_max;
  void *view = mmap(NULL, pages * page_bytes, PROT_READ, MAP_SHARED, fd, (off_t)first);
  if (view == MAP_FAILED) return false;
  size_t count = 0;
  const bool known = mincore(view, pages * page_bytes, there) == 0;
  for (size_t i = 0; known && i < pages; i++) count += there[i] & 1;
  munmap(view, pages * page_bytes);
  return count > pages / 2;
}

void direct_input_close_file(direct_input *d) {
  if (d->fd >= 0) close(d->fd);
  d->fd = -1;
}

void direct_input_close(direct_input *d) {
  direct_input_close_file(d);
  free(d->buffer);
  d->buffer = NULL;
}
