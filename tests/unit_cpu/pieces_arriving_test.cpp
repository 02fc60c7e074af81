// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts of arrays that the device holds, done as they arrive.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "pieces_fixture.h"

namespace gsort_test {
namespace {

// Room for the runs of up to a megabyte, two slots and the workspaces of the CPU's stand-in for a device.
constexpr uint64_t kRoom = 8 * kMegabyte;

void expect_same_as_whole(const Call &call, bool in_place, bool must_arrive = true) {
  const Call expected = done_whole(call, in_place);
  Call now = call;
  Pieces work(kRoom);
  work.device.by_length = true;
  work.device.arriving.bytes_min = 0;
  work.else_at_once = must_arrive;
  ASSERT_EQ(GSORT_OK, work.run(now.bound(in_place))) << work.said;
  EXPECT_GE(work.device.cuts, 3u);
  ASSERT_TRUE(expected.in == now.in && expected.values == now.values);
  ASSERT_TRUE(expected.out == now.out && expected.values_out == now.values_out);
  EXPECT_EQ(0u, work.memory.held_bytes());
  EXPECT_EQ(1u, work.device.takes);
}

TEST(Arriving, SortsAsTheWholeIsSorted) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    Call call = make_call(Operation::kSort, t, shape, 30000 + turn % 700);
    call.request.order = order;
    expect_same_as_whole(call, turn % 2 == 0);
  });
}

TEST(Arriving, PairsAreStable) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    constexpr uint32_t kValueBytes[] = {1, 2, 3, 4, 8, 16, 12, 64};
    Call call = make_call(Operation::kSortPairs, t, shape, 12345);
    call.request.order = order;
    call.request.value_bytes = kValueBytes[turn % 8];
    call.values = keys_of(GSORT_U8, 0, call.request.n * call.request.value_bytes, turn);
    call.values_out.assign(call.values.size(), 1);
    expect_same_as_whole(call, turn % 2 == 1);
  });
}

TEST(Arriving, ArgsortsAreStable) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    Call call = make_call(Operation::kArgsort, t, shape, 20001);
    call.request.order = order;
    call.request.index_t = turn % 2 == 0 ? GSORT_U32 : GSORT_I64;
    call.out.assign(call.request.n * dtype_bytes(call.request.index_t), 1);
    expect_same_as_whole(call, false);
  });
}

// Sizes around those where a piece more is needed.
TEST(Arriving, LengthsAroundPieces) {
  for (const uint64_t around : {2048u, 4096u, 6144u, 8192u, 16384u})
    for (const int64_t difference : {-1, 0, 1, 256}) {
      const uint64_t n = around + static_cast<uint64_t>(difference);
      Call call = make_call(Operation::kSort, GSORT_U32, 0, n);
      const std::vector<char> expected = sorted_u32(call.in);
      Pieces work(kRoom);
      work.device.arriving.bytes_min = 0;
      ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
      EXPECT_TRUE(expected == call.out) << n;
    }
}

// Each byte goes over the bus once each way, and no scratch memory is asked for.
TEST(Arriving, CopiesEachArrayOnce) {
  Call call = make_call(Operation::kSort, GSORT_U64, 0, 100000);
  Pieces work(kRoom, 1);
  work.device.arriving.bytes_min = 0;
  ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
  EXPECT_EQ(800000u, work.device.bytes_in);
  EXPECT_EQ(800000u, work.device.bytes_out);
}

// Without the memory, or where the arrays are short, it is done in another way, or not at all if it could be done at
// once.
TEST(Arriving, OtherWaysWhereThereIsNoRoom) {
  for (const bool else_at_once : {false, true})
    for (const int why : {0, 1, 2}) {
      Call call = make_call(Operation::kSort, GSORT_U32, 0, 200000);
      const Call before = call;
      const std::vector<char> expected = sorted_u32(call.in);
      Pieces work(why == 0 ? kMegabyte : kRoom);
      work.else_at_once = else_at_once;
      work.device.arriving.bytes_min = why == 1 ? 800001 : 800000;
      if (why == 2) work.device.fail_take = 0;
      const gsort_status status = work.run(call.bound(true));
      EXPECT_EQ(0u, work.device.cuts);
      EXPECT_FALSE(work.lost_order);
      ASSERT_EQ(else_at_once ? GSORT_ERROR_OUT_OF_MEMORY : GSORT_OK, status) << work.said;
      EXPECT_TRUE((else_at_once ? before.in : expected) == call.in);
    }
}

