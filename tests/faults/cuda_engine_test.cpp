// SPDX-License-Identifier: MIT OR Apache-2.0
// The CUDA engine's host code on the stand-in, by what it says and asks of the runtime: devices and contexts, streams
// and captures, and what it answers where the runtime fails.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>

#include "faults/engine_fixture.h"

namespace gsort_test {
namespace {

std::atomic<uint32_t> affinity_reads{0};

}  // namespace
}  // namespace gsort_test

// The linker puts it in front of the system's (CMakeLists.txt).
extern "C" {
int __real_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set) {
  ++gsort_test::affinity_reads;
  return __real_sched_getaffinity(pid, bytes, set);
}
}

namespace gsort_test {
namespace {

// ---- the device ----

TEST_F(EngineTest, InfoTellsOfTheDevice) {
  use_stand_in(ArrayPlace::kDevice, {8, 6, 84, 99 << 10});
  const uint64_t bytes_before = live_device_bytes();
  const Handle handle(options());
  gsort_info info = {};
  info.struct_size = sizeof info;
  ASSERT_TRUE(succeeded(handle.get(), gsort_info_get(handle.get(), &info)));
  EXPECT_EQ(86u, info.compute_capability);
  EXPECT_EQ(13000u, info.driver_version);
  EXPECT_EQ(1u, info.threads);
  EXPECT_EQ(uint64_t{1} << 37, info.device_memory_bytes);
  EXPECT_EQ(uint64_t{1} << 36, info.device_memory_free_bytes);
  EXPECT_EQ(0u, info.device_held_bytes);
  EXPECT_STREQ("stand-in", info.device_name);
  ASSERT_TRUE(succeeded(handle.get(), sort(handle.get(), 100000)));
  EXPECT_GT(held_bytes(handle.get()), 400000u);
  EXPECT_EQ(live_device_bytes() - bytes_before, held_bytes(handle.get()));
}

// A handle reads its affinity and its control groups when it is made, for all that has threads, and not again for the
// CPU's engine that a later call needs: reading takes more stack than calls may have.
TEST_F(EngineTest, ProcessorsAreCountedOnce) {
  use_stand_in(ArrayPlace::kHost);
  gsort_options o = options();
  o.backend = GSORT_BACKEND_AUTO;
  const uint32_t before = affinity_reads;
  const Handle handle(o);
  EXPECT_EQ(before + 1, affinity_reads);
  ASSERT_TRUE(succeeded(handle.get(), sort(handle.get(), 1000)));
  EXPECT_TRUE(said("cpu sort"));
  EXPECT_EQ(before + 1, affinity_reads);
}

TEST_F(EngineTest, DevicesThatCannotBeUsedAreNamedWithTheReason) {
  const gsort_options wanted = options();
  gsort *g = nullptr;
  const auto create = [&] { return gsort_create(&wanted, &g); };
  const auto fails = [&](const char *function, const std::string &sentence, uint64_t nth = 0) {
    EXPECT_EQ(GSORT_ERROR_NO_DEVICE, failing(function, cudaErrorNotPermitted, create, nth)) << function;
    EXPECT_TRUE(says(nullptr, sentence));
  };
  use_stand_in(ArrayPlace::kDevice, {8, 6, 84, 99 << 10});
  fails("cudaFree", "device 0 cannot be used: its context could not be made");
  fails("cudaFuncGetAttributes", "no kernels for device 0 (compute capability 8.6)");
  fails("cudaMemGetInfo", "device 0 cannot be used: cudaMemGetInfo");
  fails("cudaGetDeviceProperties", "device 0 cannot be used: cudaGetDeviceProperties");
  for (uint64_t nth = 0; nth < 4; ++nth)
    fails("cudaDeviceGetAttribute", "device 0 cannot be used: cudaDeviceGetAttribute", nth);
  StandInDevice none;
  none.devices = 0;
  use_stand_in(ArrayPlace::kDevice, none);
  EXPECT_EQ(GSORT_ERROR_NO_DEVICE, create());
  EXPECT_TRUE(says(nullptr, "the NVIDIA driver shows no device"));
  none.driver_version = 12090;
  use_stand_in(ArrayPlace::kDevice, none);
  EXPECT_EQ(GSORT_ERROR_NO_DEVICE, failing("cudaGetDeviceCount", cudaErrorInsufficientDriver, create));
  EXPECT_TRUE(says(nullptr, "the NVIDIA driver is for CUDA 12.9 and this build needs "));
  none.driver_version = 0;
  use_stand_in(ArrayPlace::kDevice, none);
  EXPECT_EQ(GSORT_ERROR_NO_DEVICE, create());
  EXPECT_TRUE(says(nullptr, "no NVIDIA driver is installed"));
}

// Code for an older device, which the driver brings to this one, has none of this one's ways.
TEST_F(EngineTest, KernelsAreLaunchedAsOnTheDeviceTheyWereCompiledFor) {
  for (const int compiled_for : {80, 90, 0}) {
    StandInDevice device;
    device.compiled_for = compiled_for;
    use_stand_in(ArrayPlace::kDevice, device);
    const Handle handle(options());
    gsort_info info = {};
    info.struct_size = sizeof info;
    EXPECT_TRUE(succeeded(handle.get(), gsort_info_get(handle.get(), &info)));
    EXPECT_EQ(90u, info.compute_capability);
    constexpr uint64_t n = 2000000;
    keys_.resize(2 * n);
    record_work();
    EXPECT_TRUE(succeeded(handle.get(), sort(handle.get(), 2 * n)));
    EXPECT_TRUE(succeeded(handle.get(), gsort_topk(handle.get(), GSORT_U32, keys_.data(), n, 1000, keys_.data() + n,
                                                   GSORT_U32, nullptr, 0)));
    bool newer = false;
    for (const Work &work : recorded_work()) newer |= work.dependent || work.cluster_blocks != 0;
    EXPECT_EQ(compiled_for != 80, newer) << compiled_for;
  }
}

// Code for 8.0 runs on 8.6, too, whose blocks can have less: what asks for more than its device has is refused.
TEST_F(EngineTest, KernelsTakeNoMoreSharedMemoryThanDeviceAndCodeHave) {
  constexpr uint64_t n = 400000;
  const std::vector<uint64_t> offsets = {0, n / 2, n};
  for (const int compiled_for : {80, 86}) {
    use_stand_in(ArrayPlace::kDevice, {8, 6, 84, 99 << 10, compiled_for});
    const Handle handle(options());
    gsort *const g = handle.get();
    std::vector<uint64_t> in(n), out(n), values(n), values_out(n);
    record_work();
    for (const uint64_t count : {uint64_t{3000}, uint64_t{20000}, n}) {
      EXPECT_TRUE(succeeded(g, gsort_sort(g, GSORT_U64, in.data(), out.data(), count, 0)));
      EXPECT_TRUE(succeeded(
          g, gsort_sort_pairs(g, GSORT_U32, in.data(), out.data(), 8, values.data(), values_out.data(), count, 0)));
      for (const uint64_t k : {uint64_t{100}, uint64_t{2000}, count / 3})
        EXPECT_TRUE(
            succeeded(g, gsort_topk(g, GSORT_U32, in.data(), count, k, out.data(), GSORT_U32, values.data(), 0)));
      EXPECT_TRUE(succeeded(g, gsort_scan(g, GSORT_F32, in.data(), out.data(), count, 0)));
    }
    EXPECT_TRUE(succeeded(g, gsort_sort_segments(g, GSORT_U32, in.data(), out.data(), n, offsets.data(), 2, 0)));
    uint32_t most = 0;
    for (const Work &work : recorded_work()) most = std::max(most, work.shared_bytes);
    EXPECT_GT(most, 48u << 10) << "no kernel asks for more than it has anyway";
  }
}

// Once a kernel of a device, until the device is opened again, for it may have been reset.
TEST_F(EngineTest, SharedMemoryIsAskedForOnceADevice) {
  gsort_options second = options();
  second.device = 1;
  const auto raised = [&](gsort *g) { return counted(g, [&] { return sort(g, 300000); })["cudaFuncSetAttribute"]; };
  std::optional<Handle> zero(std::in_place, options()), one(std::in_place, second);
  const uint64_t at_first = raised(zero->get());
  EXPECT_GT(at_first, 0u);
  EXPECT_EQ(at_first, raised(one->get()));
  EXPECT_EQ(0u, raised(zero->get()));
  const Handle again(options());
  EXPECT_EQ(0u, raised(one->get())) << "what another device's kernels have was forgotten";
  EXPECT_EQ(at_first, raised(again.get()));
}

// ---- contexts ----

TEST_F(EngineTest, TheThreadsOwnContextIsPutBack) {
  int own = 0;
  set_own_context(nullptr);  // from now on the driver tells
  gsort_options second = options();
  second.device = 1;
  for (const gsort_options &o : {options(), second}) {
    const Handle before(o);  // whose device was opened in the primary context
    for (void *const context : {static_cast<void *>(nullptr), static_cast<void *>(&own)}) {
      set_own_context(context);
      const Handle handle(o);
      ASSERT_EQ(GSORT_OK, handle.status()) << gsort_error_message(nullptr);
      for (gsort *const g : {before.get(), handle.get()}) {
        EXPECT_EQ(context, own_context());
        EXPECT_TRUE(succeeded(g, sort(g, 20000)));
        EXPECT_EQ(context, own_context());
        EXPECT_TRUE(succeeded(g, gsort_synchronize(g)));
        EXPECT_EQ(context, own_context());
        EXPECT_EQ(0, current_device());
      }
    }
  }
  set_own_context(nullptr);
}

// Also where the driver tells no contexts; a thread that is on the device already is left alone.
TEST_F(EngineTest, CallsRunOnTheHandlesDevice) {
  gsort_options first = options(), second = options();
  first.device = 0, second.device = 1;
  for (const int current : {0, 1})
    for (const gsort_options &o : {first, second}) {
      restore_thread(current);
      const Handle handle(o);
      gsort *const g = handle.get();
      EXPECT_EQ(current, current_device());
      record_work();
      const auto sets = counted(g, [&] { return sort(g, 20000); })["cudaSetDevice"];
      EXPECT_EQ(current == o.device ? 0u : 2u, sets);
      EXPECT_EQ(current, current_device());
      const std::vector<Work> all = recorded_work();
      EXPECT_FALSE(all.empty());
      for (const Work &work : all) EXPECT_EQ(o.device, work.device) << work.function;
    }
}

TEST_F(EngineTest, AResetIsNoticed) {
  set_own_context(nullptr);
  const Handle handle(options());
  ASSERT_TRUE(succeeded(handle.get(), sort(handle.get(), 20000)));
  reset_stand_in_devices();
  EXPECT_EQ(GSORT_ERROR_DEVICE_LOST, sort(handle.get(), 20000));
  EXPECT_TRUE(says(handle.get(), "device 0 was reset"));
  const Handle another(options());
  EXPECT_TRUE(succeeded(another.get(), sort(another.get(), 20000)));
}

// A driver that has not all calls of contexts is asked for none. The question is put once a process.
TEST(OldDriverDeathTest, IsNotAskedForContexts) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const char *missing : {"cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxGetId"})
    EXPECT_EXIT(
        {
          use_stand_in(ArrayPlace::kDevice);
          remove_from_driver(missing);
          int own = 0;
          set_own_context(&own);
          const Handle handle(GSORT_BACKEND_CUDA);
          std::vector<uint32_t> keys(20000);
          const gsort_status status = gsort_sort(handle.get(), GSORT_U32, keys.data(), keys.data(), keys.size(), 0);
          std::_Exit(status == GSORT_OK && own_context() == &own ? 0 : 1);  // nothing was changed
        },
        ::testing::ExitedWithCode(0), "");
}

