// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tests of the fast path share: keys as numbers, their stable order, and inputs.
#ifndef GSORT_TESTS_UNIT_CUDA_FAST_PATH_SUPPORT_H_
#define GSORT_TESTS_UNIT_CUDA_FAST_PATH_SUPPORT_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "core/key_bits.h"
#include "launch_harness.h"

namespace gsort_test {

using gsort_internal::dtype_bytes;
using gsort_internal::dtype_facts;
using gsort_internal::DTypeFacts;
using gsort_internal::KeyOrder;
using Words = std::vector<uint64_t>;

inline uint64_t all_bits(uint32_t bytes) { return ~uint64_t{0} >> (64 - 8 * bytes); }

inline Bytes pack(const Words &words, uint32_t bytes) {
  Bytes packed(words.size() * bytes);
  for (uint64_t i = 0; i < words.size(); ++i) set_bits(&packed, bytes, i, words[i]);
  return packed;
}

inline Words unpack(const Bytes &packed, uint32_t bytes) {
  Words words(packed.size() / bytes);
  for (uint64_t i = 0; i < words.size(); ++i) words[i] = bits_at(packed, bytes, i);
  return words;
}

inline std::vector<uint64_t> stable_order(const Words &keys, const KeyOrder &order) {
  std::vector<std::pair<int, uint64_t>> places(keys.size());
  for (uint64_t i = 0; i < keys.size(); ++i) places[i] = place_of(keys[i], order);
  std::vector<uint64_t> sources(keys.size());
  std::iota(sources.begin(), sources.end(), uint64_t{0});
  std::stable_sort(sources.begin(), sources.end(), [&](uint64_t a, uint64_t b) { return places[a] < places[b]; });
  return sources;
}

inline Words taken(const Words &words, const std::vector<uint64_t> &sources) {
  Words result(words.size());
  for (uint64_t i = 0; i < words.size(); ++i) result[i] = words[sources[i]];
  return result;
}

inline Words random_words(uint64_t n, uint32_t bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  Words words(n);
  for (uint64_t &word : words) word = random() & all_bits(bytes);
  return words;
}

// Random bits in their order; `turned`: from the greatest down.
inline Words ordered_words(uint64_t n, const KeyOrder &order, uint64_t seed, bool turned) {
  const Words words = random_words(n, dtype_bytes(order.dtype), seed);
  Words ordered = taken(words, stable_order(words, order));
  if (turned) std::reverse(ordered.begin(), ordered.end());
  return ordered;
}

// Keys whose bits outside `mask` are constant.
inline Words masked_words(uint64_t n, uint32_t bytes, uint64_t mask, uint64_t seed) {
  Words words = random_words(n, bytes, seed);
  const uint64_t constant = 0x123456789abcdef5u & all_bits(bytes);
  for (uint64_t &word : words) word = (word & mask) | (constant & ~mask);
  return words;
}

inline uint64_t random_mask(uint32_t bits, uint32_t bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  uint64_t mask = 0;
  for (uint32_t set = 0; set < bits;) {
    const uint64_t bit = uint64_t{1} << random() % (bytes * 8);
    set += (mask & bit) == 0;
    mask |= bit;
  }
  return mask;
}

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CUDA_FAST_PATH_SUPPORT_H_
