// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact sums of floats, a block at a time.
#ifndef GSORT_CPU_EXACT_SUM_H_
#define GSORT_CPU_EXACT_SUM_H_

#include <cstdint>

#include "core/request.h"
#include "core/superaccumulator.h"
#include "cpu/context.h"

namespace gsort_internal {

// Sums of mantissas, one for each exponent: what elements of any exponents are added to at the same speed (Neal, Fast
// exact summation using small and large superaccumulators, 2015). Not cleared before the first element comes.
class ExponentSums {
 public:
  void reset() { used_ = false; }
  void add(const double *x, uint32_t count);  // finite; 2^31 elements between two resets
  void move_to(Superaccumulator &sum);        // and reset

 private:
  static constexpr uint32_t kExponents = 2047;
  struct Parts {
    int64_t low, high;  // of 32 bits of each mantissa, and of the rest
  };
  Parts sums_[kExponents];
  bool used_;
};

// A thread's memory for sums.
struct SumScratch {
  Superaccumulator sum;
  ExponentSums by_exponent;

  void clear() {
    sum.clear();
    by_exponent.reset();
  }
};

// Adds elements begin to end - 1 of an array of the float type `t` to `scratch.sum`, whose count is not kept and whose
// flags tell of NaNs and infinities alone: whether all elements are -0 is all_minus_zero()'s to say, if it matters.
void add_floats(gsort_dtype t, const void *in, Range range, SumScratch &scratch);

// Whether all of the n elements of a float type are -0.
bool all_minus_zero(gsort_dtype t, const void *in, uint64_t n);

// GSORT_MEAN of gsort_reduce().
void cpu_mean(Context &context, const Request &request);

}  // namespace gsort_internal

#endif  // GSORT_CPU_EXACT_SUM_H_
