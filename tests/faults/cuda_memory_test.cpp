// SPDX-License-Identifier: MIT OR Apache-2.0
// The CUDA engine's host code on the stand-in, by the memory it takes and the copies it makes: device memory that is
// short, lent or reserved, and where arrays lie.
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "core/request.h"
#include "cuda/engine/staging.h"
#include "faults/engine_fixture.h"

namespace gsort_test {
namespace {

// ---- memory that is short, lent or reserved ----

class LittleMemory : public EngineTest {
 protected:
  static constexpr uint64_t kKeys = uint64_t{6} << 20, kBytes = 4 * kKeys;

  static uint64_t usual_bytes() {
    uint64_t bytes = 0;
    EXPECT_EQ(GSORT_OK, gsort_workspace_bytes(GSORT_OP_SORT, GSORT_U32, kKeys, 0, &bytes));
    return bytes;
  }
  bool in_place() { return said("in place"); }
  // Blocks of so many bytes cannot be had.
  gsort_options refusing(uint64_t at_least) {
    static uint64_t refused;
    refused = at_least;
    gsort_options o = options();
    o.device_allocate = [](void *, uint64_t bytes, uint64_t alignment) -> void * {
      return bytes >= refused ? nullptr
                              : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    };
    o.device_deallocate = [](void *, void *memory, uint64_t) { std::free(memory); };
    return o;
  }
  gsort_options limited(uint64_t bytes) {
    gsort_options o = options();
    o.device_memory_limit_bytes = bytes;
    return o;
  }
};

TEST_F(LittleMemory, SortsInPlaceWhereTheUsualWorkspaceCannotBeHad) {
  for (const bool reserved : {false, true})
    for (const bool captured : {false, true}) {
      if (captured && !reserved) continue;
      for (const gsort_options &o : {options(), limited(kBytes / 2), refusing(kBytes / 2)}) {
        const bool short_of_memory = o.device_memory_limit_bytes != 0 || o.device_allocate != nullptr;
        const Handle handle(o);
        gsort *const g = handle.get();
        if (reserved) {
          ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, kKeys, 0)));
        }
        if (captured) begin_stand_in_capture();
        EXPECT_TRUE(succeeded(g, sort(g, kKeys)));
        if (captured) end_stand_in_capture();
        EXPECT_EQ(short_of_memory, in_place()) << reserved << captured;
      }
    }
}

TEST_F(LittleMemory, WhereNeitherFitsTheUsualOneIsNamed) {
  for (const gsort_options &o : {limited(kBytes / 100), refusing(kBytes / 100)}) {
    const Handle handle(o);
    EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, sort(handle.get(), kKeys));
    EXPECT_FALSE(in_place());
    const std::string said = gsort_error_message(handle.get());
    EXPECT_GE(std::strtoull(said.c_str(), nullptr, 10), usual_bytes()) << said;
    EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, gsort_reserve(handle.get(), GSORT_OP_SORT, GSORT_U32, kKeys, 0));
  }
}

// The usual sort is taken where the limit is just enough for it. Where it is not, nothing is given up for it in vain:
// neither the blocks of other streams nor the time to wait for their work.
TEST_F(LittleMemory, TheLimitIsReachedButNothingIsGivenUpForMore) {
  uint64_t usual = 0;
  {
    const Handle handle(options());
    EXPECT_TRUE(succeeded(handle.get(), sort(handle.get(), kKeys)));
    usual = held_bytes(handle.get());
  }
  for (const uint64_t limit : {usual, usual - 1}) {
    const Handle handle(limited(limit));
    EXPECT_TRUE(succeeded(handle.get(), sort(handle.get(), kKeys)));
    EXPECT_EQ(limit < usual, in_place());
  }
  int other = 0;
  const Handle handle(limited(kBytes / 2));
  gsort *const g = handle.get();
  EXPECT_TRUE(succeeded(g, sort(g, 20000)));
  ASSERT_TRUE(succeeded(g, gsort_set_stream(g, &other)));
  const std::function<gsort_status()> calls[] = {[&] { return gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, kKeys, 0); },
                                                 [&] { return sort(g, kKeys); }};
  for (const auto &call : calls) {
    auto done = counted(g, call);
    EXPECT_EQ(0u, done["cudaDeviceSynchronize"] + done["cudaFree"]);
  }
  EXPECT_TRUE(in_place());
}

