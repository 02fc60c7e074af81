// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums, reductions and running sums in pieces.
#include <gtest/gtest.h>

#include "pieces_fixture.h"

namespace gsort_test {
namespace {

TEST(Pieces, SumsAndReductions) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t) {
    Call call = make_call(Operation::kSum, t, shape, 300001);
    call.out.assign(8, 1);
    expect_same(call, 200000);
    call.request.operation = Operation::kReduce;
    for (const uint32_t op : {GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX, GSORT_MEAN}) {
      call.request.reduce_op = op;
      call.request.order = {t, op == GSORT_MAX || op == GSORT_ARGMAX, op != GSORT_MEAN && order.nan_last};
      call.out.assign(op == GSORT_MIN || op == GSORT_MAX ? dtype_bytes(t) : 8, 1);
      expect_same(call, 200000);
    }
  });
}

// -0 alone sums to -0, and both infinities to NaN, wherever the pieces are cut.
TEST(Pieces, SumsOfWhatFlagsTell) {
  for (const double first : {-0.0, 0.0, 1.0 / 0.0, 5e-324, 1e308})
    for (const double last : {-0.0, -1.0 / 0.0, 0.0 / 0.0, -5e-324, 1e308}) {
      std::vector<double> elements(100000, -0.0);
      elements.front() = first, elements.back() = last;
      Call call = make_call(Operation::kSum, GSORT_F64, 0, elements.size());
      call.in = bytes_of(elements);
      call.out.assign(8, 1);
      expect_same(call, 100000);
      call.request.operation = Operation::kReduce, call.request.reduce_op = GSORT_MEAN;
      expect_same(call, 100000);
    }
}

// The least at every place, those at the borders of pieces among them.
TEST(Pieces, ExtremesAtEveryPlace) {
  const std::vector<uint64_t> elements(5000, 7);
  for (uint64_t place = 0; place < elements.size(); ++place) {
    Call call = make_call(Operation::kReduce, GSORT_U64, 0, elements.size());
    call.in = bytes_of(elements);
    call.in[place * sizeof(uint64_t)] = 3;
    call.out.assign(8, 1);
    call.request.reduce_op = GSORT_ARGMIN;
    Pieces work(20000);
    ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
    ASSERT_GE(work.device.steps, 4u) << "that was one piece";
    ASSERT_EQ(std::vector<char>(call.out), bytes_of(std::vector<uint64_t>{place}));
  }
}

TEST(Pieces, ScansOfIntegers) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &, uint32_t turn) {
    if (is_float(t)) return;
    for (const bool exclusive : {false, true}) {
      Call call = make_call(Operation::kScan, t, shape, 300001);
      call.request.exclusive = exclusive;
      expect_same(call, 200000, turn % 2 == 1);
    }
  });
}

// The last piece has one element, two, ...
TEST(Pieces, ScansOfAnyLength) {
  for (uint64_t n = 8000; n < 10500; ++n) {
    const Call call = make_call(Operation::kScan, GSORT_U8, 6, n);
    ASSERT_NO_FATAL_FAILURE(expect_same(call, 8000)) << n;
  }
}

TEST(Pieces, ScansTellThatAllIsDone) {
  for (const bool exclusive : {false, true})
    for (const bool in_place : {false, true}) {
      Call call = make_call(Operation::kScan, GSORT_U16, 0, 300000);
      call.request.exclusive = exclusive;
      Pieces work(200000);
      Countdown countdown{UINT64_MAX};
      work.control.set_progress(&Countdown::call, &countdown);
      ASSERT_EQ(GSORT_OK, work.run(call.bound(in_place))) << work.said;
      EXPECT_FALSE(countdown.fell);
      EXPECT_EQ(countdown.total, countdown.last) << exclusive << in_place;
    }
}

// A piece has whole groups of 2^21 elements.
TEST(Pieces, ScansOfFloats) {
  for (const bool exclusive : {false, true}) {
    Call call = make_call(Operation::kScan, GSORT_F16, 6, 3 * (uint64_t{1} << 21) + 77);
    call.request.exclusive = exclusive;
    expect_same(call, 13 * kMegabyte, exclusive);
  }
  Call call = make_call(Operation::kScan, GSORT_F16, 6, 3 * (uint64_t{1} << 21) + 77);
  Pieces work(kMegabyte);
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, work.run(call.bound(false)));
  EXPECT_NE(std::string::npos, work.said.find("device_memory_limit_bytes")) << work.said;
}

TEST(Pieces, ScanInPlaceIsAllOrNothing) {
  const Call call = make_call(Operation::kScan, GSORT_U16, 0, 300000);
  const Call expected = done_whole(call, true);
  for (uint64_t at = 0;; ++at) {
    Call now = call;
    Pieces work(200000);
    Countdown countdown{at};
    work.control.set_progress(&Countdown::call, &countdown);
    const gsort_status status = work.run(now.bound(true));
    ASSERT_TRUE(now.in == (status == GSORT_OK ? expected.in : call.in));
    if (status == GSORT_OK) {
      EXPECT_EQ(countdown.total, countdown.last) << "the last chance to cancel is the one before the result is written";
      break;
    }
    ASSERT_EQ(GSORT_ERROR_CANCELLED, status);
  }
}

}  // namespace
}  // namespace gsort_test
