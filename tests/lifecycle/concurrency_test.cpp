// SPDX-License-Identifier: MIT OR Apache-2.0
// One handle in many threads, many handles in many threads, messages that stay with their thread.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

class ConcurrencyTest : public BackendTest {
 protected:
  static constexpr int kThreads = 4;
  // All operations on the handle with arrays of the thread's own; returns how many results differ.
  int run_all(gsort *g, uint64_t seed, uint64_t items = 20000) const {
    if (backend() == GSORT_BACKEND_CUDA) use_device(0);
    int wrong = 0;
    const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, items + seed, seed));
    for (const NamedOperation &operation : all_operations()) {
      const bool ok = operation.run(g, arrays) == GSORT_OK && gsort_synchronize(g) == GSORT_OK;
      if (!ok || operation.result(arrays) != operation.expected(arrays)) wrong++;
    }
    return wrong;
  }
};

TEST_P(ConcurrencyTest, OneHandle) {
  const Handle shared(backend());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 3; round++) wrong += run_all(shared.get(), static_cast<uint64_t>(t * 3 + round));
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(0, wrong.load());
}

// Arrays of a size at which each call works on all threads of the handle: calls that do not take turns meet there.
TEST_P(ConcurrencyTest, OneHandleWithLargeArrays) {
  const Handle shared(backend(), 3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++) {
    threads.emplace_back([&, t] { wrong += run_all(shared.get(), static_cast<uint64_t>(t), 420000); });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(0, wrong.load());
}

// Sorts alone, so that they meet nowhere but in the handle.
TEST_P(ConcurrencyTest, OneHandleSortsLargeArrays) {
  const Handle shared(backend(), 3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      if (backend() == GSORT_BACKEND_CUDA) use_device(0);
      const Array keys = generate(Distribution::kUniform, GSORT_U64, 500000, static_cast<uint64_t>(t));
      const Array sorted = reference_sort(keys, 0);
      for (int round = 0; round < 6; round++) {
        Array in_place = keys;
        auto *data = reinterpret_cast<uint64_t *>(in_place.bytes().data());
        if (gsort_sort_u64(shared.get(), data, keys.size(), 0) != GSORT_OK || in_place.bytes() != sorted.bytes())
          wrong++;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(0, wrong.load());
}

// Short calls take their turns in a way of their own. Sorts of one array and of parts of it, from several threads: keys
// would be lost where two of them met.
TEST_P(ConcurrencyTest, ShortSortsOfOneArrayTakeTurns) {
  if (backend() == GSORT_BACKEND_CUDA) GTEST_SKIP() << "every call on the GPU is a long one";
  const Handle shared(backend(), 2);
  constexpr uint64_t kItems = 1500, kShort = 40;
  std::vector<uint32_t> keys(kItems), values(kItems);
  for (uint32_t i = 0; i < kItems; i++) keys[i] = values[i] = i;
  std::atomic<int> wrong{0};
  std::atomic<uint32_t> ready{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (ready++; ready < 4;) std::this_thread::yield();
      for (uint32_t round = 0; round < 50000; round++) {
        const uint32_t flags = (round + t) % 2 == 0 ? 0 : GSORT_DESCENDING;
        const uint64_t n = t == 0 && round % 8 == 0 ? kItems : kShort - t;
        const gsort_status status = t == 3 ? gsort_sort_pairs(shared.get(), GSORT_U32, keys.data(), keys.data(), 4,
                                                              values.data(), values.data(), n, flags)
                                           : gsort_sort_u32(shared.get(), keys.data(), n, flags);
        if (status != GSORT_OK) wrong++;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(0, wrong.load());
  std::sort(keys.begin(), keys.end());
  std::sort(values.begin(), values.end());
  for (uint32_t i = 0; i < kItems; i++) {
    ASSERT_EQ(i, keys[i]);
    ASSERT_EQ(i, values[i]);
  }
}

TEST_P(ConcurrencyTest, HandleAThread) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 2; round++) {
        const Handle own(backend(), 2);
        wrong += own.get() == nullptr ? 100 : run_all(own.get(), static_cast<uint64_t>(t * 5 + round));
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(0, wrong.load());
}

uint32_t threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<uint32_t>(std::distance(begin(tasks), end(tasks)));
}

TEST_P(ConcurrencyTest, HandlesShareThreads) {
  if (backend() == GSORT_BACKEND_CUDA) GTEST_SKIP() << "the CPU's threads are counted";
  constexpr uint32_t handle_threads = 4;
  std::thread([] {}).join();  // with the first one ThreadSanitizer starts one of its own
  const auto sort = [](gsort *g, const Array &keys, const Array &sorted) {
    Array in_place = keys;
    auto *data = reinterpret_cast<uint64_t *>(in_place.bytes().data());
    return gsort_sort_u64(g, data, keys.size(), 0) == GSORT_OK && in_place.bytes() == sorted.bytes();
  };
  const auto keys_of = [](int t) {
    return generate(Distribution::kUniform, GSORT_U64, 300000, static_cast<uint64_t>(t));
  };
  // While this handle has the library's threads they do not end with another's last call and start with the next one's:
  // the system counts for a moment what has ended.
  const Handle kept(backend(), handle_threads);
  ASSERT_TRUE(sort(kept.get(), keys_of(kThreads), reference_sort(keys_of(kThreads), 0)));
  const uint32_t before = threads_of_process();
  EXPECT_GE(before, handle_threads) << "the calling thread and those of the handle";
  std::atomic<int> wrong{0}, at_work{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      const Handle own(backend(), handle_threads);
      const Array keys = keys_of(t);
      const Array sorted = reference_sort(keys, 0);
      for (int round = 0; round < 8; round++) wrong += sort(own.get(), keys, sorted) ? 0 : 1;
      at_work--;
    });
  }
  uint32_t most = 0;
  while (at_work != 0) {
    most = std::max(most, threads_of_process());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(0, wrong.load());
  EXPECT_GT(most, before) << "the threads of this test were not seen";
  EXPECT_LE(most, before + kThreads) << "each handle had threads of its own";
}

TEST_P(ConcurrencyTest, ManyHandlesAtOnce) {
  std::vector<std::unique_ptr<Handle>> handles;
  for (int i = 0; i < 20; i++) handles.push_back(std::make_unique<Handle>(backend(), 2));
  const Array keys = generate(Distribution::kUniform, GSORT_I32, 30000, 1);
  const Array sorted = reference_sort(keys, 0);
  for (const auto &handle : handles) {
    ASSERT_NE(nullptr, handle->get());
    EXPECT_TRUE(same_elements(sorted, run_sort({handle->get(), place()}, keys, 0)));
  }
}

TEST_P(ConcurrencyTest, HandleOutlivesTheThreadThatMadeIt) {
  gsort *g = nullptr;
  const gsort_options options = default_options(backend());
  std::thread([&] {
    if (backend() == GSORT_BACKEND_CUDA) use_device(0);
    gsort_create(&options, &g);
  }).join();
  ASSERT_NE(nullptr, g);
  const Array keys = generate(Distribution::kUniform, GSORT_U64, 100000, 1);
  EXPECT_TRUE(same_elements(reference_sort(keys, 0), run_sort({g, place()}, keys, 0)));
  std::thread([&] { gsort_destroy(g); }).join();
}

TEST_P(ConcurrencyTest, MessagesBelongToTheirThread) {
  const Handle shared(backend());
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_sort_u32(shared.get(), nullptr, 1, 0));
  std::string seen = "unset";
  std::thread([&] { seen = gsort_error_message(shared.get()); }).join();
  EXPECT_EQ("", seen);
  EXPECT_STRNE("", gsort_error_message(shared.get()));
}

GSORT_INSTANTIATE_BACKENDS(ConcurrencyTest);

}  // namespace
}  // namespace gsort_test
