// SPDX-License-Identifier: MIT OR Apache-2.0
// Handles share the library's threads: how many there are, how many work at a time, and for whom.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "cpu/engine/pool.h"

using namespace gsort_internal;

namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadsInChild = false;  // ThreadSanitizer ends a forked child that starts a thread
#else
constexpr bool kThreadsInChild = true;
#endif

uint32_t threads_of_process() {
  uint32_t count = 0;
  DIR *const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  while (const dirent *const entry = readdir(tasks)) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

// Threads that have been joined are listed a moment longer.
bool has_threads(uint32_t count) {
  for (int look = 0; look < 2000 && threads_of_process() != count; ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return threads_of_process() == count;
}

// At least this many on any machine, so that it is what the tests' runs may have in all.
uint32_t many() {
  const uint32_t processors = allowed_processors();
  return processors > 8 ? processors : 8;
}

// Work without an end of its own, in steps of a moment.
struct Work {
  std::atomic<bool> *stop;
  std::atomic<uint32_t> *busy_in_all = nullptr;
  std::atomic<uint32_t> busy{0}, steps{0}, wrong{0};
  std::atomic<uint32_t> workers[kThreadsMax] = {};
  uint64_t by_worker[kThreadsMax] = {};  // not atomic: what one thread leaves to the next with its number
  std::mutex mutex;
  std::set<std::thread::id> threads;

  explicit Work(std::atomic<bool> &stop_in) : stop(&stop_in) {}

  static bool step(void *user, uint32_t worker) {
    Work &work = *static_cast<Work *>(user);
    if (work.stop->load()) return false;
    if (work.workers[worker].fetch_add(1) != 0) work.wrong.fetch_add(1);
    work.busy.fetch_add(1);
    ++work.by_worker[worker];
    {
      const std::lock_guard<std::mutex> lock(work.mutex);
      work.threads.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    work.steps.fetch_add(1);
    work.busy.fetch_sub(1);
    work.workers[worker].fetch_sub(1);
    return true;
  }
};

template <class Come>
bool comes(Come &&come) {
  for (int look = 0; look < 30000; ++look) {
    if (come()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// A handle's call in a thread of its own.
class Call {
 public:
  Call(uint32_t threads, uint32_t workers) : pool_(threads), work_(stop_) {
    caller_ = std::thread([this, workers] { pool_.run(workers, Work::step, &work_); });
  }
  ~Call() { end(); }
  void end() {
    stop_ = true;
    if (caller_.joinable()) caller_.join();
  }
  Work &work() { return work_; }

 private:
  std::atomic<bool> stop_{false};
  Pool pool_;
  Work work_;
  std::thread caller_;
};

TEST(SharedThreads, StartAsManyAsARunWantsAndEndWithTheLastHandle) {
  std::thread([] {}).join();  // with the first one ThreadSanitizer starts one of its own
  const uint32_t before = threads_of_process();
  const auto nothing = [](void *, uint32_t) { return false; };
  {
    auto first = std::make_unique<Pool>(6), second = std::make_unique<Pool>(4);
    EXPECT_EQ(before, threads_of_process());
    first->run(1, nothing, nullptr);
    EXPECT_EQ(before, threads_of_process());
    first->run(2, nothing, nullptr);
    EXPECT_EQ(before + 1, threads_of_process());
    second->run(9, nothing, nullptr);
    EXPECT_EQ(before + 3, threads_of_process());
    first->run(9, nothing, nullptr);
    EXPECT_EQ(before + 5, threads_of_process());
    first.reset();
    EXPECT_EQ(before + 5, threads_of_process());
    second->run(4, nothing, nullptr);
    EXPECT_EQ(before + 5, threads_of_process());
  }
  EXPECT_TRUE(has_threads(before));
}

TEST(SharedThreads, TwoRunsHaveAsManyThreadsAsOne) {
  const uint32_t before = threads_of_process(), all = many();
  Call first(all, all);
  ASSERT_TRUE(comes([&] { return first.work().busy == all; })) << first.work().busy;
  Call second(all, all);
  // Each has half of them soon, and keeps it.
  const uint32_t half = all / 2;
  ASSERT_TRUE(comes([&] { return second.work().busy >= half; })) << second.work().busy;
  ASSERT_TRUE(comes([&] { return first.work().busy <= all - half; })) << first.work().busy;
  for (int look = 0; look < 200; ++look) {
    EXPECT_LE(first.work().busy + second.work().busy, all);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(before + 2 + all - 1, threads_of_process());
  // When one ends, the other has those that worked for it.
  second.end();
  EXPECT_TRUE(comes([&] { return first.work().busy >= all - 1; })) << first.work().busy;
  first.end();
  EXPECT_EQ(0u, first.work().wrong);
  EXPECT_EQ(0u, second.work().wrong);
  uint64_t by_worker = 0;
  for (const uint64_t steps : first.work().by_worker) by_worker += steps;
  EXPECT_EQ(first.work().steps, by_worker);
  std::set<std::thread::id> threads = first.work().threads;
  threads.insert(second.work().threads.begin(), second.work().threads.end());
  EXPECT_LE(threads.size(), all + 1);
}

TEST(SharedThreads, WhatOneRunDoesNotWantAnotherHas) {
  const uint32_t all = many();
  Call small(2, 2);
  ASSERT_TRUE(comes([&] { return small.work().busy == 2; }));
  Call large(all, all);
  EXPECT_TRUE(comes([&] { return large.work().busy == all - 2; })) << large.work().busy;
  EXPECT_TRUE(comes([&] { return small.work().busy == 2; })) << small.work().busy;
}

TEST(SharedThreads, MoreRunsThanThreadsAreTheirCallersWork) {
  const uint32_t all = many();
  std::vector<std::unique_ptr<Call>> calls;
  for (uint32_t i = 0; i < all + 3; ++i) calls.push_back(std::make_unique<Call>(all, all));
  for (const auto &call : calls) ASSERT_TRUE(comes([&] { return call->work().steps != 0; }));
  const auto busy = [&] {
    uint32_t sum = 0;
    for (const auto &call : calls) sum += call->work().busy;
    return sum;
  };
  EXPECT_TRUE(comes([&] {
    for (int look = 0; look < 20; ++look) {
      if (busy() > calls.size()) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    return true;
  }));
}

// More than there are places for; those work alone.
TEST(SharedThreads, VeryManyRunsAtOnceEnd) {
  std::vector<std::unique_ptr<Call>> calls;
  for (uint32_t i = 0; i < 80; ++i) calls.push_back(std::make_unique<Call>(3, 3));
  for (const auto &call : calls) EXPECT_TRUE(comes([&] { return call->work().steps > 3; }));
  for (const auto &call : calls) call->end();
  for (const auto &call : calls) EXPECT_EQ(0u, call->work().wrong);
}

// Every item once in every run, while runs begin and end beside each other all the time.
TEST(SharedThreads, ShortRunsBesideEachOther) {
  struct Items {
    std::atomic<uint32_t> next{0};
    std::atomic<uint32_t> done[100] = {};
    uint32_t of_worker[5] = {};
  };
  std::atomic<uint32_t> wrong{0};
  std::vector<std::thread> callers;
  for (uint32_t caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (uint32_t handle = 0; handle < 20; ++handle) {
        Pool pool(2 + caller);
        for (uint32_t round = 0; round < 100; ++round) {
          Items items;
          const auto step = [](void *user, uint32_t worker) {
            Items &all = *static_cast<Items *>(user);
            const uint32_t item = all.next.fetch_add(1, std::memory_order_relaxed);
            if (item >= 100) return false;
            all.done[item].fetch_add(1, std::memory_order_relaxed);
            ++all.of_worker[worker];
            return true;
          };
          pool.run(2 + round % (1 + caller), step, &items);
          uint32_t sum = 0;
          for (const uint32_t items_of_one : items.of_worker) sum += items_of_one;
          for (const auto &done : items.done)
            if (done.load(std::memory_order_relaxed) != 1) wrong.fetch_add(1);
          if (sum != 100) wrong.fetch_add(1);
          if (round % 25 == caller) std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
      }
    });
  }
  for (std::thread &caller : callers) caller.join();
  EXPECT_EQ(0u, wrong.load());
}

// As where a thread of the CPU's that leads a run has another's threads copy for it.
TEST(SharedThreads, ARunInsideOfAnother) {
  struct Nested {
    Pool *inner;
    std::atomic<uint32_t> outer_left{300}, inner_left{0}, inner_done{0};
  };
  Pool outer(4), inner(3);
  Nested nested;
  nested.inner = &inner;
  const auto step = [](void *user, uint32_t worker) {
    Nested &all = *static_cast<Nested *>(user);
    const uint32_t left = all.outer_left.load();
    if (left == 0) return false;
    if (worker == 0) {
      all.inner_left = 50;
      all.inner->run(
          3,
          [](void *of_inner, uint32_t) {
            Nested &in = *static_cast<Nested *>(of_inner);
            uint32_t items = in.inner_left.load();
            while (items != 0 && !in.inner_left.compare_exchange_weak(items, items - 1)) {
            }
            in.inner_done += items != 0;
            return items != 0;
          },
          &all);
      all.outer_left = left - 1;
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return true;
  };
  outer.run(4, step, &nested);
  EXPECT_EQ(300u * 50, nested.inner_done.load());
}

// Threads begin with the processors of the thread that starts them, so those that may use others have their own.
TEST(SharedThreads, ThreadsOfOtherProcessorsAreNotShared) {
  cpu_set_t allowed, one;
  ASSERT_EQ(0, sched_getaffinity(0, sizeof allowed, &allowed));
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "one processor";
  CPU_ZERO(&one);
  for (uint32_t i = 0; CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &allowed)) CPU_SET(i, &one);
  struct Counts {
    std::atomic<uint32_t> come{0}, wide{0};
  };
  const auto count = [](void *user, uint32_t) {
    cpu_set_t own;
    Counts &counts = *static_cast<Counts *>(user);
    sched_getaffinity(0, sizeof own, &own);
    if (CPU_COUNT(&own) > 1) ++counts.wide;
    ++counts.come;
    while (counts.come < 2) std::this_thread::yield();
    return false;
  };
  Counts everywhere, kept;
  Pool first(2);
  first.run(2, count, &everywhere);
  std::thread([&] {
    ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
    Pool second(2);
    second.run(2, count, &kept);
  }).join();
  EXPECT_EQ(2u, everywhere.wide);
  EXPECT_EQ(0u, kept.wide);
}

// A child has its caller's thread alone, whatever the others did when it was made, and starts new ones.
TEST(SharedThreads, AChildStartsItsOwn) {
  if (!kThreadsInChild) GTEST_SKIP() << "a child may not start threads here";
  std::atomic<bool> stop{false};
  const auto nothing = [](void *, uint32_t) { return false; };
  std::thread other([&stop, nothing] {  // takes the list's lock over and over
    while (!stop) Pool(2).run(2, nothing, nullptr);
  });
  Pool of_parent(3);
  for (int fork_number = 0; fork_number < 200; ++fork_number) {
    std::atomic<uint32_t> come{0};
    const auto meet = [](void *user, uint32_t) {
      auto &all = *static_cast<std::atomic<uint32_t> *>(user);
      ++all;
      while (all < 3) std::this_thread::yield();
      return false;
    };
    of_parent.run(3, nothing, nullptr);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      of_parent.abandon();
      come = 0;
      {
        Pool own(3);
        own.run(3, meet, &come);
      }
      _exit(come == 3 ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "fork " << fork_number << ", status " << status;
    if (HasFailure()) break;
  }
  stop = true;
  other.join();
}

}  // namespace
