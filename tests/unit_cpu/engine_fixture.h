// SPDX-License-Identifier: MIT OR Apache-2.0
// A CPU engine with what it needs, keys of many shapes, and an order told in another way than the library's.
#ifndef GSORT_TESTS_UNIT_CPU_ENGINE_FIXTURE_H_
#define GSORT_TESTS_UNIT_CPU_ENGINE_FIXTURE_H_

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "engine.h"

namespace gsort_test {

// Under a sanitizer, where everything takes long, as much as shows what threads do to each other.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kWatched = true;
#else
constexpr bool kWatched = false;
#endif

using namespace gsort_internal;

struct EngineUnderTest {
  explicit EngineUnderTest(uint32_t threads, uint64_t limit_bytes = 0)
      : memory(nullptr, nullptr, nullptr, limit_bytes) {
    EngineOptions options{};
    options.options.threads = threads;
    options.host_memory = &memory;
    options.control = &control;
    engine = make_cpu_engine(options);
  }
  HostMemory memory;
  Control control;
  std::unique_ptr<Engine> engine;
};

constexpr gsort_dtype kAllTypes[] = {GSORT_U8,  GSORT_I8,  GSORT_U16, GSORT_I16,  GSORT_U32, GSORT_I32,
                                     GSORT_U64, GSORT_I64, GSORT_F16, GSORT_BF16, GSORT_F32, GSORT_F64};

// Whether key a comes before key b, from the words of the API: not by way of ordered bits.
template <class U>
bool comes_before(const KeyOrder &order, U a, U b) {
  const DTypeFacts facts = dtype_facts(order.dtype);
  constexpr U top = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));
  if (facts.kind == Kind::kFloat && order.nan_last) {
    const U infinity = static_cast<U>(static_cast<U>(top - 1) >> facts.mantissa_bits << facts.mantissa_bits);
    const bool a_nan = static_cast<U>(a & static_cast<U>(~top)) > infinity;
    const bool b_nan = static_cast<U>(b & static_cast<U>(~top)) > infinity;
    if (a_nan || b_nan) return a_nan && b_nan ? a < b : b_nan;
  }
  bool less = a < b;
  if (facts.kind != Kind::kUnsigned && ((a ^ b) & top)) {
    less = (a & top) != 0;  // negative before positive
  } else if (facts.kind == Kind::kFloat && (a & top)) {
    less = a > b;  // greater magnitude first
  }
  return order.descending ? !less && a != b : less;
}

constexpr uint32_t kShapes = 9;

template <class U>
std::vector<U> make_keys(uint32_t shape, uint64_t n, std::mt19937_64 &random) {
  std::vector<U> keys(n);
  const uint64_t constant = random();
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t key = random();
    switch (shape) {
      case 0:
        break;
      case 1:
        key = constant;
        break;
      case 2:
        key = (key & 1) ? constant : ~constant;
        break;
      case 3:
        key = i;
        break;
      case 4:
        key = n - i;
        break;
      case 5:
        key = ~uint64_t{0} - (key % 3 == 0 ? 0 : key % 300);  // the greatest key often
        break;
      case 6:
        key &= random() & random();
        break;
      case 7:
        key = (key & 15) ? key % 17 : key;  // one great run and scattered keys
        break;
      default:
        key = (key & 0xff) << (8 * (constant % sizeof(U)));  // one digit differs
        break;
    }
    keys[i] = static_cast<U>(key);
    if (shape == 0 && sizeof(U) == 4 && i % 64 == 0) keys[i] = static_cast<U>(0x7f800000u + random() % 3);
  }
  return keys;
}

// Adds numbers that are no places in an order of numbers, and both zeros and infinities, to keys that are floats.
template <class U>
void add_odd_numbers(gsort_dtype t, std::vector<U> &keys, std::mt19937_64 &random) {
  if (!is_float(t)) return;
  constexpr U top = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));
  const uint32_t mantissa_bits = dtype_facts(t).mantissa_bits;
  const U infinity = static_cast<U>(static_cast<U>(top - 1) >> mantissa_bits << mantissa_bits);
  const U odd[] = {0,
                   top,
                   infinity,
                   static_cast<U>(infinity | top),
                   static_cast<U>(infinity + 1),
                   static_cast<U>((infinity + 1) | top),
                   static_cast<U>(~top),
                   static_cast<U>(~U{0})};
  for (U &key : keys)
    if (random() % 16 == 0) key = odd[random() % 8];
}

// The same of two arrays if they have the same elements, in whatever order; hardly ever otherwise.
template <class U>
uint64_t fingerprint(const U *keys, uint64_t n) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t bits = (static_cast<uint64_t>(keys[i]) + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9u;
    sum += bits ^ bits >> 32;
  }
  return sum;
}

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CPU_ENGINE_FIXTURE_H_