TEST_F(EngineTest, ChildrenOfForkLeaveTheDeviceAlone) {
  use_stand_in(ArrayPlace::kHost);
  const gsort_options o = options();
  gsort *g = nullptr;
  ASSERT_EQ(GSORT_OK, gsort_create(&o, &g));
  ASSERT_TRUE(succeeded(g, sort(g, 400000)));  // long enough for the ring
  const pid_t child = fork();
  if (child == 0) {
    arm(kNoFault);
    gsort_destroy(g);
    _exit(disarm().calls == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status) << "the child called CUDA";
  gsort_destroy(g);
}

// ---- streams ----

TEST_F(EngineTest, WaitsForTheDeviceOnlyWhereWorkIsOnOtherStreams) {
  int a = 0, b = 0;
  std::optional<Handle> handle(std::in_place, options());
  gsort *const g = handle->get();
  using Counts = std::pair<uint64_t, uint64_t>;  // of the stream, of the device
  const auto waits = [&] {
    auto calls = counted(g, [&] { return gsort_synchronize(g); });
    return Counts{calls["cudaStreamSynchronize"], calls["cudaDeviceSynchronize"]};
  };
  const auto work_on = [&](void *stream) {
    EXPECT_TRUE(succeeded(g, gsort_set_stream(g, stream)));
    EXPECT_TRUE(succeeded(g, sort(g, 20000)));
  };
  EXPECT_EQ(Counts(1, 0), waits());
  work_on(&a);
  EXPECT_EQ(Counts(1, 0), waits());
  work_on(&a);
  work_on(&b);
  EXPECT_EQ(Counts(1, 1), waits());
  EXPECT_EQ(Counts(1, 0), waits()) << "all has been waited for";
  work_on(&a);
  work_on(&b);
  work_on(&a);
  EXPECT_EQ(Counts(1, 1), waits());
  work_on(&a);
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &b)));
  EXPECT_EQ(Counts(1, 1), waits());
  // What is captured runs with its graph, for which the handle never waits.
  ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, 20000, 0)));
  begin_stand_in_capture();
  EXPECT_TRUE(succeeded(g, sort(g, 20000)));
  end_stand_in_capture();
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &a)));
  EXPECT_EQ(Counts(1, 0), waits());
}

