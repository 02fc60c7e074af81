// SPDX-License-Identifier: MIT OR Apache-2.0
// The sort in place: any keys, alone or with values, are sorted with an eighth of their bytes, which hold garbage on
// entry, and nothing else is written; pairs keep the order of equal keys; also where the sample misleads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/sort/in_place/launch.h"
#include "msd_support.h"

namespace gsort_internal::sort::in_place {
namespace {

using gsort_test::bits_of;
using gsort_test::DeviceArray;
using gsort_test::in_order;
using gsort_test::make_keys;
using gsort_test::mixed;
using gsort_test::normal;
using gsort_test::unit;

struct How {
  bool in_place = true;
  uint64_t offset = 0;  // of the arrays, in keys
  KeyOrder order = {GSORT_U32, false, false};
  Options options = {};
  uint64_t cells_bytes_min = kCellsBytesMin;  // see make_plan()
};

constexpr uint64_t kNoCells = ~uint64_t{0};

class InPlace : public gsort_test::DeviceTest {
 protected:
  template <class U>
  void expect_sorted(const std::vector<U> &keys, const How &how) {
    Request request{};
    request.operation = Operation::kSort;
    request.order = how.order;
    request.n = keys.size();
    const Plan plan = make_plan(request, how.cells_bytes_min);
    ASSERT_TRUE(plan.applies);
    by_cells_ = false;
    if (!fits(plan, facts_)) GTEST_SKIP() << "a chip with less shared memory";
    ASSERT_LE(plan.workspace_bytes, keys.size() * sizeof(U) / 8);
    const DeviceArray in(keys, how.offset * sizeof(U)), out(keys.size() * sizeof(U), (how.offset ^ 1) * sizeof(U));
    const DeviceArray workspace(plan.workspace_bytes, 0);
    request.in = in.data();
    request.out = how.in_place ? in.data() : out.data();
    launch(context(), request, plan, workspace.data(), how.options);
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    workspace.check_zones();
    if (cells_fit(plan, facts_)) by_cells_ = workspace.template read_as<uint32_t>()[plan.slices.done / 4] != 0;
    const std::vector<U> after_in = in.read_as<U>(), after_out = out.read_as<U>();
    if (!how.in_place) ASSERT_TRUE(after_in == keys) << "the input was written";
    ASSERT_TRUE((how.in_place ? after_in : after_out) == in_order(keys, make_codec<U>(how.order)));
  }
  bool by_cells_ = false;  // the last keys were sorted by cells

  // Every value is its item's place in the input, in all its words.
  template <class U, class V>
  void expect_pairs_sorted(const std::vector<U> &keys, const How &how) {
    const uint64_t n = keys.size();
    Request request{};
    request.operation = Operation::kSortPairs;
    request.order = how.order;
    request.n = n;
    request.value_bytes = sizeof(V);
    const Plan plan = make_plan(request);
    ASSERT_TRUE(plan.applies);
    if (!fits(plan, facts_)) GTEST_SKIP() << "a chip with less shared memory";
    ASSERT_LE(plan.workspace_bytes, n * (sizeof(U) + sizeof(V)) / 8);
    const std::vector<V> values = make_keys<V>(n, [](uint64_t i) { return value_of<V>(i); });
    const uint64_t other = how.offset ^ 1, value_offset = how.offset / 2;
    const DeviceArray in(keys, how.offset * sizeof(U)), out(n * sizeof(U), other * sizeof(U));
    const DeviceArray values_in(values, value_offset * sizeof(V)), values_out(n * sizeof(V), other * sizeof(V));
    const DeviceArray workspace(plan.workspace_bytes, 0);
    request.in = in.data();
    request.out = how.in_place ? in.data() : out.data();
    request.values_in = values_in.data();
    request.values_out = how.in_place ? values_in.data() : values_out.data();
    ASSERT_TRUE(takes_arrays(request));
    launch(context(), request, plan, workspace.data(), how.options);
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    workspace.check_zones();
    if (!how.in_place) {
      ASSERT_TRUE(in.template read_as<U>() == keys) << "the input was written";
      ASSERT_TRUE(values_in.template read_as<V>() == values) << "the input was written";
    }
    const std::vector<U> sorted = (how.in_place ? in : out).template read_as<U>();
    const std::vector<V> moved = (how.in_place ? values_in : values_out).template read_as<V>();
    ASSERT_TRUE(sorted == in_order(keys, make_codec<U>(how.order)));
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t place = place_of(moved[i]);
      ASSERT_TRUE(place < n && moved[i] == value_of<V>(place)) << i;
      ASSERT_EQ(keys[place], sorted[i]) << i;
      if (i != 0 && sorted[i] == sorted[i - 1]) ASSERT_LT(place_of(moved[i - 1]), place) << i;
    }
  }

