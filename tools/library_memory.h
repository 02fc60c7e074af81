// SPDX-License-Identifier: MIT OR Apache-2.0
// Scratch memory of the library for a sort in pieces. The block that one piece needed is kept for the next one, which
// needs as much: new memory would be cleared by the system first, which takes about as long as sorting numbers in it.
#ifndef GSORT_TOOLS_LIBRARY_MEMORY_H_
#define GSORT_TOOLS_LIBRARY_MEMORY_H_

#include <pthread.h>
#include <stdint.h>

typedef struct library_memory {
  pthread_mutex_t mutex;
  void *kept;  // NULL: none
  uint64_t kept_bytes;
} library_memory;

#define LIBRARY_MEMORY_INIT {PTHREAD_MUTEX_INITIALIZER, NULL, 0}

// A gsort_allocate_fn and a gsort_deallocate_fn, whose `user` is a library_memory.
void *library_memory_allocate(void *user, uint64_t bytes, uint64_t alignment);
void library_memory_deallocate(void *user, void *memory, uint64_t bytes);

// Gives the kept block back.
void library_memory_clear(library_memory *m);

#endif  // GSORT_TOOLS_LIBRARY_MEMORY_H_
