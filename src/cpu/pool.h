// SPDX-License-Identifier: MIT OR Apache-2.0
// A handle's own threads: started when first needed, asleep between calls.
//
// Nobody waits for a thread to wake up: a run begins with the caller alone, threads join it as they come, and what has
// not come when the caller's part is done is left out. The caller wakes a few threads, which wake the next ones. A
// thread that has just worked looks for more for a moment before it sleeps, so that the steps of a call follow each
// other without a wake-up.
#ifndef GSORT_CPU_POOL_H_
#define GSORT_CPU_POOL_H_

#include <cstdint>

namespace gsort_internal {

class Pool {
 public:
  // `threads` counts the caller's; 0: one a processor that this process may use.
  explicit Pool(uint32_t threads);
  ~Pool();
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  uint32_t threads() const { return threads_; }

  // Calls task(user, 0) on the caller's thread and task(user, worker) for workers from 1 to workers - 1, each on a
  // thread of its own, and waits for those that have begun. Threads that come when the caller's task has returned find
  // nothing to do, so tasks take their work from a common counter. A task must not throw on another thread than the
  // caller's.
  using Task = void (*)(void *user, uint32_t worker);
  void run(uint32_t workers, Task task, void *user);

  // In a child of fork(): forgets the threads, which are not there.
  void abandon() noexcept { state_ = nullptr; }

 private:
  struct State;
  void start();

  uint32_t threads_;
  State *state_ = nullptr;  // NULL until the first run on more than one thread
};

// Processors that this process may use, by its affinity and its control groups, at least 1.
uint32_t allowed_processors();

}  // namespace gsort_internal

#endif  // GSORT_CPU_POOL_H_
