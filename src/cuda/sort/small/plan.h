// SPDX-License-Identifier: MIT OR Apache-2.0
// The tuning numbers of the sorts of short inputs: in one block, and by the blocks of a grid in one cooperative
// launch. Read by host and device.
#ifndef GSORT_CUDA_SORT_SMALL_PLAN_H_
#define GSORT_CUDA_SORT_SMALL_PLAN_H_

#include <cstdint>

namespace gsort_internal::sort::small {

// What a key takes on chip: with its place in the input where the order of the input is wanted.
constexpr uint32_t bytes_of_item(uint32_t key_bytes, bool sources) {
  return key_bytes <= 2 ? 4 : sources ? 2 * key_bytes : key_bytes;
}

// One block: with few items a thread, or, where no grid can take longer inputs, with twice as many if they
// fit its shared memory.
constexpr uint32_t kBlockThreads = 1024;
constexpr uint32_t block_rows(uint32_t item_bytes) { return item_bytes == 16 ? 2 : 4; }
constexpr uint32_t block_items(uint32_t item_bytes) { return kBlockThreads * block_rows(item_bytes); }
// Two bins an item; one where two would not fit an SM of sm_75.
constexpr uint32_t block_bins(uint32_t item_bytes) { return item_bytes == 4 ? 8192 : 4096; }
constexpr uint32_t kLongBlockSharedBytes = 99 * 1024;
constexpr uint32_t kLongBlockBins = 8192;

// Quadratic work on one SM, but two barriers less.
constexpr uint32_t kRankSortItemsMax = 64;

// The sample sort of a grid, whose blocks are all on the device at once.
constexpr uint32_t kGridBlocksMax = 128;
constexpr uint32_t kGridThreads = 1024;
constexpr uint32_t kGridRows = 6;
constexpr uint32_t kBucketItemsMax = kGridThreads * kGridRows;  // that a block can hold
constexpr uint32_t kGridSharedBytesMin = 128 * 1024;            // of 16-byte items
// Longer inputs of keys of 8 bytes alone have more rows.
constexpr uint32_t kLongGridRows = 12;
constexpr uint32_t kLongGridSharedBytes = 200 * 1024;
constexpr uint32_t kGridStartsStride = kGridBlocksMax + 4;
constexpr uint32_t kGridStartsBytes = kGridBlocksMax * kGridStartsStride * 4;
// The sum of both halves of a block's work is least with shares of about this size, and half as many blocks as the most
// up to 2^17 items (H200, 2026-11-21, 2^16 keys of 4 bytes: 32 blocks 15.8 us, 64 blocks 14.8, 128 blocks 15.8).
constexpr uint32_t kGridShareAimed = 512;
constexpr uint64_t kGridHalfItemsMax = uint64_t{1} << 17;
// Sampled items for every bucket. A bucket of three times the mean is 6 standard deviations away, and a block holds it.
constexpr uint32_t kGridSamplesEach = 16;
constexpr uint64_t kGridItemsMax = uint64_t{1} << 18;
static_assert(kGridItemsMax / kGridBlocksMax * 3 <= kBucketItemsMax, "buckets of three times the mean");
// Beyond, passes by a grid take as long as even keys take here, and uneven ones are half again as long on their way;
// but keys of 8 bytes have twice as many passes.
constexpr uint64_t grid_items_max(uint32_t key_bytes, bool sources) {
  return key_bytes == 8 && !sources ? kGridItemsMax * 2 : kGridItemsMax;
}
static_assert(kGridItemsMax * 2 / kGridBlocksMax * 3 <= kGridThreads * kLongGridRows, "likewise");
static_assert(kGridHalfItemsMax / (kGridBlocksMax / 2) * 3 <= kBucketItemsMax, "buckets of three times the mean");

struct GridPlan {
  uint32_t blocks, share, samples;  // the last block may have less than a share
  bool is_long;                     // blocks of kLongGridRows
};

constexpr GridPlan plan_grid(uint64_t n) {
  GridPlan plan = {n <= kGridHalfItemsMax ? kGridBlocksMax / 2 : kGridBlocksMax, 0, 0, n > kGridItemsMax};
  const uint64_t aimed = (n + kGridShareAimed - 1) / kGridShareAimed;
  if (aimed < plan.blocks) plan.blocks = static_cast<uint32_t>(aimed);
  plan.share = static_cast<uint32_t>((n + plan.blocks - 1) / plan.blocks);
  plan.blocks = static_cast<uint32_t>((n + plan.share - 1) / plan.share);
  plan.samples = plan.blocks * kGridSamplesEach;
  return plan;
}

// Keys of 1 and 2 bytes take few passes as it is.
constexpr bool grid_applies(uint64_t n, uint32_t key_bytes, bool sources) {
  return key_bytes >= 4 && n >= kGridShareAimed && n <= grid_items_max(key_bytes, sources);
}
// What its blocks take.
constexpr uint32_t grid_shared_bytes(uint64_t n) {
  return n > kGridItemsMax ? kLongGridSharedBytes : kGridSharedBytesMin;
}

// Keys of 1 and 2 bytes have ways of their own in a block, which are as quick for any data and fit every device. Those
// of 1 byte alone need no room.
constexpr uint32_t kNarrowItemsFew = 1024;  // in a block of few warps, in which barriers take less
constexpr uint32_t kNarrowItemsMany = 4096;
constexpr uint32_t kNarrowItemsMax = 8192;
constexpr uint32_t kCountSortThreads = 512;
constexpr uint32_t kCountSortItemsMax = 24576;

constexpr uint32_t narrow_block_items(uint32_t key_bytes, bool sources) {
  return key_bytes == 1 && !sources ? kCountSortItemsMax : kNarrowItemsMax;
}

// Up to here one block is no slower than the grid (H200, 2026-11-21: 2^13 keys of 4 bytes take both 13 us, equal ones 8
// and 12 us).
constexpr uint32_t single_block_items(uint32_t key_bytes, bool sources) {
  if (key_bytes <= 2) return narrow_block_items(key_bytes, sources);
  const uint32_t item_bytes = bytes_of_item(key_bytes, sources);
  return block_items(item_bytes) * (item_bytes == 4 ? 2 : 1);
}

constexpr bool block_applies(uint64_t n, uint32_t key_bytes, bool sources, uint32_t shared_bytes) {
  if (key_bytes <= 2) return n <= narrow_block_items(key_bytes, sources);
  const uint32_t items = block_items(bytes_of_item(key_bytes, sources));
  return n <= items || (n <= 2 * items && shared_bytes >= kLongBlockSharedBytes);
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_PLAN_H_
