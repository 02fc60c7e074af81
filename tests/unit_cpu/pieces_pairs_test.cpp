// SPDX-License-Identifier: MIT OR Apache-2.0
// Pairs sorted in place in pieces, whose turns stay on the device.
#include <gtest/gtest.h>

#include <algorithm>

#include "pieces_fixture.h"

namespace gsort_test {
namespace {

// Values that tell their places, so that a result shows whether equal keys kept their order.
Call make_pairs(gsort_dtype t, uint32_t shape, uint64_t n, uint32_t value_bytes) {
  Call call = make_call(Operation::kSortPairs, t, shape, n);
  call.request.value_bytes = value_bytes;
  call.values.assign(n * value_bytes, 3);
  for (uint64_t i = 0; i < n; ++i)
    std::memcpy(call.values.data() + i * value_bytes, &i, std::min<uint64_t>(value_bytes, sizeof i));
  return call;
}

// Pairs in place need a sixteenth of their bytes as scratch memory and are stable.
TEST(Pieces, SortsPairsInPlaceWithLittleScratchMemory) {
  for_all_inputs([](gsort_dtype t, uint32_t shape, const KeyOrder &order, uint32_t turn) {
    constexpr uint32_t kValueBytes[] = {4, 8, 3, 16, 1, 64};
    Call call = make_pairs(t, shape, 200000, kValueBytes[turn % 6]);
    call.request.order = order;
    const Call expected = done_whole(call, true);
    // A part may need more workspace than there is where that depends on the length in no simple way.
    const bool by_length = turn % 5 == 4;
    // Of three buckets more lies in the way than of many.
    const bool few_buckets = dtype_bytes(t) == 2 || turn % 6 == 5;
    Pieces work(few_buckets ? 10 * kMegabyte : 4 * kMegabyte,
                by_length ? 0 : (call.in.size() + call.values.size()) / (few_buckets ? 2 : 7));
    work.device.by_length = by_length;
    ASSERT_EQ(GSORT_OK, work.run(call.bound(true))) << work.said;
    EXPECT_TRUE(expected.in == call.in && expected.values == call.values);
    EXPECT_EQ(call.request.n, work.device.dealt);
    EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
  });
}

TEST(Pieces, SortsPairsInPlaceDataWithPeriods) {
  constexpr uint32_t n = 200000;
  for (uint32_t periods = 1; periods <= 32; ++periods) {
    Call call = make_pairs(GSORT_U32, 0, n, 4);
    std::vector<uint32_t> keys(n);
    for (uint32_t i = 0; i < n; ++i) keys[i] = static_cast<uint32_t>(uint64_t{i} * periods % n) / 5;
    call.in = bytes_of(keys);
    const Call expected = done_whole(call, true);
    Pieces work(3 * kMegabyte, n * 8 / 2);
    ASSERT_EQ(GSORT_OK, work.run(call.bound(true))) << work.said << ", " << periods << " periods";
    ASSERT_TRUE(expected.in == call.in && expected.values == call.values) << periods;
    EXPECT_EQ(n, work.device.dealt);
  }
}

// Long scratch memory, whose pages are had beforehand.
TEST(Pieces, PairsInPlaceThroughLongScratchMemory) {
  Call call = make_call(Operation::kSortPairs, GSORT_U32, 0, (uint64_t{1} << 23) + 3);
  call.request.value_bytes = 1;
  call.values = keys_of(GSORT_U8, 0, call.request.n, 5);
  expect_same(call, 24 * kMegabyte, true);
}

// Every piece is put back, and the runs of the other way need scratch memory. Where there is none, the arrays are as
// they were.
TEST(Pieces, SamplesThatMisleadPairsInPlace) {
  constexpr uint64_t n = 200000;
  for (const uint32_t value_bytes : {4u, 5u, 16u})
    for (const bool behind : {false, true})
      for (const uint64_t limit_bytes : {uint64_t{0}, n * (4 + value_bytes) / 8})
        for (const uint64_t left : {1, 2, 4}) {
          Call call = make_pairs(GSORT_I32, 7, n, value_bytes);
          const Call before = call, expected = done_whole(call, true);
          Pieces work(4 * kMegabyte, limit_bytes);
          Countdown countdown{UINT64_MAX};
          work.control.set_progress(&Countdown::call, &countdown);
          work.device.misdeal = [&](uint64_t bucket, uint64_t buckets) {
            return behind ? std::max(bucket, buckets - std::min(left, buckets)) : std::min(bucket, left - 1);
          };
          const gsort_status status = work.run(call.bound(true));
          EXPECT_EQ(n, work.device.dealt);
          EXPECT_FALSE(countdown.fell);
          const Call &want = status == GSORT_OK ? expected : before;
          ASSERT_TRUE(want.in == call.in && want.values == call.values) << value_bytes << behind << limit_bytes;
          ASSERT_EQ(limit_bytes == 0 ? GSORT_OK : GSORT_ERROR_OUT_OF_MEMORY, status) << work.said;
        }
}

// Each key with the value that it had, whatever their order.
void expect_same_pairs(const Call &before, const Call &after) {
  const auto *const old_keys = reinterpret_cast<const uint32_t *>(before.in.data()),
                    *const keys = reinterpret_cast<const uint32_t *>(after.in.data()),
                    *const places = reinterpret_cast<const uint32_t *>(after.values.data());
  std::vector<bool> seen(before.request.n);
  for (uint64_t i = 0; i < before.request.n; ++i) {
    ASSERT_TRUE(keys[i] == old_keys[places[i]] && !seen[places[i]]) << i;
    seen[places[i]] = true;
  }
}

TEST(Pieces, SearchesThatTellNonsenseLoseNoPairsInPlace) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 20; ++round) {
    Call call = make_pairs(GSORT_U32, 0, 200000, 4);
    const Call before = call;
    Pieces work(4 * kMegabyte);
    work.device.tampers_with_deals = true;
    work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
      for (uint64_t i = 0; i < count; ++i) told[i] = round % 2 == 0 ? random() : told[i] + random() % (items / 64);
    };
    EXPECT_EQ(GSORT_OK, work.run(call.bound(true))) << work.said;
    ASSERT_NO_FATAL_FAILURE(expect_same_pairs(before, call)) << round;
  }
}

