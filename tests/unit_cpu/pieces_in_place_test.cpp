// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys sorted in place in pieces, of which a sample tells where they go.
#include <gtest/gtest.h>

#include "pieces_fixture.h"

namespace gsort_test {
namespace {

// Keys alone in place need a sixteenth of their bytes as scratch memory, whatever their order.
TEST(Pieces, SortsInPlaceWithLittleScratchMemory) {
  constexpr uint64_t n = 600000;
  for (uint32_t shape = 0; shape < kShapes; ++shape) {
    Call call = make_call(Operation::kSort, GSORT_U32, shape, n);
    const std::vector<char> expected = sorted_u32(call.in);
    Pieces work(kMegabyte, n * 4 / 8);
    ASSERT_EQ(GSORT_OK, work.run(call.bound(true))) << work.said << ", shape " << shape;
    EXPECT_TRUE(expected == call.in) << shape;
    EXPECT_EQ(0u, work.memory.held_bytes());
  }
}

// Data that rise and fall with a period: stripes of one place in it would all go to one bucket.
TEST(Pieces, SortsInPlaceDataWithPeriods) {
  constexpr uint32_t n = 600000;
  for (uint32_t periods = 1; periods <= 64; ++periods) {
    std::vector<uint32_t> keys(n);
    for (uint32_t i = 0; i < n; ++i) keys[i] = static_cast<uint32_t>(uint64_t{i} * periods % n);
    Call call = make_call(Operation::kSort, GSORT_U32, 0, n);
    call.in = bytes_of(keys);
    const std::vector<char> expected = sorted_u32(call.in);
    Pieces work(kMegabyte, uint64_t{n} * 4 / 2);
    ASSERT_EQ(GSORT_OK, work.run(call.bound(true))) << work.said << ", " << periods << " periods";
    ASSERT_TRUE(expected == call.in) << periods;
  }
}

// What a search tells of keys that it takes to lie before all bounds, or behind them.
void tell_of_one_side(uint64_t *told, uint64_t count, uint64_t items, bool behind) {
  for (uint64_t i = 0; i < count; ++i) told[i] = behind ? items : 0;
}

// In place such a sort is done in the other way if there is memory for that. If not, no element is lost.
TEST(Pieces, SamplesThatMisleadInPlace) {
  constexpr uint64_t n = 300000;
  for (const bool behind : {false, true})
    for (const uint64_t limit_bytes : {uint64_t{0}, n * 4 + 100000, n * 4 / 8}) {
      Call call = make_call(Operation::kSort, GSORT_U32, 0, n);
      const std::vector<char> expected = sorted_u32(call.in);
      Pieces work(kMegabyte, limit_bytes);
      work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
        tell_of_one_side(told, count, items, behind);
      };
      const gsort_status status = work.run(call.bound(true));
      if (limit_bytes >= n * 4 || limit_bytes == 0) {
        ASSERT_EQ(GSORT_OK, status) << work.said << ", " << limit_bytes;
        EXPECT_TRUE(expected == call.in);
      }
      EXPECT_TRUE(status == GSORT_OK || status == GSORT_ERROR_OUT_OF_MEMORY) << work.said;
      EXPECT_TRUE(expected == sorted_u32(call.in)) << limit_bytes;
      EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
    }
}

TEST(Pieces, SearchesThatTellNonsenseLoseNothingInPlace) { mislead_searches(true); }

// Every step fails in turn, and every chance to cancel is taken, of keys in place: those of some of the parts in their
// way, too.
void stop_keys_everywhere(bool cancels, bool misleads) {
  const Call call = make_call(Operation::kSort, GSORT_U32, 0, 150000);
  const std::vector<char> expected = sorted_u32(call.in);
  uint64_t stopped = 0;
  for (uint64_t at = 0;; ++at) {
    Call now = call;
    Pieces work(kMegabyte / 2);
    Countdown countdown{cancels ? at : UINT64_MAX};
    work.control.set_progress(&Countdown::call, &countdown);
    if (!cancels) work.device.fail_step = at;
    uint64_t pieces = 0;
    work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
      if (misleads && ++pieces % 3 != 0) tell_of_one_side(told, count / 4 * 2, items, pieces % 3 == 1);
    };
    const gsort_status status = work.run(now.bound(true));
    ASSERT_FALSE(countdown.fell);
    ASSERT_TRUE(expected == sorted_u32(now.in)) << at;
    if (status == GSORT_OK) {
      if (!misleads) {
        EXPECT_TRUE(expected == now.in);
      }
      if (countdown.calls_left > 1) break;
      continue;
    }
    ++stopped;
    ASSERT_EQ(cancels ? GSORT_ERROR_CANCELLED : GSORT_ERROR_INTERNAL, status);
  }
  EXPECT_GT(stopped, 10u);
}

TEST(Pieces, FailingStepsLoseNoKeysInPlace) {
  for (const bool misleads : {false, true}) stop_keys_everywhere(false, misleads);
}

TEST(Pieces, CancelledCallsLoseNoKeysInPlace) {
  for (const bool misleads : {false, true}) stop_keys_everywhere(true, misleads);
}

}  // namespace
}  // namespace gsort_test
