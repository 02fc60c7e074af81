// SPDX-License-Identifier: MIT OR Apache-2.0
// Pairs, argsorts and ranks that a few threads split together: the list that they share, every shape of keys at numbers
// of threads and of records around those where another way begins, and a call that is cancelled.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cpu/sort/part_list.h"
#include "cpu/vector/target.h"
#include "engine_fixture.h"

namespace gsort_test {
namespace {

TEST(PartList, GivesWhatWasAddedLastAndRefusesWhatHasNoRoom) {
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  PartList<uint32_t> list(memory, 2);
  uint32_t part = 0;
  EXPECT_EQ(PartList<uint32_t>::Taken::kNothing, list.take(part));
  EXPECT_TRUE(list.add(5));
  EXPECT_TRUE(list.add(6));
  EXPECT_FALSE(list.add(7));
  EXPECT_EQ(PartList<uint32_t>::Taken::kPart, list.take(part));
  EXPECT_EQ(6u, part);
  EXPECT_EQ(PartList<uint32_t>::Taken::kPart, list.take(part));
  EXPECT_EQ(5u, part);
  EXPECT_EQ(PartList<uint32_t>::Taken::kNothingYet, list.take(part)) << "two were taken, and may add some";
  list.finish();
  EXPECT_TRUE(list.add(8));
  EXPECT_EQ(PartList<uint32_t>::Taken::kPart, list.take(part));
  EXPECT_EQ(8u, part);
  list.finish();
  list.finish();
  EXPECT_EQ(PartList<uint32_t>::Taken::kNothing, list.take(part));
}

// Numbers that are halved until they are 1: each thread goes on with one half.
TEST(PartList, NothingIsLostAmongThreads) {
  HostMemory memory(nullptr, nullptr, nullptr, 0);
  constexpr uint32_t kThreads = 4, kAll = 1 << 14;
  PartList<uint32_t> list(memory, 8);  // so few that it is full at times
  ASSERT_TRUE(list.add(kAll));
  std::atomic<uint32_t> ones{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      uint32_t part = 0;
      for (;;) {
        const auto taken = list.take(part);
        if (taken == PartList<uint32_t>::Taken::kNothing) return;
        if (taken == PartList<uint32_t>::Taken::kNothingYet) continue;
        for (; part > 1; part /= 2)
          if (!list.add(part / 2)) ones += part / 2;
        ++ones;
        list.finish();
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(kAll, ones);
}

// Records whose keys are in order or in the reverse order, with equal ones among them, keep the order of those.
class OrderedPairs : public testing::TestWithParam<uint32_t> {};

TEST_P(OrderedPairs, BothDirectionsWithAndWithoutEqualKeys) {
  EngineUnderTest engine(GetParam());
  for (const uint64_t n : {2u, 3u, 300u, 5000u, 300000u}) {
    for (const uint64_t each : {1u, 2u, 7u, 1000u}) {
      for (const bool descending : {false, true}) {
        for (const bool in_place : {false, true}) {
          const KeyOrder order{GSORT_U32, descending, false};
          std::vector<uint32_t> keys(n), keys_out(n, 9);
          std::vector<uint16_t> values(n), values_out(n, 9);
          for (uint64_t i = 0; i < n; ++i) keys[i] = static_cast<uint32_t>((n - i) / each);
          for (uint64_t i = 0; i < n; ++i) values[i] = static_cast<uint16_t>(i * 3);
          std::vector<uint32_t> wanted(n), indices(n);
          std::iota(wanted.begin(), wanted.end(), 0u);
          std::stable_sort(wanted.begin(), wanted.end(),
                           [&](uint32_t a, uint32_t b) { return comes_before(order, keys[a], keys[b]); });
          Request a{Operation::kArgsort, order};
          a.n = n, a.in = keys.data(), a.out = indices.data(), a.index_t = GSORT_U32;
          engine.engine->execute(a);
          ASSERT_EQ(wanted, indices) << n << " " << each;
          const auto keys_before = keys;
          const auto values_before = values;
          Request r{Operation::kSortPairs, order};
          r.n = n, r.value_bytes = 2, r.in = keys.data(), r.values_in = values.data();
          r.out = in_place ? keys.data() : keys_out.data();
          r.values_out = in_place ? values.data() : values_out.data();
          engine.engine->execute(r);
          for (uint64_t i = 0; i < n; ++i) {
            ASSERT_EQ(keys_before[wanted[i]], static_cast<const uint32_t *>(r.out)[i]) << n << " " << each << " " << i;
            ASSERT_EQ(values_before[wanted[i]], static_cast<const uint16_t *>(r.values_out)[i])
                << n << " " << each << " " << i;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, OrderedPairs, testing::Values(1u, 3u));

class TeamPairs : public testing::TestWithParam<gsort_dtype> {
 protected:
  template <class U>
  static std::vector<uint32_t> order_of(const KeyOrder &order, const std::vector<U> &keys) {
    std::vector<uint32_t> indices(keys.size());
    std::iota(indices.begin(), indices.end(), 0u);
    std::stable_sort(indices.begin(), indices.end(),
                     [&](uint32_t a, uint32_t b) { return comes_before(order, keys[a], keys[b]); });
    return indices;
  }

  // Sorts keys with values of type V, elsewhere and in place, and their indices.
  template <class U, class V>
  void check(EngineUnderTest &engine, const KeyOrder &order, const std::vector<U> &keys,
             const std::vector<uint32_t> &wanted, const std::string &text) {
    const uint64_t n = keys.size();
    std::vector<V> values(n);
    for (uint64_t i = 0; i < n; ++i) values[i] = static_cast<V>(i + 3);
    for (const bool in_place : {false, true}) {
      std::vector<U> keys_in = keys, keys_out(n, static_cast<U>(0x5a));
      std::vector<V> values_in = values, values_out(n, static_cast<V>(0x5a));
      Request r{Operation::kSortPairs, order};
      r.n = n, r.value_bytes = sizeof(V);
      r.in = keys_in.data(), r.values_in = values_in.data();
      r.out = in_place ? keys_in.data() : keys_out.data();
      r.values_out = in_place ? values_in.data() : values_out.data();
      engine.engine->execute(r);
      const auto &got = in_place ? keys_in : keys_out;
      const auto &got_values = in_place ? values_in : values_out;
      for (uint64_t i = 0; i < n; ++i) {
        ASSERT_EQ(keys[wanted[i]], got[i]) << text << " in place " << in_place << " i " << i;
        ASSERT_EQ(values[wanted[i]], got_values[i]) << text << " in place " << in_place << " i " << i;
      }
      if (!in_place) {
        ASSERT_EQ(keys, keys_in);
      }
    }
    std::vector<V> indices(n, static_cast<V>(0x5a));
    Request r{Operation::kArgsort, order};
    r.n = n, r.in = keys.data(), r.out = indices.data(), r.index_t = sizeof(V) == 4 ? GSORT_U32 : GSORT_U64;
    engine.engine->execute(r);
    for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(V{wanted[i]}, indices[i]) << text << " i " << i;
  }

  std::mt19937_64 random_{23};
};

TEST_P(TeamPairs, EveryShapeAtEveryNumberOfThreads) {
  std::vector<std::unique_ptr<EngineUnderTest>> engines;
  const std::vector<uint32_t> threads =
      kWatched ? std::vector<uint32_t>{2, 4} : std::vector<uint32_t>{1, 2, 3, 4, 8, 16};
  for (const uint32_t t : threads) engines.push_back(std::make_unique<EngineUnderTest>(t));
  const bool is_long = dtype_bytes(GetParam()) == 8;
  const std::vector<uint64_t> bases =
      kWatched ? std::vector<uint64_t>{9000, 20000} : std::vector<uint64_t>{4096, 9000, 40000, 1 << 18};
  for (const uint64_t base : bases) {
    for (uint32_t shape = 0; shape < kShapes; ++shape) {
      const uint64_t n = base + random_() % 100;
      const KeyOrder order{GetParam(), shape % 2 == 1, is_float(GetParam()) && shape % 3 == 0};
      const auto run = [&](auto key) {
        using U = decltype(key);
        const std::vector<U> keys = make_keys<U>(shape, n, random_);
        const auto wanted = order_of(order, keys);
        for (size_t e = 0; e < engines.size(); ++e) {
          const std::string text =
              "threads " + std::to_string(threads[e]) + " n " + std::to_string(n) + " shape " + std::to_string(shape);
          check<U, uint32_t>(*engines[e], order, keys, wanted, text);
          if (is_long && !HasFatalFailure()) check<U, uint64_t>(*engines[e], order, keys, wanted, text);
          if (HasFatalFailure()) return;
        }
      };
      is_long ? run(uint64_t{}) : run(uint32_t{});
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, TeamPairs, testing::Values(GSORT_U32, GSORT_F32, GSORT_I64, GSORT_F64),
                         [](const auto &type) {
                           return std::string(is_float(type.param) ? "f" : "i") +
                                  std::to_string(8 * dtype_bytes(type.param));
                         });

// Whether keys repeat is asked of long arrays whose keys crowd, by vectors, of which there may be none.
TEST(CrowdedPairs, OfMillionsOnEveryTarget) {
  const VectorTarget before = vector_target();
  constexpr uint64_t n = kWatched ? 1 << 16 : (1 << 22) + 5;
  std::vector<uint64_t> keys(n);
  std::mt19937_64 random(8);
  for (uint64_t i = 0; i < n; ++i) keys[i] = i % 8 == 0 ? random() : random() % 1000;
  std::vector<uint64_t> wanted = keys;
  std::sort(wanted.begin(), wanted.end());
  for (const VectorTarget target : {VectorTarget::kNone, before}) {
    force_vector_target(target);
    EngineUnderTest engine(2);
    std::vector<uint64_t> keys_out(n), values_out(n);
    Request r{Operation::kSortPairs, {GSORT_U64, false, false}};
    r.n = n, r.value_bytes = 8, r.in = keys.data(), r.values_in = keys.data();
    r.out = keys_out.data(), r.values_out = values_out.data();
    engine.engine->execute(r);
    force_vector_target(before);
    EXPECT_TRUE(wanted == keys_out);
    EXPECT_TRUE(wanted == values_out);
  }
}

struct StopAfter {
  uint32_t left;
  static int32_t progress(void *user, uint64_t, uint64_t) { return static_cast<StopAfter *>(user)->left-- == 0; }
};

// Wherever it is stopped, a sort in place leaves all records, each key with its value.
TEST(TeamPairsStopped, LeavesAPermutation) {
  std::mt19937_64 random(5);
  uint32_t stopped = 0;
  for (const uint32_t threads : {2u, 4u}) {
    for (uint32_t after = 0; after < 60; after += kWatched ? 7 : 1) {
      EngineUnderTest engine(threads);
      const uint64_t n = kWatched ? 1 << 17 : 1 << 19;
      std::vector<uint32_t> keys = make_keys<uint32_t>(after % 2 == 0 ? 0 : 6, n, random), before = keys;
      std::vector<uint32_t> values(n);
      std::iota(values.begin(), values.end(), 0u);
      StopAfter stop{after};
      engine.control.set_progress(StopAfter::progress, &stop);
      Request r{Operation::kSortPairs, {GSORT_F32, false, after % 3 == 0}};
      r.n = n, r.value_bytes = 4;
      r.in = r.out = keys.data();
      r.values_in = r.values_out = values.data();
      try {
        engine.engine->execute(r);
      } catch (const Error &error) {
        EXPECT_EQ(GSORT_ERROR_CANCELLED, error.status());
        ++stopped;
      }
      std::vector<bool> seen(n);
      for (uint64_t i = 0; i < n; ++i) {
        ASSERT_LT(values[i], n);
        ASSERT_FALSE(seen[values[i]]) << "after " << after << " i " << i;
        seen[values[i]] = true;
        ASSERT_EQ(before[values[i]], keys[i]) << "after " << after << " i " << i;
      }
    }
  }
  EXPECT_GT(stopped, kWatched ? 2u : 20u);
}

}  // namespace
}  // namespace gsort_test
