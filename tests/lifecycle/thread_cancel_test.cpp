// SPDX-License-Identifier: MIT OR Apache-2.0
// pthread_cancel() of a thread inside a call: the call ends as if nothing had been asked, the thread ends at its own
// next cancellation point, and the handle is free for others.
#include <pthread.h>
#include <semaphore.h>

#include <cstdio>

#include "inputs/distributions.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

struct Call {
  gsort *g = nullptr;
  gsort *made = nullptr;
  Array keys;
  sem_t inside, go_on;
  gsort_status status = -1;
  int times_told = 0;
  bool passed_the_call = false;
  int state_after = -1;
};

// Tells that the call is on its way, and waits at what is a cancellation point elsewhere.
int32_t wait_inside(void *user, uint64_t, uint64_t) {
  auto *call = static_cast<Call *>(user);
  if (call->times_told++ == 0) {
    sem_post(&call->inside);
    sem_wait(&call->go_on);
  }
  return 0;
}

void end_here(Call *call) {
  call->passed_the_call = true;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &call->state_after);
  pthread_testcancel();
  std::puts("the thread was not cancelled");
}

void *sort_on_a_thread(void *user) {
  auto *call = static_cast<Call *>(user);
  call->status = gsort_sort_u32(call->g, reinterpret_cast<uint32_t *>(call->keys.bytes().data()), call->keys.size(), 0);
  end_here(call);
  return nullptr;
}

class ThreadCancel : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer does not clean up the stack of a thread that is cancelled";
#endif
    sem_init(&call_.inside, 0, 0);
    sem_init(&call_.go_on, 0, 0);
  }
  void TearDown() override {
    sem_destroy(&call_.inside);
    sem_destroy(&call_.go_on);
  }
  void join_cancelled(pthread_t thread) {
    void *result = nullptr;
    ASSERT_EQ(0, pthread_join(thread, &result));
    EXPECT_EQ(PTHREAD_CANCELED, result);
    EXPECT_TRUE(call_.passed_the_call) << "the thread ended inside the call";
    EXPECT_EQ(PTHREAD_CANCEL_ENABLE, call_.state_after);
  }
  Call call_;
};

TEST_F(ThreadCancel, InsideASort) {
  const Array keys = generate(Distribution::kUniform, GSORT_U32, 600000, 1);
  for (const uint32_t threads : {1u, 3u}) {
    const Handle handle(GSORT_BACKEND_CPU, threads);
    call_.g = handle.get();
    call_.keys = keys;
    call_.times_told = 0;
    call_.passed_the_call = false;
    ASSERT_EQ(GSORT_OK, gsort_set_progress(call_.g, wait_inside, &call_));
    pthread_t thread;
    ASSERT_EQ(0, pthread_create(&thread, nullptr, sort_on_a_thread, &call_));
    sem_wait(&call_.inside);
    pthread_cancel(thread);
    sem_post(&call_.go_on);
    join_cancelled(thread);
    EXPECT_EQ(GSORT_OK, call_.status);
    EXPECT_TRUE(same_elements(reference_sort(keys, 0), call_.keys));
    ASSERT_EQ(GSORT_OK, gsort_set_progress(call_.g, nullptr, nullptr));
    EXPECT_TRUE(same_elements(reference_sort(keys, 0), run_sort({call_.g}, keys, 0)));
  }
}

// The end of a handle waits for its threads, which is a cancellation point, too.
TEST_F(ThreadCancel, PendingWhileAHandleIsMadeUsedAndDestroyed) {
  const auto work = [](void *user) -> void * {
    auto *call = static_cast<Call *>(user);
    pthread_cancel(pthread_self());  // deferred: takes effect at the next cancellation point
    gsort_options options = default_options(GSORT_BACKEND_CPU);
    options.threads = 3;
    call->status = gsort_create(&options, &call->made);
    if (call->status == GSORT_OK)
      call->status =
          gsort_sort_u32(call->made, reinterpret_cast<uint32_t *>(call->keys.bytes().data()), call->keys.size(), 0);
    gsort_info info = {};
    info.struct_size = sizeof info;
    if (call->status == GSORT_OK) call->status = gsort_info_get(call->made, &info);
    gsort_destroy(call->made);
    end_here(call);
    return nullptr;
  };
  call_.keys = generate(Distribution::kUniform, GSORT_U32, 600000, 1);
  pthread_t thread;
  ASSERT_EQ(0, pthread_create(&thread, nullptr, work, &call_));
  join_cancelled(thread);
  EXPECT_EQ(GSORT_OK, call_.status);
}

// A thread that had switched cancellation off finds it off.
TEST_F(ThreadCancel, StaysOffWhereItWasOff) {
  const Handle handle(GSORT_BACKEND_CPU, 1);
  int before = -1;
  ASSERT_EQ(0, pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before));
  uint32_t keys[2] = {2, 1};
  EXPECT_EQ(GSORT_OK, gsort_sort_u32(handle.get(), keys, 2, 0));
  int after = -1;
  ASSERT_EQ(0, pthread_setcancelstate(before, &after));
  EXPECT_EQ(PTHREAD_CANCEL_DISABLE, after);
}

}  // namespace
}  // namespace gsort_test
