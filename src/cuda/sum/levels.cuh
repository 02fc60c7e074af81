// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact accumulation of a window of exponents in registers.
//
// Level k starts at 1.5 * 2^(e_k + 52), whose last bit is worth 2^e_k, and stays in that binade, so adding x to it
// rounds x to a multiple of 2^e_k, exactly and with an exact remainder that goes to level k + 1, whose last bit is
// worth 2^(e_k - 43). The last level adds exactly if x is a multiple of its last bit. So every x of the window is added
// exactly, by 3 * levels - 2 additions and no branch. A level is emptied into a 64-bit integer every 2^8 additions,
// before it could leave its binade.
#ifndef GSORT_CUDA_SUM_LEVELS_CUH_
#define GSORT_CUDA_SUM_LEVELS_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sum/counters.cuh"

namespace gsort_internal::sum {

constexpr int32_t kChunkBits = 8;   // additions to a level between two emptyings: 2^8
constexpr int32_t kLevelBits = 43;  // 51 - kChunkBits: 2^8 values below 2^(e + 43) stay below 2^(e + 51)

// 2^6 chunks of less than 2^51 units each, over 32 lanes, stay below 2^62.
constexpr uint32_t kChunksMax = 64;

// 1.5 * 2^(unit + 52) of the unit at `position`, which is that of a bit above 2^-1074.
__device__ __forceinline__ double level_start(uint32_t position) {
  return __hiloint2double(static_cast<int>(((position - 1074 + 52 + 1023) << 20) | (1u << 19)), 0);
}

template <int32_t kLevels>
class Levels {
 public:
  // The last level's unit is 2^(position - 1074), the same for the whole warp.
  __device__ __forceinline__ void open(uint32_t position) {
    position_ = position;
#pragma unroll
    for (int32_t k = 0; k < kLevels; ++k) {
      level_[k] = start_of(k);
      units_[k] = 0;
    }
  }

  __device__ __forceinline__ void add(double x) {
#pragma unroll
    for (int32_t k = 0; k + 1 < kLevels; ++k) {
      const double sum = __dadd_rn(level_[k], x);
      x = __dsub_rn(x, __dsub_rn(sum, level_[k]));
      level_[k] = sum;
    }
    level_[kLevels - 1] = __dadd_rn(level_[kLevels - 1], x);
  }

  // The same of x * scale, for one level.
  __device__ __forceinline__ void add_scaled(double x, double scale) {
    static_assert(kLevels == 1, "one rounding");
    level_[0] = __fma_rn(x, scale, level_[0]);
  }

  // Moves what the levels hold to integers: within one binade the difference of two doubles' bits counts units.
  __device__ __forceinline__ void empty() {
#pragma unroll
    for (int32_t k = 0; k < kLevels; ++k) {
      units_[k] += __double_as_longlong(level_[k]) - __double_as_longlong(start_of(k));
      level_[k] = start_of(k);
    }
  }

  // The whole warp together, with empty levels: adds the integers to the counters.
  __device__ __forceinline__ void flush(Counters &counters) {
#pragma unroll
    for (int32_t k = 0; k < kLevels; ++k) {
      const int64_t sum = warp_sum(units_[k]);
      if (lane_id() == 0 && sum != 0) counters.add_signed(sum, unit_of(k));
      units_[k] = 0;
    }
  }

 private:
  // The unit of level k is kLevelBits above that of level k + 1.
  __device__ __forceinline__ uint32_t unit_of(int32_t k) const {
    return position_ + static_cast<uint32_t>((kLevels - 1 - k) * kLevelBits);
  }
  __device__ __forceinline__ double start_of(int32_t k) const { return level_start(unit_of(k)); }

  double level_[kLevels];
  int64_t units_[kLevels];
  uint32_t position_;
};

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_LEVELS_CUH_
