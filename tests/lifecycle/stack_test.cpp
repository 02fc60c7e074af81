// SPDX-License-Identifier: MIT OR Apache-2.0
// How much stack a call takes, of the thread that calls and of every thread of the library: at most 16 KiB, whatever
// the data. Some systems give a thread 64 KiB, and most of that belongs to the application. Threads run on stacks of
// the test's own that were painted before; the deepest byte that changed tells.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GSORT_TESTS_STACK_IS_LARGER 1
#else
#define GSORT_TESTS_STACK_IS_LARGER 0
#endif

namespace gsort_test {
namespace {

constexpr size_t kStackBytes = size_t{1} << 18;
constexpr size_t kAllowedBytes = 16 * 1024;
constexpr uint8_t kPaint = 0xC7;

// A painted stack, and where on it the thread's own function began.
struct PaintedStack {
  PaintedStack() {
    void *const memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    base = static_cast<uint8_t *>(memory);
    std::memset(base, kPaint, kStackBytes);
  }
  ~PaintedStack() { munmap(base, kStackBytes); }
  PaintedStack(const PaintedStack &) = delete;
  PaintedStack &operator=(const PaintedStack &) = delete;
  size_t used_bytes() const {
    const uint8_t *deepest = std::find_if(base, base + kStackBytes, [](uint8_t byte) { return byte != kPaint; });
    return deepest < begin ? static_cast<size_t>(begin - deepest) : 0;
  }

  uint8_t *base = nullptr;
  uint8_t *begin = nullptr;
  void *(*routine)(void *) = nullptr;
  void *argument = nullptr;
};

// The stacks of the threads that the library starts while a list is here.
std::mutex stacks_mutex;
std::vector<std::unique_ptr<PaintedStack>> *stacks = nullptr;

void *run_on_stack(void *user) {
  auto *stack = static_cast<PaintedStack *>(user);
  stack->begin = static_cast<uint8_t *>(__builtin_frame_address(0));
  return stack->routine(stack->argument);
}

using Create = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int create_on(PaintedStack *stack, pthread_t *thread, void *(*routine)(void *), void *argument) {
  static const Create kSystems = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  stack->routine = routine;
  stack->argument = argument;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack->base, kStackBytes);
  const int result = kSystems(thread, &attributes, run_on_stack, stack);
  pthread_attr_destroy(&attributes);
  return result;
}

struct Deepest {
  size_t caller = 0;
  size_t worker = 0;
  size_t workers = 0;
};

// Runs the function on a painted thread; it makes and destroys its handle, so that the handle's threads are painted
// too.
Deepest deepest_of(const std::function<void()> &function) {
  std::vector<std::unique_ptr<PaintedStack>> of_workers;
  PaintedStack own;
  struct Start {
    const std::function<void()> *function;
  } start{&function};
  pthread_t thread;
  const auto routine = [](void *user) -> void * {
    (*static_cast<Start *>(user)->function)();
    return nullptr;
  };
  {
    const std::lock_guard<std::mutex> lock(stacks_mutex);
    stacks = &of_workers;
  }
  if (create_on(&own, &thread, routine, &start) != 0) std::abort();
  pthread_join(thread, nullptr);
  const std::lock_guard<std::mutex> lock(stacks_mutex);
  stacks = nullptr;
  Deepest deepest;
  deepest.caller = own.used_bytes();
  for (const auto &stack : of_workers) deepest.worker = std::max(deepest.worker, stack->used_bytes());
  deepest.workers = of_workers.size();
  return deepest;
}

class StackTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GSORT_TESTS_STACK_IS_LARGER) GTEST_SKIP() << "a sanitizer takes stack of its own";
  }
  void TearDown() override {
    std::printf("at most %zu bytes of the caller's stack, %zu of a worker's\n", most_.caller, most_.worker);
  }

  void measure(const std::string &what, uint32_t threads, const std::function<void(gsort *)> &calls) {
    const Deepest deepest = deepest_of([&] {
      const Handle handle(GSORT_BACKEND_CPU, threads);
      calls(handle.get());
    });
    EXPECT_LE(deepest.caller, kAllowedBytes) << what << ", the caller's";
    EXPECT_LE(deepest.worker, kAllowedBytes) << what << ", a worker's";
    most_.caller = std::max(most_.caller, deepest.caller);
    most_.worker = std::max(most_.worker, deepest.worker);
    most_.workers = std::max(most_.workers, deepest.workers);
  }

  void measure_all(const std::string &what, const Array &input, uint32_t threads) {
    const Arrays arrays(Place::kHost, input);
    for (const NamedOperation &operation : all_operations()) {
      measure(std::string(operation.name) + " of " + what, threads, [&](gsort *g) {
        if (operation.run(g, arrays) != GSORT_OK) std::abort();
      });
      if (HasFailure()) return;
    }
  }
  Deepest most_;
};

