// SPDX-License-Identifier: MIT OR Apache-2.0
// The order of elements, written from the text of gsort.h: one number an element, compared as numbers.
#ifndef GSORT_TESTS_REFERENCE_ORDER_H_
#define GSORT_TESTS_REFERENCE_ORDER_H_

#include "support/element.h"

namespace gsort_test {

__extension__ typedef __int128 Int128;

bool is_nan(gsort_dtype t, uint64_t bits);
bool is_infinity(gsort_dtype t, uint64_t bits);

// Elements compare as these numbers do, the lesser first. Knows GSORT_DESCENDING and GSORT_NAN_LAST.
Int128 order_number(gsort_dtype t, uint64_t bits, uint32_t flags);

// The element that comes last in the order, over all elements that the type has.
uint64_t last_element(gsort_dtype t, uint32_t flags);

}  // namespace gsort_test

#endif  // GSORT_TESTS_REFERENCE_ORDER_H_
