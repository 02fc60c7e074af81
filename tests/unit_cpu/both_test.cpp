// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums and reductions of which a device works on pieces while the CPU's threads take the rest: the bits of the whole,
// however the work is shared, and whatever fails on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <string>
#include <thread>

#include "both_fixture.h"

namespace gsort_test {
namespace {

template <class U>
std::vector<char> bytes_of(const std::vector<U> &elements) {
  std::vector<char> bytes(elements.size() * sizeof(U));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

std::vector<char> keys_of(gsort_dtype t, uint32_t shape, uint64_t n) {
  std::mt19937_64 random(n + shape);
  return with_width(dtype_bytes(t),
                    [&](auto tag) { return bytes_of(make_keys<typename decltype(tag)::type>(shape, n, random)); });
}

struct Call {
  Request request{};
  std::vector<char> in;
  uint64_t out = 0x5555555555555555;
  Request bound() {
    Request r = request;
    r.in = in.data(), r.out = &out;
    return r;
  }
};

Call make_call(gsort_dtype t, std::vector<char> in, bool sum, uint32_t op = 0, bool nan_last = false) {
  Call call;
  call.in = std::move(in);
  call.request.operation = sum ? Operation::kSum : Operation::kReduce;
  call.request.reduce_op = op;
  call.request.order = {t, op == GSORT_MAX || op == GSORT_ARGMAX, nan_last};
  call.request.n = call.in.size() / dtype_bytes(t);
  return call;
}

uint64_t of_the_whole(const Call &call) {
  EngineUnderTest whole(2);
  Call expected = call;
  whole.engine->execute(expected.bound());
  return expected.out;
}

void expect_same(const Call &call, Both &both) {
  Call shared = call;
  ASSERT_EQ(GSORT_OK, both.run(shared.bound())) << both.said;
  EXPECT_EQ(of_the_whole(call), shared.out);
  EXPECT_TRUE(call.in == shared.in);
  EXPECT_EQ(both.memory.held_bytes(), both.memory.kept_bytes());
}

template <class F>
void for_all_calls(gsort_dtype t, const std::vector<char> &in, bool nan_last, F &&f) {
  {
    SCOPED_TRACE("sum");
    f(make_call(t, in, true));
  }
  for (const uint32_t op : {GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX, GSORT_MEAN}) {
    SCOPED_TRACE("reduction " + std::to_string(op));
    f(make_call(t, in, false, op, nan_last && op != GSORT_MEAN && is_float(t)));
  }
}

TEST(Both, EveryTypeAndShape) {
  for (const gsort_dtype t : kAllTypes)
    for (uint32_t shape = 0; shape < kShapes; ++shape) {
      SCOPED_TRACE(std::string(dtype_facts(t).name) + ", shape " + std::to_string(shape));
      for_all_calls(t, keys_of(t, shape, 300001), shape % 2 == 1, [&](const Call &call) {
        Both both(kBudget, 2 + shape % 3);
        expect_same(call, both);
        EXPECT_GE(both.device.steps, 3u) << "the device had nothing to do";
        EXPECT_LT(both.device.bytes_in, call.in.size()) << "the CPU had nothing to do";
      });
      if (testing::Test::HasFatalFailure()) return;
    }
}

// From a single element on: where the device's pieces and the threads' parts meet at any place.
TEST(Both, SizesAroundPiecesAndParts) {
  const std::vector<char> all = keys_of(GSORT_I32, 0, 70000);
  for (const uint64_t around : {1, 999, 1000, 4096, 8192, 12288, 16384, 24576, 32768, 49152, 65536})
    for (uint64_t n = around; n < around + 3; ++n)
      for (const uint64_t part : {1, 7, 1000, 1 << 18}) {
        if (part == 1 && n > 9000) continue;
        SCOPED_TRACE(std::to_string(n) + " elements, parts of " + std::to_string(part));
        const std::vector<char> in(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n * 4));
        for (const bool sum : {true, false}) {
          Both both(kBudget);
          both.sharing.part_items = part;
          expect_same(make_call(GSORT_I32, in, sum, sum ? 0 : GSORT_ARGMIN), both);
        }
      }
}

// Parts of few elements and of many, which are added in unlike ways where exponents are far apart: after each other, by
// the same threads.
TEST(Both, ShortAndLongPartsOfWideDoubles) {
  for (const uint64_t tail : {2, 5, 100, 2048, 4095, 4096, 5000})
    for (const uint64_t part : {3000, 5063, 1 << 18}) {
      SCOPED_TRACE(std::to_string(tail) + " elements behind parts of " + std::to_string(part));
      const uint64_t n = (500000 / part + 1) * part + tail;
      std::mt19937_64 random(n);
      std::vector<uint64_t> words(n);
      for (uint64_t &word : words) word = random() & 0x7f0fffffffffffff;
      words[n - 2] = 0x7f80000000000000;  // in the part that is taken first
      for (const uint32_t threads : {1u, 3u}) {
        Both both(kBudget, threads);
        both.sharing.workers = threads, both.sharing.part_items = part;
        expect_same(make_call(GSORT_F64, bytes_of(words), true), both);
      }
    }
}

// The device's last pieces are short, so that neither side waits for the other long.
TEST(Both, PiecesBecomeShorter) {
  Both both(2000000, 1);
  const Call call = make_call(GSORT_F32, keys_of(GSORT_F32, 3, 1000000), true);
  expect_same(call, both);
  EXPECT_GE(both.device.longest, 4 * both.device.shortest);
  EXPECT_GE(both.device.shortest, both.sharing.piece_bytes_min);
}

// A device of any slowness leaves the rest to the threads.
TEST(Both, SlowDevice) {
  Both both(kBudget);
  both.device.before_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  const Call call = make_call(GSORT_F64, keys_of(GSORT_F64, 3, 400000), true);
  expect_same(call, both);
  EXPECT_LT(both.device.bytes_in, call.in.size() / 2);
}

// Threads that begin alone: quick ones go on so, and slow ones are joined by the device, for which some of them end.
TEST(Both, BeginsAlone) {
  const Call call = make_call(GSORT_F32, keys_of(GSORT_F32, 3, 1000001), true);
  for (const uint32_t threads : {1u, 4u})
    for (const uint32_t beside : {1u, 2u, 4u}) {
      Both quick(kBudget, threads);
      quick.sharing.workers = threads, quick.sharing.workers_beside = beside;
      quick.sharing.alone_above = 1e-9, quick.sharing.trial_us = 20;
      expect_same(call, quick);
      EXPECT_EQ(0u, quick.device.steps);
      Both slow(kBudget, threads);
      slow.sharing.workers = threads, slow.sharing.workers_beside = beside;
      slow.sharing.alone_above = 1e9, slow.sharing.trial_us = 0;
      expect_same(call, slow);
      // Others may have done all of it before the caller's thread gets a processor.
      if (threads == 1) {
        EXPECT_GE(slow.device.steps, 3u);
      }
    }
}

// Nothing is left for the device when the trial ends.
TEST(Both, EndsWithinTheTrial) {
  Both both(kBudget);
  both.sharing.alone_above = 1e9, both.sharing.trial_us = 1e9;
  expect_same(make_call(GSORT_I32, keys_of(GSORT_I32, 0, 100001), false, GSORT_ARGMAX), both);
  EXPECT_EQ(0u, both.device.steps);
}

// Nothing but the caller's thread.
TEST(Both, OneThread) {
  for_all_calls(GSORT_F32, keys_of(GSORT_F32, 3, 300001), false, [](const Call &call) {
    Both both(kBudget, 1);
    expect_same(call, both);
  });
}

// The first of equal elements, and NaNs, wherever they lie.
TEST(Both, TiesAndNans) {
  constexpr uint64_t n = 200000;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const uint64_t first : {uint64_t{0}, uint64_t{4095}, uint64_t{30000}, n / 2, n - 2})
    for (const uint64_t second : {uint64_t{1}, uint64_t{60000}, n - 1})
      for (const float value : {-5.0f, 5.0f, -0.0f, nan, -nan}) {
        SCOPED_TRACE(std::to_string(first) + ", " + std::to_string(second) + ": " + std::to_string(value));
        std::vector<float> elements(n, 1.0f);
        elements[first] = elements[second] = value;
        for (const bool nan_last : {false, true})
          for (const uint32_t op : {GSORT_MIN, GSORT_MAX, GSORT_ARGMIN, GSORT_ARGMAX}) {
            Both both(kBudget);
            expect_same(make_call(GSORT_F32, bytes_of(elements), false, op, nan_last), both);
          }
      }
}

// -0 alone sums to -0, and both infinities to NaN, whichever side they are on.
TEST(Both, SumsOfWhatFlagsTell) {
  for (const double first : {-0.0, 0.0, 1.0 / 0.0, 5e-324, 1e308})
    for (const double last : {-0.0, -1.0 / 0.0, 0.0 / 0.0, -5e-324, 1e308})
      for (const bool sum : {true, false}) {
        SCOPED_TRACE(std::to_string(first) + ", " + std::to_string(last));
        std::vector<double> elements(100000, -0.0);
        elements.front() = first, elements.back() = last;
        Both both(kBudget);
        expect_same(make_call(GSORT_F64, bytes_of(elements), sum, sum ? 0 : GSORT_MEAN), both);
      }
}

// What the device fails to do for want of memory the threads do; other failures are the call's.
TEST(Both, FailingSteps) {
  for (const gsort_status status : {GSORT_ERROR_OUT_OF_MEMORY, GSORT_ERROR_DEVICE_LOST, GSORT_ERROR_INTERNAL})
    for (const uint32_t threads : {1u, 4u})
      for (uint64_t step = 0; step < 6; ++step)
        for_all_calls(GSORT_F32, keys_of(GSORT_F32, 0, 400000), false, [&](const Call &call) {
          SCOPED_TRACE("status " + std::to_string(status) + " in step " + std::to_string(step));
          Both both(kBudget, threads);
          both.device.fail_step = step;
          both.device.fail_status = status;
          Call shared = call;
          const gsort_status result = both.run(shared.bound());
          if (both.device.steps <= step || status == GSORT_ERROR_OUT_OF_MEMORY) {
            EXPECT_EQ(GSORT_OK, result) << both.said;
            EXPECT_EQ(of_the_whole(call), shared.out);
          } else {
            EXPECT_EQ(status, result);
            EXPECT_EQ(call.out, shared.out) << "written";
          }
          EXPECT_TRUE(call.in == shared.in);
          EXPECT_EQ(both.memory.held_bytes(), both.memory.kept_bytes());
        });
}

TEST(Both, NoDeviceMemoryIsRefused) {
  Call call = make_call(GSORT_F32, keys_of(GSORT_F32, 0, 400000), true);
  Both tiny(500);
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, tiny.run(call.bound()));
  // Half of it, where the whole is not to be had.
  Both less(kBudget);
  less.device.fail_take = 0;
  expect_same(call, less);
  EXPECT_EQ(2u, less.device.takes);
}

