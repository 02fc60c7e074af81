// SPDX-License-Identifier: MIT OR Apache-2.0
// KeyCodec for many keys in registers: what the order is gets asked once, and no key has a branch of its own, around
// which all others would be stored.
#ifndef GSORT_CUDA_PRIMITIVE_KEY_ROWS_CUH_
#define GSORT_CUDA_PRIMITIVE_KEY_ROWS_CUH_

#include <cstdint>

#include "core/key_bits.h"

namespace gsort_internal {

// All bits set if the top one is.
template <class U>
__device__ __forceinline__ U spread_top_bit(U bits) {
  return static_cast<U>(U{0} - static_cast<U>(bits >> (sizeof(U) * 8 - 1)));
}

// keys[row] = codec.encode(keys[row]); Word: U, or a wider type.
template <uint32_t kRows, class U, class Word>
__device__ __forceinline__ void encode_rows(const KeyCodec<U> &codec, Word (&keys)[kRows]) {
  if (codec.is_identity()) return;
  constexpr U kTop = KeyCodec<U>::kTop;
  const U positive = codec.mask_positive, both = static_cast<U>(codec.mask_positive ^ codec.mask_negative);
  if (codec.nan_count == 0) {
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row)
      keys[row] = static_cast<U>(keys[row] ^ positive ^ (spread_top_bit(static_cast<U>(keys[row])) & both));
    return;
  }
  const U nans = codec.nan_count, infinity = static_cast<U>(static_cast<U>(~kTop) - nans);
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    const U bits = static_cast<U>(keys[row]), sign = spread_top_bit(bits);
    const U number = static_cast<U>((bits ^ positive ^ (sign & both)) - nans);
    const U nan = static_cast<U>((bits | kTop) - (nans & static_cast<U>(~sign)));
    keys[row] = static_cast<U>(bits & static_cast<U>(~kTop)) <= infinity ? number : nan;
  }
}

// keys[row] = codec.decode(keys[row]); Word: U, or a wider type.
template <uint32_t kRows, class U, class Word>
__device__ __forceinline__ void decode_rows(const KeyCodec<U> &codec, Word (&keys)[kRows]) {
  if (codec.is_identity()) return;
  constexpr U kTop = KeyCodec<U>::kTop;
  const U positive = codec.mask_positive, both = static_cast<U>(codec.mask_positive ^ codec.mask_negative);
  // The bit that undoing the mask of positive keys leaves at the top tells which mask it was.
  const auto number = [=](U ordered) {
    const U with_positive = static_cast<U>(ordered ^ positive);
    return static_cast<U>(with_positive ^ (spread_top_bit(with_positive) & both));
  };
  if (codec.nan_count == 0) {
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) keys[row] = number(static_cast<U>(keys[row]));
    return;
  }
  const U nans = codec.nan_count, negative_nan = static_cast<U>(U{0} - nans),
          positive_nan = static_cast<U>(negative_nan - nans);
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    const U ordered = static_cast<U>(keys[row]), moved = static_cast<U>(ordered + nans);
    const U nan = ordered >= negative_nan ? ordered : static_cast<U>(moved & static_cast<U>(~kTop));
    keys[row] = ordered >= positive_nan ? nan : number(moved);
  }
}

}  // namespace gsort_internal

#endif  // GSORT_CUDA_PRIMITIVE_KEY_ROWS_CUH_
