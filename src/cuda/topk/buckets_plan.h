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

struct BucketsPlan {
  uint32_t blocks, share;  // of so many elements; the last block may have fewer
  uint32_t samples, rank;  // what is not under the sample's item of this rank, from 0, is dropped
  uint64_t starts, bytes;  // slices of the workspace, behind the items of all buckets
};

constexpr bool buckets_fit(const Shape &s) {
  return s.rows == 1 && s.key_bytes >= 4 && s.columns >= kBucketsColumnsMin && s.columns <= kBucketsColumnsMax &&
         s.k <= kBucketsKMax;
}
constexpr bool buckets_fit(const DeviceFacts &d) {
  return d.clusters() && d.multiprocessors >= sort::small::kGridBlocksMax &&
         d.shared_bytes_block_max >= sort::small::kGridSharedBytesMin;
}

constexpr BucketsPlan plan_buckets(const Shape &s) {
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

// How many neighbours of the sample a bucket has between its ends, and how many buckets there are under the rank.
struct BucketsCut {
  uint32_t each, buckets;
};
GSORT_HOST_DEVICE constexpr BucketsCut cut_buckets(uint32_t rank, uint32_t blocks) {
  const uint32_t each = (rank + blocks - 1) / blocks;
  return {each, (rank + each - 1) / each};
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_BUCKETS_PLAN_H_
