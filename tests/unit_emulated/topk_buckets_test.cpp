// SPDX-License-Identifier: MIT OR Apache-2.0
// Top-k by buckets of a grid, thread by thread on the CPU: what each side of its barrier does, and what follows where
// the sample misleads.
#include "emulation.h"
// Behind it, for they are written for CUDA's compiler:
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <random>

#include "cuda/topk/buckets.cuh"
#include "cuda/topk/long_buckets.cuh"

namespace gsort_internal::topk {
namespace {

// Whether `indices` are the first places of the keys in their order, and `values` the keys there.
template <class U>
void check_best(const std::vector<U> &keys, const KeyCodec<U> &codec, const std::vector<U> &values,
                const std::vector<uint32_t> &indices) {
  std::vector<uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto before = [&](uint32_t a, uint32_t b) {
    const U x = codec.encode(keys[a]), y = codec.encode(keys[b]);
    return x != y ? x < y : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(values.size()), order.end(), before);
  for (uint32_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(order[i], indices[i]) << "place " << i;
    ASSERT_EQ(keys[order[i]], values[i]) << "place " << i;
  }
}

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

  void check() const { check_best(keys_, params_.grid.arrays.codec, values_, indices_); }

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

// Of a row that the blocks read tile by tile.
template <class U>
class ByLongBuckets {
 public:
  // samples, rank, room: not 0: in place of the planned ones.
  ByLongBuckets(const std::vector<U> &keys, uint32_t blocks, uint32_t k, const KeyOrder &order, uint32_t samples = 0,
                uint32_t rank = 0, uint32_t room = 0)
      : keys_(keys), values_(k, U{0x55}), indices_(k, ~0u), blocks_(blocks) {
    BucketsPlan plan = plan_long_buckets({1, keys.size(), k, sizeof(U)});
    if (samples != 0) {
      plan.samples = samples;
      plan.rank = static_cast<uint32_t>(rank_of_sample(k, samples, keys.size()));
      plan.rough_rank = rough_rank_of(plan.rank, samples);
    }
    params_.sample_bits = bit_count(plan.samples) - 1, params_.rough_rank = plan.rough_rank;
    params_.room = room != 0 ? room : plan.room;
    staged_.assign(params_.room + kFence, Item{});
    starts_.assign(small::kGridStartsBytes / 4, 0xdddddddd);
    for (uint32_t i = 0; i < blocks; ++i) storages_.push_back(std::make_unique<LongBucketsStorage<U>>());
    BucketsParams<U> &row = params_.row;
    row.k = k;
    row.rank = rank != 0 ? rank : plan.rank;
    row.grid.arrays.keys_in = keys_.data();
    row.grid.arrays.n = static_cast<uint32_t>(keys.size());
    row.grid.arrays.codec = make_codec<U>(order);
    row.grid.arrays.keys_out = values_.data();
    row.grid.arrays.indices = indices_.data();
    row.grid.staged = staged_.data();
    row.grid.starts = starts_.data();
    row.grid.samples = plan.samples;
    row.grid.sampled = row.grid.arrays.n, row.grid.seed = 12345;
  }

  // What all blocks say that they have.
  LongBucketsHave cut(uint32_t rank, uint32_t seed) {
    launch([&](LongBucketsStorage<U> &storage) { long_buckets_list(params_, rank, seed, storage); });
    std::vector<LongBucketsHave> have(blocks_);
    launch([&](LongBucketsStorage<U> &storage) {
      const LongBucketsHave told = long_buckets_place(params_, storage);
      if (threadIdx.x == 0) have[blockIdx.x] = told;
    });
    for (const LongBucketsHave told : have) EXPECT_TRUE(told == have[0]) << "blocks do not agree";
    return have[0];
  }

  // Returns how often the row was cut.
  uint32_t run() {
    uint32_t rank = params_.row.rank, seed = params_.row.grid.seed;
    for (uint32_t turn = 1;; ++turn, seed += 0x9e3779b9u) {
      const LongBucketsHave have = cut(rank, seed);
      if (testing::Test::HasFailure()) return 0;
      if (have == LongBucketsHave::kTooFew) rank = std::min(2 * rank, kLongBucketsRankMax);
      if (have == LongBucketsHave::kTooMany) rank = params_.row.rank;
      if (have != LongBucketsHave::kEnough) continue;
      launch([&](LongBucketsStorage<U> &storage) { long_buckets_store(params_, storage); });
      launch([&](LongBucketsStorage<U> &storage) { long_buckets_sort(params_, storage); });
      return turn;
    }
  }

