// SPDX-License-Identifier: MIT OR Apache-2.0
// A long file that is written past the page cache: the system has its bytes from this program's memory to the disk at
// once, instead of copying them to pages that it must find, and write out later, while the program needs the processors
// for sorting. Where the file system cannot, the file is written as any other.
#ifndef GSORT_TOOLS_PAST_CACHE_H_
#define GSORT_TOOLS_PAST_CACHE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Disks want whole blocks at addresses of whole blocks, of 4 KB at most.
enum { past_cache_block_bytes = 1 << 12 };

typedef struct past_cache {
  bool begun;
  int fd;  // of the same file, for whole blocks
  char *buffer;
  size_t buffered_bytes;
  uint64_t offset;  // of the buffer's begin in the file
} past_cache;

// Of a regular file that is empty. False: it cannot be done.
bool past_cache_begin(past_cache *p, int fd);

// Both return false with errno set. What was flushed can be read, and more can be written behind it.
bool past_cache_write(past_cache *p, int fd, const char *data, size_t bytes);
bool past_cache_flush(past_cache *p, int fd);

void past_cache_end(past_cache *p);

#endif  // GSORT_TOOLS_PAST_CACHE_H_