// Every step fails in turn, and every chance to cancel is taken: where buckets serve, and where they are undone.
TEST(Pieces, StoppedCallsLoseNoPairsInPlace) {
  for (const bool cancels : {false, true})
    for (const bool misdeals : {false, true}) {
      const Call before = make_pairs(GSORT_U32, 7, 200000, 4);
      uint64_t stopped = 0;
      for (uint64_t at = 0;; ++at) {
        Call now = before;
        Pieces work(4 * kMegabyte);
        Countdown countdown{cancels ? at : UINT64_MAX};
        work.control.set_progress(&Countdown::call, &countdown);
        if (!cancels) work.device.fail_step = at;
        if (misdeals) work.device.misdeal = [](uint64_t bucket, uint64_t) { return std::min<uint64_t>(bucket, 1); };
        const gsort_status status = work.run(now.bound(true));
        ASSERT_FALSE(countdown.fell);
        ASSERT_NO_FATAL_FAILURE(expect_same_pairs(before, now)) << at;
        EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
        if (status == GSORT_OK) {
          if (countdown.calls_left > 1) break;
          continue;
        }
        ++stopped;
        ASSERT_EQ(cancels ? GSORT_ERROR_CANCELLED : GSORT_ERROR_INTERNAL, status);
      }
      EXPECT_GT(stopped, 10u);
    }
}

// Where memory runs out halfway, the call may be done in another way, but not once the arrays are in disorder.
TEST(Pieces, PairsInPlaceWithoutMemoryAreStableOrSayThatTheyAreNot) {
  for (const bool misdeals : {false, true}) {
    const Call before = make_pairs(GSORT_U32, 7, 200000, 4);
    const Call expected = done_whole(before, true);
    uint64_t lost = 0, kept = 0;
    for (uint64_t at = 0;; ++at) {
      Call now = before;
      Pieces work(4 * kMegabyte);
      work.device.fail_step = at;
      work.device.fail_status = GSORT_ERROR_OUT_OF_MEMORY;
      if (misdeals) work.device.misdeal = [](uint64_t bucket, uint64_t) { return std::min<uint64_t>(bucket, 1); };
      const gsort_status status = work.run(now.bound(true));
      if (status == GSORT_OK) break;
      ASSERT_EQ(GSORT_ERROR_OUT_OF_MEMORY, status);
      ASSERT_NO_FATAL_FAILURE(expect_same_pairs(before, now)) << at;
      lost += work.lost_order;
      if (work.lost_order) continue;
      ++kept;
      const Call again = done_whole(now, true);
      ASSERT_TRUE(again.in == expected.in && again.values == expected.values) << at;
    }
    EXPECT_GT(lost, 5u);
    EXPECT_EQ(misdeals, kept > 5);  // behind what was undone
  }
}

// Keys alone in place, or values alone: once they are in another order, those of the other array are not theirs.
TEST(Pieces, PairsHalfInPlaceWithoutMemoryAreRightOrLost) {
  for (const bool keys_in_place : {true, false}) {
    const Call before = make_pairs(GSORT_U32, 0, 200000, 4);
    const auto bound = [&](Call &call) {
      Request request = call.bound(false);
      if (keys_in_place) request.out = call.in.data();
      if (!keys_in_place) request.values_out = call.values.data();
      return request;
    };
    const auto whole = [&](const Call &call) {
      Call sorted = call;
      EngineUnderTest engine(2);
      engine.engine->execute(bound(sorted));
      return sorted;
    };
    Call start = before;
    start.values_out.assign(start.values.size(), 1);
    const Call expected = whole(start);
    uint64_t lost = 0;
    for (uint64_t at = 0;; ++at) {
      Call now = start;
      Pieces work(kMegabyte);
      work.device.fail_step = at;
      work.device.fail_status = GSORT_ERROR_OUT_OF_MEMORY;
      const gsort_status status = work.run(bound(now));
      if (status == GSORT_OK) break;
      ASSERT_EQ(GSORT_ERROR_OUT_OF_MEMORY, status);
      lost += work.lost_order;
      if (work.lost_order) continue;
      const Call again = whole(now);
      ASSERT_TRUE(again.in == expected.in && again.values == expected.values) << at;
      ASSERT_TRUE(again.out == expected.out || keys_in_place) << at;
      ASSERT_TRUE(again.values_out == expected.values_out || !keys_in_place) << at;
    }
    EXPECT_GT(lost, 2u);
  }
}

}  // namespace
}  // namespace gsort_test
