// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tests of the GPU sorts share: guarded device arrays, inputs, and a reference order that knows no radix.
#ifndef GSORT_TESTS_UNIT_CUDA_SORT_SUPPORT_H_
#define GSORT_TESTS_UNIT_CUDA_SORT_SUPPORT_H_

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/control.h"
#include "cuda/launch.h"
#include "plan/force.h"

namespace gsort_internal {
namespace {

constexpr uint64_t kZoneBytes = 256;
constexpr unsigned char kPoison = 0xA5;

DeviceFacts device_facts() {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return {};
  return {static_cast<uint32_t>(properties.major * 10 + properties.minor),
          static_cast<uint32_t>(properties.multiProcessorCount),
          static_cast<uint32_t>(properties.sharedMemPerBlockOptin), static_cast<uint32_t>(properties.l2CacheSize)};
}

bool has_device() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
  (void)cudaGetLastError();
  return false;
}

// An array on the device between two zones that nobody may write.
class Guarded {
 public:
  Guarded(uint64_t bytes, uint64_t offset) : bytes_(bytes), offset_(offset) {
    EXPECT_EQ(cudaMalloc(&memory_, whole()), cudaSuccess);
    EXPECT_EQ(cudaMemset(memory_, kPoison, whole()), cudaSuccess);
  }
  ~Guarded() { cudaFree(memory_); }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  unsigned char *get() const { return memory_ + kZoneBytes + offset_; }
  void put(const std::vector<unsigned char> &bytes) {
    EXPECT_EQ(cudaMemcpy(get(), bytes.data(), bytes_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  std::vector<unsigned char> take() const {
    std::vector<unsigned char> all(whole());
    EXPECT_EQ(cudaMemcpy(all.data(), memory_, whole(), cudaMemcpyDeviceToHost), cudaSuccess);
    const auto begin = all.begin() + static_cast<int64_t>(kZoneBytes + offset_);
    const auto end = begin + static_cast<int64_t>(bytes_);
    const auto clean = [](unsigned char byte) { return byte == kPoison; };
    EXPECT_TRUE(std::all_of(all.begin(), begin, clean)) << "written before the array";
    EXPECT_TRUE(std::all_of(end, all.end(), clean)) << "written after the array";
    return {begin, end};
  }

 private:
  uint64_t whole() const { return bytes_ + offset_ + 2 * kZoneBytes; }
  uint64_t bytes_, offset_;
  unsigned char *memory_ = nullptr;
};

uint64_t element(const std::vector<unsigned char> &bytes, uint64_t index, uint32_t size) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + index * size, size);
  return value;
}

// Group (NaNs after all others) and place within it, from the words of the header.
std::pair<int, uint64_t> reference_key(uint64_t bits, const KeyOrder &order) {
  const DTypeFacts facts = dtype_facts(order.dtype);
  const uint64_t top = uint64_t{1} << (facts.bytes * 8 - 1), all = top | (top - 1);
  if (facts.kind == Kind::kFloat && order.nan_last) {
    const uint64_t infinity = (top - 1) - ((uint64_t{1} << facts.mantissa_bits) - 1);
    if ((bits & (top - 1)) > infinity) return {1, bits};
  }
  uint64_t place = bits;
  if (facts.kind == Kind::kSigned) place = bits ^ top;
  if (facts.kind == Kind::kFloat) place = bits & top ? all - bits : bits + top;
  return {0, order.descending ? all - place : place};
}

enum class Pattern { kUniform, kConstant, kTwoValues, kSorted, kReverse, kFewBits, kGreatest, kSpecial, kOneDigit };
constexpr Pattern kPatterns[] = {Pattern::kUniform,  Pattern::kConstant, Pattern::kTwoValues,
                                 Pattern::kSorted,   Pattern::kReverse,  Pattern::kFewBits,
                                 Pattern::kGreatest, Pattern::kSpecial,  Pattern::kOneDigit};

std::vector<unsigned char> make_keys(Pattern pattern, uint64_t n, gsort_dtype dtype, uint32_t seed) {
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
  std::vector<unsigned char> result(n * bytes);
  for (uint64_t i = 0; i < n; ++i) std::memcpy(result.data() + i * bytes, &keys[i], bytes);
  return result;
}

std::vector<unsigned char> make_values(uint64_t n, uint32_t value_bytes) {
  std::vector<unsigned char> values(n * value_bytes);
  std::mt19937 random(7);
  for (auto &byte : values) byte = static_cast<unsigned char>(random());
  return values;
}

class SortFixture : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
    facts_ = device_facts();
  }
  void TearDown() override { forced_sort() = ForcedSort{}; }

  DeviceFacts facts_{};
  Control control_;
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
