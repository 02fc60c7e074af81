// SPDX-License-Identifier: MIT OR Apache-2.0
// Input data of the CPU benchmark, as words whose leading bits become an element: the same in every run.
#ifndef GSORT_BENCH_CPU_DATA_H_
#define GSORT_BENCH_CPU_DATA_H_

#include <cstdint>

#include "distribution_names.h"

namespace gsort_bench {

// What CpuWords makes; others come as uniform words. As their names say, in sequences of their own; sawtooth has 4096
// values.
constexpr Distribution kCpuDistributions[] = {
    Distribution::kUniform,   Distribution::kConstant, Distribution::kSorted,    Distribution::kReverse,
    Distribution::kTwoValues, Distribution::kAnd3,     Distribution::kZipf,      Distribution::kNearlySorted,
    Distribution::kOrganPipe, Distribution::kSawtooth, Distribution::kHotBucket, Distribution::kHalvingBuckets};

// Hands out the words of an array of n elements, in order.
class CpuWords {
 public:
  CpuWords(Distribution distribution, uint64_t n) : distribution_(distribution), n_(n) {}
  uint64_t next();

 private:
  uint64_t random();
  uint64_t ascending(uint64_t place) const { return place * (UINT64_MAX / n_); }

  Distribution distribution_;
  uint64_t n_;
  uint64_t place_ = 0;
  uint64_t state_ = 42;
};

}  // namespace gsort_bench

#endif  // GSORT_BENCH_CPU_DATA_H_
