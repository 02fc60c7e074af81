// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls on host arrays on the stand-in: which way they go, what they wait for, what a cancel leaves whole, and what
// failures leave behind; the ring of pinned memory, and what a kernel tells the host.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "faults/engine_fixture.h"

namespace gsort_test {
namespace {

constexpr cudaError_t kNotPermitted = cudaErrorNotPermitted;
constexpr uint64_t kRatherPieces = uint64_t{1} << 25;  // elements of a sum that is rather done in pieces

// A progress function that asks once to stop, when so much has been done, or never.
struct Listener {
  uint64_t stop_above = UINT64_MAX;
  uint64_t done = 0, total = 0;  // the last that was told
  bool asked = false;

  static int32_t listen(void *user, uint64_t done, uint64_t total) {
    auto *const self = static_cast<Listener *>(user);
    self->done = done, self->total = total;
    const bool stops = !self->asked && done > self->stop_above;
    self->asked |= stops;
    return stops ? 1 : 0;
  }
};

class HostArrays : public EngineTest {
 protected:
  void SetUp() override { use_stand_in(ArrayPlace::kHost); }

  gsort_options limited(uint64_t bytes) {
    gsort_options o = options();
    o.device_memory_limit_bytes = bytes;
    return o;
  }
  gsort_options automatic() {
    gsort_options o = options();
    o.backend = GSORT_BACKEND_AUTO;
    return o;
  }
};

// ---- which way they go ----

// A handle of AUTO leaves to the CPU what is quicker there; the stand-in's kernels sort nothing.
TEST_F(HostArrays, ShortOnesOfAutoAreTheCpus) {
  const Handle handle(automatic());
  gsort *const g = handle.get();
  for (const uint64_t n : {uint64_t{1000}, uint64_t{1} << 20}) {
    keys_.resize(n);
    for (uint64_t i = 0; i < n; ++i) keys_[i] = static_cast<uint32_t>(n - i);
    record_work();
    EXPECT_TRUE(succeeded(g, sort(g, n)));
    const bool on_cpu = n == 1000;
    EXPECT_EQ(on_cpu, recorded_work().empty());
    EXPECT_EQ(on_cpu, std::is_sorted(keys_.begin(), keys_.end()));
    EXPECT_TRUE(said(on_cpu ? "host arrays: on the CPU" : "host arrays: on the device"));
  }
}

// Whatever fits the limit exactly goes at once.
TEST_F(HostArrays, WhatFitsTheLimitGoesAtOnce) {
  constexpr uint64_t n = 300032, kBefore = 1280;  // what a block has before its begin
  uint64_t workspace = 0;
  ASSERT_EQ(GSORT_OK, gsort_workspace_bytes(GSORT_OP_SORT, GSORT_U32, n, 0, &workspace));
  const uint64_t bytes = workspace + 4 * n;
  ASSERT_EQ(0u, bytes % 256);
  for (const uint64_t limit : {bytes + kBefore, bytes + kBefore - 1}) {
    const Handle handle(limited(limit));
    EXPECT_TRUE(succeeded(handle.get(), sort(handle.get(), n)));
    EXPECT_EQ(limit < bytes + kBefore, said("in pieces")) << limit - bytes;
  }
}

// Of several arrays all must lie in host memory for pieces, and the memory must be the handle's own.
TEST_F(HostArrays, OthersOrLentMemoryAreNotWorkedInPieces) {
  constexpr uint64_t n = 300000;
  std::vector<uint32_t> out(n);
  std::vector<float> in(kRatherPieces);
  std::vector<char> lent(uint64_t{160} << 20);
  void *const memory = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(lent.data()) + 255) / 256 * 256);
  keys_.resize(n);
  double sum = 7;
  place_array(out.data(), 4 * n, ArrayPlace::kDevice);
  place_array(memory, lent.size() - 256, ArrayPlace::kDevice);
  place_array(&sum, sizeof sum, ArrayPlace::kDevice);
  const auto sort_some = [&](gsort *g) { return gsort_sort(g, GSORT_U32, keys_.data(), out.data(), n, 0); };
  const auto add_many = [&](gsort *g, void *to) { return gsort_sum(g, GSORT_F32, in.data(), in.size(), to, 0); };
  {
    const Handle handle(limited(uint64_t{1} << 20));
    EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, sort_some(handle.get()));
    EXPECT_TRUE(says(handle.get(), "go past device_memory_limit_bytes"));
    const Handle other(options());
    EXPECT_TRUE(succeeded(other.get(), add_many(other.get(), &sum)));
  }
  EXPECT_FALSE(said("in pieces"));
  const Handle handle(options());
  gsort *const g = handle.get();
  double on_host = 0;
  ASSERT_TRUE(succeeded(g, gsort_set_workspace(g, memory, lent.size() - 256)));
  EXPECT_TRUE(succeeded(g, add_many(g, &on_host)));
  ASSERT_TRUE(succeeded(g, gsort_set_workspace(g, memory, 4096)));
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, sort(g, n));
  EXPECT_TRUE(says(g, "gsort_set_workspace() lent 4096"));
  EXPECT_FALSE(said("in pieces"));
}

