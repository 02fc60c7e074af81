// SPDX-License-Identifier: MIT OR Apache-2.0
// Every call of the CUDA runtime that the library makes fails in turn, once and for good. Each time the status must be
// right, a sentence must say why, inputs and the application's CUDA state must be as before, nothing may leak, and the
// next call must succeed. Without a GPU a stand-in runs instead of the device; its kernels do nothing, so that there
// results are not looked at.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <vector>

#include "faults/cuda_calls.h"
#include "lifecycle/operations.h"
#include "reference/sorting.h"
#include "support/backend.h"
#include "support/run.h"

namespace gsort_test {
namespace {

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
constexpr Machine kMachines[] = {{"stand_in_device_arrays", false, ArrayPlace::kDevice},
                                 {"stand_in_host_arrays", false, ArrayPlace::kHost},
                                 {"cuda_device_arrays", true, ArrayPlace::kDevice},
                                 {"cuda_host_arrays", true, ArrayPlace::kHost}};

using Call = std::function<gsort_status(gsort *)>;

bool is_one_of(const std::string &name, std::initializer_list<const char *> names) {
  for (const char *each : names)
    if (name == each) return true;
  return false;
}

// What these would have done can be left undone: the call may succeed.
bool is_dispensable(const std::string &name) {
  return is_one_of(
      name, {"", "cudaThreadExchangeStreamCaptureMode", "cudaDriverGetVersion", "cudaStreamGetDevice", "cudaFree",
             "cudaSetDevice", "cudaHostRegister", "cudaHostUnregister", "cudaEventCreateWithFlags", "cudaEventDestroy",
             "cudaUserObjectCreate", "cudaGraphRetainUserObject", "cudaUserObjectRelease"});
}

gsort_status status_of(cudaError_t error) {
  if (error == kSticky) return GSORT_ERROR_DEVICE_LOST;
  return error == kNoMemory ? GSORT_ERROR_OUT_OF_MEMORY : GSORT_ERROR_INTERNAL;
}

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

