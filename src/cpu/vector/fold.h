// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector kernels for sums: of integers, and exact ones of blocks of floats, plain or folded without error into
// windows of bits.
#ifndef GSORT_CPU_VECTOR_FOLD_H_
#define GSORT_CPU_VECTOR_FOLD_H_

#include <cstdint>

namespace gsort_internal {

// Elements of a block, of which every accumulator takes no more than 2^kFoldLaneBits: the narrowest vectors have 4.
constexpr uint32_t kFoldItems = 1024;
constexpr int32_t kFoldItemBits = 10;
// Those of a group of blocks, which wide vectors fold at once.
constexpr uint32_t kFoldGroupItems = 4096;
constexpr int32_t kFoldGroupItemBits = 12;
constexpr uint32_t kFoldGrain = 64;  // blocks may be shorter, by whole grains: the widest vectors have as many
constexpr int32_t kFoldLaneBits = 8;
constexpr uint32_t kWindowsMax = 5;    // with more, sums by span (spans.h) are quicker
constexpr uint32_t kLaneSumsMax = 32;  // of each part, that a block leaves

// Bits of the greatest magnitude and of the least one but zero. Of doubles the lower halves may be missing, if there
// are other bits; those of NaNs count as they are. Without any but zeros the least is the greater one.
struct Magnitudes {
  uint64_t greatest, least;
};

// What the windows of a block hold, in units of their last bits, and the sum of what is below them.
struct Folded {
  int64_t units[kWindowsMax];
  double below;
};

// Of an element type, the array of which is passed by its address.
struct FoldKernels {
  Magnitudes (*magnitudes)(const void *x, uint32_t items);
  // Adds all elements to each lane's copy of the first window, what that rounds away to the second, and so on: numbers
  // so large that sums round to multiples of the same unit. What the last one rounds away is added plainly.
  void (*fold)(const void *x, uint32_t items, const double *windows, uint32_t count, Folded *folded);
  // Plain sums: in two parts, of doubles their leading and their trailing bits, which no addition rounds where elements
  // are near each other. A RoundingWatch tells whether one did.
  // Lane by lane, of whole grains; returns how many lanes there are.
  uint32_t (*lane_sums)(const void *x, uint32_t items, double *high, double *low);
  // Of any number of elements, to one sum of each part. False if some of them told that additions round.
  bool (*two_sums)(const void *x, uint32_t items, double *high, double *low);
  uint32_t items_max;  // of fold(), whole blocks
};

// The kernels' own numbers of types.
enum class FoldType : uint32_t { kHalf, kBFloat16, kFloat, kDouble };

// NULL if there are no vectors.
const FoldKernels *fold_kernels(FoldType type);

// Adds whole grains plainly, to one sum, on doubles as they are; there are vectors.
using PlainSum = double (*)(const double *x, uint32_t items);
PlainSum plain_sum_kernel();

// The sum of integers of 4 or 8 bytes, modulo 2^64. NULL if there are no vectors.
using IntegerSum = uint64_t (*)(const void *x, uint64_t items);
enum class IntegerType : uint32_t { kU32, kI32, k64 };
IntegerSum integer_sum_kernel(IntegerType type);

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_FOLD_H_
