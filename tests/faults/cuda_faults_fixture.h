// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls of the CUDA runtime that the library makes fail in turn, once and for good. Each time the status must be right,
// a sentence must say why, inputs and the application's CUDA state must be as before, nothing may leak, and the next
// call must succeed. Without a GPU a stand-in runs instead of the device; its kernels do nothing, so that there results
// are not looked at.
#ifndef GSORT_TESTS_FAULTS_CUDA_FAULTS_FIXTURE_H_
#define GSORT_TESTS_FAULTS_CUDA_FAULTS_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "faults/cuda_calls.h"
#include "lifecycle/operations.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {

constexpr uint64_t kCallsMax = 1500;  // more than any call of the library makes
constexpr cudaError_t kOrdinary = cudaErrorNotPermitted;
constexpr cudaError_t kNoMemory = cudaErrorMemoryAllocation;
constexpr cudaError_t kSticky = cudaErrorIllegalAddress;

struct Kind {
  const char *name;
  bool for_good;
  cudaError_t error;
};
// A device that has failed answers every later call with the same error.
constexpr Kind kKinds[] = {{"once", false, kOrdinary},
                           {"for good", true, kOrdinary},
                           {"once, out of memory", false, kNoMemory},
                           {"a lost device", true, kSticky}};

struct Machine {
  const char *name;  // "cuda_" marks those that need a GPU
  bool real;
  ArrayPlace arrays;
};

using Call = std::function<gsort_status(gsort *)>;

bool is_one_of(const std::string &name, std::initializer_list<const char *> names);
// What these would have done can be left undone: the call may succeed.
bool is_dispensable(const std::string &name);

class FaultTest : public ::testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    use_real_device();
    if (GetParam().real) {
      GSORT_SKIP_WITHOUT(GSORT_BACKEND_CUDA);
    } else {
      use_stand_in(GetParam().arrays);
    }
  }
  void TearDown() override { use_real_device(); }

  bool real() const { return GetParam().real; }
  Place place() const { return real() && GetParam().arrays == ArrayPlace::kDevice ? Place::kDevice : Place::kHost; }
  // The stand-in's second device, so that the thread's own is another.
  gsort_options options() const {
    gsort_options o = default_options(GSORT_BACKEND_CUDA);
    o.device = real() ? 0 : 1;
    o.threads = 1;  // calls come in one order
    return o;
  }
  // What an earlier round had to leave behind does not count.
  void begin_round() {
    bytes_at_first_ = live_device_bytes();
    streams_at_first_ = live_streams();
  }
  bool nothing_leaked() const { return live_device_bytes() == bytes_at_first_ && live_streams() == streams_at_first_; }

  // Runs call(g) with the fault and looks at all that must hold after any failure.
  CallReport run_with_fault(gsort *g, const Fault &fault, const Call &call, gsort_status *status);
  // What a handle must be after a failure.
  void check_after(gsort *g, const CallReport &report, const Kind &kind, gsort_status status, const Call &call);
  // Fails the first CUDA call of `call`, then the second, until it makes no more. `prepare` is done before, unharmed;
  // `intact` must hold afterwards, `right` after a call that succeeded.
  struct Scenario {
    std::string name;
    Call prepare, call;
    std::function<bool()> intact, right;
    uint64_t device_limit_bytes = 0;
  };
  void fail_in_turn(const Scenario &scenario, const Kind &kind);
  // The CUDA calls of `call` that are of these functions, each failing with the error, and what is to be looked at
  // then; returns how many they are.
  uint64_t fail_each(gsort *g, std::initializer_list<const char *> functions, cudaError_t error, const Call &call,
                     const std::function<void(const CallReport &report, gsort_status status)> &look);

 private:
  // One round of fail_in_turn(); returns what was made to fail.
  CallReport fail_one(const Scenario &scenario, const Kind &kind, uint64_t at);

  uint64_t bytes_at_first_ = 0;
  int streams_at_first_ = 0;
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_FAULTS_CUDA_FAULTS_FIXTURE_H_
