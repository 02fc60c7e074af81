// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums of integers in 128 bits. Signed integers come with their top bit flipped, which adds 2^(width - 1) to each; the
// end takes n times that off again, so that kernels know four unsigned widths only.
#ifndef GSORT_CUDA_SUM_INTEGER_CUH_
#define GSORT_CUDA_SUM_INTEGER_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sum/plan.h"

namespace gsort_internal::sum {

template <class U>
class IntegerSum {
 public:
  using Bits = U;
  // Limbs of 32 bits of an unsigned number, in 64 each so that many blocks can add to them.
  static constexpr uint32_t kLimbs = 4, kThreads = Tuning::kThreads;
  static constexpr uint32_t kWords = Tuning::kVectors * 4;
  struct Shared {
    uint64_t limbs[kThreads / 32][kLimbs];
  };

  __device__ __forceinline__ IntegerSum(Shared &shared, U flip) : shared_(shared), flip_(flip) {
    constexpr uint32_t ones = sizeof(U) == 1 ? 0x01010101u : sizeof(U) == 2 ? 0x00010001u : 1u;
    flip_word_ =
        sizeof(U) == 8 ? static_cast<uint32_t>(static_cast<uint64_t>(flip) >> 32) : static_cast<uint32_t>(flip) * ones;
  }

  __device__ __forceinline__ void look_at_first(const uint32_t (&)[kWords]) {}

  __device__ __forceinline__ void add_tile(const uint32_t (&words)[kWords]) {
    if constexpr (sizeof(U) == 8) {
#pragma unroll
      for (uint32_t i = 0; i < kWords; i += 2) add(words[i] | static_cast<uint64_t>(words[i + 1] ^ flip_word_) << 32);
    } else if constexpr (sizeof(U) == 4) {
#pragma unroll
      for (uint32_t i = 0; i < kWords; ++i) low_ += words[i] ^ flip_word_;
    } else {
      uint32_t sum = 0;  // 64 bytes: below 2^14 (bytes) or 2^21 (halves)
#pragma unroll
      for (uint32_t i = 0; i < kWords; ++i) sum = add_narrow(words[i] ^ flip_word_, sum);
      low_ += sum;
    }
  }

  __device__ __forceinline__ void add_single(U x) { add(static_cast<uint64_t>(x ^ flip_)); }

  // The whole block together; a barrier stands between this and block_limb().
  __device__ __forceinline__ void finish() {
    uint64_t limb[kLimbs] = {low_ & 0xffffffffu, low_ >> 32, high_ & 0xffffffffu, high_ >> 32};
#pragma unroll
    for (uint32_t i = 0; i < (sizeof(U) == 8 ? kLimbs : 2); ++i)
      for (uint32_t d = 16; d > 0; d /= 2) limb[i] += __shfl_xor_sync(kFullWarp, limb[i], d);
    if ((threadIdx.x & 31) != 0) return;
#pragma unroll
    for (uint32_t i = 0; i < kLimbs; ++i) shared_.limbs[threadIdx.x / 32][i] = limb[i];
  }
  __device__ static __forceinline__ int64_t block_limb(const Shared &shared, uint32_t limb) {
    uint64_t sum = 0;
    for (const auto &warp : shared.limbs) sum += warp[limb];
    return static_cast<int64_t>(sum);
  }
  __device__ __forceinline__ uint32_t flags() const { return 0; }

 private:
  // A thread adds fewer than 2^32 elements, so narrow ones need no carry out of 64 bits.
  __device__ __forceinline__ void add(uint64_t x) {
    low_ += x;
    if constexpr (sizeof(U) == 8) high_ += low_ < x ? 1 : 0;
  }

  __device__ static __forceinline__ uint32_t add_narrow(uint32_t word, uint32_t sum) {
    if constexpr (sizeof(U) == 1) return __dp4a(word, 0x01010101u, sum);
    return __dp2a_lo(word, 0x00000101u, sum);
  }

  Shared &shared_;
  U flip_;
  uint32_t flip_word_;
  uint64_t low_ = 0, high_ = 0;
};

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_INTEGER_CUH_
