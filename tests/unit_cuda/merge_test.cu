// SPDX-License-Identifier: MIT OR Apache-2.0
// merge::launch(): sorted inputs merge, unsorted ones keep their keys.
#include <algorithm>
#include <cmath>
#include <functional>

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
    return merge_at(order, a, b, {offset % 16, (offset * 7 + 1) % 16, offset % 3});
  }

  // Keys before a, b and out in their first line.
  struct Offsets {
    uint64_t a, b, out;
  };
  template <class U>
  std::vector<U> merge_at(const KeyOrder &order, const std::vector<U> &a, const std::vector<U> &b, Offsets offsets) {
    const DeviceArray a_in(bytes_of(a), offsets.a * sizeof(U)), b_in(bytes_of(b), offsets.b * sizeof(U));
    const DeviceArray out((a.size() + b.size()) * sizeof(U), offsets.out * sizeof(U));
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
          {37 * tile - 1, 31 * tile + 1},
          {100 * tile + 5, 70 * tile + 9},
          {12, 120000}};
}

// With few multiprocessors inputs are merged in groups that many would merge in one kernel.
TEST_F(MergeTest, EveryTypeAtTileAndGroupEdges) {
  const uint32_t real = facts_.multiprocessors;
  for (const gsort_dtype t : {GSORT_U8, GSORT_I8, GSORT_U16, GSORT_F16, GSORT_I32, GSORT_F32, GSORT_U64, GSORT_F64})
    with_width(dtype_bytes(t), [&](auto tag) {
      using U = typename decltype(tag)::type;
      for (const uint32_t multiprocessors : {real, 2u, 1u})
        for (const auto &pair : lengths(tile_keys(sizeof(U))))
          for (const uint64_t mask : {uint64_t{UINT64_MAX}, uint64_t{3}}) {
            facts_.multiprocessors = multiprocessors;
            check<U>(t, pair.first, pair.second, mask);
            if (HasFatalFailure()) return;
          }
    });
}

// What devices without bulk copies do with keys that others merge in a ring.
TEST_F(MergeTest, GroupsWhereNoRingFits) {
  facts_.compute_capability = std::min(facts_.compute_capability, 80u);
  facts_.multiprocessors = 1;
  for (const auto &pair : Lengths{{70 * tile_keys(4) + 5, 90 * tile_keys(4) + 9}, {7, 140 * tile_keys(4)}}) {
    check<uint32_t>(GSORT_F32, pair.first, pair.second, UINT32_MAX);
    check<uint64_t>(GSORT_I64, pair.first, pair.second, UINT64_MAX);
  }
}

// Every length around a tile's and a group's end, in both ways.
TEST_F(MergeTest, EveryLengthAroundTheEdges) {
  const uint64_t group = group_keys(4);
  for (const uint32_t multiprocessors : {facts_.multiprocessors, 1u})
    for (const uint64_t groups : {1u, 9u, 17u, 18u})
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

// Blocks that stay fetch whole vectors, but for keys that share one with what is not of the array.
TEST_F(MergeTest, EveryPlaceInAVector) {
  facts_.multiprocessors = 3;
  const KeyOrder order{GSORT_U32, true, false};
  for (uint64_t place = 0; place < 64; place++)
    for (const uint64_t a_n : {uint64_t{2}, 150 * uint64_t{tile_keys(4)} + place % 5}) {
      const uint64_t b_n = 201 * tile_keys(4) + place % 7;
      std::vector<uint32_t> a = values_of<uint32_t>(random_bytes(4, a_n, UINT32_MAX, place));
      std::vector<uint32_t> b = values_of<uint32_t>(random_bytes(4, b_n, UINT32_MAX, place + 1)), expected(a_n + b_n);
      std::sort(a.begin(), a.end(), std::greater<>());
      std::sort(b.begin(), b.end(), std::greater<>());
      std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin(), std::greater<>());
      const Offsets offsets = {place % 4, place / 4 % 4, place / 16};
      ASSERT_TRUE(expected == merge_at(order, a, b, offsets)) << place << ": " << a_n << " + " << b_n;
      ASSERT_TRUE(expected == merge_at(order, b, a, offsets)) << place << ": " << b_n << " + " << a_n;
    }
}

// Sorted but for a few stretches: the borders of groups fit together, those of some tiles do not.
TEST_F(MergeTest, UnsortedInPlacesKeepsTheKeys) {
  const uint64_t n = 400 * tile_keys(8);
  for (const uint32_t multiprocessors : {6u, 1u})
    for (uint64_t turn = 0; turn < 24; turn++) {
      facts_.multiprocessors = multiprocessors;
      std::vector<uint64_t> a = values_of<uint64_t>(random_bytes(8, n, UINT64_MAX, turn));
      std::vector<uint64_t> b = values_of<uint64_t>(random_bytes(8, n, UINT64_MAX, turn + 100)), expected(2 * n);
      std::sort(a.begin(), a.end());
      std::sort(b.begin(), b.end());
      std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin());
      const auto stretch = a.begin() + static_cast<int64_t>(turn * 8191);
      std::reverse(stretch, stretch + 100 + static_cast<int64_t>(turn % 8) * 300);
      std::vector<uint64_t> kept = merge({GSORT_U64, false, false}, a, b, turn);
      std::sort(kept.begin(), kept.end());
      ASSERT_TRUE(expected == kept) << turn;
    }
}

// Ascending keys over the whole range, with a digest of any array's keys that does not see their order.
template <class U>
std::vector<U> ascending(uint64_t n, uint64_t seed) {
  const double scale = std::ldexp(1., sizeof(U) * 8) / static_cast<double>(n);
  std::vector<U> keys(n);
  for (uint64_t i = 0; i < n; i++)
    keys[i] = static_cast<U>((static_cast<double>(i) + static_cast<double>((i + seed) * 977 % 1021) / 1024) * scale);
  return keys;
}
template <class U>
uint64_t digest(const std::vector<U> &keys) {
  uint64_t sum = 0;
  for (const U key : keys) sum += (key + 1) * (key ^ UINT64_C(0x9e3779b97f4a7c15)) * (key + 3);
  return sum;
}

// So many groups that blocks find their ends first, and the last of them has the end alone; in both ways of many tiles.
TEST_F(MergeTest, ManyGroups) {
  const auto check_many = [&](auto tag, const KeyOrder &order, uint64_t group) {
    using U = decltype(tag);
    constexpr uint32_t kEach = Tuning::kPartitionThreads / Tuning::kPartitionLanes - 1;
    const uint64_t all = parts_of(Tuning::kNearGroups + 1, kEach) * kEach * group - 5, n = all / 2 + 777;
    const std::vector<U> a = ascending<U>(n, 1);
    std::vector<U> b = ascending<U>(all - n, 2), expected(all);
    std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin());
    ASSERT_TRUE(expected == merge(order, a, b, 1));
    std::rotate(b.begin(), b.begin() + static_cast<int64_t>(n / 3), b.end());
    ASSERT_EQ(digest(expected), digest(merge(order, a, b, 2))) << "unsorted";
  };
  check_many(uint8_t{}, {GSORT_U8, false, false}, group_keys(1));
  check_many(uint32_t{}, {GSORT_U32, false, false}, Tile<4>::kRingKeys);
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
