// SPDX-License-Identifier: MIT OR Apache-2.0
// A thread's own exact sum of floats of 8-bit exponents, for any data: a double in shared memory for every few
// exponents, to which elements are added without rounding, without a branch and without an atomic.
//
// With 2^b exponents a bin, elements of m + 1 significant bits are integers below 2^(m + 2^b) in units of the bin's
// smallest spacing, and sums of 2^kPendingBits of them below 2^53. Infinities and NaNs fall into the last bin, where
// the additions treat them as IEEE 754 does; what they cover there no longer matters.
#ifndef GSORT_CUDA_SUM_BINS_CUH_
#define GSORT_CUDA_SUM_BINS_CUH_

#include <cstdint>

#include "core/superaccumulator.h"
#include "cuda/primitive/warp.cuh"
#include "cuda/sum/counters.cuh"
#include "cuda/sum/plan.h"

namespace gsort_internal::sum {

// kMantissaBits: of the elements, without the leading 1.
template <uint32_t kMantissaBits>
struct FloatBins {
  static constexpr uint32_t kExponentBits = kMantissaBits > 16 ? 4 : 5;  // of a field, that share a bin
  static constexpr uint32_t kBins = 1u << (8 - kExponentBits);
  // Additions to a thread's bins between two calls of flush(), elements outside all tiles not counted.
  static constexpr uint32_t kPendingBits = 13, kPendingMax = (1u << kPendingBits) - 32;
  static_assert(kMantissaBits + (1u << kExponentBits) + kPendingBits <= 53, "doubles hold the sums exactly");

  double bin[kBins][Tuning::kThreads];

  // The empty sum is -0, so that sums of -0 alone stay -0.
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (uint32_t i = 0; i < kBins; ++i) bin[i][threadIdx.x] = -0.0;
  }

  // `word` holds the bits of a binary32.
  __device__ __forceinline__ void add(uint32_t word) {
    double &sum = bin[word >> (23 + kExponentBits) & (kBins - 1)][threadIdx.x];
    sum = __dadd_rn(sum, static_cast<double>(__uint_as_float(word)));
  }

  // Moves what the warp's threads hold to its counters; returns the lane's flags. The whole warp together.
  __device__ __forceinline__ uint32_t flush(Counters &counters) {
    uint32_t flags = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < kBins; ++i) {
      const double sum = bin[i][threadIdx.x];
      bin[i][threadIdx.x] = -0.0;
      add_to(counters, i, units_of(i, sum, flags));
    }
    return flags;
  }

  // The same of all of the block's threads, a few bins a warp. Barriers of the block stand before and behind.
  __device__ __forceinline__ uint32_t flush_block(Counters &counters) const {
    constexpr uint32_t kWarps = Tuning::kThreads / 32, kEach = kBins / kWarps;
    static_assert(kEach * kWarps == kBins, "as many for each warp");
    uint32_t flags = 0;
    int64_t units[kEach];
#pragma unroll
    for (uint32_t e = 0; e < kEach; ++e) {
      const uint32_t i = e * kWarps + threadIdx.x / 32;
      units[e] = 0;
#pragma unroll
      for (uint32_t w = 0; w < kWarps; ++w) units[e] += units_of(i, bin[i][w * 32 + lane_id()], flags);
    }
#pragma unroll
    for (uint32_t e = 0; e < kEach; ++e) add_to(counters, e * kWarps + threadIdx.x / 32, units[e]);
    return flags;
  }

 private:
  static constexpr uint32_t kSubnormalBits = 126 + kMantissaBits;  // subnormals are multiples of 2^-kSubnormalBits

  // The bin's unit, which is the spacing of its smallest exponent, is 2^(unit_of() - kSubnormalBits).
  __device__ static __forceinline__ uint32_t unit_of(uint32_t i) { return i == 0 ? 0 : (i << kExponentBits) - 1; }

  __device__ static __forceinline__ int64_t units_of(uint32_t i, double sum, uint32_t &flags) {
    const uint64_t bits = bits_of_double(sum);
    flags |= sum_flags(bits);
    if ((bits & kDoubleInf) == kDoubleInf) return 0;
    return __double2ll_rn(sum * double_of_bits(static_cast<uint64_t>(1023 + kSubnormalBits - unit_of(i)) << 52));
  }

  __device__ static __forceinline__ void add_to(Counters &counters, uint32_t i, int64_t units) {
    const int64_t sum = warp_sum(units);
    if (lane_id() == 0 && sum != 0) counters.add_signed(sum, 1074 - kSubnormalBits + unit_of(i));
  }
};

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_BINS_CUH_
