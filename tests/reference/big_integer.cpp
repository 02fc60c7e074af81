// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reference/big_integer.h"

#include <algorithm>

namespace gsort_test {

void BigInteger::add_digit(size_t i, uint32_t value) {
  uint64_t carry = value;
  for (; carry != 0; i++) {
    if (i >= digits_.size()) digits_.resize(i + 1, 0);
    carry += digits_[i];
    digits_[i] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
}

void BigInteger::add(uint64_t value, uint32_t shift) {
  const size_t first = shift / 32;
  const uint32_t rest = shift % 32;
  const uint64_t low = (value & 0xffffffffu) << rest;
  const uint64_t high = (value >> 32) << rest;
  add_digit(first, static_cast<uint32_t>(low));
  add_digit(first + 1, static_cast<uint32_t>(low >> 32));
  add_digit(first + 1, static_cast<uint32_t>(high));
  add_digit(first + 2, static_cast<uint32_t>(high >> 32));
}

void BigInteger::add(const BigInteger &other) {
  for (size_t i = 0; i < other.digits_.size(); i++) add_digit(i, other.digits_[i]);
}

void BigInteger::subtract(const BigInteger &other) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < digits_.size(); i++) {
    const uint64_t taken = uint64_t{other.digit(i)} + borrow;
    borrow = digits_[i] < taken ? 1 : 0;
    digits_[i] = static_cast<uint32_t>((borrow << 32) + digits_[i] - taken);
  }
}

uint64_t BigInteger::divide(uint64_t divisor) {
  // Bit by bit, so that a 64-bit divisor needs no wider arithmetic than a carried-out top bit.
  uint64_t remainder = 0;
  for (uint32_t i = bit_length(); i-- > 0;) {
    const bool carried = (remainder >> 63) != 0;
    remainder = remainder << 1 | (bit(i) ? 1 : 0);
    const bool fits = carried || remainder >= divisor;
    if (fits) remainder -= divisor;
    const uint32_t mask = uint32_t{1} << i % 32;
    digits_[i / 32] = fits ? digits_[i / 32] | mask : digits_[i / 32] & ~mask;
  }
  return remainder;
}

int BigInteger::compare(const BigInteger &other) const {
  for (size_t i = std::max(digits_.size(), other.digits_.size()); i-- > 0;) {
    if (digit(i) != other.digit(i)) return digit(i) < other.digit(i) ? -1 : 1;
  }
  return 0;
}

uint32_t BigInteger::bit_length() const {
  for (size_t i = digits_.size(); i-- > 0;) {
    for (uint32_t b = 32; b-- > 0;) {
      if ((digits_[i] >> b & 1) != 0) return static_cast<uint32_t>(i) * 32 + b + 1;
    }
  }
  return 0;
}

bool BigInteger::bit(uint32_t i) const { return (digit(i / 32) >> i % 32 & 1) != 0; }

bool BigInteger::any_bit_below(uint32_t end) const {
  for (uint32_t i = 0; i < end / 32; i++) {
    if (digit(i) != 0) return true;
  }
  return end % 32 != 0 && (digit(end / 32) & ((uint32_t{1} << end % 32) - 1)) != 0;
}

uint64_t BigInteger::bits_from(uint32_t begin) const {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < 64; i++) bits |= uint64_t{bit(begin + i)} << i;
  return bits;
}

}  // namespace gsort_test
