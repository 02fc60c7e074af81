// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tests of the GPU sorts share: inputs, and a fixture with the options that they ask for.
#ifndef GSORT_TESTS_UNIT_CUDA_SORT_SUPPORT_H_
#define GSORT_TESTS_UNIT_CUDA_SORT_SUPPORT_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "cuda/sort/launch.h"
#include "launch_harness.h"

namespace gsort_internal {
namespace {

using gsort_test::all_poison;
using gsort_test::bits_at;
using gsort_test::Bytes;
using gsort_test::DeviceArray;
using gsort_test::kPoison;
using gsort_test::mixed;
using gsort_test::place_of;

enum class Pattern { kUniform, kConstant, kTwoValues, kSorted, kReverse, kFewBits, kGreatest, kSpecial, kOneDigit };
constexpr Pattern kPatterns[] = {Pattern::kUniform,  Pattern::kConstant, Pattern::kTwoValues,
                                 Pattern::kSorted,   Pattern::kReverse,  Pattern::kFewBits,
                                 Pattern::kGreatest, Pattern::kSpecial,  Pattern::kOneDigit};

Bytes make_keys(Pattern pattern, uint64_t n, gsort_dtype dtype, uint32_t seed) {
  const DTypeFacts facts = dtype_facts(dtype);
  const uint32_t bytes = facts.bytes;
  const uint64_t top = uint64_t{1} << (bytes * 8 - 1), all = top | (top - 1);
  const uint64_t infinity = facts.mantissa_bits ? (top - 1) - ((uint64_t{1} << facts.mantissa_bits) - 1) : 1;
  const uint64_t specials[] = {0, top, infinity, infinity | top, infinity + 1, (infinity | top) + 1, all, top - 1, 1};
  std::mt19937_64 random(seed);
  const uint64_t a = random(), b = random();
  std::vector<uint64_t> keys(n);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t r = random();
    switch (pattern) {
      case Pattern::kConstant:
        keys[i] = a;
        break;
      case Pattern::kTwoValues:
        keys[i] = r & 1 ? a : b;
        break;
      case Pattern::kFewBits:
        keys[i] = r & random() & random();
        break;
      case Pattern::kGreatest:
        keys[i] = r % 8 ? all : r >> 8;
        break;
      case Pattern::kSpecial:
        keys[i] = specials[r % 9];
        break;
      case Pattern::kOneDigit:
        keys[i] = a ^ (r & 255) << ((seed * 8) % (bytes * 8));
        break;
      default:
        keys[i] = r;
    }
    keys[i] &= all;
  }
  if (pattern == Pattern::kSorted) std::sort(keys.begin(), keys.end());
  if (pattern == Pattern::kReverse) std::sort(keys.begin(), keys.end(), std::greater<uint64_t>());
  Bytes result(n * bytes);
  for (uint64_t i = 0; i < n; ++i) std::memcpy(result.data() + i * bytes, &keys[i], bytes);
  return result;
}

Bytes make_values(uint64_t n, uint32_t value_bytes) {
  Bytes values(n * value_bytes);
  std::mt19937 random(7);
  for (auto &byte : values) byte = static_cast<unsigned char>(random());
  return values;
}

class SortFixture : public gsort_test::DeviceTest {
 protected:
  sort::Options options_;  // the library's own, but what a test asks for
};

std::vector<KeyOrder> all_orders() {
  std::vector<KeyOrder> orders;
  for (gsort_dtype dtype = GSORT_U8; dtype <= GSORT_F64; ++dtype)
    for (const bool descending : {false, true})
      for (const bool nan_last : {false, true})
        if (!nan_last || is_float(dtype)) orders.push_back({dtype, descending, nan_last});
  return orders;
}

std::string describe(const KeyOrder &order, uint64_t n, Pattern pattern) {
  return std::string(dtype_facts(order.dtype).name) + (order.descending ? " descending" : "") +
         (order.nan_last ? " nan_last" : "") + " n=" + std::to_string(n) +
         " pattern=" + std::to_string(static_cast<int>(pattern));
}

}  // namespace
}  // namespace gsort_internal

#endif  // GSORT_TESTS_UNIT_CUDA_SORT_SUPPORT_H_
