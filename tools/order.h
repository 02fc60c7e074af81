// SPDX-License-Identifier: MIT OR Apache-2.0
// The library's order of elements as an order of unsigned integers.
#ifndef GSORT_TOOLS_ORDER_H_
#define GSORT_TOOLS_ORDER_H_

#include "types.h"

// An integer that ascends as the elements do in the order that GSORT_DESCENDING and GSORT_NAN_LAST in `flags` name;
// equal integers are equal bits.
uint64_t order_key(const type_info *type, uint32_t flags, const void *element);

// The element of a key that was made without flags.
void order_element(const type_info *type, uint64_t key, void *element);

#endif  // GSORT_TOOLS_ORDER_H_
