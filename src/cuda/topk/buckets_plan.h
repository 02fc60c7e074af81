// SPDX-License-Identifier: MIT OR Apache-2.0
// One row, which the blocks of a grid cut by a sample into what cannot be among the best k and buckets of what can, in
// one cooperative launch. Read by host and device.
#ifndef GSORT_CUDA_TOPK_BUCKETS_PLAN_H_
#define GSORT_CUDA_TOPK_BUCKETS_PLAN_H_

#include <cstdint>

#include "cuda/sort/small/plan.h"
#include "cuda/topk/shape.h"

namespace gsort_internal::topk {

// A block's share of the row lies in its registers.
constexpr uint32_t kBucketsShareRows = 8;
constexpr uint64_t kBucketsColumnsMax =
    uint64_t{sort::small::kGridBlocksMax} * sort::small::kGridThreads * kBucketsShareRows;
constexpr uint64_t kBucketsColumnsMin = uint64_t{1} << 14;
// Buckets of more would not be sure to fit a block.
constexpr uint64_t kBucketsKMax = uint64_t{1} << 17;
// Every block draws the sample; a larger one makes buckets more even. A bucket lies between neighbours of the sample,
// or every second and so on, where more of it are among the best than there are blocks.
constexpr uint32_t kBucketsSampleRows = 4;
constexpr uint32_t kBucketsSamplesFew = 3072;
constexpr uint32_t kBucketsSamplesMost = kBucketsSampleRows * sort::small::kGridThreads;
constexpr uint64_t kBucketsKFew = uint64_t{1} << 16;

// Longer rows are read tile by tile (long_buckets.cuh). Between neighbours of the sample lie more elements, so that it
// is larger; what of it is under the bound has to be sorted.
constexpr uint64_t kLongBucketsColumnsMax = uint64_t{1} << 23;
constexpr uint32_t kLongBucketsSamplesMost = 8 * sort::small::kGridThreads;
constexpr uint64_t kLongBucketsColumnsFew = uint64_t{1} << 21;  // up to here half of that is enough
constexpr uint32_t kLongBucketsRankMax = kLongBucketsSamplesMost / 8;
constexpr uint32_t kLongBucketsSharedBytes = 227 * 1024;
// Items of a bucket that a block can hold.
GSORT_HOST_DEVICE constexpr uint32_t long_bucket_items(uint32_t key_bytes) {
  return sort::small::kBucketItemsMax * (key_bytes == 4 ? 2 : 1);
}

struct BucketsPlan {
  bool is_long;            // the row is read tile by tile
  uint32_t blocks, share;  // of so many elements; the last block may have fewer
  uint32_t samples, rank;  // what is not under the sample's item of this rank, from 0, is dropped
  uint32_t room;           // items of buckets that can be stored, of long rows
  uint32_t rough_rank;     // of the bound of what is sorted of a long row's sample, in one of it for each thread
  uint64_t starts, bytes;  // slices of the workspace, behind the items of all buckets
};

// How many neighbours of the sample a bucket has between its ends, and how many buckets there are under the rank.
struct BucketsCut {
  uint32_t each, buckets;
};
GSORT_HOST_DEVICE constexpr BucketsCut cut_buckets(uint32_t rank, uint32_t blocks) {
  const uint32_t each = (rank + blocks - 1) / blocks;
  return {each, (rank + each - 1) / each};
}

// As rank_of_sample(), so that the sample has as many as the rank under the bound.
constexpr uint32_t rough_rank_of(uint32_t rank, uint32_t samples) {
  const uint32_t threads = sort::small::kGridThreads;
  return static_cast<uint32_t>(min_of(rank_of_sample(rank, threads, samples), threads - 1));
}

constexpr BucketsPlan plan_long_buckets(const Shape &s) {
  BucketsPlan plan{};
  plan.is_long = true;
  plan.blocks = sort::small::kGridBlocksMax;
  plan.samples = s.columns <= kLongBucketsColumnsFew ? kLongBucketsSamplesMost / 2 : kLongBucketsSamplesMost;
  plan.rank = static_cast<uint32_t>(min_of(rank_of_sample(s.k, plan.samples, s.columns), kLongBucketsRankMax));
  plan.rough_rank = rough_rank_of(plan.rank, plan.samples);
  plan.room = static_cast<uint32_t>(s.k) + long_bucket_items(s.key_bytes);
  plan.starts = slice_bytes(uint64_t{plan.room} * sort::small::bytes_of_item(s.key_bytes, true));
  plan.bytes = plan.starts + slice_bytes(sort::small::kGridStartsBytes);
  return plan;
}

// Gaps between neighbours of a sample vary as waiting times do: so many times the mean of a bucket's are as good as
// never more (twelve of one: 6 in a million; fourteen of two: 12).
constexpr bool long_buckets_fit(const Shape &s) {
  if (s.columns <= kBucketsColumnsMax || s.columns > kLongBucketsColumnsMax) return false;
  const BucketsPlan plan = plan_long_buckets(s);
  const uint64_t gap = s.columns / plan.samples, each = cut_buckets(plan.rank, plan.blocks).each;
  return plan.rank < kLongBucketsRankMax && gap * (10 + 2 * each) <= long_bucket_items(s.key_bytes);
}

constexpr bool buckets_fit(const Shape &s) {
  return s.rows == 1 && s.key_bytes >= 4 && s.columns >= kBucketsColumnsMin && s.k <= kBucketsKMax &&
         (s.columns <= kBucketsColumnsMax || long_buckets_fit(s));
}
constexpr bool buckets_fit(const DeviceFacts &d, bool is_long) {
  return d.clusters() && d.multiprocessors >= sort::small::kGridBlocksMax &&
         d.shared_bytes_block_max >= (is_long ? kLongBucketsSharedBytes : sort::small::kGridSharedBytesMin);
}

constexpr BucketsPlan plan_buckets(const Shape &s) {
  if (s.columns > kBucketsColumnsMax) return plan_long_buckets(s);
  BucketsPlan plan{};
  const uint64_t share = (s.columns + sort::small::kGridBlocksMax - 1) / sort::small::kGridBlocksMax;
  plan.share = static_cast<uint32_t>(share);
  plan.blocks = static_cast<uint32_t>((s.columns + share - 1) / share);
  plan.samples = s.k <= kBucketsKFew ? kBucketsSamplesFew : kBucketsSamplesMost;
  plan.rank = static_cast<uint32_t>(min_of(rank_of_sample(s.k, plan.samples, s.columns), plan.samples));
  plan.starts = slice_bytes(s.columns * sort::small::bytes_of_item(s.key_bytes, true));
  plan.bytes = plan.starts + slice_bytes(sort::small::kGridStartsBytes);
  return plan;
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_BUCKETS_PLAN_H_