// Ones at ever lower bits, each above all keys after it: splitting by the leading digit takes off one key a level and
// leaves the rest together. Below them a core of keys that differ in their last bits alone.
Array ladder(gsort_dtype t, uint64_t n, uint32_t bits_a_step) {
  Array keys(t, n);
  const uint32_t bits = element_type(t).bits();
  Random random(n);
  for (uint64_t i = 0; i < n; i++) keys.set(i, random.below(16));
  uint64_t at = 0;
  for (uint32_t bit = bits; bit > 5 && at + 17 < n; bit -= std::min(bit, bits_a_step)) {
    keys.set(n - 1 - at, uint64_t{1} << (bit - 1));
    at++;
  }
  return keys;
}

TEST_F(StackTest, EveryOperationOnMadeInputs) {
  for (const gsort_dtype t : {GSORT_U8, GSORT_U16, GSORT_U32, GSORT_U64, GSORT_F64}) {
    for (const uint64_t n : {300, 1500, 5000, 30000}) {
      for (const uint32_t step : {4u, 8u, 11u}) {
        const std::string what = std::to_string(n) + " x " + element_type(t).name + ", a ladder of steps of " +
                                 std::to_string(step) + " bits";
        measure_all(what, ladder(t, n, step), n % 200 == 0 ? 1 : 3);
        if (HasFailure()) return;
      }
    }
  }
}

