// SPDX-License-Identifier: MIT OR Apache-2.0
// From limbs to the answer, by one thread: the quick twin of Superaccumulator's own rounding, which looks at the limbs
// in use only. Both round the same number once, so they agree.
#ifndef GSORT_CUDA_SUM_FINISH_CUH_
#define GSORT_CUDA_SUM_FINISH_CUH_

#include <cstdint>

#include "core/superaccumulator.h"

namespace gsort_internal::sum {

// limb[begin, end) are all that can be other than zero.
constexpr int32_t kFewLimbs = 5;
struct Total {
  int64_t *limb;  // kSumLimbs of them
  int32_t begin, end;
  uint32_t flags;
};

// Makes every limb a word from 0 to 2^32 - 1 of the sum's magnitude; true if the sum is negative.
__device__ inline bool make_words(Total &total) {
  int64_t carry = 0;
  int32_t i = total.begin;
  for (; i < total.end || (carry != 0 && carry != -1 && i < static_cast<int32_t>(kSumLimbs)); ++i) {
    const int64_t value = total.limb[i] + carry;
    total.limb[i] = value & 0xffffffff;
    carry = value >> 32;
  }
  total.end = i;
  if (carry == 0) return false;
  // The words stand for the sum + 2^(32 * count): the complement is the magnitude.
  uint64_t add = 1;
  for (i = total.begin; i < total.end; ++i) {
    add += static_cast<uint32_t>(~static_cast<uint64_t>(total.limb[i]));
    total.limb[i] = static_cast<int64_t>(add & 0xffffffffu);
    add >>= 32;
  }
  // Only a magnitude of 2^(32 * count) carries here, and then there is room for it: the sum is below 2^2098.
  if (add != 0) total.limb[total.end++] = 1;
  return true;
}

// One word of a long division: remainder and word become quotient word and remainder.
__device__ inline uint32_t divide_word(uint64_t &remainder, uint32_t word, uint64_t divisor) {
  if (divisor >> 32 == 0) {
    const uint64_t value = remainder << 32 | word;  // remainder < divisor < 2^32
    const uint64_t quotient = value / divisor;
    remainder = value - quotient * divisor;
    return static_cast<uint32_t>(quotient);
  }
  uint32_t quotient = 0;
  for (uint32_t bit = 32; bit-- > 0;) {
    const bool overflow = (remainder >> 63) != 0;
    remainder = remainder << 1 | ((word >> bit) & 1);
    const bool fits = overflow || remainder >= divisor;
    if (fits) remainder -= divisor;
    quotient = quotient << 1 | (fits ? 1 : 0);
  }
  return quotient;
}

// Rounds (words * 2^(32 * low - 1074) + something below the last word's unit, if `more`) to the nearest double, ties
// to even. The three words are first[0] (the greatest, not 0), first[1], first[2]; `low` is first[2]'s number.
__device__ inline uint64_t round_words(const uint32_t (&first)[3], int32_t low, bool more) {
  const int32_t top = 95 - __clz(static_cast<int>(first[0]));  // position of the highest bit above 2^(32 * low - 1074)
  const int32_t unit_position = -32 * low;                     // of 2^-1074, the finest that a double has
  const int32_t cut = max(top - 52, unit_position);            // bits below this position are rounded away
  if (cut > top + 1) return 0;
  const unsigned __int128 value =
      static_cast<unsigned __int128>(first[0]) << 64 | static_cast<uint64_t>(first[1]) << 32 | first[2];
  // cut is at least 12: 24 bits or more of three words lie below any double's mantissa, and with fewer words above
  // the unit the unit's position is at least 32.
  const uint64_t kept = static_cast<uint64_t>(value >> cut);
  const bool half = static_cast<uint64_t>(value >> (cut - 1)) & 1;
  const bool below = more || (value & ((static_cast<unsigned __int128>(1) << (cut - 1)) - 1)) != 0;
  const uint64_t mantissa = kept + ((half && (below || (kept & 1))) ? 1 : 0);
  // A mantissa of 53 bits adds its own top bit to the exponent, and a carry out of it one more.
  const int32_t exponent = cut - unit_position;
  if (exponent > 2045) return kDoubleInf;
  const uint64_t bits = (static_cast<uint64_t>(exponent) << 52) + mantissa;
  return bits < kDoubleInf ? bits : kDoubleInf;
}

// The sum of a few limbs rounded, its words in registers all the time.
__device__ inline uint64_t round_few(const Total &total) {
  constexpr int32_t kWords = kFewLimbs + 2;
  int64_t limb[kFewLimbs];
#pragma unroll
  for (int32_t i = 0; i < kFewLimbs; ++i) limb[i] = total.begin + i < total.end ? total.limb[total.begin + i] : 0;
  uint32_t word[kWords];
  int64_t carry = 0;
#pragma unroll
  for (int32_t i = 0; i < kFewLimbs; ++i) {
    const int64_t value = limb[i] + carry;
    word[i] = static_cast<uint32_t>(value);
    carry = value >> 32;
  }
  word[kFewLimbs] = static_cast<uint32_t>(carry);
  word[kFewLimbs + 1] = static_cast<uint32_t>(carry >> 32);
  const uint32_t flip = carry < 0 ? 0xffffffffu : 0;
  uint64_t add = flip & 1;
  int32_t top = -1;
#pragma unroll
  for (int32_t i = 0; i < kWords; ++i) {
    add += word[i] ^ flip;
    word[i] = static_cast<uint32_t>(add);
    add >>= 32;
    if (word[i] != 0) top = i;
  }
  if (top < 0) return (total.flags & kSumNotMinus0) ? 0 : kDoubleSign;
  uint32_t first[3] = {0, 0, 0}, below = 0;
#pragma unroll
  for (int32_t i = 0; i < kWords; ++i) {
    // Masks instead of choices: of these the compiler would make an array in local memory.
#pragma unroll
    for (int32_t j = 0; j < 3; ++j) first[j] |= word[i] & (i == top - j ? 0xffffffffu : 0);
    below |= word[i] & (i < top - 2 ? 0xffffffffu : 0);
  }
  return round_words(first, total.begin + top - 2, below != 0) | (flip ? kDoubleSign : 0);
}

// The sum divided by `divisor` (1 for the sum itself), rounded once to a double.
__device__ inline uint64_t round_total(Total total, uint64_t divisor) {
  const uint32_t both = kSumPosInf | kSumNegInf;
  if ((total.flags & kSumNan) || (total.flags & both) == both) return kDoubleQuietNan;
  if (total.flags & both) return kDoubleInf | ((total.flags & kSumNegInf) ? kDoubleSign : 0);
  if (divisor == 1 && total.end - total.begin <= kFewLimbs) return round_few(total);
  const bool negative = make_words(total);
  int32_t at = total.end - 1;
  while (at >= total.begin && total.limb[at] == 0) --at;
  if (at < total.begin) return (total.flags & kSumNotMinus0) ? 0 : kDoubleSign;

  uint64_t remainder = 0;
  uint32_t first[3] = {0, 0, 0};
  for (uint32_t found = 0; found < 3; --at) {
    const uint32_t word = at >= total.begin ? static_cast<uint32_t>(total.limb[at]) : 0;
    const uint32_t quotient = divisor == 1 ? word : divide_word(remainder, word, divisor);
    if (found == 0 && quotient == 0) continue;
    if (found == 0) first[0] = quotient;
    if (found == 1) first[1] = quotient;
    if (found == 2) first[2] = quotient;
    ++found;
  }
  bool more = remainder != 0;
  for (int32_t i = total.begin; i <= at && !more; ++i) more = total.limb[i] != 0;
  return round_words(first, at + 1, more) | (negative ? kDoubleSign : 0);
}

// The sum of integers, of which n times 2^(width - 1) too much was added if `excess_shift` >= 0.
__device__ __forceinline__ unsigned __int128 total_of_integers(const int64_t *limb, uint64_t n, int32_t excess_shift) {
  unsigned __int128 total = 0;
  for (int32_t i = 3; i >= 0; --i) total = (total << 32) + static_cast<uint64_t>(limb[i]);
  if (excess_shift >= 0) total -= static_cast<unsigned __int128>(n) << excess_shift;
  return total;
}

// The sum's low 64 bits, or the mean.
__device__ inline uint64_t finish_integers(int64_t *limb, uint64_t n, int32_t excess_shift, bool mean) {
  const unsigned __int128 total = total_of_integers(limb, n, excess_shift);
  if (!mean) return static_cast<uint64_t>(total);
  const bool negative = static_cast<int64_t>(static_cast<uint64_t>(total >> 64)) < 0;
  unsigned __int128 magnitude = negative ? 0 - total : total;
  // 2^0 stands 1074 = 33 * 32 + 18 bits above the limbs' unit.
  constexpr int32_t kPlace = kSumOneBit / 32, kShift = kSumOneBit % 32;
  uint64_t carry = 0;
  for (int32_t i = 0; i < 5; ++i, magnitude >>= 32) {
    const uint64_t shifted = (static_cast<uint64_t>(magnitude & 0xffffffffu) << kShift) + carry;
    limb[kPlace + i] = static_cast<int64_t>(shifted & 0xffffffffu);
    carry = shifted >> 32;
  }
  const Total parts{limb, kPlace, kPlace + 5, kSumNotMinus0};
  return round_total(parts, n) | (negative ? kDoubleSign : 0);
}

}  // namespace gsort_internal::sum

#endif  // GSORT_CUDA_SUM_FINISH_CUH_