  // As if nearly all of the sample had to be sorted.
  LongBucketsHave cut_roughly() {
    params_.rough_rank = small::kGridThreads - 1;
    return cut(params_.row.rank, 1);
  }

  void check() const {
    check_best(keys_, params_.row.grid.arrays.codec, values_, indices_);
    for (uint32_t i = 0; i < kFence; ++i) {
      EXPECT_EQ(0u, LongBucketsStorage<U>::Placed::key(staged_[params_.room + i])) << "stored behind the room";
      EXPECT_EQ(0u, LongBucketsStorage<U>::Placed::index(staged_[params_.room + i])) << "stored behind the room";
    }
  }

 private:
  using Item = typename LongBucketsStorage<U>::Item;
  static constexpr uint32_t kFence = 1000;

  void launch(const std::function<void(LongBucketsStorage<U> &)> &step) {
    emulation::launch(blocks_, small::kGridThreads, 0, [&] { step(*storages_[blockIdx.x]); });
  }

  std::vector<U> keys_, values_;
  std::vector<uint32_t> indices_;
  std::vector<Item> staged_;
  std::vector<uint32_t> starts_;
  std::vector<std::unique_ptr<LongBucketsStorage<U>>> storages_;
  LongBucketsParams<U> params_{};
  uint32_t blocks_;
};

TEST(EmulatedTopkLongBuckets, OfEvenRepeatedAndOrderedKeys) {
  const uint64_t n = 70001;
  for (const uint32_t values : {0u, 1u, 1000u}) {
    ByLongBuckets<uint32_t> narrow(random_keys<uint32_t>(n, values), 3, 3000, {GSORT_F32, true, false}, 1024);
    EXPECT_EQ(1u, narrow.run());
    narrow.check();
    ByLongBuckets<uint64_t> wide(random_keys<uint64_t>(n, values), 2, 3001, {GSORT_U64, false, false}, 1024);
    EXPECT_EQ(1u, wide.run());
    wide.check();
  }
  // A whole tile is among the best; and more than a block can list.
  std::vector<uint32_t> keys = random_keys<uint32_t>(n, 0);
  std::sort(keys.begin(), keys.end());
  for (const uint32_t k : {9000u, 36000u})
    for (const bool descending : {false, true}) {
      ByLongBuckets<uint32_t> ordered(keys, 4, k, {GSORT_U32, descending, descending}, 2048);
      EXPECT_EQ(1u, ordered.run());
      ordered.check();
    }
}

// Which of it is sorted would not be the same in all blocks.
TEST(EmulatedTopkLongBuckets, MoreOfASampleThanCanBeSortedIsNotCutBy) {
  ByLongBuckets<uint32_t> call(random_keys<uint32_t>(50000, 0), 3, 3000, {GSORT_U32, true, false}, 8192);
  EXPECT_TRUE(call.cut_roughly() == LongBucketsHave::kTooFew);
}

TEST(EmulatedTopkLongBuckets, ABoundThatIsTooLowIsDoubled) {
  ByLongBuckets<uint32_t> call(random_keys<uint32_t>(50000, 5), 2, 5000, {GSORT_U32, true, false}, 2048, 20);
  EXPECT_LT(2u, call.run());
  call.check();
}

// A last bucket that has no room beside the others, and one that a block cannot hold, are cut anew.
TEST(EmulatedTopkLongBuckets, BucketsThatAreTooLarge) {
  ByLongBuckets<uint32_t> again(random_keys<uint32_t>(50000, 0), 3, 5000, {GSORT_U32, true, false}, 1024, 0, 5010);
  EXPECT_LT(1u, again.run());
  again.check();
  ByLongBuckets<uint64_t> large(random_keys<uint64_t>(70000, 0), 2, 40000, {GSORT_U64, true, false}, 1024, 0, 70000);
  EXPECT_TRUE(large.cut(687, 1) == LongBucketsHave::kTooMany);
  EXPECT_TRUE(large.cut(100, 1) == LongBucketsHave::kTooFew);
}

}  // namespace
}  // namespace gsort_internal::topk
