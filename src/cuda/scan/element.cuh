// SPDX-License-Identifier: MIT OR Apache-2.0
// What a scan knows of its float types.
#ifndef GSORT_CUDA_SCAN_ELEMENT_CUH_
#define GSORT_CUDA_SCAN_ELEMENT_CUH_

#include <cstdint>
#include <type_traits>

#include "core/superaccumulator.h"
#include "cuda/primitive/ptx.cuh"

namespace gsort_internal::scan {

// Nearest float in the direction of zero, its last bit set if that was not exact: rounding this once more to a type at
// least two bits shorter equals rounding the double once.
__device__ __forceinline__ float float_to_odd(double x) {
  const float f = __double2float_rz(x);
  return static_cast<double>(f) == x ? f : __uint_as_float(__float_as_uint(f) | 1);
}

// The same for types that round all subnormal floats to 0: a normal float leaves out the double's last 29 bits, and to
// look at them is quicker than to convert back.
__device__ __forceinline__ float normal_float_to_odd(double x) {
  const float f = __double2float_rz(x);
  const bool exact = static_cast<uint32_t>(__double2loint(x)) << 3 == 0;
  return exact ? f : __uint_as_float(__float_as_uint(f) | 1);
}

struct F32 {
  using Sum = double;
  using Bits = uint32_t;
  static constexpr Bits kIdentity = 0x80000000u;  // -0
  __device__ static __forceinline__ double widen(Bits b) { return __uint_as_float(b); }
  __device__ static __forceinline__ Bits narrow(double s) {
    return s == s ? __float_as_uint(__double2float_rn(s)) : 0x7fc00000u;
  }
};

struct F64 {
  using Sum = double;
  using Bits = uint64_t;
  static constexpr Bits kIdentity = kDoubleSign;
  __device__ static __forceinline__ double widen(Bits b) { return double_of_bits(b); }
  __device__ static __forceinline__ Bits narrow(double s) { return s == s ? bits_of_double(s) : kDoubleQuietNan; }
};

struct F16 {
  using Sum = double;
  using Bits = uint16_t;
  static constexpr Bits kIdentity = 0x8000;
  __device__ static __forceinline__ double widen(Bits b) { return float_of_half(b); }
  __device__ static __forceinline__ Bits narrow(double s) {
    const Bits b = half_of_float(normal_float_to_odd(s));
    return s == s ? b : Bits{0x7e00};
  }
};

struct Bf16 {
  using Sum = double;
  using Bits = uint16_t;
  static constexpr Bits kIdentity = 0x8000;
  __device__ static __forceinline__ double widen(Bits b) { return __uint_as_float(static_cast<uint32_t>(b) << 16); }
  __device__ static __forceinline__ Bits narrow(double s) {
    const uint32_t f = __float_as_uint(float_to_odd(s));
    const uint32_t rounded = (f + 0x7fff + ((f >> 16) & 1)) >> 16;  // to nearest, ties to even; no NaN comes here
    return s == s ? static_cast<Bits>(rounded) : Bits{0x7fc0};
  }
};

// Unsigned integers, so few that no sum of those of up to 4 bytes reaches 2^53: additions of doubles are exact, and the
// low bits are the sum modulo the width of U, which is that of signed integers too. Those of 8 bytes are added as they
// are.
template <class U>
struct FewIntegers {
  using Sum = std::conditional_t<sizeof(U) == 8, uint64_t, double>;
  using Bits = U;
  static constexpr Bits kIdentity = 0;
  __device__ static __forceinline__ Sum widen(Bits b) { return static_cast<Sum>(b); }
  __device__ static __forceinline__ Bits narrow(Sum s) { return static_cast<Bits>(static_cast<uint64_t>(s)); }
};

// Elements that no plan leaves to a block of its own.
template <class Element>
constexpr bool kInClustersAlone = false;
template <class U>
constexpr bool kInClustersAlone<FewIntegers<U>> = true;

}  // namespace gsort_internal::scan

#endif  // GSORT_CUDA_SCAN_ELEMENT_CUH_
