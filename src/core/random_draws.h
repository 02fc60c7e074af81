// SPDX-License-Identifier: MIT OR Apache-2.0
// Random numbers for samples: a linear congruential generator of full period 2^64. Its lower bits are not random, and
// its upper ones are random enough. The same seed gives the same numbers on every machine.
#ifndef GSORT_CORE_RANDOM_DRAWS_H_
#define GSORT_CORE_RANDOM_DRAWS_H_

#include <cstdint>

namespace gsort_internal {

constexpr uint64_t next_random(uint64_t random) { return random * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u; }

// Numbers below some n, say indices of the elements of a sample.
class RandomDraws {
 public:
  explicit RandomDraws(uint64_t seed) : random_(seed) {}

  uint64_t below(uint64_t n) {
    __extension__ typedef unsigned __int128 Product;
    random_ = next_random(random_);
    return static_cast<uint64_t>(static_cast<Product>(random_) * n >> 64);
  }
  // The same of n < 2^32, by arithmetic of 64 bits alone. Gives other numbers than below().
  uint64_t below_short(uint64_t n) {
    random_ = next_random(random_);
    return (random_ >> 32) * n >> 32;
  }

 private:
  uint64_t random_;
};

}  // namespace gsort_internal

#endif  // GSORT_CORE_RANDOM_DRAWS_H_