// Want of memory alone sends a call another way.
TEST_F(HostArrays, OtherFailuresEndTheCall) {
  const std::vector<float> in(kRatherPieces);
  double sum = 0;
  const Handle handle(options());
  gsort *const g = handle.get();
  EXPECT_EQ(GSORT_ERROR_INTERNAL, failing("cudaMalloc", kNotPermitted, [&] { return sort(g, 20000); }));
  EXPECT_FALSE(said("in pieces"));
  const auto add = [&] { return gsort_sum(g, GSORT_F32, in.data(), in.size(), &sum, 0); };
  EXPECT_EQ(GSORT_ERROR_INTERNAL, failing("cudaMemcpyAsync", kNotPermitted, add));
  Listener listener{0};
  ASSERT_TRUE(succeeded(g, gsort_set_progress(g, Listener::listen, &listener)));
  EXPECT_EQ(GSORT_ERROR_CANCELLED, add());
  EXPECT_TRUE(said("in pieces"));
  listener = {};
  EXPECT_TRUE(succeeded(g, add()));
  EXPECT_FALSE(said("instead"));
}

// ---- what they wait for ----

// Pieces, and the CPU, begin when the stream's work, which may write these arrays, has ended.
TEST_F(HostArrays, EarlierWorkIsWaitedForIfThereIsAny) {
  for (const gsort_options &o : {limited(uint64_t{1} << 20), automatic()}) {
    const Handle handle(o);
    gsort *const g = handle.get();
    const uint64_t n = o.device_memory_limit_bytes != 0 ? 300000 : 1000;
    const auto call = [&] { return sort(g, n); };
    for (const bool busy : {false, true}) {
      record_work();
      EXPECT_EQ(GSORT_OK, busy ? failing("cudaStreamQuery", cudaErrorNotReady, call) : call());
      const std::vector<Work> work = recorded_work();
      EXPECT_EQ(busy, !work.empty() && work[0].function == "cudaStreamSynchronize") << n;
    }
    EXPECT_EQ(GSORT_ERROR_INTERNAL, failing("cudaStreamQuery", kNotPermitted, call));
  }
}

