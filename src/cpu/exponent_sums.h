// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact sums of floats of any exponents, element by element.
#ifndef GSORT_CPU_EXPONENT_SUMS_H_
#define GSORT_CPU_EXPONENT_SUMS_H_

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

 private:
  void begin();
  Int128 limb_[kSumLimbs];
  bool used_;
  uint32_t flags_;
};

// Sums of mantissas, one for each sign and exponent: what elements of any exponents, infinities and NaNs are added to
// at the same speed (Neal, Fast exact summation using small and large superaccumulators, 2015). Of doubles or of floats
// of 4 bytes between two resets. Not cleared before the first element comes.
class ExponentSums {
 public:
  void reset() { items_ = 0; }
  void add(const double *x, uint32_t count);
  void add(const float *x, uint32_t count);
  bool is_full() const { return items_ >= kItemsMax / 4; }  // 2^18 and a block more may come until it is moved
  uint32_t move_to(WideLimbs &limbs);                       // and reset; returns flags of infinities and NaNs

 private:
  static constexpr uint32_t kDoubleBins = 1 << 12, kFloatBins = 1 << 9;
  static constexpr uint32_t kFloatCopies = 4;     // by turns, so that elements of one exponent wait less for each other
  static constexpr uint32_t kItemsMax = 1 << 19;  // a copy's 2^17 fractions of 23 bits fill 40 bits
  uint32_t move_doubles(WideLimbs &limbs) const;
  uint32_t move_floats(WideLimbs &limbs) const;

  // A bin's fields are 40 bits of sums below 24 bits of counts; of doubles the words' upper halves, and their lower
  // halves in front of those.
  alignas(16) uint64_t sums_[2 * kDoubleBins];
  uint32_t items_;
  bool of_doubles_;
};

}  // namespace gsort_internal

#endif  // GSORT_CPU_EXPONENT_SUMS_H_
