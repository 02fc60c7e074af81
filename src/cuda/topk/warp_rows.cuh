// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernel of rows that a warp does each in shared memory (warp.cuh), and the shorter ones of those with offsets.
#ifndef GSORT_CUDA_TOPK_WARP_ROWS_CUH_
#define GSORT_CUDA_TOPK_WARP_ROWS_CUH_

#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/topk/warp.cuh"

namespace gsort_internal::topk {

// Blocks an SM that leave a thread the registers it needs without spills.
template <class U>
constexpr uint32_t kWarpBlocks = sizeof(U) == 8 ? 4 : 8;

template <class U>
__global__ __launch_bounds__(kWarpThreads,
                             kWarpBlocks<U>) void topk_warp_kernel(const __grid_constant__ Problem<U> problem,
                                                                   uint32_t items_max) {
  constexpr uint32_t kWarps = kWarpThreads / 32;
  extern __shared__ __align__(16) unsigned char dynamic[];
  const Ragged &ragged = problem.ragged;
  wait_for_kernel_before();
  if (ragged.offsets != nullptr && *ragged.error != 0) return;
  for (uint64_t r = uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32; r < problem.rows;
       r += uint64_t{gridDim.x} * kWarps) {
    const Row<U> source = problem_row(problem, r);
    if (ragged_class(source.items, problem.k, ragged.block_k_max) != RaggedClass::kWarp) continue;
    const WarpRow<U> row = warp_place(dynamic, items_max, source);
    const uint32_t k = static_cast<uint32_t>(problem.k < row.items ? problem.k : row.items);
    const uint64_t begin = r * problem.k;
    if (k != 0) warp_row(row, k, problem, begin);
    write_missing(problem.output, begin + k, begin + problem.k, row.lane, 32);
    __syncwarp();
  }
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_WARP_ROWS_CUH_
