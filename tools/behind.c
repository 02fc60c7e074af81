// SPDX-License-Identifier: MIT OR Apache-2.0
#include "behind.h"

#include <stddef.h>

static void *run(void *argument) {
  behind *b = argument;
  b->code = b->take(b->context, &b->piece);
  return NULL;
}

bool behind_at_once(uint64_t limit_bytes, unsigned threads) {
  enum { worthwhile_bytes = 1 << 14 };
  return threads == 1 || limit_bytes < worthwhile_bytes;
}

void behind_give(behind *b, const array *piece) {
  if (piece != NULL) b->piece = *piece;
  b->running = !b->at_once && pthread_create(&b->thread, NULL, run, b) == 0;
  if (!b->running) (void)run(b);
}

int behind_wait(behind *b) {
  if (b->running) pthread_join(b->thread, NULL);
  b->running = false;
  return b->code;
}
