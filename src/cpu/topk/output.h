// SPDX-License-Identifier: MIT OR Apache-2.0
// What the ways of a top-k share.
#ifndef GSORT_CPU_TOPK_OUTPUT_H_
#define GSORT_CPU_TOPK_OUTPUT_H_

#include <cstdint>

#include "cpu/primitive/range.h"

namespace gsort_internal {

// Where results go: values and indices, either may be missing.
template <class K>
struct TopkOutput {
  K *values;
  void *indices;
  uint32_t index_bytes;

  void put(uint64_t place, K value, uint64_t index) const {
    if (values != nullptr) values[place] = value;
    if (indices == nullptr) return;
    if (index_bytes == 4) {
      static_cast<uint32_t *>(indices)[place] = static_cast<uint32_t>(index);
    } else {
      static_cast<uint64_t *>(indices)[place] = index;
    }
  }
};

// The least s for which s * s >= x.
inline uint64_t root_of(uint64_t x) {
  uint64_t s = 0;
  for (uint64_t bit = uint64_t{1} << 31; bit != 0; bit >>= 1)
    if ((s + bit) * (s + bit) <= x) s += bit;
  return s * s < x ? s + 1 : s;
}

// Which of the drawn keys, in order, is a bound that most likely k of n keys do not come after: as many draws as the
// k-th key should have before it, and three standard deviations more. Of a thousand bounds one or none is too low, and
// its call is begun again.
inline uint64_t rank_of_bound(uint64_t n, uint64_t k, uint64_t draws) {
  constexpr uint64_t deviations = 3;
  const uint64_t mean = divide_up(k * draws, n);
  return mean + deviations * root_of(mean) + deviations;
}

}  // namespace gsort_internal

#endif  // GSORT_CPU_TOPK_OUTPUT_H_
