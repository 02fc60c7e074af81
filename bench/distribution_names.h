// SPDX-License-Identifier: MIT OR Apache-2.0
// The benchmarks' input data by name, and what element types are. Nothing here needs CUDA.
#ifndef GSORT_BENCH_DISTRIBUTION_NAMES_H_
#define GSORT_BENCH_DISTRIBUTION_NAMES_H_

#include <cstdint>

#include "gsort.h"

namespace gsort_bench {

enum class Distribution : uint32_t {
  kUniform,      // integers: every bit pattern; floats: [0, 1)
  kNormal,       // floats: mean 0, deviation 1; signed integers: deviation 2^28
  kExponential,  // floats: mean 1
  kConstant,
  kSorted,
  kReverse,
  kTwoValues,
  kAnd1,  // uniform words AND-ed with one, three, nine more
  kAnd3,
  kAnd9,
  kZipf,           // ranks below 2^20 with probability about 1 / rank
  kZipfScrambled,  // the same, each rank standing for some word
  kStaggered,      // blocks of the array holding blocks of the range, in another order
  kNearlySorted,   // sorted but for one key in a hundred
  kOrganPipe,
  kSawtooth,
  kBits16Low,       // u32 with 16 varying bits: 0 to 15
  kBits16Middle,    // 8 to 23
  kBits16High,      // 16 to 31
  kBits16Spread,    // every second bit
  kPrefix8,         // the top 8 bits the same: one bucket of a first 8-bit pass
  kPrefix15,        // the top 15 bits the same: one bucket of the second level
  kHotBucket,       // all but one key in 2^12 share their top 15 bits, the rest lie anywhere
  kHalfBucket,      // half of the keys share their top 15 bits
  kHalvingBuckets,  // each bucket holds half as many keys as the one before
  kIds32,           // 64-bit types: whole numbers below 2^32
  kInfinities,      // floats: 99.9% +infinity
  kNans,            // floats: one half NaN of both signs and many payloads
  kNarrow,          // floats: [1, 1.00003)
  kSampleLow,       // every 64th element small, the others large: a regular sample sees too little
  kSampleHigh,      // every 64th element large, the others small: a regular sample sees too much
  kLogUniform,      // every order of magnitude alike: integers with a random number of leading zeros
  kPrices,          // log-normal around 20, to 0.01; integers: in hundredths
  kZeros,           // nine in ten are zero, the rest normal; integers: uniform
  kLogSizes,        // log-normal sizes of files: e^9, deviation e^2.5, in whole bytes
  kTimestamps,      // seconds of ten years with days and weeks in them; 64-bit types: in microseconds
  kText,            // the first letters of words, by the frequency of English letters
  kWordHashes,      // hashes of words of a text: zipf over 10^5 words
  kFew256,          // 2^8, 2^16, 2^24 values, which lie anywhere
  kFew65536,
  kFew16777216,
  kPercents,  // whole numbers from 0 to 100, most near 50
  kClusters,  // a thousand narrow clusters that lie anywhere
  kCount
};

const char *distribution_name(Distribution d);

uint32_t dtype_bytes(gsort_dtype t);
const char *dtype_name(gsort_dtype t);
bool dtype_is_float(gsort_dtype t);
bool dtype_is_signed_integer(gsort_dtype t);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_DISTRIBUTION_NAMES_H_
