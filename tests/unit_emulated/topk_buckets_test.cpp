// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k by buckets of a grid, thread by thread on the CPU: what each side of its barrier does, and what follows where
// the sample misleads.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "cuda/topk/buckets.cuh"

namespace gsort_internal::topk {
namespace {

template <class U>
class ByBuckets {
 public:
  // In as few blocks as can hold the row. rank: not 0: in place of the planned one.
  ByBuckets(const std::vector<U> &keys, uint32_t k, const KeyOrder &order, uint32_t rank = 0)
      : keys_(keys), values_(k, U{0x55}), indices_(k, ~0u) {
    BucketsPlan plan = plan_buckets({1, keys.size(), k, sizeof(U)});
    plan.share = small::kGridThreads * kBucketsShareRows;
    plan.blocks = static_cast<uint32_t>((keys.size() + plan.share - 1) / plan.share);
    workspace_.resize(plan.bytes / sizeof(uint4));
    auto *const workspace = reinterpret_cast<unsigned char *>(workspace_.data());
    params_.k = k;
    params_.rank = rank != 0 ? rank : plan.rank;
    params_.grid.arrays.keys_in = keys_.data();
    params_.grid.arrays.n = static_cast<uint32_t>(keys.size());
    params_.grid.arrays.codec = make_codec<U>(order);
    params_.grid.arrays.keys_out = values_.data();
    params_.grid.arrays.indices = indices_.data();
    params_.grid.staged = workspace;
    params_.grid.starts = reinterpret_cast<uint32_t *>(workspace + plan.starts);
    params_.grid.share = plan.share, params_.grid.samples = plan.samples;
    params_.grid.sampled = params_.grid.arrays.n, params_.grid.seed = 12345;
    blocks_ = plan.blocks;
  }

  // Returns how often the row was cut.
  uint32_t run() {
    using Shape = BucketsShape<U>;
    using Storage = small::GridStorage<Shape>;
    const auto storage = [] { return reinterpret_cast<Storage *>(emulation::dynamic_shared.data()); };
    uint32_t rank = params_.rank;
    for (uint32_t turn = 1;; ++turn) {
      emulation::launch(blocks_, Shape::kThreads, sizeof(Storage),
                        [&] { buckets_partition(params_.grid, rank, *storage()); });
      uint32_t enough = 0;
      emulation::launch(blocks_, Shape::kThreads, sizeof(Storage), [&] {
        if (buckets_sort(params_, *storage()) && threadIdx.x == 0) ++enough;
      });
      if (enough == blocks_) return turn;
      EXPECT_EQ(0u, enough) << "blocks do not agree";
      if (enough != 0) return 0;
      rank = std::min(2 * rank, params_.grid.samples);
    }
  }

  void check() const {
    const auto &codec = params_.grid.arrays.codec;
    std::vector<uint32_t> order(keys_.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto before = [&](uint32_t a, uint32_t b) {
      const U x = codec.encode(keys_[a]), y = codec.encode(keys_[b]);
      return x != y ? x < y : a < b;
    };
    std::partial_sort(order.begin(), order.begin() + params_.k, order.end(), before);
    for (uint32_t i = 0; i < params_.k; ++i) {
      ASSERT_EQ(order[i], indices_[i]) << "place " << i;
      ASSERT_EQ(keys_[order[i]], values_[i]) << "place " << i;
    }
  }

 private:
  std::vector<U> keys_, values_;
  std::vector<uint32_t> indices_;
  std::vector<uint4> workspace_;
  BucketsParams<U> params_{};
  uint32_t blocks_;
};

template <class U>
std::vector<U> random_keys(uint64_t n, U values) {
  std::mt19937_64 random(n);
  std::vector<U> keys(n);
  for (U &key : keys) key = static_cast<U>(values == 0 ? random() : random() % values);
  return keys;
}

template <class U>
void expect_right(const std::vector<U> &keys, uint32_t k, const KeyOrder &order) {
  ByBuckets<U> call(keys, k, order);
  EXPECT_EQ(1u, call.run());
  call.check();
}

TEST(EmulatedTopkBuckets, OfEvenRepeatedAndOrderedKeys) {
  const uint64_t n = 30001;
  for (const uint32_t values : {0u, 1u, 1000u}) {
    expect_right<uint32_t>(random_keys<uint32_t>(n, values), 3000, {GSORT_F32, true, false});
    expect_right<uint64_t>(random_keys<uint64_t>(n, values), 3001, {GSORT_U64, false, false});
  }
  std::vector<uint32_t> keys = random_keys<uint32_t>(n, 0);
  std::sort(keys.begin(), keys.end());
  expect_right<uint32_t>(keys, 9000, {GSORT_U32, false, false});
  expect_right<uint32_t>(keys, 9000, {GSORT_U32, true, true});
}

TEST(EmulatedTopkBuckets, OfFewAndOfAllElements) {
  const uint64_t n = kBucketsColumnsMin + 1;
  for (const uint64_t k : {uint64_t{1}, uint64_t{1025}, n / 2, n})
    expect_right<uint32_t>(random_keys<uint32_t>(n, 0), static_cast<uint32_t>(k), {GSORT_I32, true, false});
}

TEST(EmulatedTopkBuckets, ABoundThatIsTooLowIsDoubled) {
  ByBuckets<uint32_t> call(random_keys<uint32_t>(20000, 5), 5000, {GSORT_U32, true, false}, 100);
  EXPECT_LT(3u, call.run());
  call.check();
}

// Every element passes, and a bucket has more than a block can hold.
TEST(EmulatedTopkBuckets, ABucketThatIsTooLongIsCounted) {
  ByBuckets<uint32_t> call(random_keys<uint32_t>(3 * 8192, 0), 3000, {GSORT_U32, true, false}, kBucketsSamplesFew);
  EXPECT_EQ(1u, call.run());
  call.check();
}

}  // namespace
}  // namespace gsort_internal::topk
