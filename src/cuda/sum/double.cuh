// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact accumulation of binary64 numbers: a thread's part of a tile whose exponents lie in the window of its levels is
// added in registers, at the speed of reading; any other in the thread's ranges in shared memory.
#ifndef GSORT_CUDA_SUM_DOUBLE_CUH_
#define GSORT_CUDA_SUM_DOUBLE_CUH_

#include <cstdint>

#include "cuda/sum/counters.cuh"
#include "cuda/sum/levels.cuh"
#include "cuda/sum/ranges.cuh"
#include "cuda/sum/words.cuh"

namespace gsort_internal::sum {

extern __shared__ double range_levels[];

class DoubleSum : public CountersSum<DoubleTuning::kThreads> {
 public:
  using Bits = uint64_t;
  static constexpr uint32_t kWords = kTileWords, kElements = kWords / 2;
  __device__ __forceinline__ explicit DoubleSum(Shared &shared) : CountersSum(shared), ranges_{range_levels} {
    set_window(kBias);
  }

  // The whole warp together, before the first tile: puts the window around the greatest exponent of these elements.
  __device__ __forceinline__ void look_at_first(const uint32_t (&words)[kWords]) {
    uint32_t field = 0;
#pragma unroll
    for (uint32_t i = 1; i < kWords; i += 2) {
      const uint32_t f = words[i] >> 20 & kFieldMax;
      if (f != kFieldMax) field = max(field, f);
    }
    field = warp_greatest(field);
    if (field != 0) set_window(static_cast<int32_t>(field));
  }

  // Elements of one tile; the whole warp together.
  __device__ __forceinline__ void add_tile(const uint32_t (&words)[kWords]) {
    uint32_t most = 0, least = UINT32_MAX;
#pragma unroll
    for (uint32_t i = 1; i < kWords; i += 2) {
      most = max(most, words[i] << 1);
      least = min(least, words[i] << 1);
    }
    bool in_window = most < low_ + (static_cast<uint32_t>(kSpan) << 21);
    if (least >= low_)
      flags_ |= kSumNotMinus0;
    else
      in_window = in_window && others_reach(words);
    if (in_window) {
#pragma unroll
      for (uint32_t i = 0; i < kWords; i += 2) levels_.add(value_at(words, i));
    } else {
      add_to_ranges(words, most >= kInfinity);
    }
    pending_ += kElements;
    if (pending_ == 1u << kChunkBits) end_chunk();
  }

  // An element outside all tiles. At most one a thread.
  __device__ __forceinline__ void add_single(Bits x) {
    flags_ |= sum_flags(x);
    if ((x & kDoubleInf) != kDoubleInf) counters_.add_finite(double_of_bits(x));
  }

  // Every thread calls it; a barrier stands between it and block_limb().
  __device__ __forceinline__ void finish() {
    levels_.empty();
    levels_.flush(counters_);
    if (!__syncthreads_or(ranges_used_)) return;
    if (!ranges_used_)
      ranges_.clear();
    else
      ranges_.carry();
    __syncthreads();
    ranges_.flush_block(counters_);
  }

 private:
  static constexpr int32_t kLevels = 4, kMantissaBits = 52, kBias = 1023, kMarginAbove = 24;
  static constexpr uint32_t kFieldMax = 2047;
  // A value of exponent E has its last bit at E - mantissa and is below 2^(E + 1): this many exponents fit.
  static constexpr int32_t kSpan = kLevels * kLevelBits - kMantissaBits;
  // The last level's unit is 2^(position - 1074); this is the position for a window that began at exponent field 0.
  static constexpr int32_t kPositionBase = 1074 - kBias - kMantissaBits;
  // The first level's binade, unit exponent + 52, must be one that double has.
  static constexpr int32_t kLowFieldMax = 1023 - 52 - kLevelBits * (kLevels - 1) + 1074 - kPositionBase;

  __device__ __forceinline__ void set_window(int32_t field) {
    const int32_t low = min(max(field + kMarginAbove - (kSpan - 1), 1), kLowFieldMax);
    low_ = static_cast<uint32_t>(low) << 21;
    levels_.open(static_cast<uint32_t>(low + kPositionBase));
  }

  __device__ static __forceinline__ double value_at(const uint32_t (&words)[kWords], uint32_t i) {
    return __hiloint2double(static_cast<int>(words[i + 1]), static_cast<int>(words[i]));
  }

  static constexpr uint32_t kInfinity = kFieldMax << 21;

  // Whether all elements but zeros reach the window's begin; sets the flags if so.
  __device__ __forceinline__ bool others_reach(const uint32_t (&words)[kWords]) {
    uint32_t least = UINT32_MAX, other_than_minus_0 = 0;
#pragma unroll
    for (uint32_t i = 0; i < kWords; i += 2) {
      // A zero wraps around. What lies at the window's very begin may come to lie outside, which does no harm.
      least = min(least, (words[i + 1] << 1) - (words[i] == 0 ? 1 : 0));
      other_than_minus_0 |= words[i + 1] ^ 0x80000000u;
    }
    if (least < low_) return false;
    if (other_than_minus_0 != 0) flags_ |= kSumNotMinus0;
    return true;
  }

  // `special`: there are infinities or NaNs. Beside those finite elements change no sum.
  __device__ __forceinline__ void add_to_ranges(const uint32_t (&words)[kWords], bool special) {
    // Once the flag is set, finite elements change none.
    if (special || (flags_ & kSumNotMinus0) == 0) see_flags(words);
    if (special) return;
    if (!ranges_used_) ranges_.clear();
    ranges_used_ = ranges_changed_ = true;
#pragma unroll
    for (uint32_t i = 0; i < kWords; i += 2) ranges_.add(value_at(words, i));
  }

  __device__ __forceinline__ void see_flags(const uint32_t (&words)[kWords]) {
#pragma unroll
    for (uint32_t i = 0; i < kWords; i += 2) flags_ |= sum_flags(bits_of_double(value_at(words, i)));
  }

  __device__ __forceinline__ void end_chunk() {
    pending_ = 0;
    levels_.empty();
    // All threads at once, which carry for the time of one.
    if (ranges_changed_) ranges_.carry();
    ranges_changed_ = false;
    if (++chunks_ < kChunksMax) return;
    chunks_ = 0;
    levels_.flush(counters_);
    counters_.normalise(lane_id());
  }

  Ranges ranges_;
  Levels<kLevels> levels_;
  uint32_t low_;  // first exponent field of the window, at the top of a word
  uint32_t chunks_ = 0;
  bool ranges_used_ = false, ranges_changed_ = false;  // at all, and since their last carry
};

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_DOUBLE_CUH_