// Values that are not at multiples of their size cannot be moved in place.
TEST_F(LittleMemory, MisalignedValuesAreNotSortedInPlace) {
  const Handle handle(limited(kBytes));
  gsort *const g = handle.get();
  std::vector<uint64_t> values(2 * kKeys + 1);
  keys_.resize(kKeys);
  for (const uint64_t skew : {0, 1}) {
    char *const at =
        reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(values.data()) / 16 * 16 + (skew != 0 ? 8 : 16));
    const gsort_status status = gsort_sort_pairs(g, GSORT_U32, keys_.data(), keys_.data(), 16, at, at, kKeys - 1, 0);
    EXPECT_EQ(skew == 0 ? GSORT_OK : GSORT_ERROR_OUT_OF_MEMORY, status) << gsort_error_message(g);
    EXPECT_EQ(skew == 0, in_place());
  }
}

// Another failure than want of memory is no reason to try with less.
TEST_F(LittleMemory, OtherFailuresAreNotTriedAgain) {
  for (const bool captured : {false, true}) {
    const Handle handle(options());
    gsort *const g = handle.get();
    ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, kKeys, 0)));
    ASSERT_TRUE(succeeded(g, sort(g, kKeys)));
    int other = 0;
    ASSERT_TRUE(succeeded(g, gsort_set_stream(g, &other)));
    (void)in_place();
    if (captured) begin_stand_in_capture();
    EXPECT_EQ(GSORT_ERROR_INTERNAL, failing("cudaMalloc", cudaErrorNotPermitted, [&] { return sort(g, kKeys); }));
    if (captured) end_stand_in_capture();
    EXPECT_EQ("cudaMalloc", failed_);
    EXPECT_FALSE(in_place());
    EXPECT_EQ(GSORT_ERROR_INTERNAL, failing("cudaMalloc", cudaErrorNotPermitted,
                                            [&] { return gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, 3 * kKeys, 0); }));
  }
}

TEST_F(LittleMemory, LentMemoryDecides) {
  std::vector<uint64_t> lent(usual_bytes() / 8 + 32);
  void *const memory = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(lent.data()) + 255) / 256 * 256);
  for (const uint64_t limit : {uint64_t{0}, kBytes / 100}) {
    const Handle handle(limited(limit));
    gsort *const g = handle.get();
    ASSERT_TRUE(succeeded(g, gsort_set_workspace(g, memory, usual_bytes())));
    EXPECT_TRUE(succeeded(g, sort(g, kKeys)));
    EXPECT_FALSE(in_place()) << "there is exactly as much as the usual sort needs";
    ASSERT_TRUE(succeeded(g, gsort_set_workspace(g, memory, usual_bytes() - 1)));
    EXPECT_TRUE(succeeded(g, sort(g, kKeys)));
    EXPECT_TRUE(in_place());
    ASSERT_TRUE(succeeded(g, gsort_set_workspace(g, memory, 4096)));
    EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, sort(g, kKeys));
    EXPECT_TRUE(says(g, "needs " + std::to_string(usual_bytes()) +
                            " bytes of workspace and gsort_set_workspace() lent "
                            "4096"));
    EXPECT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, kKeys, 0)));
    EXPECT_EQ(0u, held_bytes(g)) << "nothing is reserved where memory is lent";
    ASSERT_TRUE(succeeded(g, gsort_set_workspace(g, nullptr, 0)));
    EXPECT_EQ(limit == 0 ? GSORT_OK : GSORT_ERROR_OUT_OF_MEMORY, sort(g, kKeys));
    EXPECT_EQ(limit == 0, held_bytes(g) != 0);
  }
  const Handle handle(options());
  place_array(memory, 1, ArrayPlace::kHost);
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, gsort_set_workspace(handle.get(), memory, usual_bytes()));
  EXPECT_TRUE(says(handle.get(), "is host memory; pass memory of device 0"));
}