 private:
  uint64_t bytes_at_first_ = 0;
  int streams_at_first_ = 0;
};

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

void FaultTest::fail_in_turn(const Scenario &scenario, const Kind &kind) {
  bool reached = true;
  uint64_t at = 0;
  for (; reached && at < kCallsMax; at++) {
    SCOPED_TRACE(scenario.name + ", call " + std::to_string(at) + ", " + kind.name);
    begin_round();
    bool may_leak = false;
    {
      gsort_options o = options();
      o.device_memory_limit_bytes = scenario.device_limit_bytes;
      const Handle handle(o);
      ASSERT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
      gsort *const g = handle.get();
      ASSERT_TRUE(!scenario.prepare || succeeded(g, scenario.prepare(g)));
      gsort_status status = GSORT_OK;
      const CallReport report = run_with_fault(g, {at, kind.for_good, kind.error}, scenario.call, &status);
      SCOPED_TRACE("failed: " + report.failed);
      reached = !report.failed.empty();
      // Memory that was had and cannot be cleared goes back, unless from then on nothing does.
      may_leak =
          is_one_of(report.failed, {"cudaFree", "cudaStreamDestroy", "cudaEventDestroy", "cudaHostUnregister"}) ||
          (kind.for_good &&
           is_one_of(report.failed, {"cudaStreamCreateWithFlags", "cudaMemsetAsync", "cudaStreamSynchronize"}));
      if (status != GSORT_OK) {
        EXPECT_EQ(status_of(kind.error), status) << gsort_error_message(g);
        EXPECT_STRNE("", gsort_error_message(g));
      } else {
        // Where memory is short, blocks of other streams are given back and it is asked for again, and host arrays are
        // worked in pieces.
        const bool in_growing = is_one_of(report.failed, {"cudaStreamSynchronize", "cudaMemsetAsync"});
        const bool asked_again =
            kind.error == kNoMemory && (report.failed == "cudaMalloc" || (in_growing && place() == Place::kHost));
        EXPECT_TRUE(is_dispensable(report.failed) || asked_again) << "the failure went unnoticed";
      }
      check_after(g, report, kind, status, scenario.call);
      EXPECT_TRUE(!scenario.intact || scenario.intact()) << "an input was changed";
      const bool look = real() && scenario.right && status != GSORT_ERROR_DEVICE_LOST;
      EXPECT_TRUE(!look || scenario.right()) << "the next call's result is wrong";
    }
    ASSERT_TRUE(may_leak || nothing_leaked());
    if (HasFailure()) return;
  }
  EXPECT_FALSE(reached) << scenario.name << " never ended";
  EXPECT_GT(at, 2u) << scenario.name << " made hardly any call";
}

TEST_P(FaultTest, EveryOperation) {
  for (const uint64_t n : {uint64_t{3000}, uint64_t{60000}, uint64_t{600000}}) {
    const Array input = generate(Distribution::kSmallRange, GSORT_F32, n, 1);
    const Arrays arrays(place(), input);
    const Arrays small(place(), generate(Distribution::kSmallRange, GSORT_F32, 100, 1));
    const Arrays reference(Place::kHost, input);
    for (const NamedOperation &operation : all_operations()) {
      ASSERT_TRUE(succeeded(nullptr, operation.run(shared_handle(GSORT_BACKEND_CPU), reference)));
      const Bytes want = operation.result(reference);
      const NamedOperation &first = all_operations()[1];  // takes some workspace, which must then grow
      const Scenario scenario = {
          std::string(operation.name) + " of " + std::to_string(n), [&](gsort *g) { return first.run(g, small); },
          [&](gsort *g) { return operation.run(g, arrays); }, [&] { return arrays.inputs_intact(); },
          [&] { return operation.result(arrays) == want; }};
      for (const Kind &kind : kKinds) {
        if (n > 100000 && &kind != &kKinds[0]) continue;
        fail_in_turn(scenario, kind);
        if (HasFailure()) return;
      }
    }
  }
}

// Host arrays that the device may not hold at once.
TEST_P(FaultTest, EveryOperationInPieces) {
  if (GetParam().arrays == ArrayPlace::kDevice) GTEST_SKIP() << "device arrays are never worked in pieces";
  const Array input = generate(Distribution::kSmallRange, GSORT_U32, 120000, 1);
  const Arrays arrays(place(), input);
  const Arrays reference(Place::kHost, input);
  for (const NamedOperation &operation : all_operations()) {
    ASSERT_TRUE(succeeded(nullptr, operation.run(shared_handle(GSORT_BACKEND_CPU), reference)));
    const Bytes want = operation.result(reference);
    const Scenario scenario = {
        std::string(operation.name) + " in pieces",         nullptr,
        [&](gsort *g) { return operation.run(g, arrays); }, [&] { return arrays.inputs_intact(); },
        [&] { return operation.result(arrays) == want; },   uint64_t{3} << 19};
    for (const Kind &kind : kKinds) {
      if (&kind != &kKinds[0] && kind.error != kSticky) continue;  // every call is a long one
      fail_in_turn(scenario, kind);
      if (HasFailure()) return;
    }
    if (real()) continue;
    use_stand_in(ArrayPlace::kRegistered);  // which are copied many at a time
    fail_in_turn(scenario, kKinds[0]);
    use_stand_in(GetParam().arrays);
    if (HasFailure()) return;
  }
}

// A driver that cannot copy many arrays at a time is asked to copy one after the other.
TEST(Pieces, DriversThatCopyOneAtATime) {
  constexpr uint64_t n = 300000;
  use_stand_in(ArrayPlace::kRegistered);
  std::vector<uint32_t> keys(n, 5);
  const int device = current_device();
  uint32_t refused = 0;
  CallReport report;
  for (uint64_t at = 0; at == 0 || !report.failed.empty(); ++at) {
    gsort_options options = default_options(GSORT_BACKEND_CUDA);
    options.device_memory_limit_bytes = uint64_t{1} << 20;
    options.threads = 1;
    const Handle handle(options);
    ASSERT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
    arm({at, false, cudaErrorNotSupported});
    const gsort_status status = gsort_sort(handle.get(), GSORT_U32, keys.data(), keys.data(), n, 0);
    report = disarm();
    EXPECT_EQ(cudaSuccess, take_last_error());
    restore_thread(device);  // as EveryOperation says, a call that puts it back may be the one that failed
    if (report.failed != "cudaMemcpyBatchAsync") continue;
    ++refused;
    EXPECT_TRUE(succeeded(handle.get(), status));
    EXPECT_EQ(n, static_cast<uint64_t>(std::count(keys.begin(), keys.end(), 5u)));
  }
  EXPECT_GT(refused, 3u);
  use_real_device();
}

// Exceptions that leave the caller's functions for device memory end inside the library.
TEST_P(FaultTest, DeviceAllocatorThatThrows) {
  static bool armed;
  gsort_options o = options();
  o.device_allocate = [](void *, uint64_t bytes, uint64_t) -> void * {
    void *memory = nullptr;
    if (armed) throw 1;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
  };
  o.device_deallocate = [](void *, void *memory, uint64_t) {
    (void)cudaFree(memory);
    if (armed) throw 2;
  };
  const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, 60000, 1));
  armed = false;
  {
    const Handle handle(o);
    armed = true;
    EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, all_operations()[1].run(handle.get(), arrays));
    EXPECT_STRNE("", gsort_error_message(handle.get()));
    EXPECT_TRUE(arrays.inputs_intact());
    armed = false;
    EXPECT_TRUE(succeeded(handle.get(), all_operations()[1].run(handle.get(), arrays)));
    EXPECT_TRUE(succeeded(handle.get(), gsort_synchronize(handle.get())));
    armed = true;  // gives back at its end
  }
  armed = false;
}

