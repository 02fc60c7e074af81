// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector kernels that sort few keys of 2 bytes alone, in registers.
#ifndef GSORT_CPU_VECTOR_SHORT_SORT_H_
#define GSORT_CPU_VECTOR_SHORT_SORT_H_

#include <cstdint>

namespace gsort_internal {

// Fewer are sorted as soon as words of 4 bytes; of more no target has a kernel.
constexpr uint32_t kShortSortItemsMin = 17, kShortSortItemsMax = 512;

struct ShortSortKernels {
  // Sorts n keys, kShortSortItemsMin to items_max, by an order's number (vector/sort.h); `in` may be `out`, and
  // overlaps it in no other way.
  void (*sort)(uint32_t order, const uint16_t *in, uint16_t *out, uint32_t n);
  uint32_t items_max;  // 0 where the target has no such kernel
};

// NULL if there are no vectors.
const ShortSortKernels *short_sort_kernels();

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_SHORT_SORT_H_
