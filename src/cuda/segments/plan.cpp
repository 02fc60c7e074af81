// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cuda/segments/plan.h"

#include <algorithm>
#include <cstdio>

#include "core/dtype.h"
#include "core/slices.h"

namespace gsort_internal::segments {
namespace {

void count_entries(const Request &request, uint32_t key_bytes, Plan &plan) {
  const uint64_t n = request.n;
  plan.small_max = std::min(request.segments, n / (kShortSegmentItemsMax + 1));
  plan.medium_max = std::min(request.segments, n / (small_segment_items(key_bytes) + 1));
  plan.large_max = std::min(request.segments, n / (medium_segment_items(key_bytes) + 1));
  plan.middle_max = merges(key_bytes) ? plan.medium_max : 0;
  plan.big_max = plan.large_max;
  plan.parts_max = plan.large_max;
  if (partitions(key_bytes) && plan.large_max != 0) {
    // Buckets can be as many as keys allow, however few the segments are.
    plan.parts_max = n / (medium_segment_items(key_bytes) + 1);
    // A segment's share is rounded up, and an entry behind its last bucket has its end.
    plan.buckets_max = kPartitionRounds * (n / bucket_items(key_bytes) + 2 * plan.parts_max);
  }
  // Every large segment may end with a tile that is not full.
  plan.large_tiles_max = plan.large_max == 0 ? 0 : n / segment_tile_items(key_bytes) + plan.parts_max;
  plan.partition_tiles_max = plan.buckets_max == 0 ? 0 : n / partition_tile_items() + plan.parts_max;
  // A segment's bounds are 0 to n, and the last tile looks beyond its own end for the end of its last segment.
  plan.short_tiles = request.segments == 0 ? 0 : n / short_tile_items(key_bytes) + 1;
}

void cut_workspace(const Request &request, uint32_t key_bytes, Plan &plan) {
  const uint32_t digits = digits_of(key_bytes);
  SliceCounter slices;
  plan.list_counts = slices.take(kListCountsBytes);
  plan.tickets = slices.take(uint64_t{digits} * 4);
  plan.bounds = slices.take((plan.short_tiles * short_tile_items(key_bytes) + kShortSegmentItemsMax) / 8);
  plan.zero_bytes = slices.bytes();
  plan.look_back = slices.take(plan.large_tiles_max * kDigitBins * 8);
  plan.large_counts = slices.take(plan.parts_max * digits * kDigitBins * 8);
  plan.small_list = slices.take((plan.small_max + plan.buckets_max) * 8);
  plan.middle_list = slices.take((plan.middle_max + plan.buckets_max) * 8);
  plan.medium_list = slices.take((plan.medium_max + plan.buckets_max) * 8);
  plan.big_list = slices.take(plan.big_max == 0 ? 0 : (plan.big_max + plan.buckets_max) * 8);
  plan.small_merges_list = slices.take(spreads(key_bytes) ? (plan.small_max + plan.buckets_max) * 8 : 0);
  plan.middle_merges_list = slices.take(spreads(key_bytes) ? (plan.middle_max + plan.buckets_max) * 8 : 0);
  plan.medium_merges_list = slices.take(spreads(key_bytes) ? (plan.medium_max + plan.buckets_max) * 8 : 0);
  plan.large_list = slices.take(plan.large_max * 8);
  plan.large_tile_begins = slices.take((plan.parts_max + 1) * 8);
  const uint64_t parts = plan.buckets_max == 0 ? 0 : plan.parts_max;
  plan.again_list = slices.take(parts * 8);
  plan.radix_list = slices.take(parts * 8);
  plan.parts = slices.take(parts * kPartBytes);
  plan.bucket_begins = slices.take(plan.buckets_max * 8);
  plan.bucket_counts = slices.take(plan.buckets_max * 8);
  plan.bucket_room = slices.take(plan.buckets_max * 8);
  plan.bucket_starts = slices.take(plan.buckets_max * key_bytes);
  plan.keys_y = slices.take(plan.large_max == 0 ? 0 : request.n * key_bytes);
  plan.workspace_bytes = slices.bytes();
}

// By the mean length: the host does not know the offsets. Merges by a whole multiprocessor were timed on devices with
// clusters alone, and only those have the kernel.
bool has_big_segments(const Request &request, uint32_t key_bytes, const Plan &plan, const DeviceFacts &device) {
  const uint64_t mean = request.n / std::max<uint64_t>(request.segments, 1);
  if (plan.big_max == 0 || mean > big_segment_items(key_bytes)) return false;
  if (key_bytes == 1) return mean >= medium_segment_items(1) / 4 && request.segments >= kCountBigSegmentsMin;
  return plan.merge && mean >= medium_segment_items(key_bytes) / 4 * 3 && device.clusters() &&
         device.shared_bytes_block_max >= big_shared_bytes(key_bytes);
}

uint32_t blocks_for(uint64_t work, uint64_t per_block, uint64_t blocks_max) {
  return static_cast<uint32_t>(std::max<uint64_t>(1, std::min((work + per_block - 1) / per_block, blocks_max)));
}

}  // namespace

Plan make_plan(const Request &request, const DeviceFacts &device) {
  const uint32_t key_bytes = dtype_bytes(request.order.dtype);
  Plan plan{};
  count_entries(request, key_bytes, plan);
  cut_workspace(request, key_bytes, plan);
  plan.merge = merges(key_bytes) && (key_bytes > 2 || request.n >= kMergeShortKeysMin);
  plan.partition = plan.buckets_max != 0 && device.shared_bytes_block_max >= kLargeSharedBytes;
  plan.big = has_big_segments(request, key_bytes, plan, device);
  plan.whole = request.segments != 0 && request.segments <= kWholeSegmentsMax && request.n <= kWholeItemsMax;
  // Few keys are merged at once: launches take longer than those.
  plan.spread = spreads(key_bytes) && !plan.whole && device.shared_bytes_block_max >= kLargeSharedBytes;
  const uint64_t multiprocessors = device.multiprocessors;
  plan.check_blocks = blocks_for(request.segments, kCheckItems, multiprocessors * 8);
  // Blocks stay for several tiles and even them out.
  plan.short_blocks = plan.whole ? blocks_for(request.n, kWholeTileItems, UINT32_MAX)
                                 : blocks_for(plan.short_tiles, 1, multiprocessors * 30);
  // Enough blocks to fill every multiprocessor several times: the rest evens out segments of different size.
  const uint64_t buckets = plan.partition ? plan.buckets_max : 0;
  plan.merge_blocks =
      blocks_for(plan.small_max + buckets, 1, multiprocessors * kMergeBlocksPerMultiprocessor * kMergeRounds);
  plan.count_blocks = blocks_for(plan.small_max, kCountWarps, multiprocessors * kCountBlocksPerMultiprocessor);
  plan.big_blocks = blocks_for(plan.big_max + buckets, 1, multiprocessors);
  plan.small_blocks = blocks_for(plan.small_max + buckets, 1, multiprocessors * (2048 / SpreadSmall::kThreads));
  plan.middle_blocks = blocks_for(plan.middle_max + buckets, 1, multiprocessors * (2048 / SpreadMiddle::kThreads));
  plan.medium_blocks = blocks_for(plan.medium_max + buckets, 1, multiprocessors * (2048 / MediumSegmentTile::kThreads));
  return plan;
}

void describe(const Request &request, const Plan &plan, char *text, size_t text_bytes) {
  std::snprintf(text, text_bytes,
                "sort of segments on the GPU: %llu keys in %llu segments: up to %u keys in lanes of a warp, up to %u "
                "by %s, more %sby LSD passes",
                static_cast<unsigned long long>(request.n), static_cast<unsigned long long>(request.segments),
                kShortSegmentItemsMax,
                plan.big ? big_segment_items(dtype_bytes(request.order.dtype))
                         : medium_segment_items(dtype_bytes(request.order.dtype)),
                plan.merge                              ? "merges of runs of warps"
                : dtype_bytes(request.order.dtype) == 1 ? "counts of a warp"
                                                        : "a block",
                plan.partition ? "by partitions or " : "");
}

}  // namespace gsort_internal::segments