TEST_F(EngineTest, DestroyWaitsForWhatNobodyWaitedFor) {
  int a = 0;
  enum { kOnDefault, kOnOther, kOnBoth };
  for (const bool waited : {false, true})
    for (const bool captured : {false, true})
      for (const int streams : {kOnDefault, kOnOther, kOnBoth}) {
        const gsort_options o = options();
        gsort *g = nullptr;
        ASSERT_EQ(GSORT_OK, gsort_create(&o, &g));
        ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, 20000, 0)));
        if (streams != kOnDefault) {
          EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &a)));
        }
        if (captured) begin_stand_in_capture();
        EXPECT_TRUE(succeeded(g, sort(g, 20000)));
        if (captured) end_stand_in_capture();
        if (streams == kOnBoth) {
          EXPECT_TRUE(succeeded(g, gsort_set_stream(g, nullptr)));
          EXPECT_TRUE(succeeded(g, sort(g, 20000)));
        }
        if (waited) {
          EXPECT_TRUE(succeeded(g, gsort_synchronize(g)));
        }
        arm(kNoFault);
        gsort_destroy(g);
        disarm();
        const bool on_default = streams == kOnDefault ? !captured : streams == kOnBoth && captured,
                   on_device = streams != kOnDefault && !captured;
        EXPECT_EQ(!waited && on_default ? 1u : 0u, calls_of("cudaStreamSynchronize"));
        EXPECT_EQ(!waited && on_device ? 1u : 0u, calls_of("cudaDeviceSynchronize"));
      }
}

