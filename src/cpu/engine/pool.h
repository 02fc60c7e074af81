// SPDX-License-Identifier: MIT OR Apache-2.0
// What a handle has of the library's threads.
#ifndef GSORT_CPU_ENGINE_POOL_H_
#define GSORT_CPU_ENGINE_POOL_H_

#include <cstdint>

#include "cpu/engine/shared_threads.h"

namespace gsort_internal {

// One thread at a time calls its functions.
class Pool {
 public:
  // `threads` bounds those of a run, the caller's included; 0: one a processor that this process may use. `processors`:
  // how many it may use; 0: they are counted here, which takes some system calls.
  explicit Pool(uint32_t threads, uint32_t processors = 0);
  ~Pool();
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  uint32_t threads() const { return threads_; }
  uint32_t processors() const { return processors_; }

  // Calls step(user, 0) on the caller's thread until it returns false, which says that no work is left, and
  // step(user, worker) for workers from 1 to workers - 1 on as many threads as come, and waits for those that have
  // begun. Nobody waits for a thread to come, and threads may go to the run of another handle between two steps, so
  // steps take their work from a common counter. A step must not throw on another thread than the caller's.
  using Step = SharedThreads::Step;
  void run(uint32_t workers, Step step, void *user);

  // In a child of fork(): forgets the threads, which are not there.
  void abandon() noexcept { shared_ = nullptr; }

 private:
  uint32_t processors_;              // known before the first run: counting takes more stack than a call may have
  uint32_t threads_, asked_ = 0;     // asked_: threads that the library was asked to have for this one
  SharedThreads *shared_ = nullptr;  // NULL until the first run on more than one thread
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_ENGINE_POOL_H_
