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
  template <class U>
  std::vector<U> merge(const KeyOrder &order, const std::vector<U> &a, const std::vector<U> &b, uint64_t offset) {
    const DeviceArray a_in(bytes_of(a), offset % 16 * sizeof(U)), b_in(bytes_of(b), (offset * 7 + 1) % 16 * sizeof(U));
    const DeviceArray out((a.size() + b.size()) * sizeof(U), offset % 3 * sizeof(U));
    Request r{};
    r.operation = Operation::kMerge;
    r.order = order;
    r.n = a.size();
    r.in = a_in.data();
    r.b = b_in.data();
    r.b_n = b.size();
    r.out = out.data();
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

TEST_F(MergeTest, EveryTypeAtTileEdges) {
  for (const gsort_dtype t : {GSORT_U8, GSORT_I8, GSORT_U16, GSORT_F16, GSORT_I32, GSORT_F32, GSORT_U64, GSORT_F64})
    with_width(dtype_bytes(t), [&](auto tag) {
      using U = typename decltype(tag)::type;
      const uint64_t tile = tile_keys(sizeof(U));
      const uint64_t pairs[][2] = {{1, 0},
                                   {0, 1},
                                   {1, 1},
                                   {5, 1000},
                                   {1000, 1003},
                                   {tile / 2, tile / 2},
                                   {tile - 1, 2},
                                   {tile, tile},
                                   {3 * tile, 7},
                                   {7, 3 * tile + 1},
                                   {20 * tile + 3, 17 * tile + 5},
                                   {200 * tile, 3 * tile}};
      for (const auto &pair : pairs) {
        check<U>(t, pair[0], pair[1], UINT64_MAX);
        if (HasFatalFailure()) return;
        check<U>(t, pair[0], pair[1], 0x3);
        if (HasFatalFailure()) return;
      }
    });
}

// All of one input before, or after, all of the other; equal keys everywhere.
TEST_F(MergeTest, ExtremeSplits) {
  const uint64_t n = 5 * tile_keys(4) + 9;
  std::vector<uint32_t> low(n), high(n), same(n, 7);
  for (uint32_t i = 0; i < n; i++) low[i] = i, high[i] = 0xffffffffu - static_cast<uint32_t>(n) + 1 + i;
  const KeyOrder order{GSORT_U32, false, false};
  std::vector<uint32_t> expected = low;
  expected.insert(expected.end(), high.begin(), high.end());
  ASSERT_TRUE(expected == merge(order, low, high, 0));
  ASSERT_TRUE(expected == merge(order, high, low, 1));
  ASSERT_TRUE(std::vector<uint32_t>(2 * n, 7) == merge(order, same, same, 2));
}

}  // namespace
}  // namespace gsort_test