// No thread may wait for the device while a stream is captured, the default one not while a blocking one is.
TEST_F(EngineTest, WaitsBesideCaptures) {
  int a = 0;
  const gsort_options o = options();
  gsort *g = nullptr;
  ASSERT_EQ(GSORT_OK, gsort_create(&o, &g));
  EXPECT_TRUE(succeeded(g, sort(g, 20000)));
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &a)));
  EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED,
            failing("cudaDeviceSynchronize", cudaErrorStreamCaptureUnsupported, [&] { return gsort_synchronize(g); }));
  EXPECT_TRUE(says(g, "work on several streams"));
  EXPECT_TRUE(succeeded(g, gsort_synchronize(g)));
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, nullptr)));
  EXPECT_TRUE(succeeded(g, sort(g, 20000)));
  arm({0, false, cudaErrorStreamCaptureImplicit, "cudaStreamGetCaptureInfo"});
  gsort_destroy(g);
  disarm();
  EXPECT_EQ(0u, calls_of("cudaStreamSynchronize"));
  EXPECT_EQ(1u, calls_of("cudaDeviceSynchronize"));
}

TEST_F(EngineTest, TheStreamOfEachThreadIsAskedForInEachCall) {
  int a = 0;
  const Handle handle(options());
  gsort *const g = handle.get();
  const auto asked = [&](const auto &call) { return counted(g, call)["cudaStreamGetId"]; };
  const auto sorts = [&] { return sort(g, 20000); };
  EXPECT_EQ(1u, asked([&] { return gsort_set_stream(g, &a); }));
  EXPECT_EQ(0u, asked(sorts));
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, cudaStreamPerThread)));
  EXPECT_EQ(1u, asked(sorts));
  EXPECT_EQ(1u, asked(sorts));
  for (void *const legacy : {static_cast<void *>(nullptr), static_cast<void *>(cudaStreamLegacy)}) {
    EXPECT_EQ(0u, asked([&] { return gsort_set_stream(g, legacy); }));
    EXPECT_EQ(0u, asked(sorts));
  }
  // Set while it is captured, it is asked afterwards, once.
  ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, 20000, 0)));
  begin_stand_in_capture();
  EXPECT_EQ(0u, asked([&] { return gsort_set_stream(g, &a); }));
  EXPECT_EQ(0u, asked(sorts)) << "which would invalidate the capture";
  end_stand_in_capture();
  EXPECT_EQ(1u, asked(sorts));
  EXPECT_EQ(0u, asked(sorts));
}

