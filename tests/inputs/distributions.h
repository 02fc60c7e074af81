// SPDX-License-Identifier: MIT OR Apache-2.0
// The inputs that sorts, selections and sums are tested on.
#ifndef GSORT_TESTS_INPUTS_DISTRIBUTIONS_H_
#define GSORT_TESTS_INPUTS_DISTRIBUTIONS_H_

#include "support/element.h"

namespace gsort_test {

// A small generator of random bits with the same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  // Below `bound`, which is not 0.
  uint64_t below(uint64_t bound) { return next() % bound; }

 private:
  uint64_t state_;
};

enum class Distribution {
  kUniform,     // every bit random; floats: NaNs and infinities among them
  kSmallRange,  // integers 0 to 99, or floats in [0, 1)
  kAllEqual,
  kTwoValues,
  kSorted,
  kReverse,
  kOrganPipe,  // up, then down
  kSawtooth,
  kStaggered,  // ascending blocks in a shuffled order
  kNearlySorted,
  kZipf,
  kAnd1,  // random bits ANDed with themselves: ever fewer ones
  kAnd3,
  kAnd9,
  kOneDigit,       // keys differ in one byte alone, which the seed picks
  kMaxKey,         // mostly the greatest key of the type
  kMinKey,         // mostly the least
  kInfinities,     // floats: 99.9% infinities of either sign
  kNans,           // floats: NaNs of either sign with several payloads between numbers
  kSignedZeros,    // floats: -0 and +0, and a few neighbours
  kSubnormals,     // floats
  kWideExponents,  // floats: finite, any exponent, pairs that cancel
};

inline constexpr Distribution kAllDistributions[] = {
    Distribution::kUniform,    Distribution::kSmallRange,   Distribution::kAllEqual,  Distribution::kTwoValues,
    Distribution::kSorted,     Distribution::kReverse,      Distribution::kOrganPipe, Distribution::kSawtooth,
    Distribution::kStaggered,  Distribution::kNearlySorted, Distribution::kZipf,      Distribution::kAnd1,
    Distribution::kAnd3,       Distribution::kAnd9,         Distribution::kOneDigit,  Distribution::kMaxKey,
    Distribution::kMinKey,     Distribution::kInfinities,   Distribution::kNans,      Distribution::kSignedZeros,
    Distribution::kSubnormals, Distribution::kWideExponents};

const char *distribution_name(Distribution distribution);
// The last five are for floats alone.
bool applies(Distribution distribution, gsort_dtype t);
// The same array for the same arguments, always.
Array generate(Distribution distribution, gsort_dtype t, uint64_t n, uint64_t seed);

// n values of value_bytes bytes each that are all different as far as their size allows.
Bytes generate_values(uint64_t n, uint32_t value_bytes, uint64_t seed);
// segments + 1 ascending offsets up to at most n: empty segments, short and long ones, keys outside all segments.
std::vector<uint64_t> generate_offsets(uint64_t n, uint64_t segments, uint64_t seed);

}  // namespace gsort_test

#endif  // GSORT_TESTS_INPUTS_DISTRIBUTIONS_H_
