// SPDX-License-Identifier: MIT OR Apache-2.0
// A long file that is read past the page cache, as past_cache.h writes one: the disk puts its bytes where they are
// sorted or merged, instead of into pages that the system finds first and copies from. Where the file system cannot, it
// is read as any other.
#ifndef GSORT_TOOLS_DIRECT_INPUT_H_
#define GSORT_TOOLS_DIRECT_INPUT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct direct_input {
  int fd;        // of the same file, for whole blocks; -1: it is read as any other
  char *buffer;  // for what does not lie in memory as in the file; NULL until it is needed
} direct_input;

#define DIRECT_INPUT_NONE {-1, NULL}

// The buffer of another file that was read before stays.
void direct_input_open(direct_input *d, int fd);

// As input_read_at(): `fd` is the file's usual descriptor. Quickest at offsets and addresses of whole blocks
// (past_cache_block_bytes), or where both lie equally far behind one.
long direct_input_read_at(direct_input *d, int fd, void *to, size_t bytes, uint64_t offset);

// Whether the page cache holds most of the bytes: then the usual way is quicker.
bool direct_input_is_cached(int fd, uint64_t offset, uint64_t bytes);

void direct_input_close_file(direct_input *d);
void direct_input_close(direct_input *d);  // and frees

#endif  // GSORT_TOOLS_DIRECT_INPUT_H_
