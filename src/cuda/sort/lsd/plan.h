// SPDX-License-Identifier: MIT OR Apache-2.0
// The tuning numbers of the LSD radix sort, read by host and device, and what is planned of one.
#ifndef GSORT_CUDA_SORT_LSD_PLAN_H_
#define GSORT_CUDA_SORT_LSD_PLAN_H_

#include <cstdint>

#include "cuda/primitive/tile_shape.h"

namespace gsort_internal::sort::lsd {

// Tiles of a radix pass by the wider of key and value, in bytes.
//
// Large: long runs, so few lines of memory per store. 64 registers, which two blocks an SM leave each thread, hold 24
// items of 4 bytes or 14 of 8 and their places almost without spilling. H200, 2^28 keys of 4 bytes: 24 rows 4.68 ms, 22
// rows 4.83, 20 rows 5.07; three blocks of fewer registers spill and are slower (2026-11-21).
// Small: short inputs are spread over more SMs, and SMs of sm_75 take no large tile of 8-byte items.
template <uint32_t WideBytes>
using LargeTile = TileShape<512, WideBytes == 8 ? 14 : 24>;
template <uint32_t WideBytes>
using SmallTile = TileShape<512, 8>;
// Middle: keys of 4 bytes alone, where they leave less of the last round of blocks idle.
using MiddleTile = TileShape<512, 20>;
constexpr uint32_t kLargeTileSharedBytes = 77 * 1024;
// Up to here more SMs outweigh longer runs: 2^18 pairs of 4 + 4 bytes take 0.0615 ms in small tiles and 0.0724 in large
// ones, 2^20 pairs 0.0882 and 0.0820 (H200, 2026-11-21).
constexpr uint64_t kSmallTilesItemsMax = 1u << 19;

constexpr uint32_t wide_bytes(uint32_t key_bytes, uint32_t value_bytes) {
  return key_bytes == 8 || value_bytes == 8 ? 8 : 4;
}
constexpr uint32_t large_tile_items(uint32_t wide) { return wide == 8 ? LargeTile<8>::kItems : LargeTile<4>::kItems; }

// A look-back word has 30 bits for a count; longer inputs are sorted in portions that carry the digits' ends along.
constexpr uint32_t kPortionItemsMax = 1u << 29;

// Tiles of keys alone look back by way of groups of so many, whose counts are added up as they come, up to so many:
// with a few waves of blocks, tiles that begin together have many before them that are counted and few that know their
// places. (H200, 2026-11-26: 3 million keys of 4 bytes 8% quicker, 2^22 4%, 2^24 and more as long.)
constexpr uint32_t kGroupTiles = 16;
constexpr uint64_t kGroupedItemsMax = uint64_t{1} << 24;

// The histogram has copies of its counters, so that lanes do not wait for each other: as many as fit half the shared
// memory of a large SM, or, for few keys, which are not worth the clearing, and on other SMs, as fit the 48 KB of any.
constexpr uint32_t histogram_copies_many(uint32_t key_bytes) { return key_bytes == 8 ? 16 : 32; }
constexpr uint32_t histogram_copies_few(uint32_t key_bytes) { return key_bytes == 8 ? 4 : 8; }
constexpr uint64_t kManyCopiesItemsMin = 1u << 22;
constexpr uint32_t histogram_counters_bytes(uint32_t key_bytes, uint32_t copies) {
  return digits_of(key_bytes) * kDigitBins * copies * 4;
}

constexpr uint32_t kPassActionBytes = 24;  // of the PassAction of a slot

// Keys of 8 bytes of which each byte has few values are sorted by dense keys (dense_codes.cuh), from so many on, keys
// alone and others: fewer are not worth two kernels more, which have nothing to do for most.
constexpr uint64_t kDenseItemsMinAlone = uint64_t{1} << 23, kDenseItemsMin = (uint64_t{1} << 22) + 1;
constexpr uint32_t kDenseCodesBytes = 4352;
// items_min: 0, or what a test asks for.
constexpr bool dense_applies(uint64_t n, uint32_t key_bytes, bool alone, uint64_t items_min) {
  const uint64_t least = alone ? kDenseItemsMinAlone : kDenseItemsMin;
  return key_bytes == 8 && n >= (items_min != 0 ? items_min : least);
}
// As many passes must be saved: dense keys are written once more than others, and where the caller wants the keys they
// are read and written once more. (H200, 2026-11-29, 16.8 million u64 of seven dense digits, us by dense keys and by
// all bytes: with u64 1,618 and 1,538, argsorts 1,239 and 1,208; of six 1,396 and 1,478, 1,039 and 1,159; alone 869 and
// 875, of five 754 and 864, of two 457 and 849.)
constexpr uint32_t kDensePassesMin = 2;

// One slot a digit, and for one-digit keys a second that can bring the result back where an input is its output.
constexpr uint32_t slots_of(uint32_t digits) { return digits < 2 ? 2 : digits; }

struct Plan {
  uint32_t digits;
  uint32_t slots;
  bool small_tiles;
  uint32_t tile_items;
  uint64_t portion_items;  // a multiple of tile_items
  uint64_t portions;
  uint32_t groups;  // of tiles, that look-back goes by; 0: it goes by tiles alone
  uint32_t histogram_copies;
};

constexpr uint64_t longest_portion(uint32_t tile_items) { return kPortionItemsMax / tile_items * tile_items; }

// `shared_bytes`: of a block of the device. `portion_tiles`: 0, or so many tiles make a portion.
constexpr Plan make_plan(uint64_t n, uint32_t key_bytes, uint32_t value_bytes, uint32_t shared_bytes,
                         uint32_t portion_tiles) {
  const uint32_t wide = wide_bytes(key_bytes, value_bytes);
  Plan plan = {};
  plan.digits = digits_of(key_bytes);
  plan.slots = slots_of(plan.digits);
  plan.small_tiles = n <= kSmallTilesItemsMax || (wide == 8 && shared_bytes < kLargeTileSharedBytes);
  plan.tile_items = plan.small_tiles ? SmallTile<4>::kItems : large_tile_items(wide);
  plan.portion_items =
      portion_tiles != 0 ? uint64_t{portion_tiles} * plan.tile_items : longest_portion(plan.tile_items);
  plan.portions = n / plan.portion_items + (n % plan.portion_items != 0 ? 1 : 0);
  const bool grouped = value_bytes == 0 && plan.portions == 1 && n <= kGroupedItemsMax;
  plan.groups =
      grouped ? static_cast<uint32_t>((n + plan.tile_items - 1) / plan.tile_items + kGroupTiles - 1) / kGroupTiles : 0;
  // 1 KB beside the counters is the kernel's own.
  const uint32_t many = histogram_copies_many(key_bytes);
  const bool fits = histogram_counters_bytes(key_bytes, many) + 1024 <= shared_bytes;
  plan.histogram_copies = fits && n >= kManyCopiesItemsMin ? many : histogram_copies_few(key_bytes);
  return plan;
}

// Up to so many keys of 4 bytes alone may lie in middle tiles.
constexpr uint64_t kMiddleTilesItemsMax = uint64_t{1} << 24;

// Rows of tiles that a multiprocessor sorts one after the other in a pass: two blocks at a time, all in step.
template <class Tile>
constexpr uint64_t rows_in_turn(uint64_t n, uint32_t multiprocessors) {
  const uint64_t round = uint64_t{2} * multiprocessors * Tile::kItems;
  return (n + round - 1) / round * Tile::kRows;
}

// The same sort of keys of 4 bytes alone by middle tiles, where these take fewer rows in turn. (H100, 2026-11-27: 4.6
// to 5 million keys 0.93 to 0.95 of the time; 5.9 million, which they would not fit, 1.03.)
constexpr Plan fit_tiles(Plan plan, uint64_t n, uint32_t multiprocessors) {
  if (plan.small_tiles || plan.portions != 1 || n > kMiddleTilesItemsMax) return plan;
  if (rows_in_turn<MiddleTile>(n, multiprocessors) >= rows_in_turn<LargeTile<4>>(n, multiprocessors)) return plan;
  plan.tile_items = MiddleTile::kItems;
  plan.portion_items = longest_portion(plan.tile_items);
  const uint64_t tiles = (n + MiddleTile::kItems - 1) / MiddleTile::kItems;
  if (plan.groups != 0) plan.groups = static_cast<uint32_t>((tiles + kGroupTiles - 1) / kGroupTiles);
  return plan;
}

// All passes in one cooperative launch, whose blocks are all on the device at once, each with a share on chip, by the
// wider of key and value. (H200, 2026-11-23: 2^20 keys of 4 bytes take 46 us whatever they are, of 8 bytes 97; passes
// of a launch each about 75 and 135.)
constexpr uint32_t kGridBlocksMax = 128;
constexpr uint32_t kGridThreads = 1024;
constexpr uint32_t kGridSharedBytes = 168 * 1024;
// Rows of a share at most. Keys of 4 bytes without values have kernels of their own for twice as many, which take
// longer with few (H200, 2026-11-26: 2^20 keys 53 us in place of 47).
constexpr uint32_t kGridRows = 8;
constexpr uint32_t kLongGridRows = 16;
constexpr uint32_t grid_rows_max(uint32_t key_bytes, bool alone) {
  return key_bytes == 4 && alone ? kLongGridRows : kGridRows;
}
constexpr uint64_t grid_items_max(uint32_t key_bytes, bool alone) {
  return uint64_t{kGridBlocksMax} * kGridThreads * grid_rows_max(key_bytes, alone);
}
// Counts of a group of blocks are added up as they come, for the rest to read.
constexpr uint32_t kGridGroups = 8;
constexpr uint32_t kGridGroupBlocks = kGridBlocksMax / kGridGroups;
constexpr uint32_t kGridGroupWords = kGridGroups * kDigitBins;  // of one round
constexpr uint32_t kGridRounds = 3;                             // one is read, one added to, one cleared

// Keys alone that spread evenly are moved once, by their leading bits, and cells of them finished on chip (the msd
// folder), if they would take more passes than this.
constexpr uint32_t kGridFewPasses = 2;
// Uneven keys that take more are left to another sort, where one comes behind.
constexpr uint32_t kGridSomePasses = 6;
// All blocks look at the same sample, a key a thread, so that they come to the same decision. Keys are marked by their
// leading bits below what they have in common; even ones meet a mark 128 times by chance, with a deviation of 11, keys
// in lumps more often (those of a normal distribution twice as often).
constexpr uint32_t kGridMarkBits = 12;
constexpr uint32_t kGridMeetingsMax = 196;

struct GridPlan {
  uint32_t blocks, rows;  // no blocks: not taken
};

constexpr bool grid_applies(uint64_t n, uint32_t key_bytes, bool alone) {
  return n != 0 && n <= grid_items_max(key_bytes, alone);
}
constexpr GridPlan plan_grid(uint64_t n) {
  constexpr uint64_t kRowItems = uint64_t{kGridBlocksMax} * kGridThreads;
  GridPlan plan = {0, static_cast<uint32_t>((n + kRowItems - 1) / kRowItems)};
  const uint32_t share = plan.rows * kGridThreads;
  plan.blocks = static_cast<uint32_t>((n + share - 1) / share);
  return plan;
}

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_PLAN_H_