struct Listener {
  uint64_t calls = 0, stop_at = UINT64_MAX, last = 0, total = 0;
  bool fell = false, elsewhere = false;
  std::thread::id caller = std::this_thread::get_id();
  static int32_t call(void *user, uint64_t done, uint64_t total) {
    Listener &l = *static_cast<Listener *>(user);
    l.fell |= done < l.last || done > total || (l.total != 0 && l.total != total);
    l.elsewhere |= std::this_thread::get_id() != l.caller;
    l.last = done, l.total = total;
    return ++l.calls >= l.stop_at ? 1 : 0;
  }
};

// Told on the caller's thread, of both sides' work, and never going back, also when the device fails.
TEST(Both, Progress) {
  for (const uint64_t fail_step : {UINT64_MAX, uint64_t{0}, uint64_t{1}, uint64_t{3}}) {
    Call call = make_call(GSORT_U32, keys_of(GSORT_U32, 0, 1000000), true);
    Both both(kBudget);
    Listener listener;
    both.control.set_progress(Listener::call, &listener);
    both.device.fail_step = fail_step;
    both.device.fail_status = GSORT_ERROR_OUT_OF_MEMORY;
    expect_same(call, both);
    EXPECT_FALSE(listener.fell);
    EXPECT_FALSE(listener.elsewhere);
    EXPECT_EQ(listener.total, listener.last);
    EXPECT_EQ(call.in.size(), listener.total);
    EXPECT_GE(listener.calls, 3u);
  }
}

