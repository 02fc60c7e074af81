// SPDX-License-Identifier: MIT OR Apache-2.0
// Vector kernels that sort few records by comparing each key with all others: quadratic, but no comparison waits for
// another one, and equal keys are told apart by their places at no cost.
#ifndef GSORT_CPU_VECTOR_RANK_H_
#define GSORT_CPU_VECTOR_RANK_H_

#include <cstdint>

#include "core/key_bits.h"

namespace gsort_internal {

constexpr uint32_t kRankItemsMax = 32;

template <class K>
struct RankKernels {
  // Writes to ranks[i] how many of the n keys come before keys[i] in the stable order. There is room for kRankItemsMax
  // ranks, of which those behind the first n may be written. 0 < n <= items_max.
  void (*ranks)(const KeyCodec<K> &codec, const K *keys, uint32_t n, K *ranks);
  uint32_t items_max;  // up to kRankItemsMax: of more keys, a sort of words is quicker
};

// NULL if there are no vectors.
const RankKernels<uint32_t> *rank_kernels(uint32_t);
const RankKernels<uint64_t> *rank_kernels(uint64_t);

}  // namespace gsort_internal

#endif  // GSORT_CPU_VECTOR_RANK_H_
