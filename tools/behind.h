// SPDX-License-Identifier: MIT OR Apache-2.0
// Works on one piece behind the caller, who works on another one meanwhile.
#ifndef GSORT_TOOLS_BEHIND_H_
#define GSORT_TOOLS_BEHIND_H_

#include <pthread.h>

#include "types.h"

typedef struct behind {
  int (*take)(void *context, const array *piece);  // returns an exit code
  void *context;
  bool at_once;  // in the caller's thread

  bool running;
  pthread_t thread;
  array piece;
  int code;
} behind;

// Whether so little memory is used, or so few threads are allowed, that no other thread is worth its start.
bool behind_at_once(uint64_t limit_bytes, unsigned threads);

// Gives the piece, or none, to take(), on a thread of its own if there is one to be had. Its memory is take()'s until
// behind_wait(), which comes before the next piece and returns take()'s exit code.
void behind_give(behind *b, const array *piece);
int behind_wait(behind *b);

#endif  // GSORT_TOOLS_BEHIND_H_