// What a launch can answer that asks for too much.
constexpr cudaError_t kDoNotFit[] = {cudaErrorCooperativeLaunchTooLarge, cudaErrorLaunchOutOfResources,
                                     cudaErrorInvalidClusterSize};

// Where blocks that must be resident together do not fit, as under a service that shares the device out, the call is
// planned for less. Any other launch that does not fit is a failure of the call.
TEST_P(FaultTest, LaunchesThatDoNotFit) {
  const Arrays arrays(place(), generate(Distribution::kUniform, GSORT_F32, 150000, 1));
  uint64_t together = 0, others = 0;
  for (const cudaError_t error : kDoNotFit)
    for (const NamedOperation &operation : all_operations()) {
      SCOPED_TRACE(operation.name);
      const Handle handle(options());
      gsort *const g = handle.get();
      bool reached = true;
      for (uint64_t at = 0; reached && at < kCallsMax; at++) {
        gsort_status status = GSORT_OK;
        const auto call = [&](gsort *each) { return operation.run(each, arrays); };
        CallReport report = run_with_fault(g, {at, false, kOrdinary}, call, &status);
        reached = !report.failed.empty();
        if (!is_one_of(report.failed, {"cudaLaunchKernelExC", "__cudaLaunchKernel"})) continue;
        report = run_with_fault(g, {at, false, error}, call, &status);
        if (report.together) {
          ++together;
          EXPECT_TRUE(succeeded(g, status)) << "launch " << report.failed_number;
        } else {
          ++others;
          EXPECT_EQ(GSORT_ERROR_INTERNAL, status) << "launch " << report.failed_number;
          EXPECT_STRNE("", gsort_error_message(g));
          EXPECT_TRUE(succeeded(g, call(g))) << "the next call";
        }
        ASSERT_TRUE(succeeded(g, gsort_synchronize(g)));
        EXPECT_TRUE(arrays.inputs_intact());
        if (HasFailure()) return;
      }
    }
  EXPECT_GE(together, std::size(kDoNotFit) * 4);  // of segments alone there are two, of top-k and scans one each
  EXPECT_GE(others, std::size(kDoNotFit) * all_operations().size());
}

