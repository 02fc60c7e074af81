// SPDX-License-Identifier: MIT OR Apache-2.0
// What a scan knows of its element types, and how a sum travels between blocks.
#ifndef GSORT_CUDA_KERNELS_SCAN_ELEMENT_CUH_
#define GSORT_CUDA_KERNELS_SCAN_ELEMENT_CUH_

#include <cstdint>
#include <type_traits>

#include "core/superaccumulator.h"

namespace gsort_internal {

// Nearest float in the direction of zero, its last bit set if that was not exact: rounding this once more to a type at
// least two bits shorter equals rounding the double once.
__device__ __forceinline__ float float_to_odd(double x) {
  const float f = __double2float_rz(x);
  return static_cast<double>(f) == x ? f : __uint_as_float(__float_as_uint(f) | 1);
}

struct ScanF32 {
  using Bits = uint32_t;
  using Sum = double;
  static constexpr bool kFloat = true;
  static constexpr Bits kIdentity = 0x80000000u;  // -0
  __device__ static __forceinline__ Sum widen(Bits b) { return __uint_as_float(b); }
  __device__ static __forceinline__ Bits narrow(Sum s) {
    return s == s ? __float_as_uint(__double2float_rn(s)) : 0x7fc00000u;
  }
};

struct ScanF64 {
  using Bits = uint64_t;
  using Sum = double;
  static constexpr bool kFloat = true;
  static constexpr Bits kIdentity = kDoubleSign;
  __device__ static __forceinline__ Sum widen(Bits b) { return double_of_bits(b); }
  __device__ static __forceinline__ Bits narrow(Sum s) { return s == s ? bits_of_double(s) : kDoubleQuietNan; }
};

struct ScanF16 {
  using Bits = uint16_t;
  using Sum = double;
  static constexpr bool kFloat = true;
  static constexpr Bits kIdentity = 0x8000;
  __device__ static __forceinline__ Sum widen(Bits b) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(b));
    return f;
  }
  __device__ static __forceinline__ Bits narrow(Sum s) {
    Bits b;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(float_to_odd(s)));
    return s == s ? b : Bits{0x7e00};
  }
};

struct ScanBf16 {
  using Bits = uint16_t;
  using Sum = double;
  static constexpr bool kFloat = true;
  static constexpr Bits kIdentity = 0x8000;
  __device__ static __forceinline__ Sum widen(Bits b) { return __uint_as_float(static_cast<uint32_t>(b) << 16); }
  __device__ static __forceinline__ Bits narrow(Sum s) {
    const uint32_t f = __float_as_uint(float_to_odd(s));
    const uint32_t rounded = (f + 0x7fff + ((f >> 16) & 1)) >> 16;  // to nearest, ties to even; no NaN comes here
    return s == s ? static_cast<Bits>(rounded) : Bits{0x7fc0};
  }
};

// Signed and unsigned integers alike, modulo their width.
template <class U>
struct ScanInteger {
  using Bits = U;
  using Sum = typename std::conditional<sizeof(U) == 8, uint64_t, uint32_t>::type;
  static constexpr bool kFloat = false;
  static constexpr Bits kIdentity = 0;
  __device__ static __forceinline__ Sum widen(Bits b) { return b; }
  __device__ static __forceinline__ Bits narrow(Sum s) { return static_cast<U>(s); }
};

// What an empty term adds: -0.0, not +0.0, so that sums of -0 alone stay -0.
template <class Sum>
__device__ __forceinline__ Sum scan_zero() {
  return std::is_same<Sum, double>::value ? static_cast<Sum>(-0.0) : Sum{0};
}

__device__ __forceinline__ double scan_add(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ uint32_t scan_add(uint32_t a, uint32_t b) { return a + b; }
__device__ __forceinline__ uint64_t scan_add(uint64_t a, uint64_t b) { return a + b; }

// A published word that no sum makes: the memory is filled with it before the launch. The only double of these bits is
// a NaN, and NaNs are published as the quiet one.
constexpr uint64_t kScanEmpty = UINT64_MAX;

// Relaxed: the word itself says whether it is there, and nothing else is read on its account.
__device__ __forceinline__ uint64_t load_relaxed(const uint64_t *p) {
  return *const_cast<const volatile uint64_t *>(p);
}
// Two words, each a relaxed load of its own. p is aligned to 16.
__device__ __forceinline__ void load_relaxed_pair(const uint64_t *p, uint64_t &first, uint64_t &second) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(first), "=l"(second) : "l"(p) : "memory");
}
__device__ __forceinline__ void store_relaxed(uint64_t *p, uint64_t v) { *const_cast<volatile uint64_t *>(p) = v; }

// Sums on their way between blocks: place i's words lie at words[i], words[i + stride], one a plane.
template <class Sum>
struct ScanMailbox {
  static constexpr uint32_t kPlanes = std::is_same<Sum, uint64_t>::value ? 2 : 1;
  uint64_t *words;
  uint64_t stride;

  __device__ __forceinline__ void publish(uint64_t place, Sum sum) const {
    if constexpr (std::is_same<Sum, double>::value) {
      store_relaxed(words + place, sum == sum ? bits_of_double(sum) : kDoubleQuietNan);
    } else if constexpr (kPlanes == 1) {
      store_relaxed(words + place, sum);
    } else {
      store_relaxed(words + place, sum & 0xffffffffu);
      store_relaxed(words + place + stride, sum >> 32);
    }
  }

  // False if the sum is not there yet.
  __device__ __forceinline__ bool fetch(uint64_t place, Sum &sum) const {
    const uint64_t low = load_relaxed(words + place);
    const uint64_t high = kPlanes == 2 ? load_relaxed(words + place + stride) : 0;
    return unpack(low, high, sum);
  }

  // `Count` sums from `place` on, which is a multiple of Count; true if the first `wanted` are there. All loads go out
  // before the first is looked at, so that they take one trip to the L2 cache together.
  template <uint32_t Count>
  __device__ __forceinline__ bool fetch_run(uint64_t place, uint32_t wanted, Sum (&sums)[Count]) const {
    uint64_t low[Count], high[Count];
#pragma unroll
    for (uint32_t j = 0; j < Count; j += 2) load_relaxed_pair(words + place + j, low[j], low[j + 1]);
#pragma unroll
    for (uint32_t j = 0; j < Count; j += 2) {
      high[j] = high[j + 1] = 0;
      if constexpr (kPlanes == 2) load_relaxed_pair(words + stride + place + j, high[j], high[j + 1]);
    }
    bool there = true;
#pragma unroll
    for (uint32_t j = 0; j < Count; ++j) there &= unpack(low[j], high[j], sums[j]) | (j >= wanted);
    return there;
  }

 private:
  __device__ static __forceinline__ bool unpack(uint64_t low, uint64_t high, Sum &sum) {
    if constexpr (std::is_same<Sum, double>::value)
      sum = double_of_bits(low);
    else
      sum = static_cast<Sum>(low | high << 32);
    return low != kScanEmpty && high != kScanEmpty;
  }
};

}  // namespace gsort_internal

#endif  // GSORT_CUDA_KERNELS_SCAN_ELEMENT_CUH_