TEST_F(EngineTest, LegacyStreamWhileAnotherIsCaptured) {
  const Handle handle(options());
  gsort *const g = handle.get();
  constexpr cudaError_t kImplicit = cudaErrorStreamCaptureImplicit;
  EXPECT_EQ(GSORT_OK, failing("cudaStreamGetCaptureInfo", kImplicit, [&] { return gsort_set_stream(g, nullptr); }));
  EXPECT_EQ("cudaStreamGetCaptureInfo", failed_);
  EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED, failing("cudaStreamGetCaptureInfo", kImplicit, [&] { return sort(g, 20000); }));
  EXPECT_TRUE(says(g, "legacy default stream"));
  EXPECT_TRUE(succeeded(g, sort(g, 20000)));
  EXPECT_EQ(GSORT_ERROR_INTERNAL,
            failing("cudaStreamGetCaptureInfo", cudaErrorNotPermitted, [&] { return gsort_set_stream(g, nullptr); }));
}

TEST_F(EngineTest, StreamsOfOtherDevicesAreRefused) {
  int stream = 0;
  const Handle handle(options());
  set_device_of_streams(1);
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_set_stream(handle.get(), &stream));
  EXPECT_TRUE(says(handle.get(), "is a stream of device 1, and the handle's is 0"));
  set_device_of_streams(0);
  EXPECT_TRUE(succeeded(handle.get(), gsort_set_stream(handle.get(), &stream)));
}

TEST_F(EngineTest, WhatCannotBeCapturedIsRefused) {
  const Handle handle(options());
  gsort *const g = handle.get();
  ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, 20000, 0)));
  begin_stand_in_capture();
  EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED, gsort_synchronize(g));
  EXPECT_TRUE(says(g, "is being captured and cannot be waited for"));
  EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED, sort(g, 3000000));
  EXPECT_TRUE(says(g, "call gsort_reserve() before the capture"));
  place_array(keys_.data(), 4, ArrayPlace::kHost);
  EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED, sort(g, 20000));
  EXPECT_TRUE(says(g, "an array lies in host memory"));
  use_stand_in(ArrayPlace::kDevice);
  EXPECT_TRUE(succeeded(g, sort(g, 20000)));
  invalidate_stand_in_capture();
  EXPECT_EQ(GSORT_ERROR_NOT_SUPPORTED, sort(g, 20000));
  EXPECT_TRUE(says(g, "was invalidated earlier"));
  end_stand_in_capture();
  EXPECT_TRUE(succeeded(g, sort(g, 20000)));
}

