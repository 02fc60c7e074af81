// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact sums of floats, a block at a time.
#ifndef GSORT_CPU_EXACT_SUM_H_
#define GSORT_CPU_EXACT_SUM_H_

#include <cstdint>

#include "core/request.h"
#include "core/superaccumulator.h"
#include "cpu/context.h"

namespace gsort_internal {

// Adds elements begin to end - 1 of an array of the float type `t` to `sum`, whose count is not kept and whose flags
// tell of NaNs and infinities alone: whether all elements are -0 is all_minus_zero()'s to say, if it matters.
void add_floats(gsort_dtype t, const void *in, Range range, Superaccumulator &sum);

// Whether all of the n elements of a float type are -0.
bool all_minus_zero(gsort_dtype t, const void *in, uint64_t n);

// GSORT_MEAN of gsort_reduce().
void cpu_mean(Context &context, const Request &request);

}  // namespace gsort_internal

#endif  // GSORT_CPU_EXACT_SUM_H_
