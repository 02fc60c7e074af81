// SPDX-License-Identifier: MIT OR Apache-2.0
// gsort.hpp: every call beside what the standard library makes of the same small arrays, types, failures, handles. The
// bits are the C interface's, which other tests look at. Compiled as C++17 and as C++20.
#include <gsort.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>
#if __has_include(<span>) && __cplusplus >= 202002L
#include <span>
#endif

namespace {

using order = gsort::order;
using pick = gsort::pick;

const std::vector<int> kKeys = {3, -1, 4, 1, -5, 9, 2, 6, 5, 3};

// The whole machine or the CPU alone: the same results.
class HppTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  static gsort::options how() {
    gsort::options options;
    options.backend = GetParam();
    return options;
  }
  gsort::sorter sorter{how()};
};

template <class T>
std::vector<T> sorted(std::vector<T> keys) {
  std::sort(keys.begin(), keys.end());
  return keys;
}

template <class T>
std::vector<T> reversed(std::vector<T> keys) {
  std::reverse(keys.begin(), keys.end());
  return keys;
}

TEST_P(HppTest, SortsWhateverIsContiguous) {
  std::vector<int> vector = kKeys;
  sorter.sort(vector);
  EXPECT_EQ(sorted(kKeys), vector);
  sorter.sort(vector, order::descending);
  EXPECT_EQ(reversed(sorted(kKeys)), vector);
  std::array<double, 3> array = {2.5, -1, 0};
  sorter.sort(array);
  EXPECT_EQ((std::array<double, 3>{-1, 0, 2.5}), array);
  unsigned char bytes[] = {200, 3, 100};
  sorter.sort(bytes);
  EXPECT_EQ(3, bytes[0]);
  EXPECT_EQ(200, bytes[2]);
  sorter.sort(gsort::span<int>(vector.data(), 3));
  EXPECT_EQ((std::vector<int>{5, 6, 9}), std::vector<int>(vector.begin(), vector.begin() + 3));
  EXPECT_EQ(4, vector[3]);
#if defined(__cpp_lib_span)
  sorter.sort(std::span<int>(vector).subspan(3));
  EXPECT_EQ(-5, vector[3]);
#endif
  const std::vector<int> source = kKeys;
  std::vector<int> out(source.size());
  sorter.sort_into(source, out);
  EXPECT_EQ(sorted(kKeys), out);
  EXPECT_EQ(kKeys, source);
}

TEST_P(HppTest, KnowsEveryElementType) {
  EXPECT_EQ(GSORT_I8, gsort_hpp::element_type<signed char>::value);
  EXPECT_EQ(GSORT_U16, gsort_hpp::element_type<unsigned short>::value);
  EXPECT_EQ(GSORT_I64, gsort_hpp::element_type<long>::value);
  EXPECT_EQ(GSORT_I64, gsort_hpp::element_type<long long>::value);
  EXPECT_EQ(GSORT_U64, gsort_hpp::element_type<std::size_t>::value);
  EXPECT_EQ(0u, gsort_hpp::element_type<bool>::value);
  EXPECT_EQ(0u, gsort_hpp::element_type<long double>::value);
  std::vector<gsort::f16> halves = {{0x4000}, {0xbc00}, {0x3c00}};  // 2, -1, 1
  sorter.sort(halves);
  EXPECT_EQ(0xbc00, halves[0].bits);
  EXPECT_EQ(0x4000, halves[2].bits);
  EXPECT_EQ(2.0, sorter.sum(halves));
  const std::vector<gsort::bf16> brains = {{0x4000}, {0xbf80}};  // 2, -1
  EXPECT_EQ(1.0, sorter.sum(brains));
  EXPECT_EQ(0x4000, sorter.max(brains)->bits);
}

TEST_P(HppTest, NansLast) {
  std::vector<float> keys = {-std::nanf(""), 2, 1};
  sorter.sort(keys, order::ascending_nan_last);
  EXPECT_EQ(1, keys[0]);
  EXPECT_TRUE(std::isnan(keys[2]));
  EXPECT_TRUE(std::isnan(*sorter.min(keys)));
  EXPECT_EQ(1, *sorter.min(keys, gsort::nans::last));
  EXPECT_EQ(1u, *sorter.argmax(keys, gsort::nans::last));
}

TEST_P(HppTest, MovesValuesAlong) {
  struct record {
    char text[3];
  };
  std::vector<int> keys = {2, 1, 2};
  std::vector<record> values = {{"a"}, {"b"}, {"c"}};
  sorter.sort_pairs(keys, values);
  EXPECT_EQ((std::vector<int>{1, 2, 2}), keys);
  EXPECT_STREQ("b", values[0].text);
  EXPECT_STREQ("a", values[1].text);
  EXPECT_STREQ("c", values[2].text);
}