// In place what was launched before may have changed the array: a call that succeeds has lost nothing, whichever of its
// launches did not fit at first, and one that fails says so.
TEST_P(FaultTest, LaunchesInPlaceThatDoNotFit) {
  struct Case {
    const char *name;
    uint64_t n, segment;  // segment: 0: none
    uint32_t value_bytes;
    Distribution keys;
  };
  constexpr Case kCases[] = {{"long segments", 200000, 60000, 0, Distribution::kUniform},
                             {"crowded segments", 200000, 60000, 0, Distribution::kZipf},
                             {"keys", 600000, 0, 0, Distribution::kUniform},
                             {"pairs", 600000, 0, 4, Distribution::kUniform},
                             {"few values with values", uint64_t{1} << 24, 0, 4, Distribution::kSmallRange}};
  for (const Case &each : kCases) {
    if (!real() && each.n > 1000000) continue;  // of which the stand-in would show nothing more
    SCOPED_TRACE(each.name);
    const Array input = generate(each.keys, GSORT_U32, each.n, 1);
    const Bytes values = generate_values(each.n, each.value_bytes, 7);
    const std::vector<uint64_t> bounds = {3, 3 + each.segment, 3 + 2 * each.segment, each.n};
    Buffer keys(place(), input.bytes().size()), values_in(place(), values.size()), offsets(place(), bounds.size() * 8);
    Bytes bytes(bounds.size() * 8);
    std::memcpy(bytes.data(), bounds.data(), bytes.size());
    offsets.write(bytes);
    const auto restore = [&] {
      keys.write(input.bytes());
      values_in.write(values);
    };
    const auto call = [&](gsort *g) {
      if (each.segment != 0)
        return gsort_sort_segments(g, GSORT_U32, keys.data(), keys.data(), each.n,
                                   static_cast<const uint64_t *>(offsets.data()), bounds.size() - 1, 0);
      if (each.value_bytes == 0) return gsort_sort(g, GSORT_U32, keys.data(), keys.data(), each.n, 0);
      return gsort_sort_pairs(g, GSORT_U32, keys.data(), keys.data(), each.value_bytes, values_in.data(),
                              values_in.data(), each.n, 0);
    };
    static uint64_t plans_for_less;
    plans_for_less = 0;
    gsort_options o = options();
    o.log = [](void *, const char *line) { plans_for_less += std::strstr(line, "; planning for ") != nullptr; };
    const Handle handle(o);
    gsort *const g = handle.get();
    restore();
    ASSERT_TRUE(succeeded(g, call(g)));
    ASSERT_TRUE(succeeded(g, gsort_synchronize(g)));
    const Bytes want_keys = keys.read(), want_values = values_in.read();
    if (real()) {
      const Array sorted = each.segment != 0 ? reference_sort_segments(input, bounds, 0) : reference_sort(input, 0);
      ASSERT_TRUE(want_keys == sorted.bytes());
    }
    bool reached = true;
    for (uint64_t at = 0; reached && at < kCallsMax; at++) {
      gsort_status status = GSORT_OK;
      restore();
      const CallReport report = run_with_fault(g, {at, false, kDoNotFit[at % std::size(kDoNotFit)]}, call, &status);
      reached = !report.failed.empty();
      if (!is_one_of(report.failed, {"cudaLaunchKernelExC", "__cudaLaunchKernel"})) continue;
      ASSERT_TRUE(succeeded(g, gsort_synchronize(g)));
      EXPECT_EQ(report.together ? GSORT_OK : GSORT_ERROR_INTERNAL, status) << "launch " << report.failed_number;
      if (real() && status == GSORT_OK) {
        EXPECT_TRUE(keys.read() == want_keys) << "launch " << report.failed_number;
        EXPECT_TRUE(values_in.read() == want_values) << "launch " << report.failed_number;
      }
      if (HasFailure()) return;
    }
    // Segments that a partition has moved have no keys in their place.
    EXPECT_TRUE(each.segment == 0 || plans_for_less == 0);
  }
}

// Captured calls take memory that stays with the graph, and give it back when the graph is gone.
TEST_P(FaultTest, CapturedCall) {
  if (real() || GetParam().arrays == ArrayPlace::kHost) GTEST_SKIP() << "captures of the stand-in, on device arrays";
  const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, 60000, 1));
  const auto reserve = [](gsort *g) { return gsort_reserve(g, GSORT_OP_SORT_PAIRS, GSORT_F32, 60000, 4); };
  const auto capture = [&](gsort *g) {
    begin_stand_in_capture();
    const gsort_status status = all_operations()[1].run(g, arrays);
    end_stand_in_capture();
    return status;
  };
  const auto twice = [&](gsort *g) {
    const gsort_status first = capture(g);
    return first == GSORT_OK ? capture(g) : first;
  };
  {
    const Handle handle(options());
    EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED, capture(handle.get())) << "nothing is known of what it takes";
    ASSERT_TRUE(succeeded(handle.get(), all_operations()[1].run(handle.get(), arrays)));
    EXPECT_TRUE(succeeded(handle.get(), capture(handle.get()))) << "a direct call has shown what it takes";
  }
  for (const Kind &kind : kKinds) {
    fail_in_turn({"capture", reserve, capture, [&] { return arrays.inputs_intact(); }, nullptr}, kind);
    // What was reserved serves a direct call, so that the capture must allocate.
    fail_in_turn({"capture after a call",
                  [&](gsort *g) {
                    const gsort_status status = reserve(g);
                    return status == GSORT_OK ? all_operations()[1].run(g, arrays) : status;
                  },
                  twice, nullptr, nullptr},
                 kind);
  }
}

