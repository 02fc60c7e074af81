// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector kernels that sort few records, whose values are as long as their keys, without leaving the registers.
#ifndef GSORT_CPU_VECTOR_PAIRS_H_
#define GSORT_CPU_VECTOR_PAIRS_H_

#include <cstdint>

namespace gsort_internal {

// So many 4-byte keys are sorted whatever they are; of more 8-byte keys no target has a kernel.
constexpr uint32_t kPairItemsMax = 32;
constexpr uint32_t kLongPairItemsMax = 64;

template <class K>
struct PairKernels {
  // Sorts n records stably by an order's number (vector/sort.h), 0 < n <= items_max, which is 0 where the target has no
  // such kernel. Outputs may be their inputs. False, and nothing is written, if the kernel does not serve these keys.
  bool (*sort)(uint32_t order, const K *keys, const K *values, uint32_t n, K *keys_out, K *values_out);
  uint32_t items_max;
};

// NULL if there are no vectors.
const PairKernels<uint32_t> *pair_kernels(uint32_t);
const PairKernels<uint64_t> *pair_kernels(uint64_t);

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_PAIRS_H_
