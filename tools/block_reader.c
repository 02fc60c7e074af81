// SPDX-License-Identifier: MIT OR Apache-2.0
#include "block_reader.h"

#include <errno.h>
#include <stddef.h>

#include "input.h"

static void read_block(int fd, block_read *read) {
  read->error = 0;
  for (uint64_t have = 0; have < read->bytes && read->error == 0;) {
    const long got = input_read_at(fd, read->to + have, (size_t)(read->bytes - have), read->offset + have);
    if (got <= 0) read->error = got < 0 ? errno : -1;
    have += got > 0 ? (uint64_t)got : 0;
  }
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
    if (r->first != NULL) input_expect(r->fd, r->first->offset, r->first->bytes);
    pthread_mutex_unlock(&r->mutex);
    read_block(r->fd, read);
    pthread_mutex_lock(&r->mutex);
    read->done = true;
    pthread_cond_signal(&r->done);
  }
  pthread_mutex_unlock(&r->mutex);
  return NULL;
}

void block_reader_start(block_reader *r, int fd, bool at_once) {
  *r = (block_reader){.fd = fd};
  pthread_mutex_init(&r->mutex, NULL);
  pthread_cond_init(&r->asked, NULL);
  pthread_cond_init(&r->done, NULL);
  r->started = !at_once && pthread_create(&r->thread, NULL, run, r) == 0;
}

void block_reader_ask(block_reader *r, block_read *read) {
  read->done = false;
  read->next = NULL;
  if (!r->started) {
    input_expect(r->fd, read->offset, read->bytes);
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
    read_block(r->fd, read);
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
  pthread_mutex_destroy(&r->mutex);
  pthread_cond_destroy(&r->asked);
  pthread_cond_destroy(&r->done);
}