TEST_F(EngineTest, ReservesOnceAndNothingForNothing) {
  const Handle handle(options());
  gsort *const g = handle.get();
  const auto reserve = [&](uint64_t n) {
    return counted(g, [&] { return gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, n, 0); })["cudaMalloc"];
  };
  EXPECT_EQ(0u, reserve(0));
  EXPECT_EQ(0u, held_bytes(g));
  EXPECT_EQ(1u, reserve(300000));
  const uint64_t held = held_bytes(g);
  EXPECT_EQ(0u, reserve(300000));
  EXPECT_EQ(0u, reserve(3000));
  EXPECT_EQ(held, held_bytes(g));
  EXPECT_EQ(0u, counted(g, [&] { return sort(g, 300000); })["cudaMalloc"]);
  EXPECT_EQ(1u, reserve(600000));
  EXPECT_GT(held_bytes(g), 2 * held);
  EXPECT_EQ(1u, reserve(1200000));
  EXPECT_LT(held_bytes(g), 6 * held) << "a free block that is too small is given back";
}

// What is reserved is cleared on a stream of its own, since none is known yet, and that has been waited for.
TEST_F(EngineTest, WhatIsReservedHasBeenCleared) {
  const Handle handle(options());
  gsort *const g = handle.get();
  const auto reserve = [&] { return gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, 300000, 0); };
  const int streams = live_streams();
  EXPECT_EQ(GSORT_ERROR_INTERNAL, failing("cudaMemsetAsync", cudaErrorNotPermitted, reserve));
  EXPECT_EQ(0u, held_bytes(g));
  EXPECT_EQ(GSORT_ERROR_INTERNAL, failing("cudaStreamSynchronize", cudaErrorNotPermitted, reserve));
  EXPECT_EQ(0u, held_bytes(g));
  record_work();
  EXPECT_TRUE(succeeded(g, reserve()));
  const std::vector<Work> work = recorded_work();
  ASSERT_EQ(2u, work.size());
  EXPECT_EQ("cudaMemsetAsync", work[0].function);
  EXPECT_EQ("cudaStreamSynchronize", work[1].function);
  EXPECT_EQ(work[0].stream, work[1].stream);
  EXPECT_NE(nullptr, work[0].stream);
  EXPECT_EQ(streams, live_streams());
}

// A block that CUDA does not take back is not the application's error.
TEST_F(EngineTest, BlocksThatCannotBeGivenBackLeaveNoError) {
  const Handle handle(options());
  gsort *const g = handle.get();
  EXPECT_TRUE(succeeded(g, sort(g, 20000)));
  EXPECT_EQ(GSORT_OK, failing("cudaFree", cudaErrorNotPermitted, [&] { return sort(g, 300000); }));
  EXPECT_EQ("cudaFree", failed_);
}

// By the C library; 0 where it does not tell.
uint64_t allocated_bytes() {
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 33)
  return mallinfo2().uordblks;
#endif
#endif
  return 0;
}

// Of a graph that outlives its handle, and of one that does not, nothing stays.
TEST_F(EngineTest, GraphsAndHandlesLeaveNothingBehind) {
  if (allocated_bytes() == 0) GTEST_SKIP() << "the C library does not tell what is allocated";
  const auto capture = [&](bool handle_first) {
    const gsort_options o = options();
    gsort *g = nullptr;
    ASSERT_EQ(GSORT_OK, gsort_create(&o, &g));
    ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, 20000, 0)));
    begin_stand_in_capture();
    EXPECT_TRUE(succeeded(g, sort(g, 20000)));
    if (handle_first) gsort_destroy(g);
    end_stand_in_capture();
    if (!handle_first) gsort_destroy(g);
    log_.clear();
  };
  for (const bool handle_first : {false, true}) {
    capture(handle_first);
    const uint64_t before = allocated_bytes();
    for (int round = 0; round < 500; ++round) capture(handle_first);
    EXPECT_GT(before + 8000, allocated_bytes()) << handle_first;
  }
}