// In a graph calls on one stream follow each other, and one block does for all of them; on two they may run at once.
TEST_P(FaultTest, CapturedCallsShareTheBlockOfTheirStream) {
  if (real() || GetParam().arrays == ArrayPlace::kHost) GTEST_SKIP() << "captures of the stand-in, on device arrays";
  const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, 60000, 1));
  const Handle handle(options());
  gsort *const g = handle.get();
  int other = 0;
  ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT_PAIRS, GSORT_F32, 60000, 4)));
  const auto call = [&] { return succeeded(g, all_operations()[1].run(g, arrays)); };
  begin_stand_in_capture();
  EXPECT_TRUE(call());
  const uint64_t of_one_call = live_device_bytes();
  EXPECT_TRUE(call());
  EXPECT_EQ(of_one_call, live_device_bytes());
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &other)));
  EXPECT_TRUE(call());
  const uint64_t of_two_streams = live_device_bytes();
  EXPECT_GT(of_two_streams, of_one_call);
  EXPECT_TRUE(call());
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, nullptr)));
  EXPECT_TRUE(call());
  EXPECT_EQ(of_two_streams, live_device_bytes());
  end_stand_in_capture();
  begin_stand_in_capture();  // what the graph held is the handle's again
  EXPECT_TRUE(call());
  end_stand_in_capture();
  EXPECT_EQ(of_two_streams, live_device_bytes());
}

// Nothing to sort, select or sum: the result of a sum of nothing is written by a path of its own.
TEST_P(FaultTest, EmptySum) {
  const Buffer out(place(), 8);
  for (const Kind &kind : kKinds) {
    fail_in_turn(
        {"sum of nothing", nullptr, [&](gsort *g) { return gsort_sum(g, GSORT_F32, nullptr, 0, out.data(), 0); },
         nullptr, [&] { return out.read() == Bytes(8, 0); }},
        kind);
  }
}

TEST_P(FaultTest, EveryCallOnTheHandle) {
  std::unique_ptr<DeviceStream> stream;
  int something = 0;
  if (real()) stream = std::make_unique<DeviceStream>();
  void *const other = real() ? stream->get() : &something;
  gsort_info info = {};
  info.struct_size = sizeof info;
  std::unique_ptr<Buffer> lent;
  if (GetParam().arrays == ArrayPlace::kDevice) lent = std::make_unique<Buffer>(place(), 4096);
  for (const Kind &kind : kKinds) {
    fail_in_turn({"info", nullptr, [&](gsort *g) { return gsort_info_get(g, &info); }, nullptr, nullptr}, kind);
    fail_in_turn({"synchronize", nullptr, gsort_synchronize, nullptr, nullptr}, kind);
    fail_in_turn({"set_stream", nullptr, [&](gsort *g) { return gsort_set_stream(g, other); }, nullptr, nullptr}, kind);
    fail_in_turn(
        {"reserve", nullptr, [&](gsort *g) { return gsort_reserve(g, GSORT_OP_SORT_PAIRS, GSORT_U32, 100000, 4); },
         nullptr, nullptr},
        kind);
    if (lent)
      fail_in_turn({"set_workspace", nullptr, [&](gsort *g) { return gsort_set_workspace(g, lent->data(), 4096); },
                    nullptr, nullptr},
                   kind);
  }
}