 private:
  // A value of 16 bytes.
  struct Wide {
    uint64_t place, hash;
    Wide() = default;
    Wide(uint64_t i) : place(i), hash(mixed(i)) {}
    bool operator==(const Wide &other) const { return place == other.place && hash == other.hash; }
  };

 protected:
  using Value16 = Wide;
  template <class V>
  static V value_of(uint64_t i) {
    return static_cast<V>(i);
  }
  static uint64_t place_of(uint64_t value) { return value; }
  static uint64_t place_of(const Wide &value) { return value.place; }
};

using Word = std::function<uint64_t(uint64_t)>;

struct Data {
  const char *name;
  Word word;
};

// `n`: how many keys there will be.
std::vector<Data> all_data(uint64_t n) {
  const auto zipf = [](uint64_t i) {
    const double most = (std::pow(1e8, -0.1) - 1) / -0.1;
    return mixed(static_cast<uint64_t>(std::pow(1 - 0.1 * unit(i) * most, -10.0)));
  };
  return {{"uniform", [](uint64_t i) { return mixed(i); }},
          {"all equal", [](uint64_t) { return 0x0123456789abcdef; }},
          {"two values", [](uint64_t i) { return mixed(i) % 2 ? 7 : ~uint64_t{0}; }},
          {"thirty values", [](uint64_t i) { return mixed(mixed(i) % 30); }},
          {"sorted", [n](uint64_t i) { return i * (~uint64_t{0} / n) + (i << 8); }},
          {"small and sorted", [](uint64_t i) { return i; }},
          {"reverse", [n](uint64_t i) { return n - i; }},
          {"sorted but for a few", [](uint64_t i) { return mixed(i) % 1000 ? i : mixed(i) % 4000000; }},
          {"turned by a half", [n](uint64_t i) { return i < n / 2 ? i + n : i; }},
          {"turned by a ninth", [n](uint64_t i) { return i < n / 9 ? i + n : i; }},
          {"sawtooth", [](uint64_t i) { return i % 100003; }},
          {"up and down", [n](uint64_t i) { return std::min(i, n - i); }},
          {"zipf", zipf},
          {"nine in ten are zero", [](uint64_t i) { return mixed(~i) % 10 ? 0 : mixed(i); }},
          {"one in ten is the greatest", [](uint64_t i) { return mixed(~i) % 10 ? mixed(i) : ~uint64_t{0}; }},
          {"greatest", [](uint64_t) { return ~uint64_t{0}; }},
          {"three ANDs", [](uint64_t i) { return mixed(i) & mixed(~i) & mixed(i << 32 | 1); }}};
}

template <class U>
void for_all_data(uint64_t n, const std::function<void(const std::vector<U> &, uint32_t)> &f) {
  uint32_t turn = 0;
  for (const Data &data : all_data(n)) {
    SCOPED_TRACE(data.name);
    f(make_keys<U>(n, data.word), turn++);
    if (testing::Test::HasFatalFailure()) return;
  }
}

How how_of(uint32_t turn, gsort_dtype t) {
  How how{};
  how.in_place = turn % 3 != 2;
  how.offset = turn * 5 % 32;
  how.order = {t, turn % 2 == 1, false};
  return how;
}

TEST_F(InPlace, SortsAnyKeysOf4Bytes) {
  for_all_data<uint32_t>(5000003, [&](const std::vector<uint32_t> &keys, uint32_t turn) {
    expect_sorted(keys, how_of(turn, turn % 4 == 3 ? GSORT_F32 : GSORT_U32));
  });
}

TEST_F(InPlace, SortsAnyKeysOf8Bytes) {
  for_all_data<uint64_t>(2500007, [&](const std::vector<uint64_t> &keys, uint32_t turn) {
    expect_sorted(keys, how_of(turn, turn % 4 == 3 ? GSORT_F64 : GSORT_U64));
  });
}

TEST_F(InPlace, SortsAnyPairs) {
  for_all_data<uint32_t>(3300003, [&](const std::vector<uint32_t> &keys, uint32_t turn) {
    expect_pairs_sorted<uint32_t, uint32_t>(keys, how_of(turn, turn % 4 == 3 ? GSORT_F32 : GSORT_U32));
  });
  for_all_data<uint64_t>(3300007, [&](const std::vector<uint64_t> &keys, uint32_t turn) {
    expect_pairs_sorted<uint64_t, uint64_t>(keys, how_of(turn, turn % 4 == 3 ? GSORT_F64 : GSORT_U64));
  });
}

TEST_F(InPlace, SortsPairsOfUnlikeSizes) {
  for_all_data<uint32_t>(7000001, [&](const std::vector<uint32_t> &keys, uint32_t turn) {
    const How how = how_of(turn, GSORT_I32);
    if (turn % 4 == 0) expect_pairs_sorted<uint32_t, Value16>(keys, how);
    if (turn % 4 == 1) expect_pairs_sorted<uint32_t, uint64_t>(keys, how);
  });
  for_all_data<uint64_t>(7000003, [&](const std::vector<uint64_t> &keys, uint32_t turn) {
    const How how = how_of(turn, GSORT_I64);
    if (turn % 4 == 2) expect_pairs_sorted<uint64_t, uint32_t>(keys, how);
    if (turn % 4 == 3) expect_pairs_sorted<uint64_t, Value16>(keys, how);
  });
}

TEST_F(InPlace, SortsManyPairs) {
  for_all_data<uint32_t>((uint64_t{1} << 25) + 77, [&](const std::vector<uint32_t> &keys, uint32_t turn) {
    if (turn % 4 == 0) expect_pairs_sorted<uint32_t, uint32_t>(keys, how_of(turn, GSORT_I32));
  });
}

TEST_F(InPlace, SortsManyKeys) {
  for_all_data<uint32_t>((uint64_t{1} << 25) + 77, [&](const std::vector<uint32_t> &keys, uint32_t turn) {
    How how = how_of(turn, GSORT_I32);
    if (turn % 3 != 0) return;
    expect_sorted(keys, how);
    how.cells_bytes_min = kNoCells;
    expect_sorted(keys, how);
  });
  for_all_data<uint64_t>((uint64_t{1} << 24) + 77, [&](const std::vector<uint64_t> &keys, uint32_t turn) {
    if (turn % 3 == 1) expect_sorted(keys, how_of(turn, GSORT_I64));
  });
}

// By cells, of keys that have two passes: all that are even or smooth are, and the others are sorted all the same.
TEST_F(InPlace, SortsByCells) {
  if (facts_.shared_bytes_block_max < kBinSharedBytesMin + 1024) GTEST_SKIP() << "a chip with less shared memory";
  How how{};
  how.cells_bytes_min = 0;
  const auto expect_by_cells = [&](auto keys, const char *name) {
    SCOPED_TRACE(name);
    expect_sorted(keys, how);
    EXPECT_TRUE(by_cells_);
  };
  constexpr uint64_t kMany = 9000001;
  for (const uint32_t stripes : {0u, 1u, 7u, 250u})
    for (const bool in_place : {true, false}) {
      how.options.stripes = stripes, how.in_place = in_place, how.offset = stripes;
      how.order = {GSORT_U32, stripes == 7, false};
      expect_by_cells(make_keys<uint32_t>(kMany, mixed), "uniform u32");
      how.order.dtype = GSORT_F32;
      expect_by_cells(
          make_keys<uint32_t>(kMany, [](uint64_t i) { return bits_of<uint32_t>(static_cast<float>(normal(i))); }),
          "normal f32");
      how.order.dtype = GSORT_I64;
      expect_by_cells(make_keys<uint64_t>(kMany, mixed), "uniform i64");
      how.order.dtype = GSORT_F64;
      expect_by_cells(make_keys<uint64_t>(kMany, [](uint64_t i) { return bits_of<uint64_t>(normal(i)); }),
                      "normal f64");
      if (HasFatalFailure()) return;
    }
  how = {};
  how.cells_bytes_min = 0;
  expect_by_cells(make_keys<uint32_t>(kMany, [](uint64_t i) { return i * 477 + i % 3; }), "in order");
  expect_by_cells(make_keys<uint32_t>(kMany, [](uint64_t i) { return (kMany - i) * 477; }), "in reverse");
}

TEST_F(InPlace, SortsAnyKeysWithCellsTriedFirst) {
  for_all_data<uint32_t>(9000003, [&](const std::vector<uint32_t> &keys, uint32_t turn) {
    How how = how_of(turn, turn % 4 == 3 ? GSORT_F32 : GSORT_U32);
    how.cells_bytes_min = 0;
    expect_sorted(keys, how);
  });
  for_all_data<uint64_t>(9000007, [&](const std::vector<uint64_t> &keys, uint32_t turn) {
    How how = how_of(turn, turn % 4 == 3 ? GSORT_F64 : GSORT_U64);
    how.cells_bytes_min = 0;
    expect_sorted(keys, how);
  });
}

// Lengths around a brick of each kind, and as many stripes.
TEST_F(InPlace, SortsEveryLengthByCells) {
  if (facts_.shared_bytes_block_max < kBinSharedBytesMin + 1024) GTEST_SKIP() << "a chip with less shared memory";
  for (const uint64_t off : {0u, 1u, 63u, 64u, 127u, 128u, 129u, 6143u, 12287u, 12289u}) {
    SCOPED_TRACE(off);
    How how{};
    how.cells_bytes_min = 0;
    how.offset = off % 3;
    how.options.stripes = 1 + static_cast<uint32_t>(off) % 133;
    expect_sorted(make_keys<uint32_t>(70400 * 128 + off, mixed), how);
    EXPECT_TRUE(by_cells_);
    if (HasFatalFailure()) return;
  }
}

// The shortest arrays that this sort takes, for compute-sanitizer's racecheck: every kernel, every width.
uint64_t of_five(uint64_t i) { return mixed(i) % 5; }

TEST_F(InPlace, RacecheckKeys) {
  How how{};
  expect_sorted(make_keys<uint32_t>(4200001, mixed), how);
  how.order.dtype = GSORT_U64;
  expect_sorted(make_keys<uint64_t>(2100001, of_five), how);
}

TEST_F(InPlace, RacecheckCells) {
  How how{};
  how.cells_bytes_min = 0;
  how.offset = 1;
  expect_sorted(make_keys<uint32_t>(9000001, mixed), how);
  how.order.dtype = GSORT_F64;
  expect_sorted(make_keys<uint64_t>(9000001, [](uint64_t i) { return bits_of<uint64_t>(normal(i)); }), how);
}

TEST_F(InPlace, RacecheckPairs) {
  How how{};
  how.offset = 1;
  expect_pairs_sorted<uint32_t, uint32_t>(make_keys<uint32_t>(2600001, mixed), how);
  how.order.dtype = GSORT_U64;
  expect_pairs_sorted<uint64_t, uint64_t>(make_keys<uint64_t>(2600001, of_five), how);
  how.options.samples_front = true;
  expect_pairs_sorted<uint64_t, uint32_t>(make_keys<uint64_t>(2600001, [](uint64_t i) { return i * i; }), how);
}

TEST_F(InPlace, RacecheckPairsOfWideValues) {
  How how{};
  expect_pairs_sorted<uint32_t, uint64_t>(make_keys<uint32_t>(2600001, of_five), how);
  expect_pairs_sorted<uint32_t, Value16>(make_keys<uint32_t>(3600001, mixed), how);
  how.order.dtype = GSORT_U64;
  expect_pairs_sorted<uint64_t, Value16>(make_keys<uint64_t>(3400001, of_five), how);
}

// The borders of bricks and of stripes.
TEST_F(InPlace, SortsEveryLengthAroundABrick) {
  for (const uint64_t off : {0u, 1u, 31u, 32u, 993u, 1023u, 1024u, 1025u, 6143u, 6144u, 6145u})
    for (const uint64_t offset : {0u, 1u, 31u}) {
      How how{};
      how.offset = offset;
      how.options.stripes = 1 + static_cast<uint32_t>(off) % 17;
      SCOPED_TRACE(off);
      expect_sorted(make_keys<uint32_t>((uint64_t{1} << 22) + off, mixed), how);
      if (HasFatalFailure()) return;
    }
}

TEST_F(InPlace, SortsFloatsWithNansLast) {
  How how{};
  how.order = {GSORT_F64, true, true};
  expect_sorted(make_keys<uint64_t>(3000001,
                                    [](uint64_t i) {
                                      return mixed(i) % 5 == 0 ? 0x7ff0000000000000 + mixed(i) % 3
                                                               : bits_of<uint64_t>(normal(i));
                                    }),
                how);
}

// The first keys are the sample, and are not like the others: the splitters must be searched for.
TEST_F(InPlace, SortsWhatTheSampleDoesNotShow) {
  How how{};
  how.options.samples_front = true;
  for_all_data<uint32_t>(4200001, [&](const std::vector<uint32_t> &keys, uint32_t turn) {
    how.in_place = turn % 2 == 0;
    expect_sorted(keys, how);
  });
  how.order = {GSORT_U64, true, false};
  expect_sorted(make_keys<uint64_t>(2100001, [](uint64_t i) { return i * i; }), how);
}

TEST_F(InPlace, SortsPairsThatTheSampleDoesNotShow) {
  How how{};
  how.options.samples_front = true;
  for_all_data<uint32_t>(3300001, [&](const std::vector<uint32_t> &keys, uint32_t turn) {
    how.in_place = turn % 2 == 0;
    if (turn % 2 == 0)
      expect_pairs_sorted<uint32_t, uint32_t>(keys, how);
    else
      expect_pairs_sorted<uint32_t, uint64_t>(keys, how);
  });
}

TEST_F(InPlace, TheSameKeysAgainAndAgain) {
  const std::vector<uint32_t> keys = make_keys<uint32_t>(9000001, mixed);
  for (int round = 0; round < 20; ++round) {
    How how{};
    how.offset = static_cast<uint64_t>(round);
    expect_sorted(keys, how);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gsort_internal::sort::in_place