TEST_P(HppTest, IndicesAndRanks) {
  const std::vector<uint64_t> indices = sorter.argsort(kKeys);
  const std::vector<uint32_t> ranks = sorter.rank<uint32_t>(kKeys);
  for (std::size_t i = 0; i < kKeys.size(); i++) {
    EXPECT_EQ(sorted(kKeys)[i], kKeys[indices[i]]);
    EXPECT_EQ(i, ranks[indices[i]]);
  }
  std::vector<int64_t> signed_indices(kKeys.size());
  sorter.argsort_into(kKeys, signed_indices, order::descending);
  EXPECT_EQ(5, signed_indices[0]);
  sorter.rank_into(kKeys, signed_indices);
  EXPECT_EQ(9, signed_indices[5]);
}

TEST_P(HppTest, MergesAndSegments) {
  const std::vector<int> a = {1, 4}, b = {2, 3, 9};
  EXPECT_EQ((std::vector<int>{1, 2, 3, 4, 9}), sorter.merge(a, b));
  std::array<int, 5> merged = {};
  sorter.merge_into(b, a, merged);
  EXPECT_EQ(9, merged[4]);
  std::vector<int> keys = {3, 1, 2, 9, 8};
  const std::vector<uint64_t> offsets = {0, 3, 5};
  sorter.sort_segments(keys, offsets);
  EXPECT_EQ((std::vector<int>{1, 2, 3, 8, 9}), keys);
}

TEST_P(HppTest, TopK) {
  const auto best = sorter.topk<uint32_t>(kKeys, 3);
  EXPECT_EQ((std::vector<int>{9, 6, 5}), best.values);
  EXPECT_EQ((std::vector<uint32_t>{5, 7, 8}), best.indices);
  EXPECT_EQ((std::vector<int>{-5, -1}), sorter.topk(kKeys, 2, pick::smallest).values);
  std::array<int, 2> values = {};
  std::array<uint64_t, 2> indices = {};
  sorter.topk_into(kKeys, values, gsort::span<uint64_t>());
  EXPECT_EQ((std::array<int, 2>{9, 6}), values);
  sorter.topk_into(kKeys, gsort::span<int>(), indices, pick::smallest);
  EXPECT_EQ((std::array<uint64_t, 2>{4, 1}), indices);
  const auto of_rows = sorter.topk_rows(kKeys, {2, 4, 5}, 1);  // 3 -1 4 1 and 9 2 6 5
  EXPECT_EQ((std::vector<int>{4, 9}), of_rows.values);
  EXPECT_EQ((std::vector<uint64_t>{2, 0}), of_rows.indices);
  const auto of_segments = sorter.topk_segments(kKeys, std::vector<uint64_t>{0, 1, 10}, 2);
  EXPECT_EQ((std::vector<int>{3, 0, 9, 6}), of_segments.values);
  EXPECT_EQ(UINT64_MAX, of_segments.indices[1]);
}

TEST_P(HppTest, SumsAndScans) {
  static_assert(std::is_same_v<int64_t, decltype(sorter.sum(kKeys))>);
  static_assert(std::is_same_v<uint64_t, decltype(sorter.sum(std::vector<unsigned char>()))>);
  static_assert(std::is_same_v<double, decltype(sorter.sum(std::vector<float>()))>);
  EXPECT_EQ(27, sorter.sum(kKeys));
  EXPECT_EQ(1.0, sorter.sum(std::vector<double>{1e300, 1, -1e300}));
  EXPECT_EQ(2.7, sorter.mean(kKeys));
  EXPECT_EQ(-5, *sorter.min(kKeys));
  EXPECT_EQ(4u, *sorter.argmin(kKeys));
  EXPECT_EQ(5u, *sorter.argmax(kKeys));
  EXPECT_FALSE(sorter.min(std::vector<int>()).has_value());
  EXPECT_FALSE(sorter.argmax(std::vector<int>()).has_value());
  std::vector<int> running(kKeys.size());
  std::partial_sum(kKeys.begin(), kKeys.end(), running.begin());
  EXPECT_EQ(running, sorter.inclusive_scan(kKeys));
  std::vector<int> in_place = kKeys;
  sorter.exclusive_scan_into(in_place, in_place);
  EXPECT_EQ(0, in_place[0]);
  EXPECT_EQ(running[8], in_place[9]);
}

TEST_P(HppTest, ThrowsWithTheSentence) {
  try {
    sorter.topk(kKeys, 11);
    FAIL() << "k is too large";
  } catch (const gsort::error &error) {
    EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, error.status());
    EXPECT_NE(nullptr, std::strstr(error.what(), "k = 11"));
  }
  EXPECT_THROW(sorter.topk(kKeys, SIZE_MAX), gsort::error);
  std::vector<int> short_out(3);
  try {
    sorter.sort_into(kKeys, short_out);
    FAIL() << "the output is too short";
  } catch (const std::runtime_error &error) {
    EXPECT_STREQ("out has 3 elements and keys has 10; pass as many", error.what());
  }
  EXPECT_EQ((std::vector<int>(3)), short_out);
  EXPECT_THROW(sorter.topk_rows(kKeys, {3, 4, 4}, 1), gsort::error);  // 12 elements
  gsort::options wrong;
  wrong.threads = 1000000;
  EXPECT_THROW(gsort::sorter{wrong}, gsort::error);
  sorter.sort(short_out);  // the handle works on
}

