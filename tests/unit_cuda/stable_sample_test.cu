// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable sample sort of pairs and indices with keys of 8 bytes: any are sorted in the stable order, whatever their
// spread, by it or by the radix sort behind it, and nothing else is written.
#include "cuda/sort/msd/stable_state.cuh"
#include "cuda/sort/sample_sort/stable_tables.h"
#include "sort_support.h"
#include "uneven_words.h"

namespace gsort_internal {
namespace {

using gsort_test::Word;
using sort::sample_sort::kStableItemsForcedMin;
using sort::sample_sort::kStableItemsMax;
using sort::sample_sort::kStableSample;

struct Form {
  Operation operation = Operation::kSortPairs;
  uint32_t value_bytes = 8;  // of an index for argsort and rank
  bool keys_in_place = false, values_in_place = false;
  uint64_t offset = 0;
};

class StableSample : public SortFixture {
 protected:
  void SetUp() override {
    SortFixture::SetUp();
    if (IsSkipped()) return;
    options_.algorithm = sort::Algorithm::kStableSampleSort;
    Request request{Operation::kSortPairs, {GSORT_U64, false, false}};
    request.n = kStableItemsForcedMin, request.value_bytes = 8;
    if (sort::make_plan(request, facts_, options_).algorithm != options_.algorithm)
      GTEST_SKIP() << "a chip whose blocks do not hold the pairs";
  }

  void launch(const Request &request) {
    const DeviceArray workspace(sort::workspace_bytes(request, options_), 0);
    const sort::Plan plan = sort::make_plan(request, facts_, options_);
    ASSERT_EQ(plan.algorithm, options_.algorithm);
    sort::launch(context(), request, workspace.data(), options_);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    workspace.check_zones();
    ASSERT_EQ(cudaMemcpy(&state_, workspace.as<uint8_t>() + plan.slices.sample_sort_tables, sizeof(state_),
                         cudaMemcpyDeviceToHost),
              cudaSuccess);
    ASSERT_LE(state_.go, 1u);
    ASSERT_EQ(state_.go, state_.sorted);
  }

  // Sorts and checks all that must hold. Returns whether this sort, not the one behind it, has done the work.
  bool check(const std::vector<uint64_t> &keys, const KeyOrder &order, const Form &form = {}) {
    const uint64_t n = keys.size();
    const bool pairs = form.operation == Operation::kSortPairs;
    const Bytes values = make_values(pairs ? n : 0, form.value_bytes);
    const DeviceArray keys_in(keys, form.offset * 8), keys_out(n * 8, 0);
    const DeviceArray values_in(values, form.offset * 8), values_out(n * form.value_bytes, 8);
    const DeviceArray &keys_end = form.keys_in_place ? keys_in : keys_out;
    const DeviceArray &values_end = form.values_in_place ? values_in : values_out;
    Request request{form.operation, order};
    request.n = n;
    request.in = keys_in.data();
    request.out = pairs ? keys_end.data() : values_out.data();
    request.values_in = pairs ? values_in.data() : nullptr;
    request.values_out = pairs ? values_end.data() : nullptr;
    request.value_bytes = pairs ? form.value_bytes : 0;
    request.index_t = pairs ? gsort_dtype{} : form.value_bytes == 8 ? GSORT_U64 : GSORT_U32;
    launch(request);

    const KeyCodec<uint64_t> codec = make_codec<uint64_t>(order);
    std::vector<std::pair<uint64_t, uint32_t>> sorted(n);
    for (uint64_t i = 0; i < n; ++i) sorted[i] = {codec.encode(keys[i]), static_cast<uint32_t>(i)};
    std::sort(sorted.begin(), sorted.end());  // with the index, hence stable
    std::vector<uint64_t> expected_keys(n);
    Bytes expected_values(n * form.value_bytes);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t source = sorted[i].second;
      expected_keys[i] = keys[source];
      const bool rank = form.operation == Operation::kRank;
      const uint64_t index = rank ? i : source;
      const void *const from =
          pairs ? values.data() + source * form.value_bytes : reinterpret_cast<const unsigned char *>(&index);
      std::memcpy(expected_values.data() + (rank ? source : i) * form.value_bytes, from, form.value_bytes);
    }
    if (pairs) EXPECT_TRUE(keys_end.read_as<uint64_t>() == expected_keys) << "keys";
    EXPECT_TRUE(values_end.read() == expected_values) << "values";
    if (!form.keys_in_place) EXPECT_TRUE(keys_in.read_as<uint64_t>() == keys) << "the keys changed";
    if (!form.values_in_place) EXPECT_TRUE(values_in.read() == values) << "the values changed";
    return state_.go == 1;
  }