// Copies of pieces have streams of their own, one each way, which are made once and go back with the handle.
TEST_F(HostArrays, PiecesTravelOnStreamsOfTheirOwn) {
  constexpr uint64_t n = 300000;
  keys_.resize(n);
  std::vector<uint32_t> out(n);
  for (const ArrayPlace place : {ArrayPlace::kHost, ArrayPlace::kRegistered}) {
    use_stand_in(place);
    const int before = live_streams();
    {
      const Handle handle(limited(uint64_t{1} << 20));
      int after_first = 0;
      for (const bool first : {true, false}) {
        std::set<cudaStream_t> in_streams, out_streams;
        record_work();
        EXPECT_TRUE(succeeded(handle.get(), gsort_scan(handle.get(), GSORT_U32, keys_.data(), out.data(), n, 0)));
        for (const Work &work : recorded_work()) {
          if (work.from >= keys_.data() && work.from < keys_.data() + n) in_streams.insert(work.stream);
          if (work.to >= out.data() && work.to < out.data() + n) out_streams.insert(work.stream);
        }
        EXPECT_EQ(1u, in_streams.size());
        EXPECT_EQ(1u, out_streams.size());
        EXPECT_NE(in_streams, out_streams);
        EXPECT_EQ(0u, in_streams.count(nullptr) + out_streams.count(nullptr));
        if (first) after_first = live_streams();
        EXPECT_EQ(after_first, live_streams());
      }
      EXPECT_TRUE(said("in pieces"));
    }
    EXPECT_EQ(before, live_streams());
  }
}

// All slices of buckets that travel one way are handed to the driver together.
TEST_F(HostArrays, RegisteredSlicesTravelTogether) {
  use_stand_in(ArrayPlace::kRegistered);
  const Handle handle(limited(uint64_t{1} << 20));
  record_work();
  EXPECT_TRUE(succeeded(handle.get(), sort(handle.get(), 300000)));
  const std::vector<Work> work = recorded_work();
  EXPECT_TRUE(
      std::any_of(work.begin(), work.end(), [](const Work &w) { return w.function == "cudaMemcpyBatchAsync"; }));
}

// ---- progress, and what a cancel leaves whole ----

TEST_F(HostArrays, ProgressIsOfTheBytesThatTravel) {
  constexpr uint64_t n = 400000;
  const Handle handle(options());
  gsort *const g = handle.get();
  Listener listener;
  ASSERT_TRUE(succeeded(g, gsort_set_progress(g, Listener::listen, &listener)));
  keys_.resize(n);
  std::vector<uint64_t> out(n);
  const auto total_of = [&](gsort_status status) {
    EXPECT_TRUE(succeeded(g, status));
    EXPECT_EQ(listener.done, listener.total);
    return listener.total;
  };
  EXPECT_EQ(4 * n + 4 * n, total_of(sort(g, n)));
  EXPECT_EQ(4 * n + 4 * n, total_of(gsort_sort(g, GSORT_U32, keys_.data(), out.data(), n, 0)));
  EXPECT_EQ(4 * n + 8 * n, total_of(gsort_argsort(g, GSORT_U32, keys_.data(), n, GSORT_U64, out.data(), 0)));
  EXPECT_EQ(4 * n + 8, total_of(gsort_sum(g, GSORT_U32, keys_.data(), n, out.data(), 0)));
}

// What leaves the device over its own input is finished, and the call ends well; what leaves for another array is not.
TEST_F(HostArrays, ResultsOverTheirInputsAreFinished) {
  constexpr uint64_t n = uint64_t{1} << 20;
  const Handle handle(options());
  gsort *const g = handle.get();
  Listener listener;
  ASSERT_TRUE(succeeded(g, gsort_set_progress(g, Listener::listen, &listener)));
  keys_.assign(n, 5);
  std::vector<uint32_t> out(n);
  for (uint32_t *const to : {keys_.data(), out.data()}) {
    listener = {4 * n};  // all has arrived, and some has left
    EXPECT_EQ(to == out.data() ? GSORT_ERROR_CANCELLED : GSORT_OK, gsort_sort(g, GSORT_U32, keys_.data(), to, n, 0));
    EXPECT_TRUE(listener.asked);
  }
  EXPECT_GT(n, static_cast<uint64_t>(std::count(out.begin(), out.end(), 5u)));
}

// ---- what failures leave behind ----