// By the progress function, at every time that it is called.
TEST(Both, CancelledByTheProgressFunction) {
  uint64_t stop_at = 1;
  for (bool ended = false; !ended; stop_at += 1 + stop_at / 3) {
    Call call = make_call(GSORT_U32, keys_of(GSORT_U32, 0, 300000), true);
    Both both(kBudget);
    Listener listener;
    listener.stop_at = stop_at;
    both.control.set_progress(Listener::call, &listener);
    const gsort_status status = both.run(call.bound());
    ended = listener.calls < stop_at;
    EXPECT_EQ(ended ? GSORT_OK : GSORT_ERROR_CANCELLED, status);
    if (!ended) {
      EXPECT_EQ(stop_at, listener.calls) << "told after the cancel";
    }
    EXPECT_EQ(both.memory.held_bytes(), both.memory.kept_bytes());
  }
  EXPECT_GE(stop_at, 4u);
}

// Another thread's cancel, while the threads work, and while they have nothing left and the device is slow.
TEST(Both, CancelledByAnotherThread) {
  for (const uint64_t step : {0, 1, 2}) {
    Call call = make_call(GSORT_F32, keys_of(GSORT_F32, 0, 400000), true);
    Both both(kBudget);
    uint64_t steps = 0;
    both.device.before_step = [&] {
      if (steps++ != step) return;
      std::thread([&] { both.control.request_cancel(); }).join();
    };
    EXPECT_EQ(GSORT_ERROR_CANCELLED, both.run(call.bound()));
    EXPECT_EQ(step + 1, both.device.steps);
    EXPECT_EQ(0x5555555555555555u, call.out);
  }
}

// A cancel at the threads' side: the device has ended, and the caller's thread helps with parts.
TEST(Both, CancelledWhileTheThreadsEnd) {
  Call call = make_call(GSORT_F32, keys_of(GSORT_F32, 0, 400000), true);
  Both both(kBudget, 1);
  Listener listener;
  both.control.set_progress(Listener::call, &listener);
  const uint64_t expected = of_the_whole(call);
  ASSERT_EQ(GSORT_OK, both.run(call.bound()));
  EXPECT_EQ(expected, call.out);
  // The last calls are those between parts; one thread takes the same ones in each run.
  const uint64_t all = listener.calls;
  listener = Listener{};
  listener.stop_at = all - 3;
  const uint64_t steps = both.device.steps;
  Both again(kBudget, 1);
  again.control.set_progress(Listener::call, &listener);
  EXPECT_EQ(GSORT_ERROR_CANCELLED, again.run(call.bound()));
  EXPECT_EQ(steps, again.device.steps) << "the device had not ended";
  EXPECT_EQ(all - 3, listener.calls);
}

}  // namespace
}  // namespace gsort_test
