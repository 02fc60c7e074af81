// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys of which each byte has few values, as text, decimal digits and packed fields have: a byte's values are numbered
// in their order, and the numbers of all eight, as many bits each as they need, make a key of the same order that has
// fewer digits to sort by.
#ifndef GSORT_CUDA_SORT_LSD_DENSE_CODES_CUH_
#define GSORT_CUDA_SORT_LSD_DENSE_CODES_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sort/lsd/pass_action.cuh"
#include "cuda/sort/lsd/plan.h"

namespace gsort_internal::sort::lsd {

constexpr uint32_t kDenseBytes = 8;  // of a key

// Byte 0 is the lowest.
struct DenseCodes {
  uint32_t active;             // the passes sort by dense keys
  uint32_t digits;             // of a dense key
  uint32_t source;             // array that receives the dense keys
  uint32_t bits[kDenseBytes];  // of a byte's number; none where the byte does not vary
  uint8_t number[kDenseBytes][kDigitBins];
  uint8_t value[kDenseBytes][kDigitBins];  // by number
};
static_assert(sizeof(DenseCodes) <= kDenseCodesBytes, "the layout counts with this size");

struct DenseChoice {
  DenseCodes *codes;    // NULL: keys stay as they are
  uint32_t passes_min;  // that dense keys must save
  bool values_aliased;  // the input of the values is their output
};

// One warp: numbers the values that a byte has.
__device__ inline void number_values(const unsigned long long *counts, DenseCodes &codes, uint32_t byte) {
  constexpr uint32_t kEach = kDigitBins / 32;
  bool present[kEach];
  uint32_t own = 0;
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) {
    present[i] = __ldcg(&counts[lane_id() * kEach + i]) != 0;
    own += present[i];
  }
  const uint32_t up_to_here = warp_inclusive_sum(own), values = __shfl_sync(kFullWarp, up_to_here, 31);
  uint32_t number = up_to_here - own;
#pragma unroll
  for (uint32_t i = 0; i < kEach; ++i) {
    const uint32_t value = lane_id() * kEach + i;
    codes.number[byte][value] = static_cast<uint8_t>(number);
    if (present[i]) codes.value[byte][number++] = static_cast<uint8_t>(value);
  }
  for (uint32_t i = values + lane_id(); i < kDigitBins; i += 32) codes.value[byte][i] = 0;
  if (lane_id() == 0) codes.bits[byte] = values < 2 ? 0 : bit_width(values - 1);
}

// One thread, behind number_values() of all bytes: whether dense keys save enough of the passes that sort by
// `varying_digits`.
__device__ inline bool choose_dense(const DenseChoice &choice, uint32_t varying_digits) {
  DenseCodes &codes = *choice.codes;
  uint32_t bits = 0;
  for (uint32_t byte = 0; byte < kDenseBytes; ++byte) bits += codes.bits[byte];
  const uint32_t digits = (bits + kDigitBits - 1) / kDigitBits;
  const uint32_t passes = static_cast<uint32_t>(__popc(varying_digits));
  codes.digits = digits;
  codes.source = dense_source(digits, choice.values_aliased);
  codes.active = digits + choice.passes_min <= passes;
  return codes.active != 0;
}

// What a thread needs of the codes of four bytes, of which 0 is the lowest; tables in shared memory.
struct HalfCodes {
  const uint8_t *table;  // [4][256]
  uint32_t bits[4];

  __device__ HalfCodes(const uint8_t *of, const uint32_t *bits_of) : table(of) {
    for (uint32_t byte = 0; byte < 4; ++byte) bits[byte] = bits_of[byte];
  }
  __device__ uint32_t all_bits() const { return bits[0] + bits[1] + bits[2] + bits[3]; }

  // `table` has numbers.
  __device__ __forceinline__ uint32_t dense(uint32_t word) const {
    uint32_t all = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t byte = 3 - i;
      all = all << bits[byte] | table[byte * kDigitBins + (word >> (8 * byte) & 0xff)];
    }
    return all;
  }

  // `table` has values.
  __device__ __forceinline__ uint32_t word(uint32_t dense) const {
    uint32_t all = 0;
#pragma unroll
    for (uint32_t byte = 0; byte < 4; ++byte) {
      all |= uint32_t{table[byte * kDigitBins + (dense & ((1u << bits[byte]) - 1))]} << (8 * byte);
      dense >>= bits[byte];
    }
    return all;
  }
};

}  // namespace gsort_internal::sort::lsd

#endif  // GSORT_CUDA_SORT_LSD_DENSE_CODES_CUH_
