// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact sums of few floats that are far from each other.
#ifndef GSORT_CPU_SUM_LEADING_SUM_H_
#define GSORT_CPU_SUM_LEADING_SUM_H_

#include <cstdint>

#include "core/dtype.h"
#include "cpu/sum/exact_sum.h"
#include "cpu/vector/fold.h"

namespace gsort_internal {

constexpr uint64_t kLeadingSumItemsMax = 1 << 11;

// A sum of elements from their greatest magnitude down, so far that what is below hardly ever matters: one window of
// bits, or two, is folded without error, and the elements' parts below are added plainly. Those n parts are half a unit
// of the last window each at most, so that rounding in their additions makes a difference of n^2 units / 2^53 in all
// (Rump, Ogita, Oishi, Accurate floating-point summation, 2008). If the sum lies farther than that from where rounding
// changes, as it does unless numbers cancel out or bits far below decide, its double is known.
//
// Finds the sum of up to so many elements of the float type `t`, which the kernels fold, rounded once and, if it is
// divided for a mean, what is left of it, to 2^-40 of half a last place. False if that is not known.
bool find_leading_sum(const FoldKernels &kernels, gsort_dtype t, const void *in, uint64_t n, bool mean,
                      PlainSums &sums);

}  // namespace gsort_internal

#endif  // GSORT_CPU_SUM_LEADING_SUM_H_
