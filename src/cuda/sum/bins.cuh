// SPDX-License-Identifier: MIT OR Apache-2.0
// Where elements of 8-bit exponents go that the registers' window does not cover.
#ifndef GSORT_CUDA_SUM_BINS_CUH_
#define GSORT_CUDA_SUM_BINS_CUH_

#include <cstdint>

#include "cuda/sum/plan.h"

namespace gsort_internal::sum {

// A thread's own exact sum of binary32 numbers in shared memory, without atomics: bin i counts units of
// 2^(32 * i - 149) in 64 bits. 2^8 additions of less than 2^55 each fit between two calls of carry().
struct FloatBins {
  static constexpr uint32_t kBins = 9;  // 254 exponents, 32 a bin, and one for the carries
  static constexpr uint32_t kPositionOfUnit = 1074 - 149;

  int64_t bin[kBins][Tuning::kThreads];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (uint32_t i = 0; i < kBins; ++i) bin[i][threadIdx.x] = 0;
  }

  // `word` holds the bits of a finite binary32.
  __device__ __forceinline__ void add(uint32_t word) {
    const uint32_t field = (word << 1) >> 24;
    const uint32_t position = field == 0 ? 0 : field - 1;
    const uint64_t magnitude = (word & 0x7fffff) | (field == 0 ? 0 : 1u << 23);
    const int64_t value = static_cast<int64_t>(magnitude << (position & 31));
    bin[position >> 5][threadIdx.x] += static_cast<int32_t>(word) < 0 ? -value : value;
  }

  // Leaves digits from 0 to 2^32 - 1 in all bins but the last.
  __device__ __forceinline__ void carry() {
#pragma unroll
    for (uint32_t i = 0; i + 1 < kBins; ++i) {
      const int64_t value = bin[i][threadIdx.x];
      bin[i][threadIdx.x] = value & 0xffffffff;
      bin[i + 1][threadIdx.x] += value >> 32;
    }
  }
};

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_BINS_CUH_
