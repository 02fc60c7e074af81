// SPDX-License-Identifier: MIT OR Apache-2.0
// Plan of the stable MSD sort of pairs and of argsort: cut the key range into cells by leading bits, move every pair to
// its cell in two stable partition passes, finish each cell on chip. Every pair is moved three times, where an LSD sort
// moves pairs with 4-byte keys four times and pairs with 8-byte keys eight times. Read by host and device.
#ifndef GSORT_CUDA_SORT_MSD_STABLE_PLAN_H_
#define GSORT_CUDA_SORT_MSD_STABLE_PLAN_H_

#include <cstdint>

#include "cuda/sort/msd/plan.h"

namespace gsort_internal::sort::msd {

// The finish sorts words of the width of a key that hold the key's bits below its cell and, under them, the pair's
// place in the cell: no two are equal, so a sort that is not stable gives the stable order. With 2^b cells the first
// part has up to W - b bits, so places may have b bits.
struct StablePlan {
  uint32_t cell_bits;    // the cells are 2^cell_bits equal parts of the range that the keys' common prefix leaves
  uint32_t first_bits;   // of them, by the first partition pass
  uint32_t second_bits;  // by the second
  uint32_t place_bits;
  uint32_t cell_items_max;
  // For keys that spread unevenly: a map of the range gives each of its kStableMapEntries equal parts as many cells as
  // it has keys for, at least one. So many cells, whole bins of the first pass; 0: not offered.
  uint32_t mapped_cells;
  uint32_t mapped_items;  // pairs that a cell of the map is meant to have
  // For other keys: bins between splitters of a sample, each cut into cells by splitters of its own. So many bins at
  // most; 0: not offered.
  uint32_t split_bins;
  uint32_t split_sample;   // keys that the bins' splitters are taken from
  uint32_t split_share;    // of them, that a bin is meant to have
  uint32_t split_cells;    // not empty and to be finished, at most
  uint32_t split_passes;   // that the LSD sort would take, at least, but where most keys are equal to others
  uint32_t crowded_share;  // one of so many of a sample's keys lies in clusters of clusters at most, of keys that would
                           // take fewer than kStableCrowdedPasses,
  uint32_t crowded_entropy;  // or whose bytes have less entropy than so many bits
  uint32_t dense_passes;     // what making dense keys takes of the LSD sort's time, in passes
};

constexpr uint32_t kStableFinishItems = 9216;  // pairs that a block finishes
constexpr uint32_t kStablePlaceBits = 14;
static_assert(kStableFinishItems <= 1u << kStablePlaceBits, "a place has this many bits");

// Longest run of equal digits in a cell that is put in order by looks at neighbours. Beyond, the cell is sorted by a
// network: slower, and bounded.
constexpr uint32_t kStableNeighboursMax = 48;

// How a block holds a cell, by so many digits of its words. Two blocks an SM, with 32 registers a thread for 4-byte
// keys and 64 for 8-byte ones.
template <uint32_t KeyBytes>
struct StableFinishShape {
  static constexpr uint32_t kThreads = KeyBytes == 8 ? 512 : 1024, kBlocks = 2;
  static constexpr uint32_t kPairs = kStableFinishItems, kItems = kPairs / kThreads;
  static constexpr uint32_t kDigitBits = kFinishBits, kDigits = 1u << kDigitBits;
  static_assert(kItems * kThreads == kPairs, "rows are whole");
};

// Smaller cells of 4-byte keys, of which an SM has four: what a block does for each cell, whatever its pairs, is half
// as much, and 2^24 pairs of 4 + 4 bytes take 0.84 of the time (H100, 2026-11-26). Cells of more pairs than the mean
// here gain nothing.
struct StableSmallShape {
  static constexpr uint32_t kThreads = 512, kBlocks = 4;
  static constexpr uint32_t kItems = 9, kPairs = kItems * kThreads;
  static constexpr uint32_t kDigitBits = 12, kDigits = 1u << kDigitBits;
};
constexpr uint32_t kStableSmallMean = 3600;

constexpr uint32_t kStableBinsMax = 256;                  // of one partition pass
constexpr uint32_t kStableCellBitsMin = 12;               // fewer cells leave too few bits for places
constexpr uint32_t kStableCellBitsMax = 15;               // 128 KB of counters in the histogram
constexpr uint32_t kStableCountThreads = kSampleThreads;  // of the sample and the histogram
constexpr uint32_t kStableCountItems = 8;                 // loads in flight a thread

// A mean that leaves 6 standard deviations to the fullest cell.
constexpr uint32_t stable_cell_items_mean(uint32_t cell_bits) {
  return cell_bits >= 14 ? 8640 : cell_bits == 13 ? 7660 : 3720;
}

// Below, the launches and the fixed work of each cell cost about what the passes saved do: 2^24 pairs of 4 + 4 bytes
// take 0.498 ms and 0.505 ms by LSD passes alone (H200, 2026-11-21). 8-byte keys save five passes of eight.
// With 8 bytes beside each they save more (H200, 2026-11-26: 4.5 million 0.87 of the time of passes, a geometric mean
// of 43 kinds of data, 8 million 0.73; with 4 bytes, and argsorts, 5 million 0.89 and 0.99).
constexpr uint64_t stable_items_min(uint32_t key_bytes, uint32_t value_bytes) {
  return key_bytes != 8 ? uint64_t{1} << 24 : value_bytes == 8 ? (uint64_t{1} << 22) + 1 : uint64_t{1} << 23;
}
// Tests may force the method down to here: the sample's parts must hold a group.
constexpr uint64_t kStableItemsForcedMin = uint64_t{1} << 16;
constexpr uint64_t kStableItemsMax = uint64_t{stable_cell_items_mean(kStableCellBitsMax)} << kStableCellBitsMax;

// The map. Cells of uneven keys, of which a sample tells how many there are, need more room than even ones: two fifths
// and more are left, but where there are so many pairs that counters of so many cells do not fit a block.
constexpr uint32_t kStableMapBits = 12;
constexpr uint32_t kStableMapEntries = 1u << kStableMapBits;
constexpr uint32_t kStableMapShift = 32 - kStableMapBits;  // of the leading 32 bits of a key's range
constexpr uint32_t kStableMappedItems = 5500;
constexpr uint32_t kStableMappedCellsMax = 208 * kStableBinsMax;
constexpr uint32_t kStableUnevenSecondBits = 8;
static_assert(1u << kStableUnevenSecondBits == kStableBinsMax, "a bin of the first pass has as many cells");

// Splitters, for keys that neither equal cells nor the map serve (W. D. Frazer and A. C. McKellar, "Samplesort", 1970):
// those of the bins of the first pass are taken from one sorted sample, and those of the cells in a bin from a sample
// of the bin. A value that fills most of a bin or of a cell has one of its own, which is in order as it is. What the
// others hold is then near what they are meant to hold, whatever the data (docs/engine-notes/msd.md).
constexpr uint32_t kStableSplitItems = 4096;  // pairs that a cell is meant to have: few have more than a block finishes
constexpr uint32_t kStableSplitSamples = 32;  // sampled keys of a cell
constexpr uint32_t kStableSplitSampleMax = 8192;  // of a bin
constexpr uint32_t kStableBinSamples = 32;        // sampled keys of a bin; twice as many where cells are all in use
constexpr uint64_t kStableManyPairs = uint64_t{200} << 20;
constexpr uint32_t kStableSplitBinsMin = 64;  // that are meant
constexpr uint32_t kStableLargeItems =
    2 * kStableFinishItems;                       // pairs of a cell that one block with all of an SM sorts
constexpr uint32_t kStablePieceItems = 8192;      // of a run of equal keys, that a block writes at a time
constexpr uint32_t kStableChunkItems = 1u << 15;  // of a bin, that a block counts at a time
// The LSD sort takes less time for keys that differ in fewer bytes, or, where most of a sample are equal to others, in
// fewer than the second; dense keys count as what they and their making take. Of many pairs it may be a byte fewer.
// With 4 bytes beside each of few pairs it takes less time whatever the bytes. (H200, 2026-11-29, us by splitters and
// by passes: argsorts of f64 that are cents, seven passes, 16.8 million 1,195 and 951, 67 million 3,249 and 3,690; u64
// with 4 bytes, in clusters, 9 million 859 and 787, 12.6 million 950 and 1,055.)
constexpr uint32_t kStableSplitPasses = 8, kStableSplitPassesMany = 7;
constexpr uint64_t kStableManyItems = uint64_t{1} << 25;
constexpr uint32_t kStableEqualPasses = 5;
constexpr uint64_t kStableSplitItemsMin4 = uint64_t{12} << 20;
constexpr uint32_t kStableNoPasses = 9;  // more than keys have bytes
// Keys that lie in clusters of clusters, by the distances of a sample, crowd in most cells: the LSD sort takes less
// time unless all bytes differ and have much entropy, as within clusters that are smooth inside; of fewer pairs with 8
// bytes beside each always. (H200, 2026-11-29, us by splitters and by passes, u64 + u64, with the share that lies so
// and the bits of entropy: 16.8 million ANDs of two words, 0.11 and 44, 1,464 and 1,636, narrow clusters, 0.44 and 63,
// 1,266 and 1,664, ANDs of four, 0.33 and 12, 1,760 and 1,468, 98 letters and digits, 0.19 and 41, 1,528 and 1,396, 134
// million ANDs of four 10,280 and 10,804, 6.5 million ANDs of two 768 and 703, of four 904 and 650, shifts by random
// numbers of bits, 0.02 and 24, 558 and 680; argsorts, 16.8 million ANDs of two 1,330 and 1,273, packed fields, 0.18
// and 47, 1,498 and 1,208, addresses and ports, 0.34 and 47, 1,355 and 1,257, 60 million 3,459 and 4,227.)
constexpr uint32_t kStableCrowdedPasses = 8;
constexpr uint32_t kStableCrowdedShare = 6, kStableCrowdedShareFew = 16, kStableCrowdedShareForced = 3;
constexpr uint64_t kStableCrowdedItemsMin8 = uint64_t{1} << 23, kStableCrowdedItemsMany8 = uint64_t{1} << 26;
constexpr uint32_t kStableEntropy4 = 48, kStableEntropyMany4 = 44, kStableEntropy8 = 42;
constexpr uint32_t kStableAnyEntropy = 65;  // more than keys have
// Passes that making keys dense takes, and making them keys again where the caller wants them.
constexpr uint32_t kDensePasses = 1, kDensePassesBack = 2;

// Bits of a key that the map is of, at least: the leading ones that tell the cell.
constexpr uint32_t kStableRangeBitsMin = 32;

// Every cell takes so many.
constexpr uint32_t kStableCellItemsLeast =
    1u << (kStableCellBitsMin < kStableMapBits ? kStableCellBitsMin : kStableMapBits);

// Shared memory of the histogram's counters with the padding of their scan. Chips with less sort otherwise.
constexpr uint32_t kStableSharedBytesMin = (4u << kStableCellBitsMax) / 32 * 33 + 2048;

constexpr bool stable_applies(uint64_t n, uint32_t key_bytes, uint32_t value_bytes, bool forced) {
  return (key_bytes == 4 || key_bytes == 8) &&
         n >= (forced ? kStableItemsForcedMin : stable_items_min(key_bytes, value_bytes)) && n <= kStableItemsMax;
}

constexpr bool has_small_cells(const StablePlan &plan) { return plan.cell_items_max <= StableSmallShape::kPairs; }

// What follows from the number of cells, and from the most pairs that a block finishes.
constexpr void plan_stable_cells(StablePlan &plan, uint32_t pairs) {
  plan.first_bits = (plan.cell_bits + 1) / 2;
  plan.second_bits = plan.cell_bits - plan.first_bits;
  plan.place_bits = plan.cell_bits < kStablePlaceBits ? plan.cell_bits : kStablePlaceBits;
  plan.cell_items_max = pairs < 1u << plan.place_bits ? pairs : 1u << plan.place_bits;
}

// n within the bounds above.
constexpr StablePlan plan_stable(uint64_t n) {
  StablePlan plan = {};
  plan.cell_bits = kStableCellBitsMin;
  while (n > uint64_t{stable_cell_items_mean(plan.cell_bits)} << plan.cell_bits) ++plan.cell_bits;
  plan_stable_cells(plan, kStableFinishItems);
  return plan;
}

// Dynamic shared memory of the histogram: a counter a cell, and a 32nd more for the scan of its last block; or the map
// behind those of its cells.
constexpr uint32_t stable_counts_bytes(const StablePlan &plan) {
  const uint32_t even = (4u << plan.cell_bits) + (4u << plan.cell_bits) / 32;
  const uint32_t mapped = plan.mapped_cells != 0 ? 4 * (plan.mapped_cells + kStableMapEntries) : 0;
  return even > mapped ? even : mapped;
}
static_assert(kStableMappedCellsMax / 32 < kStableMapEntries, "the scan takes the map's place");

// About as many bins as cells in a bin. There may be twice as many: half of a bin's sampled keys or more make a bin,
// and so do the keys between two values that have one each.
constexpr void plan_stable_splitters(StablePlan &plan, uint64_t n, uint32_t value_bytes) {
  const uint64_t cells = n / kStableSplitItems + 1;
  uint32_t bins = kStableSplitBinsMin;
  while (bins < kStableBinsMax && uint64_t{bins} * bins < cells) bins *= 2;
  plan.split_bins = 2 * bins < kStableBinsMax ? 2 * bins : kStableBinsMax;
  plan.split_sample = kStableBinSamples * bins * (n > kStableManyPairs ? 2 : 1);
  // All digits but a few, for some values have one each.
  constexpr uint32_t kMeant = kStableBinsMax - kStableBinsMax / 32;
  plan.split_share = plan.split_sample / (bins < kMeant ? bins : kMeant);
  const uint64_t most = 2 * cells + plan.split_bins, all = uint64_t{plan.split_bins} * kStableBinsMax;
  plan.split_cells = static_cast<uint32_t>(most < all ? most : all);
  plan.dense_passes = kStableNoPasses;
  // Tests that force the method have few pairs, and want all of its ways.
  if (n < stable_items_min(8, value_bytes)) {
    plan.split_passes = kStableSplitPassesMany;
    plan.crowded_share = kStableCrowdedShareForced;
    return;
  }
  const bool many = n >= kStableManyItems;
  plan.split_passes = many ? kStableSplitPassesMany : kStableSplitPasses;
  plan.crowded_share = kStableCrowdedShare;
  if (value_bytes == 4) {
    if (n < kStableSplitItemsMin4) plan.split_passes = kStableNoPasses;
    plan.crowded_entropy = many ? kStableEntropyMany4 : kStableEntropy4;
  } else if (n < kStableCrowdedItemsMin8) {
    plan.crowded_share = kStableCrowdedShareFew, plan.crowded_entropy = kStableAnyEntropy;
  } else if (n < kStableCrowdedItemsMany8) {
    plan.crowded_entropy = kStableEntropy8;
  }
}

// Keys of 8 bytes have a map: it saves five passes of eight. For those of 4 bytes it was tried and dropped (H100,
// 2026-11-25: argsorts of smooth floats of 2^26 1.85 ms in place of 2.08, of 2^28 7.8 to 9.1 in place of 7.9, and
// kernels that find nothing to do take 2% of everything else).
constexpr bool stable_offers_map(uint32_t key_bytes) { return key_bytes == 8; }

// The plan for a device whose blocks have so much shared memory. With less than Hopper's not every count would fit, and
// two blocks of a pass with the map would not.
constexpr uint32_t kStableMapSharedBytesMin = 4 * (kStableMappedCellsMax + kStableMapEntries) + 2048;
constexpr StablePlan plan_stable_on(uint64_t n, uint32_t key_bytes, uint32_t value_bytes, uint32_t shared_bytes) {
  StablePlan plan = plan_stable(n);
  // As many smaller cells, where they hold the pairs.
  if (key_bytes == 4 && n <= uint64_t{kStableSmallMean} << plan.cell_bits)
    plan_stable_cells(plan, StableSmallShape::kPairs);
  if (shared_bytes < kStableMapSharedBytesMin || !stable_offers_map(key_bytes)) return plan;
  // Entries have one cell more than their keys fill; a fifth is for those that are uneven inside.
  constexpr uint64_t kShares = (kStableMappedCellsMax - kStableMapEntries) * uint64_t{5} / 6;
  const uint64_t least = (n + kShares - 1) / kShares;
  plan.mapped_items = least > kStableMappedItems ? static_cast<uint32_t>(least) : kStableMappedItems;
  const uint64_t shares = n / plan.mapped_items, cells = kStableMapEntries + shares + shares / 5 + kStableBinsMax - 1;
  plan.mapped_cells = static_cast<uint32_t>(cells / kStableBinsMax * kStableBinsMax);
  plan_stable_splitters(plan, n, value_bytes);
  return plan;
}
static_assert(plan_stable_on(kStableItemsMax, 8, 8, kStableMapSharedBytesMin).mapped_cells <= kStableMappedCellsMax,
              "");
static_assert(kStableMapSharedBytesMin <= 227u << 10, "a block of Hopper has 227 KB");
static_assert(plan_stable(kStableItemsMax).cell_bits == kStableCellBitsMax, "");
static_assert(1u << plan_stable(kStableItemsMax).first_bits == kStableBinsMax, "");
static_assert(plan_stable(kStableItemsMax).second_bits <= 8 && plan_stable(1).cell_bits >= 8, "digits have 8 bits");

// Offsets of the tables in their slice of the workspace.
struct StableTables {
  uint64_t state, cells, first_tile, map, weights, ranges;
  uint64_t starts, bin_counts, cell_counts, first_chunk, counted_chunks, finished, large, pieces;  // of splitters
  uint64_t bytes;
};
constexpr uint64_t kStableStateBytes = 128;

// The map is made before it is known that splitters are wanted; its tables are left alone by them all the same.
constexpr StableTables stable_tables(const StablePlan &plan, uint64_t n) {
  const uint64_t even = uint64_t{1} << plan.cell_bits, split = uint64_t{plan.split_bins} * kStableBinsMax;
  uint64_t cells = even > plan.mapped_cells ? even : plan.mapped_cells;
  cells = cells > split ? cells : split;
  const bool mapped = plan.mapped_cells != 0, by_splitters = plan.split_bins != 0;
  StableTables tables{};
  uint64_t at = kStableStateBytes;
  const auto take = [&at](uint64_t bytes) {
    const uint64_t begin = at;
    at += (bytes + 15) / 16 * 16;
    return begin;
  };
  tables.cells = take((cells + 4) * 4);
  tables.first_tile = take((kStableBinsMax + 4) * 4);
  tables.map = take(mapped ? kStableMapEntries * 4 : 0);
  tables.weights = take(mapped ? kMapWeights * 4 : 0);
  tables.ranges = take(uint64_t{plan.mapped_cells} * 8);
  tables.starts = take(by_splitters ? (uint64_t{kStableBinsMax} * kStableBinsMax + 1) * 8 : 0);
  tables.bin_counts = take(by_splitters ? kStableBinsMax * 4 : 0);
  tables.cell_counts = take(split * 4);
  tables.first_chunk = take(by_splitters ? (kStableBinsMax + 1) * 4 : 0);
  tables.counted_chunks = take(by_splitters ? kStableBinsMax * 4 : 0);
  tables.finished = take(uint64_t{plan.split_cells} * 4);
  tables.large = take(by_splitters ? (n / kStableFinishItems + 1) * 4 : 0);
  tables.pieces = take(by_splitters ? (n / kStablePieceItems + split + 1) * 8 : 0);
  tables.bytes = at;
  return tables;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_PLAN_H_
