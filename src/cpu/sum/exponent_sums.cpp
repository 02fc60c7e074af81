// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/sum/exponent_sums.h"

#include <cstring>
#include <initializer_list>

namespace gsort_internal {

namespace {

__extension__ typedef unsigned __int128 UInt128;

constexpr uint64_t kFloatOne = uint64_t{1} << 43;
constexpr uint64_t kDoubleUnit = uint64_t{1} << 52;
constexpr uint32_t kDoubleExponents = 1 << 11, kFloatExponents = 1 << 8;

// Adds up bins of one sign that go to the same limb, up to 32 of them: there they would wait for each other. No two
// have the same position, so that the lower halves of what is shifted fit 64 bits together.
class LimbSum {
 public:
  LimbSum(WideLimbs &limbs, bool negative) : limbs_(limbs), negative_(negative) {}
  ~LimbSum() { move(); }
  LimbSum(const LimbSum &) = delete;
  LimbSum &operator=(const LimbSum &) = delete;

  // value * 2^(position - 1074)
  void add(uint64_t value, uint32_t position) {
    if ((position & ~31u) != position_) {
      move();
      position_ = position & ~31u;
    }
    const uint32_t shift = position & 31;
    low_ += (value & 0xffffffffu) << shift;
    high_ += (value >> 32) << shift;
  }

 private:
  void move() {
    const Int128 sum = (static_cast<Int128>(high_) << 32) + low_;
    if (sum != 0) limbs_.add_part(negative_ ? -sum : sum, position_);
    low_ = high_ = 0;
  }

  WideLimbs &limbs_;
  bool negative_;
  uint64_t low_ = 0, high_ = 0;
  uint32_t position_ = 0;  // of a limb
};

// Adds what is no normal number to the limbs, but for zeros.
void add_odd_ones(const double *x, uint32_t count, WideLimbs &limbs) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t magnitude = bits_of_double(x[i]) & ~kDoubleSign;
    const uint32_t is_odd = magnitude - kDoubleUnit >= kDoubleInf - kDoubleUnit ? 1 : 0;
    if ((is_odd & (magnitude != 0 ? 1u : 0u)) != 0) limbs.add(x[i]);
  }
}

// Adds what a bin has above 64 bits.
__attribute__((noinline, cold)) void add_carry(uint64_t bin, WideLimbs &limbs) {
  const Int128 carry = Int128{1} << 64;
  limbs.add_part(bin >= kDoubleExponents ? -carry : carry, static_cast<uint32_t>(bin % kDoubleExponents - 1));
}

// What a bin of infinities and NaNs tells, as one of them.
double special_of(bool negative, bool has_fraction) {
  return double_of_bits(has_fraction ? kDoubleQuietNan : kDoubleInf | (negative ? kDoubleSign : 0));
}

}  // namespace

void WideLimbs::begin() {
  if (used_) return;
  std::memset(limb_, 0, sizeof limb_);
  flags_ = 0;
  first_ = kSumLimbs, last_ = 0;
  used_ = true;
}

Int128 &WideLimbs::limb_at(uint32_t position) {
  const uint32_t limb = position >> 5;
  first_ = limb < first_ ? limb : first_;
  last_ = limb > last_ ? limb : last_;
  return limb_[limb];
}

void WideLimbs::add(double x) {
  begin();
  const uint64_t bits = bits_of_double(x);
  const uint32_t exponent = static_cast<uint32_t>(bits >> 52) & 0x7ff;
  if (exponent == 0x7ff) {
    flags_ |= sum_flags(bits);
    return;
  }
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const uint64_t mantissa = fraction | static_cast<uint64_t>(exponent != 0 ? 1 : 0) << 52;
  const int64_t sign = static_cast<int64_t>(bits) >> 63, value = (static_cast<int64_t>(mantissa) ^ sign) - sign;
  const uint32_t position = exponent - (exponent != 0 ? 1 : 0), shift = position & 31;
  const uint64_t above = static_cast<uint64_t>((value >> 32) >> (32 - shift));
  limb_at(position) += static_cast<Int128>(static_cast<UInt128>(above) << 64 | static_cast<uint64_t>(value) << shift);
}

void WideLimbs::add_part(Int128 value, uint32_t position) {
  begin();
  limb_at(position) += static_cast<Int128>(static_cast<UInt128>(value) << (position & 31));
}

