// SPDX-License-Identifier: MIT OR Apache-2.0
// A vector kernel that reads sums of floats of 4 bytes, one for each sign and exponent.
#ifndef GSORT_CPU_VECTOR_EXPONENT_BINS_H_
#define GSORT_CPU_VECTOR_EXPONENT_BINS_H_

#include <cstdint>

namespace gsort_internal {

// A bin is an element's first 9 bits. It takes elements' bits as they are and 2^43 for each of them: its number times
// 2^23 and 2^43 are a number that the sum of the fractions is less than, so that a division tells how many there were.
constexpr uint32_t kBins = 1 << 9;
constexpr uint32_t kBinCopies = 4;  // whose sum counts
constexpr uint32_t kBinCopyWords =
    kBins + 8;  // not a multiple of 4 KiB: loads would seem to depend on stores to others
constexpr uint32_t kBinItemsMax = 1 << 20;
constexpr uint64_t kBinOne = uint64_t{1} << 43;
constexpr uint32_t kBinGroup = 32, kBinGroups = kBins / kBinGroup;

// Reads all bins as those of numbers with a leading bit. Each bin's sum of mantissas is shifted by its number % 32, the
// lower 32 bits of it and the others apart, and words[2 * group] and words[2 * group + 1] are what the lower halves and
// the upper ones of a group add up to, which is less than 2^64.
using ReadBins = void (*)(const uint64_t *bins, uint64_t *words);
// NULL if there are no vectors.
ReadBins read_bins_kernel();

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_EXPONENT_BINS_H_