  sort::msd::StableState state_ = {};  // behind what was sorted last
};

constexpr uint64_t kFew = 200003, kSome = 1300001, kMany = 2700001;

TEST_F(StableSample, AnyPairsAreSorted) {
  uint32_t taken = 0;
  uint64_t turn = 0;
  for (const uint64_t n : {kStableItemsForcedMin, kFew, kSome, kMany})
    for (const Word &word : gsort_test::uneven_words()) {
      SCOPED_TRACE(testing::Message() << n << ", kind " << turn);
      const gsort_dtype t = turn % 2 == 0 ? GSORT_U64 : GSORT_F64;
      const KeyOrder order = {t, turn % 3 == 0, t == GSORT_F64 && turn % 4 == 1};
      const Form form = turn % 5 == 4 ? Form{Operation::kArgsort, 4} : Form{Operation::kSortPairs, turn % 3 ? 8u : 4u};
      taken += check(gsort_test::make_keys<uint64_t>(n, word), order, form);
      ++turn;
      if (HasFailure()) return;
    }
  EXPECT_LT(turn / 3, taken) << "most are left to the sort behind";
}

TEST_F(StableSample, EveryWidthAndPlace) {
  const std::vector<uint64_t> keys = gsort_test::make_keys<uint64_t>(
      kFew, [](uint64_t i) { return mixed(~i) % 4 ? mixed(mixed(i) % 300) : mixed(i); });
  uint64_t offset = 0;
  for (const gsort_dtype t : {GSORT_U64, GSORT_I64, GSORT_F64}) {
    for (const uint32_t value_bytes : {4u, 8u, 12u, 3u})
      for (const bool keys_in_place : {false, true})
        for (const bool values_in_place : {false, true})
          EXPECT_TRUE(check(keys, {t, offset % 2 == 0, t == GSORT_F64},
                            {Operation::kSortPairs, value_bytes, keys_in_place, values_in_place, ++offset % 5}));
    for (const Operation operation : {Operation::kArgsort, Operation::kRank})
      for (const uint32_t index_bytes : {4u, 8u})
        EXPECT_TRUE(check(keys, {t, offset % 2 == 0, false}, {operation, index_bytes, false, false, ++offset % 5}));
  }
}

TEST_F(StableSample, SizesAroundEveryPlan) {
  using namespace sort::sample_sort;
  for (const uint64_t n :
       {kStableItemsForcedMin, kStableItemsForcedMin + 1, uint64_t{kStableBlocksMax} * kStableThreads,
        uint64_t{kStableBlocksMax} * kStableThreads + 1, uint64_t{kStableBlocksMax} * kStableTileItems,
        uint64_t{kStableBlocksMax} * kStableTileItems + 1, kStableFewItems, kStableFewItems + 1, kStableItemsMax - 1,
        kStableItemsMax}) {
    SCOPED_TRACE(n);
    EXPECT_TRUE(check(gsort_test::make_keys<uint64_t>(n, mixed), {GSORT_U64, false, false}));
    EXPECT_TRUE(check(gsort_test::make_keys<uint64_t>(n, mixed), {GSORT_F64, true, true}, {Operation::kArgsort, 4}));
    if (HasFailure()) return;
  }
}

// The places of the sample, as the kernel has them.
uint64_t sampled_place(uint64_t number, uint64_t n) {
  uint32_t bits = static_cast<uint32_t>(number);
  bits = (bits ^ bits >> 16) * 0x85ebca6bu;
  bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
  bits ^= bits >> 14;
  const uint64_t begin = number * n / kStableSample, end = (number + 1) * n / kStableSample;
  return begin + (uint64_t{bits} * (end - begin) >> 32);
}

// Nothing that the sample shows is so: bins of nearly all pairs, which are left to the sort behind.
TEST_F(StableSample, KeysThatTheSampleMisses) {
  for (const uint64_t n : {kFew, kSome})
    for (const uint64_t shown : {uint64_t{0}, uint64_t{1} << 40, ~uint64_t{0}}) {
      std::vector<uint64_t> keys = gsort_test::make_keys<uint64_t>(n, mixed);
      // Seven bytes differ, or the look at bytes leaves the keys before.
      for (uint64_t i = 0; i < kStableSample; ++i)
        keys[sampled_place(i, n)] = i < 8 ? shown ^ uint64_t { 1 } << 8 * i : shown;
      EXPECT_FALSE(check(keys, {GSORT_U64, false, false}, {Operation::kSortPairs, 8, true, true}));
      EXPECT_LT(sort::sample_sort::kStablePassesMax, state_.passes);
    }
}

// Few bytes that differ, and clusters in clusters, are told from the sample.
TEST_F(StableSample, WhatPassesSortAsQuicklyIsLeft) {
  const auto taken = [&](const Word &word) {
    return check(gsort_test::make_keys<uint64_t>(kSome, word), {GSORT_U64, false, false});
  };
  for (const uint32_t bytes : {0u, 1u, 5u})
    EXPECT_FALSE(taken([&](uint64_t i) { return bytes == 0 ? 42 : mixed(i) >> (64 - 8 * bytes); })) << bytes;
  EXPECT_TRUE(taken([](uint64_t i) { return mixed(i) >> 16; }));
  EXPECT_FALSE(taken(gsort_test::text));
  EXPECT_FALSE(taken([](uint64_t i) { return gsort_test::anded(i, 4); }));
  EXPECT_TRUE(taken([](uint64_t i) { return gsort_test::anded(i, 2); }));
}

// Values of every frequency up to all, which have bins of their own, share one, or lie at both ends of the range.
TEST_F(StableSample, ValuesThatComeOften) {
  for (const uint64_t n : {kFew, kSome, kMany})
    for (const uint64_t values : {2, 17, 300, 900, 5000, 70000}) {
      SCOPED_TRACE(testing::Message() << n << ' ' << values);
      const auto steep = [&](uint64_t i) {
        const uint64_t rank = mixed(i) % values * (mixed(~i) % values) / values;
        return rank == 0 ? 0 : rank == 1 ? ~uint64_t{0} : mixed(rank);
      };
      check(gsort_test::make_keys<uint64_t>(n, steep), {GSORT_U64, values % 2 == 0, false});
      if (HasFailure()) return;
    }
}

// A gap in the middle of a bin: both sides of it are narrow.
TEST_F(StableSample, GapsInBins) {
  for (const uint64_t n : {kFew, kSome, kMany}) {
    const auto around_zero = [](uint64_t i) { return gsort_test::bell(i, 0x1p28) ^ uint64_t { 1 } << 63; };
    EXPECT_TRUE(check(gsort_test::make_keys<uint64_t>(n, around_zero), {GSORT_U64, false, false}));
    EXPECT_EQ(state_.large, 0u);
    const auto thirds = [](uint64_t i) { return (mixed(~i) % 3) << 62 | mixed(i) >> 20; };
    EXPECT_TRUE(check(gsort_test::make_keys<uint64_t>(n, thirds), {GSORT_U64, true, false}, {Operation::kRank, 8}));
    EXPECT_EQ(state_.large, 0u);
  }
}

TEST_F(StableSample, SameEveryTime) {
  const std::vector<uint64_t> keys =
      gsort_test::make_keys<uint64_t>(kSome, [](uint64_t i) { return mixed(i) % 999983 << 20; });
  for (uint32_t repeat = 0; repeat < 20; ++repeat) check(keys, {GSORT_F64, false, false});
}

// As few pairs as can be, for the tool that looks for races.
TEST_F(StableSample, RacecheckFewPairs) {
  const auto some_often = [](uint64_t i) { return mixed(~i) % 3 ? mixed(mixed(i) % 40) : mixed(i); };
  EXPECT_TRUE(check(gsort_test::make_keys<uint64_t>(kStableItemsForcedMin, some_often), {GSORT_U64, false, false}));
  EXPECT_TRUE(check(gsort_test::make_keys<uint64_t>(kStableItemsForcedMin + 77, mixed), {GSORT_F64, true, false},
                    {Operation::kArgsort, 4}));
}

}  // namespace
}  // namespace gsort_internal
