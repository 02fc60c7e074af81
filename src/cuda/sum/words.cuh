// SPDX-License-Identifier: MIT OR Apache-2.0
// A thread's part of a tile as words, from which accumulators take their elements.
#ifndef GSORT_CUDA_SUM_WORDS_CUH_
#define GSORT_CUDA_SUM_WORDS_CUH_

#include <cstdint>

#include "cuda/sum/plan.h"

namespace gsort_internal::sum {

constexpr uint32_t kTileWords = Tuning::kVectors * 4;  // of a thread

// Element `i`, known at compile time, of a thread's part of a tile.
template <class Bits>
__device__ __forceinline__ Bits element_at(const uint32_t (&words)[kTileWords], uint32_t i) {
  if constexpr (sizeof(Bits) == 8) return words[2 * i] | static_cast<uint64_t>(words[2 * i + 1]) << 32;
  if constexpr (sizeof(Bits) == 4) return words[i];
  return static_cast<Bits>(i % 2 == 0 ? words[i / 2] & 0xffff : words[i / 2] >> 16);
}

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_WORDS_CUH_