void WideLimbs::move_to(Superaccumulator &sum) {
  if (!used_) return;
  used_ = false;
  sum.note(flags_, 0);
  sum.normalise();
  int64_t *const limbs = sum.limbs();
  Int128 carry = 0;
  for (uint32_t i = 0; i < kSumLimbs; ++i) {
    const Int128 whole = limb_[i] + carry + limbs[i];
    carry = whole >> 32;
    limbs[i] = i + 1 < kSumLimbs ? static_cast<int64_t>(whole & 0xffffffffu) : static_cast<int64_t>(whole);
  }
}

bool WideLimbs::finish(uint64_t n, bool mean, double &result) const {
  if (!used_ || flags_ != 0) return false;
  uint32_t word[kSumLimbs];
  Int128 carry = 0;
  uint32_t end = first_;
  for (; end < kSumLimbs && (end <= last_ || (carry != 0 && carry != -1)); ++end) {
    const Int128 whole = limb_[end] + carry;
    word[end] = static_cast<uint32_t>(whole);
    carry = whole >> 32;
  }
  if (carry != 0 && carry != -1) return false;
  if (carry == -1) {
    uint64_t one = 1;
    for (uint32_t i = first_; i < end; ++i) {
      one += ~word[i];
      word[i] = static_cast<uint32_t>(one);
      one >>= 32;
    }
  }
  uint32_t top = end;
  while (top > first_ && word[top - 1] == 0) --top;
  if (top == first_ || top-- < 3) return false;
  const auto word_at = [&](uint32_t i) { return i >= first_ ? uint64_t{word[i]} : 0; };
  const uint32_t zeros = static_cast<uint32_t>(__builtin_clz(word[top]));
  const uint64_t next = word_at(top - 2) << zeros,
                 leading = (word_at(top) << 32 | word_at(top - 1)) << zeros | next >> 32;
  bool sticky = (next & 0xffffffffu) != 0;
  for (uint32_t i = first_; i + 2 < top && !sticky; ++i) sticky = word[i] != 0;
  // The leading bits without the last 11 are the double's; below them is nothing, less than half of its unit, or more.
  const uint64_t mantissa = leading >> 11, rest = leading & 0x7ff, half = 0x400;
  const uint32_t shift = top * 32 + 31 - zeros - 52;
  if (shift >= 2045) return false;
  const bool up = rest > half || (rest == half && (sticky || (mantissa & 1) != 0)), exact = rest == 0 && !sticky;
  if (mean && !exact) return false;
  const uint64_t magnitude = (static_cast<uint64_t>(shift) << 52) + mantissa + (up ? 1 : 0);
  result = double_of_bits(magnitude | (carry != 0 ? kDoubleSign : 0));
  if (mean) result /= static_cast<double>(n);
  return true;
}

void ExponentSums::begin(Kind kind, uint32_t words) {
  if (kind_ == kind) return;
  kind_ = kind;
  std::memset(sums_, 0, words * sizeof sums_[0]);
}

void ExponentSums::add(const double *x, uint32_t count, WideLimbs &limbs) {
  constexpr uint64_t kTurn = 4, kStep = 64;
  begin(Kind::kDoubles, kDoubleBins);
  uint64_t *const bins = sums_;
  const auto add_one = [bins, &limbs](double element) {
    const uint64_t bits = bits_of_double(element), bin = bits >> 52,
                   mantissa = (bits & (kDoubleUnit - 1)) | kDoubleUnit;
    if (__builtin_expect(__builtin_add_overflow(bins[bin], mantissa, &bins[bin]), 0)) add_carry(bin, limbs);
  };
  for (uint64_t step = 0; step < count; step += kStep) {
    const uint64_t end = count - step < kStep ? count : step + kStep;
    uint64_t i = step;
    for (; i + kTurn <= end; i += kTurn) {
      add_one(x[i]);
      add_one(x[i + 1]);
      add_one(x[i + 2]);
      add_one(x[i + 3]);
    }
    for (; i < end; ++i) add_one(x[i]);
    // The bins of no exponent, or of no number, hold nothing from step to step.
    constexpr uint32_t kOddBins[] = {0, kDoubleExponents - 1, kDoubleExponents, kDoubleBins - 1};
    uint64_t odd = 0;
    for (const uint32_t bin : kOddBins) odd |= bins[bin];
    if (odd == 0) continue;
    for (const uint32_t bin : kOddBins) bins[bin] = 0;
    add_odd_ones(x + step, static_cast<uint32_t>(end - step), limbs);
  }
}

