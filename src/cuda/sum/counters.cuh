// SPDX-License-Identifier: MIT OR Apache-2.0
// A warp's own exact sum in shared memory: halves of limbs, 16 bits each, in counters of 32, added to by 32-bit shared
// atomics, for the few elements that the registers' window does not cover and for the window itself at the end.
#ifndef GSORT_CUDA_SUM_COUNTERS_CUH_
#define GSORT_CUDA_SUM_COUNTERS_CUH_

#include <cstdint>

#include "core/superaccumulator.h"

namespace gsort_internal::sum {

// value = sum of half[i] * 2^(16 * i - 1074).
struct Counters {
  static constexpr uint32_t kHalves = 2 * kSumLimbs;
  // One addition changes a half by less than 2^16, so that 2^15 - 2 additions fit between two calls of normalise().
  static constexpr uint32_t kPendingMax = (1u << 15) - 2;

  int32_t half[kHalves];

  // The whole warp together.
  __device__ __forceinline__ void clear() {
    for (uint32_t i = threadIdx.x & 31; i < kHalves; i += 32) half[i] = 0;
    __syncwarp();
  }

  // Adds magnitude * 2^(position - 1074), negated if `negative`. Any lane, any time.
  __device__ __forceinline__ void add(uint64_t magnitude, uint32_t position, bool negative) {
    const uint32_t shift = position & 15;
    const uint64_t low = magnitude << shift;
    const uint32_t high = shift == 0 ? 0 : static_cast<uint32_t>(magnitude >> (64 - shift));
    int32_t *const base = half + (position >> 4);
    add_half(base + 0, static_cast<uint32_t>(low) & 0xffff, negative);
    add_half(base + 1, static_cast<uint32_t>(low >> 16) & 0xffff, negative);
    add_half(base + 2, static_cast<uint32_t>(low >> 32) & 0xffff, negative);
    add_half(base + 3, static_cast<uint32_t>(low >> 48), negative);
    add_half(base + 4, high, negative);
  }

  __device__ __forceinline__ void add_signed(int64_t value, uint32_t position) {
    add(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value), position, value < 0);
  }

  __device__ __forceinline__ void add_finite(double x) {
    const uint64_t bits = bits_of_double(x);
    const uint32_t field = static_cast<uint32_t>(bits >> 52) & 0x7ff;
    const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
    add(field == 0 ? fraction : fraction | (uint64_t{1} << 52), field == 0 ? 0 : field - 1, (bits >> 63) != 0);
  }

  // The whole warp together: one step of carrying, after which every half lies between -2^16 and 2^17.
  __device__ __forceinline__ void normalise(uint32_t lane) {
    constexpr uint32_t kSteps = (kHalves + 31) / 32;
    int32_t carry[kSteps];
    __syncwarp();
#pragma unroll
    for (uint32_t s = 0; s < kSteps; ++s) {
      const uint32_t i = s * 32 + lane;
      carry[s] = 0;
      if (i + 1 < kHalves) {
        carry[s] = half[i] >> 16;
        half[i] &= 0xffff;
      }
    }
    __syncwarp();
#pragma unroll
    for (uint32_t s = 0; s < kSteps; ++s)
      if (carry[s] != 0) half[s * 32 + lane + 1] += carry[s];
    __syncwarp();
  }

 private:
  __device__ static __forceinline__ void add_half(int32_t *counter, uint32_t value, bool negative) {
    if (value != 0) atomicAdd(counter, negative ? -static_cast<int32_t>(value) : static_cast<int32_t>(value));
  }
};

// What every sum of floating point has that ends in its warps' counters.
template <uint32_t Threads>
class CountersSum {
 public:
  static constexpr uint32_t kLimbs = kSumLimbs, kThreads = Threads;
  struct Shared {
    Counters counters[kThreads / 32];
  };

  // A limb of the sum of the warps' counters.
  __device__ static __forceinline__ int64_t block_limb(const Shared &shared, uint32_t limb) {
    int64_t sum = 0;
    for (const Counters &c : shared.counters)
      sum += c.half[2 * limb] + static_cast<int64_t>(c.half[2 * limb + 1]) * 65536;
    return sum;
  }
  __device__ __forceinline__ uint32_t flags() const { return flags_; }

 protected:
  __device__ __forceinline__ explicit CountersSum(Shared &shared) : counters_(shared.counters[threadIdx.x / 32]) {
    counters_.clear();
  }

  Counters &counters_;
  uint32_t flags_ = 0;
  uint32_t pending_ = 0;  // elements that the counters do not have yet
};

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_COUNTERS_CUH_