// A block a stream, of eight streams; the one that was used longest ago makes room.
TEST_F(EngineTest, StreamsBlocksAreKeptByTheirLastUse) {
  int streams[9];
  const Handle handle(options());
  gsort *const g = handle.get();
  const auto allocations = [&](int i) {
    EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &streams[i])));
    return counted(g, [&] { return sort(g, 20000); })["cudaMalloc"];
  };
  EXPECT_EQ(1u, allocations(0));
  const uint64_t one = held_bytes(g);
  for (int i = 1; i < 8; ++i) EXPECT_EQ(1u, allocations(i));
  EXPECT_EQ(8 * one, held_bytes(g));
  EXPECT_EQ(0u, allocations(0));
  EXPECT_EQ(1u, allocations(8));
  EXPECT_EQ(8 * one, held_bytes(g));
  EXPECT_EQ(0u, allocations(0));
  EXPECT_EQ(1u, allocations(1));
  EXPECT_EQ(0u, allocations(3));
  EXPECT_EQ(1u, allocations(2));
}

// The limit holds for all blocks together; blocks of other streams make room, and none in a capture.
TEST_F(EngineTest, TheLimitHoldsForAllBlocks) {
  int a = 0, b = 0;
  uint64_t one = 0;
  {
    const Handle free_of_limits(options());
    EXPECT_TRUE(succeeded(free_of_limits.get(), sort(free_of_limits.get(), 20000)));
    one = held_bytes(free_of_limits.get());
  }
  gsort_options o = options();
  o.device_memory_limit_bytes = one;
  const Handle exact(o);
  EXPECT_TRUE(succeeded(exact.get(), sort(exact.get(), 20000)));
  o.device_memory_limit_bytes = one - 1;
  const Handle too_little(o);
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, sort(too_little.get(), 20000));
  EXPECT_TRUE(says(
      too_little.get(),
      std::to_string(one) + " bytes of device memory go past device_memory_limit_bytes = " + std::to_string(one - 1)));
  o.device_memory_limit_bytes = 2 * one - 1;
  const Handle handle(o);
  gsort *const g = handle.get();
  ASSERT_TRUE(succeeded(g, gsort_set_stream(g, &a)));
  EXPECT_TRUE(succeeded(g, sort(g, 20000)));
  ASSERT_TRUE(succeeded(g, gsort_set_stream(g, &b)));
  begin_stand_in_capture();
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, sort(g, 20000));
  EXPECT_EQ(one, held_bytes(g));
  end_stand_in_capture();
  auto calls = counted(g, [&] { return sort(g, 20000); });
  EXPECT_EQ(1u, calls["cudaDeviceSynchronize"]) << "the other stream's work has not been waited for";
  EXPECT_EQ(one, held_bytes(g));
}

// What is reserved, and too small for a call, makes room for it.
TEST_F(EngineTest, FreeBlocksMakeRoom) {
  uint64_t one = 0;
  {
    const Handle handle(options());
    EXPECT_TRUE(succeeded(handle.get(), sort(handle.get(), 300000)));
    one = held_bytes(handle.get());
  }
  gsort_options o = options();
  o.device_memory_limit_bytes = one;
  const Handle handle(o);
  ASSERT_TRUE(succeeded(handle.get(), gsort_reserve(handle.get(), GSORT_OP_SORT, GSORT_U32, 200000, 0)));
  EXPECT_TRUE(succeeded(handle.get(), sort(handle.get(), 300000)));
  EXPECT_EQ(one, held_bytes(handle.get()));
}

