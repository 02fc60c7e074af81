// SPDX-License-Identifier: MIT OR Apache-2.0
// Running sums of floats in the order that docs/scan-order.md states, written plainly and level by level.
#ifndef GSORT_TESTS_REFERENCE_FLOAT_SCAN_H_
#define GSORT_TESTS_REFERENCE_FLOAT_SCAN_H_

#include "support/element.h"

namespace gsort_test {

Array reference_float_scan(const Array &in, uint32_t flags);

// The float of the type that is nearest to a double, ties to even; any NaN becomes the type's quiet NaN.
uint64_t round_to_type(gsort_dtype t, double value);

}  // namespace gsort_test

#endif  // GSORT_TESTS_REFERENCE_FLOAT_SCAN_H_
