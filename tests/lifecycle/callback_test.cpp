// SPDX-License-Identifier: MIT OR Apache-2.0
// Exceptions that leave a function of the caller's: caught inside the library, answered with a status, and the handle
// goes on. The exception travels from this program's C++ runtime through the library's own, and must leave no trace in
// either.
#include <cxxabi.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

// An exception with a base class, memory of its own and a destructor that is counted.
struct Counted : std::runtime_error {
  explicit Counted(const std::string &text) : std::runtime_error(text) { ++alive; }
  Counted(const Counted &other) : std::runtime_error(other) { ++alive; }
  ~Counted() override { --alive; }
  static std::atomic<int> alive;
};
std::atomic<int> Counted::alive{0};

enum class Kind { kClass, kNumber, kBadAlloc };
constexpr Kind kKinds[] = {Kind::kClass, Kind::kNumber, Kind::kBadAlloc};
constexpr uint64_t kItems = (1 << 19) + 5;  // three chunks, on several threads

[[noreturn]] void throw_one(Kind kind) {
  if (kind == Kind::kNumber) throw 17;
  if (kind == Kind::kBadAlloc) throw std::bad_alloc();
  throw Counted("thrown by a function of the caller's, with a text too long for any string's own room");
}

struct Thrower {
  Kind kind;
  uint64_t at;
  std::atomic<uint64_t> calls{0};
  std::atomic<bool> armed{true};
  bool threw() const { return armed && calls > at; }
  void call() {
    if (armed && calls++ == at) throw_one(kind);
  }
};

