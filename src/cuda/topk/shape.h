// SPDX-License-Identifier: MIT OR Apache-2.0
// What the plans of a top-k begin with: the shape of a call, facts of the device, samples, and their arithmetic.
#ifndef GSORT_CUDA_TOPK_SHAPE_H_
#define GSORT_CUDA_TOPK_SHAPE_H_

#include <cstdint>

#include "core/key_bits.h"
#include "core/slices.h"
#include "cuda/engine/device_facts.h"

namespace gsort_internal::topk {

// Bits that one histogram pass looks at: 32-bit keys in three passes, and 8 KB of counters.
constexpr uint32_t kBinBits = 11;
constexpr uint32_t kBins = 1u << kBinBits;
// Static shared memory of the kernels, rounded up.
constexpr uint32_t kScratchBytes = 2048;

struct Shape {
  uint64_t rows, columns, k;
  uint32_t key_bytes;
};

// How the bound of the filter is sampled; sample_items = 0: no sample, exact selection at once.
struct Sample {
  uint64_t items;
  uint64_t rank;
};

GSORT_HOST_DEVICE constexpr uint64_t min_of(uint64_t a, uint64_t b) { return a < b ? a : b; }
GSORT_HOST_DEVICE constexpr uint64_t max_of(uint64_t a, uint64_t b) { return a > b ? a : b; }

GSORT_HOST_DEVICE constexpr uint32_t bit_count(uint64_t v) {
  uint32_t bits = 0;
  for (; v != 0; v >>= 1) ++bits;
  return bits;
}
GSORT_HOST_DEVICE constexpr uint64_t power_up(uint64_t v) { return v <= 1 ? 1 : uint64_t{1} << bit_count(v - 1); }
GSORT_HOST_DEVICE constexpr uint64_t power_down(uint64_t v) { return v == 0 ? 0 : uint64_t{1} << (bit_count(v) - 1); }

// bit: the root's leading one, or any above it.
template <class T>
GSORT_HOST_DEVICE constexpr T integer_root(T v, T bit = T{1} << (sizeof(T) * 4 - 1)) {
  T root = 0;
  for (; bit != 0; bit /= 2)
    if ((root + bit) * (root + bit) <= v) root += bit;
  return root;
}

GSORT_HOST_DEVICE constexpr uint32_t index_bits_of(const Shape &s) { return bit_count(s.columns - 1); }
GSORT_HOST_DEVICE constexpr uint32_t composite_bytes_of(const Shape &s) {
  return s.key_bytes < 8 && s.key_bytes * 8 + index_bits_of(s) <= 64 ? 8 : 16;
}

// The rank in a sample of m of n elements whose element has at least k of the n at or under it, but for bad luck: the
// number of the best k in the sample is close to Poisson with mean L = k m / n, and more than L + 4 sqrt(L) + 5 of them
// come about once in 10^5 calls or less often.
GSORT_HOST_DEVICE constexpr uint64_t rank_of_sample(uint64_t k, uint64_t m, uint64_t n) {
  const uint64_t mean = k / (n / m) + 1;
  return mean + 4 * integer_root(mean) + 5;
}

// How far above its rank the bound may lie: saves passes over the sample, costs as many more candidates.
GSORT_HOST_DEVICE constexpr uint64_t slack_of_sample(uint64_t rank) { return rank / 4 + 3; }

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_SHAPE_H_
