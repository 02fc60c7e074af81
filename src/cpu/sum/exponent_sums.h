// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact sums of floats of any exponents, element by element.
#ifndef GSORT_CPU_SUM_EXPONENT_SUMS_H_
#define GSORT_CPU_SUM_EXPONENT_SUMS_H_

#include <cstdint>

#include "core/superaccumulator.h"

namespace gsort_internal {

__extension__ typedef __int128 Int128;

// A Superaccumulator's limbs with room above each: an addition changes one of them, and none carries until all are
// read.
class WideLimbs {
 public:
  void reset() { used_ = false; }
  // Takes infinities and NaNs, too.
  void add(double x);
  // Adds value * 2^(position - 1074), as a part; of magnitude up to 2^104, to which sums of bins add up.
  void add_part(Int128 value, uint32_t position);
  void move_to(Superaccumulator &sum);  // and reset
  // The sum of n elements or their mean, rounded once, by a way that is shorter than that of a Superaccumulator, or
  // false: of zeros, infinities and NaNs, at either end of what a double holds, and of means of sums that none holds.
  bool finish(uint64_t n, bool mean, double &result) const;

 private:
  void begin();
  Int128 &limb_at(uint32_t position);

  Int128 limb_[kSumLimbs];
  uint32_t first_, last_;  // of the limbs that were added to
  bool used_;
  uint32_t flags_;
};

// Sums of mantissas, one for each sign and exponent: what elements of any exponents are added to at the same speed
// (Neal, Fast exact summation using small and large superaccumulators, 2015). Of one type between two resets. Not
// cleared before the first element comes. What has no such mantissa goes to the limbs: subnormal numbers, infinities
// and NaNs, and what a sum has above 64 bits.
class ExponentSums {
 public:
  static constexpr uint32_t kFewItems = 1 << 12;

  void reset() { kind_ = Kind::kNone; }
  void add(const double *x, uint32_t count, WideLimbs &limbs);
  void add(const float *x, uint32_t count);
  // The same to fewer sums, each of 32 exponents, which are sooner cleared and read; up to kFewItems between two
  // resets.
  void add_few(const double *x, uint32_t count, WideLimbs &limbs);
  // Whether there is no room for 2^18 elements and a block more.
  bool is_full() const { return kind_ == Kind::kFloats && items_ >= kFloatItemsMax / 2; }
  void move_to(WideLimbs &limbs);  // and reset

 private:
  enum class Kind : uint32_t { kNone, kDoubles, kFloats, kFewDoubles };
  static constexpr uint32_t kDoubleBins = 1 << 12, kFloatBins = 1 << 9, kFewBins = 1 << 7;
  static constexpr uint32_t kFloatCopies = 4;  // by turns, so that elements of one exponent wait less for each other
  static constexpr uint32_t kFloatItemsMax = 1 << 20;
  static_assert(kFloatCopies * kFloatBins <= kDoubleBins && 2 * kFewBins <= kDoubleBins, "room for all kinds");
  void begin(Kind kind, uint32_t words);
  void move_doubles(WideLimbs &limbs) const;
  void move_floats(WideLimbs &limbs) const;
  void move_few(WideLimbs &limbs) const;

  // Of doubles of mantissas; of floats of their bits as they are and of 2^43 for each: sign and exponent, which are a
  // bin's, and 2^43 are a number that the sum of the fractions is less than, so that a division tells how many there
  // were.
  alignas(64) uint64_t sums_[kDoubleBins];
  uint32_t items_;
  Kind kind_;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_SUM_EXPONENT_SUMS_H_