int32_t progress(void *user, uint64_t, uint64_t) {
  static_cast<Thrower *>(user)->call();
  return 0;
}
void log_line(void *user, const char *) { static_cast<Thrower *>(user)->call(); }
void *allocate(void *user, uint64_t bytes, uint64_t alignment) {
  static_cast<Thrower *>(user)->call();
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void deallocate(void *, void *memory, uint64_t) { std::free(memory); }
void *allocate_quietly(void *, uint64_t bytes, uint64_t alignment) {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void deallocate_and_throw(void *user, void *memory, uint64_t) {
  std::free(memory);
  static_cast<Thrower *>(user)->call();
}

// The runtime of this program counts so many exceptions that are on their way. Where that runtime is linked into the
// program, and none of its symbols exported, the library cannot put the count right, as gsort.h says.
void expect_uncaught(int count) {
  using Getter = void *();
  void *const getter = dlsym(RTLD_DEFAULT, "__cxa_get_globals");
  static const bool is_found = getter != nullptr && reinterpret_cast<Getter *>(getter)() == abi::__cxa_get_globals();
  if (is_found) {
    EXPECT_EQ(count, std::uncaught_exceptions());
  }
}

// The runtime of this program knows of no exception that is on its way, and throws and catches as before.
void expect_no_trace() {
  expect_uncaught(0);
  EXPECT_EQ(nullptr, std::current_exception());
  EXPECT_EQ(0, Counted::alive);
  bool caught = false;
  try {
    throw_one(Kind::kClass);
  } catch (const std::runtime_error &) {
    caught = true;
    expect_uncaught(0);
  }
  EXPECT_TRUE(caught);
  EXPECT_EQ(0, Counted::alive);
}

class CallbackTest : public BackendTest {
 protected:
  const Arrays arrays_{Place::kHost, generate(Distribution::kUniform, GSORT_F32, kItems, 3)};

  // Asked for once: it is the same in every test.
  const Bytes &expected(const NamedOperation &operation) const {
    static std::map<std::pair<uint32_t, std::string>, Bytes> known;
    const auto [place, is_new] = known.try_emplace({backend(), operation.name});
    if (is_new) {
      EXPECT_TRUE(succeeded(handle(), operation.run(handle(), arrays_)));
      place->second = operation.result(arrays_);
    }
    return place->second;
  }
  // The next call, without an exception, is right.
  void expect_usable(gsort *g, const NamedOperation &operation, const Bytes &want) const {
    EXPECT_TRUE(succeeded(g, operation.run(g, arrays_)));
    EXPECT_EQ(want, operation.result(arrays_)) << operation.name;
  }
};

TEST_P(CallbackTest, ProgressThrows) {
  for (const NamedOperation &operation : all_operations()) {
    const Bytes &want = expected(operation);
    for (const uint32_t threads : {1u, 3u}) {
      const Handle own(backend(), threads);
      for (const uint64_t at : {uint64_t{0}, uint64_t{2}}) {
        SCOPED_TRACE(std::string(operation.name) + ", call " + std::to_string(at));
        Thrower thrower{kKinds[(threads + at) % 3], at};
        ASSERT_TRUE(succeeded(own.get(), gsort_set_progress(own.get(), progress, &thrower)));
        const gsort_status status = operation.run(own.get(), arrays_);
        if (thrower.threw()) {
          EXPECT_EQ(GSORT_ERROR_CANCELLED, status) << gsort_status_name(status);
          EXPECT_NE(std::string::npos, std::string(gsort_error_message(own.get())).find("exception"));
        } else {
          EXPECT_TRUE(at > 0 || backend() == GSORT_BACKEND_CUDA) << "progress was never told";
          EXPECT_EQ(GSORT_OK, status);
        }
        expect_no_trace();
        EXPECT_TRUE(arrays_.inputs_intact());
        ASSERT_TRUE(succeeded(own.get(), gsort_set_progress(own.get(), nullptr, nullptr)));
        expect_usable(own.get(), operation, want);
      }
    }
  }
}

// In the middle of the work on several threads: they must be done with the call's memory before it returns.
TEST_P(CallbackTest, InPlaceSortKeepsItsKeys) {
  const Array keys = generate(Distribution::kUniform, GSORT_U64, 600000, 1);
  const Array sorted = reference_sort(keys, 0);
  const Handle own(backend(), 4);
  for (uint64_t at = 0; at < 8; at += 1 + at / 3) {
    Thrower thrower{Kind::kClass, at};
    ASSERT_TRUE(succeeded(own.get(), gsort_set_progress(own.get(), progress, &thrower)));
    Array in_place = keys;
    auto *data = reinterpret_cast<uint64_t *>(in_place.bytes().data());
    const gsort_status status = gsort_sort_u64(own.get(), data, keys.size(), 0);
    EXPECT_EQ(thrower.threw() ? GSORT_ERROR_CANCELLED : GSORT_OK, status) << gsort_status_name(status);
    EXPECT_TRUE(same_elements(sorted, reference_sort(in_place, 0))) << "must be a permutation of the input";
  }
  expect_no_trace();
}

TEST_P(CallbackTest, LogThrows) {
  for (const Kind kind : kKinds) {
    Thrower thrower{kind, 0};
    thrower.armed = false;
    gsort_options options = default_options(backend());
    options.threads = 3;
    options.log = log_line;
    options.log_user = &thrower;
    const Handle own(options);
    ASSERT_EQ(GSORT_OK, own.status());
    for (const NamedOperation &operation : all_operations()) {
      SCOPED_TRACE(operation.name);
      const Bytes &want = expected(operation);
      thrower.calls = 0;
      thrower.armed = true;
      const gsort_status status = operation.run(own.get(), arrays_);
      EXPECT_EQ(thrower.threw() ? GSORT_ERROR_CANCELLED : GSORT_OK, status) << gsort_status_name(status);
      thrower.armed = false;
      expect_no_trace();
      EXPECT_TRUE(arrays_.inputs_intact());
      expect_usable(own.get(), operation, want);
    }
  }
}

TEST_P(CallbackTest, LogThrowsWhileAHandleIsMade) {
  Thrower thrower{Kind::kClass, 0};
  gsort_options options = default_options(backend());
  options.log = log_line;
  options.log_user = &thrower;
  gsort *g = reinterpret_cast<gsort *>(&thrower);
  EXPECT_EQ(GSORT_ERROR_CANCELLED, gsort_create(&options, &g));
  EXPECT_EQ(nullptr, g);
  EXPECT_NE(std::string::npos, std::string(gsort_error_message(nullptr)).find("exception"));
  expect_no_trace();
}

TEST_P(CallbackTest, AllocatorThrows) {
  if (backend() == GSORT_BACKEND_CUDA) GTEST_SKIP() << "host scratch memory is the CPU engine's";
  for (const NamedOperation &operation : all_operations()) {
    const Bytes &want = expected(operation);
    for (uint64_t at = 0; at < 6; at++) {
      SCOPED_TRACE(std::string(operation.name) + ", allocation " + std::to_string(at));
      Thrower thrower{kKinds[at % 3], at};
      gsort_options options = default_options(backend());
      options.threads = 3;
      options.host_allocate = allocate;
      options.host_deallocate = deallocate;
      options.allocator_user = &thrower;
      const Handle own(options);
      ASSERT_EQ(GSORT_OK, own.status());
      const gsort_status status = operation.run(own.get(), arrays_);
      EXPECT_EQ(thrower.threw() ? GSORT_ERROR_OUT_OF_MEMORY : GSORT_OK, status) << gsort_status_name(status);
      thrower.armed = false;
      expect_no_trace();
      EXPECT_TRUE(arrays_.inputs_intact());
      expect_usable(own.get(), operation, want);
    }
  }
}

// Nothing can be told of memory that is given back: the exception ends there.
TEST_P(CallbackTest, DeallocatorThrows) {
  if (backend() == GSORT_BACKEND_CUDA) GTEST_SKIP() << "host scratch memory is the CPU engine's";
  for (const NamedOperation &operation : all_operations()) {
    SCOPED_TRACE(operation.name);
    const Bytes &want = expected(operation);
    Thrower thrower{Kind::kClass, 0};
    gsort_options options = default_options(backend());
    options.host_allocate = allocate_quietly;
    options.host_deallocate = deallocate_and_throw;
    options.allocator_user = &thrower;
    const Handle own(options);
    EXPECT_TRUE(succeeded(own.get(), operation.run(own.get(), arrays_)));
    EXPECT_EQ(want, operation.result(arrays_));
    expect_no_trace();
    gsort_info info = {};
    info.struct_size = sizeof info;
    ASSERT_TRUE(succeeded(own.get(), gsort_info_get(own.get(), &info)));
    EXPECT_EQ(0u, info.host_held_bytes);
  }
}

// A call out of a handler and out of a destructor that runs for another exception: both stay as they are.
TEST_P(CallbackTest, InsideAnotherException) {
  Thrower thrower{Kind::kClass, 0};
  const Handle own(backend(), 2);
  struct AtUnwinding {
    const Handle &own;
    Thrower &thrower;
    ~AtUnwinding() {
      expect_uncaught(1);
      uint64_t sum = 0;
      uint32_t keys[3] = {1, 2, 3};
      gsort_set_progress(own.get(), progress, &thrower);
      thrower.calls = 0;
      EXPECT_EQ(GSORT_ERROR_CANCELLED, gsort_sum(own.get(), GSORT_U32, keys, 3, &sum, 0));
      expect_uncaught(1);
    }
  };
  if (backend() == GSORT_BACKEND_CUDA) GTEST_SKIP() << "short work on host memory tells no progress there";
  try {
    const AtUnwinding at_unwinding{own, thrower};
    throw std::string("the first");
  } catch (const std::string &first) {
    uint64_t sum = 0;
    const uint32_t keys[3] = {1, 2, 3};
    thrower.calls = 0;
    EXPECT_EQ(GSORT_ERROR_CANCELLED, gsort_sum(own.get(), GSORT_U32, keys, 3, &sum, 0));
    EXPECT_EQ("the first", first);
    EXPECT_NE(nullptr, std::current_exception());
  }
  expect_no_trace();
}

GSORT_INSTANTIATE_BACKENDS(CallbackTest);

}  // namespace
}  // namespace gsort_test
