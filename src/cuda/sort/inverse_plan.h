// SPDX-License-Identifier: MIT OR Apache-2.0
// The plan of ranks that are found from the order (inverse.cuh). No CUDA header.
#ifndef GSORT_CUDA_SORT_INVERSE_PLAN_H_
#define GSORT_CUDA_SORT_INVERSE_PLAN_H_

#include <cstdint>

namespace gsort_internal::sort {

constexpr uint32_t kInverseThreads = 512, kInverseTileItems = 4096;
constexpr uint32_t kInverseWindowsMax = 128;
constexpr uint32_t kInverseCursorStride = 32;   // words: what blocks add to lies in different lines
constexpr uint32_t kInverseWindowBitsMin = 19;  // fewer ranks lie in the cache anyway
// Fewer bytes of ranks are stored as quickly as they come: the cache holds them (H100, 12 million of 4 bytes 500 us so
// and 300 by windows, 8.4 million 180 and 215).
constexpr uint64_t kInverseBytesMin = 60000000;
constexpr uint64_t kInverseItemsMax = uint64_t{1} << 32;  // indices have 32 bits

// A tile whose indices lie so near to the first one is stored as it comes.
constexpr uint32_t kInverseNear = 8192;

constexpr uint64_t kInverseRecordBytes = 8;
constexpr uint64_t kInverseCursorBytes = uint64_t{kInverseWindowsMax} * kInverseCursorStride * 4;

// Of keys of 1 byte the order is 256 runs of rising indices, which stores as they come suit.
// bytes_min: kInverseBytesMin, but for tests.
constexpr bool inverse_applies(uint64_t n, uint32_t key_bytes, uint32_t rank_bytes, uint64_t bytes_min) {
  return key_bytes > 1 && n * rank_bytes >= bytes_min && n <= kInverseItemsMax;
}

// Ranks of 2^(that many) indices lie side by side in a window.
constexpr uint32_t inverse_window_bits(uint64_t n) {
  uint32_t bits = kInverseWindowBitsMin;
  while ((n - 1) >> bits >= kInverseWindowsMax) ++bits;
  return bits;
}

}  // namespace gsort_internal::sort

#endif  // GSORT_CUDA_SORT_INVERSE_PLAN_H_
