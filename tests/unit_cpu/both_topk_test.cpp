// SPDX-License-Identifier: MIT OR Apache-2.0
// Selections of which a device looks at pieces while the CPU's threads take the rest: the first k of the whole, ties by
// index, however the work is shared, and whatever fails on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "both_fixture.h"

namespace gsort_test {
namespace {

struct Selection {
  Request request{};
  std::vector<char> in, values, indices;

  Request bound() {
    Request r = request;
    r.in = in.data();
    r.out = values.empty() ? nullptr : values.data();
    r.indices_out = indices.empty() ? nullptr : indices.data();
    return r;
  }
};

Selection make_selection(gsort_dtype t, std::vector<char> in, uint64_t k, uint32_t turn) {
  Selection selection;
  selection.in = std::move(in);
  Request &r = selection.request;
  r.operation = Operation::kTopk;
  r.order = {t, turn % 2 == 0, turn % 3 == 0 && is_float(t)};
  r.n = r.columns = r.row_stride = selection.in.size() / dtype_bytes(t);
  r.rows = 1;
  r.k = std::min(k, r.n);
  r.index_t = turn % 4 < 2 ? GSORT_U32 : GSORT_U64;
  if (turn % 5 != 1) selection.values.assign(r.k * dtype_bytes(t), 0x55);
  if (turn % 5 != 2) selection.indices.assign(r.k * dtype_bytes(r.index_t), 0x55);
  return selection;
}

std::vector<char> keys_of(gsort_dtype t, uint32_t shape, uint64_t n) {
  std::mt19937_64 random(n + shape);
  return with_width(dtype_bytes(t), [&](auto tag) {
    const auto keys = make_keys<typename decltype(tag)::type>(shape, n, random);
    std::vector<char> bytes(n * sizeof keys[0]);
    std::memcpy(bytes.data(), keys.data(), bytes.size());
    return bytes;
  });
}

std::vector<char> bytes_of(const std::vector<uint32_t> &words) {
  std::vector<char> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

Selection of_the_whole(Selection selection) {
  EngineUnderTest whole(2);
  whole.engine->execute(selection.bound());
  return selection;
}

void expect_same(const Selection &selection, Both &both) {
  Selection shared = selection;
  ASSERT_EQ(GSORT_OK, both.run(shared.bound())) << both.said;
  const Selection expected = of_the_whole(selection);
  EXPECT_TRUE(expected.values == shared.values);
  EXPECT_TRUE(expected.indices == shared.indices);
  EXPECT_TRUE(selection.in == shared.in);
  EXPECT_EQ(both.memory.held_bytes(), both.memory.kept_bytes());
}

TEST(TopkOnBoth, EveryTypeAndShape) {
  uint32_t turn = 0;
  for (const gsort_dtype t : kAllTypes)
    for (uint32_t shape = 0; shape < kShapes; ++shape)
      for (const uint64_t k : {1, 40, 1024}) {
        SCOPED_TRACE(std::string(dtype_facts(t).name) + ", shape " + std::to_string(shape) + ", k " +
                     std::to_string(k));
        // A selection wants a megabyte of workspace.
        Both both(8 * kBudget, 1 + shape % 4);
        const Selection selection = make_selection(t, keys_of(t, shape, 300001), k, ++turn);
        expect_same(selection, both);
        EXPECT_GE(both.device.steps, 3u) << "the device had nothing to do";
        if (testing::Test::HasFatalFailure()) return;
      }
}

// Many equal keys, of which the first of the array are wanted, wherever pieces and parts end; and parts that are
// shorter than k.
TEST(TopkOnBoth, TiesGoByIndex) {
  uint32_t turn = 0;
  for (const uint32_t values : {1u, 2u, 50u})
    for (const uint64_t part : {1, 7, 1000, 1 << 18})
      for (const uint64_t k : {1, 100, 900, 5000})
        for (const uint32_t top : {0u, ~0u - values}) {
          SCOPED_TRACE(std::to_string(values) + " values, parts of " + std::to_string(part) + ", k " +
                       std::to_string(k));
          std::vector<uint32_t> words(part == 1 ? 20000 : 100003);
          std::mt19937 random(turn);
          for (uint32_t &word : words) word = top + static_cast<uint32_t>(random() % values) + (top != 0);
          Both both(8 * kBudget, 1 + turn % 4);
          both.sharing.part_items = part;
          expect_same(make_selection(GSORT_U32, bytes_of(words), k, turn++), both);
        }
}

// Keys that become better towards either end, within parts and from part to part.
TEST(TopkOnBoth, KeysInOrder) {
  constexpr uint32_t n = 200000, part = 4096;
  for (uint32_t kind = 0; kind < 4; ++kind)
    for (const uint64_t k : {3, 1000}) {
      std::vector<uint32_t> words(n);
      for (uint32_t i = 0; i < n; ++i)
        words[i] = kind == 0 ? i : kind == 1 ? n - i : kind == 2 ? (n - i) / part * part + i % part : i / 500;
      for (const uint32_t turn : {0u, 3u}) {
        Both both(8 * kBudget, 2);
        both.sharing.part_items = part;
        expect_same(make_selection(GSORT_U32, bytes_of(words), k, turn), both);
      }
    }
}

TEST(TopkOnBoth, SizesAroundPiecesAndParts) {
  const std::vector<char> all = keys_of(GSORT_I32, 0, 70000);
  for (const uint64_t around : {1, 999, 1024, 4096, 8192, 12288, 32768, 65536})
    for (uint64_t n = around; n < around + 3; ++n)
      for (const uint64_t k : {uint64_t{5}, uint64_t{1024}, n}) {
        SCOPED_TRACE(std::to_string(n) + " elements, k " + std::to_string(k));
        Both both(8 * kBudget);
        both.sharing.part_items = 1000;
        const std::vector<char> in(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n * 4));
        expect_same(make_selection(GSORT_I32, in, k, static_cast<uint32_t>(n + k)), both);
      }
}

// What the device fails to do for want of memory the threads do; other failures are the call's, and write nothing.
TEST(TopkOnBoth, FailingSteps) {
  const std::vector<char> in = keys_of(GSORT_F32, 0, 400000);
  for (const gsort_status status : {GSORT_ERROR_OUT_OF_MEMORY, GSORT_ERROR_DEVICE_LOST})
    for (const uint32_t threads : {1u, 4u})
      for (uint64_t step = 0; step < 5; ++step) {
        SCOPED_TRACE("status " + std::to_string(status) + " in step " + std::to_string(step));
        Both both(8 * kBudget, threads);
        both.device.fail_step = step;
        both.device.fail_status = status;
        const Selection selection = make_selection(GSORT_F32, in, 100, 0);
        Selection shared = selection;
        const gsort_status result = both.run(shared.bound());
        const bool succeeds = both.device.steps <= step || status == GSORT_ERROR_OUT_OF_MEMORY;
        EXPECT_EQ(succeeds ? GSORT_OK : status, result) << both.said;
        const Selection expected = succeeds ? of_the_whole(selection) : selection;
        EXPECT_TRUE(expected.values == shared.values && expected.indices == shared.indices);
        EXPECT_EQ(both.memory.held_bytes(), both.memory.kept_bytes());
      }
}

TEST(TopkOnBoth, NoDeviceMemoryIsRefused) {
  Selection selection = make_selection(GSORT_F32, keys_of(GSORT_F32, 0, 400000), 100, 0);
  Both tiny(500);
  EXPECT_EQ(GSORT_ERROR_OUT_OF_MEMORY, tiny.run(selection.bound()));
}

TEST(TopkOnBoth, CancelledByAnotherThread) {
  for (const uint64_t step : {0, 1, 2}) {
    const Selection selection = make_selection(GSORT_F32, keys_of(GSORT_F32, 0, 400000), 100, 0);
    Selection shared = selection;
    Both both(8 * kBudget);
    uint64_t steps = 0;
    both.device.before_step = [&] {
      if (steps++ != step) return;
      std::thread([&] { both.control.request_cancel(); }).join();
    };
    EXPECT_EQ(GSORT_ERROR_CANCELLED, both.run(shared.bound()));
    EXPECT_EQ(step + 1, both.device.steps);
    EXPECT_TRUE(selection.values == shared.values && selection.indices == shared.indices);
  }
}

}  // namespace
}  // namespace gsort_test
