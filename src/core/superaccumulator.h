// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact sums: a fixed-point number wide enough for every double, so that adding never rounds and the order of the
// elements never shows. Shared by host and device code.
#ifndef GSORT_CORE_SUPERACCUMULATOR_H_
#define GSORT_CORE_SUPERACCUMULATOR_H_

#include <cstdint>

#include "core/key_bits.h"

namespace gsort_internal {

// value = sum of limb[i] * 2^(32 * i - 1074). Limbs are signed and carried lazily: an addition changes each by less
// than 2^32, so 2^30 additions fit between two normalisations.
constexpr uint32_t kSumLimbs = 68;  // 2^-1074 to 2^1023 takes 2098 bits; 78 more hold the carries of 2^64 elements
constexpr uint64_t kSumPendingMax = uint64_t{1} << 30;
constexpr uint32_t kSumOneBit = 1074;  // position of 2^0

constexpr uint32_t kSumNan = 1;        // a NaN was added
constexpr uint32_t kSumPosInf = 2;     // +inf was added
constexpr uint32_t kSumNegInf = 4;     // -inf was added
constexpr uint32_t kSumNotMinus0 = 8;  // an element other than -0 was added

constexpr uint64_t kDoubleSign = uint64_t{1} << 63;
constexpr uint64_t kDoubleInf = uint64_t{0x7ff} << 52;
constexpr uint64_t kDoubleQuietNan = uint64_t{0x7ff8} << 48;

GSORT_HOST_DEVICE uint64_t bits_of_double(double x) {
  uint64_t bits;
#if defined(__CUDA_ARCH__)
  bits = static_cast<uint64_t>(__double_as_longlong(x));
#else
  __builtin_memcpy(&bits, &x, sizeof bits);
#endif
  return bits;
}

GSORT_HOST_DEVICE double double_of_bits(uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
#endif
}

// What adding one finite double does: word[j], each below 2^32, goes to limb[limb + j], negated if `negative`.
struct SumWords {
  uint32_t limb;
  uint32_t word[3];
  bool negative;
};

// `bits` are those of a finite double.
GSORT_HOST_DEVICE SumWords sum_words(uint64_t bits) {
  const uint32_t exponent = static_cast<uint32_t>(bits >> 52) & 0x7ff;
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const uint64_t mantissa = exponent == 0 ? fraction : fraction | (uint64_t{1} << 52);
  const uint32_t position = exponent == 0 ? 0 : exponent - 1;
  const uint32_t shift = position & 31;
  const uint64_t low = (mantissa & 0xffffffffu) << shift;
  const uint64_t high = ((mantissa >> 32) << shift) + (low >> 32);
  return {position >> 5,
          {static_cast<uint32_t>(low), static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)},
          (bits & kDoubleSign) != 0};
}

// Flags that an element gives.
GSORT_HOST_DEVICE uint32_t sum_flags(uint64_t bits) {
  const uint64_t magnitude = bits & ~kDoubleSign;
  const uint32_t plain = bits == kDoubleSign ? 0 : kSumNotMinus0;
  if (magnitude < kDoubleInf) return plain;
  if (magnitude > kDoubleInf) return plain | kSumNan;
  return plain | ((bits & kDoubleSign) ? kSumNegInf : kSumPosInf);
}

class Superaccumulator {
 public:
  // Not cleared by construction, so that it can lie in shared memory.
  GSORT_HOST_DEVICE void clear() {
    for (uint32_t i = 0; i < kSumLimbs; ++i) limb_[i] = 0;
    pending_ = 0;
    flags_ = 0;
    count_ = 0;
  }

  // Adds one element.
  GSORT_HOST_DEVICE void add(double x) {
    const uint64_t bits = bits_of_double(x);
    note(sum_flags(bits), 1);
    if ((bits & kDoubleInf) != kDoubleInf) add_finite(bits);
  }

  // Adds a finite part of the sum that is not an element of its own: flags and count stay.
  GSORT_HOST_DEVICE void add_part(double finite) { add_finite(bits_of_double(finite)); }

  // Adds limbs of the same meaning, each of magnitude below 2^62 (any normalised or lazily carried accumulator).
  GSORT_HOST_DEVICE void add_limbs(const int64_t *limbs) {
    normalise();
    int64_t carry = 0;
    for (uint32_t i = 0; i < kSumLimbs; ++i) limb_[i] = carried(limb_[i] + limbs[i] + carry, i, carry);
  }

