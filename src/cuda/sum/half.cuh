// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact sums of binary16.
#ifndef GSORT_CUDA_SUM_HALF_CUH_
#define GSORT_CUDA_SUM_HALF_CUH_

#include <cstdint>

#include "cuda/primitive/ptx.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sum/counters.cuh"
#include "cuda/sum/plan.h"
#include "cuda/sum/words.cuh"

namespace gsort_internal::sum {

// Every binary16 is a multiple of 2^-24 below 2^16: a double adds 2^12 of them exactly, infinities and NaN propagate,
// and -0.0 remains only if all were -0.
class HalfSum : public CountersSum<Tuning::kThreads> {
 public:
  using Bits = uint16_t;
  static constexpr uint32_t kElements = kTileWords * 4 / sizeof(Bits);
  __device__ __forceinline__ explicit HalfSum(Shared &shared) : CountersSum(shared) {}

  __device__ __forceinline__ void look_at_first(const uint32_t (&)[kTileWords]) {}

  __device__ __forceinline__ void add_tile(const uint32_t (&words)[kTileWords]) {
    uint32_t most = 0;
#pragma unroll
    for (const uint32_t word : words) most = max(most, word & 0x7fffffffu);
    const bool finite = most < 0x7c000000u;  // the words' upper elements
#pragma unroll
    for (uint32_t i = 0; i < kElements; i += 2) {
      sum_[0] = __dadd_rn(sum_[0], value(element_at<Bits>(words, i)));
      if (finite) sum_[1] = __fma_rn(scaled_down(words[i / 2]), kScale, sum_[1]);
    }
    if (!finite) {
#pragma unroll
      for (uint32_t i = 1; i < kElements; i += 2) sum_[1] = __dadd_rn(sum_[1], value(element_at<Bits>(words, i)));
    }
    pending_ += kElements;
    if (pending_ == kPendingMax) end_chunk();
  }

  __device__ __forceinline__ void add_single(Bits x) {
    const double v = value(x);
    flags_ |= sum_flags(bits_of_double(v));
    if (is_finite(v)) counters_.add_finite(v);
  }

  __device__ __forceinline__ void finish() {
    empty();
    const int64_t sum = warp_sum(units_);
    if ((threadIdx.x & 31) == 0) counters_.add_signed(sum, kUnitPosition);
  }

 private:
  static constexpr uint32_t kPendingMax = 4096;         // per two doubles: 2^11 * 2^40 units each, exact
  static constexpr uint32_t kUnitPosition = 1074 - 24;  // of 2^-24

  __device__ static __forceinline__ double value(Bits b) { return float_of_half(b); }
  // A word's upper element becomes a double by moving bits, which leaves it 2^1008 times too small: the exponent's bias
  // is another. Multiplied by that within the addition it comes in exactly, as by a conversion, of which the multi-
  // processor does a quarter as many. Not for infinities and NaNs.
  static constexpr double kScale = 0x1p1008;
  __device__ static __forceinline__ double scaled_down(uint32_t word) {
    return __hiloint2double((static_cast<int32_t>(word) >> 6) & static_cast<int32_t>(0x81fffc00u), 0);
  }
  __device__ static __forceinline__ bool is_finite(double v) { return (bits_of_double(v) & kDoubleInf) != kDoubleInf; }

  // Up to 2^52 units a chunk: after 2^5 chunks, when end_chunk() hands them on, 32 lanes hold less than 2^63.
  __device__ __forceinline__ void empty() {
#pragma unroll
    for (uint32_t j = 0; j < 2; ++j) {
      flags_ |= sum_flags(bits_of_double(sum_[j]));
      if (is_finite(sum_[j])) units_ += __double2ll_rn(sum_[j] * 16777216.0);
      sum_[j] = -0.0;
    }
  }

  __device__ __forceinline__ void end_chunk() {
    pending_ = 0;
    empty();
    if (++chunks_ < 32) return;
    chunks_ = 0;
    finish();
    units_ = 0;
    counters_.normalise(threadIdx.x & 31);
  }

  double sum_[2] = {-0.0, -0.0};
  int64_t units_ = 0;
  uint32_t chunks_ = 0;
};

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_HALF_CUH_
