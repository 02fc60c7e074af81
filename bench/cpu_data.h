// SPDX-License-Identifier: MIT OR Apache-2.0
// Input data of the CPU benchmark, as words whose leading bits become an element: the same in every run.
#ifndef GSORT_BENCH_CPU_DATA_H_
#define GSORT_BENCH_CPU_DATA_H_

#include <cstdint>

namespace gsort_bench {

enum class CpuData : uint32_t {
  kUniform,
  kConstant,
  kSorted,
  kReverse,
  kTwoValues,
  kAnd3,          // uniform words AND-ed with three more
  kZipf,          // ranks below 2^20 with probability about 1 / rank
  kNearlySorted,  // sorted but for one word in a hundred
  kOrganPipe,
  kSawtooth,   // 4096 values in turn
  kHotBucket,  // all but one word in 2^12 share their top 15 bits, the rest lie anywhere
  kHalving,    // each of the top bytes is half as frequent as the one before
  kCount
};

const char *cpu_data_name(CpuData data);

// Hands out the words of an array of n elements, in order.
class CpuWords {
 public:
  CpuWords(CpuData data, uint64_t n) : data_(data), n_(n) {}
  uint64_t next();

 private:
  uint64_t random();
  uint64_t ascending(uint64_t place) const { return place * (UINT64_MAX / n_); }

  CpuData data_;
  uint64_t n_;
  uint64_t place_ = 0;
  uint64_t state_ = 42;
};

}  // namespace gsort_bench

#endif  // GSORT_BENCH_CPU_DATA_H_
