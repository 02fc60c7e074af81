// SPDX-License-Identifier: MIT OR Apache-2.0
// A thread's own exact sum of any doubles in shared memory: levels as in levels.cuh for every exponent there is. An
// element spans three of them at most, which its exponent names, so that it takes no branch and no atomic.
#ifndef GSORT_CUDA_SUM_RANGES_CUH_
#define GSORT_CUDA_SUM_RANGES_CUH_

#include <cstdint>

#include "core/superaccumulator.h"
#include "cuda/primitive/warp.cuh"
#include "cuda/sum/counters.cuh"
#include "cuda/sum/levels.cuh"
#include "cuda/sum/plan.h"

namespace gsort_internal::sum {

// Levels of two halves of the range: no double is large enough to start the uppermost levels at, so that elements whose
// last bit is at kHalfPosition or above come scaled down by as much. A position is that of a bit above 2^-1074.
struct Ranges {
  static constexpr uint32_t kThreads = DoubleTuning::kThreads, kLevelsHalf = DoubleTuning::kLevelsHalf;
  static constexpr uint32_t kHalfLevel = 24, kHalfPosition = kHalfLevel * kLevelBits;
  static constexpr uint32_t kPositionMax = 2045;  // of a finite double's last bit
  static_assert(kLevelsHalf == kHalfLevel + 2 && (kPositionMax - kHalfPosition) / kLevelBits + 3 <= kLevelsHalf,
                "the last bit's level and two above it");
  // Between two calls of carry() a thread adds 2^kChunkBits elements at most. What an element adds to a level is half a
  // unit of the level above, or less, as is what carry() leaves.
  static_assert((1u << kChunkBits) + 1 < 1u << (52 - kLevelBits), "levels stay in their binades");

  double *levels;  // of the block: [2 * kLevelsHalf][kThreads]

  __device__ __forceinline__ void clear() const {
#pragma unroll 1
    for (uint32_t i = 0; i < 2 * kLevelsHalf; ++i) at(i) = start_of(i);
  }

  // `x` is finite.
  __device__ __forceinline__ void add(double x) const {
    const uint32_t field = static_cast<uint32_t>(__double2hiint(x)) >> 20 & 0x7ff;
    uint32_t level = (max(field, 1u) - 1) * kReciprocal >> kReciprocalBits;
    if (level >= kHalfLevel) {
      level += kLevelsHalf - kHalfLevel;
      x = __dmul_rn(x, kHalfScale);
    }
    double *const own = &at(level);
    const double first = own[2 * kThreads], second = own[kThreads], third = own[0];
    const double first_sum = __dadd_rn(first, x);
    x = __dsub_rn(x, __dsub_rn(first_sum, first));
    const double second_sum = __dadd_rn(second, x);
    x = __dsub_rn(x, __dsub_rn(second_sum, second));
    own[2 * kThreads] = first_sum, own[kThreads] = second_sum, own[0] = __dadd_rn(third, x);
  }

  // Moves what is more than half a unit of the level above up to there.
  __device__ __forceinline__ void carry() const {
#pragma unroll 1
    for (uint32_t i = 0; i < 2 * kLevelsHalf; ++i) {
      if (i % kLevelsHalf == kLevelsHalf - 1) continue;  // it has room for all there can be
      const double above = at(i + 1), start = start_of(i), own = __dsub_rn(at(i), start);
      const double sum = __dadd_rn(above, own);
      at(i + 1) = sum;
      at(i) = __dadd_rn(start, __dsub_rn(own, __dsub_rn(sum, above)));
    }
  }

  // Moves what all threads hold to the warps' counters, some levels a warp. After carry() and a barrier.
  __device__ __forceinline__ void flush_block(Counters &counters) const {
    constexpr uint32_t kWarps = kThreads / 32;
#pragma unroll 1
    for (uint32_t i = threadIdx.x / 32; i < 2 * kLevelsHalf; i += kWarps) {
      int64_t units = 0;
#pragma unroll
      for (uint32_t w = 0; w < kWarps; ++w)
        units += __double_as_longlong(levels[i * kThreads + w * 32 + lane_id()]) - __double_as_longlong(start_of(i));
      units = warp_sum(units);
      if (lane_id() == 0 && units != 0)
        counters.add_signed(units, position_of(i) + (i < kLevelsHalf ? 0 : kHalfPosition));
    }
  }

 private:
  // A quotient by kLevelBits: the reciprocal is rounded up by less than 1 / kPositionMax of itself.
  static constexpr uint32_t kReciprocalBits = 18, kReciprocal = (1u << kReciprocalBits) / kLevelBits + 1;
  static_assert((kReciprocal * kLevelBits - (1u << kReciprocalBits)) * kPositionMax < 1u << kReciprocalBits,
                "the quotients are right up to there");
  static constexpr double kHalfScale = 0x1p-1032;
  static_assert(kHalfPosition == 1032, "the scale");

  __device__ __forceinline__ double &at(uint32_t i) const { return levels[i * kThreads + threadIdx.x]; }
  // Of the level's unit, scaled.
  __device__ static __forceinline__ uint32_t position_of(uint32_t i) {
    return (i < kLevelsHalf ? i : i - kLevelsHalf) * kLevelBits;
  }
  __device__ static __forceinline__ double start_of(uint32_t i) { return level_start(position_of(i)); }
};

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_RANGES_CUH_
