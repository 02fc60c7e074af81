// SPDX-License-Identifier: MIT OR Apache-2.0
// The tuning numbers of the sorts of short inputs: in one block, and by a team of blocks in one cooperative launch.
// Read by host and device.
#ifndef GSORT_CUDA_SORT_SMALL_SMALL_PLAN_H_
#define GSORT_CUDA_SORT_SMALL_SMALL_PLAN_H_

#include <cstdint>

namespace gsort_internal {

// What a key takes on chip: with its place in the input where the order of the input is wanted.
constexpr uint32_t small_item_bytes(uint32_t key_bytes, bool sources) {
  return key_bytes <= 2 ? 4 : sources ? 2 * key_bytes : key_bytes;
}

// One block: with few items a thread, or, where no team can take longer inputs, with twice as many if they
// fit its shared memory.
constexpr uint32_t kSmallSortThreads = 1024;
constexpr uint32_t small_sort_rows(uint32_t item_bytes) { return item_bytes == 16 ? 2 : 4; }
constexpr uint32_t small_sort_items(uint32_t item_bytes) { return kSmallSortThreads * small_sort_rows(item_bytes); }
// Two bins an item; one where two would not fit an SM of sm_75.
constexpr uint32_t small_sort_bins(uint32_t item_bytes) { return item_bytes == 4 ? 8192 : 4096; }
constexpr uint32_t kLongBlockSharedBytes = 99 * 1024;
constexpr uint32_t kLongBlockBins = 8192;

// Quadratic work on one SM, but two barriers less.
constexpr uint32_t kRankSortItemsMax = 64;

// A team of blocks, all of them on the device at once.
constexpr uint32_t kTeamBlocksMax = 128;
constexpr uint32_t kTeamThreads = 1024;
constexpr uint32_t kTeamRows = 6;
constexpr uint32_t kTeamRangeItems = kTeamThreads * kTeamRows;  // that a block can hold
constexpr uint32_t kTeamSharedBytesMin = 128 * 1024;            // of 16-byte items
constexpr uint32_t kTeamStartsStride = kTeamBlocksMax + 4;
constexpr uint32_t kTeamStartsBytes = kTeamBlocksMax * kTeamStartsStride * 4;
// The sum of both halves of a block's work is least with shares of about this size, and half as many blocks as the most
// up to 2^17 items (H200, 2026-11-21, 2^16 keys of 4 bytes: 32 blocks 15.8 us, 64 blocks 14.8, 128 blocks 15.8).
constexpr uint32_t kTeamShareAimed = 512;
constexpr uint64_t kTeamHalfItemsMax = uint64_t{1} << 17;
// Sampled items for every range. A range of three times the mean is 6 standard deviations away, and a block holds it.
constexpr uint32_t kTeamSamplesEach = 16;
constexpr uint64_t kTeamItemsMax = uint64_t{1} << 18;
static_assert(kTeamItemsMax / kTeamBlocksMax * 3 <= kTeamRangeItems, "ranges of three times the mean");
static_assert(kTeamHalfItemsMax / (kTeamBlocksMax / 2) * 3 <= kTeamRangeItems, "ranges of three times the mean");

struct TeamPlan {
  uint32_t blocks, share, samples;  // the last block may have less than a share
};

constexpr TeamPlan plan_team(uint64_t n) {
  TeamPlan plan = {n <= kTeamHalfItemsMax ? kTeamBlocksMax / 2 : kTeamBlocksMax, 0, 0};
  const uint64_t aimed = (n + kTeamShareAimed - 1) / kTeamShareAimed;
  if (aimed < plan.blocks) plan.blocks = static_cast<uint32_t>(aimed);
  plan.share = static_cast<uint32_t>((n + plan.blocks - 1) / plan.blocks);
  plan.blocks = static_cast<uint32_t>((n + plan.share - 1) / plan.share);
  plan.samples = plan.blocks * kTeamSamplesEach;
  return plan;
}

// Keys of 1 and 2 bytes take few passes as it is.
constexpr bool team_applies(uint64_t n, uint32_t key_bytes) {
  return key_bytes >= 4 && n >= kTeamShareAimed && n <= kTeamItemsMax;
}

// Up to here one block is no slower than a team (H200, 2026-11-21: 2^13 keys of 4 bytes take both 13 us, equal ones 8
// and 12 us).
constexpr uint32_t single_block_items(uint32_t key_bytes, bool sources) {
  const uint32_t item_bytes = small_item_bytes(key_bytes, sources);
  return small_sort_items(item_bytes) * (item_bytes == 4 ? 2 : 1);
}

constexpr bool small_sort_applies(uint64_t n, uint32_t key_bytes, bool sources, uint32_t shared_bytes) {
  const uint32_t items = small_sort_items(small_item_bytes(key_bytes, sources));
  return n <= items || (n <= 2 * items && shared_bytes >= kLongBlockSharedBytes);
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SORT_SMALL_SMALL_PLAN_H_
