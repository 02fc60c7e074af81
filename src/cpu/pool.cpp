// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/pool.h"

#include <sched.h>
#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "cpu/float_environment.h"
#include "cpu/quota.h"

namespace gsort_internal {

namespace {

constexpr uint32_t kThreadsMax = 1024;  // more than any machine this runs on; bounds what a wrong option can ask for

// Signals of the application go to its own threads: those started in this scope block them all, but for those that a
// thread causes itself. Such a signal ends the process where it is blocked, past the application's handler: the bus
// error of a mapped file that became shorter, or a page that a handler maps when it is touched.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t others;
    sigfillset(&others);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&others, own);
    blocked_ = pthread_sigmask(SIG_SETMASK, &others, &before_) == 0;
  }
  ~BlockSignals() {
    if (blocked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_;
  bool blocked_;
};

}  // namespace

struct Pool::State {
  std::mutex mutex;
  std::condition_variable work_arrived, work_ended;
  uint64_t round = 0;     // counts runs; a change wakes the workers
  uint32_t wanted = 0;    // workers of this round, the caller included
  uint32_t running = 0;   // workers of this round that have not ended, the caller not included
  bool stopping = false;  // set once, at destruction
  Task task = nullptr;
  void *user = nullptr;
  std::thread *workers = nullptr;
  uint32_t worker_count = 0;

  void work(uint32_t worker) {
    const FloatEnvironment float_environment;
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      work_arrived.wait(lock, [&] { return stopping || round != seen; });
      if (stopping) return;
      seen = round;
      if (worker >= wanted) continue;
      const Task my_task = task;
      void *const my_user = user;
      lock.unlock();
      my_task(my_user, worker);
      lock.lock();
      if (--running == 0) work_ended.notify_one();
    }
  }
};

uint32_t allowed_processors() {
  constexpr uint32_t sets = 8;  // 8,192 processors: the system refuses room for fewer than it knows
  cpu_set_t allowed[sets];
  uint32_t processors = 0;
  if (sched_getaffinity(0, sizeof allowed, allowed) == 0)
    processors = static_cast<uint32_t>(CPU_COUNT_S(sizeof allowed, allowed));
  if (processors == 0) processors = std::thread::hardware_concurrency();
  if (processors == 0) processors = 1;
  const uint32_t quota = quota_processors("");
  return quota < processors ? quota : processors;
}

Pool::Pool(uint32_t threads) : threads_(threads != 0 ? threads : allowed_processors()) {
  if (threads_ > kThreadsMax) threads_ = kThreadsMax;
}

Pool::~Pool() {
  if (state_ == nullptr) return;
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work_arrived.notify_all();
  for (uint32_t i = 0; i < state_->worker_count; ++i) state_->workers[i].join();
  delete[] state_->workers;
  delete state_;
}

// Starts as many workers as can be had; with none, everything runs on the caller.
void Pool::start() {
  State *const state = new (std::nothrow) State;
  if (state == nullptr) return;
  state->workers = new (std::nothrow) std::thread[threads_ - 1];
  if (state->workers == nullptr) {
    delete state;
    return;
  }
  const BlockSignals block_signals;
  try {
    for (uint32_t i = 0; i + 1 < threads_; ++i) {
      state->workers[i] = std::thread([state, i] { state->work(i + 1); });
      ++state->worker_count;
    }
  } catch (...) {  // no more threads: those that started serve
  }
  state_ = state;
}

void Pool::run(uint32_t workers, Task task, void *user) {
  if (workers > threads_) workers = threads_;
  if (workers > 1 && state_ == nullptr) start();
  if (workers <= 1 || state_ == nullptr || state_->worker_count == 0) {
    task(user, 0);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->task = task;
    state_->user = user;
    state_->wanted = workers;
    state_->running = workers - 1 < state_->worker_count ? workers - 1 : state_->worker_count;
    ++state_->round;
  }
  state_->work_arrived.notify_all();
  // Also if the task throws: workers use what lies on this stack.
  struct Wait {
    State *state;
    ~Wait() {
      std::unique_lock<std::mutex> lock(state->mutex);
      state->work_ended.wait(lock, [&] { return state->running == 0; });
    }
  };
  const Wait wait_for_workers{state_};
  task(user, 0);
}

}  // namespace gsort_internal
