// SPDX-License-Identifier: MIT OR Apache-2.0
// Steps of one warp.
#ifndef GSORT_CUDA_PRIMITIVE_WARP_CUH_
#define GSORT_CUDA_PRIMITIVE_WARP_CUH_

#include <cstdint>

namespace gsort_internal {

constexpr uint32_t kFullWarp = 0xffffffffu;

__device__ __forceinline__ uint32_t lane_id() { return threadIdx.x & 31u; }

// (cuda::ptx has the same; see arrival_count.cuh.)
__device__ __forceinline__ uint32_t lanes_below() {
#ifdef __CUDA_ARCH__
  uint32_t mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
#else
  return (1u << lane_id()) - 1;  // where tests run kernels on the CPU
#endif
}

// Lanes whose bit `kBit` of `digit` is this lane's. Written out because the compiler takes twice the instructions, and
// they are what a radix pass spends its time on: here the eight tests of a digit become one move to predicates. The
// complement is a product and a sum with -1 (`minus_one`, which the compiler must not know), so that the multipliers
// share the work with the logic units.
template <uint32_t kBit>
__device__ __forceinline__ uint32_t lanes_agreeing(uint32_t digit, uint32_t minus_one) {
#ifdef __CUDA_ARCH__
  uint32_t lanes;
  asm("{\n"
      "  .reg .pred set;\n"
      "  .reg .b32 bit;\n"
      "  and.b32 bit, %1, %2;\n"
      "  setp.ne.u32 set, bit, 0;\n"
      "  vote.sync.ballot.b32 %0, set, 0xffffffff;\n"
      "  @!set mad.lo.u32 %0, %0, %3, %3;\n"
      "}"
      : "=r"(lanes)
      : "r"(digit), "r"(1u << kBit), "r"(minus_one));
  return lanes;
#else
  const uint32_t set = digit >> kBit & 1, lanes = __ballot_sync(kFullWarp, static_cast<int>(set));
  return set != 0 ? lanes : lanes * minus_one + minus_one;
#endif
}

// -1 in a register: all lanes of the warp are active.
__device__ __forceinline__ uint32_t opaque_minus_one() { return __activemask(); }

// Written out: four digits' masks take 128 instructions so and 140 with the compiler's choice of three operands.
__device__ __forceinline__ uint32_t and3(uint32_t a, uint32_t b, uint32_t c) {
#ifdef __CUDA_ARCH__
  uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
#else
  return a & b & c;
#endif
}

// Mask of the lanes whose 8-bit digit is this lane's. All lanes of the warp take part. (Measured on an H200: the
// hardware's own match instruction makes a pass 1.7 times as slow.)
__device__ __forceinline__ uint32_t match_digit(uint32_t digit, uint32_t minus_one) {
  const uint32_t m = minus_one;
  const uint32_t first = and3(lanes_agreeing<0>(digit, m), lanes_agreeing<1>(digit, m), lanes_agreeing<2>(digit, m));
  const uint32_t second = and3(first, lanes_agreeing<3>(digit, m), lanes_agreeing<4>(digit, m));
  const uint32_t third = and3(second, lanes_agreeing<5>(digit, m), lanes_agreeing<6>(digit, m));
  return third & lanes_agreeing<7>(digit, m);
}

// The same of digits of kBits bits, 8 and a few more.
template <uint32_t kBits>
__device__ __forceinline__ uint32_t match_bits(uint32_t digit, uint32_t minus_one) {
  static_assert(kBits >= 8, "");
  uint32_t peers = match_digit(digit, minus_one);
#pragma unroll
  for (uint32_t bit = 8; bit < kBits; ++bit) {
    // As the compiler writes it: there are seven predicates, which those above take.
    const bool set = (digit >> bit & 1) != 0;
    const uint32_t lanes = __ballot_sync(kFullWarp, set);
    peers &= set ? lanes : ~lanes;
  }
  return peers;
}

template <class C>
__device__ __forceinline__ C shuffle_xor(C v, uint32_t mask) {
  if constexpr (sizeof(C) == 16) {
    const uint64_t low = __shfl_xor_sync(kFullWarp, static_cast<uint64_t>(v), mask);
    const uint64_t high = __shfl_xor_sync(kFullWarp, static_cast<uint64_t>(v >> 64), mask);
    return (static_cast<C>(high) << 64) | low;
  } else {
    return __shfl_xor_sync(kFullWarp, v, mask);
  }
}

template <class T>
__device__ __forceinline__ T warp_inclusive_sum(T value) {
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const T below = __shfl_up_sync(kFullWarp, value, distance);
    if (lane_id() >= distance) value += below;
  }
  return value;
}

template <class T>
__device__ __forceinline__ T warp_inclusive_max(T value) {
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    const T below = __shfl_up_sync(kFullWarp, value, distance);
    if (lane_id() >= distance) value = max(value, below);
  }
  return value;
}

// Number of bits up to the highest one set; 0 for 0.
template <class U>
__device__ __forceinline__ uint32_t bit_width(U value) {
  if constexpr (sizeof(U) == 16) {
    const uint64_t high = static_cast<uint64_t>(value >> 64), low = static_cast<uint64_t>(value);
    return high != 0 ? 128 - __clzll(static_cast<long long>(high)) : 64 - __clzll(static_cast<long long>(low));
  } else {
    return sizeof(U) == 8 ? 64 - __clzll(static_cast<long long>(value)) : 32 - __clz(static_cast<int>(value));
  }
}

// The sum over the warp, in every lane.
__device__ __forceinline__ uint32_t warp_sum(uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kFullWarp, value);
#else
  for (uint32_t distance = 16; distance != 0; distance /= 2) value += __shfl_xor_sync(kFullWarp, value, distance);
  return value;
#endif
}

__device__ __forceinline__ int64_t warp_sum(int64_t value) {
  for (uint32_t distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(kFullWarp, value, distance);
  return value;
}

// Over the warp, in every lane.
__device__ __forceinline__ uint64_t warp_or(uint64_t bits) {
#if __CUDA_ARCH__ >= 800
  return static_cast<uint64_t>(__reduce_or_sync(kFullWarp, static_cast<uint32_t>(bits >> 32))) << 32 |
         __reduce_or_sync(kFullWarp, static_cast<uint32_t>(bits));
#else
  for (uint32_t distance = 16; distance != 0; distance /= 2) bits |= __shfl_xor_sync(kFullWarp, bits, distance);
  return bits;
#endif
}

__device__ __forceinline__ uint32_t warp_least(uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(kFullWarp, value);
#else
  for (uint32_t distance = 16; distance != 0; distance /= 2)
    value = min(value, __shfl_xor_sync(kFullWarp, value, distance));
  return value;
#endif
}
__device__ __forceinline__ uint64_t warp_least(uint64_t value) {
  const uint32_t high = static_cast<uint32_t>(value >> 32), least_high = warp_least(high);
  const uint32_t low = warp_least(high == least_high ? static_cast<uint32_t>(value) : ~uint32_t{0});
  return static_cast<uint64_t>(least_high) << 32 | low;
}
template <class T>
__device__ __forceinline__ T warp_greatest(T value) {
  return static_cast<T>(~warp_least(static_cast<T>(~value)));
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_WARP_CUH_
