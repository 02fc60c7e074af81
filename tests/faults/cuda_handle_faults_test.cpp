// SPDX-License-Identifier: MIT OR Apache-2.0
// Every call on a handle but the operations, with every call of the CUDA runtime failing in turn; and the handle's
// stream and device.
#include <memory>
#include <utility>

#include "faults/cuda_faults_fixture.h"

namespace gsort_test {
namespace {

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
    const auto call = [&](gsort *h) { return all_operations()[0].run(h, arrays); };
    const auto look = [&](const CallReport &, gsort_status status) {
      EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, status) << gsort_error_message(g);
      EXPECT_NE(std::string::npos, std::string(gsort_error_message(g)).find("stream")) << gsort_error_message(g);
      EXPECT_TRUE(succeeded(g, gsort_set_stream(g, nullptr)));
      EXPECT_TRUE(succeeded(g, call(g)));
      EXPECT_TRUE(succeeded(g, gsort_synchronize(g)));
    };
    EXPECT_GT(fail_each(g, {"cudaStreamGetCaptureInfo"}, error, call, look), 0u);
  }
}

// A stream that is set is asked first; what is no stream is refused by its name, and the one before stays.
TEST_P(FaultTest, WhatIsNoStreamIsNotSet) {
  if (real()) GTEST_SKIP() << "an address that is no stream is for the stand-in alone";
  const Arrays arrays(place(), generate(Distribution::kSmallRange, GSORT_F32, 3000, 1));
  int something = 0;
  for (const cudaError_t error : {cudaErrorInvalidResourceHandle, cudaErrorInvalidValue, cudaErrorContextIsDestroyed}) {
    const Handle handle(options());
    gsort *const g = handle.get();
    const auto set = [&](gsort *h) { return gsort_set_stream(h, &something); };
    const auto look = [&](const CallReport &, gsort_status status) {
      EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, status) << gsort_error_message(g);
      EXPECT_NE(std::string::npos, std::string(gsort_error_message(g)).find("cuda_stream")) << gsort_error_message(g);
      EXPECT_TRUE(succeeded(g, all_operations()[0].run(g, arrays)));
    };
    EXPECT_GT(fail_each(g, {"cudaStreamGetCaptureInfo"}, error, set, look), 0u);
  }
}

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

}  // namespace
}  // namespace gsort_test