// The least free block that is large enough is taken.
TEST_F(EngineTest, TheLeastFreeBlockIsTaken) {
  int a = 0;
  const Handle handle(options());
  gsort *const g = handle.get();
  ASSERT_TRUE(succeeded(g, gsort_set_stream(g, &a)));
  ASSERT_TRUE(succeeded(g, gsort_reserve(g, GSORT_OP_SORT, GSORT_U32, 2000000, 0)));
  keys_.resize(2000000);
  begin_stand_in_capture();  // whose blocks are free when it is gone
  EXPECT_TRUE(succeeded(g, sort(g, 2000000)));
  int other = 0;
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &other)));
  EXPECT_TRUE(succeeded(g, sort(g, 300000)));
  int third = 0;
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &third)));
  EXPECT_TRUE(succeeded(g, sort(g, 1000000)));
  end_stand_in_capture();
  begin_stand_in_capture();
  const auto sorts = [&](uint64_t n) { return counted(g, [&, n] { return sort(g, n); })["cudaMalloc"]; };
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &a)));
  EXPECT_EQ(0u, sorts(250000));
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &other)));
  EXPECT_EQ(0u, sorts(2000000)) << "the largest block was taken for less";
  EXPECT_TRUE(succeeded(g, gsort_set_stream(g, &third)));
  EXPECT_EQ(0u, sorts(1000000));
  end_stand_in_capture();
}

// ---- where arrays lie ----

TEST_F(EngineTest, MemoryThatTheDriverDoesNotKnowIsTheHosts) {
  use_stand_in(ArrayPlace::kHost);
  const Handle handle(options());
  gsort *const g = handle.get();
  record_work();
  EXPECT_EQ(GSORT_OK, failing("cudaPointerGetAttributes", cudaErrorInvalidValue, [&] { return sort(g, 20000); }));
  EXPECT_EQ("cudaPointerGetAttributes", failed_);
  const std::vector<Work> work = recorded_work();
  EXPECT_TRUE(std::any_of(work.begin(), work.end(), [&](const Work &w) { return w.from == keys_.data(); }));
}

TEST_F(EngineTest, ArraysOfOtherDevicesAreRefusedByName) {
  const Handle handle(options());
  gsort *const g = handle.get();
  std::vector<uint32_t> out(1000);
  keys_.resize(1000);
  const auto call = [&] { return gsort_sort(g, GSORT_U32, keys_.data(), out.data(), 1000, 0); };
  place_array(out.data(), 4000, ArrayPlace::kDevice, 1);
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, call());
  EXPECT_TRUE(says(g, "keys_out = "));
  EXPECT_TRUE(says(g, "lies on device 1, and the handle is bound to device 0"));
  use_stand_in(ArrayPlace::kDevice);
  place_array(out.data(), 4000, ArrayPlace::kManaged, 1);
  EXPECT_TRUE(succeeded(g, call())) << "managed memory is every device's";
}

// What is not there lies nowhere, and keeps no call of device arrays from being enqueued.
TEST_F(EngineTest, ArraysThatAreNotThereAreNotCopied) {
  constexpr uint64_t n = 3000;
  keys_.resize(n);
  std::vector<uint32_t> out(n), indices(n);
  uint32_t on_host = 0;
  place_array(&on_host, sizeof on_host, ArrayPlace::kHost);
  const std::function<gsort_status(gsort *)> calls[] = {
      [&](gsort *g) { return gsort_topk(g, GSORT_U32, keys_.data(), n, 50, out.data(), GSORT_U32, nullptr, 0); },
      [&](gsort *g) { return gsort_topk(g, GSORT_U32, keys_.data(), n, 50, nullptr, GSORT_U32, indices.data(), 0); },
      [&](gsort *g) { return gsort_merge(g, GSORT_U32, keys_.data(), n, nullptr, 0, out.data(), 0); },
      [&](gsort *g) { return gsort_merge(g, GSORT_U32, nullptr, 0, keys_.data(), n, out.data(), 0); },
      [&](gsort *g) { return gsort_merge(g, GSORT_U32, keys_.data(), n, &on_host, 0, out.data(), 0); }};
  for (const auto &call : calls) {
    const Handle handle(options());
    record_work();
    EXPECT_TRUE(succeeded(handle.get(), call(handle.get())));
    for (const Work &work : recorded_work())
      EXPECT_TRUE(!work.kernel.empty() || work.function == "cudaMemsetAsync")
          << work.function << " in call " << &call - calls;
  }
}

