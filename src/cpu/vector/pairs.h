// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector kernels that sort very few records of 4-byte keys and 4-byte values without leaving the registers.
#ifndef GSORT_CPU_VECTOR_PAIRS_H_
#define GSORT_CPU_VECTOR_PAIRS_H_

#include <cstdint>

namespace gsort_internal {

constexpr uint32_t kPairItemsMax = 32;

struct PairKernels {
  // Sorts n records stably by an order's number (vector/sort.h), 0 < n <= kPairItemsMax. Outputs may be their inputs.
  // NULL where the target has no such kernel.
  void (*sort)(uint32_t order, const uint32_t *keys, const uint32_t *values, uint32_t n, uint32_t *keys_out,
               uint32_t *values_out);
};

// NULL if there are no vectors.
const PairKernels *pair_kernels();

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_PAIRS_H_
