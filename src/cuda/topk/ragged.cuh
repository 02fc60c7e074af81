// SPDX-License-Identifier: MIT OR Apache-2.0
// Ragged rows: checks the offsets and lists the rows that no warp does. The kernels for warps, blocks and teams do
// nothing if an offset was wrong.
#ifndef GSORT_CUDA_TOPK_RAGGED_CUH_
#define GSORT_CUDA_TOPK_RAGGED_CUH_

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/topk/problem.h"

namespace gsort_internal::topk {

__global__ void __launch_bounds__(kListThreads)
    topk_list_rows_kernel(const __grid_constant__ Ragged ragged, uint64_t rows, uint64_t k) {
  const uint64_t step = uint64_t{gridDim.x} * kListThreads;
  for (uint64_t r = uint64_t{blockIdx.x} * kListThreads + threadIdx.x; r < rows; r += step) {
    const uint64_t begin = ragged.offsets[r], end = ragged.offsets[r + 1];
    if (begin > end || end > ragged.elements) {
      *ragged.error = 1;  // any number of threads may write the same word
      continue;
    }
    const RaggedClass who = ragged_class(end - begin, k, ragged.block_k_max);
    if (who == RaggedClass::kWarp) continue;
    const uint32_t list = static_cast<uint32_t>(who) - static_cast<uint32_t>(RaggedClass::kBlock);
    const uint64_t at = atomicAdd(ragged.counters + list, 1ull);
    // Wrong offsets can name more rows than there is room for; the error is found elsewhere.
    if (at < ragged.capacity[list]) ragged.lists[list][at] = r;
  }
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_RAGGED_CUH_