// gsort_create() has three ways to fail, and AUTO one less: without a usable device there is the CPU.
TEST_P(FaultTest, Create) {
  for (const uint32_t backend : {GSORT_BACKEND_CUDA, GSORT_BACKEND_AUTO}) {
    for (const Kind &kind : kKinds) {
      bool reached = true;
      for (uint64_t at = 0; reached && at < kCallsMax; at++) {
        SCOPED_TRACE("call " + std::to_string(at) + ", " + kind.name + ", backend " + std::to_string(backend));
        begin_round();
        gsort_options o = options();
        o.backend = backend;
        gsort *made = nullptr;
        gsort_status status = GSORT_OK;
        const CallReport report = run_with_fault(
            nullptr, {at, kind.for_good, kind.error}, [&](gsort *) { return gsort_create(&o, &made); }, &status);
        SCOPED_TRACE("failed: " + report.failed);
        reached = !report.failed.empty();
        ASSERT_EQ(status == GSORT_OK, made != nullptr);
        if (status != GSORT_OK) {
          EXPECT_TRUE(status == GSORT_ERROR_OUT_OF_MEMORY ||
                      (status == GSORT_ERROR_NO_DEVICE && backend == GSORT_BACKEND_CUDA))
              << gsort_status_name(status) << ": " << gsort_error_message(nullptr);
          EXPECT_STRNE("", gsort_error_message(nullptr));
        } else if (backend == GSORT_BACKEND_CUDA) {
          EXPECT_TRUE(is_dispensable(report.failed)) << "the failure went unnoticed";
        }
        gsort_destroy(made);
        EXPECT_EQ(cudaSuccess, take_last_error());
        ASSERT_TRUE(nothing_leaked());
        if (HasFailure()) return;
      }
      EXPECT_FALSE(reached);
    }
  }
}

TEST_P(FaultTest, Destroy) {
  const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, 400000, 1));  // long enough for the ring
  for (const Kind &kind : kKinds) {
    bool reached = true;
    for (uint64_t at = 0; reached && at < kCallsMax; at++) {
      SCOPED_TRACE("call " + std::to_string(at) + ", " + kind.name);
      begin_round();
      const gsort_options o = options();
      gsort *made = nullptr;
      ASSERT_EQ(GSORT_OK, gsort_create(&o, &made));
      ASSERT_TRUE(succeeded(made, all_operations()[1].run(made, arrays)));
      gsort_status status = GSORT_OK;
      const CallReport report = run_with_fault(
          made, {at, kind.for_good, kind.error},
          [](gsort *g) {
            gsort_destroy(g);
            return GSORT_OK;
          },
          &status);
      reached = !report.failed.empty();
      // All goes back unless the device cannot be made current or refuses to take it.
      if (!kind.for_good && !is_one_of(report.failed, {"cudaFree", "cudaStreamDestroy", "cudaEventDestroy",
                                                       "cudaHostUnregister", "cudaSetDevice", "cudaGetDevice"})) {
        EXPECT_TRUE(nothing_leaked()) << report.failed;
      }
      if (HasFailure()) return;
    }
    EXPECT_FALSE(reached);
  }
}

// CUDA may say of a stream that was destroyed that its context was: the device is not lost for that.
TEST_P(FaultTest, StreamThatIsGone) {
  const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, 3000, 1));
  for (const cudaError_t error : {cudaErrorInvalidResourceHandle, cudaErrorContextIsDestroyed}) {
    const Handle handle(options());
    gsort *const g = handle.get();
    int seen = 0;
    bool reached = true;
    for (uint64_t at = 0; reached && at < kCallsMax; at++) {
      gsort_status status = GSORT_OK;
      const auto call = [&](gsort *h) { return all_operations()[0].run(h, arrays); };
      // Other calls fail for a reason that does not lose the device.
      CallReport report = run_with_fault(g, {at, false, kOrdinary}, call, &status);
      reached = !report.failed.empty();
      if (report.failed != "cudaStreamGetCaptureInfo") continue;
      report = run_with_fault(g, {at, false, error}, call, &status);
      EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, status) << gsort_error_message(g);
      EXPECT_NE(std::string::npos, std::string(gsort_error_message(g)).find("stream")) << gsort_error_message(g);
      EXPECT_TRUE(succeeded(g, gsort_set_stream(g, nullptr)));
      EXPECT_TRUE(succeeded(g, call(g)));
      EXPECT_TRUE(succeeded(g, gsort_synchronize(g)));
      seen++;
    }
    EXPECT_GT(seen, 0);
  }
}

