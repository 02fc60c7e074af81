// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorts in pieces into other arrays, and of pairs in place that lie in sorted runs in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "pieces_fixture.h"

namespace gsort_test {
namespace {

TEST(Pieces, SortsAsTheWholeIsSorted) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    Call call = make_call(Operation::kSort, t, shape, 150001);
    call.request.order = order;
    // A sort of 2-byte keys counts all values, which alone takes a megabyte.
    expect_same(call, dtype_bytes(t) == 2 ? kMegabyte * 7 / 4 : kMegabyte / 2, turn % 2 == 0);
  });
}

TEST(Pieces, PairsAreStable) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    constexpr uint32_t kValueBytes[] = {1, 2, 3, 4, 8, 16, 65, 200};
    Call call = make_call(Operation::kSortPairs, t, shape, 60001);
    call.request.order = order;
    call.request.value_bytes = kValueBytes[turn % 8];
    call.values = keys_of(GSORT_U8, 0, call.request.n * call.request.value_bytes, turn);
    call.values_out.assign(call.values.size(), 1);
    expect_same(call, kMegabyte, turn % 2 == 1);
  });
}

// Into other arrays a sort needs next to no scratch memory of what a sample stands for, and the calls succeed with a
// limit that the arrays are far above.
TEST(Pieces, SortsIntoOtherArraysWithLittleScratchMemory) {
  for (const uint32_t shape : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
    Call call = make_call(Operation::kSortPairs, GSORT_U32, shape, 400000);
    call.request.value_bytes = 4;
    call.values = keys_of(GSORT_U32, 0, 400000, 5);
    call.values_out.assign(call.values.size(), 1);
    const Call expected = done_whole(call, false);
    Pieces work(2 * kMegabyte, 400000 * 8 / 8);
    ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said << ", shape " << shape;
    EXPECT_TRUE(expected.out == call.out && expected.values_out == call.values_out) << shape;
  }
}

// Values that stay at home until the order of the keys, and the keys themselves, are known.
TEST(Pieces, WideValuesOfDealtKeys) {
  Call call = make_call(Operation::kSortPairs, GSORT_U32, 7, 100000);
  call.request.value_bytes = 65;
  call.values = keys_of(GSORT_U8, 0, call.request.n * 65, 3);
  call.values_out.assign(call.values.size(), 1);
  for (const bool in_place : {false, true}) expect_same(call, kMegabyte * 3 / 2, in_place);
}

// Samples that tell nothing of the input, here as if all of it came before the bounds, or behind them: much goes aside,
// and buckets are cut again.
TEST(Pieces, SamplesThatMisleadChangeNothing) {
  for (const Operation operation : {Operation::kSort, Operation::kSortPairs})
    for (const uint64_t part : {0, 1, 2, 3}) {
      Call call = make_call(operation, GSORT_F32, part == 3 ? 7 : 0, 300000);
      call.request.value_bytes = 4;
      call.values = keys_of(GSORT_U32, 0, 300000, 5);
      call.values_out.assign(call.values.size(), 1);
      const Call expected = done_whole(call, false);
      Pieces work(kMegabyte);
      work.device.by_length = true;
      work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
        const uint64_t half = count / 4 * 2;  // two words a bound
        for (uint64_t i = 0; i < count; ++i)
          if (part == 0 || (part >= 2 && i < half)) told[i] = 0;
        for (uint64_t i = 0; i < count; ++i)
          if (part == 1 || (part == 3 && i >= half)) told[i] = items;
      };
      ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
      EXPECT_TRUE(expected.out == call.out && expected.values_out == call.values_out) << part;
      EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
    }
}

TEST(Pieces, SearchesThatTellNonsenseLoseNothing) { mislead_searches(false); }

void stop_in_pieces(bool in_place, bool cancels) {
  uint64_t stopped = 0;
  stop_everywhere({kMegabyte, false, in_place, cancels, GSORT_ERROR_INTERNAL}, stopped);
  EXPECT_GT(stopped, 10u);
}

TEST(Pieces, FailingStepsLoseNothing) {
  stop_in_pieces(true, false);
  stop_in_pieces(false, false);
}

TEST(Pieces, CancelledCallsLoseNothing) {
  stop_in_pieces(true, true);
  stop_in_pieces(false, true);
}

TEST(Pieces, TooLittleMemoryIsRefusedBeforeAnythingIsWritten) {
  for (const uint64_t budget : {uint64_t{0}, uint64_t{1000}, uint64_t{30000}, 2 * kMegabyte})
    for (const bool in_place : {false, true}) {
      if (!in_place && budget == 2 * kMegabyte) continue;  // needs hardly any scratch memory
      Call call = make_call(in_place ? Operation::kSortPairs : Operation::kSort, GSORT_U64, 0, 400000);
      call.request.value_bytes = 1;
      call.values.assign(400000, 1);
      Call after = call;
      Pieces work(budget, 100000);
      EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, work.run(after.bound(in_place)));
      EXPECT_NE(std::string::npos, work.said.find("raise")) << work.said;
      EXPECT_TRUE(call.in == after.in && call.out == after.out && call.values == after.values);
      EXPECT_EQ(0u, work.memory.held_bytes());
    }
}

// Memory that is there but cannot be had makes pieces smaller.
TEST(Pieces, LessMemoryThanWasSaid) {
  for (uint64_t take = 0; take < 6; ++take) {
    Call call = make_call(Operation::kSort, GSORT_U32, 0, 200000);
    const Call expected = done_whole(call, false);
    Pieces work(kMegabyte);
    work.device.fail_take = take;
    ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
    EXPECT_TRUE(expected.out == call.out);
  }
}

}  // namespace
}  // namespace gsort_test
