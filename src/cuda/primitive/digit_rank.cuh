// SPDX-License-Identifier: MIT OR Apache-2.0
// Stable places of a tile's keys by one digit. Every warp counts its rows in counters of its own; a scan over warps and
// digits turns the counters into places.
#ifndef GSORT_CUDA_PRIMITIVE_DIGIT_RANK_CUH_
#define GSORT_CUDA_PRIMITIVE_DIGIT_RANK_CUH_

#include <cstdint>

#include "cuda/primitive/tile_shape.h"
#include "cuda/primitive/warp.cuh"

namespace gsort_internal {

template <uint32_t kWarps>
struct alignas(16) DigitRankStorage {
  uint16_t counters[kWarps][kDigitBins];
  uint32_t run_begin[kDigitBins + 1];  // place of the first key of a digit in the sorted tile
  uint32_t warp_sums[4];
};

// Places within a warp's part of the tile, 16 bits each, two a word.
template <uint32_t kRows>
struct PackedPlaces {
  uint32_t words[(kRows + 1) / 2];

  // `row` is a constant after unrolling; rows are set in ascending order.
  __device__ __forceinline__ void set(uint32_t row, uint32_t place) {
    if (row % 2 == 0) {
      words[row / 2] = place;
    } else {
      words[row / 2] = __byte_perm(words[row / 2], place, 0x5410);
    }
  }
  __device__ __forceinline__ void reset(uint32_t row, uint32_t place) {
    words[row / 2] = __byte_perm(words[row / 2], place, row % 2 == 0 ? 0x3254 : 0x5410);
  }
  __device__ __forceinline__ uint32_t get(uint32_t row) const {
    return row % 2 == 0 ? words[row / 2] & 0xffffu : words[row / 2] >> 16;
  }
};

template <class U>
__device__ __forceinline__ uint32_t digit_of(U key, uint32_t shift) {
  return static_cast<uint32_t>(key >> shift) & (kDigitBins - 1);
}

// Clears one warp's counters and ranks its rows, whose digits are digit_at(row). A row's keys see the counts of all
// rows before; equal digits within the row go by lane, so the order is stable. The last lane of each digit writes the
// new count. `rows` <= kRows is the same in every lane.
template <uint32_t kRows, class DigitAt>
__device__ __forceinline__ void rank_digits(uint32_t rows, DigitAt digit_at, uint16_t *warp_counters,
                                            PackedPlaces<kRows> &places) {
#pragma unroll
  for (uint32_t i = 0; i < kDigitBins / 2 / 32; ++i)
    reinterpret_cast<uint32_t *>(warp_counters)[i * 32 + lane_id()] = 0;
  __syncwarp();
  const uint32_t below = lanes_below();
  const uint32_t minus_one = opaque_minus_one();
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    if (row < rows) {
      const uint32_t digit = digit_at(row);
      static_assert(kDigitBits == 8, "match_digit compares eight bits");
      const uint32_t peers = match_digit(digit, minus_one);
      const uint32_t place = warp_counters[digit] + __popc(peers & below);
      __syncwarp();  // every lane has read before the last of each digit writes
      if ((peers & ~below) == (1u << lane_id())) warp_counters[digit] = static_cast<uint16_t>(place + 1);
      __syncwarp();
      places.set(row, place);
    }
  }
}

template <uint32_t kRows, class U>
__device__ __forceinline__ void rank_rows(const U (&keys)[kRows], uint32_t rows, uint32_t shift,
                                          uint16_t *warp_counters, PackedPlaces<kRows> &places) {
  rank_digits<kRows>(rows, [&](uint32_t row) { return digit_of(keys[row], shift); }, warp_counters, places);
}

// Turns the warps' counts into places in the sorted tile and fills run_begin. 128 threads take two digits each;
// count_known(digit pair, low count, high count) is called by each of them as soon as the tile's counts are known. All
// threads call this, after a barrier behind rank_rows; it ends with a barrier. kReadAgain: the counters are read a
// second time rather than kept, where registers are short.
template <bool kReadAgain, uint32_t kWarps, class CountKnown>
__device__ __forceinline__ void scan_counters(DigitRankStorage<kWarps> &storage, CountKnown count_known) {
  const uint32_t pair = threadIdx.x;
  [[maybe_unused]] uint32_t before[kWarps];
  uint32_t total = 0, inclusive = 0;
  if (pair < kDigitBins / 2) {
    // Two 16-bit counts in a word: neither half overflows since a tile has fewer than 65,536 items.
#pragma unroll
    for (uint32_t warp = 0; warp < kWarps; ++warp) {
      if (!kReadAgain) before[warp] = total;
      total += reinterpret_cast<const uint32_t *>(storage.counters[warp])[pair];
    }
    count_known(pair, total & 0xffffu, total >> 16);
    inclusive = warp_inclusive_sum((total & 0xffffu) + (total >> 16));
    if (lane_id() == 31) storage.warp_sums[pair / 32] = inclusive;
  }
  __syncthreads();
  if (pair < kDigitBins / 2) {
    uint32_t begin = inclusive - (total & 0xffffu) - (total >> 16);
#pragma unroll
    for (uint32_t warp = 0; warp < kDigitBins / 2 / 32; ++warp)
      if (warp < pair / 32) begin += storage.warp_sums[warp];
    const uint32_t middle = begin + (total & 0xffffu);
    storage.run_begin[2 * pair] = begin;
    storage.run_begin[2 * pair + 1] = middle;
    if (pair == kDigitBins / 2 - 1) storage.run_begin[kDigitBins] = middle + (total >> 16);
    uint32_t begins = begin | middle << 16;
#pragma unroll
    for (uint32_t warp = 0; warp < kWarps; ++warp) {
      uint32_t &counters = reinterpret_cast<uint32_t *>(storage.counters[warp])[pair];
      const uint32_t counts = kReadAgain ? counters : 0;
      counters = kReadAgain ? begins : before[warp] + begins;
      begins += counts;
    }
  }
  __syncthreads();
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_DIGIT_RANK_CUH_
