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

// The same for an index known at run time, without putting the words into memory.
template <class Bits>
__device__ __forceinline__ Bits element_selected(const uint32_t (&words)[kTileWords], uint32_t i) {
  constexpr uint32_t kPerWord = sizeof(Bits) == 2 ? 2 : 1, kWordsEach = sizeof(Bits) == 8 ? 2 : 1;
  uint32_t low = 0, high = 0;
#pragma unroll
  for (uint32_t j = 0; j < kTileWords; j += kWordsEach) {
    // Masks instead of choices: of these the compiler would make an array in local memory.
    const uint32_t here = i / kPerWord * kWordsEach == j ? 0xffffffffu : 0;
    low |= words[j] & here;
    high |= words[j + kWordsEach - 1] & here;
  }
  if constexpr (sizeof(Bits) == 8) return low | static_cast<uint64_t>(high) << 32;
  if constexpr (sizeof(Bits) == 4) return low;
  return static_cast<Bits>(i % 2 == 0 ? low & 0xffff : low >> 16);
}

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_WORDS_CUH_
