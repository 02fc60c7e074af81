// SPDX-License-Identifier: MIT OR Apache-2.0
// Plan of the sample sort of keys alone by all blocks of a device: splitters of a sorted sample cut the keys into bins
// (W. D. Frazer and A. C. McKellar, "Samplesort: a sampling approach to minimal storage tree sorting", 1970), which are
// counted and put together to cells, every key is moved to its cell, and a block sorts each cell on chip. A value that
// many keys have is counted and written. Read by host and device.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_PLAN_H_
#define GSORT_CUDA_SORT_SAMPLE_SORT_PLAN_H_

#include <cstdint>

#include "cuda/sort/msd/plan.h"
#include "cuda/sort/msd/split_plan.h"

namespace gsort_internal::sort::sample_sort {

constexpr uint32_t kBinBits = 10;
constexpr uint32_t kBins = 1u << kBinBits;
constexpr uint32_t kSample = 4 * kBins;  // keys

// A block sorts so many keys on chip. Cells have the bins that end in one of equal parts of the output, which have up
// to kCellKeysMean keys each: a cell has a part of a bin more.
constexpr uint32_t kCellKeysMax = 8192;
constexpr uint32_t kCellKeysMean = 6000;
constexpr uint32_t kPartsMax = 880;
// A block that moves keys has counters for so many cells. Of v bins of one value each there are at most kPartsMax + v
// cells, and at most kBins - v, but where large cells are cut between their bins.
constexpr uint32_t kCellsMax = msd::kSplitCellsMax;
static_assert((kPartsMax + kBins) / 2 <= kCellsMax, "cells that are not cut have counters");

// Sampled keys whose distances to their neighbours differ much, up to which cells are sorted by digits; above, radix
// passes, of which 4-byte keys have fewer, are quicker (H100, 2026-11-27). Smooth densities have at most 173.
template <class U>
constexpr uint32_t kDifferingMax = sizeof(U) == 4 ? 200 : 256;
// Such as equal the one before, up to which it does not matter where values lie; and of how many distances would differ
// if all were unequal and lay anywhere (127 of 4,096), a tenth less.
constexpr uint32_t kRepeatedMax = 256;
constexpr uint32_t kRandomDiffering = 114;

constexpr uint32_t kFillKeys = 1u << 14;  // of one value, that a block writes at a time

// Keys that a block of a grid keeps between counting and moving, where a cooperative launch holds all: 128 KB.
constexpr uint32_t kShareBlocksMax = 128;
constexpr uint32_t share_rows(uint32_t key_bytes) { return 128 / key_bytes; }  // of 1,024 keys
constexpr uint64_t share_items_max(uint32_t key_bytes) {
  return uint64_t{kShareBlocksMax} * share_rows(key_bytes) << 10;
}
constexpr uint32_t kShareSharedBytes = 227 * 1024;

constexpr uint64_t kItemsMax = uint64_t{msd::kCellKeysMean} << msd::kPassBitsMax;  // 4.4 million
static_assert(msd::has_one_pass(kItemsMax) && !msd::has_one_pass(kItemsMax + 1), "even keys take one pass before it");
// Fewer 8-byte keys are sorted by a grid's sample sort, fewer 4-byte keys by a grid's radix sort. Of 4-byte keys, which
// a radix sort has moved four times, this sort gains nothing but where it holds them.
constexpr uint64_t items_min(uint32_t key_bytes) { return (uint64_t{1} << (key_bytes == 8 ? 19 : 21)) + 1; }
constexpr uint64_t items_max(uint32_t key_bytes) { return key_bytes == 8 ? kItemsMax : share_items_max(4); }
constexpr bool applies(uint64_t n, uint32_t key_bytes) {
  return (key_bytes == 4 || key_bytes == 8) && n >= items_min(key_bytes) && n <= items_max(key_bytes);
}

// Of one block's share, a whole number of rows; 0: keys are not held.
struct Plan {
  uint32_t share_items;
};
constexpr Plan make_plan(uint64_t n, uint32_t key_bytes) {
  if (n > share_items_max(key_bytes)) return {0};
  return {static_cast<uint32_t>((n + kShareBlocksMax * 1024 - 1) / (kShareBlocksMax * 1024)) << 10};
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_PLAN_H_
