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
};

constexpr uint32_t kStableFinishItems = 9216;  // pairs that a block finishes
constexpr uint32_t kStablePlaceBits = 14;
static_assert(kStableFinishItems <= 1u << kStablePlaceBits, "a place has this many bits");

// Longest run of equal digits in a cell that is put in order by looks at neighbours. Beyond, the cell is sorted by a
// network: slower, and bounded.
constexpr uint32_t kStableNeighboursMax = 48;

// How a block holds a cell. Two blocks an SM, with 32 registers a thread for 4-byte keys and 64 for 8-byte ones.
template <uint32_t KeyBytes>
struct StableFinishShape {
  static constexpr uint32_t kThreads = KeyBytes == 8 ? 512 : 1024;
  static constexpr uint32_t kItems = kStableFinishItems / kThreads;
  static_assert(kItems * kThreads == kStableFinishItems, "rows are whole");
};

constexpr uint32_t kStableBinsMax = 256;                  // of one partition pass
constexpr uint32_t kStableCellBitsMin = 12;               // fewer cells leave too few bits for places
constexpr uint32_t kStableCellBitsMax = 15;               // 128 KB of counters in the histogram
constexpr uint32_t kStableCountThreads = kSampleThreads;  // of the sample and the histogram
constexpr uint32_t kStableCountItems = 8;                 // loads in flight a thread

constexpr uint32_t stable_cell_items_max(uint32_t cell_bits) {
  return kStableFinishItems < 1u << cell_bits ? kStableFinishItems : 1u << cell_bits;
}

// A mean that leaves 6 standard deviations to the fullest cell.
constexpr uint32_t stable_cell_items_mean(uint32_t cell_bits) {
  return cell_bits >= 14 ? 8640 : cell_bits == 13 ? 7660 : 3720;
}

// Below, the launches and the fixed work of each cell cost about what the passes saved do: 2^24 pairs of 4 + 4 bytes
// take 0.498 ms and 0.505 ms by LSD passes alone (H200, 2026-11-21). 8-byte keys save five passes of eight.
constexpr uint64_t stable_items_min(uint32_t key_bytes) { return uint64_t{1} << (key_bytes == 8 ? 23 : 24); }
// Tests may force the method down to here: the sample's parts must hold a group.
constexpr uint64_t kStableItemsForcedMin = uint64_t{1} << 16;
constexpr uint64_t kStableItemsMax = uint64_t{stable_cell_items_mean(kStableCellBitsMax)} << kStableCellBitsMax;

// Shared memory of the histogram's counters with the padding of their scan. Chips with less sort otherwise.
constexpr uint32_t kStableSharedBytesMin = (4u << kStableCellBitsMax) / 32 * 33 + 2048;

constexpr bool stable_applies(uint64_t n, uint32_t key_bytes, bool forced) {
  return (key_bytes == 4 || key_bytes == 8) && n >= (forced ? kStableItemsForcedMin : stable_items_min(key_bytes)) &&
         n <= kStableItemsMax;
}

// n within the bounds above.
constexpr StablePlan plan_stable(uint64_t n) {
  StablePlan plan = {kStableCellBitsMin, 0, 0, 0, 0};
  while (n > uint64_t{stable_cell_items_mean(plan.cell_bits)} << plan.cell_bits) ++plan.cell_bits;
  plan.first_bits = (plan.cell_bits + 1) / 2;
  plan.second_bits = plan.cell_bits - plan.first_bits;
  plan.place_bits = plan.cell_bits < kStablePlaceBits ? plan.cell_bits : kStablePlaceBits;
  plan.cell_items_max = stable_cell_items_max(plan.cell_bits);
  return plan;
}
static_assert(plan_stable(kStableItemsMax).cell_bits == kStableCellBitsMax, "");
static_assert(1u << plan_stable(kStableItemsMax).first_bits == kStableBinsMax, "");
static_assert(plan_stable(kStableItemsMax).second_bits <= 8 && plan_stable(1).cell_bits >= 8, "digits have 8 bits");

// Offsets of the tables in their slice of the workspace.
struct StableTables {
  uint64_t state, cells, first_tile, bytes;
};
constexpr uint64_t kStableStateBytes = 64;

constexpr StableTables stable_tables(const StablePlan &plan) {
  StableTables tables = {0, kStableStateBytes, 0, 0};
  tables.first_tile = tables.cells + ((uint64_t{1} << plan.cell_bits) + 4) * 4;
  tables.bytes = tables.first_tile + ((uint64_t{1} << plan.first_bits) + 4) * 4;
  return tables;
}

// Dynamic shared memory of the histogram: a counter a cell, and a 32nd more for the scan of its last block.
constexpr uint32_t stable_counts_bytes(const StablePlan &plan) {
  return (4u << plan.cell_bits) + (4u << plan.cell_bits) / 32;
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_STABLE_PLAN_H_
