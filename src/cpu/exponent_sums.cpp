// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu/exponent_sums.h"

#include <cstring>
#include <initializer_list>

#include "cpu/vector/fold.h"

namespace gsort_internal {

namespace {

__extension__ typedef unsigned __int128 UInt128;

constexpr uint64_t kBinOne = uint64_t{1} << 40, kBinSumMask = kBinOne - 1;

void plain_add_to_bins(const double *x, uint32_t items, uint64_t *bins) {
  for (uint32_t i = 0; i < items; ++i) {
    const uint64_t bits = bits_of_double(x[i]);
    uint64_t *const bin = bins + (bits >> 52) * 2;
    bin[0] += bits & 0xffffffffu;
    bin[1] += (bits >> 32 & 0xfffff) + kBinOne;
  }
}

// What a bin of infinities and NaNs tells.
uint32_t special_flags(bool negative, bool has_fraction) {
  return has_fraction ? kSumNan : (negative ? kSumNegInf : kSumPosInf);
}

// Adds up bins of one sign that go to the same limb, 32 of them: there they would wait for each other. No two have the
// same position but those of the exponents 0 and 1, so that the lower halves of what is shifted fit 64 bits together.
class LimbSum {
 public:
  LimbSum(WideLimbs &limbs, bool negative) : limbs_(limbs), negative_(negative) {}
  ~LimbSum() { move(); }
  LimbSum(const LimbSum &) = delete;
  LimbSum &operator=(const LimbSum &) = delete;

  // (high * 2^32 + low) * 2^(position - 1074), both below 2^54
  void add(uint64_t low, uint64_t high, uint32_t position) {
    if ((position & ~31u) != position_) {
      move();
      position_ = position & ~31u;
    }
    const uint32_t shift = position & 31;
    parts_[0] += (low & 0xffffffffu) << shift;
    parts_[1] += (low >> 32) << shift;
    parts_[2] += (high & 0xffffffffu) << shift;
    parts_[3] += (high >> 32) << shift;
  }

 private:
  void move() {
    const Int128 sum = (static_cast<Int128>(parts_[3]) << 64) + (static_cast<Int128>(parts_[2]) << 32) +
                       (static_cast<Int128>(parts_[1]) << 32) + parts_[0];
    limbs_.add_part(negative_ ? -sum : sum, position_);
    for (uint64_t &part : parts_) part = 0;
  }

  WideLimbs &limbs_;
  bool negative_;
  uint64_t parts_[4] = {0, 0, 0, 0};
  uint32_t position_ = 0;  // of a limb
};

}  // namespace

void WideLimbs::begin() {
  if (used_) return;
  std::memset(limb_, 0, sizeof limb_);
  flags_ = 0;
  used_ = true;
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
  limb_[position >> 5] +=
      static_cast<Int128>(static_cast<UInt128>(above) << 64 | static_cast<uint64_t>(value) << shift);
}

void WideLimbs::add_part(Int128 value, uint32_t position) {
  begin();
  limb_[position >> 5] += static_cast<Int128>(static_cast<UInt128>(value) << (position & 31));
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

void ExponentSums::add(const double *x, uint32_t count) {
  if (items_ == 0) std::memset(sums_, 0, sizeof sums_);
  items_ += count;
  of_doubles_ = true;
  const AddToBins kernel = add_to_bins_kernel();
  (kernel != nullptr ? kernel : plain_add_to_bins)(x, count, sums_);
}

void ExponentSums::add(const float *x, uint32_t count) {
  if (items_ == 0) std::memset(sums_, 0, kFloatCopies * kFloatBins * sizeof(uint64_t));
  items_ += count;
  of_doubles_ = false;
  const auto add_one = [this](const float *from, uint32_t copy) {
    uint32_t bits;
    std::memcpy(&bits, from, sizeof bits);
    uint64_t *const bins = sums_ + copy * kFloatBins;
    bins[bits >> 23] += (bits & 0x7fffff) + kBinOne;
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

uint32_t ExponentSums::move_to(WideLimbs &limbs) {
  if (items_ == 0) return 0;
  items_ = 0;
  return of_doubles_ ? move_doubles(limbs) : move_floats(limbs);
}

uint32_t ExponentSums::move_doubles(WideLimbs &limbs) const {
  constexpr uint32_t exponents = kDoubleBins / 2;
  uint32_t flags = 0;
  for (const bool negative : {false, true}) {
    const uint64_t *const bins = sums_ + (negative ? 2 * exponents : 0);
    LimbSum sum(limbs, negative);
    for (uint32_t exponent = 0; exponent < exponents; ++exponent) {
      const uint64_t low = bins[2 * exponent], high = bins[2 * exponent + 1] & kBinSumMask;
      const uint64_t count = bins[2 * exponent + 1] >> 40;
      if (count == 0) continue;
      if (exponent == exponents - 1) {
        flags |= special_flags(negative, (low | high) != 0);
      } else if (exponent == 0) {
        sum.add(low, high, 0);
      } else {
        sum.add(low, high + (count << 20), exponent - 1);
      }
    }
  }
  return flags;
}

uint32_t ExponentSums::move_floats(WideLimbs &limbs) const {
  constexpr uint32_t exponents = kFloatBins / 2, least = kSumOneBit - 149;  // the position of the least float
  uint32_t flags = 0;
  for (const bool negative : {false, true}) {
    const uint64_t *const bins = sums_ + (negative ? exponents : 0);
    LimbSum sum(limbs, negative);
    for (uint32_t exponent = 0; exponent < exponents; ++exponent) {
      uint64_t fractions = 0, count = 0;
      for (uint32_t copy = 0; copy < kFloatCopies; ++copy) {
        fractions += bins[copy * kFloatBins + exponent] & kBinSumMask;
        count += bins[copy * kFloatBins + exponent] >> 40;
      }
      if (count == 0) continue;
      if (exponent == exponents - 1) {
        flags |= special_flags(negative, fractions != 0);
      } else if (exponent == 0) {
        sum.add(fractions, 0, least);
      } else {
        sum.add(fractions + (count << 23), 0, least + exponent - 1);
      }
    }
  }
  return flags;
}

}  // namespace gsort_internal
