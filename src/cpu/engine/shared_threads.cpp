// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/engine/shared_threads.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <new>

#include "cpu/engine/float_environment.h"
#include "cpu/engine/quota.h"
#include "cpu/primitive/relax.h"

namespace gsort_internal {

namespace {

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

// Calls come() over and over for a moment, until it is true.
template <class May, class Come>
bool spin_until(May &&may_spin, Come &&come) {
  // About what it takes to put a thread to sleep and to wake it again.
  constexpr std::chrono::microseconds longest{50};
  constexpr uint32_t looks = 32;  // between two readings of the clock
  if (come()) return true;
  if (!may_spin()) return false;
  const auto end = std::chrono::steady_clock::now() + longest;
  do {
    for (uint32_t i = 0; i < looks; ++i) {
      if (come()) return true;
      relax();
    }
  } while (may_spin() && std::chrono::steady_clock::now() < end);
  return false;
}

uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
uint32_t beyond(uint32_t a, uint32_t b) { return a > b ? a - b : 0; }

}  // namespace

void Sleeper::wait() { futex(asleep_, FUTEX_WAIT, 1); }
void Sleeper::notify() { futex(asleep_, FUTEX_WAKE, 1); }

uint32_t allowed_processors() {
  constexpr uint32_t sets = 8;
  cpu_set_t allowed[sets];
  uint32_t processors = 0;
  if (sched_getaffinity(0, sizeof allowed, allowed) == 0)
    processors = static_cast<uint32_t>(CPU_COUNT_S(sizeof allowed, allowed));
  if (processors == 0) processors = std::thread::hardware_concurrency();
  if (processors == 0) processors = 1;
  const uint32_t quota = quota_processors("");
  return quota < processors ? quota : processors;
}

// One for each set of processors that threads with handles are kept to; mostly one in all.
struct SharedThreadsList {
  std::mutex lock;
  SharedThreads *first = nullptr;

