// SPDX-License-Identifier: MIT OR Apache-2.0
// Input data, made on the device from an element's index alone: the same array in every run and on every machine.
#ifndef GSORT_BENCH_DISTRIBUTION_H_
#define GSORT_BENCH_DISTRIBUTION_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "distribution_names.h"
#include "gsort.h"

namespace gsort_bench {

// Fills n elements of type t (an asynchronous launch on `s`).
cudaError_t generate(Distribution d, gsort_dtype t, void *out, uint64_t n, uint64_t seed, cudaStream_t s);

// out[i] = i, for elements of 4 or 8 bytes; `period` > 0 starts anew at its multiples.
cudaError_t fill_indices(void *out, uint32_t element_bytes, uint64_t n, uint64_t period, cudaStream_t s);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_DISTRIBUTION_H_