  GSORT_HOST_DEVICE void add(const Superaccumulator &other) {
    add_limbs(other.limb_);
    note(other.flags_, other.count_);
  }

  // Adds the integer high * 2^64 + low (two's complement), as a part.
  GSORT_HOST_DEVICE void add_int128(int64_t high, uint64_t low) {
    const bool negative = high < 0;
    uint64_t magnitude_high = static_cast<uint64_t>(high), magnitude_low = low;
    if (negative) {
      magnitude_low = ~low + 1;
      magnitude_high = ~magnitude_high + (magnitude_low == 0 ? 1 : 0);
    }
    add_word(static_cast<uint32_t>(magnitude_low), kSumOneBit, negative);
    add_word(static_cast<uint32_t>(magnitude_low >> 32), kSumOneBit + 32, negative);
    add_word(static_cast<uint32_t>(magnitude_high), kSumOneBit + 64, negative);
    add_word(static_cast<uint32_t>(magnitude_high >> 32), kSumOneBit + 96, negative);
  }

  // Adds value * 2^(position - 1074), as a part. position: up to that of the greatest double's last bit.
  GSORT_HOST_DEVICE void add_integer(int64_t value, uint32_t position) {
    const bool negative = value < 0;
    const uint64_t magnitude = negative ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
    add_word(static_cast<uint32_t>(magnitude), position, negative);
    add_word(static_cast<uint32_t>(magnitude >> 32), position + 32, negative);
  }

  // Says that `elements` more elements with these flags are in the sum.
  GSORT_HOST_DEVICE void note(uint32_t flags, uint64_t elements) {
    flags_ |= flags;
    count_ += elements;
  }

  // Makes every limb but the top one, which keeps the sign, a word from 0 to 2^32 - 1.
  GSORT_HOST_DEVICE void normalise() {
    int64_t carry = 0;
    for (uint32_t i = 0; i < kSumLimbs; ++i) limb_[i] = carried(limb_[i] + carry, i, carry);
    pending_ = 0;
  }

  GSORT_HOST_DEVICE const int64_t *limbs() const { return limb_; }
  GSORT_HOST_DEVICE int64_t *limbs() { return limb_; }
  GSORT_HOST_DEVICE uint32_t flags() const { return flags_; }
  GSORT_HOST_DEVICE uint64_t count() const { return count_; }

  // Whether the finite parts add up to zero.
  GSORT_HOST_DEVICE bool is_zero() {
    normalise();
    for (uint32_t i = 0; i < kSumLimbs; ++i)
      if (limb_[i] != 0) return false;
    return true;
  }

  // The sum, rounded once to nearest even. Leaves the accumulator normalised.
  GSORT_HOST_DEVICE double sum() { return finish(1); }

  // The sum divided by n, rounded once to nearest even; NaN for n = 0. Spoils the accumulator.
  GSORT_HOST_DEVICE double mean(uint64_t n) { return n == 0 ? double_of_bits(kDoubleQuietNan) : finish(n); }

 private:
  // What lies below the unit 2^-1074 after a division, in halves of it.
  enum Below : uint32_t { kExact, kUnderHalf, kHalf, kOverHalf };

  GSORT_HOST_DEVICE static int64_t carried(int64_t value, uint32_t i, int64_t &carry) {
    if (i == kSumLimbs - 1) return value;
    carry = value >> 32;
    return value & 0xffffffff;
  }

  GSORT_HOST_DEVICE void make_room() {
    if (++pending_ >= kSumPendingMax) normalise();
  }

  GSORT_HOST_DEVICE void add_finite(uint64_t bits) {
    make_room();
    const SumWords d = sum_words(bits);
    const int64_t sign = d.negative ? -1 : 0;
    for (uint32_t j = 0; j < 3; ++j) limb_[d.limb + j] += (static_cast<int64_t>(d.word[j]) ^ sign) - sign;
  }

  GSORT_HOST_DEVICE void add_word(uint32_t word, uint32_t position, bool negative) {
    make_room();
    const uint64_t shifted = static_cast<uint64_t>(word) << (position & 31);
    const int64_t low = static_cast<int64_t>(shifted & 0xffffffffu), high = static_cast<int64_t>(shifted >> 32);
    limb_[position >> 5] += negative ? -low : low;
    limb_[(position >> 5) + 1] += negative ? -high : high;
  }

