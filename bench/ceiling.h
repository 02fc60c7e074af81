// SPDX-License-Identifier: MIT OR Apache-2.0
// What the device's memory allows: the plainest copy and read.
#ifndef GSORT_BENCH_CEILING_H_
#define GSORT_BENCH_CEILING_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gsort_bench {

// Copies `bytes` (a multiple of 16) with 16-byte loads and stores.
cudaError_t copy_kernel(const void *in, void *out, uint64_t bytes, cudaStream_t s);
// Reads `bytes` (a multiple of 16) and writes next to nothing.
cudaError_t read_kernel(const void *in, void *out, uint64_t bytes, cudaStream_t s);
// Keeps the stream busy for about `microseconds`, so that the host can enqueue what comes next.
cudaError_t delay_kernel(uint32_t microseconds, cudaStream_t s);

}  // namespace gsort_bench

#endif  // GSORT_BENCH_CEILING_H_
