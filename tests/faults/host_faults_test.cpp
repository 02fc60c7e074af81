// SPDX-License-Identifier: MIT OR Apache-2.0
// Every request of the library for memory, a thread or a file is refused in turn, once and for good, on a CPU handle
// with the library's own allocator. The status must be right, inputs intact, nothing may leak, a call that says it
// succeeded must be right, and so must the next one.
#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <fstream>

#include "faults/host_calls.h"
#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

constexpr uint64_t kRequestsMax = 500;

// These are answered by an exception or a status; of the others the library says that it can do without.
bool is_needed(const std::string &name) { return name == "_Znwm" || name == "aligned_alloc"; }

void block_no_signal() {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

// Worker threads block all signals; the caller's thread blocks none, before and after.
bool no_signal_is_blocked() {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigisemptyset(&blocked) == 1;
}

// False if the operation had all that it asked for.
bool refuse_one(const NamedOperation &operation, const Arrays &arrays, const Bytes &want, uint64_t at, bool for_good) {
  const int64_t blocks_before = live_host_blocks();
  std::string refused;
  {
    const Handle handle(GSORT_BACKEND_CPU, 3);
    gsort *const g = handle.get();
    EXPECT_NE(nullptr, g);
    arm_host(at, for_good);
    const gsort_status status = operation.run(g, arrays);
    refused = disarm_host();
    SCOPED_TRACE("refused: " + refused);
    if (status == GSORT_OK) {
      // A thread's own state is memory too: without it there are fewer threads.
      EXPECT_EQ(want, operation.result(arrays)) << "said to have succeeded";
    } else {
      EXPECT_TRUE(for_good || is_needed(refused));
      EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, status) << gsort_error_message(g);
      EXPECT_STRNE("", gsort_error_message(g));
    }
    EXPECT_TRUE(refused != "aligned_alloc" || status != GSORT_OK) << "the failure went unnoticed";
    EXPECT_TRUE(arrays.inputs_intact());
    // The call that would let them through again may be the one that was refused.
    if (refused == "pthread_sigmask" || for_good) block_no_signal();
    EXPECT_TRUE(no_signal_is_blocked());
    EXPECT_TRUE(succeeded(g, operation.run(g, arrays))) << "the next call";
    EXPECT_EQ(want, operation.result(arrays)) << "the next call";
  }
  EXPECT_EQ(blocks_before, live_host_blocks()) << "scratch memory was kept";
  return !refused.empty();
}

TEST(HostFaults, EveryOperation) {
  block_no_signal();
  // The second is enough for scratch memory of several large pages.
  for (const uint64_t n : {uint64_t{1000}, uint64_t{600000}}) {
    const Arrays arrays(Place::kHost, generate(Distribution::kSmallRange, GSORT_F64, n, 1));
    for (const NamedOperation &operation : all_operations()) {
      {  // While a handle lives that has threads, others start none.
        const Handle reference(GSORT_BACKEND_CPU);
        ASSERT_TRUE(succeeded(reference.get(), operation.run(reference.get(), arrays)));
      }
      const Bytes want = operation.result(arrays);
      for (const bool for_good : {false, true}) {
        uint64_t at = 0;
        for (; at < kRequestsMax; at++) {
          SCOPED_TRACE(std::string(operation.name) + " of " + std::to_string(n) + ", request " + std::to_string(at) +
                       (for_good ? " and all after it" : ""));
          const bool reached = refuse_one(operation, arrays, want, at, for_good);
          if (HasFatalFailure() || HasNonfatalFailure()) return;
          if (!reached) break;
        }
        EXPECT_LT(at, kRequestsMax) << operation.name << " never ended";
      }
    }
  }
}

TEST(HostFaults, CreateAndInfo) {
  for (const bool for_good : {false, true}) {
    for (uint64_t at = 0;; at++) {
      gsort *g = nullptr;
      const gsort_options options = default_options(GSORT_BACKEND_CPU);
      arm_host(at, for_good);
      const gsort_status status = gsort_create(&options, &g);
      const std::string refused = disarm_host();
      SCOPED_TRACE(refused);
      EXPECT_EQ(g != nullptr, status == GSORT_OK);
      if (g == nullptr) {
        EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, status);
        EXPECT_STRNE("", gsort_error_message(nullptr));
      }
      const bool memory = is_needed(refused) || refused == "_ZnwmRKSt9nothrow_t";
      EXPECT_EQ(memory, status != GSORT_OK);
      gsort_destroy(g);
      ASSERT_LT(at, 50u);
      if (refused.empty()) break;
    }
  }
  const Handle handle(GSORT_BACKEND_CPU);
  gsort_info info = {};
  info.struct_size = sizeof info;
  arm_host(0, true);
  const gsort_status status = gsort_info_get(handle.get(), &info);
  EXPECT_EQ("fopen", disarm_host());
  EXPECT_EQ(GSORT_OK, status);
  EXPECT_STREQ("CPU", info.device_name);
}

// After all tests: everything on the list was refused at least once.
class EverythingRefused : public ::testing::Environment {
 public:
  void TearDown() override {
    if (::testing::GTEST_FLAG(filter) != "*" && ::testing::GTEST_FLAG(filter) != "-*cuda_*") return;
    std::ifstream list(GSORT_HOST_CALLS);
    int count = 0;
    for (std::string line; std::getline(list, line);) {
      if (line.empty() || line[0] == '#') continue;
      count++;
      EXPECT_EQ(1u, failed_host_functions().count(line)) << line << " was never refused";
    }
    EXPECT_GT(count, 5);
    std::printf("%llu requests to %d functions of the system were refused\n",
                static_cast<unsigned long long>(host_failures_made()), count);
  }
};
const ::testing::Environment *const kEverythingRefused = ::testing::AddGlobalTestEnvironment(new EverythingRefused);

}  // namespace
}  // namespace gsort_test