  GSORT_HOST_DEVICE double finish(uint64_t divisor) {
    const uint32_t both = kSumPosInf | kSumNegInf;
    if ((flags_ & kSumNan) || (flags_ & both) == both) return double_of_bits(kDoubleQuietNan);
    if (flags_ & kSumPosInf) return double_of_bits(kDoubleInf);
    if (flags_ & kSumNegInf) return double_of_bits(kDoubleInf | kDoubleSign);
    if (is_zero()) return count_ > 0 && !(flags_ & kSumNotMinus0) ? double_of_bits(kDoubleSign) : 0.0;
    const bool negative = limb_[kSumLimbs - 1] < 0;
    if (negative) negate();
    const uint64_t magnitude = rounded(divisor == 1 ? kExact : divide(divisor));
    if (negative && divisor == 1) negate();
    return double_of_bits(magnitude | (negative ? kDoubleSign : 0));
  }

  GSORT_HOST_DEVICE void negate() {
    for (uint32_t i = 0; i < kSumLimbs; ++i) limb_[i] = -limb_[i];
    normalise();
  }

  // Long division, bit by bit, of the non-negative normalised limbs; the remainder tells what lies below.
  GSORT_HOST_DEVICE Below divide(uint64_t divisor) {
    uint64_t remainder = 0;
    for (uint32_t i = kSumLimbs; i-- > 0;) {
      if (limb_[i] == 0 && remainder == 0) continue;
      uint64_t quotient = 0;
      for (uint32_t bit = 32; bit-- > 0;) {
        const bool overflow = (remainder & kDoubleSign) != 0;
        remainder = (remainder << 1) | ((static_cast<uint64_t>(limb_[i]) >> bit) & 1);
        const bool fits = overflow || remainder >= divisor;
        if (fits) remainder -= divisor;
        quotient = (quotient << 1) | (fits ? 1 : 0);
      }
      limb_[i] = static_cast<int64_t>(quotient);
    }
    if (remainder == 0) return kExact;
    const uint64_t rest = divisor - remainder;
    return remainder < rest ? kUnderHalf : remainder == rest ? kHalf : kOverHalf;
  }

  GSORT_HOST_DEVICE uint32_t bit_at(uint32_t position) const {
    return static_cast<uint32_t>(limb_[position >> 5] >> (position & 31)) & 1;
  }

  // Position of the highest set bit of the non-negative normalised limbs, 0 if there is none.
  GSORT_HOST_DEVICE uint32_t top_bit() const {
    uint32_t i = kSumLimbs - 1;
    while (i > 0 && limb_[i] == 0) --i;
    uint32_t bit = 31;
    while (bit > 0 && !((limb_[i] >> bit) & 1)) --bit;
    return i * 32 + bit;
  }

  GSORT_HOST_DEVICE bool any_below(uint32_t position) const {
    for (uint32_t i = 0; i < position >> 5; ++i)
      if (limb_[i] != 0) return true;
    return (limb_[position >> 5] & ((int64_t{1} << (position & 31)) - 1)) != 0;
  }

  // Bits of the double nearest to the non-negative normalised limbs plus `below`.
  GSORT_HOST_DEVICE uint64_t rounded(Below below) const {
    const uint32_t top = top_bit();
    if (top <= 52) {  // a unit is the spacing of doubles here, subnormal or not
      const uint64_t units = static_cast<uint64_t>(limb_[0]) | static_cast<uint64_t>(limb_[1]) << 32;
      return units + ((below == kOverHalf || (below == kHalf && (units & 1))) ? 1 : 0);
    }
    const uint32_t shift = top - 52;
    if (shift > 2045) return kDoubleInf;
    uint64_t mantissa = 0;
    for (uint32_t bit = 53; bit-- > 0;) mantissa = (mantissa << 1) | bit_at(shift + bit);
    if (bit_at(shift - 1) && ((mantissa & 1) || below != kExact || any_below(shift - 1))) ++mantissa;
    // The mantissa's own top bit adds the missing 1 to the exponent; a carry out of it adds one more.
    const uint64_t bits = (static_cast<uint64_t>(shift) << 52) + mantissa;
    return bits < kDoubleInf ? bits : kDoubleInf;
  }

  int64_t limb_[kSumLimbs];
  uint64_t pending_;
  uint64_t count_;
  uint32_t flags_;
};

// The sum of a piece of an array, to be added up with others: floats as limbs and flags, integers as 128 bits in the
// first two limbs.
struct PartialSum {
  int64_t limbs[kSumLimbs];
  uint64_t flags;
};

}  // namespace gsort_internal

#endif  // GSORT_CORE_SUPERACCUMULATOR_H_