// A cancel, after which the waits for what is under way fail as well.
TEST_F(HostArrays, ACancelWhoseWaitsFailLeavesNoErrorBehind) {
  constexpr uint64_t n = uint64_t{16} << 20;
  keys_.resize(n);
  const Handle handle(limited(uint64_t{12} << 20));
  gsort *const g = handle.get();
  Listener listener{0};
  ASSERT_TRUE(succeeded(g, gsort_set_progress(g, Listener::listen, &listener)));
  uint64_t sum = 0;
  arm({0, true, kNotPermitted, "cudaStreamSynchronize"});
  EXPECT_EQ(GSORT_ERROR_CANCELLED, gsort_sum(g, GSORT_U32, keys_.data(), n, &sum, 0));
  EXPECT_EQ("cudaStreamSynchronize", disarm().failed);
  EXPECT_EQ(cudaSuccess, take_last_error());
  listener = {};
  EXPECT_TRUE(succeeded(g, gsort_sum(g, GSORT_U32, keys_.data(), n, &sum, 0)));
  EXPECT_TRUE(said("in pieces"));
}

// Every launch of pieces that fails is a failure of the call.
TEST_F(HostArrays, LaunchesOfPiecesThatFailAreNoticed) {
  constexpr uint64_t n = 120000;
  keys_.resize(n);
  std::vector<uint32_t> out(n), values(n);
  const Handle handle(limited(uint64_t{3} << 19));
  gsort *const g = handle.get();
  const std::vector<std::function<gsort_status()>> calls = {
      [&] { return sort(g, n); }, [&] { return gsort_rank(g, GSORT_U32, keys_.data(), n, GSORT_U32, out.data(), 0); },
      [&] { return gsort_argsort(g, GSORT_U32, keys_.data(), n, GSORT_U32, out.data(), 0); },
      [&] { return gsort_topk(g, GSORT_U32, keys_.data(), n, 100, nullptr, GSORT_U32, out.data(), 0); }};
  for (const auto &call : calls)
    for (uint64_t nth = 0; nth == 0 || !failed_.empty(); ++nth) {
      const gsort_status status = failing("__cudaLaunchKernel", kNotPermitted, call, nth);
      EXPECT_EQ(failed_.empty() ? GSORT_OK : GSORT_ERROR_INTERNAL, status) << &call - calls.data() << ", " << nth;
    }
}

// ---- the ring ----

TEST_F(EngineTest, ARingThatWasRefusedIsNotAskedForAgain) {
  use_stand_in(ArrayPlace::kHost);
  const char *const kFails[] = {"cudaHostRegister", "cudaEventCreateWithFlags"};
  for (const char *const function : kFails) {
    const Handle handle(options());
    gsort *const g = handle.get();
    EXPECT_EQ(GSORT_OK, failing(function, cudaErrorNotPermitted, [&] { return sort(g, 400000); }));
    EXPECT_EQ(function, failed_);
    auto calls = counted(g, [&] { return sort(g, 400000); });
    EXPECT_EQ(0u, calls["cudaHostRegister"]);
    EXPECT_EQ(0u, calls["cudaEventRecord"]) << "a ring without its events";
  }
  const Handle handle(options());
  gsort *const g = handle.get();
  auto calls = counted(g, [&] { return sort(g, 400000); });
  EXPECT_EQ(1u, calls["cudaHostRegister"]);
  EXPECT_GT(calls["cudaEventRecord"], 0u);
  calls = counted(g, [&] { return sort(g, 400000); });
  EXPECT_EQ(0u, calls["cudaHostRegister"]);
  EXPECT_GT(calls["cudaEventRecord"], 0u);
}

// ---- the notice ----

