// SPDX-License-Identifier: MIT OR Apache-2.0
#include "block_reader.h"

#include <errno.h>
#include <stddef.h>

#include "input.h"

static void read_block(block_reader *r, block_read *read) {
  read->error = 0;
  for (uint64_t have = 0; have < read->bytes && read->error == 0;) {
    const size_t left = (size_t)(read->bytes - have);
    const long got = direct_input_read_at(&r->direct, r->fd, read->to + have, left, read->offset + have);
    if (got <= 0) read->error = got < 0 ? errno : -1;
    have += got > 0 ? (uint64_t)got : 0;
  }
  if (read->error == 0) input_give_back(r->fd, read->offset, read->offset + read->bytes);
}

// Past the page cache nothing can be read before it is asked for in earnest.
static void expect(const block_reader *r, const block_read *read) {
  if (r->direct.fd < 0) input_expect(r->fd, read->offset, read->bytes);
}

static void *run(void *argument) {
  block_reader *r = argument;
  pthread_mutex_lock(&r->mutex);
  while (!r->stopped) {
    block_read *read = r->first;
    if (read == NULL) {
      pthread_cond_wait(&r->asked, &r->mutex);
      continue;
    }
    r->first = read->next;
    if (r->first != NULL) expect(r, r->first);
    pthread_mutex_unlock(&r->mutex);
    read_block(r, read);
    pthread_mutex_lock(&r->mutex);
    read->done = true;
    pthread_cond_signal(&r->done);
  }
  pthread_mutex_unlock(&r->mutex);
  return NULL;
}

void block_reader_start(block_reader *r, int fd, bool past_cache, bool at_once) {
  *r = (block_reader){.fd = fd, .direct = DIRECT_INPUT_NONE};
  if (past_cache) direct_input_open(&r->direct, fd);
  pthread_mutex_init(&r->mutex, NULL);
  pthread_cond_init(&r->asked, NULL);
  pthread_cond_init(&r->done, NULL);
  r->started = !at_once && pthread_create(&r->thread, NULL, run, r) == 0;
}

void block_reader_ask(block_reader *r, block_read *read) {
  read->done = false;
  read->next = NULL;
  if (!r->started) {
    expect(r, read);
    return;
  }
  pthread_mutex_lock(&r->mutex);
  if (r->first == NULL) {
    r->first = read;
  } else {
    r->last->next = read;
  }
  r->last = read;
  pthread_cond_signal(&r->asked);
  pthread_mutex_unlock(&r->mutex);
}

int block_reader_wait(block_reader *r, block_read *read) {
  if (!r->started) {
    read_block(r, read);
    return read->error;
  }
  pthread_mutex_lock(&r->mutex);
  while (!read->done) pthread_cond_wait(&r->done, &r->mutex);
  pthread_mutex_unlock(&r->mutex);
  return read->error;
}

void block_reader_stop(block_reader *r) {
  if (r->started) {
    pthread_mutex_lock(&r->mutex);
    r->stopped = true;
    pthread_cond_signal(&r->asked);
    pthread_mutex_unlock(&r->mutex);
    pthread_join(r->thread, NULL);
  }
  r->started = false;
  direct_input_close(&r->direct);
  pthread_mutex_destroy(&r->mutex);
  pthread_cond_destroy(&r->asked);
  pthread_cond_destroy(&r->done);
}
