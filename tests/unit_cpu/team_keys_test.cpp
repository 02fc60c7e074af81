// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys alone that threads sort together: every shape at lengths around those where two threads begin to share the first
// split, and calls that are cancelled.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "engine_fixture.h"

namespace gsort_test {
namespace {

class TeamKeys : public testing::TestWithParam<gsort_dtype> {
 protected:
  template <class U>
  void check(EngineUnderTest &engine, const KeyOrder &order, const std::vector<U> &keys, const std::string &text) {
    const uint64_t n = keys.size();
    std::vector<U> wanted = keys;
    std::sort(wanted.begin(), wanted.end(), [&](U a, U b) { return comes_before(order, a, b); });
    std::vector<U> in = keys, out(n + 2, static_cast<U>(0x5a));
    Request r{Operation::kSort, order};
    r.n = n, r.in = in.data(), r.out = out.data() + 1;
    engine.engine->execute(r);
    ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), out.begin() + 1)) << text;
    ASSERT_EQ(static_cast<U>(0x5a), out.front()) << text;
    ASSERT_EQ(static_cast<U>(0x5a), out.back()) << text;
    ASSERT_TRUE(in == keys) << text;
    r.out = in.data();
    engine.engine->execute(r);
    ASSERT_TRUE(in == wanted) << text << " in place";
  }

  std::mt19937_64 random_{29};
};

TEST_P(TeamKeys, EveryShapeOnTwoThreads) {
  EngineUnderTest engine(2);
  const KeyOrder orders[] = {{GetParam(), false, false}, {GetParam(), true, is_float(GetParam())}};
  for (const uint64_t bytes : {uint64_t{1} << 17, uint64_t{1} << 20, uint64_t{3} << 20}) {
    if (kWatched && bytes > 1 << 20) continue;
    for (uint32_t shape = 0; shape < kShapes; ++shape) {
      const KeyOrder &order = orders[shape % 2];
      with_width(dtype_bytes(order.dtype), [&](auto tag) {
        using U = typename decltype(tag)::type;
        const uint64_t n = bytes / sizeof(U) - 30 + random_() % 60;
        check(engine, order, make_keys<U>(shape, n, random_),
              "n " + std::to_string(n) + " shape " + std::to_string(shape));
      });
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, TeamKeys, testing::Values(GSORT_U32, GSORT_F32, GSORT_I64, GSORT_F64),
                         [](const auto &type) {
                           return std::string(is_float(type.param) ? "f" : "i") +
                                  std::to_string(8 * dtype_bytes(type.param));
                         });

struct StopAfter {
  uint64_t left;
  static int32_t progress(void *user, uint64_t, uint64_t) { return static_cast<StopAfter *>(user)->left-- == 0; }
};

// Wherever it is stopped, a sort in place leaves all keys.
TEST(KeysStopped, LeavesAPermutation) {
  std::mt19937_64 random(31);
  for (const uint32_t threads : {1u, 2u, 3u}) {
    for (const uint64_t n : {uint64_t{1} << 17, kWatched ? uint64_t{1} << 18 : uint64_t{1} << 21}) {
      EngineUnderTest engine(threads);
      uint32_t stopped = 0;
      bool finished = false;
      for (uint64_t after = 0; !finished; after = after * 5 / 4 + 1) {
        const std::vector<uint32_t> before = make_keys<uint32_t>(static_cast<uint32_t>(after % 3), n, random);
        std::vector<uint32_t> keys = before, wanted = before;
        StopAfter stop{after};
        engine.control.set_progress(StopAfter::progress, &stop);
        Request r{Operation::kSort, {GSORT_F32, after % 2 == 1, after % 3 == 0}};
        r.n = n, r.in = r.out = keys.data();
        try {
          engine.control.begin_call();  // forgets the request before
          engine.engine->execute(r);
          finished = true;
        } catch (const Error &error) {
          ASSERT_EQ(GSORT_ERROR_CANCELLED, error.status());
          ++stopped;
        }
        std::sort(keys.begin(), keys.end());
        std::sort(wanted.begin(), wanted.end());
        ASSERT_TRUE(keys == wanted) << "threads " << threads << " n " << n << " after " << after;
      }
      EXPECT_GT(stopped, 0u) << "threads " << threads << " n " << n;
    }
  }
}

}  // namespace
}  // namespace gsort_test
