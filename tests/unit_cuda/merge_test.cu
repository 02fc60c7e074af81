// SPDX-License-Identifier: MIT OR Apache-2.0
// merge::launch(): sorted inputs merge, unsorted ones keep their keys.
#include <algorithm>

#include "cuda/merge/launch.h"
#include "cuda/merge/plan.h"
#include "unit_cuda/launch_harness.h"

namespace gsort_test {
namespace {

using namespace gsort_internal;
using namespace gsort_internal::merge;

class MergeTest : public LaunchTest {
 protected:
  static Request request(const KeyOrder &order, const void *a, uint64_t a_n, const void *b, uint64_t b_n, void *out) {
    Request r{};
    r.operation = Operation::kMerge;
    r.order = order;
    r.n = a_n;
    r.in = a;
    r.b = b;
    r.b_n = b_n;
    r.out = out;
    return r;
  }

  template <class U>
  std::vector<U> merge(const KeyOrder &order, const std::vector<U> &a, const std::vector<U> &b, uint64_t offset) {
    const DeviceArray a_in(bytes_of(a), offset % 16 * sizeof(U)), b_in(bytes_of(b), (offset * 7 + 1) % 16 * sizeof(U));
    const DeviceArray out((a.size() + b.size()) * sizeof(U), offset % 3 * sizeof(U));
    const Request r = request(order, a_in.data(), a.size(), b_in.data(), b.size(), out.data());
    run(merge::make_plan(r, facts_).workspace_bytes, r, merge::launch);
    EXPECT_EQ(bytes_of(a), a_in.read());
    EXPECT_EQ(bytes_of(b), b_in.read());
    return values_of<U>(out.read());
  }

