// SPDX-License-Identifier: MIT OR Apache-2.0
// Argsorts and ranks in pieces, whose keys are dealt out to buckets.
#include <gtest/gtest.h>

#include <algorithm>

#include "pieces_fixture.h"

namespace gsort_test {
namespace {

TEST(Pieces, ArgsortsAndRanks) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    for (const Operation operation : {Operation::kArgsort, Operation::kRank}) {
      Call call = make_call(operation, t, shape, 60001);
      call.request.order = order;
      call.request.index_t = turn % 2 == 0 ? GSORT_U32 : GSORT_I64;
      call.out.assign(call.request.n * dtype_bytes(call.request.index_t), 1);
      expect_same(call, kMegabyte);
    }
  });
}

// What argsorts and ranks are given: keys that are dealt out to buckets while their indices stay on the device.
Call make_dealt(Operation operation, gsort_dtype t, uint32_t shape, gsort_dtype index_t) {
  Call call = make_call(operation, t, shape, 300000);
  call.request.index_t = index_t;
  call.out.assign(call.request.n * dtype_bytes(index_t), 1);
  return call;
}

// They need little scratch memory, which is what a limit far below the arrays shows.
TEST(Pieces, IndicesAndRanksOfDealtKeys) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    for (const gsort_dtype index_t : {GSORT_U32, GSORT_I64})
      for (const Operation operation : {Operation::kArgsort, Operation::kRank}) {
        if (dtype_bytes(t) > dtype_bytes(index_t)) continue;
        Call call = make_dealt(operation, t, shape, index_t);
        call.request.order = order;
        const Call expected = done_whole(call, false);
        // A part may need more workspace than there is where that depends on the length in no simple way.
        const bool by_length = turn % 4 == 3;
        Pieces work(5 * kMegabyte, by_length ? 0 : call.out.size() / 8 + kMegabyte / 16);
        work.device.by_length = by_length;
        ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
        EXPECT_TRUE(expected.out == call.out && expected.in == call.in);
        EXPECT_EQ(call.request.n, work.device.dealt);
        EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
      }
  });
}

// Keys that are wider than indices wait in scratch memory; their ranks are made by the way that does without dealing.
TEST(Pieces, IndicesNarrowerThanKeys) {
  for (const Operation operation : {Operation::kArgsort, Operation::kRank}) {
    const Call call = make_dealt(operation, GSORT_F64, 7, GSORT_I32);
    expect_same(call, 3 * kMegabyte);
  }
}

// All keys in the first buckets, or in the last: no bucket is cut, and the call is done in another way.
TEST(Pieces, SamplesThatMisleadDealers) {
  for (const Operation operation : {Operation::kArgsort, Operation::kRank})
    for (const bool behind : {false, true})
      for (const uint64_t buckets_left : {1, 2, 3}) {
        Call call = make_dealt(operation, GSORT_I32, 7, GSORT_U32);
        const Call expected = done_whole(call, false);
        Pieces work(5 * kMegabyte / 2);
        Countdown countdown{UINT64_MAX};
        work.control.set_progress(&Countdown::call, &countdown);
        work.device.misdeal = [&](uint64_t bucket, uint64_t buckets) {
          const uint64_t left = std::min(buckets_left, buckets);
          return behind ? std::max(bucket, buckets - left) : std::min(bucket, left - 1);
        };
        ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
        EXPECT_TRUE(expected.out == call.out && expected.in == call.in) << behind << buckets_left;
        EXPECT_GT(work.device.dealt, 0u);
        EXPECT_FALSE(countdown.fell);
        EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
      }
}

// Uneven buckets, whose keys do not lie where the sample expects them.
TEST(Pieces, UnevenBucketsOfDealtKeys) {
  for (const Operation operation : {Operation::kArgsort, Operation::kRank})
    for (const uint64_t distance : {1, 2, 3}) {
      Call call = make_dealt(operation, GSORT_U32, 7, GSORT_U32);
      // Every bucket has room for a quarter more than its share.
      std::mt19937_64 random(distance);
      uint32_t *const keys = reinterpret_cast<uint32_t *>(call.in.data());
      for (uint64_t i = 0; i < call.request.n; ++i) keys[i] = static_cast<uint32_t>(random() % (50 * distance));
      const Call expected = done_whole(call, false);
      Pieces work(5 * kMegabyte / 2);
      ASSERT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
      EXPECT_TRUE(expected.out == call.out && expected.in == call.in) << distance;
      EXPECT_EQ(call.request.n, work.device.dealt);
    }
}

// A device that is out of order: nothing but the output is written.
TEST(Pieces, SearchesThatTellNonsenseOfDealtKeys) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    Call call = make_dealt(round % 4 < 2 ? Operation::kArgsort : Operation::kRank, GSORT_U32, 0, GSORT_U32);
    const std::vector<char> before = call.in;
    Pieces work(5 * kMegabyte / 2);
    work.device.tampers_with_deals = true;
    work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
      for (uint64_t i = 0; i < count; ++i) told[i] = round % 2 == 0 ? random() : told[i] + random() % (items / 64);
    };
    EXPECT_EQ(GSORT_OK, work.run(call.bound(false))) << work.said;
    EXPECT_TRUE(before == call.in);
    EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
  }
}

// Every step fails in turn, and every chance to cancel is taken.
TEST(Pieces, StoppedCallsOfDealtKeysLeaveTheirInput) {
  for (const Operation operation : {Operation::kArgsort, Operation::kRank})
    for (const bool cancels : {false, true}) {
      const Call call = make_dealt(operation, GSORT_U32, 7, GSORT_U32);
      uint64_t stopped = 0;
      for (uint64_t at = 0;; ++at) {
        Call now = call;
        Pieces work(5 * kMegabyte / 2);
        Countdown countdown{cancels ? at : UINT64_MAX};
        work.control.set_progress(&Countdown::call, &countdown);
        if (!cancels) work.device.fail_step = at;
        const gsort_status status = work.run(now.bound(false));
        ASSERT_FALSE(countdown.fell);
        ASSERT_TRUE(now.in == call.in);
        EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
        if (status == GSORT_OK) {
          EXPECT_EQ(countdown.total, countdown.last);
          break;
        }
        ++stopped;
        ASSERT_EQ(cancels ? GSORT_ERROR_CANCELLED : GSORT_ERROR_INTERNAL, status);
      }
      EXPECT_GT(stopped, 10u);
    }
}

}  // namespace
}  // namespace gsort_test
