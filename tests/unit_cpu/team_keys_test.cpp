// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys alone that threads sort together: every shape at lengths around those where two threads begin to share the first
// split, and calls that are cancelled.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "vector_target_fixture.h"

namespace gsort_test {
namespace {

class TeamKeys : public testing::TestWithParam<gsort_dtype> {
 protected:
  template <class U>
  void check(EngineUnderTest &engine, const KeyOrder &order, const std::vector<U> &keys, const std::string &text) {
    const uint64_t n = keys.size();
    std::vector<U> wanted = keys;
    std::sort(wanted.begin(), wanted.end(), [&](U a, U b) { return comes_before(order, a, b); });
    std::vector<U> in = keys, out(n + 2, static_cast<U>(0x5a));
    Request r{Operation::kSort, order};
    r.n = n, r.in = in.data(), r.out = out.data() + 1;
    engine.engine->execute(r);
    ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), out.begin() + 1)) << text;
    ASSERT_EQ(static_cast<U>(0x5a), out.front()) << text;
    ASSERT_EQ(static_cast<U>(0x5a), out.back()) << text;
    ASSERT_TRUE(in == keys) << text;
    r.out = in.data();
    engine.engine->execute(r);
    ASSERT_TRUE(in == wanted) << text << " in place";
  }

  std::mt19937_64 random_{29};
};

TEST_P(TeamKeys, EveryShapeOnTwoThreads) {
  EngineUnderTest engine(2);
  const KeyOrder orders[] = {{GetParam(), false, false}, {GetParam(), true, is_float(GetParam())}};
  for (const uint64_t bytes : {uint64_t{1} << 17, uint64_t{1} << 20, uint64_t{3} << 20}) {
    if (kWatched && bytes > 1 << 20) continue;
    for (uint32_t shape = 0; shape < kShapes; ++shape) {
      const KeyOrder &order = orders[shape % 2];
      with_width(dtype_bytes(order.dtype), [&](auto tag) {
        using U = typename decltype(tag)::type;
        const uint64_t n = bytes / sizeof(U) - 30 + random_() % 60;
        check(engine, order, make_keys<U>(shape, n, random_),
              "n " + std::to_string(n) + " shape " + std::to_string(shape));
      });
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, TeamKeys, testing::Values(GSORT_U32, GSORT_F32, GSORT_I64, GSORT_F64),
                         [](const auto &type) {
                           return std::string(is_float(type.param) ? "f" : "i") +
                                  std::to_string(8 * dtype_bytes(type.param));
                         });

struct StopAfter {
  uint64_t left;
  static int32_t progress(void *user, uint64_t, uint64_t) { return static_cast<StopAfter *>(user)->left-- == 0; }
};

class KeysStopped : public EachTarget {
 protected:
  // Sorts the keys where they lie; whether it was cancelled.
  template <class U>
  static bool sort_in_place(EngineUnderTest &engine, const KeyOrder &order, std::vector<U> &keys) {
    Request r{Operation::kSort, order};
    r.n = keys.size(), r.in = r.out = keys.data();
    try {
      engine.engine->execute(r);
    } catch (const Error &error) {
      EXPECT_EQ(GSORT_ERROR_CANCELLED, error.status());
      return true;
    }
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end(), [&](U a, U b) { return comes_before(order, a, b); }));
    return false;
  }

  // Calls f(tag, order) for types that vectors sort, each direction and NaN rule.
  template <class F>
  static void for_each_long_order(F &&f) {
    for_each_order([&](auto tag, const KeyOrder &order) {
      const bool is_signed = dtype_facts(order.dtype).kind == Kind::kSigned;  // as unsigned ones, but for a mask
      const bool is_left_out = is_signed || (kWatched && order.descending != order.nan_last);
      if (sizeof(typename decltype(tag)::type) >= 4 && !is_left_out) f(tag, order);
    });
  }
};

// Wherever it is stopped, a sort in place leaves all keys. The longer arrays have chances within splits of their parts.
TEST_P(KeysStopped, LeavesAPermutation) {
  for_each_long_order([&](auto tag, const KeyOrder &order) {
    using U = typename decltype(tag)::type;
    for (EngineUnderTest *const engine : {&one_, &two_, &three_}) {
      for (const uint64_t bytes : {uint64_t{1} << 19, kWatched ? uint64_t{5} << 20 : uint64_t{9} << 20}) {
        auto keys = make_keys<U>(static_cast<uint32_t>(random_() % 3), bytes / sizeof(U) + random_() % 90, random_);
        add_odd_numbers(order.dtype, keys, random_);
        const uint64_t before = fingerprint(keys.data(), keys.size());
        uint64_t stopped = 0;
        for (uint64_t after = 0;; after = after * 3 / 2 + 1) {
          std::vector<U> sorted = keys;
          StopAfter stop{after};
          engine->control.begin_call();  // forgets the request before
          engine->control.set_progress(StopAfter::progress, &stop);
          const bool cancelled = sort_in_place(*engine, order, sorted);
          ASSERT_EQ(before, fingerprint(sorted.data(), sorted.size())) << "n " << keys.size() << " after " << after;
          if (!cancelled) break;
          ++stopped;
        }
        engine->control.set_progress(nullptr, nullptr);
        // The calling thread, alone, tells of progress within its splits.
        EXPECT_GE(stopped, !kWatched && engine == &one_ && bytes > 4 << 20 ? 3u : 1u);
        if (HasFailure()) return;
      }
    }
  });
}

// By another thread at any time, so that each of the threads that sort may be the first to see it: whoever leaves keys
// unsorted says so.
TEST_P(KeysStopped, ByAnotherThread) {
  const KeyOrder order{GSORT_F32, false, false};
  const auto keys = make_keys<uint32_t>(0, kWatched ? uint64_t{5} << 18 : uint64_t{3} << 20, random_);
  const uint64_t before = fingerprint(keys.data(), keys.size());
  std::vector<uint32_t> sorted = keys;
  for (EngineUnderTest *const engine : {&one_, &two_, &three_}) {
    const auto start = std::chrono::steady_clock::now();
    engine->control.begin_call();
    ASSERT_FALSE(sort_in_place(*engine, order, sorted = keys));
    const auto whole = std::chrono::steady_clock::now() - start;
    uint32_t cancelled = 0;
    constexpr uint32_t kTimes = kWatched ? 4 : 12;
    for (uint32_t time = 0; time < kTimes; ++time) {
      sorted = keys;
      engine->control.begin_call();
      std::atomic<bool> begins{false};
      std::thread canceller([&] {
        while (!begins.load()) std::this_thread::yield();
        std::this_thread::sleep_for(whole * time / kTimes);
        engine->control.request_cancel();
      });
      begins.store(true);
      cancelled += sort_in_place(*engine, order, sorted) ? 1 : 0;
      canceller.join();
      ASSERT_EQ(before, fingerprint(sorted.data(), sorted.size())) << "time " << time;
    }
    EXPECT_GT(cancelled, 0u);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, KeysStopped, testing::ValuesIn(kEveryTarget), target_test_name);

}  // namespace
}  // namespace gsort_test
