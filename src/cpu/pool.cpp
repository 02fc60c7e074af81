// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/pool.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <initializer_list>
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

// FUTEX_WAIT sleeps until it is woken, or for no reason, and not at all if the word is not `value`; FUTEX_WAKE wakes up
// to `value` threads. errno stays as it is.
void futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  const int before = errno;
  syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
  errno = before;
}

// One thread's way to sleep until another wakes it. The sleeper announces its sleep and then checks whether what it
// waits for has come; the waker makes it come and then looks for sleepers. All of that is sequentially consistent, so
// one of them sees the other.
class Sleeper {
 public:
  template <class Come>
  void sleep_until(Come &&come) {
    for (;;) {
      asleep_.store(1);
      if (come()) break;
      futex(asleep_, FUTEX_WAIT, 1);
    }
    asleep_.store(0);
  }
  void wake() {
    if (asleep_.load() == 1 && asleep_.exchange(0) == 1) futex(asleep_, FUTEX_WAKE, 1);
  }

 private:
  std::atomic<uint32_t> asleep_{0};
};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Calls come() over and over for a moment, until it is true.
template <class Come>
bool spin_until(bool may_spin, Come &&come) {
  // About what it takes to put a thread to sleep and to wake it again.
  constexpr std::chrono::microseconds longest{50};
  constexpr uint32_t looks = 32;  // between two readings of the clock
  if (come()) return true;
  if (!may_spin) return false;
  const auto end = std::chrono::steady_clock::now() + longest;
  do {
    for (uint32_t i = 0; i < looks; ++i) {
      if (come()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

struct Pool::State {
  // What one thread writes often lies a cache line away from what others read; by padding, because memory of a larger
  // alignment would be one more kind of request to the system.
  struct Worker : Sleeper {
    std::thread thread;
    char apart[64];
  };

  // The round's number in the upper half; below it how many workers are inside, and how many may still come in. The
  // last of those that may is worker 1.
  std::atomic<uint64_t> gate{0};
  static constexpr uint64_t kRound = uint64_t{1} << 32, kInside = 1 << 16, kMayEnter = kInside - 1;
  static uint64_t round_of(uint64_t state) { return state / kRound; }
  static bool has_workers(uint64_t state) { return state % kRound >= kInside; }

  char apart[64];
  Sleeper caller;
  std::atomic<uint32_t> wanted{0};    // workers of this round, the caller included: who wakes whom
  std::atomic<bool> stopping{false};  // set once, at destruction
  Task task = nullptr;                // of the round; read by those inside alone, before whom nobody changes it
  void *user = nullptr;
  Worker *workers = nullptr;  // worker_count of them: threads 1 to worker_count
  uint32_t worker_count = 0;
  bool may_spin = true;  // there is a processor for each

  // Thread 0 is the caller. Each wakes four: two levels do for twenty threads, while the caller is kept for four calls
  // of the system.
  void wake_next(uint32_t thread) {
    constexpr uint32_t fan_out = 4;
    const uint32_t most = wanted.load(std::memory_order_relaxed);
    for (uint32_t next = thread * fan_out + 1; next <= thread * fan_out + fan_out && next < most; ++next)
      workers[next - 1].wake();
  }

  void work(uint32_t thread) {
    const FloatEnvironment float_environment;
    uint64_t seen = 0;
    for (;;) {
      const auto new_round = [&] { return round_of(gate.load()) != seen; };
      if (!spin_until(may_spin && seen != 0, new_round)) workers[thread - 1].sleep_until(new_round);
      seen = round_of(gate.load());
      if (stopping.load()) return;
      wake_next(thread);
      take_part();
    }
  }

  void take_part() {
    uint64_t state = gate.load();
    do {
      if ((state & kMayEnter) == 0) return;
      // Acquires what the caller wrote for the round.
    } while (!gate.compare_exchange_weak(state, state + kInside - 1));
    task(user, static_cast<uint32_t>(state & kMayEnter));
    // Releases what the task wrote.
    if (!has_workers(gate.fetch_sub(kInside) - kInside)) caller.wake();
  }

  void open(uint32_t workers_wanted, Task new_task, void *new_user) {
    task = new_task;
    user = new_user;
    wanted.store(workers_wanted, std::memory_order_relaxed);
    // Nobody is inside and nobody may come in, so only this thread changes the gate.
    gate.store((round_of(gate.load()) + 1) * kRound + workers_wanted - 1);
    wake_next(0);
  }

  void close() {
    gate.fetch_and(~kMayEnter);
    const auto all_left = [&] { return !has_workers(gate.load()); };
    if (!spin_until(may_spin, all_left)) caller.sleep_until(all_left);
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
  state_->stopping.store(true);
  state_->gate.fetch_add(State::kRound);
  for (uint32_t i = 0; i < state_->worker_count; ++i) state_->workers[i].wake();
  for (uint32_t i = 0; i < state_->worker_count; ++i) state_->workers[i].thread.join();
  delete[] state_->workers;
  delete state_;
}

// Starts as many workers as can be had; with none, everything runs on the caller.
void Pool::start() {
  State *const state = new (std::nothrow) State;
  if (state == nullptr) return;
  state->workers = new (std::nothrow) State::Worker[threads_ - 1];
  if (state->workers == nullptr) {
    delete state;
    return;
  }
  state->may_spin = threads_ <= allowed_processors();
  const BlockSignals block_signals;
  try {
    for (uint32_t i = 0; i + 1 < threads_; ++i) {
      state->workers[i].thread = std::thread([state, i] { state->work(i + 1); });
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
  // Also if the task throws: workers use what lies on this stack.
  struct Close {
    State *state;
    ~Close() { state->close(); }
  };
  const Close close_at_end{state_};
  state_->open(workers <= state_->worker_count ? workers : state_->worker_count + 1, task, user);
  task(user, 0);
}

}  // namespace gsort_internal