void ExponentSums::add(const float *x, uint32_t count) {
  if (kind_ != Kind::kFloats) items_ = 0;
  begin(Kind::kFloats, kFloatCopies * kFloatBins);
  items_ += count;
  uint64_t *const bins = sums_;
  const auto add_one = [bins](const float *from, uint64_t copy) {
    uint32_t bits;
    std::memcpy(&bits, from, sizeof bits);
    const uint64_t bin = bits >> 23;
    (bins + copy * kFloatBins)[bin] += bits + kFloatOne;
  };
  uint64_t i = 0;
  for (; i + kFloatCopies <= count; i += kFloatCopies) {
    add_one(x + i, 0);
    add_one(x + i + 1, 1);
    add_one(x + i + 2, 2);
    add_one(x + i + 3, 3);
  }
  for (; i < count; ++i) add_one(x + i, 0);
}

// A bin's first word takes what a shifted mantissa has in the lower 32 bits of its limb, the second the 52 bits above.
void ExponentSums::add_few(const double *x, uint32_t count, WideLimbs &limbs) {
  begin(Kind::kFewDoubles, 2 * kFewBins);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t bits = bits_of_double(x[i]), mantissa = (bits & (kDoubleUnit - 1)) | kDoubleUnit;
    const uint32_t exponent = static_cast<uint32_t>(bits >> 52);
    if ((exponent + 1) % kDoubleExponents < 2) {
      limbs.add(x[i]);
      continue;
    }
    const uint32_t position = exponent - 1, shift = position & 31;
    uint64_t *const bin = sums_ + (position >> 5) * 2;
    bin[0] += (mantissa << shift) & 0xffffffffu;
    bin[1] += mantissa >> (32 - shift);
  }
}

void ExponentSums::move_to(WideLimbs &limbs) {
  switch (kind_) {
    case Kind::kNone:
      break;
    case Kind::kDoubles:
      move_doubles(limbs);
      break;
    case Kind::kFloats:
      move_floats(limbs);
      break;
    case Kind::kFewDoubles:
      move_few(limbs);
      break;
  }
  kind_ = Kind::kNone;
}

void ExponentSums::move_doubles(WideLimbs &limbs) const {
  constexpr uint32_t kLimbBits = 32;
  for (const bool negative : {false, true})
    for (uint32_t position = 0; position < kDoubleExponents; position += kLimbBits) {
      // The exponent of a bit's position is one more. The last one of all is of no number, and holds nothing.
      const uint64_t *const bins = sums_ + (negative ? kDoubleExponents : 0) + position + 1;
      uint64_t low = 0, high = 0;
      for (uint32_t j = kLimbBits; j-- > 0;) {
        const uint64_t sum = position + j + 1 < kDoubleExponents ? bins[j] : 0;
        low = 2 * low + (sum & 0xffffffffu);
        high = 2 * high + (sum >> 32);
      }
      const Int128 sum = (static_cast<Int128>(high) << 32) + low;
      if (sum != 0) limbs.add_part(negative ? -sum : sum, position);
    }
}

void ExponentSums::move_floats(WideLimbs &limbs) const {
  constexpr uint32_t least = kSumOneBit - 149;  // the position of the least float
  static_assert((uint64_t{kFloatItemsMax} << 23) <= kFloatOne, "all fractions are less than one element's part");
  static_assert((kFloatOne + (uint64_t{kFloatBins} << 23)) <= UINT64_MAX / kFloatItemsMax, "sums fit 64 bits");
  for (const bool negative : {false, true}) {
    LimbSum sum(limbs, negative);
    const uint32_t first = negative ? kFloatExponents : 0;
    for (uint32_t exponent = 0; exponent < kFloatExponents; ++exponent) {
      const uint32_t bin = first + exponent;
      uint64_t total = 0;
      for (uint32_t copy = 0; copy < kFloatCopies; ++copy) total += sums_[copy * kFloatBins + bin];
      if (total == 0) continue;
      const uint64_t each = kFloatOne + (uint64_t{bin} << 23), count = total / each, fractions = total % each;
      if (exponent == kFloatExponents - 1) {
        limbs.add(special_of(negative, fractions != 0));
      } else if (exponent == 0) {
        limbs.add_part(negative ? -static_cast<Int128>(fractions) : static_cast<Int128>(fractions), least);
      } else {
        sum.add(fractions + (count << 23), least + exponent - 1);
      }
    }
  }
}

void ExponentSums::move_few(WideLimbs &limbs) const {
  for (uint32_t bin = 0; bin < kFewBins; ++bin) {
    const Int128 sum = (static_cast<Int128>(sums_[2 * bin + 1]) << 32) + sums_[2 * bin];
    if (sum != 0) limbs.add_part(bin >= kFewBins / 2 ? -sum : sum, bin % (kFewBins / 2) * 32);
  }
}

}  // namespace gsort_internal