// A stream that is set is asked first; one that is none is refused by its name, and the one before stays.
TEST_P(FaultTest, StreamThatIsNoneIsNotSet) {
  if (real()) GTEST_SKIP() << "an address that is no stream is for the stand-in alone";
  const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, 3000, 1));
  int something = 0;
  for (const cudaError_t error : {cudaErrorInvalidResourceHandle, cudaErrorInvalidValue, cudaErrorContextIsDestroyed}) {
    const Handle handle(options());
    gsort *const g = handle.get();
    const auto set = [&](gsort *h) { return gsort_set_stream(h, &something); };
    int seen = 0;
    bool reached = true;
    for (uint64_t at = 0; reached && at < kCallsMax; at++) {
      gsort_status status = GSORT_OK;
      CallReport report = run_with_fault(g, {at, false, kOrdinary}, set, &status);
      reached = !report.failed.empty();
      if (report.failed != "cudaStreamGetCaptureInfo") continue;
      report = run_with_fault(g, {at, false, error}, set, &status);
      EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, status) << gsort_error_message(g);
      EXPECT_NE(std::string::npos, std::string(gsort_error_message(g)).find("cuda_stream")) << gsort_error_message(g);
      EXPECT_TRUE(succeeded(g, all_operations()[0].run(g, arrays)));
      seen++;
    }
    EXPECT_GT(seen, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, FaultTest, ::testing::ValuesIn(kMachines),
                         [](const auto &test) { return std::string(test.param.name); });

// What a handle that cannot be made says of the driver and the devices.
TEST(DeviceOfHandle, SentencesOfDevicesThatAreNotThere) {
  use_stand_in(ArrayPlace::kHost);
  gsort_options options = default_options(GSORT_BACKEND_CUDA);
  gsort *g = nullptr;
  const auto says = [](const std::string &text) {
    return std::string(gsort_error_message(nullptr)).find(text) != std::string::npos
               ? ::testing::AssertionSuccess()
               : ::testing::AssertionFailure() << gsort_error_message(nullptr);
  };
  options.device = 2;
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_create(&options, &g));
  EXPECT_TRUE(says("options->device is 2, but there are 2 devices; use 0 to 1"));
  options.device = 0;
  const std::string built_for =
      std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
  const std::pair<cudaError_t, std::string> answers[] = {
      {cudaErrorInsufficientDriver, "the NVIDIA driver is for CUDA 13.0 and this build needs " + built_for + ";"},
      {cudaErrorNoDevice, "the NVIDIA driver shows no device"},
      {cudaErrorSystemNotReady, "the NVIDIA driver cannot be used: "}};
  for (const auto &[error, sentence] : answers) {
    CallReport report;
    for (uint64_t at = 0; at < kCallsMax && report.failed != "cudaGetDeviceCount"; at++) {
      arm({at, false, error});
      const gsort_status status = gsort_create(&options, &g);
      report = disarm();
      if (report.failed != "cudaGetDeviceCount") {
        gsort_destroy(g);
        continue;
      }
      EXPECT_EQ(GSORT_ERROR_NO_DEVICE, status);
      EXPECT_TRUE(says(sentence));
    }
    EXPECT_EQ("cudaGetDeviceCount", report.failed);
    EXPECT_EQ(cudaSuccess, take_last_error());
  }
  use_real_device();
}

// After all tests: every function on the list was made to fail at least once.
class EveryFunctionFailed : public ::testing::Environment {
 public:
  void TearDown() override {
    const std::string filter = ::testing::GTEST_FLAG(filter);
    if (filter != "*" && filter != "-*cuda_*") return;
    std::ifstream list(GSORT_CUDA_CALLS);
    std::string mark, function;
    int count = 0;
    while (list >> mark) {
      if (mark == "fails" && list >> function) {
        count++;
        EXPECT_EQ(1u, failed_functions().count(function)) << function << " was never made to fail";
      } else {
        std::getline(list, function);
      }
    }
    EXPECT_GT(count, 20);
    std::printf("%llu calls of %d functions of the CUDA runtime were made to fail\n",
                static_cast<unsigned long long>(failures_made()), count);
  }
};
const ::testing::Environment *const kEveryFunctionFailed = ::testing::AddGlobalTestEnvironment(new EveryFunctionFailed);

}  // namespace
}  // namespace gsort_test