// In captures, too, memory is had, by threads that say for that time that they capture nothing by asking for it.
TEST_F(EngineTest, MemoryIsAskedForAsCapturesAllow) {
  const Handle handle(options());
  gsort *const g = handle.get();
  ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, 20000, 0)));
  int other = 0;
  const uint64_t before = unsafe_allocations();
  begin_stand_in_capture();
  EXPECT_EQ(0u, counted(g, [&] { return sort(g, 20000); })["cudaMalloc"]);
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &other)));
  EXPECT_EQ(1u, counted(g, [&] { return sort(g, 20000); })["cudaMalloc"]);
  end_stand_in_capture();
  EXPECT_EQ(before, unsafe_allocations());
  EXPECT_EQ(cudaStreamCaptureModeGlobal, current_capture_mode());
}

// The verdict on offsets is told by a notice, for which nobody can wait in a capture.
TEST_F(EngineTest, OffsetsAreJudgedAfterTheCallButNotInCaptures) {
  const Handle handle(options());
  gsort *const g = handle.get();
  const std::vector<uint32_t> in(3000);
  std::vector<uint32_t> out(3000);
  const std::vector<uint64_t> offsets = {0, 1000, 3000};
  const auto call = [&] {
    return gsort_sort_segments(g, GSORT_U32, in.data(), out.data(), in.size(), offsets.data(), 2, 0);
  };
  const auto waits = [&] {
    auto calls = counted(g, call);
    return calls["cudaStreamQuery"] + calls["cudaStreamSynchronize"];
  };
  EXPECT_EQ(1u, waits());  // no kernel of the stand-in tells anything, so that the stream is asked
  ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT_SEGMENTS, GSORT_U32, in.size(), 2)));
  begin_stand_in_capture();
  EXPECT_EQ(0u, waits());
  end_stand_in_capture();
}

// Those in host memory are judged before anything is done, all others by a kernel.
TEST_F(EngineTest, OffsetsAreJudgedWhereTheyLie) {
  gsort_options o = options();
  o.host_memory_limit_bytes = 4096;  // no room for a notice: verdicts are copied
  const Handle handle(o);
  gsort *const g = handle.get();
  const std::vector<uint32_t> in(3000);
  std::vector<uint32_t> out(3000), indices(3000);
  std::vector<uint64_t> offsets = {0, 2000, 1000};
  std::vector<uint32_t> lent(uint64_t{1} << 20);
  auto *const verdict =
      reinterpret_cast<uint32_t *>((reinterpret_cast<uintptr_t>(lent.data()) + 255) / 256 * 256);  // comes first
  ASSERT_TRUE(succeeded(g, gsort_set_workspace(g, verdict, 4 * lent.size() - 256)));
  const std::pair<const char *, std::function<gsort_status()>> calls[] = {
      {"short_segments_kernel",
       [&] { return gsort_sort_segments(g, GSORT_U32, in.data(), out.data(), in.size(), offsets.data(), 2, 0); }},
      {"kernel", [&] {
         return gsort_topk_segments(g, GSORT_U32, in.data(), in.size(), offsets.data(), 2, 3, out.data(), GSORT_U32,
                                    indices.data(), 0);
       }}};
  for (const auto &[judge, call] : calls)
    for (const ArrayPlace place : {ArrayPlace::kHost, ArrayPlace::kDevice})
      for (const bool wrong : {false, true}) {
        use_stand_in(ArrayPlace::kDevice);
        place_array(offsets.data(), 24, place);
        offsets[1] = wrong ? 2000 : 500;
        if (wrong)
          play_kernels([&, name = judge](const std::string &kernel) {
            if (kernel.find(name) != std::string::npos) *verdict = 1;
          });
        record_work();
        EXPECT_EQ(wrong ? GSORT_ERROR_INVALID_ARGUMENT : GSORT_OK, call()) << judge;
        EXPECT_EQ(wrong && place == ArrayPlace::kHost, recorded_work().empty()) << judge;
        EXPECT_TRUE(!wrong || says(g, "offsets"));
      }
  use_stand_in(ArrayPlace::kDevice);  // whose kernels do nothing: nobody else has read them
  EXPECT_TRUE(succeeded(g, calls[0].second()));
}

