// SPDX-License-Identifier: MIT OR Apache-2.0
// How the kernels of the MSD sort by splitters find a key's bin and digit. U is uint64_t here and in all of split_*.
#ifndef GSORT_CUDA_SORT_MSD_SPLIT_STATE_CUH_
#define GSORT_CUDA_SORT_MSD_SPLIT_STATE_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/tables.h"

namespace gsort_internal::sort::msd {

// Values of a bin but one: 0 for a bin of one value. The last bin ends with the largest key, behind which comes 0.
template <class U>
__device__ __forceinline__ U split_width(const U *starts, uint32_t bin) {
  return static_cast<U>(starts[bin + 1] - starts[bin] - 1);
}

constexpr uint32_t kSplitSearch = 1u << 31, kSplitSub = 1u << 30, kSplitUneven = 1u << 31;

// The tables that find a key's bin, in shared memory.
template <class U>
struct SplitTables {
  alignas(16) uint32_t root[kSplitTableWords];
  uint32_t sub_words[kSplitSubsMax];
  U sub_least[kSplitSubsMax];
  U starts[kSplitBinsMax + 1];
};

// The number of a word in an entry's own table. Monotone in `above`.
template <class U>
__device__ __forceinline__ uint32_t sub_number(U above) {
  const uint32_t bits = bit_width(above), shift = bits > kSplitSubBits + 1 ? bits - kSplitSubBits - 1 : 0;
  return (shift << kSplitSubBits) + static_cast<uint32_t>(above >> shift);
}

// The least that has this number.
template <class U>
__device__ __forceinline__ U sub_number_begin(uint32_t number) {
  if (number < 2u << kSplitSubBits) return number;
  const U leading = (number & ((1u << kSplitSubBits) - 1)) | 1u << kSplitSubBits;
  return static_cast<U>(leading << ((number >> kSplitSubBits) - 1));
}

// A word of the root has its first bin in the lowest 10 bits and their number in the next 10. Bins are of equal width
// within the entry, or found between their starts where kSplitSearch is set, or by the table whose number the lowest
// bits are where kSplitSub is.
template <class U>
struct SplitBins {
  U least, most;
  uint32_t shift;
  const SplitTables<U> *tables;

  // The 32 bits below those that find the entry.
  __device__ __forceinline__ uint32_t rest(U above) const {
    return static_cast<uint32_t>(above << (63 - shift) << 1 >> 32);
  }

  // kNone: keys of bins of one value have no bin.
  template <bool kNone>
  __device__ __forceinline__ uint32_t search(U key, uint32_t word) const {
    if ((word & kSplitSub) != 0) {
      const uint32_t sub = word & 0x3ffu, words = tables->sub_words[sub];
      const U from = tables->sub_least[sub];
      word = tables->root[(words >> 16) + min(sub_number(static_cast<U>(max(key, from) - from)), words & 0xffffu)];
    }
    uint32_t bin = word & 0x3ffu;
    for (uint32_t count = word >> 10 & 0x3ffu; count > 1;) {
      const uint32_t half = count / 2;
      if (tables->starts[bin + half] <= key) bin += half;
      count -= half;
    }
    return kNone && split_width(tables->starts, bin) == 0 ? kSplitNoBin : bin;
  }

  // Of some keys at a time, so that their lookups overlap.
  template <bool kNone, uint32_t kItems>
  __device__ __forceinline__ void find(const U *keys, uint32_t (&bins)[kItems]) const {
    uint32_t words[kItems], any = 0;
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) {
      const U above = static_cast<U>(min(max(keys[i], least), most) - least);
      words[i] = tables->root[above >> shift];
      bins[i] = rest(above);
    }
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i) {
      any |= words[i];
      bins[i] = (words[i] & 0x3ffu) + __umulhi(bins[i], words[i] >> 10);
    }
    if (any < kSplitSub) return;
#pragma unroll
    for (uint32_t i = 0; i < kItems; ++i)
      if (words[i] >= kSplitSub) bins[i] = search<kNone>(keys[i], words[i]);
  }
};

// How keys of a bin find their digits.
template <class U>
struct SplitEvenDigits {
  U least;
  uint32_t shift, digit_bits;

  __device__ __forceinline__ uint32_t operator()(U key) const {
    const U digit = static_cast<U>((max(key, least) - least) >> shift);
    return static_cast<uint32_t>(min(digit, static_cast<U>((U{1} << digit_bits) - 1)));
  }
};

// Shares of digits between knots, which are in shared memory.
template <class U>
struct SplitKnots {
  U knots[kSplitKnots];
  uint32_t shifts[kSplitKnots];
};
template <class U>
struct SplitUnevenDigits {
  const SplitKnots<U> *knots;
  uint32_t digit_bits;

  __device__ __forceinline__ uint32_t operator()(U key) const {
    uint32_t knot = 0;
#pragma unroll
    for (uint32_t step = kSplitKnots / 2; step != 0; step /= 2)
      if (knots->knots[knot + step] <= key) knot += step;
    const uint32_t bits = digit_bits - kSplitKnotBits;
    // No key is below the bin's start; those of a knot stay below the next.
    const U within = static_cast<U>((key - knots->knots[knot]) >> knots->shifts[knot]);
    return knot << bits | static_cast<uint32_t>(min(within, static_cast<U>((U{1} << bits) - 1)));
  }
};

template <class U>
__device__ __forceinline__ void load_knots(const SplitArguments<U> &arguments, uint32_t bin, SplitKnots<U> &knots) {
  if (threadIdx.x >= kSplitKnots) return;
  knots.knots[threadIdx.x] = arguments.knots[bin * kSplitKnots + threadIdx.x];
  knots.shifts[threadIdx.x] = arguments.knot_shift[bin * kSplitKnots + threadIdx.x];
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SPLIT_STATE_CUH_