  SharedThreads *find(const cpu_set_t *allowed) const {
    for (SharedThreads *at = first; at != nullptr; at = at->next_)
      if (std::memcmp(at->allowed_, allowed, sizeof at->allowed_) == 0) return at;
    return nullptr;
  }
  void remove(SharedThreads *threads) {
    SharedThreads **at = &first;
    while (*at != threads) at = &(*at)->next_;
    *at = threads->next_;
  }
};

namespace {

SharedThreadsList list;

// In a child of fork(), which has one thread: another may have held the lock, and threads are not there. What they
// worked with is given up.
void forget_threads() { new (&list) SharedThreadsList; }

// False for want of memory. Before the lock is taken for the first time, so that no child finds it held; threads that
// meet here may both register, and a child then forgets twice.
bool watch_forks() {
  static std::atomic<bool> registered{false};
  if (registered.load(std::memory_order_acquire)) return true;
  if (pthread_atfork(nullptr, nullptr, forget_threads) != 0) return false;
  registered.store(true, std::memory_order_release);
  return true;
}

}  // namespace

SharedThreads *SharedThreads::join(uint32_t processors) {
  cpu_set_t allowed[kSets];
  std::memset(allowed, 0, sizeof allowed);
  if (sched_getaffinity(0, sizeof allowed, allowed) != 0) std::memset(allowed, 0, sizeof allowed);
  if (!watch_forks()) return nullptr;
  const std::lock_guard<std::mutex> lock(list.lock);
  SharedThreads *threads = list.find(allowed);
  if (threads == nullptr) {
    threads = new (std::nothrow) SharedThreads;
    if (threads == nullptr) return nullptr;
    std::memcpy(threads->allowed_, allowed, sizeof allowed);
    threads->next_ = list.first;
    list.first = threads;
  }
  threads->processors_.store(processors, std::memory_order_relaxed);  // a container's quota may have changed
  ++threads->members_;
  return threads;
}

void SharedThreads::leave(SharedThreads *threads) {
  {
    const std::lock_guard<std::mutex> lock(list.lock);
    if (--threads->members_ != 0) return;
    list.remove(threads);
  }
  threads->stop();
  delete threads;
}

void SharedThreads::stop() {
  stopping_.store(true);
  opened_.fetch_add(1);
  while (wake_one()) {
  }
  for (uint32_t i = 0; i < size_.load(); ++i) {
    workers_[i]->thread.join();
    delete workers_[i];
  }
}

void SharedThreads::grow(uint32_t threads) {
  if (size_.load(std::memory_order_acquire) >= threads) return;
  const std::lock_guard<std::mutex> lock(list.lock);
  const BlockSignals block_signals;
  for (uint32_t i = size_.load(); i < threads; ++i) {
    Worker *const worker = new (std::nothrow) Worker;
    if (worker == nullptr) return;
    workers_[i] = worker;
    try {
      worker->thread = std::thread([this, i] { work(i); });
    } catch (...) {  // no more threads: those that started serve
      delete worker;
      return;
    }
    size_.store(i + 1, std::memory_order_release);
  }
}

SharedThreads::View SharedThreads::view(uint64_t open) const {
  View now = {0, 0, 0, processors_.load(std::memory_order_relaxed)};
  for (; open != 0; open &= open - 1) {
    const uint64_t gate = runs_[__builtin_ctzll(open)].gate.load();
    ++now.runs;
    now.inside += inside(gate);
    if (capacity(gate) + 1 > now.budget) now.budget = capacity(gate) + 1;
  }
  now.busy = now.runs + now.inside;
  if (now.runs == 0) now.runs = 1;
  return now;
}

// The lowest slot, so that few are looked at; kRunsMax if all are taken.
uint32_t SharedThreads::take_slot() {
  uint64_t open = open_.load(std::memory_order_relaxed);
  do {
    if (~open == 0) return kRunsMax;
    // Acquires what the run before left here.
  } while (!open_.compare_exchange_weak(open, open | (open + 1)));
  return static_cast<uint32_t>(__builtin_ctzll(~open));
}

void SharedThreads::run(uint32_t workers, Step step, void *user) {
  const uint32_t wanted = least(workers - 1, size_.load(std::memory_order_relaxed));
  const uint32_t slot = wanted == 0 ? kRunsMax : take_slot();
  if (slot == kRunsMax) {
    while (step(user, 0)) {
    }
    return;
  }
  // Also if a step throws: workers use what lies on this stack.
  struct Close {
    SharedThreads *threads;
    uint32_t slot;
    ~Close() {
      threads->close(threads->runs_[slot]);
      threads->open_.fetch_and(~(uint64_t{1} << slot));
    }
  };
  const Close close_at_end{this, slot};
  open(runs_[slot], wanted, step, user);
  while (step(user, 0)) {
  }
}

void SharedThreads::open(Run &run, uint32_t workers, Step step, void *user) {
  run.step = step;
  run.user = user;
  run.to_wake.store(0, std::memory_order_relaxed);
  const View now = view(open_.load());
  const uint32_t budget = workers + 1 > now.budget ? workers + 1 : now.budget;
  // Nobody is inside and nobody may come in, so only this thread changes the gate.
  const uint64_t number = run.gate.load(std::memory_order_relaxed) / kNumber + 1;
  run.gate.store(number * kNumber + (uint64_t{workers} << 16));
  opened_.fetch_add(1);
  // Those that are awake now come by themselves: they look for a new run once more before they sleep. Those that others
  // have too many of do so, too.
  const uint32_t idle = beyond(size_.load(std::memory_order_relaxed), count_asleep() + now.inside);
  run.to_wake.store(beyond(least(workers, beyond(budget, now.busy)), idle), std::memory_order_relaxed);
  wake_some(run);
}

void SharedThreads::close(Run &run) {
  const uint64_t gate = run.gate.fetch_and(~kCapacity);
  if (inside(gate) == 0) return;
  const auto all_left = [&] { return inside(run.gate.load()) == 0; };
  const auto may_spin = [&] {
    return inside(gate) + static_cast<uint32_t>(__builtin_popcountll(open_.load(std::memory_order_relaxed))) <=
           processors_.load(std::memory_order_relaxed);
  };
  if (!spin_until(may_spin, all_left)) run.caller.sleep_until(all_left);
}

// The number of the worker that the calling thread is in the run from now on; 0: there is no more room.
uint32_t SharedThreads::enter(Run &run, uint32_t workers_max) {
  uint64_t gate = run.gate.load();
  do {
    if (inside(gate) >= least(capacity(gate), workers_max)) return 0;
    // Acquires what the caller wrote for the run, and what the worker before with this number wrote.
  } while (!run.gate.compare_exchange_weak(gate, gate + 1));
  return inside(gate) + 1;
}

// Enters a run that has less than its share, or else one that wants more while there are threads left. The worker's
// number, or 0 for none.
uint32_t SharedThreads::enter_one(uint32_t &slot) {
  const uint64_t open = open_.load();
  if (open == 0) return 0;
  const View now = view(open);
  for (uint64_t rest = open; rest != 0; rest &= rest - 1) {
    slot = static_cast<uint32_t>(__builtin_ctzll(rest));
    const uint32_t worker = enter(runs_[slot], now.runs == 1 ? kThreadsMax : now.share() - 1);
    if (worker != 0) return worker;
  }
  if (now.runs == 1 || now.busy >= now.budget) return 0;
  for (uint64_t rest = open; rest != 0; rest &= rest - 1) {
    slot = static_cast<uint32_t>(__builtin_ctzll(rest));
    const uint32_t worker = enter(runs_[slot], kThreadsMax);
    if (worker != 0) return worker;
  }
  return 0;
}

// Whether one of its runs has less than its share, and could have more.
bool SharedThreads::wants_more(uint64_t open, uint32_t share) const {
  for (; open != 0; open &= open - 1) {
    const uint64_t gate = runs_[__builtin_ctzll(open)].gate.load();
    if (inside(gate) + 1 < share && inside(gate) < capacity(gate)) return true;
  }
  return false;
}

bool SharedThreads::should_leave(const Run &run) const {
  const uint64_t open = open_.load(std::memory_order_relaxed);
  if ((open & (open - 1)) == 0) return false;
  const View now = view(open);
  if (inside(run.gate.load()) + 1 <= now.share()) return false;
  return now.busy > now.budget || wants_more(open, now.share());
}

// False: it may not go, because one with a higher number must go first, or nobody takes its number any more.
bool SharedThreads::leave_run(Run &run, uint32_t worker) {
  uint64_t gate = run.gate.load();
  do {
    if (capacity(gate) == 0 || inside(gate) != worker) return false;
    // Releases what its steps wrote.
  } while (!run.gate.compare_exchange_weak(gate, gate - 1));
  return true;
}

// A worker found nothing left.
void SharedThreads::end_run(Run &run) {
  if (capacity(run.gate.load(std::memory_order_relaxed)) != 0) run.gate.fetch_and(~kCapacity);
  // Releases what its steps wrote.
  if (inside(run.gate.fetch_sub(1)) == 1) run.caller.wake();
}

// Works for a run; false if there is none.
bool SharedThreads::take_part() {
  uint32_t slot = 0;
  const uint32_t worker = enter_one(slot);
  if (worker == 0) return false;
  Run &run = runs_[slot];
  wake_some(run);
  while (run.step(run.user, worker))
    if (should_leave(run) && leave_run(run, worker)) return true;
  end_run(run);
  return true;
}

void SharedThreads::work(uint32_t thread) {
  const FloatEnvironment float_environment;
  bool awake_before = false;
  for (;;) {
    const uint32_t seen = opened_.load();
    if (stopping_.load()) return;
    if (!take_part()) {
      const auto new_run = [&] { return opened_.load() != seen; };
      if (!spin_until([&] { return awake_before && may_spin(thread); }, new_run)) sleep(thread, seen);
    }
    awake_before = true;
  }
}

// There is a processor for it beside those of the callers and of the threads before it.
bool SharedThreads::may_spin(uint32_t thread) const {
  const auto runs = static_cast<uint32_t>(__builtin_popcountll(open_.load(std::memory_order_relaxed)));
  return thread + 1 + (runs == 0 ? 1 : runs) <= processors_.load(std::memory_order_relaxed);
}

// Whoever takes the thread's bit wakes it.
void SharedThreads::sleep(uint32_t thread, uint32_t seen) {
  const uint64_t bit = uint64_t{1} << thread % kWordBits;
  std::atomic<uint64_t> &asleep = asleep_[thread / kWordBits];
  std::atomic<uint32_t> &woken = workers_[thread]->woken;
  woken.store(0);
  asleep.fetch_or(bit);
  const bool comes_anyway = opened_.load() != seen;
  if (comes_anyway && (asleep.fetch_and(~bit) & bit) != 0) return;
  while (woken.load() == 0) futex(woken, FUTEX_WAIT, 0);
  // The run counts on it without a wake-up, so the one that it got belongs to another thread.
  if (comes_anyway) wake_one();
}

uint32_t SharedThreads::count_asleep() const {
  uint32_t count = 0;
  for (uint32_t i = 0; i * kWordBits < size_.load(std::memory_order_relaxed); ++i)
    count += static_cast<uint32_t>(__builtin_popcountll(asleep_[i].load()));
  return count;
}

// Each wakes four: two levels do for twenty threads, while the caller is kept for four calls of the system.
void SharedThreads::wake_some(Run &run) {
  constexpr uint32_t fan_out = 4;
  uint32_t left = run.to_wake.load(std::memory_order_relaxed), now;
  do {
    if (left == 0) return;
    now = least(left, fan_out);
  } while (!run.to_wake.compare_exchange_weak(left, left - now, std::memory_order_relaxed));
  while (now-- != 0 && wake_one()) {
  }
}

// The first that is asleep; false: none is.
bool SharedThreads::wake_one() {
  for (uint32_t i = 0; i * kWordBits < size_.load(std::memory_order_relaxed); ++i) {
    for (uint64_t bits = asleep_[i].load(); bits != 0; bits = asleep_[i].load()) {
      const uint64_t bit = bits & (~bits + 1);
      if ((asleep_[i].fetch_and(~bit) & bit) == 0) continue;
      std::atomic<uint32_t> &woken = workers_[i * kWordBits + static_cast<uint32_t>(__builtin_ctzll(bit))]->woken;
      woken.store(1);
      futex(woken, FUTEX_WAKE, 1);
      return true;
    }
  }
  return false;
}

}  // namespace gsort_internal
