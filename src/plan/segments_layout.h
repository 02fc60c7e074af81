// SPDX-License-Identifier: MIT OR Apache-2.0
// The workspace of a sort of segments. Every size is the most that n keys can need, whatever the offsets are.
#ifndef GSORT_PLAN_SEGMENTS_LAYOUT_H_
#define GSORT_PLAN_SEGMENTS_LAYOUT_H_

#include <algorithm>
#include <cstdint>

#include "plan/radix_plan.h"
#include "plan/sort_layout.h"

namespace gsort_internal {

struct SegmentsLayout {
  // Entries of the lists: a listed segment has more keys than the class below it takes.
  uint64_t small_max;   // for a block of kSmallThreads
  uint64_t medium_max;  // for a block of kMediumThreads
  uint64_t large_max;   // for passes over memory
  uint64_t large_tiles_max;

  uint64_t list_counts, tickets, look_back, large_counts, zero_bytes;
  uint64_t small_list, medium_list, large_list, large_tile_begins;
  uint64_t keys_y;
  uint64_t bytes;
};

inline SegmentsLayout segments_layout(const Request &request) {
  const uint32_t key_bytes = dtype_bytes(request.order.dtype), digits = digits_of(key_bytes);
  const uint64_t n = request.n;
  SegmentsLayout layout{};
  layout.small_max = std::min(request.segments, n / (kSegmentWarpItemsMax + 1));
  layout.medium_max = std::min(request.segments, n / (small_items(key_bytes) + 1));
  layout.large_max = std::min(request.segments, n / (medium_items(key_bytes) + 1));
  // Every large segment may end with a tile that is not full.
  layout.large_tiles_max = layout.large_max == 0 ? 0 : n / segment_tile_items(key_bytes) + layout.large_max;

  SliceCounter slices;
  layout.list_counts = slices.take(32);
  layout.tickets = slices.take(uint64_t{digits} * 4);
  layout.look_back = slices.take(layout.large_tiles_max * kDigitBins * 8);
  layout.large_counts = slices.take(layout.large_max * digits * kDigitBins * 8);
  layout.zero_bytes = slices.bytes();
  layout.small_list = slices.take(layout.small_max * 8);
  layout.medium_list = slices.take(layout.medium_max * 8);
  layout.large_list = slices.take(layout.large_max * 8);
  layout.large_tile_begins = slices.take((layout.large_max + 1) * 8);
  layout.keys_y = slices.take(layout.large_max == 0 ? 0 : n * key_bytes);
  layout.bytes = slices.bytes();
  return layout;
}

}  // namespace gsort_internal

#endif  // GSORT_PLAN_SEGMENTS_LAYOUT_H_
