// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks of results on the device by kernels that share no code with the library. Each waits for its answer and returns
// an empty string if the result is right, a sentence otherwise.
#ifndef GSORT_BENCH_CHECK_H_
#define GSORT_BENCH_CHECK_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "gsort.h"

namespace gsort_bench {

// `out` is ascending (by totalOrder) and holds the keys of `in`: two 64-bit sums of hashes of the keys are compared.
std::string check_sorted(gsort_dtype t, const void *in, const void *out, uint64_t n, cudaStream_t s);

// indices[0], indices[1], ... is the stable ascending order of `in`: (key, index) strictly ascends, which n distinct
// indices below n can do in one way only. keys_out, unless NULL, must hold in[indices[i]].
struct StableOrder {
  gsort_dtype t;
  const void *in;
  const void *keys_out;
  const void *indices;
  uint32_t index_bytes;  // 4 or 8
  uint64_t n;
};
std::string check_stable_order(const StableOrder &order, cudaStream_t s);

// Like check_sorted() within every segment; the hashes include the segment's number.
struct SegmentsResult {
  gsort_dtype t;
  const void *in;
  const void *out;
  uint64_t n;
  const uint64_t *offsets;
  uint64_t segments;
};
std::string check_segments(const SegmentsResult &result, cudaStream_t s);

// The first k of the stable descending (or ascending) order of each row: values match their indices, (key, index)
// strictly follows the order, and as many elements of the matrix precede or are their row's last one as were returned.
struct TopkResult {
  gsort_dtype t;
  const void *in;  // rows x columns without gaps
  uint64_t rows;
  uint64_t columns;
  uint64_t k;
  const void *values;
  const uint32_t *indices;
  bool smallest;
};
std::string check_topk(const TopkResult &result, cudaStream_t s);

// `got` is what gsort_reduce() wrote, in host memory, for GSORT_MIN, GSORT_MAX, GSORT_ARGMIN or GSORT_ARGMAX.
std::string check_extreme(uint32_t op, gsort_dtype t, const void *in, uint64_t n, uint64_t got, cudaStream_t s);

std::string check_same_bytes(const void *a, const void *b, uint64_t bytes, cudaStream_t s);

// got[i] is wide[i] rounded to a float, within 2^-22 of it: both are sums of n non-negative numbers in doubles, in
// another order.
std::string check_scan_close(const float *got, const double *wide, uint64_t n, cudaStream_t s);

// Flips a bit of the byte at `place`: a result so spoilt must not pass its check.
void flip_bit(void *bytes, uint64_t place, cudaStream_t s);

// Sum of all elements as 64-bit integers, sign- or zero-extended.
uint64_t integer_sum(gsort_dtype t, const void *in, uint64_t n, cudaStream_t s);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_CHECK_H_
