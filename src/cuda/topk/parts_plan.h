// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows longer than the registers of a block: blocks do parts of them, and the best of a row's parts are merged.
#ifndef GSORT_CUDA_TOPK_PARTS_PLAN_H_
#define GSORT_CUDA_TOPK_PARTS_PLAN_H_

#include <cstdint>

#include "cuda/topk/shape.h"

namespace gsort_internal::topk {

// Elements of a part at most. (H200, 2026-11-29, us with parts of 2,048, 4,096 and 8,192: 24 f32 rows of 128,256, k =
// 64 25, 19, 18; 1,024 of 32,000 67, 62, 60; 32 of 1,048,576, k = 8 99, 96, 69; 200 of 16,500, k = 64 20, 17, 19; 48
// f64 rows of 128,256, k = 64 40, 35, 33.)
constexpr uint32_t kPartItems = 8192;
// Parts have whole ones of these, but for a row's last, so that a warp's loads begin where sectors of memory do if the
// row does.
constexpr uint32_t kPartUnit = 32;
// Most results: fewer than the shortest part has elements.
constexpr uint64_t kPartsKMax = 128;
static_assert(kPartItems % kPartUnit == 0 && kPartItems / 2 >= kPartsKMax + 2 * kPartUnit, "of a row of two parts");
// Longer rows are left to others, so that the merge of a row's parts stays short.
constexpr uint64_t kPartsRowMax = uint64_t{1} << 22;

// What the best of all parts take at most: no call is to fail for want of it.
constexpr uint64_t kPartsBytesMax = uint64_t{1} << 27;

// In how many parts a row is cut that has so many elements, more than one part's.
GSORT_HOST_DEVICE constexpr uint32_t parts_of_row(uint64_t items) {
  return static_cast<uint32_t>((items + kPartItems - 1) / kPartItems);
}
// Where part `part` of `parts` begins, and the one before it ends: the first ones have a unit more than the others.
GSORT_HOST_DEVICE constexpr uint32_t part_begin(uint64_t items, uint32_t parts, uint32_t part) {
  const uint32_t row = static_cast<uint32_t>(items), units = (row + kPartUnit - 1) / kPartUnit;
  const uint32_t longer = units % parts, begin = (units / parts * part + (part < longer ? part : longer)) * kPartUnit;
  return begin < row ? begin : row;
}
// Most parts that so many rows of n elements in all have.
constexpr uint64_t parts_max(uint64_t n, uint64_t rows) {
  const uint64_t whole = n / kPartItems;
  return whole + min_of(whole, rows);
}

// Of rows with offsets there is an entry for each part on one list: where it begins among all elements, and how many
// these are.
constexpr uint32_t kPartEntryBits = 14;
static_assert(kPartItems < 1u << kPartEntryBits, "its elements");
GSORT_HOST_DEVICE constexpr uint64_t part_entry(uint64_t begin, uint64_t items) {
  return begin << kPartEntryBits | items;
}
GSORT_HOST_DEVICE constexpr uint64_t part_entry_begin(uint64_t entry) { return entry >> kPartEntryBits; }
GSORT_HOST_DEVICE constexpr uint32_t part_entry_items(uint64_t entry) {
  return static_cast<uint32_t>(entry & ((1u << kPartEntryBits) - 1));
}
// And one for the row on another: its number and that of its first part on the list of parts.
constexpr uint64_t kSplitRowsMax = uint64_t{1} << 32;
GSORT_HOST_DEVICE constexpr uint64_t split_entry(uint64_t row, uint64_t first_part) { return first_part << 32 | row; }
GSORT_HOST_DEVICE constexpr uint64_t split_entry_row(uint64_t entry) { return entry & 0xffffffff; }
GSORT_HOST_DEVICE constexpr uint64_t split_entry_part(uint64_t entry) { return entry >> 32; }

// Warps that merge a row's parts: each has some, and then there are as many steps as their number has bits.
constexpr uint32_t kMergeWarpsMax = 32;
constexpr uint32_t merge_warps(uint64_t parts) {
  return static_cast<uint32_t>(power_up(min_of((parts + 1) / 2, kMergeWarpsMax)));
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_PARTS_PLAN_H_