// So few that every level takes little, which makes for many levels.
TEST_F(StackTest, SortsOfFewKeysOnMadeInputs) {
  for (const gsort_dtype t : {GSORT_U16, GSORT_U32, GSORT_U64}) {
    for (const uint64_t n : {18, 31, 32, 63, 64, 100, 255}) {
      for (const uint32_t step : {3u, 4u, 5u, 6u, 7u}) {
        const Array keys = ladder(t, n, step);
        Array out = keys;
        std::vector<uint64_t> indices(n);
        const uint64_t offsets[2] = {0, n};
        measure(
            std::to_string(n) + " x " + element_type(t).name + ", steps of " + std::to_string(step), 1, [&](gsort *g) {
              const void *in = keys.bytes().data();
              void *to = out.bytes().data();
              const bool ok =
                  gsort_sort(g, t, in, to, n, 0) == GSORT_OK &&
                  gsort_argsort(g, t, in, n, GSORT_U64, indices.data(), GSORT_DESCENDING) == GSORT_OK &&
                  gsort_sort_segments(g, t, in, to, n, offsets, 1, 0) == GSORT_OK &&
                  gsort_topk(g, t, in, n, n, to, GSORT_U64, indices.data(), 0) == GSORT_OK &&
                  gsort_topk_rows(g, t, in, 1, n, n, n - 1, to, GSORT_U64, indices.data(), GSORT_SMALLEST) == GSORT_OK;
              if (!ok) std::abort();
            });
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(StackTest, EveryOperationOnEveryDistribution) {
  for (const gsort_dtype t : kAllTypes) {
    uint64_t turn = t;
    for (const Distribution distribution : kAllDistributions) {
      if (!applies(distribution, t)) continue;
      constexpr uint64_t kSizes[] = {300, 700, 9000, 70000, 1000};  // room for what each operation writes
      const uint64_t n = kSizes[turn++ % 5];
      measure_all(std::to_string(n) + " x " + element_type(t).name + " " + distribution_name(distribution),
                  generate(distribution, t, n, turn), 1 + static_cast<uint32_t>(turn % 3));
      if (HasFailure()) return;
    }
  }
}

TEST_F(StackTest, LargeArraysOnSeveralThreads) {
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_F32, GSORT_U64}) {
    measure_all(std::string("2,200,000 x ") + element_type(t).name, generate(Distribution::kUniform, t, 2200000, 1), 3);
    if (HasFailure()) return;
  }
  EXPECT_EQ(2u, most_.workers) << "the threads of the library were not seen";
}

TEST_F(StackTest, PairsOfEverySizeOfValues) {
  for (const uint32_t value_bytes : {1u, 2u, 3u, 4u, 8u, 16u, 40u, 100u}) {
    for (const uint64_t n : {31, 1000, 300000, 1200000}) {
      const Array keys = n < 100 ? ladder(GSORT_U64, n, 4) : generate(Distribution::kUniform, GSORT_U64, n, 1);
      const Bytes values = generate_values(n, value_bytes, 1);
      Array keys_out = keys;
      Bytes values_out = values;
      measure("pairs with values of " + std::to_string(value_bytes) + " bytes", 2, [&](gsort *g) {
        if (gsort_sort_pairs(g, GSORT_U64, keys.bytes().data(), keys_out.bytes().data(), value_bytes, values.data(),
                             values_out.data(), n, 0) != GSORT_OK)
          std::abort();
      });
      if (HasFailure()) return;
    }
  }
}

// One thread parts long arrays again and again: no deeper than short ones.
TEST_F(StackTest, LongKeysAndPairsOnOneThread) {
  for (const gsort_dtype t : {GSORT_U32, GSORT_F32, GSORT_U64, GSORT_F64}) {
    const uint64_t n = 9000000;
    const Array keys = generate(Distribution::kUniform, t, n, 1);
    Array out = keys;
    std::vector<uint64_t> values(n);
    measure(std::string("a long sort of ") + element_type(t).name, 1, [&](gsort *g) {
      if (gsort_sort(g, t, keys.bytes().data(), out.bytes().data(), n, 0) != GSORT_OK) std::abort();
    });
    measure(std::string("long pairs of ") + element_type(t).name, 1, [&](gsort *g) {
      if (gsort_sort_pairs(g, t, keys.bytes().data(), out.bytes().data(), element_type(t).bits() / 8, values.data(),
                           values.data(), n, 0) != GSORT_OK)
        std::abort();
    });
    if (HasFailure()) return;
  }
}

// Partitions of unevenly spread keys go deep.
TEST_F(StackTest, LongPairsOfUnevenKeys) {
  for (const gsort_dtype t : {GSORT_U32, GSORT_F32, GSORT_U64, GSORT_F64}) {
    for (const Distribution distribution : {Distribution::kAnd1, Distribution::kAnd3, Distribution::kZipf}) {
      const uint64_t n = 2500000;
      const Array keys = generate(distribution, t, n, 1);
      Array keys_out = keys;
      std::vector<uint64_t> values(n), values_out(n);
      for (const uint32_t threads : {1u, 2u}) {
        measure(std::string("long pairs of ") + element_type(t).name + " " + distribution_name(distribution), threads,
                [&](gsort *g) {
                  const void *const in = keys.bytes().data();
                  const uint32_t value_bytes = element_type(t).bits() / 8;
                  if (gsort_sort_pairs(g, t, in, keys_out.bytes().data(), value_bytes, values.data(), values_out.data(),
                                       n, 0) != GSORT_OK ||
                      gsort_argsort(g, t, in, n, GSORT_U32, values_out.data(), GSORT_NAN_LAST) != GSORT_OK)
                    std::abort();
                });
        if (HasFailure()) return;
      }
    }
  }
}

// A wrong argument: an exception inside, and its sentence.
TEST_F(StackTest, Messages) {
  measure("a wrong argument", 1, [](gsort *g) {
    if (gsort_sort_u32(g, nullptr, 10, 0) != GSORT_ERROR_INVALID_ARGUMENT) std::abort();
  });
}

}  // namespace
}  // namespace gsort_test

// The library's threads are started through this one.
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                                     const pthread_attr_t *attributes,
                                                                     void *(*routine)(void *), void *argument) {
  using namespace gsort_test;
  const std::lock_guard<std::mutex> lock(stacks_mutex);
  if (stacks == nullptr || attributes != nullptr) {
    static const Create kSystems = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    return kSystems(thread, attributes, routine, argument);
  }
  stacks->push_back(std::make_unique<PaintedStack>());
  return create_on(stacks->back().get(), thread, routine, argument);
}
