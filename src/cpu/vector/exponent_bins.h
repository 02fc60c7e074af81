// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector kernels for sums of floats of 4 bytes of any exponents: one that adds some elements to sums by exponent and
// the others to windows of bits, and one that reads the sums by exponent.
#ifndef GSORT_CPU_VECTOR_EXPONENT_BINS_H_
#define GSORT_CPU_VECTOR_EXPONENT_BINS_H_

#include <cstddef>
#include <cstdint>

#include "cpu/vector/fold.h"

namespace gsort_internal {

// A bin is an element's first 9 bits. It takes elements' bits as they are and 2^43 for each of them: its number times
// 2^23 and 2^43 are a number that the sum of the fractions is less than, so that a quotient tells how many there were.
constexpr uint32_t kBins = 1 << 9, kBinFractionBits = 23;
constexpr uint32_t kBinCopies = 4;  // whose sum counts
constexpr uint32_t kBinCopyWords =
    kBins + 8;  // not a multiple of 4 KiB: loads would seem to depend on stores to others
constexpr uint32_t kBinItemsMax = 1 << 19;
constexpr uint64_t kBinOne = uint64_t{1} << 43;
constexpr uint32_t kBinGroup = 32, kBinGroups = kBins / kBinGroup;

// Windows that take all floats of 4 bytes (see FoldKernels::fold()), and what is below them. Window w begins at the
// exponent kBinWindowFirst - w * kBinWindowBits. Of the greatest element and of as many of them as a lane takes, the
// first one keeps its exponent; what the last one rounds away, 2^-136 at most, is 2^19 times no more than 2^53 times
// the last bit of any float.
constexpr uint32_t kBinWindows = 6;
constexpr int32_t kBinWindowBits = 52 - kFoldLaneBits, kBinWindowFirst = 127 + kFoldLaneBits + 2;
struct BinWindows {
  int64_t units[kBinWindows];  // of their last bits
  double below;
};

// Adds up to kBinBlockItems elements, some to bins and some to windows, whose work is other parts' of a processor: bins
// wait for stores, windows for adders. Returns false if there are infinities or NaNs among the latter: windows then
// stay as they were.
constexpr uint32_t kBinBlockItems = 1 << 12;
using AddToBins = bool (*)(const float *x, uint32_t items, uint64_t *bins, BinWindows *windows);

// Reads all bins as those of numbers with a leading bit. Each bin's sum of mantissas is shifted by its number % 32, the
// lower 32 bits of it and the others apart, and words[2 * group] and words[2 * group + 1] are what the lower halves and
// the upper ones of a group add up to, which is less than 2^64.
using ReadBins = void (*)(const uint64_t *bins, uint64_t *words);

struct BinKernels {
  AddToBins add;  // NULL where vectors are narrow
  ReadBins read;
};
// NULL if there are no vectors.
const BinKernels *bin_kernels();

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_EXPONENT_BINS_H_
