// SPDX-License-Identifier: MIT OR Apache-2.0
// How sums meet between lanes, and how they travel between blocks.
#ifndef GSORT_CUDA_SCAN_MAILBOX_CUH_
#define GSORT_CUDA_SCAN_MAILBOX_CUH_

#include <cstdint>
#include <type_traits>

#include "core/superaccumulator.h"
#include "cuda/primitive/memory_order.cuh"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal::scan {

// What an empty term adds: -0.0, not +0.0, so that sums of -0 alone stay -0.
template <class Sum>
__device__ __forceinline__ Sum empty_sum() {
  return std::is_same<Sum, double>::value ? static_cast<Sum>(-0.0) : Sum{0};
}

// A sum as a word, and back.
__device__ __forceinline__ uint64_t bits_of_sum(double sum) { return bits_of_double(sum); }
__device__ __forceinline__ uint64_t bits_of_sum(uint64_t sum) { return sum; }
template <class Sum>
__device__ __forceinline__ Sum sum_of_bits(uint64_t bits) {
  if constexpr (std::is_same<Sum, double>::value)
    return double_of_bits(bits);
  else
    return bits;
}

__device__ __forceinline__ double scan_add(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ uint32_t scan_add(uint32_t a, uint32_t b) { return a + b; }
__device__ __forceinline__ uint64_t scan_add(uint64_t a, uint64_t b) { return a + b; }

// Kogge and Stone's inclusive scan of the first `width` lanes.
template <class Sum>
__device__ __forceinline__ Sum scan_lanes(Sum value, uint32_t width, uint32_t lane) {
#pragma unroll
  for (uint32_t d = 1; d < width; d *= 2) {
    const Sum before = __shfl_up_sync(kFullWarp, value, d);
    if (lane >= d) value = scan_add(before, value);
  }
  return value;
}

// The value of the lane before, the empty term in lane 0.
template <class Sum>
__device__ __forceinline__ Sum lane_before(Sum value, uint32_t lane) {
  const Sum before = __shfl_up_sync(kFullWarp, value, 1);
  return lane == 0 ? empty_sum<Sum>() : before;
}

// A published word that no sum makes: the memory is filled with it before the launch. The only double of these bits is
// a NaN, and NaNs are published as the quiet one.
constexpr uint64_t kEmpty = UINT64_MAX;

// Draws the next of the tickets 0, 1, ...; the counter began at 2^32 - 1.
__device__ __forceinline__ uint32_t draw_ticket(uint32_t *tickets) { return fetch_increment_relaxed(tickets) + 1; }

// Sums on their way between blocks. Each word tells by itself whether it has come: slot i's words lie at
// words[i], words[i + stride], one a plane.
template <class Sum>
struct Mailbox {
  static constexpr uint32_t kPlanes = std::is_same<Sum, uint64_t>::value ? 2 : 1;
  uint64_t *words;
  uint64_t stride;

  __device__ __forceinline__ void publish(uint64_t slot, Sum sum) const {
    if constexpr (std::is_same<Sum, double>::value) {
      store_volatile(words + slot, sum == sum ? bits_of_double(sum) : kDoubleQuietNan);
    } else if constexpr (kPlanes == 1) {
      store_volatile(words + slot, sum);
    } else {
      store_volatile(words + slot, sum & 0xffffffffu);
      store_volatile(words + slot + stride, sum >> 32);
    }
  }

  // False if the sum is not there yet.
  __device__ __forceinline__ bool fetch(uint64_t slot, Sum &sum) const {
    const uint64_t low = load_volatile(words + slot);
    const uint64_t high = kPlanes == 2 ? load_volatile(words + slot + stride) : 0;
    return unpack(low, high, sum);
  }

  // `Count` sums from `slot` on, which is a multiple of Count; true if the first `wanted` are there. All loads go out
  // before the first is looked at, so that they take one trip to the L2 cache together.
  template <uint32_t Count>
  __device__ __forceinline__ bool fetch_run(uint64_t slot, uint32_t wanted, Sum (&sums)[Count]) const {
    uint64_t low[Count], high[Count];
#pragma unroll
    for (uint32_t j = 0; j < Count; j += 2) load_relaxed_pair(words + slot + j, low[j], low[j + 1]);
#pragma unroll
    for (uint32_t j = 0; j < Count; j += 2) {
      high[j] = high[j + 1] = 0;
      if constexpr (kPlanes == 2) load_relaxed_pair(words + stride + slot + j, high[j], high[j + 1]);
    }
    bool there = true;
#pragma unroll
    for (uint32_t j = 0; j < Count; ++j) there &= unpack(low[j], high[j], sums[j]) | (j >= wanted);
    return there;
  }

  // Adds to `total` those of the sums at slot, slot + 32, ... whose bits in `missing` are set and that are there, and
  // clears their bits. All loads go out before the first is looked at.
  template <uint32_t Count>
  __device__ __forceinline__ void fetch_missing(uint64_t slot, uint32_t &missing, Sum &total) const {
    uint64_t low[Count], high[Count];
#pragma unroll
    for (uint32_t j = 0; j < Count; ++j) {
      low[j] = high[j] = 0;
      if ((missing >> j & 1) == 0) continue;
      low[j] = load_volatile(words + slot + j * 32);
      if constexpr (kPlanes == 2) high[j] = load_volatile(words + stride + slot + j * 32);
    }
#pragma unroll
    for (uint32_t j = 0; j < Count; ++j) {
      Sum sum;
      if ((missing >> j & 1) == 0 || !unpack(low[j], high[j], sum)) continue;
      total += sum;
      missing &= ~(1u << j);
    }
  }

 private:
  __device__ static __forceinline__ bool unpack(uint64_t low, uint64_t high, Sum &sum) {
    if constexpr (std::is_same<Sum, double>::value)
      sum = double_of_bits(low);
    else
      sum = static_cast<Sum>(low | high << 32);
    return low != kEmpty && high != kEmpty;
  }
};

}  // namespace gsort_internal::scan

#endif  // GSORT_CUDA_SCAN_MAILBOX_CUH_