// The result of nothing, which no kernel writes: the same as the CPU engine's.
TEST_F(EngineTest, ReductionsOfNothing) {
  use_stand_in(ArrayPlace::kHost);
  const Handle handle(options());
  for (const gsort_dtype t : {GSORT_U8, GSORT_I16, GSORT_F32, GSORT_U64, GSORT_F64})
    for (const uint32_t op : {0u, GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX, GSORT_MEAN}) {
      constexpr uint64_t kNotWritten = 0x0707070707070707;
      uint64_t result[2] = {kNotWritten, kNotWritten}, expected[2] = {kNotWritten, kNotWritten};
      const auto reduce = [&](gsort *g, void *out) {
        return op == 0 ? gsort_sum(g, t, nullptr, 0, out, 0) : gsort_reduce(g, op, t, nullptr, 0, out, 0);
      };
      const gsort_status status = reduce(shared_handle(GSORT_BACKEND_CPU), expected);
      EXPECT_EQ(status, reduce(handle.get(), result)) << op;
      EXPECT_EQ(0, std::memcmp(expected, result, sizeof result)) << op << ", " << t << ", " << result[0];
    }
  use_stand_in(ArrayPlace::kDevice);
  uint64_t out = 0;
  record_work();
  EXPECT_TRUE(succeeded(handle.get(), gsort_sum(handle.get(), GSORT_F32, nullptr, 0, &out, 0)));
  const std::vector<Work> work = recorded_work();
  ASSERT_EQ(1u, work.size());
  EXPECT_EQ(1u, work[0].blocks * work[0].threads);
  record_work();
  EXPECT_TRUE(succeeded(handle.get(), gsort_sort(handle.get(), GSORT_F32, nullptr, nullptr, 0, 0)));
  EXPECT_TRUE(recorded_work().empty());
}

// ---- failures of the runtime ----

TEST_F(EngineTest, EveryErrorHasItsStatus) {
  const std::vector<cudaError_t> lost = {
      cudaErrorIllegalAddress,      cudaErrorLaunchTimeout,       cudaErrorAssert,
      cudaErrorHardwareStackError,  cudaErrorIllegalInstruction,  cudaErrorMisalignedAddress,
      cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,           cudaErrorLaunchFailure,
      cudaErrorECCUncorrectable,    cudaErrorNvlinkUncorrectable, cudaErrorUnknown,
      cudaErrorContained,           cudaErrorMpsClientTerminated, cudaErrorExternalDevice,
      cudaErrorCudartUnloading,     cudaErrorContextIsDestroyed};
  for (int number = 1; number < 1000; ++number) {
    const auto error = static_cast<cudaError_t>(number);
    const Handle handle(options());
    gsort *const g = handle.get();
    const bool is_lost = std::find(lost.begin(), lost.end(), error) != lost.end();
    // Another thread may invalidate a capture, or begin one, after the call has looked.
    const bool is_of_capture = error == cudaErrorStreamCaptureInvalidated || error == cudaErrorStreamCaptureImplicit;
    const gsort_status expected = is_lost                              ? GSORT_ERROR_DEVICE_LOST
                                  : error == cudaErrorMemoryAllocation ? GSORT_ERROR_OUT_OF_MEMORY
                                  : is_of_capture                      ? GSORT_ERROR_NOT_SUPPORTED
                                                                       : GSORT_ERROR_INTERNAL;
    EXPECT_EQ(expected, failing("cudaStreamSynchronize", error, [&] { return gsort_synchronize(g); })) << number;
    EXPECT_TRUE(says(g, "gsort_synchronize: ")) << number;
  }
}

// A wait that fails, and the wait for what may still use the caller's arrays, which then fails as well: the application
// sees neither in its own calls.
TEST_F(EngineTest, WaitsThatFailLeaveNoErrorBehind) {
  use_stand_in(ArrayPlace::kHost);
  const Handle handle(options());
  arm({0, true, cudaErrorNotPermitted, "cudaStreamSynchronize"});
  EXPECT_EQ(GSORT_ERROR_INTERNAL, sort(handle.get(), 400000));
  EXPECT_EQ("cudaStreamSynchronize", disarm().failed);
  EXPECT_LE(2u, calls_of("cudaStreamSynchronize"));
  EXPECT_EQ(cudaSuccess, take_last_error());
  EXPECT_TRUE(succeeded(handle.get(), sort(handle.get(), 400000)));
}

}  // namespace
}  // namespace gsort_test