  template <class U>
  void check(gsort_dtype t, uint64_t a_n, uint64_t b_n, uint64_t mask) {
    for (const bool descending : {false, true})
      for (const bool nan_last : {false, true}) {
        if (nan_last && !is_float(t)) continue;
        const KeyOrder order{t, descending, nan_last};
        const KeyCodec<U> codec = make_codec<U>(order);
        const auto less = [&](U x, U y) { return codec.encode(x) < codec.encode(y); };
        std::vector<U> a = values_of<U>(random_bytes(sizeof(U), a_n, mask, a_n * 3 + 1));
        std::vector<U> b = values_of<U>(random_bytes(sizeof(U), b_n, mask, b_n * 5 + 2));
        // Unsorted first: the same keys must come out.
        std::vector<U> kept = merge(order, a, b, a_n);
        std::sort(kept.begin(), kept.end(), less);
        std::sort(a.begin(), a.end(), less);
        std::sort(b.begin(), b.end(), less);
        std::vector<U> expected(a_n + b_n);
        std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin(), less);
        ASSERT_TRUE(expected == kept) << dtype_facts(t).name << " unsorted " << a_n << " + " << b_n;
        ASSERT_TRUE(expected == merge(order, a, b, b_n))
            << dtype_facts(t).name << ' ' << a_n << " + " << b_n << " descending " << descending;
      }
  }
};

using Lengths = std::vector<std::pair<uint64_t, uint64_t>>;

// Around tiles and groups, and one input far longer than the other.
Lengths lengths(uint64_t tile) {
  const uint64_t group = tile * Tuning::kWarps;
  return {{1, 0},
          {0, 1},
          {1, 1},
          {5, 1000},
          {1000, 1003},
          {tile / 2, tile / 2},
          {tile / 2 + 1, tile / 2},
          {tile - 1, 2},
          {tile, tile},
          {3 * tile, 7},
          {7, 3 * tile + 1},
          {group - 1, 0},
          {group / 2, group / 2},
          {3, group - 2},
          {2 * group, 10 * group + 1},
          {20 * tile + 3, 17 * tile + 5},
          {200 * tile, 3 * tile},
          {12, 120000}};
}

// With few multiprocessors inputs are merged in groups that many would merge in one kernel.
TEST_F(MergeTest, EveryTypeAtTileAndGroupEdges) {
  const uint32_t real = facts_.multiprocessors;
  for (const gsort_dtype t : {GSORT_U8, GSORT_I8, GSORT_U16, GSORT_F16, GSORT_I32, GSORT_F32, GSORT_U64, GSORT_F64})
    with_width(dtype_bytes(t), [&](auto tag) {
      using U = typename decltype(tag)::type;
      for (const uint32_t multiprocessors : {real, 1u})
        for (const auto &pair : lengths(tile_keys(sizeof(U))))
          for (const uint64_t mask : {uint64_t{UINT64_MAX}, uint64_t{3}}) {
            facts_.multiprocessors = multiprocessors;
            check<U>(t, pair.first, pair.second, mask);
            if (HasFatalFailure()) return;
          }
    });
}

// Every length around a tile's and a group's end, in both ways.
TEST_F(MergeTest, EveryLengthAroundTheEdges) {
  const uint64_t group = group_keys(4);
  for (const uint32_t multiprocessors : {facts_.multiprocessors, 1u})
    for (const uint64_t groups : {1u, 9u})
      for (uint64_t total = groups * group - 20; total <= groups * group + 20; total++) {
        facts_.multiprocessors = multiprocessors;
        check<uint32_t>(GSORT_U32, total / 3, total - total / 3, UINT32_MAX);
        if (HasFatalFailure()) return;
      }
}

// The grid's counters are found zero and left zero, sorted or not.
TEST_F(MergeTest, StandingCountersStayZero) {
  const uint64_t n = 70 * tile_keys(4);
  const Bytes zeros(kStandingBytes, 0), random = random_bytes(4, n, UINT32_MAX, 5);
  std::vector<uint32_t> sorted = values_of<uint32_t>(random);
  std::sort(sorted.begin(), sorted.end());
  const DeviceArray standing(zeros, 0), unsorted_in(random, 0), sorted_in(bytes_of(sorted), 0), out(2 * n * 4, 0);
  for (const uint32_t multiprocessors : {facts_.multiprocessors, 1u})
    for (int repeat = 0; repeat < 6; repeat++) {
      facts_.multiprocessors = multiprocessors;
      const DeviceArray &in = repeat % 3 == 0 ? unsorted_in : sorted_in;
      const Request r = request({GSORT_U32, false, false}, in.data(), n, in.data(), n, out.data());
      const DeviceArray workspace(merge::make_plan(r, facts_).workspace_bytes, 0);
      LaunchContext with = context();
      with.standing = standing.data();
      merge::launch(with, r, workspace.data());
      std::vector<uint32_t> merged = values_of<uint32_t>(out.read());
      if (&in == &unsorted_in) std::sort(merged.begin(), merged.end());
      for (uint64_t i = 0; i < 2 * n; i++) ASSERT_EQ(sorted[i / 2], merged[i]) << i;
      ASSERT_EQ(zeros, standing.read());
    }
}

// All of one input before, or after, all of the other; equal keys everywhere.
TEST_F(MergeTest, ExtremeSplits) {
  const uint64_t n = 9 * group_keys(4) + 9;
  std::vector<uint32_t> low(n), high(n), same(n, 7);
  for (uint32_t i = 0; i < n; i++) low[i] = i, high[i] = 0xffffffffu - static_cast<uint32_t>(n) + 1 + i;
  const KeyOrder order{GSORT_U32, false, false};
  std::vector<uint32_t> expected = low;
  expected.insert(expected.end(), high.begin(), high.end());
  for (const uint32_t multiprocessors : {facts_.multiprocessors, 1u}) {
    facts_.multiprocessors = multiprocessors;
    ASSERT_TRUE(expected == merge(order, low, high, 0));
    ASSERT_TRUE(expected == merge(order, high, low, 1));
    ASSERT_TRUE(std::vector<uint32_t>(2 * n, 7) == merge(order, same, same, 2));
  }
}

}  // namespace
}  // namespace gsort_test
