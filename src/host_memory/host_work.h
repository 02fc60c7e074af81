// SPDX-License-Identifier: MIT OR Apache-2.0
// What the host itself does with arrays that are too large for the device, on several threads.
#ifndef GSORT_HOST_MEMORY_HOST_WORK_H_
#define GSORT_HOST_MEMORY_HOST_WORK_H_

#include <cstdint>
#include <vector>

#include "core/host_memory.h"
#include "cpu/engine/pool.h"

namespace gsort_internal {

// Calls work(user, begin, end) for parts of [0, n) on all threads and waits. Takes no memory: what was written over is
// put right by it also when there is none.
void on_all_threads(Pool &pool, uint64_t n, void (*work)(void *user, uint64_t begin, uint64_t end), void *user);

// Scratch memory whose pages are large where the system has such, which saves most of the time that fresh pages take.
// The caller's functions are given no advice.
HostBuffer<char> large_scratch(HostMemory &memory, uint64_t bytes);

// Writes to every page, so that the system gives them by all threads at once and not to whoever writes to one first.
void touch_pages(Pool &pool, void *memory, uint64_t bytes);

void copy_on_host(Pool &pool, void *to, const void *from, uint64_t bytes);

struct HostCopy {
  char *to;
  const char *from;
  uint64_t bytes;
};
// Each by one thread, so that short ones go at once.
void copy_each_on_host(Pool &pool, const std::vector<HostCopy> &copies);

// What a device made of `places` leads out of no array, whatever happened to it.

// to[places[i]] = i
void invert_on_host(Pool &pool, void *to, const void *places, uint64_t n, uint32_t index_bytes);

// The element i of `to` is the element places[i] of `from`.
void gather_on_host(Pool &pool, void *to, const void *from, const void *places, uint64_t n, uint32_t index_bytes,
                    uint64_t element_bytes);

}  // namespace gsort_internal

#endif  // GSORT_HOST_MEMORY_HOST_WORK_H_
