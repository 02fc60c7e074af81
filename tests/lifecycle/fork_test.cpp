// SPDX-License-Identifier: MIT OR Apache-2.0
// A handle that came through fork() answers so in the child; a new one works there, and the parent's goes on.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include "inputs/samples.h"
#include "support/backend.h"
#include "support/run.h"

#if defined(__SANITIZE_THREAD__)
#define GSORT_TESTS_NO_THREADS_IN_CHILD 1  // ThreadSanitizer ends a forked child that starts a thread
#else
#define GSORT_TESTS_NO_THREADS_IN_CHILD 0
#endif

namespace gsort_test {
namespace {

// Runs the function in a child and returns the line at which a check failed, 0 for none, -1 for a crash or a hang.
template <typename Function>
pid_t start_child(Function function) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(function());
  }
  return child;
}
int end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
template <typename Function>
int in_child(Function function) {
  return end_of(start_child(function));
}

#define CHILD_CHECK(condition) \
  if (!(condition)) return __LINE__ % 250 + 1

int use_in_child(gsort *g) {
  uint32_t keys[3] = {3, 1, 2};
  uint64_t sum = 77;
  CHILD_CHECK(gsort_sort_u32(g, keys, 3, 0) == GSORT_ERROR_FORKED);
  CHILD_CHECK(keys[0] == 3 && keys[1] == 1 && keys[2] == 2);
  CHILD_CHECK(gsort_error_message(g)[0] != '\0');
  CHILD_CHECK(gsort_sum(g, GSORT_U32, keys, 3, &sum, 0) == GSORT_ERROR_FORKED);
  CHILD_CHECK(sum == 77);
  CHILD_CHECK(gsort_synchronize(g) == GSORT_ERROR_FORKED);
  CHILD_CHECK(gsort_set_progress(g, nullptr, nullptr) == GSORT_ERROR_FORKED);
  CHILD_CHECK(gsort_cancel(g) == GSORT_ERROR_FORKED);
  CHILD_CHECK(gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, 100, 0) == GSORT_ERROR_FORKED);
  gsort_info info = {};
  info.struct_size = sizeof info;
  CHILD_CHECK(gsort_info_get(g, &info) == GSORT_ERROR_FORKED);
  gsort_destroy(g);
  return 0;
}

int sort_with_a_new_handle() {
  gsort_options options = default_options(GSORT_BACKEND_CPU);
  options.threads = 3;
  gsort *g = nullptr;
  CHILD_CHECK(gsort_create(&options, &g) == GSORT_OK);
  const Array keys = generate(Distribution::kUniform, GSORT_U32, 200000, 1);
  Array out = keys;
  CHILD_CHECK(gsort_sort_u32(g, reinterpret_cast<uint32_t *>(out.bytes().data()), out.size(), 0) == GSORT_OK);
  CHILD_CHECK(out.bytes() == reference_sort(keys, 0).bytes());
  gsort_destroy(g);
  return 0;
}

class ForkTest : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    owned_ = std::make_unique<Handle>(backend(), 3);
    ASSERT_EQ(GSORT_OK, owned_->status());
    // Threads and memory are there before the fork.
    run_sort({owned_->get(), place()}, keys_, 0);
  }
  void expect_parent_works() {
    EXPECT_TRUE(same_elements(reference_sort(keys_, 0), run_sort({owned_->get(), place()}, keys_, 0)));
  }
  std::unique_ptr<Handle> owned_;
  const Array keys_ = generate(Distribution::kUniform, GSORT_U32, 300000, 1);
};

TEST_P(ForkTest, ChildIsTold) {
  EXPECT_EQ(0, in_child([&] { return use_in_child(owned_->get()); }));
  expect_parent_works();
}

TEST_P(ForkTest, ChildMakesItsOwn) {
  if (GSORT_TESTS_NO_THREADS_IN_CHILD) GTEST_SKIP() << "a child may not start threads here";
  EXPECT_EQ(0, in_child(sort_with_a_new_handle));
  expect_parent_works();
}

TEST_P(ForkTest, ChildDestroysAndGoesOn) {
  if (GSORT_TESTS_NO_THREADS_IN_CHILD) GTEST_SKIP() << "a child may not start threads here";
  EXPECT_EQ(0, in_child([&] {
              gsort_destroy(owned_->get());
              return sort_with_a_new_handle();
            }));
  expect_parent_works();
}

TEST_P(ForkTest, GrandchildToo) {
  EXPECT_EQ(0, in_child([&] { return in_child([&] { return use_in_child(owned_->get()); }); }));
  expect_parent_works();
}

GSORT_INSTANTIATE_BACKENDS(ForkTest);

int sort_a_little_with_a_new_handle() {
  gsort_options options = default_options(GSORT_BACKEND_CPU);
  options.threads = 2;
  gsort *g = nullptr;
  CHILD_CHECK(gsort_create(&options, &g) == GSORT_OK);
  uint32_t keys[5] = {5, 3, 1, 4, 2};
  CHILD_CHECK(gsort_sort_u32(g, keys, 5, 0) == GSORT_OK);
  for (uint32_t i = 0; i < 5; i++) CHILD_CHECK(keys[i] == i + 1);
  uint64_t sum = 0;
  std::vector<uint8_t> many(530000, 2);  // on both threads
  CHILD_CHECK(gsort_sum(g, GSORT_U8, many.data(), many.size(), &sum, 0) == GSORT_OK);
  CHILD_CHECK(sum == 1060000);
#if __GNUC__ >= 12 || defined(__clang__)  // the runtime of GCC before 12 takes the loader's lock by itself
  // A failure is an exception inside, whose way to its handler is looked up.
  CHILD_CHECK(gsort_sort_u32(g, nullptr, 5, 0) == GSORT_ERROR_INVALID_ARGUMENT);
#endif
  gsort_destroy(g);
  return 0;
}

// Locks that threads of the parent hold at the fork stay locked in the child. Calls so short that they spend their time
// with checks show such a lock within some hundred forks.
TEST(BusyFork, ChildIsNotHeldUpByCallsOfTheParent) {
  if (GSORT_TESTS_NO_THREADS_IN_CHILD) GTEST_SKIP() << "a child may not start threads here";
  constexpr uint64_t kChildrenAtOnce = 16;
  const char *const asked = std::getenv("GSORT_FORKS");  // for long runs
  const uint64_t forks = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 2000 * rounds();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++) {
    threads.emplace_back([&stop] {
      const Handle own(GSORT_BACKEND_CPU, 1);
      for (uint32_t round = 0; !stop; round++) {
        uint32_t keys[4] = {4, round, 2, 1};
        uint64_t offsets[3] = {0, 2, 4};
        gsort_sort_u32(own.get(), keys, 4, 0);
        gsort_sort_segments(own.get(), GSORT_U32, keys, keys, 4, offsets, 2, 0);
        gsort_sort_u32(own.get(), nullptr, 4, 0);  // an exception inside, a message
      }
    });
  }
  int wrong = 0;
  for (uint64_t i = 0; i < forks && wrong == 0; i += kChildrenAtOnce) {
    pid_t children[kChildrenAtOnce];
    for (pid_t &child : children) child = start_child(sort_a_little_with_a_new_handle);
    for (const pid_t child : children) {
      const int line = end_of(child);
      if (line != 0) wrong++;
      EXPECT_EQ(0, line) << "after " << i << " forks";
    }
  }
  stop = true;
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace gsort_test
