// SPDX-License-Identifier: MIT OR Apache-2.0
// The lock by which calls on a handle take turns.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "api/handle.h"

namespace gsort_internal {
namespace {

// One thread makes short calls without a pause: once another waits, it is that one's turn. A round in which the other
// had not come to wait yet says nothing; few do so.
TEST(Turn, ShortCallsDoNotHoldOffOthers) {
  constexpr int kRounds = 20;
  int held_off = 0;
  for (int round = 0; round < kRounds; ++round) {
    Turn turn;
    std::atomic<bool> may_end{false};
    ASSERT_TRUE(turn.try_begin_short());
    std::thread other([&] {
      turn.lock();
      while (!may_end) std::this_thread::yield();
      turn.unlock();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    turn.end_short();
    const bool next = turn.try_begin_short();
    if (next) turn.end_short();
    held_off += next ? 0 : 1;
    may_end = true;
    other.join();
    EXPECT_TRUE(turn.try_begin_short()) << "nobody waits any more";
  }
  EXPECT_GE(held_off, kRounds / 2);
}

}  // namespace
}  // namespace gsort_internal
