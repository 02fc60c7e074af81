// SPDX-License-Identifier: MIT OR Apache-2.0
#include "round_bins.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gsort_bench {
namespace {

constexpr uint32_t kLimbBits = 32;

// Two's complement, least limb first; wide enough for every bin plus carries.
using Wide = std::vector<uint32_t>;

void add_shifted(Wide &total, int64_t x, uint32_t shift) {
  const uint32_t within = shift % kLimbBits;
  const uint32_t sign = x < 0 ? UINT32_MAX : 0;
  const uint64_t low = static_cast<uint64_t>(x) << within;
  const uint32_t high = within == 0 ? sign : static_cast<uint32_t>(x >> (64 - within));
  const uint32_t parts[] = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> kLimbBits), high};
  uint64_t carry = 0;
  const size_t first = shift / kLimbBits;
  for (size_t limb = first; limb < total.size(); ++limb) {
    const uint64_t sum = uint64_t{total[limb]} + (limb - first < 3 ? parts[limb - first] : sign) + carry;
    total[limb] = static_cast<uint32_t>(sum);
    carry = sum >> kLimbBits;
  }
}

void negate(Wide &total) {
  uint64_t carry = 1;
  for (uint32_t &limb : total) {
    const uint64_t sum = uint64_t{static_cast<uint32_t>(~limb)} + carry;
    limb = static_cast<uint32_t>(sum);
    carry = sum >> kLimbBits;
  }
}

bool bit_at(const Wide &total, int64_t bit) {
  if (bit < 0) return false;
  return ((total[static_cast<size_t>(bit) / kLimbBits] >> (static_cast<uint32_t>(bit) % kLimbBits)) & 1) != 0;
}

int64_t highest_bit(const Wide &total) {
  int64_t bit = static_cast<int64_t>(total.size()) * kLimbBits - 1;
  while (bit >= 0 && !bit_at(total, bit)) --bit;
  return bit;
}

}  // namespace

double round_bins(const int64_t *bins, uint32_t count, int32_t lowest_exponent) {
  Wide total(count / kLimbBits + 5, 0);
  for (uint32_t e = 0; e < count; ++e) add_shifted(total, bins[e], e);
  const bool negative = (total.back() >> (kLimbBits - 1)) != 0;
  if (negative) negate(total);
  const int64_t high = highest_bit(total);
  if (high < 0) return 0.0;
  // The lowest bit that a double of this size keeps: 52 below the highest, or that of 2^-1074.
  const int64_t low = std::max<int64_t>(high - 52, -1074 - int64_t{lowest_exponent});
  uint64_t kept = 0;
  for (int64_t bit = high; bit >= low; --bit) kept = 2 * kept + (bit_at(total, bit) ? 1 : 0);
  bool below_half = false;
  for (int64_t bit = low - 2; bit >= 0 && !below_half; --bit) below_half = bit_at(total, bit);
  if (bit_at(total, low - 1) && (below_half || (kept & 1) != 0)) ++kept;
  const double size = std::ldexp(static_cast<double>(kept), static_cast<int>(low + lowest_exponent));
  return negative ? -size : size;
}

}  // namespace gsort_bench
