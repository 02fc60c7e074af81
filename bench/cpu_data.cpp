// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cpu_data.h"

#include <cmath>

namespace gsort_bench {

// splitmix64.
uint64_t CpuWords::random() {
  state_ += 0x9e3779b97f4a7c15ull;
  uint64_t x = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

uint64_t CpuWords::next() {
  constexpr uint64_t kSome = 0x5ab4c3d2e1f00f1eull, kOther = 0x5ab53d2c1e0ff1e1ull;
  constexpr uint64_t kBelowPrefix = (uint64_t{1} << 49) - 1;
  const uint64_t place = place_++;
  switch (distribution_) {
    case Distribution::kConstant:
      return kSome;
    case Distribution::kSorted:
      return ascending(place);
    case Distribution::kReverse:
      return ascending(n_ - 1 - place);
    case Distribution::kTwoValues:
      return (random() & 1) == 0 ? kSome : kOther;
    case Distribution::kAnd3:
      return random() & random() & random() & random();
    case Distribution::kZipf:
      return static_cast<uint64_t>(std::exp2(20.0 * static_cast<double>(random() >> 11) * 0x1p-53) - 1) << 44;
    case Distribution::kNearlySorted: {
      const uint64_t word = random();
      return random() % 100 == 0 ? word : ascending(place);
    }
    case Distribution::kOrganPipe:
      return ascending(place < n_ / 2 ? 2 * place : 2 * (n_ - 1 - place));
    case Distribution::kSawtooth:
      return (place % 4096) << 52;
    case Distribution::kHotBucket: {
      const uint64_t word = random();
      return random() % 4096 == 0 ? word : (kSome & ~kBelowPrefix) | (word & kBelowPrefix);
    }
    case Distribution::kHalvingBuckets: {
      const uint64_t word = random();
      return static_cast<uint64_t>(__builtin_clzll(random() | 1)) << 56 | word >> 8;
    }
    default:
      return random();
  }
}

}  // namespace gsort_bench
