// SPDX-License-Identifier: MIT OR Apache-2.0
#include "past_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Disks want whole blocks at addresses of whole blocks, 4 KB at most; a write of 4 MB hides what it costs to begin it.
enum { block_bytes = 1 << 12, buffer_bytes = 1 << 22 };

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

bool past_cache_write(past_cache *p, int fd, const char *data, size_t bytes) {
  while (bytes > 0) {
    const size_t room = buffer_bytes - p->buffered_bytes, taken = bytes < room ? bytes : room;
    memcpy(p->buffer + p->buffered_bytes, data, taken);
    p->buffered_bytes += taken;
    data += taken;
    bytes -= taken;
    if (p->buffered_bytes < buffer_bytes) break;
    if (!write_at(p->fd, fd, p->buffer, buffer_bytes, p->offset)) return false;
    p->offset += buffer_bytes;
    p->buffered_bytes = 0;
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
