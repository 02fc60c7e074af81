// SPDX-License-Identifier: MIT OR Apache-2.0
// How segments are sorted by their length, and the workspace of it. Every size is the most that n keys can need,
// whatever the offsets are.
#ifndef GSORT_CUDA_SEGMENTS_LAYOUT_H_
#define GSORT_CUDA_SEGMENTS_LAYOUT_H_

#include <algorithm>
#include <cstdint>

#include "cuda/sort/sort_layout.h"
#include "cuda/sort/sort_plan.h"

namespace gsort_internal {

// Up to here a segment is short: the block that holds the tile of keys where it begins sorts it, in the registers of
// one to 32 lanes of kShortLaneItems keys each.
constexpr uint32_t kShortLaneItems = 16;
constexpr uint32_t kShortSegmentItemsMax = 32 * kShortLaneItems;
// A tile and its bounds take 36 KB of shared memory: the four blocks wanted fit an SM of sm_90, one fits sm_75.
constexpr uint32_t short_tile_items(uint32_t key_bytes) { return key_bytes == 8 ? 2048 : 4096; }

// Longer segments go to a block each, as long as they fit one.
template <uint32_t KeyBytes>
using SmallSegmentTile = TileShape<256, KeyBytes == 8 ? 4 : 8>;
template <uint32_t KeyBytes>
using MediumSegmentTile = TileShape<512, KeyBytes == 8 ? 12 : 24>;
constexpr uint32_t small_segment_items(uint32_t key_bytes) {
  return key_bytes == 8 ? SmallSegmentTile<8>::kItems : SmallSegmentTile<4>::kItems;
}
constexpr uint32_t medium_segment_items(uint32_t key_bytes) {
  return key_bytes == 8 ? MediumSegmentTile<8>::kItems : MediumSegmentTile<4>::kItems;
}

// Large segments go through passes over memory. One shape that fits every SM does.
template <uint32_t KeyBytes>
using SegmentPassTile = TileShape<512, KeyBytes == 8 ? 12 : 24>;
constexpr uint32_t segment_tile_items(uint32_t key_bytes) {
  return key_bytes == 8 ? SegmentPassTile<8>::kItems : SegmentPassTile<4>::kItems;
}

struct SegmentsLayout {
  // Entries of the lists: a listed segment has more keys than the class below it takes.
  uint64_t small_max;
  uint64_t medium_max;
  uint64_t large_max;
  uint64_t large_tiles_max;
  uint64_t short_tiles;

  // Cleared before every sort; the first zero_bytes of the workspace.
  uint64_t list_counts, tickets, bounds, zero_bytes;

  uint64_t look_back, large_counts;
  uint64_t small_list, medium_list, large_list, large_tile_begins;
  uint64_t keys_y;
  uint64_t bytes;
};

inline SegmentsLayout segments_layout(const Request &request) {
  const uint32_t key_bytes = dtype_bytes(request.order.dtype), digits = digits_of(key_bytes);
  const uint64_t n = request.n;
  SegmentsLayout layout{};
  layout.small_max = std::min(request.segments, n / (kShortSegmentItemsMax + 1));
  layout.medium_max = std::min(request.segments, n / (small_segment_items(key_bytes) + 1));
  layout.large_max = std::min(request.segments, n / (medium_segment_items(key_bytes) + 1));
  // Every large segment may end with a tile that is not full.
  layout.large_tiles_max = layout.large_max == 0 ? 0 : n / segment_tile_items(key_bytes) + layout.large_max;
  // A segment's bounds are 0 to n, and the last tile looks beyond its own end for the end of its last segment.
  layout.short_tiles = request.segments == 0 ? 0 : n / short_tile_items(key_bytes) + 1;

  SliceCounter slices;
  layout.list_counts = slices.take(32);
  layout.tickets = slices.take(uint64_t{digits} * 4);
  layout.bounds = slices.take((layout.short_tiles * short_tile_items(key_bytes) + kShortSegmentItemsMax) / 8);
  layout.zero_bytes = slices.bytes();
  layout.look_back = slices.take(layout.large_tiles_max * kDigitBins * 8);
  layout.large_counts = slices.take(layout.large_max * digits * kDigitBins * 8);
  layout.small_list = slices.take(layout.small_max * 8);
  layout.medium_list = slices.take(layout.medium_max * 8);
  layout.large_list = slices.take(layout.large_max * 8);
  layout.large_tile_begins = slices.take((layout.large_max + 1) * 8);
  layout.keys_y = slices.take(layout.large_max == 0 ? 0 : n * key_bytes);
  layout.bytes = slices.bytes();
  return layout;
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_SEGMENTS_LAYOUT_H_