TEST_P(HppTest, ReturnsFailuresIfWanted) {
  auto made = gsort::nothrow_sorter::make(how());
  ASSERT_TRUE(made) << made.message();
  gsort::nothrow_sorter quiet = std::move(*made);
  std::vector<int> keys = kKeys;
  EXPECT_TRUE(quiet.sort(keys));
  EXPECT_EQ(sorted(kKeys), keys);
  const auto sum = quiet.sum(keys);
  EXPECT_EQ(GSORT_OK, sum.status());
  auto best = quiet.topk(keys, 11);
  EXPECT_FALSE(best);
  EXPECT_EQ(GSORT_ERROR_INVALID_ARGUMENT, best.status());
  EXPECT_NE(nullptr, std::strstr(best.message(), "k = 11"));
  best = quiet.topk(keys, 1);
  ASSERT_TRUE(best);
  EXPECT_EQ(9, best->values[0]);
  gsort::options wrong;
  wrong.threads = 1000000;
  EXPECT_FALSE(gsort::nothrow_sorter::make(wrong));
}

TEST_P(HppTest, PassesTheOtherCallsOn) {
  sorter.reserve<float>(GSORT_OP_TOPK, 100, 10);
  EXPECT_THROW(sorter.reserve<float>(GSORT_OP_TOPK, 100, 101), gsort::error);
  sorter.set_stream(nullptr);
  sorter.synchronize();
  sorter.cancel();
  std::vector<int> keys = kKeys;
  sorter.sort(keys);  // what was cancelled was no call
  EXPECT_EQ(sorted(kKeys), keys);
  if (sorter.info().backend == GSORT_BACKEND_CPU) {
    EXPECT_THROW(sorter.set_workspace(&keys, 256), gsort::error);
  }
}

TEST_P(HppTest, HandlesMove) {
  static_assert(!std::is_copy_constructible_v<gsort::sorter> && !std::is_copy_assignable_v<gsort::sorter>);
  static_assert(std::is_nothrow_move_constructible_v<gsort::sorter>);
  gsort *const g = sorter.get();
  gsort::sorter other = std::move(sorter);
  EXPECT_EQ(g, other.get());
  EXPECT_EQ(nullptr, sorter.get());
  sorter = std::move(other);
  EXPECT_EQ(3u, *sorter.argmax(std::vector<float>{1, 2, 3, 4}));
  EXPECT_NE(0u, sorter.info().threads);
}

TEST_P(HppTest, ProgressWatchesCancelsAndThrows) {
  if (GetParam() != GSORT_BACKEND_CPU) GTEST_SKIP() << "a device may be done before the function is called";
  std::vector<uint64_t> keys(3000000);
  for (std::size_t i = 0; i < keys.size(); i++) keys[i] = i * 0x9e3779b97f4a7c15u;
  uint64_t calls = 0;
  sorter.set_progress([&](uint64_t done, uint64_t total) {
    EXPECT_LE(done, total);
    calls++;
    return true;
  });
  gsort::sorter moved = std::move(sorter);  // the function moves along
  moved.sort(keys);
  EXPECT_GT(calls, 0u);
  moved.set_progress([](uint64_t, uint64_t) -> bool { throw std::logic_error("enough"); });
  EXPECT_THROW(moved.sort(keys, order::descending), std::logic_error);
  moved.set_progress([](uint64_t, uint64_t) { return false; });
  try {
    moved.sort(keys, order::descending);
    FAIL() << "the call was to be cancelled";
  } catch (const gsort::error &error) {
    EXPECT_EQ(GSORT_ERROR_CANCELLED, error.status());
  }
  moved.set_progress(nullptr);
  moved.sort(keys, order::descending);
  EXPECT_TRUE(std::is_sorted(keys.rbegin(), keys.rend()));
}

TEST_P(HppTest, WhatProgressThrowsIsOfTheThreadThatCalled) {
  if (GetParam() != GSORT_BACKEND_CPU) GTEST_SKIP() << "a device may be done before the function is called";
  std::vector<uint64_t> keys(3000000, 1);
  sorter.set_progress([](uint64_t, uint64_t) -> bool { throw std::logic_error("enough"); });
  // By the C interface, so that nobody takes the exception in that thread.
  std::thread other([&] {
    EXPECT_EQ(GSORT_ERROR_CANCELLED, gsort_sort_u64(sorter.get(), keys.data(), keys.size(), GSORT_DESCENDING));
  });
  other.join();
  EXPECT_THROW(sorter.topk(std::vector<float>{1}, 2), gsort::error);
}

INSTANTIATE_TEST_SUITE_P(Backends, HppTest, ::testing::Values(GSORT_BACKEND_AUTO, GSORT_BACKEND_CPU),
                         [](const auto &test) { return test.param == GSORT_BACKEND_CPU ? "cpu" : "auto"; });

}  // namespace
