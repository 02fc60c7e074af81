// SPDX-License-Identifier: MIT OR Apache-2.0
// Running sums of integers within a 16-byte vector, modulo their width.
#ifndef GSORT_CUDA_SCAN_VECTOR_CUH_
#define GSORT_CUDA_SCAN_VECTOR_CUH_

#include <cstdint>
#include <type_traits>

namespace gsort_internal::scan {

// What sums of U are kept in; modulo the width of U nothing is lost.
template <class U>
using IntegerSumOf = std::conditional_t<sizeof(U) == 8, uint64_t, uint32_t>;

// Several elements in a word, each modulo its own width: the top bits of all are added without their carry.
template <class U>
__device__ __forceinline__ uint32_t add_packed(uint32_t a, uint32_t b) {
  constexpr uint32_t kTops = sizeof(U) == 1 ? 0x80808080u : 0x80008000u;
  return ((a & ~kTops) + (b & ~kTops)) ^ ((a ^ b) & kTops);
}

template <class U>
__device__ __forceinline__ uint32_t in_all_elements(uint32_t x) {
  return sizeof(U) == 1 ? (x & 0xff) * 0x01010101u : sizeof(U) == 2 ? (x & 0xffff) * 0x00010001u : x;
}

// The last element of a vector.
template <class U>
__device__ __forceinline__ IntegerSumOf<U> last_of(const uint4 &v) {
  if constexpr (sizeof(U) == 8)
    return v.z | static_cast<uint64_t>(v.w) << 32;
  else
    return v.w >> (32 - sizeof(U) * 8);
}

// Moves all elements of `words` one element on; `first`, in an element's low bits, comes in, the last one falls out.
template <class Bits, uint32_t kWords>
__device__ __forceinline__ void shift_elements(uint32_t (&words)[kWords], Bits first) {
#pragma unroll
  for (uint32_t i = kWords; i-- > 0;) {
    if constexpr (sizeof(Bits) == 8)
      words[i] = i >= 2 ? words[i - 2] : static_cast<uint32_t>(first >> (i * 32));
    else if constexpr (sizeof(Bits) == 4)
      words[i] = i >= 1 ? words[i - 1] : first;
    else
      words[i] = __funnelshift_l(i >= 1 ? words[i - 1] : static_cast<uint32_t>(first) << (32 - sizeof(Bits) * 8),
                                 words[i], sizeof(Bits) * 8);
  }
}

// Replaces the elements by their running sums.
template <class U>
__device__ __forceinline__ void make_running(uint4 &v) {
  if constexpr (sizeof(U) == 8) {
    const uint64_t sum = (v.x | static_cast<uint64_t>(v.y) << 32) + (v.z | static_cast<uint64_t>(v.w) << 32);
    v.z = static_cast<uint32_t>(sum), v.w = static_cast<uint32_t>(sum >> 32);
  } else if constexpr (sizeof(U) == 4) {
    v.y += v.x, v.z += v.y, v.w += v.z;
  } else {
    uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      if constexpr (sizeof(U) == 1) words[i] = add_packed<U>(words[i], words[i] << 8);
      words[i] = add_packed<U>(words[i], words[i] << 16);
      if (i != 0) words[i] = add_packed<U>(words[i], in_all_elements<U>(words[i - 1] >> (32 - sizeof(U) * 8)));
    }
    v = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

// Moves all elements one on; `first` comes in, the last one falls out.
template <class U>
__device__ __forceinline__ void shift_vector(uint4 &v, IntegerSumOf<U> first) {
  uint32_t words[4] = {v.x, v.y, v.z, v.w};
  shift_elements<U>(words, static_cast<U>(first));
  v = make_uint4(words[0], words[1], words[2], words[3]);
}

template <class U>
__device__ __forceinline__ void add_to_all(uint4 &v, IntegerSumOf<U> term) {
  if constexpr (sizeof(U) == 8) {
    const uint64_t first = (v.x | static_cast<uint64_t>(v.y) << 32) + term;
    const uint64_t second = (v.z | static_cast<uint64_t>(v.w) << 32) + term;
    v = make_uint4(static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32), static_cast<uint32_t>(second),
                   static_cast<uint32_t>(second >> 32));
  } else if constexpr (sizeof(U) == 4) {
    v = make_uint4(v.x + term, v.y + term, v.z + term, v.w + term);
  } else {
    const uint32_t terms = in_all_elements<U>(term);
    v = make_uint4(add_packed<U>(v.x, terms), add_packed<U>(v.y, terms), add_packed<U>(v.z, terms),
                   add_packed<U>(v.w, terms));
  }
}

}  // namespace gsort_internal::scan

#endif  // GSORT_CUDA_SCAN_VECTOR_CUH_
