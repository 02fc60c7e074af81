// SPDX-License-Identifier: MIT OR Apache-2.0
// Signals that the library's threads cause by touching the caller's memory reach the caller's handler: a mapped file
// that became shorter, and pages that a handler makes readable when they are touched.
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "support/backend.h"

namespace gsort_test {
namespace {

constexpr size_t kPageBytes = 4096;

std::atomic<int> faults{0};
std::atomic<int> faults_on_other_threads{0};
long calling_thread = 0;

// Puts memory where none can be read and lets the thread go on.
void put_memory_there(int, siginfo_t *info, void *) {
  const auto page = reinterpret_cast<uintptr_t>(info->si_addr) & ~(kPageBytes - 1);
  mmap(reinterpret_cast<void *>(page), kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
       0);
  ++faults;
  if (syscall(SYS_gettid) != calling_thread) ++faults_on_other_threads;
}

class SignalTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    faults = 0;
    faults_on_other_threads = 0;
    calling_thread = syscall(SYS_gettid);
    struct sigaction action = {};
    action.sa_sigaction = put_memory_there;
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(0, sigaction(GetParam(), &action, &before_));
  }
  void TearDown() override { sigaction(GetParam(), &before_, nullptr); }
  struct sigaction before_ = {};
};

TEST_P(SignalTest, ReachesTheHandlerFromEveryThread) {
  const Handle handle(GSORT_BACKEND_CPU, 4);
  constexpr size_t kBytes = 4096 * kPageBytes;
  int protection = PROT_READ | PROT_WRITE;
  std::FILE *file = nullptr;
  if (GetParam() == SIGBUS) {
    file = std::tmpfile();
    ASSERT_NE(nullptr, file);
    ASSERT_EQ(0, ftruncate(fileno(file), kBytes));
  } else {
    protection = PROT_NONE;
  }
  const int flags = file != nullptr ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *const memory = mmap(nullptr, kBytes, protection, flags, file != nullptr ? fileno(file) : -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  if (file != nullptr) {
    ASSERT_EQ(0, ftruncate(fileno(file), 0));
  }
  uint64_t sum = 1;
  EXPECT_EQ(GSORT_OK, gsort_sum(handle.get(), GSORT_U8, memory, kBytes, &sum, 0));
  EXPECT_EQ(0u, sum);
  EXPECT_EQ(static_cast<int>(kBytes / kPageBytes), faults.load());
  EXPECT_GT(faults_on_other_threads.load(), 0);
  munmap(memory, kBytes);
  if (file != nullptr) std::fclose(file);
}

INSTANTIATE_TEST_SUITE_P(Signals, SignalTest, ::testing::Values(SIGBUS, SIGSEGV),
                         [](const auto &test) { return test.param == SIGBUS ? "SIGBUS" : "SIGSEGV"; });

}  // namespace
}  // namespace gsort_test
