// SPDX-License-Identifier: MIT OR Apache-2.0
#include "faults/cuda_faults_fixture.h"

namespace gsort_test {
namespace {

constexpr Machine kMachines[] = {{"stand_in_device_arrays", false, ArrayPlace::kDevice},
                                 {"stand_in_host_arrays", false, ArrayPlace::kHost},
                                 {"cuda_device_arrays", true, ArrayPlace::kDevice},
                                 {"cuda_host_arrays", true, ArrayPlace::kHost}};
INSTANTIATE_TEST_SUITE_P(Machines, FaultTest, ::testing::ValuesIn(kMachines),
                         [](const auto &test) { return std::string(test.param.name); });

gsort_status status_of(cudaError_t error) {
  if (error == kSticky) return GSORT_ERROR_DEVICE_LOST;
  return error == kNoMemory ? GSORT_ERROR_OUT_OF_MEMORY : GSORT_ERROR_INTERNAL;
}

// Whether what could not be given back stays taken. Memory that was had and cannot be cleared goes back, unless from
// then on nothing does.
bool may_leak(const CallReport &report, const Kind &kind) {
  return is_one_of(report.failed, {"cudaFree", "cudaStreamDestroy", "cudaEventDestroy", "cudaHostUnregister"}) ||
         (kind.for_good &&
          is_one_of(report.failed, {"cudaStreamCreateWithFlags", "cudaMemsetAsync", "cudaStreamSynchronize"}));
}

void check_status(gsort *g, const CallReport &report, const Kind &kind, gsort_status status, Place place) {
  if (status != GSORT_OK) {
    EXPECT_EQ(status_of(kind.error), status) << gsort_error_message(g);
    EXPECT_STRNE("", gsort_error_message(g));
    return;
  }
  // Where memory is short, blocks of other streams are given back and it is asked for again, and host arrays are worked
  // in pieces.
  const bool in_growing = is_one_of(report.failed, {"cudaStreamSynchronize", "cudaMemsetAsync"});
  const bool asked_again =
      kind.error == kNoMemory && (report.failed == "cudaMalloc" || (in_growing && place == Place::kHost));
  EXPECT_TRUE(is_dispensable(report.failed) || asked_again) << "the failure went unnoticed";
}

}  // namespace

bool is_one_of(const std::string &name, std::initializer_list<const char *> names) {
  for (const char *each : names)
    if (name == each) return true;
  return false;
}

bool is_dispensable(const std::string &name) {
  return is_one_of(
      name, {"", "cudaThreadExchangeStreamCaptureMode", "cudaDriverGetVersion", "cudaStreamGetDevice", "cudaFree",
             "cudaSetDevice", "cudaHostRegister", "cudaHostUnregister", "cudaEventCreateWithFlags", "cudaEventDestroy",
             "cudaUserObjectCreate", "cudaGraphRetainUserObject", "cudaUserObjectRelease"});
}

CallReport FaultTest::run_with_fault(gsort *g, const Fault &fault, const Call &call, gsort_status *status) {
  const int device_before = current_device();
  arm(fault);
  *status = call(g);
  const CallReport report = disarm();
  EXPECT_EQ(cudaSuccess, take_last_error()) << "the application would see the library's error";
  // The second of each pair of these calls puts the thread's own back: if it fails, that cannot be done.
  const bool undone = !fault.for_good && report.failed_number % 2 == 1;
  if (report.failed != "cudaSetDevice" || undone) {
    EXPECT_TRUE(fault.for_good || device_before == current_device()) << "the thread is on another device";
  }
  if (report.failed != "cudaThreadExchangeStreamCaptureMode" || undone) {
    EXPECT_TRUE(fault.for_good || current_capture_mode() == cudaStreamCaptureModeGlobal) << "the mode was left changed";
  }
  restore_thread(device_before);
  return report;
}

void FaultTest::check_after(gsort *g, const CallReport &report, const Kind &kind, gsort_status status,
                            const Call &call) {
  gsort_status next = GSORT_OK;
  if (status == GSORT_ERROR_DEVICE_LOST) {
    const CallReport after = run_with_fault(g, {0, true, kOrdinary}, call, &next);
    EXPECT_EQ(GSORT_ERROR_DEVICE_LOST, next) << "a lost device must be remembered";
    EXPECT_EQ(0u, after.calls) << "a lost device must not be asked again";
    return;
  }
  EXPECT_TRUE(succeeded(g, call(g))) << "the next call";
  EXPECT_TRUE(succeeded(g, gsort_synchronize(g)));
  gsort_info info = {};
  info.struct_size = sizeof info;
  EXPECT_TRUE(succeeded(g, gsort_info_get(g, &info)));
  if (report.failed != "cudaFree" && !kind.for_good) {
    EXPECT_EQ(live_device_bytes() - bytes_at_first_, info.device_held_bytes);
  }
}

CallReport FaultTest::fail_one(const Scenario &scenario, const Kind &kind, uint64_t at) {
  gsort_options o = options();
  o.device_memory_limit_bytes = scenario.device_limit_bytes;
  const Handle handle(o);
  EXPECT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
  gsort *const g = handle.get();
  if (g == nullptr || (scenario.prepare && !succeeded(g, scenario.prepare(g)))) {
    ADD_FAILURE() << "not prepared: " << gsort_error_message(g);
    return {};
  }
  gsort_status status = GSORT_OK;
  const CallReport report = run_with_fault(g, {at, kind.for_good, kind.error}, scenario.call, &status);
  SCOPED_TRACE("failed: " + report.failed);
  check_status(g, report, kind, status, place());
  check_after(g, report, kind, status, scenario.call);
  EXPECT_TRUE(!scenario.intact || scenario.intact()) << "an input was changed";
  const bool look = real() && scenario.right && status != GSORT_ERROR_DEVICE_LOST;
  EXPECT_TRUE(!look || scenario.right()) << "the next call's result is wrong";
  return report;
}

void FaultTest::fail_in_turn(const Scenario &scenario, const Kind &kind) {
  bool reached = true;
  uint64_t at = 0;
  for (; reached && at < kCallsMax; at++) {
    SCOPED_TRACE(scenario.name + ", call " + std::to_string(at) + ", " + kind.name);
    begin_round();
    const CallReport report = fail_one(scenario, kind, at);
    reached = !report.failed.empty();
    ASSERT_TRUE(may_leak(report, kind) || nothing_leaked());
    if (HasFailure()) return;
  }
  EXPECT_FALSE(reached) << scenario.name << " never ended";
  EXPECT_GT(at, 2u) << scenario.name << " made hardly any call";
}

uint64_t FaultTest::fail_each(gsort *g, std::initializer_list<const char *> functions, cudaError_t error,
                              const Call &call,
                              const std::function<void(const CallReport &report, gsort_status status)> &look) {
  uint64_t seen = 0;
  // Counted function by function: how many calls of all functions lie before one depends on how long a call waits for a
  // notice, as it asks the stream meanwhile whether its work has ended.
  for (const char *const function : functions)
    for (uint64_t at = 0; at < kCallsMax && !HasFailure(); at++) {
      gsort_status status = GSORT_OK;
      const CallReport report = run_with_fault(g, {at, false, error, function}, call, &status);
      if (report.failed.empty()) break;
      look(report, status);
      ++seen;
    }
  return seen;
}

}  // namespace gsort_test
