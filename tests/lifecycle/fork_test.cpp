// SPDX-License-Identifier: MIT OR Apache-2.0
// A handle that came through fork() answers so in the child; a new one works there, and the parent's goes on.
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "inputs/distributions.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

// Runs the function in a child and returns the line at which a check failed, 0 for none, -1 for a crash or a hang.
template <typename Function>
int in_child(Function function) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(function());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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
  EXPECT_EQ(0, in_child(sort_with_a_new_handle));
  expect_parent_works();
}

TEST_P(ForkTest, ChildDestroysAndGoesOn) {
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

}  // namespace
}  // namespace gsort_test
