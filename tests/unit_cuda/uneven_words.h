// SPDX-License-Identifier: MIT OR Apache-2.0
// 8-byte keys that spread in many uneven ways, for tests of sorts that cut them by splitters.
#ifndef GSORT_TESTS_UNIT_CUDA_UNEVEN_WORDS_H_
#define GSORT_TESTS_UNIT_CUDA_UNEVEN_WORDS_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "msd_support.h"

namespace gsort_test {

using Word = std::function<uint64_t(uint64_t)>;

// Zipf's law with exponent 1.1 over 10^8 ranks.
inline uint64_t zipf_rank(uint64_t i) {
  const double most = (std::pow(1e8, -0.1) - 1) / -0.1;
  return static_cast<uint64_t>(std::pow(1 - 0.1 * unit(i) * most, -10.0));
}

inline uint64_t anded(uint64_t i, int words) {
  uint64_t all = mixed(i);
  for (int word = 1; word < words; ++word) all &= mixed(i + (uint64_t{1} << 40) * static_cast<uint64_t>(word));
  return all;
}

inline uint64_t text(uint64_t i) {
  const char *const letters = "eeeeeeettttttaaaaaoooooiiiiinnnnsssshhhhrrrrddlllccuummwwffggyyppbbvk";
  uint64_t word = 0;
  for (uint64_t c = 0; c < 8; ++c) word = word << 8 | static_cast<uint8_t>(letters[mixed(8 * i + c) % 69]);
  return word;
}

inline uint64_t bell(uint64_t i, double width) {
  return static_cast<uint64_t>(static_cast<int64_t>(normal(i) * width)) ^ uint64_t { 1 } << 63;
}

inline std::vector<Word> uneven_words() {
  return {
      [](uint64_t i) { return mixed(zipf_rank(i)); },
      [](uint64_t i) { return zipf_rank(i) << 32 | mixed(i) >> 60; },
      [](uint64_t i) { return mixed(~i) >> mixed(i) % 64; },
      [](uint64_t i) { return anded(i, 2); },
      [](uint64_t i) { return anded(i, 4); },
      [](uint64_t i) { return anded(i, 10); },
      [](uint64_t i) { return mixed(mixed(i) % 65536); },
      [](uint64_t i) { return mixed(mixed(i) % 1000000); },
      [](uint64_t i) { return mixed(mixed(i) % 100); },
      [](uint64_t i) { return (1700000000 + i / 1000 + mixed(i) % 600) << 32; },
      [](uint64_t i) { return mixed(~i) % 2 ? (mixed(i) % 65536 + 12345678) << 32 : mixed(i); },
      [](uint64_t i) { return mixed(~i) % 2 ? 0x123456789abcdef0 : mixed(i); },
      [](uint64_t i) { return mixed(i & 0xffff); },
      [](uint64_t i) { return mixed(~i) % 10 ? 0 : mixed(i); },
      [](uint64_t i) { return mixed(~i) % 10 ? ~uint64_t{0} : mixed(i); },
      [](uint64_t) { return 42; },
      [](uint64_t i) { return i % 2 ? ~uint64_t{0} : 0; },
      [](uint64_t i) { return i == 12345 ? uint64_t{1} << 63 : mixed(i) >> 60 << 32; },
      text,
      [](uint64_t i) { return bell(i, 1e3 * 0x1p32); },
      [](uint64_t i) { return bell(i, 0x1p28); },
      [](uint64_t i) { return i * (~uint64_t{0} / 5000003); },
  };
}

}  // namespace gsort_test

#endif  // GSORT_TESTS_UNIT_CUDA_UNEVEN_WORDS_H_
