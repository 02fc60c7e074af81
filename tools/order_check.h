// SPDX-License-Identifier: MIT OR Apache-2.0
// Where elements leave the library's order, looked for at about the speed of memory.
#ifndef GSORT_TOOLS_ORDER_CHECK_H_
#define GSORT_TOOLS_ORDER_CHECK_H_

#include <stdbool.h>

#include "types.h"

// The first i for which after[i] must not come after before[i] in the order that `flags` name (order.h), nor, if
// `unique`, be equal to it; `count` if there is none. Both are aligned to the element size and may overlap.
uint64_t order_first_wrong(const type_info *type, uint32_t flags, bool unique, const void *before, const void *after,
                           uint64_t count);

#endif  // GSORT_TOOLS_ORDER_CHECK_H_
