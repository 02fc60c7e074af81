// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads blocks of a file behind the caller, in the order in which they are asked for. What was read is of no use to the
// file any more: its place on the disk is given back.
#ifndef GSORT_TOOLS_BLOCK_READER_H_
#define GSORT_TOOLS_BLOCK_READER_H_

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "direct_input.h"

// A read that was asked for. The first three are the caller's, and stay as they are until block_reader_wait().
typedef struct block_read {
  char *to;
  uint64_t offset, bytes;

  bool done;
  int error;  // an errno; -1: the file is shorter
  struct block_read *next;
} block_read;

typedef struct block_reader {
  int fd;
  direct_input direct;
  bool started;  // otherwise each wait reads
  pthread_t thread;
  pthread_mutex_t mutex;  // of all below
  pthread_cond_t asked, done;
  block_read *first, *last;
  bool stopped;
} block_reader;

// `past_cache`: as the file was written. `at_once`: no thread of its own. Where none is to be had it is the same.
void block_reader_start(block_reader *r, int fd, bool past_cache, bool at_once);
void block_reader_ask(block_reader *r, block_read *read);

// Waits until the block is there. Returns 0, or what `error` says.
int block_reader_wait(block_reader *r, block_read *read);

// Ends the thread; what it has not begun to read stays unread.
void block_reader_stop(block_reader *r);

#endif  // GSORT_TOOLS_BLOCK_READER_H_
