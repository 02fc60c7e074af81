// SPDX-License-Identifier: MIT OR Apache-2.0
// The stable sort of pairs by partitions, with the vectors of every target that this machine has, also of those whose
// plan takes another way.
#include "cpu/pair_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "cpu/vector/target.h"

using namespace gsort_internal;

namespace {

class PairSortOfTarget : public testing::TestWithParam<VectorTarget> {
 protected:
  void SetUp() override {
    if (!vector_target_usable(GetParam())) GTEST_SKIP() << "no " << vector_target_name(GetParam()) << " here";
    force_vector_target(GetParam());
  }
  void TearDown() override { force_vector_target(before_); }
  VectorTarget before_ = vector_target();
};

void check(const std::vector<uint32_t> &keys) {
  const uint64_t n = keys.size();
  std::vector<uint32_t> wanted(n);
  std::iota(wanted.begin(), wanted.end(), 0u);
  std::stable_sort(wanted.begin(), wanted.end(), [&](uint32_t i, uint32_t j) { return keys[i] < keys[j]; });
  for (const bool to_other : {false, true}) {
    std::vector<uint32_t> from_keys = keys, from_values(n), other_keys(n, 0xa5), other_values(n, 0xa5);
    std::vector<uint64_t> words(PairSort::words_for(n));
    std::iota(from_values.begin(), from_values.end(), 0u);
    PairSort(*partition_kernels(uint64_t{}), {from_keys.data(), from_values.data()},
             {other_keys.data(), other_values.data()}, to_other, words.data(), n);
    ASSERT_EQ(wanted, to_other ? other_values : from_values) << "n " << n;
    const std::vector<uint32_t> &got = to_other ? other_keys : from_keys;
    for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(keys[wanted[i]], got[i]) << "n " << n << " i " << i;
  }
}

TEST_P(PairSortOfTarget, IsStableWhateverTheKeys) {
  std::mt19937 engine(7);
  const auto random = [&engine] { return static_cast<uint32_t>(engine()); };
  for (const uint32_t n : {0u, 1u, 7u, 31u, 32u, 33u, 2048u, 2049u, 5000u, 40003u}) {
    // All bits, none, few values, the greatest and the least key often, two clusters far from each other.
    for (const uint32_t mask : {0xffffffffu, 0u, 0x80000000u, 3u, 0x80000fffu, 0xfffu}) {
      for (const uint32_t common : {0u, 0xffffffffu}) {
        std::vector<uint32_t> keys(n);
        for (uint32_t &key : keys) key = (random() & mask) | (common & ~mask);
        check(keys);
      }
    }
    std::vector<uint32_t> keys(n);
    for (uint32_t &key : keys) key = random() % 3 == 0 ? random() : (random() % 2 == 0 ? 0u : 0xffffffffu);
    check(keys);
    for (uint32_t i = 0; i < n; ++i) keys[i] = 0x3f800000u >> (i % 97 % 31);
    check(keys);
  }
}

// Keys laid out so that every draw is the least one: splits come to an end, and counting takes what is left.
TEST_P(PairSortOfTarget, EndsWhereDrawsMislead) {
  const uint32_t n = 30000;
  std::vector<uint32_t> keys(n);
  std::iota(keys.begin(), keys.end(), 1u);
  std::mt19937 random(3);
  std::shuffle(keys.begin(), keys.end(), random);
  for (uint64_t size = n, first = 0; size > 2048 && first < n; --size, ++first) {
    uint64_t state = size;
    for (uint32_t i = 0; i < 63; ++i) {
      state = state * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u;
      keys[first + ((state >> 32) * size >> 32)] = static_cast<uint32_t>(first / 2);
    }
  }
  check(keys);
}

INSTANTIATE_TEST_SUITE_P(Targets, PairSortOfTarget,
                         testing::Values(VectorTarget::kSse4, VectorTarget::kAvx2, VectorTarget::kAvx512,
                                         VectorTarget::kNeon),
                         [](const auto &target) { return std::to_string(static_cast<uint32_t>(target.param)); });

}  // namespace
