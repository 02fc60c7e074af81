// SPDX-License-Identifier: MIT OR Apache-2.0
// How blocks hold tiles, and the digits that radix steps rank them by. Read by plans and kernels; no CUDA header.
#ifndef GSORT_CUDA_PRIMITIVE_TILE_SHAPE_H_
#define GSORT_CUDA_PRIMITIVE_TILE_SHAPE_H_

#include <cstdint>

namespace gsort_internal {

constexpr uint32_t kDigitBits = 8;
constexpr uint32_t kDigitBins = 1u << kDigitBits;

constexpr uint32_t digits_of(uint32_t key_bytes) { return key_bytes * 8 / kDigitBits; }

// How a block holds a tile: every warp a contiguous part, row by row of 32 items.
template <uint32_t Threads, uint32_t Rows>
struct TileShape {
  static constexpr uint32_t kThreads = Threads;
  static constexpr uint32_t kRows = Rows;
  static constexpr uint32_t kWarps = Threads / 32;
  static constexpr uint32_t kItems = Threads * Rows;
  static_assert(kThreads % 32 == 0 && kThreads >= kDigitBins && kItems < 65536, "places in a tile have 16 bits");
};

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_TILE_SHAPE_H_
