// SPDX-License-Identifier: MIT OR Apache-2.0
// The library's threads with random delays around what they tell each other, which shows orders of events that a test
// would otherwise wait days for. The source is compiled here once more, with atomics that take their time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <new>
#include <thread>

#include "cpu/engine/float_environment.h"

namespace gsort_delayed {

// Of eight calls one gives the processor away, of 64 one sleeps for up to 0.5 ms.
inline void delay() {
  thread_local uint32_t state = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&state) >> 4) | 1;
  state ^= state << 13, state ^= state >> 17, state ^= state << 5;
  if (state % 8 == 0) std::this_thread::yield();
  if (state % 64 == 1) usleep(state / 64 % 500);
}

// The order of memory asked for stays as it is, so that ThreadSanitizer sees what the library does.
template <class T>
class DelayedAtomic : public std::atomic<T> {
  using Base = std::atomic<T>;
  struct Delay {
    Delay() { delay(); }
    ~Delay() { delay(); }
  };

 public:
  using Base::Base;
  T load(std::memory_order order = std::memory_order_seq_cst) const { return Delay(), Base::load(order); }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) { Delay(), Base::store(value, order); }
  T exchange(T value) { return Delay(), Base::exchange(value); }
  T fetch_add(T value) { return Delay(), Base::fetch_add(value); }
  T fetch_sub(T value) { return Delay(), Base::fetch_sub(value); }
  T fetch_and(T value) { return Delay(), Base::fetch_and(value); }
  T fetch_or(T value) { return Delay(), Base::fetch_or(value); }
};

}  // namespace gsort_delayed

// The library's own copy has another namespace and other atomics, and includes these headers no more.
namespace gsort_delayed {
namespace std {
using namespace ::std;
template <class T>
using atomic = DelayedAtomic<T>;
}  // namespace std
using gsort_internal::FloatEnvironment;
uint32_t quota_processors(const char *) { return UINT32_MAX; }
}  // namespace gsort_delayed
#define GSORT_CPU_ENGINE_QUOTA_H_
#define gsort_internal gsort_delayed
#include "cpu/engine/shared_threads.cpp"
#undef gsort_internal

namespace {

// One step a worker, which waits until all have come.
struct Meeting {
  explicit Meeting(uint32_t all) : wanted(all) {}
  static bool wait(void *meeting, uint32_t) {
    auto &m = *static_cast<Meeting *>(meeting);
    std::unique_lock<std::mutex> lock(m.mutex);
    if (++m.come == m.wanted) m.all_come.notify_all();
    m.all_came &= m.all_come.wait_for(lock, std::chrono::seconds(10), [&m] { return m.come == m.wanted; });
    return false;
  }

  std::mutex mutex;
  std::condition_variable all_come;
  uint32_t come = 0, wanted;
  bool all_came = true;
};

// Run follows run while threads are on their way to sleep. A thread that comes by itself must not use up the wake-up of
// one that sleeps, which would miss the run.
TEST(SharedThreadsDelayed, EveryThreadComesToEveryRun) {
  constexpr uint32_t kWorkers = 12;
  gsort_delayed::SharedThreads *const threads = gsort_delayed::SharedThreads::join(kWorkers);
  ASSERT_NE(nullptr, threads);
  threads->grow(kWorkers - 1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (int round = 0; round < 1000 && std::chrono::steady_clock::now() < end; ++round) {
    // Short enough to be over when the threads come that it woke.
    threads->run(kWorkers, [](void *, uint32_t) { return false; }, nullptr);
    Meeting meeting(kWorkers);
    threads->run(kWorkers, Meeting::wait, &meeting);
    EXPECT_TRUE(meeting.all_came) << meeting.come << " of " << kWorkers << " came to run " << round;
    if (!meeting.all_came) break;
  }
  gsort_delayed::SharedThreads::leave(threads);
}

}  // namespace
