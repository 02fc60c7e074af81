// SPDX-License-Identifier: MIT OR Apache-2.0
#include "past_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A write of 4 MB hides what it costs to begin it.
enum { block_bytes = past_cache_block_bytes, buffer_bytes = 1 << 22 };

bool past_cache_begin(past_cache *p, int fd) {
#if defined(O_DIRECT)
  char path[64];
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != 0) return false;
  // Another description of the file, so that it can be read as any other.
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const int direct = open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
  if (direct < 0) return false;
  char *buffer = aligned_alloc(block_bytes, buffer_bytes);
  if (buffer == NULL) {
    close(direct);
    return false;
  }
  *p = (past_cache){.begun = true, .fd = direct, .buffer = buffer};
  return true;
#else
  (void)p;
  (void)fd;
  return false;
#endif
}

// The file system may want larger blocks than these, and says so when it is written to; what is left of a write that
// ended early is no longer whole blocks. Either goes the usual way.
static bool write_at(int direct, int fd, const char *data, size_t bytes, uint64_t offset) {
  int to = direct >= 0 ? direct : fd;
  while (bytes > 0) {
    const ssize_t written = pwrite(to, data, bytes, (off_t)offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EINVAL && to != fd) {
      to = fd;
      continue;
    }
    if (written == 0) errno = EIO;
    if (written <= 0) return false;
    data += written;
    bytes -= (size_t)written;
    offset += (uint64_t)written;
    if (written % block_bytes != 0) to = fd;
  }
  return true;
}

static bool write_buffer(past_cache *p, int fd) {
  if (!write_at(p->fd, fd, p->buffer, p->buffered_bytes, p->offset)) return false;
  p->offset += p->buffered_bytes;
  p->buffered_bytes = 0;
  return true;
}

static void take_into_buffer(past_cache *p, const char **data, size_t *bytes, size_t count) {
  memcpy(p->buffer + p->buffered_bytes, *data, count);
  p->buffered_bytes += count;
  *data += count;
  *bytes -= count;
}

// Bytes that make the last block in the buffer whole.
static size_t missing_of_block(const past_cache *p) {
  const size_t in_block = p->buffered_bytes % block_bytes;
  return in_block == 0 ? 0 : block_bytes - in_block;
}

// Bytes that can be written from where they are, since they lie in memory as they will in the file. Few are not worth a
// write of their own.
static size_t written_in_place(const past_cache *p, const char *data, size_t bytes) {
  const size_t missing = missing_of_block(p);
  if ((uintptr_t)(data + missing) % block_bytes != 0 || bytes < missing + buffer_bytes / 2) return 0;
  return (bytes - missing) / block_bytes * block_bytes;
}

bool past_cache_write(past_cache *p, int fd, const char *data, size_t bytes) {
  const size_t in_place = written_in_place(p, data, bytes);
  if (in_place > 0) {
    take_into_buffer(p, &data, &bytes, missing_of_block(p));
    if (!write_buffer(p, fd) || !write_at(p->fd, fd, data, in_place, p->offset)) return false;
    p->offset += in_place;
    data += in_place;
    bytes -= in_place;
  }
  while (bytes > 0) {
    const size_t room = buffer_bytes - p->buffered_bytes;
    take_into_buffer(p, &data, &bytes, bytes < room ? bytes : room);
    if (p->buffered_bytes == buffer_bytes && !write_buffer(p, fd)) return false;
  }
  return true;
}

// The last block, which is not whole, is written the usual way, and stays to be written again with what follows.
bool past_cache_flush(past_cache *p, int fd) {
  const size_t whole = p->buffered_bytes / block_bytes * block_bytes, rest = p->buffered_bytes - whole;
  if (!write_at(p->fd, fd, p->buffer, whole, p->offset)) return false;
  if (!write_at(-1, fd, p->buffer + whole, rest, p->offset + whole)) return false;
  memmove(p->buffer, p->buffer + whole, rest);
  p->offset += whole;
  p->buffered_bytes = rest;
  return true;
}

void past_cache_end(past_cache *p) {
  if (p->begun) close(p->fd);
  free(p->buffer);
  *p = (past_cache){.fd = -1};
}
