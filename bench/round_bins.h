// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef GSORT_BENCH_ROUND_BINS_H_
#define GSORT_BENCH_ROUND_BINS_H_

#include <cstdint>

namespace gsort_bench {

// The exact value of sum over e of bins[e] * 2^(e + lowest_exponent), rounded once to a double, ties to even.
double round_bins(const int64_t *bins, uint32_t count, int32_t lowest_exponent);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_ROUND_BINS_H_
