// SPDX-License-Identifier: MIT OR Apache-2.0
#include "library_memory.h"

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "memory_limit.h"

// Blocks of all alignments that the library asks for can be given again for each other.
enum { alignment_min = 4096 };

// A kept block of more than twice the size would take more memory than the call needs.
static void *take_kept(library_memory *m, uint64_t bytes, uint64_t alignment) {
  void *taken = NULL;
  pthread_mutex_lock(&m->mutex);
  if (alignment <= alignment_min && m->kept_bytes >= bytes && m->kept_bytes / 2 <= bytes) {
    taken = m->kept;
    m->kept = NULL;
    m->kept_bytes = 0;
  }
  pthread_mutex_unlock(&m->mutex);
  return taken;
}

// A kept block that is of no use is given back, but for a small one's sake, after which it will be wanted again.
static void make_room(library_memory *m, uint64_t bytes) {
  pthread_mutex_lock(&m->mutex);
  const bool small = bytes <= m->kept_bytes / 16;
  pthread_mutex_unlock(&m->mutex);
  if (!small) library_memory_clear(m);
}

void *library_memory_allocate(void *user, uint64_t bytes, uint64_t alignment) {
  void *memory = take_kept(user, bytes, alignment);
  if (memory != NULL) return memory;
  if (bytes > SIZE_MAX / 2) return NULL;
  make_room(user, bytes);
  // The next piece may need a little more; what is not used of a block is not there.
  bytes += bytes / 16;
  if (posix_memalign(&memory, alignment < alignment_min ? alignment_min : (size_t)alignment, (size_t)bytes) != 0)
    return NULL;
  memory_use_large_pages(memory, bytes);
  return memory;
}

// Of two blocks the larger one is kept.
void library_memory_deallocate(void *user, void *memory, uint64_t bytes) {
  library_memory *m = user;
  bytes = malloc_usable_size(memory);  // the call may have needed less than it was given
  pthread_mutex_lock(&m->mutex);
  if (bytes > m->kept_bytes) {
    void *smaller = m->kept;
    m->kept = memory;
    m->kept_bytes = bytes;
    memory = smaller;
  }
  pthread_mutex_unlock(&m->mutex);
  free(memory);
}

void library_memory_clear(library_memory *m) {
  pthread_mutex_lock(&m->mutex);
  free(m->kept);
  m->kept = NULL;
  m->kept_bytes = 0;
  pthread_mutex_unlock(&m->mutex);
}