// Of one array once, and all others of the call, too.
TEST_F(EngineTest, EachArrayIsAskedForOnce) {
  const Handle handle(options());
  keys_.resize(3000);
  std::vector<uint32_t> out(3000), values(3000), values_out(3000);
  arm(kNoFault);
  EXPECT_EQ(GSORT_OK, gsort_sort_pairs(handle.get(), GSORT_U32, keys_.data(), out.data(), 4, values.data(),
                                       values_out.data(), 3000, 0));
  disarm();
  EXPECT_EQ(4u, calls_of("cudaPointerGetAttributes"));
  arm(kNoFault);
  EXPECT_EQ(GSORT_OK, gsort_sort_pairs(handle.get(), GSORT_U32, keys_.data(), keys_.data(), 4, values.data(),
                                       values.data(), 3000, 0));
  disarm();
  EXPECT_EQ(2u, calls_of("cudaPointerGetAttributes"));
}

// Each array of the host is copied, whole and no byte more, and all others stay where they are.
TEST_F(EngineTest, HostArraysAreCopiedWhole) {
  constexpr uint64_t n = 3000;
  const Handle handle(options());
  gsort *const g = handle.get();
  std::vector<uint32_t> keys(n), out(n), values(n), values_out(n);
  const std::vector<uint64_t> offsets = {0, 1000, 2000, n};
  using Copies = std::vector<std::pair<const void *, uint64_t>>;
  const auto copied = [&](const auto &call) {
    record_work();
    EXPECT_TRUE(succeeded(g, call()));
    Copies ends;
    const auto is_ours = [&](const void *at) {
      for (const void *array : {static_cast<const void *>(keys.data()), static_cast<const void *>(out.data()),
                                static_cast<const void *>(values.data()), static_cast<const void *>(values_out.data()),
                                static_cast<const void *>(offsets.data())})
        if (at == array) return true;
      return false;
    };
    for (const Work &work : recorded_work()) {
      if (work.function != "cudaMemcpyAsync") continue;
      if (is_ours(work.from)) ends.push_back({work.from, work.bytes});
      if (is_ours(work.to)) ends.push_back({work.to, work.bytes});
    }
    return ends;
  };
  const auto pairs = [&] {
    return gsort_sort_pairs(g, GSORT_U32, keys.data(), out.data(), 4, values.data(), values_out.data(), n, 0);
  };
  const auto segments = [&] {
    return gsort_sort_segments(g, GSORT_U32, keys.data(), out.data(), n, offsets.data(), 3, 0);
  };
  // Each alone.
  const std::pair<const void *, uint64_t> arrays[] = {
      {keys.data(), 4 * n}, {out.data(), 4 * n}, {values.data(), 4 * n}, {values_out.data(), 4 * n}};
  for (const auto &[array, bytes] : arrays) {
    use_stand_in(ArrayPlace::kDevice);
    place_array(array, bytes, ArrayPlace::kHost);
    EXPECT_EQ((Copies{{array, bytes}}), copied(pairs));
  }
  use_stand_in(ArrayPlace::kDevice);
  place_array(offsets.data(), 32, ArrayPlace::kHost);
  EXPECT_EQ((Copies{{offsets.data(), 32}}), copied(segments));
  const auto sum = [&] { return gsort_sum(g, GSORT_U32, keys.data(), n, out.data(), 0); };
  use_stand_in(ArrayPlace::kHost);
  EXPECT_EQ((Copies{{keys.data(), 4 * n}, {out.data(), 8}}), copied(sum));
  // All: one copy on the device serves keys and sorted keys.
  for (const ArrayPlace place : {ArrayPlace::kHost, ArrayPlace::kRegistered}) {
    use_stand_in(place);
    EXPECT_EQ((Copies{{keys.data(), 4 * n}, {values.data(), 4 * n}, {out.data(), 4 * n}, {values_out.data(), 4 * n}}),
              copied(pairs));
  }
}

