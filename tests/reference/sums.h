// SPDX-License-Identifier: MIT OR Apache-2.0
// Exact sums, means and reductions. Every finite element is a whole multiple of 2^-1074, so a big integer holds any
// sum.
#ifndef GSORT_TESTS_REFERENCE_SUMS_H_
#define GSORT_TESTS_REFERENCE_SUMS_H_

#include "reference/big_integer.h"
#include "reference/order.h"

namespace gsort_test {

// A running exact sum, with what IEEE 754 says of NaNs, infinities and the sign of zero.
class ExactSum {
 public:
  void add(gsort_dtype t, uint64_t bits);
  // Bits of the sum over `divisor`, rounded once to double.
  uint64_t rounded(uint64_t divisor = 1) const;

 private:
  void add_float(const ElementType &type, uint64_t bits);

  BigInteger positive_;  // in units of 2^-1074, as the other
  BigInteger negative_;
  bool nan_ = false;
  bool positive_infinity_ = false;
  bool negative_infinity_ = false;
  bool only_negative_zeros_ = true;
  bool empty_ = true;
};

// The 8 bytes that gsort_sum() writes.
uint64_t reference_sum(const Array &in);
// Bits of the mean; of a quiet NaN for an empty array.
uint64_t reference_mean(const Array &in);
// What gsort_reduce() writes: an element of the type, an index or the bits of a double.
uint64_t reference_reduce(uint32_t op, const Array &in, uint32_t flags);
// Running sums of an integer type.
Array reference_integer_scan(const Array &in, uint32_t flags);

// The double that a float element stands for; only for types narrower than or as wide as double.
double float_value(gsort_dtype t, uint64_t bits);

}  // namespace gsort_test

#endif  // GSORT_TESTS_REFERENCE_SUMS_H_
