// SPDX-License-Identifier: MIT OR Apache-2.0
// Unsigned integers of any length, digit by digit as on paper: slow, short, and sharing nothing with the library.
#ifndef GSORT_TESTS_REFERENCE_BIG_INTEGER_H_
#define GSORT_TESTS_REFERENCE_BIG_INTEGER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gsort_test {

class BigInteger {
 public:
  // Adds value * 2^shift.
  void add(uint64_t value, uint32_t shift);
  void add(const BigInteger &other);
  // Takes away `other`, which must not be greater.
  void subtract(const BigInteger &other);
  // Divides by `divisor` in place and returns the remainder.
  uint64_t divide(uint64_t divisor);
  // -1, 0 or 1 as *this is below, equal to or above `other`.
  int compare(const BigInteger &other) const;

  uint32_t bit_length() const;
  bool bit(uint32_t i) const;
  // True if any of the bits below bit `end` is set.
  bool any_bit_below(uint32_t end) const;
  // The 64 bits from bit `begin` on.
  uint64_t bits_from(uint32_t begin) const;

 private:
  uint32_t digit(size_t i) const { return i < digits_.size() ? digits_[i] : 0; }
  void add_digit(size_t i, uint32_t value);
  std::vector<uint32_t> digits_;  // least first
};

}  // namespace gsort_test

#endif  // GSORT_TESTS_REFERENCE_BIG_INTEGER_H_
