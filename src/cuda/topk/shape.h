// SPDX-License-Identifier: MIT OR Apache-2.0
// What the plans of a top-k begin with: the shape of a call, facts of the device, samples, and their arithmetic.
#ifndef GSORT_CUDA_TOPK_SHAPE_H_
#define GSORT_CUDA_TOPK_SHAPE_H_

#include <cstdint>

#include "core/key_bits.h"

namespace gsort_internal {

// Bits that one histogram pass looks at: 32-bit keys in three passes, and 8 KB of counters.
constexpr uint32_t kTopkBinBits = 11;
constexpr uint32_t kTopkBins = 1u << kTopkBinBits;
// Static shared memory of the kernels, rounded up.
constexpr uint32_t kTopkScratchBytes = 2048;

struct TopkShape {
  uint64_t rows, columns, k;
  uint32_t key_bytes;
};

struct TopkDevice {
  uint32_t multiprocessors;
  uint32_t shared_bytes_block_max;
  bool clusters = false;  // has barriers of up to 8 neighbouring blocks
};

// How the bound of the filter is sampled; sample_items = 0: no sample, exact selection at once.
struct TopkSample {
  uint64_t items;
  uint64_t rank;
};

GSORT_HOST_DEVICE constexpr uint64_t topk_min(uint64_t a, uint64_t b) { return a < b ? a : b; }
GSORT_HOST_DEVICE constexpr uint64_t topk_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

GSORT_HOST_DEVICE constexpr uint32_t topk_bits(uint64_t v) {
  uint32_t bits = 0;
  for (; v != 0; v >>= 1) ++bits;
  return bits;
}
GSORT_HOST_DEVICE constexpr uint64_t topk_power_up(uint64_t v) { return v <= 1 ? 1 : uint64_t{1} << topk_bits(v - 1); }
GSORT_HOST_DEVICE constexpr uint64_t topk_power_down(uint64_t v) {
  return v == 0 ? 0 : uint64_t{1} << (topk_bits(v) - 1);
}

GSORT_HOST_DEVICE constexpr uint64_t topk_root(uint64_t v) {
  uint64_t root = 0;
  for (uint64_t bit = uint64_t{1} << 31; bit != 0; bit >>= 1)
    if ((root + bit) * (root + bit) <= v) root += bit;
  return root;
}

GSORT_HOST_DEVICE constexpr uint32_t topk_index_bits(const TopkShape &s) { return topk_bits(s.columns - 1); }
GSORT_HOST_DEVICE constexpr uint32_t topk_composite_bytes(const TopkShape &s) {
  return s.key_bytes < 8 && s.key_bytes * 8 + topk_index_bits(s) <= 64 ? 8 : 16;
}

// The rank in a sample of m of n elements whose element has at least k of the n at or under it, but for bad luck: the
// number of the best k in the sample is close to Poisson with mean L = k m / n, and more than L + 4 sqrt(L) + 5 of them
// come about once in 10^5 calls or less often.
GSORT_HOST_DEVICE constexpr uint64_t topk_sample_rank(uint64_t k, uint64_t m, uint64_t n) {
  const uint64_t mean = k / (n / m) + 1;
  return mean + 4 * topk_root(mean) + 5;
}

// How far above its rank the bound may lie: saves passes over the sample, costs as many more candidates.
GSORT_HOST_DEVICE constexpr uint64_t topk_sample_slack(uint64_t rank) { return rank / 4 + 3; }

constexpr uint64_t topk_round(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace gsort_internal

#endif  // GSORT_CUDA_TOPK_SHAPE_H_
