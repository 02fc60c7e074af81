// SPDX-License-Identifier: MIT OR Apache-2.0
// One handle in many threads, many handles in many threads, messages that stay with their thread.
#include <atomic>
#include <memory>
#include <thread>

#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

class ConcurrencyTest : public BackendTest {
 protected:
  static constexpr int kThreads = 4;
  // All operations on the handle with arrays of the thread's own; returns how many results differ.
  int run_all(gsort *g, uint64_t seed) const {
    if (backend() == GSORT_BACKEND_CUDA) use_device(0);
    int wrong = 0;
    const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, 20000 + seed, seed));
    const Handle alone(GSORT_BACKEND_CPU, 1);
    const Arrays expected(Place::kHost, generate(Distribution::kSmallRange, GSORT_F32, 20000 + seed, seed));
    for (const NamedOperation &operation : all_operations()) {
      const bool ok = operation.run(g, arrays) == GSORT_OK && gsort_synchronize(g) == GSORT_OK &&
                      operation.run(alone.get(), expected) == GSORT_OK;
      if (!ok || operation.result(arrays) != operation.result(expected)) wrong++;
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