// The request that kernels get: arrays of the host by their copies on the device, which do not overlap, and all others
// as they were.
TEST_F(EngineTest, RequestsAreBoundToTheCopiesOfHostArrays) {
  using namespace gsort_internal;
  constexpr uint64_t n = 100;
  std::vector<uint64_t> arrays[8];
  for (auto &array : arrays) array.resize(2 * n);
  Request request{};
  request.operation = Operation::kTopkSegments;
  request.order.dtype = request.index_t = GSORT_U64;
  request.n = n, request.segments = 3, request.k = 5;
  request.in = arrays[0].data(), request.out = arrays[1].data(), request.indices_out = arrays[2].data();
  request.offsets = arrays[3].data();
  Request pairs = request;
  pairs.operation = Operation::kSortPairs;
  pairs.value_bytes = 8, pairs.segments = 0, pairs.offsets = nullptr, pairs.indices_out = nullptr;
  pairs.values_in = arrays[4].data(), pairs.values_out = arrays[5].data();
  Request merge = pairs;
  merge.operation = Operation::kMerge;
  merge.values_in = merge.values_out = nullptr, merge.b = arrays[6].data(), merge.b_n = n / 2;
  for (const Request &each : {request, pairs, merge})
    for (uint32_t on_host = 0; on_host < 128; ++on_host) {
      use_stand_in(ArrayPlace::kDevice);
      for (uint32_t i = 0; i < 8; ++i)
        if ((on_host >> i & 1) != 0) place_array(arrays[i].data(), 16 * n, ArrayPlace::kHost);
      MemoryKinds kinds;
      Staging staging;
      staging.collect(each, kinds, 0);
      std::vector<char> memory(staging.bytes() + 1);
      const Request bound = staging.bind(each, memory.data());
      std::map<const void *, uint32_t> copies;
      const std::pair<const void *, const void *> ends[] = {{each.in, bound.in},
                                                            {each.out, bound.out},
                                                            {each.indices_out, bound.indices_out},
                                                            {each.offsets, bound.offsets},
                                                            {each.values_in, bound.values_in},
                                                            {each.values_out, bound.values_out},
                                                            {each.b, bound.b}};
      for (uint32_t i = 0; i < 7; ++i) {
        const auto &[before, after] = ends[i];
        if (before == nullptr || (on_host >> i & 1) == 0) {
          EXPECT_EQ(before, after) << i << ", " << on_host;
          continue;
        }
        EXPECT_TRUE(after >= memory.data() && after < memory.data() + staging.bytes()) << i << ", " << on_host;
        copies[after]++;
      }
      // Sorted pairs lie where they were read from.
      for (const auto &[copy, times] : copies) EXPECT_LE(times, each.operation == Operation::kSortPairs ? 2u : 1u);
    }
}