// A call on segments hears of its offsets from the kernel that checks them, and does not wait for the stream; where the
// host cannot hear it does.
TEST_F(EngineTest, CallsOnSegmentsWaitForTheCheckAlone) {
  std::vector<uint32_t> keys(40000), best(20);
  const auto topk = [&](gsort *g, uint64_t n) {
    const uint64_t offsets[] = {0, n / 2, n};
    return gsort_topk_segments(g, GSORT_U32, keys.data(), n, offsets, 2, 10, best.data(), GSORT_U32, nullptr, 0);
  };
  const Handle handle(options());
  gsort *const g = handle.get();
  auto calls = counted(g, [&] { return topk(g, 40000); });
  EXPECT_EQ(1u, calls["cudaHostRegister"]);
  for (const uint64_t n : {0, 1000, 2048, 2050, 40000}) {
    calls = counted(g, [&] { return topk(g, n); });
    EXPECT_EQ(0u, calls["cudaHostRegister"]);
    EXPECT_EQ(0u, calls["cudaStreamSynchronize"]) << n;
  }
  EXPECT_EQ(GSORT_ERROR_DEVICE_LOST,
            failing("cudaStreamQuery", cudaErrorIllegalAddress, [&] { return topk(g, 1000); }));
  EXPECT_TRUE(says(g, "waiting for the check of offsets"));

  const Handle refused(options());
  gsort *const r = refused.get();
  EXPECT_EQ(GSORT_OK, failing("cudaHostRegister", cudaErrorNotPermitted, [&] { return topk(r, 1000); }));
  EXPECT_EQ("cudaHostRegister", failed_);
  calls = counted(r, [&] { return topk(r, 1000); });
  EXPECT_EQ(0u, calls["cudaHostRegister"]) << "what was refused once is not asked for again";
  EXPECT_EQ(1u, calls["cudaStreamSynchronize"]);
}

// Shorter arrays, and those that are registered, are left to the driver, each way.
TEST_F(EngineTest, LongPageableArraysGoThroughTheRing) {
  std::vector<uint32_t> out(1 << 18);
  keys_.resize(1 << 18);
  for (const uint64_t bytes : {(uint64_t{1} << 20) - 4, uint64_t{1} << 20})
    for (const ArrayPlace in_place : {ArrayPlace::kHost, ArrayPlace::kRegistered})
      for (const ArrayPlace out_place : {ArrayPlace::kHost, ArrayPlace::kRegistered}) {
        use_stand_in(ArrayPlace::kHost);
        place_array(keys_.data(), bytes, in_place);
        place_array(out.data(), bytes, out_place);
        const Handle handle(options());
        gsort *const g = handle.get();
        const bool is_long = bytes == uint64_t{1} << 20;
        record_work();
        EXPECT_TRUE(succeeded(g, gsort_sort(g, GSORT_U32, keys_.data(), out.data(), bytes / 4, 0)));
        bool read = false, written = false;  // directly
        for (const Work &work : recorded_work()) read |= work.from == keys_.data(), written |= work.to == out.data();
        EXPECT_EQ(!is_long || in_place == ArrayPlace::kRegistered, read) << bytes;
        EXPECT_EQ(!is_long || out_place == ArrayPlace::kRegistered, written) << bytes;
      }
}

// Whatever thread copies, the caller's alone hears how far it is, piece by piece, and may end the call.
TEST_F(EngineTest, TheRingTellsItsCallerAlone) {
  struct Watcher {
    std::thread::id thread;
    uint32_t calls, others, stop_at;
  };
  constexpr uint64_t n = uint64_t{16} << 20;
  keys_.assign(n, 1);
  for (const uint32_t stop_at : {UINT32_MAX, 3u}) {
    use_stand_in(ArrayPlace::kHost);
    gsort_options o = options();
    o.threads = 4;
    const Handle handle(o);
    gsort *const g = handle.get();
    Watcher listener = {std::this_thread::get_id(), 0, 0, stop_at};
    const auto listen = [](void *user, uint64_t, uint64_t) -> int32_t {
      auto *const self = static_cast<Watcher *>(user);
      if (std::this_thread::get_id() != self->thread) self->others++;
      return ++self->calls >= self->stop_at ? 1 : 0;
    };
    ASSERT_TRUE(succeeded(g, gsort_set_progress(g, listen, &listener)));
    uint64_t sum = 7;
    EXPECT_EQ(stop_at == 3 ? GSORT_ERROR_CANCELLED : GSORT_OK, gsort_sum(g, GSORT_U32, keys_.data(), n, &sum, 0));
    EXPECT_EQ(0u, listener.others);
    EXPECT_EQ(stop_at == 3, listener.calls < 6) << listener.calls;
  }
}

}  // namespace
}  // namespace gsort_test
