// SPDX-License-Identifier: MIT OR Apache-2.0
// The threads of a handle: every worker works, a run ends after all of them whatever happens, signals go where they
// belong.
#include "cpu/pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "core/control.h"
#include "core/host_memory.h"
#include "cpu/context.h"

using namespace gsort_internal;

namespace {

struct Seen {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::set<uint32_t> workers;
};

void note(void *user, uint32_t worker) {
  auto *seen = static_cast<Seen *>(user);
  const std::lock_guard<std::mutex> lock(seen->mutex);
  seen->threads.insert(std::this_thread::get_id());
  seen->workers.insert(worker);
}

TEST(Pool, RunsEveryWorkerOnAThreadOfItsOwn) {
  for (const uint32_t threads : {1u, 2u, 5u}) {
    Pool pool(threads);
    EXPECT_EQ(threads, pool.threads());
    for (uint32_t wanted = 1; wanted <= threads + 2; ++wanted) {
      Seen seen;
      pool.run(wanted, note, &seen);
      const uint32_t expected = wanted < threads ? wanted : threads;
      EXPECT_EQ(expected, seen.threads.size());
      EXPECT_EQ(expected, seen.workers.size());
      EXPECT_EQ(expected - 1, *seen.workers.rbegin());
      EXPECT_EQ(1u, seen.threads.count(std::this_thread::get_id())) << "the caller works, too";
    }
  }
}

struct Slow {
  std::atomic<int> ended{0};
};

// Workers use what lies on the caller's stack.
TEST(Pool, WaitsForItsWorkersWhenTheCallerThrows) {
  Pool pool(4);
  for (int round = 0; round < 5; ++round) {
    Slow slow;
    const auto task = [](void *user, uint32_t worker) {
      if (worker == 0) throw 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++static_cast<Slow *>(user)->ended;
    };
    EXPECT_THROW(pool.run(4, task, &slow), int);
    EXPECT_EQ(3, slow.ended.load());
  }
}

TEST(Pool, WorkersLetSignalsOfTheirOwnDoingThroughAndNoOthers) {
  struct Masks {
    std::mutex mutex;
    std::vector<sigset_t> of_workers;
  };
  Masks masks;
  Pool pool(3);
  pool.run(
      3,
      [](void *user, uint32_t worker) {
        if (worker == 0) return;
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        auto *all = static_cast<Masks *>(user);
        const std::lock_guard<std::mutex> lock(all->mutex);
        all->of_workers.push_back(blocked);
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
