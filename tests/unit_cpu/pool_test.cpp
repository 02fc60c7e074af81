// SPDX-License-Identifier: MIT OR Apache-2.0
// The threads of handles: every worker works, a run ends after all of them whatever happens, signals go where they
// belong, and runs that go on at the same time share what threads there are.
#include "cpu/engine/pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/control.h"
#include "core/host_memory.h"
#include "cpu/engine/context.h"

using namespace gsort_internal;

namespace {

// Threads that come late are left out, so tests whose workers must all come wait for each other.
class Meeting {
 public:
  explicit Meeting(uint32_t wanted) : wanted_(wanted) {}
  // Whether all have come within a time that is long enough.
  bool wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (++come_ == wanted_) all_come_.notify_all();
    return all_come_.wait_for(lock, std::chrono::seconds(60), [this] { return come_ >= wanted_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_come_;
  uint32_t come_ = 0, wanted_;
};

struct Seen {
  explicit Seen(uint32_t wanted) : meeting(wanted) {}
  Meeting meeting;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::set<uint32_t> workers;
};

bool note(void *user, uint32_t worker) {
  auto *seen = static_cast<Seen *>(user);
  seen->meeting.wait();
  const std::lock_guard<std::mutex> lock(seen->mutex);
  seen->threads.insert(std::this_thread::get_id());
  seen->workers.insert(worker);
  return false;
}

TEST(Pool, ThreadsAreBounded) {
  EXPECT_EQ(1024u, Pool(5000).threads());
  EXPECT_EQ(1024u, Pool(UINT32_MAX).threads());
}

TEST(Pool, RunsEveryWorkerOnAThreadOfItsOwn) {
  for (const uint32_t threads : {1u, 2u, 5u, 23u}) {
    Pool pool(threads);
    EXPECT_EQ(threads, pool.threads());
    for (uint32_t wanted = 1; wanted <= threads + 2; ++wanted) {
      const uint32_t expected = wanted < threads ? wanted : threads;
      Seen seen(expected);
      pool.run(wanted, note, &seen);
      EXPECT_EQ(expected, seen.threads.size());
      EXPECT_EQ(expected, seen.workers.size());
      EXPECT_EQ(expected - 1, *seen.workers.rbegin());
      EXPECT_EQ(1u, seen.threads.count(std::this_thread::get_id())) << "the caller works, too";
    }
  }
}

// Rounds that follow each other at once, and rounds that find the threads asleep.
TEST(Pool, DoesEveryItemOnceInEveryRound) {
  struct Round {
    std::atomic<uint32_t> next{0};
    std::atomic<uint32_t> done[64] = {};
  };
  Pool pool(4);
  for (uint32_t round = 0; round < 2000; ++round) {
    Round items;
    const auto step = [](void *user, uint32_t) {
      Round &r = *static_cast<Round *>(user);
      const uint32_t item = r.next.fetch_add(1);
      if (item < 64) r.done[item].fetch_add(1, std::memory_order_relaxed);
      return item < 64;
    };
    pool.run(2 + round % 3, step, &items);
    for (const std::atomic<uint32_t> &done : items.done) ASSERT_EQ(1u, done.load(std::memory_order_relaxed));
    if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

struct Slow {
  Meeting meeting{4};
  std::atomic<int> ended{0};
};

// Workers use what lies on the caller's stack.
TEST(Pool, WaitsForItsWorkersWhenTheCallerThrows) {
  Pool pool(4);
  for (int round = 0; round < 5; ++round) {
    Slow slow;
    const auto step = [](void *user, uint32_t worker) {
      static_cast<Slow *>(user)->meeting.wait();
      if (worker == 0) throw 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++static_cast<Slow *>(user)->ended;
      return false;
    };
    EXPECT_THROW(pool.run(4, step, &slow), int);
    EXPECT_EQ(3, slow.ended.load());
  }
}

TEST(Pool, WorkersLetSignalsOfTheirOwnDoingThroughAndNoOthers) {
  struct Masks {
    std::mutex mutex;
    std::vector<sigset_t> of_workers;
    Meeting meeting{3};
  };
  Masks masks;
  Pool pool(3);
  pool.run(
      3,
      [](void *user, uint32_t worker) {
        auto *all = static_cast<Masks *>(user);
        all->meeting.wait();
        if (worker == 0) return false;
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        const std::lock_guard<std::mutex> lock(all->mutex);
        all->of_workers.push_back(blocked);
        return false;
      },
      &masks);
  ASSERT_EQ(2u, masks.of_workers.size());
  for (const sigset_t &blocked : masks.of_workers) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
      EXPECT_EQ(0, sigismember(&blocked, signal)) << signal;
    for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGPIPE, SIGHUP, SIGQUIT, SIGRTMIN})
      EXPECT_EQ(1, sigismember(&blocked, signal)) << signal;
  }
}

// What an item throws on any thread stops the context and is thrown to the caller, after all workers have ended.
TEST(Context, KeepsWhatAnItemThrows) {
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  Control control;
  Pool pool(4);
  for (uint64_t bad = 0; bad < 64; bad += 7) {
    Context context(memory, control, pool, true);
    context.begin(64);
    context.for_each(64, [&](uint64_t item, uint32_t) {
      if (item == bad) throw Error(GSORT_ERROR_OUT_OF_MEMORY, "item %llu", static_cast<unsigned long long>(item));
    });
    EXPECT_TRUE(context.stopped());
    try {
      context.throw_if_stopped();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error &error) {
      EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, error.status());
      EXPECT_EQ("item " + std::to_string(bad), error.text());
    }
  }
  Context context(memory, control, pool, true);
  context.for_each_unbroken(8, [&](uint64_t item, uint32_t) {
    if (item == 7) throw 5;
  });
  try {
    context.throw_if_stopped();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(GSORT_ERROR_INTERNAL, error.status());
  }
}

}  // namespace
