// SPDX-License-Identifier: MIT OR Apache-2.0
// The exact sum of floats by counting mantissas per exponent, as a reference that shares nothing with the library.
#ifndef GSORT_BENCH_EXACT_SUM_H_
#define GSORT_BENCH_EXACT_SUM_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gsort.h"

namespace gsort_bench {

// Sum of n finite floats of type t (any float type), divided by 2^divide_log2, rounded once to a double.
double exact_sum(gsort_dtype t, const void *in, uint64_t n, uint32_t divide_log2, cudaStream_t s);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_EXACT_SUM_H_
