// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys for kernels that run on the CPU. Behind emulation.h.
#ifndef GSORT_TESTS_UNIT_EMULATED_MADE_KEYS_H_
#define GSORT_TESTS_UNIT_EMULATED_MADE_KEYS_H_

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

// As many keys as `count`, each the bits of what make(random) returns.
template <class U, class Make>
std::vector<U> made_keys(uint64_t count, uint64_t seed, const Make &make) {
  std::mt19937_64 random(seed);
  std::vector<U> keys(count);
  for (U &key : keys) {
    const auto made = make(random);
    static_assert(sizeof made == sizeof key, "");
    std::memcpy(&key, &made, sizeof key);
  }
  return keys;
}

// Memory that is neither cleared nor to be read, for a kernel that clears all of it but the last word.
inline std::vector<uint64_t> uncleared_memory(uint64_t words) { return std::vector<uint64_t>(words + 1, ~uint64_t{0}); }
inline bool is_cleared(const std::vector<uint64_t> &memory) {
  for (uint64_t i = 0; i + 1 < memory.size(); ++i)
    if (memory[i] != 0) return false;
  return memory.back() == ~uint64_t{0};
}

// A number in [0, 1) of a random word.
inline double unit(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

#endif  // GSORT_TESTS_UNIT_EMULATED_MADE_KEYS_H_
