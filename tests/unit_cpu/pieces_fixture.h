// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls in pieces on a device that the CPU plays, beside the same calls as a whole.
#ifndef GSORT_TESTS_UNIT_CPU_PIECES_FIXTURE_H_
#define GSORT_TESTS_UNIT_CPU_PIECES_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "host_memory/pieces.h"
#include "piece_device_on_cpu.h"

namespace gsort_test {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

// The arrays of one call; outputs and inputs may be one.
struct Call {
  Request request{};
  std::vector<char> in, b, values, out, values_out, indices_out;
  std::vector<uint64_t> offsets;

  // The request on arrays of its own.
  Request bound(bool in_place) {
    Request r = request;
    r.in = in.data(), r.b = b.data(), r.values_in = values.data();
    r.out = out.empty() ? nullptr : out.data();
    r.values_out = values_out.data();
    r.indices_out = indices_out.empty() ? nullptr : indices_out.data();
    r.offsets = offsets.data();
    if (in_place) r.out = in.data(), r.values_out = values.data();
    return r;
  }
};

struct Pieces {
  explicit Pieces(uint64_t budget_bytes, uint64_t host_limit_bytes = 0)
      : device(budget_bytes), memory(nullptr, nullptr, nullptr, host_limit_bytes), pool(2) {}
  gsort_status run(const Request &request) {
    try {
      control.begin_call();
      execute_in_pieces({device, memory, control, pool, else_at_once}, request);
      return GSORT_OK;
    } catch (const LostOrder &error) {
      lost_order = true;
      said = error.text();
      return error.status();
    } catch (const Error &error) {
      said = error.text();
      return error.status();
    }
  }
  bool lost_order = false, else_at_once = false;
  PieceDeviceOnCpu device;
  HostMemory memory;
  Control control;
  Pool pool;
  std::string said;
};

struct Countdown {
  uint64_t calls_left, last = 0, total = 0;
  bool fell = false;
  static int32_t call(void *user, uint64_t done, uint64_t total) {
    Countdown &c = *static_cast<Countdown *>(user);
    c.fell |= done < c.last || done > total || (c.total != 0 && total != c.total);
    c.last = done, c.total = total;
    return c.calls_left-- == 0 ? 1 : 0;
  }
};

template <class U>
std::vector<char> bytes_of(const std::vector<U> &elements) {
  std::vector<char> bytes(elements.size() * sizeof(U));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

inline std::vector<char> keys_of(gsort_dtype t, uint32_t shape, uint64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  return with_width(dtype_bytes(t),
                    [&](auto tag) { return bytes_of(make_keys<typename decltype(tag)::type>(shape, n, random)); });
}

inline Call make_call(Operation operation, gsort_dtype t, uint32_t shape, uint64_t n) {
  Call call;
  call.request.operation = operation;
  call.request.order = {t, false, false};
  call.request.n = n;
  call.in = keys_of(t, shape, n, n + shape);
  call.out.assign(call.in.size(), 1);
  call.request.index_t = GSORT_U32;
  return call;
}

// Runs the call whole by the CPU's engine and in pieces: all outputs are the same, and inputs as they were.
inline void expect_same(const Call &call, uint64_t budget_bytes, bool in_place = false, uint64_t steps_min = 4) {
  EngineUnderTest whole(2);
  Call expected = call, pieces = call;
  whole.engine->execute(expected.bound(in_place));
  Pieces work(budget_bytes);
  ASSERT_EQ(GSORT_OK, work.run(pieces.bound(in_place))) << work.said;
  EXPECT_GE(work.device.steps, steps_min) << "that was one piece";
  ASSERT_TRUE(expected.in == pieces.in);
  ASSERT_TRUE(expected.values == pieces.values);
  ASSERT_TRUE(expected.out == pieces.out);
  ASSERT_TRUE(expected.values_out == pieces.values_out);
  ASSERT_TRUE(expected.indices_out == pieces.indices_out);
  EXPECT_EQ(work.memory.held_bytes(), work.memory.kept_bytes());
}

inline std::string named(gsort_dtype t, uint32_t shape) {
  return std::string(dtype_facts(t).name) + ", shape " + std::to_string(shape);
}

// Every type with every shape; orders take turns.
template <class F>
void for_all_inputs(F &&f) {
  uint32_t turn = 0;
  for (const gsort_dtype t : kAllTypes)
    for (uint32_t shape = 0; shape < kShapes; ++shape, ++turn) {
      SCOPED_TRACE(named(t, shape));
      f(t, shape, KeyOrder{t, turn % 2 == 1, turn % 3 == 1 && is_float(t)}, turn);
      if (testing::Test::HasFatalFailure()) return;
    }
}

inline std::vector<char> sorted_u32(const std::vector<char> &bytes) {
  std::vector<uint32_t> keys(bytes.size() / 4);
  std::memcpy(keys.data(), bytes.data(), bytes.size());
  std::sort(keys.begin(), keys.end());
  return bytes_of(keys);
}

inline Call done_whole(const Call &call, bool in_place) {
  Call sorted = call;
  EngineUnderTest whole(2);
  whole.engine->execute(sorted.bound(in_place));
  return sorted;
}

// A device that is out of order: no element is lost and nothing else is written.
inline void mislead_searches(bool in_place) {
  std::mt19937_64 random(in_place ? 4 : 3);
  for (int round = 0; round < 20; ++round) {
    Call call = make_call(Operation::kSort, GSORT_U32, 0, 200000);
    Pieces work(kMegabyte);
    work.device.tamper = [&](uint64_t *told, uint64_t count, uint64_t items) {
      for (uint64_t i = 0; i < count; ++i) told[i] = round % 2 == 0 ? random() : random() % (items + 1);
    };
    const std::vector<char> before = call.in;
    ASSERT_EQ(GSORT_OK, work.run(call.bound(in_place))) << work.said;
    EXPECT_TRUE(in_place || before == call.in);
    EXPECT_TRUE(sorted_u32(before) == sorted_u32(in_place ? call.in : call.out)) << round;
  }
}

// How a stable sort of pairs is stopped: by steps of the device that fail with a status, or by cancels.
struct Stops {
  uint64_t budget_bytes;
  bool arrives;  // the pairs are sorted as they arrive, so that the device holds them
  bool in_place, cancels;
  gsort_status fails_with;
};

// Every step fails in turn, or every chance to cancel is taken: inputs that are not written over are intact, and
// in-place pairs a permutation. Adds up how many calls were stopped.
inline void stop_everywhere(const Stops &how, uint64_t &stopped) {
  Call call = make_call(Operation::kSortPairs, GSORT_U32, 7, 60000);
  call.request.value_bytes = 4;
  std::vector<uint32_t> numbers(call.request.n);
  std::iota(numbers.begin(), numbers.end(), 0u);
  call.values = call.values_out = bytes_of(numbers);
  for (uint64_t at = 0;; ++at) {
    Call now = call;
    Pieces work(how.budget_bytes);
    if (how.arrives) work.device.arriving.bytes_min = 0;
    Countdown countdown{how.cancels ? at : UINT64_MAX};
    work.control.set_progress(&Countdown::call, &countdown);
    if (!how.cancels) work.device.fail_step = at, work.device.fail_status = how.fails_with;
    const gsort_status status = work.run(now.bound(how.in_place));
    ASSERT_FALSE(countdown.fell);
    const auto *const before = reinterpret_cast<const uint32_t *>(call.in.data());
    const auto *const keys = reinterpret_cast<const uint32_t *>(how.in_place ? now.in.data() : now.out.data());
    const auto *const places =
        reinterpret_cast<const uint32_t *>(how.in_place ? now.values.data() : now.values_out.data());
    if (status == GSORT_OK || how.in_place) {
      std::vector<bool> seen(numbers.size());
      for (uint64_t i = 0; i < numbers.size(); ++i) {
        ASSERT_TRUE(keys[i] == before[places[i]] && !seen[places[i]]) << at;
        seen[places[i]] = true;
      }
    }
    if (!how.in_place || (how.arrives && status != GSORT_OK && !work.lost_order)) {
      ASSERT_TRUE(now.in == call.in && now.values == call.values) << at;
    }
    if (status == GSORT_OK) {
      EXPECT_TRUE(std::is_sorted(keys, keys + numbers.size()));
      if (countdown.calls_left > 1) break;
      continue;
    }
    ++stopped;
    ASSERT_EQ(how.cancels ? GSORT_ERROR_CANCELLED : how.fails_with, status);
  }
}

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CPU_PIECES_FIXTURE_H_