// What is registered of the arrays that are read, and of those that are written.
TEST_F(EngineTest, RegisteredBytesAreToldByTheirWay) {
  using namespace gsort_internal;
  constexpr uint64_t n = 1000;
  std::vector<uint32_t> in(n), values(n), out(n);
  std::vector<uint64_t> indices(n);
  Request topk{};
  topk.operation = Operation::kTopk;
  topk.order.dtype = GSORT_U32, topk.index_t = GSORT_U64;
  topk.n = topk.columns = topk.row_stride = n, topk.rows = 1, topk.k = 30;
  topk.in = in.data(), topk.out = out.data(), topk.indices_out = indices.data();
  for (uint32_t registered = 0; registered < 8; ++registered) {
    use_stand_in(ArrayPlace::kHost);
    const auto is_registered = [&](uint32_t bit, const void *array, uint64_t bytes) {
      if ((registered >> bit & 1) == 0) return uint64_t{0};
      place_array(array, bytes, ArrayPlace::kRegistered);
      return bytes;
    };
    const uint64_t read = is_registered(0, in.data(), 4 * n),
                   written = is_registered(1, out.data(), 4 * 30) + is_registered(2, indices.data(), 8 * 30);
    MemoryKinds kinds;
    Staging staging;
    staging.collect(topk, kinds, 0);
    EXPECT_EQ(read, staging.registered_in());
    EXPECT_EQ(written, staging.registered_out());
    EXPECT_EQ(4 * n, staging.bytes_in());
    EXPECT_EQ(12u * 30, staging.bytes_out());
  }
}

// Keys, sorted, take the device's memory once, and so do those that are scanned, and values.
TEST_F(EngineTest, OneCopyServesWhatIsReadAndWritten) {
  constexpr uint64_t n = uint64_t{1} << 20;
  const std::vector<float> in(n), values(n);
  std::vector<float> out(n), values_out(n);
  const std::pair<uint64_t, std::function<gsort_status(gsort *)>> calls[] = {
      {1, [&](gsort *g) { return gsort_sort(g, GSORT_F32, in.data(), out.data(), n, 0); }},
      {1, [&](gsort *g) { return gsort_scan(g, GSORT_F32, in.data(), out.data(), n, 0); }},
      {2, [&](gsort *g) {
         return gsort_sort_pairs(g, GSORT_F32, in.data(), out.data(), 4, values.data(), values_out.data(), n, 0);
       }}};
  for (const auto &[arrays, call] : calls) {
    uint64_t held[2] = {};
    for (const bool on_host : {false, true}) {
      use_stand_in(on_host ? ArrayPlace::kHost : ArrayPlace::kDevice);
      const Handle handle(options());
      EXPECT_TRUE(succeeded(handle.get(), call(handle.get())));
      held[on_host] = held_bytes(handle.get());
    }
    EXPECT_EQ(arrays, (held[1] - held[0]) / (4 * n));
  }
}

// In pieces, what is registered travels directly and what is not by the ring, also where arrays of both kinds touch.
TEST_F(EngineTest, PiecesKnowWhatIsRegistered) {
  constexpr uint64_t n = uint64_t{4} << 20;
  std::vector<uint32_t> both(2 * n);
  for (const bool in_first : {false, true})
    for (const bool in_registered : {false, true}) {
      use_stand_in(ArrayPlace::kHost);
      uint32_t *const in = both.data() + (in_first ? 0 : n), *const out = both.data() + (in_first ? n : 0);
      place_array(in_registered ? in : out, 4 * n, ArrayPlace::kRegistered);
      gsort_options o = options();
      o.device_memory_limit_bytes = uint64_t{12} << 20;
      const Handle handle(o);
      record_work();
      EXPECT_TRUE(succeeded(handle.get(), gsort_scan(handle.get(), GSORT_U32, in, out, n, 0)));
      uint64_t read = 0, written = 0;  // directly
      for (const Work &work : recorded_work()) {
        if (work.from >= in && work.from < in + n) read += work.bytes;
        if (work.to >= out && work.to < out + n) written += work.bytes;
      }
      // The end of an array may be too short for the ring.
      EXPECT_EQ(4 * n, in_registered ? read : written) << in_first;
      EXPECT_GT(uint64_t{1} << 20, in_registered ? written : read) << in_first;
      EXPECT_TRUE(said("in pieces"));
    }
}

}  // namespace
}  // namespace gsort_test
