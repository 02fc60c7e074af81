// SPDX-License-Identifier: MIT OR Apache-2.0
// Plan of the stable sample sort of pairs and indices with 8-byte keys by all blocks of a device: splitters of a sorted
// sample cut the keys into bins, every pair is moved to its bin in the order of the input, and a block sorts each cell
// of neighbouring bins on chip (W. D. Frazer and A. C. McKellar, "Samplesort: a sampling approach to minimal storage
// tree sorting", 1970). The pairs of a value that has a bin of its own are in order then. Read by host and device.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_PLAN_H_
#define GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_PLAN_H_

#include <cstdint>

#include "core/key_bits.h"

namespace gsort_internal::sort::sample_sort {

// Bins between splitters: so few that their runs in a tile are long, so many that of hardly any the pairs do not fit a
// block. Up to so many pairs half of them are made.
constexpr uint32_t kStableBinBits = 10;
constexpr uint64_t kStableFewItems = uint64_t{1} << 21;
constexpr uint32_t stable_bin_bits(uint64_t n) { return n <= kStableFewItems ? kStableBinBits - 1 : kStableBinBits; }

// Splitters are so many keys of a sorted sample apart; a seventh of the bins is left for values that come often. A bin
// of 2^22 pairs has 4,800 in the mean, with a deviation of 900, so that hardly any has more than the 9,216 that a block
// sorts on chip.
constexpr uint32_t kStableSample = 24 << kStableBinBits;
constexpr uint32_t kStableRun = 512;  // sampled keys that are sorted first, by blocks that rank a part of them each
constexpr uint32_t kStableRuns = kStableSample / kStableRun;
constexpr GSORT_HOST_DEVICE uint32_t stable_apart(uint32_t bin_bits) { return (kStableSample >> bin_bits) * 7 / 6; }

// Blocks that hold their shares' bins between counting and moving, and move them tile by tile.
constexpr uint32_t kStableThreads = 1024;
constexpr uint32_t kStableBlocksMax = 128;
constexpr uint32_t kStableTileRows = 8;
constexpr uint32_t kStableTileItems = kStableTileRows * kStableThreads;
constexpr uint32_t kStableTilesMax = 4;  // of a share

// Counts of a group of blocks are added up as they come, for the rest to read.
constexpr uint32_t kStableGroups = 8;
constexpr uint32_t kStableGroupBlocks = kStableBlocksMax / kStableGroups;

// A cell has neighbouring bins that end in the same of equal parts of the output, which have up to so many pairs; a bin
// of more is a cell alone. Two such parts fit a block.
constexpr uint32_t kStableCellItemsMean = 4600;

// Keys that differ in so few bytes are left to a radix sort by passes.
constexpr uint32_t kStablePassesMax = 5;
// So are keys in clusters of clusters, as text: of more than one in so many of the splitters the distances to both
// neighbours differ by more than a factor of 2^6.
constexpr uint32_t kStableCrowdedBits = 6;
constexpr uint32_t kStableCrowdedShare = 11;
// Or the next sampled key is 2^16 times as close as those between two splitters are on average: of smooth keys hardly
// any, of a thousand normal clusters 1%, of 3,000 leading halves with small numbers in the other half most (H200,
// 2026-11-27, u64 + u64 of three to four million: 2.05 times as long as by passes).
constexpr uint32_t kStableDenseBits = 16;
// A bin that is as wide as this, where evenly spread keys of 2^20 have bins of 55 bits, may have a gap, which becomes a
// bin of its own: the finish takes long for many keys that lie in a small part of a cell.
constexpr uint32_t kStableWideBits = 57;

// Fewer are sorted by passes of one launch. Of few pairs with 4 bytes beside each, passes take less time, too, where
// keys are in lumps, and more where they are smooth (H200, 2026-11-26: 1.5 million doubles' indices 0.6 to 1.3, one
// value 1.6).
constexpr uint64_t stable_items_min(uint32_t value_bytes) {
  return value_bytes == 8 ? (uint64_t{1} << 20) + 1 : (uint64_t{3} << 19) + 1;
}
constexpr uint64_t kStableItemsMax = uint64_t{kStableBlocksMax} * kStableTileItems * kStableTilesMax;  // 4.2 million
// Tests may force the method down to here: sampled keys come from parts of their own.
constexpr uint64_t kStableItemsForcedMin = uint64_t{1} << 16;
static_assert(kStableItemsForcedMin >= kStableSample, "parts have a key");
constexpr bool stable_applies(uint64_t n, uint32_t key_bytes, uint32_t value_bytes, bool forced = false) {
  return key_bytes == 8 && n >= (forced ? kStableItemsForcedMin : stable_items_min(value_bytes)) &&
         n <= kStableItemsMax;
}

struct StablePlan {
  uint32_t blocks, share_items;  // of a block, whole rows of its threads; no blocks: not taken
};
constexpr StablePlan make_stable_plan(uint64_t n) {
  constexpr uint64_t kRow = uint64_t{kStableBlocksMax} * kStableThreads;
  const uint32_t share = static_cast<uint32_t>((n + kRow - 1) / kRow) * kStableThreads;
  return {static_cast<uint32_t>((n + share - 1) / share), share};
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_STABLE_PLAN_H_
