// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact accumulation of bfloat16 numbers: a tile whose exponents lie in the window of one level is added in registers,
// any other in the thread's bins in shared memory.
#ifndef GSORT_CUDA_SUM_BFLOAT_CUH_
#define GSORT_CUDA_SUM_BFLOAT_CUH_

#include <cstdint>

#include "cuda/sum/bins.cuh"
#include "cuda/sum/counters.cuh"
#include "cuda/sum/levels.cuh"
#include "cuda/sum/words.cuh"

namespace gsort_internal::sum {

class BfloatSum : public CountersSum<Tuning::kThreads> {
 public:
  using Bits = uint16_t;
  using Bins = FloatBins<7>;
  static constexpr uint32_t kElements = kTileWords * 2;
  struct Shared : CountersSum::Shared {
    Bins bins;
  };

  __device__ __forceinline__ explicit BfloatSum(Shared &shared) : CountersSum(shared), bins_(shared.bins) {
    bins_.clear();
    set_window(kBias);
  }

  // The whole warp together, before the first tile: puts the window around the greatest exponent of these elements.
  __device__ __forceinline__ void look_at_first(const uint32_t (&words)[kTileWords]) {
    uint32_t field = 0;
#pragma unroll
    for (const uint32_t word : words) {
      const uint32_t f = word >> 23 & kFieldMax;
      if (f != kFieldMax) field = max(field, f);
    }
    field = warp_greatest(field);
    if (field != 0) set_window(static_cast<int32_t>(field));
  }

  // Elements of one tile; the whole warp together.
  __device__ __forceinline__ void add_tile(const uint32_t (&words)[kTileWords]) {
    if (is_in_window(words)) {
      flags_ |= kSumNotMinus0;
#pragma unroll
      for (const uint32_t word : words) {
        // One in each way, so that conversions and moves of bits share the work.
        levels_.add(__uint_as_float(word << 16));
        levels_.add_scaled(scaled_down(word), kScale);
      }
    } else {
#pragma unroll
      for (const uint32_t word : words) {
        bins_.add(word << 16);
        bins_.add(word & 0xffff0000u);
      }
    }
    pending_ += kElements;
    if (pending_ % (1u << kChunkBits) == 0) levels_.empty();
    if (pending_ >= Bins::kPendingMax) flush();
  }

  // An element outside all tiles. At most a few a thread.
  __device__ __forceinline__ void add_single(Bits x) { bins_.add(static_cast<uint32_t>(x) << 16); }

  // Every thread calls it; a barrier stands between it and block_limb().
  __device__ __forceinline__ void finish() {
    levels_.empty();
    levels_.flush(counters_);
    __syncthreads();
    flags_ |= bins_.flush_block(counters_);
  }

 private:
  static constexpr int32_t kMantissaBits = 7, kBias = 127, kMarginAbove = 9;
  static constexpr uint32_t kFieldMax = 255;
  // A value of exponent E has its last bit at E - mantissa and is below 2^(E + 1): this many exponents fit.
  static constexpr int32_t kSpan = kLevelBits - kMantissaBits;
  // The level's unit is 2^(position - 1074); this is the position for a window that began at exponent field 0.
  static constexpr int32_t kPositionBase = 1074 - kBias - kMantissaBits;

  static_assert(Bins::kPendingMax <= kChunksMax << kChunkBits, "flushed before the integers are full");

  __device__ __forceinline__ void set_window(int32_t field) {
    const int32_t low = min(max(field + kMarginAbove - (kSpan - 1), 1), static_cast<int32_t>(kFieldMax) - kSpan);
    low_ = static_cast<uint32_t>(low) << kMantissaBits;
    levels_.open(static_cast<uint32_t>(low + kPositionBase));
  }

  // All elements are in the window.
  __device__ __forceinline__ bool is_in_window(const uint32_t (&words)[kTileWords]) const {
    uint32_t most = 0, least = 0xffffffffu;
#pragma unroll
    for (const uint32_t word : words) {
      const uint32_t magnitudes = word & 0x7fff7fffu;
      most = __vmaxu2(most, magnitudes);
      least = __vminu2(least, magnitudes);
    }
    const uint32_t end = low_ + (static_cast<uint32_t>(kSpan) << kMantissaBits);
    return min(least & 0xffff, least >> 16) >= low_ && max(most & 0xffff, most >> 16) < end;
  }

  // A word's upper bfloat16 becomes a double by moving bits, which leaves it 2^896 times too small: the exponent's bias
  // is another. Multiplied by that within the addition it comes in exactly, as by a conversion, of which the multi-
  // processor does a quarter as many.
  static constexpr double kScale = 0x1p896;
  __device__ static __forceinline__ double scaled_down(uint32_t word) {
    return __hiloint2double((static_cast<int32_t>(word) >> 3) & static_cast<int32_t>(0x8fffe000u), 0);
  }

  __device__ __forceinline__ void flush() {
    pending_ = 0;
    levels_.empty();
    levels_.flush(counters_);
    flags_ |= bins_.flush(counters_);
    counters_.normalise(lane_id());
  }

  Bins &bins_;
  Levels<1> levels_;
  uint32_t low_;  // the least magnitude of the window
};

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_BFLOAT_CUH_
