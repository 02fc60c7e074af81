// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of top-k by buckets of a grid, and by drawn samples that its buckets fit the blocks.
#include <algorithm>
#include <random>

#include "topk_cases.h"

namespace gsort_test {
namespace {

constexpr DeviceFacts kServer = {90, 132, 227 * 1024};

TEST(TopkBucketsPlan, IsForMiddlingRowsOnDevicesWithAsManyBlocks) {
  const Shape s{1, uint64_t{1} << 20, 10000, 4};
  EXPECT_EQ(Algorithm::kBuckets, choose(s, kServer, {}).algorithm);
  EXPECT_EQ(Algorithm::kSelect, choose(s, {90, 127, 227 * 1024}, {}).algorithm);
  EXPECT_EQ(Algorithm::kSelect, choose(s, {90, 132, 227 * 1024, false}, {}).algorithm) << "its launch did not fit";
  EXPECT_EQ(Algorithm::kSelect, choose(s, {80, 132, 163 * 1024}, {}).algorithm);
  EXPECT_EQ(Algorithm::kSort, choose({1, s.columns, kBucketsKMax + 1, 4}, kServer, {}).algorithm);
  EXPECT_EQ(Algorithm::kSort, choose({1, s.columns, s.k, 2}, kServer, {}).algorithm);
  EXPECT_EQ(Algorithm::kTeam, choose({1, s.columns, kBucketsKMinResident - 1, 8}, kServer, {}).algorithm);
  EXPECT_EQ(Algorithm::kBuckets, choose({1, s.columns, kBucketsKMinResident, 8}, kServer, {}).algorithm);
  EXPECT_EQ(Algorithm::kTeam, choose({1, s.columns, kBucketsKMinNarrow - 1, 4}, kServer, {}).algorithm);
  EXPECT_EQ(Algorithm::kBuckets, choose({1, s.columns, kBucketsKMinNarrow, 4}, kServer, {}).algorithm);
  EXPECT_EQ(Algorithm::kTeam, choose({1, 270000, kBucketsKMinNarrow - 1, 4}, kServer, {}).algorithm);
  EXPECT_EQ(Algorithm::kSort, choose({1, kSortWholeItemsMax, s.k, 4}, kServer, {}).algorithm);
}

TEST(TopkBucketsPlan, IsForLongerRowsOfWhichBlocksHoldBuckets) {
  const uint64_t n = kBucketsColumnsMax + 1, k = 10000;
  for (const uint32_t key_bytes : {4u, 8u}) {
    const Plan plan = choose({1, n, k, key_bytes}, kServer, {});
    EXPECT_EQ(Algorithm::kBuckets, plan.algorithm);
    EXPECT_TRUE(plan.buckets.is_long);
    EXPECT_EQ(Algorithm::kTeam, choose({1, n, kCountedMax, key_bytes}, kServer, {}).algorithm);
    EXPECT_EQ(Algorithm::kBuckets, choose({1, n, kCountedMax + 1, key_bytes}, kServer, {}).algorithm);
    for (const DeviceFacts &other : {DeviceFacts{90, 127, 227 * 1024}, DeviceFacts{90, 132, 227 * 1024, false},
                                     DeviceFacts{80, 132, 163 * 1024}, DeviceFacts{90, 132, 227 * 1024 - 1}})
      EXPECT_NE(Algorithm::kBuckets, choose({1, n, k, key_bytes}, other, {}).algorithm);
  }
  EXPECT_EQ(Algorithm::kBuckets, choose({1, kLongBucketsColumnsMax, k, 4}, kServer, {}).algorithm);
  EXPECT_EQ(Algorithm::kSelect, choose({1, kLongBucketsColumnsMax + 1, k, 4}, kServer, {}).algorithm);
  EXPECT_EQ(Algorithm::kSelect, choose({1, kLongBucketsColumnsMax, kBucketsKMax, 4}, kServer, {}).algorithm)
      << "two gaps of the sample have more than a block holds";
  EXPECT_EQ(Algorithm::kSort, choose({1, kLongBucketsColumnsMax, k, 8}, kServer, {}).algorithm);
  EXPECT_EQ(Algorithm::kSort, choose({1, n, n / 16, 4}, kServer, {}).algorithm) << "a sort of all is quicker";
  EXPECT_EQ(Algorithm::kSort, choose({1, n, n / 24, 8}, kServer, {}).algorithm);
}

// Places in the order of the row are as good as the elements: draws at random.
TEST(TopkBucketsPlan, DrawnBucketsOfLongRowsFitABlockAndHoldTheBest) {
  std::mt19937_64 random(1);
  for (uint64_t n = kBucketsColumnsMax + 1; n <= kLongBucketsColumnsMax; n += n / 3)
    for (const uint64_t k : {kCountedMax + 1, uint64_t{10000}, kBucketsKFew, kBucketsKMax})
      for (const uint32_t key_bytes : {4u, 8u}) {
        if (!buckets_fit(Shape{1, n, k, key_bytes})) continue;
        const BucketsPlan p = plan_buckets({1, n, k, key_bytes});
        EXPECT_EQ(0u, p.samples % sort::small::kGridThreads);
        EXPECT_LE(p.samples, kLongBucketsSamplesMost);
        EXPECT_LT(p.rank, kLongBucketsRankMax);
        const BucketsCut cut = cut_buckets(p.rank, p.blocks);
        EXPECT_LE(cut.buckets, p.blocks);
        expect_apart({{"items", 0, (k + long_bucket_items(key_bytes)) * 2 * key_bytes},
                      {"starts", p.starts, sort::small::kGridStartsBytes}},
                     p.bytes, 256);
        for (int turn = 0; turn < 50; ++turn) {
          std::vector<uint64_t> sample(p.samples), part;
          for (uint64_t &item : sample) item = random() % n;
          for (uint64_t i = 0; i < p.samples; i += p.samples / sort::small::kGridThreads) part.push_back(sample[i]);
          std::sort(sample.begin(), sample.end());
          std::sort(part.begin(), part.end());
          EXPECT_GE(sample[p.rank], k) << "n " << n << " k " << k;
          const auto under = std::upper_bound(sample.begin(), sample.end(), part[p.rough_rank]) - sample.begin();
          EXPECT_GT(under, p.rank) << "n " << n << " k " << k << ": too few of the sample are sorted";
          EXPECT_LE(under, 2 * sort::small::kGridThreads) << "n " << n << " k " << k << ": not all fit";
          for (uint32_t b = 0; b < cut.buckets; ++b) {
            const uint64_t from = b == 0 ? 0 : sample[b * cut.each];
            EXPECT_LE(sample[std::min((b + 1) * cut.each, p.rank)] - from, long_bucket_items(key_bytes))
                << "n " << n << " k " << k << " bucket " << b;
          }
        }
      }
}

TEST(TopkBucketsPlan, BlocksHoldTheRowAndTheSample) {
  for (uint64_t n = kBucketsColumnsMin; n <= kBucketsColumnsMax; n = n < kBucketsColumnsMax ? n + n / 7 : n + 1)
    for (const uint64_t k : {uint64_t{1}, uint64_t{1025}, kBucketsKFew, kBucketsKFew + 1, kBucketsKMax}) {
      for (const uint32_t key_bytes : {4u, 8u}) {
        if (k > n) continue;
        const BucketsPlan p = plan_buckets({1, n, k, key_bytes});
        EXPECT_LE(p.blocks, sort::small::kGridBlocksMax);
        EXPECT_LE(p.share, sort::small::kGridThreads * kBucketsShareRows);
        EXPECT_GE(uint64_t{p.blocks} * p.share, n);
        EXPECT_LT(uint64_t{p.blocks - 1} * p.share, n) << "every block has a share";
        EXPECT_LE(p.samples, kBucketsSamplesMost);
        EXPECT_LE(p.samples, n);
        EXPECT_LE(p.rank, p.samples);
        const BucketsCut cut = cut_buckets(p.rank, p.blocks);
        EXPECT_LE(cut.buckets, p.blocks);
        EXPECT_GE(cut.buckets * cut.each, p.rank);
        expect_apart({{"items", 0, n * 2 * key_bytes}, {"starts", p.starts, sort::small::kGridStartsBytes}}, p.bytes,
                     256);
      }
    }
}

// Places in the order of the row are as good as the elements: draws at random.
TEST(TopkBucketsPlan, DrawnBucketsFitABlockAndHoldTheBest) {
  std::mt19937_64 random(1);
  for (const uint64_t n : {kSortWholeItemsMax + 1, uint64_t{400000}, kBucketsColumnsMax})
    for (const uint64_t k : {kBucketsKMin, uint64_t{2048}, uint64_t{10000}, kBucketsKFew, kBucketsKMax}) {
      const BucketsPlan p = plan_buckets({1, n, k, 4});
      const BucketsCut cut = cut_buckets(p.rank, p.blocks);
      for (int turn = 0; turn < 50; ++turn) {
        std::vector<uint64_t> sample(p.samples);
        for (uint64_t &item : sample) item = random() % n;
        std::sort(sample.begin(), sample.end());
        const auto end = [&](uint64_t rank) { return rank < p.samples ? sample[rank] : n; };
        EXPECT_GE(end(p.rank), k) << "n " << n << " k " << k;
        for (uint32_t b = 0; b < cut.buckets; ++b) {
          const uint64_t from = b == 0 ? 0 : sample[b * cut.each];
          EXPECT_LE(end(std::min((b + 1) * cut.each, p.rank)) - from, sort::small::kBucketItemsMax)
              << "n " << n << " k " << k << " bucket " << b;
        }
      }
    }
}

}  // namespace
}  // namespace gsort_test
