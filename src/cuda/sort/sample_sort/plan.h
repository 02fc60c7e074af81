// SPDX-License-Identifier: MIT OR Apache-2.0
// Plan of the sample sort of keys alone by all blocks of a device: splitters of a sorted sample cut the keys into bins
// (W. D. Frazer and A. C. McKellar, "Samplesort: a sampling approach to minimal storage tree sorting", 1970), which are
// counted and put together to cells, every key is moved to its cell, and a block sorts each cell on chip. A value that
// many keys have is counted and written. Read by host and device.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_PLAN_H_
#define GSORT_CUDA_SORT_SAMPLE_SORT_PLAN_H_

#include <cstdint>

#include "cuda/sort/msd/plan.h"

namespace gsort_internal::sort::sample_sort {

constexpr uint32_t kBinBits = 10;
constexpr uint32_t kBins = 1u << kBinBits;
constexpr uint32_t kSample = 4 * kBins;  // keys

// A block sorts so many keys on chip. Cells have the bins that end in one of equal parts of the output, which have up
// to kCellKeysMean keys each: a cell has a part of a bin more.
constexpr uint32_t kCellKeysMax = 8192;
constexpr uint32_t kCellKeysMean = 6000;
constexpr uint32_t kPartsMax = 880;

constexpr uint32_t kFillKeys = 1u << 14;  // of one value, that a block writes at a time

// Of 4-byte keys, which a radix sort has moved four times, this sort gains too little.
constexpr bool applies_to_keys(uint32_t key_bytes) { return key_bytes == 8; }
constexpr uint64_t kItemsMin = (uint64_t{1} << 19) + 1;
constexpr uint64_t kItemsMax = uint64_t{msd::kCellKeysMean} << msd::kPassBitsMax;  // 4.4 million
static_assert(msd::has_one_pass(kItemsMax) && !msd::has_one_pass(kItemsMax + 1), "even keys take one pass before it");
constexpr bool applies(uint64_t n, uint32_t key_bytes) {
  return applies_to_keys(key_bytes) && n >= kItemsMin && n <= kItemsMax;
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_PLAN_H_
