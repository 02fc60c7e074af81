// SPDX-License-Identifier: MIT OR Apache-2.0
// Order-preserving unsigned bits: every order of the API is an ascending order of these, so engines know four key
// widths and never signs, floats, directions or NaN rules. Shared by host and device code.
#ifndef GSORT_CORE_KEY_BITS_H_
#define GSORT_CORE_KEY_BITS_H_

#include <cstdint>

#include "core/dtype.h"

#if defined(__CUDACC__)
#define GSORT_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define GSORT_HOST_DEVICE inline
#endif

namespace gsort_internal {

// A bijection of the values of U, chosen at run time. encode() is monotone from the key's order to unsigned order;
// decode() is its inverse.
//
// Without NAN_LAST one xor does it: floats flip all bits when negative and the sign bit otherwise, descending flips the
// result. NAN_LAST first moves the values down by nan_count (the NaNs of one sign), which wraps the negative NaNs to
// the top; NaNs then go by their raw bits in either direction.
template <class U>
struct KeyCodec {
  U mask_positive;  // xor for keys whose top bit is clear
  U mask_negative;  // xor for keys whose top bit is set
  U nan_count;      // 2^mantissa - 1 with NAN_LAST on floats, otherwise 0

  static constexpr U kTop = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));
  // There are no floats of 8 bits; integers have one mask for all.
  static constexpr bool kMayBeFloat = sizeof(U) > 1;

  GSORT_HOST_DEVICE bool is_identity() const { return mask_positive == 0 && mask_negative == 0 && nan_count == 0; }

  GSORT_HOST_DEVICE U encode(U bits) const {
    if (!kMayBeFloat) return static_cast<U>(bits ^ mask_positive);
    const U plain = static_cast<U>(bits ^ ((bits & kTop) ? mask_negative : mask_positive));
    return nan_count == 0 ? plain : encode_nan_last(bits, plain);
  }

  GSORT_HOST_DEVICE U decode(U ordered) const {
    if (!kMayBeFloat) return static_cast<U>(ordered ^ mask_positive);
    if (nan_count != 0) {
      const U first_negative_nan = static_cast<U>(U{0} - nan_count);
      if (ordered >= first_negative_nan) return ordered;
      if (ordered >= static_cast<U>(first_negative_nan - nan_count))
        return static_cast<U>(static_cast<U>(ordered + nan_count) & static_cast<U>(~kTop));
      ordered = static_cast<U>(ordered + nan_count);
    }
    // A key's top bit tells which mask made it: the one that, undone, gives that mask's own top bit back.
    const U with_positive = static_cast<U>(ordered ^ mask_positive);
    return (with_positive & kTop) ? static_cast<U>(ordered ^ mask_negative) : with_positive;
  }

 private:
  GSORT_HOST_DEVICE U encode_nan_last(U bits, U plain) const {
    const U magnitude = static_cast<U>(bits & static_cast<U>(~kTop));
    const U infinity = static_cast<U>(static_cast<U>(~kTop) - nan_count);
    if (magnitude <= infinity) return static_cast<U>(plain - nan_count);
    return (bits & kTop) ? bits : static_cast<U>((bits | kTop) - nan_count);
  }
};

// What an order is, without its width: a plain value that plans and requests carry.
struct KeyOrder {
  gsort_dtype dtype;
  bool descending;
  bool nan_last;  // false for integers
};

template <class U>
KeyCodec<U> make_codec(const KeyOrder &order) {
  constexpr U top = KeyCodec<U>::kTop, all = static_cast<U>(~U{0});
  const Kind kind = dtype_facts(order.dtype).kind;
  KeyCodec<U> codec{0, 0, 0};
  if (kind == Kind::kSigned) codec = {top, top, 0};
  if (kind == Kind::kFloat) codec = {top, all, 0};
  if (order.descending) {
    codec.mask_positive = static_cast<U>(codec.mask_positive ^ all);
    codec.mask_negative = static_cast<U>(codec.mask_negative ^ all);
  }
  if (order.nan_last && kind == Kind::kFloat)
    codec.nan_count = static_cast<U>((uint64_t{1} << dtype_facts(order.dtype).mantissa_bits) - 1);
  return codec;
}

}  // namespace gsort_internal

#endif  // GSORT_CORE_KEY_BITS_H_