// A device that is out of order: no element is lost and nothing else is written.
TEST(Arriving, CutsThatAreNoneLoseNothing) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 40; ++round) {
    Call call = make_call(Operation::kSort, GSORT_U32, 0, 50000);
    const std::vector<char> expected = sorted_u32(call.in);
    Pieces work(kRoom);
    work.device.arriving.bytes_min = 0;
    work.device.tamper_cuts = [&](uint64_t *told, uint64_t count) {
      for (uint64_t i = 0; i < count; ++i)
        if (round % 3 != 0 || i == count / 2) told[i] = round % 2 == 0 ? random() : random() % 50000;
    };
    ASSERT_EQ(GSORT_OK, work.run(call.bound(true))) << work.said;
    EXPECT_TRUE(expected == sorted_u32(call.in)) << round;
  }
}

// In place nothing has changed as long as nothing was written.
void stop_arriving(bool in_place, bool cancels, gsort_status fails_with) {
  uint64_t stopped = 0;
  stop_everywhere({kRoom, true, in_place, cancels, fails_with}, stopped);
  EXPECT_GT(stopped, in_place && cancels ? 5u : 10u);
}

TEST(Arriving, FailingStepsLoseNothing) {
  for (const gsort_status status : {GSORT_ERROR_INTERNAL, GSORT_ERROR_OUT_OF_MEMORY}) {
    stop_arriving(true, false, status);
    stop_arriving(false, false, status);
  }
}

TEST(Arriving, CancelledCallsLoseNothing) {
  stop_arriving(true, true, GSORT_OK);
  stop_arriving(false, true, GSORT_OK);
}

// A segment that does not fit a piece may be sorted so, and is a part of what the call has told.
TEST(Arriving, SegmentsAreOfOneTotal) {
  Call call = make_call(Operation::kSortSegments, GSORT_U32, 0, 400000);
  call.offsets = {0, 120000, 300000, 400000};
  call.request.segments = 3;
  const Call expected = done_whole(call, false);
  Pieces work(kMegabyte);
  work.device.arriving.bytes_min = 0;
  Countdown countdown{UINT64_MAX};
  work.control.set_progress(&Countdown::call, &countdown);
  ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
  EXPECT_GE(work.device.cuts, 3u);  // of the first
  EXPECT_TRUE(expected.out == call.out);
  EXPECT_FALSE(countdown.fell);
  EXPECT_EQ(2 * 400000 * sizeof(uint32_t), countdown.total);
}

TEST(Arriving, WhichCallsAre) {
  Request request{};
  const auto is = [&](Operation operation, gsort_dtype t, uint64_t n, uint32_t value_bytes = 0) {
    request.operation = operation, request.order.dtype = t, request.n = n;
    request.value_bytes = value_bytes, request.index_t = GSORT_U32;
    return rather_sorted_as_it_arrives(request);
  };
  constexpr uint64_t kBytes = uint64_t{256} << 20;
  EXPECT_TRUE(is(Operation::kSort, GSORT_U32, kBytes / 4) && !is(Operation::kSort, GSORT_U32, kBytes / 4 - 1));
  EXPECT_TRUE(is(Operation::kSort, GSORT_U8, kBytes) && !is(Operation::kSort, GSORT_U8, kBytes - 1));
  EXPECT_TRUE(is(Operation::kSortPairs, GSORT_U64, kBytes / 16, 8));
  EXPECT_TRUE(is(Operation::kSortPairs, GSORT_U64, kBytes / 72 + 1, 64));
  EXPECT_FALSE(is(Operation::kSortPairs, GSORT_U64, kBytes / 72, 64));
  EXPECT_FALSE(is(Operation::kSortPairs, GSORT_U64, kBytes, 65));  // values that stay at home
  EXPECT_TRUE(is(Operation::kArgsort, GSORT_F32, kBytes / 8) && !is(Operation::kArgsort, GSORT_F32, kBytes / 8 - 1));
  for (const Operation operation : {Operation::kRank, Operation::kMerge, Operation::kTopk, Operation::kSortSegments})
    EXPECT_FALSE(is(operation, GSORT_U32, kBytes));
}

}  // namespace
}  // namespace gsort_test
