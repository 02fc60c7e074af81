// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact sums of floats, a block at a time.
#ifndef GSORT_CPU_SUM_EXACT_SUM_H_
#define GSORT_CPU_SUM_EXACT_SUM_H_

#include <cstdint>

#include "core/request.h"
#include "core/superaccumulator.h"
#include "cpu/engine/context.h"
#include "cpu/sum/exponent_sums.h"
#include "cpu/vector/fold.h"

namespace gsort_internal {

// Two sums that no addition rounded, of one number together; or a sum that was rounded once, and what is left of it.
struct PlainSums {
  double high = 0, low = 0;

  // Adds those of other elements, if that is exact; spoiled if not.
  bool add(const PlainSums &other) { return add_exactly(high, other.high) && add_exactly(low, other.low); }
  // What they are together, or that divided by n, below 2^53, rounded once. False if that is not known, or the result
  // is infinite, a NaN or a zero, whose sign is not known.
  bool finish(uint64_t n, bool mean, double &result) const;

 private:
  static bool add_exactly(double &sum, double x);
};

// A thread's memory for sums: the elements are what it holds all together.
struct SumScratch {
  static constexpr uint32_t kLanes = 512;

  PlainSums plain;
  bool is_plain;  // the others are empty
  Superaccumulator sum;
  WideLimbs limbs;
  ExponentSums by_exponent;
  // Within add_floats():
  double block[kFoldItems];
  double high[kLanes + kFoldGrain], low[kLanes + kFoldGrain];  // plain sums of some lanes

  void clear() {
    plain = {};
    is_plain = true;
    limbs.reset();
    by_exponent.reset();
  }
  // What the limbs hold, to which gather() has brought everything, as a sum. Once.
  Superaccumulator &gathered() {
    sum.clear();
    limbs.move_to(sum);
    return sum;
  }
  // Everything into the limbs.
  void gather() {
    for (const double part : {plain.high, plain.low})
      if (part != 0) limbs.add(part);
    by_exponent.move_to(limbs);
    plain = {};
  }
};

// Adds elements begin to end - 1 of an array of the float type `t` to `scratch`. The count of its `sum` is not kept,
// and its flags tell of NaNs and infinities alone: whether all elements are -0 is all_minus_zero()'s to say, if it
// matters. `tries_plainly`: whether plain additions may be exact.
void add_floats(gsort_dtype t, const void *in, Range range, SumScratch &scratch, bool tries_plainly = true);

// The sum of a short array of a float type; false if additions had to round.
bool add_few_floats(gsort_dtype t, const void *in, uint64_t n, PlainSums &sums);
// The sum of a short array whose additions round, rounded once, and for a mean what is left of it; false of too many
// elements, infinities or NaNs, or a sum that is zero or near either end of what a double holds.
bool add_few_far_floats(gsort_dtype t, const void *in, uint64_t n, bool mean, PlainSums &sums);

// Whether all of the n elements of a float type are -0.
bool all_minus_zero(gsort_dtype t, const void *in, uint64_t n);

// GSORT_MEAN of gsort_reduce().
void cpu_mean(Context &context, const Request &request);

}  // namespace gsort_internal

#endif  // GSORT_CPU_SUM_EXACT_SUM_H_
