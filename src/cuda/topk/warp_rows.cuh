// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernel of rows that a warp does each in shared memory (warp.cuh), and the shorter ones of those with offsets.
#ifndef GSORT_CUDA_TOPK_WARP_ROWS_CUH_
#define GSORT_CUDA_TOPK_WARP_ROWS_CUH_

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/topk/lanes.cuh"
#include "cuda/topk/tiny.cuh"
#include "cuda/topk/warp.cuh"

namespace gsort_internal::topk {

// Blocks an SM that leave a thread the registers it needs without spills.
template <class U>
constexpr uint32_t kWarpBlocks = sizeof(U) == 8 ? 4 : 8;

// Of 8-byte keys with offsets the warp does tiny rows, too, and kSome: short ones some at a time; narrow ones with so
// small a k are done elsewhere.
template <class U, bool kSome>
__global__ __launch_bounds__(kWarpThreads,
                             kWarpBlocks<U>) void topk_warp_kernel(const __grid_constant__ Problem<U> problem,
                                                                   uint32_t items_max) {
  if constexpr (kSome && !kClustersHere) return;  // see ragged_rows_by_some()
  using S = typename WarpTypes<U>::S;
  static_assert(kSomeListItems<U> <= kWarpSortMax + 32, "the candidates of several rows lie where the chosen do");
  extern __shared__ __align__(16) unsigned char dynamic[];
  const Ragged &ragged = problem.ragged;
  wait_for_kernel_before();
  if (ragged.offsets != nullptr && *ragged.error != 0) return;
  unsigned char *const mine = dynamic + threadIdx.x / 32 * warp_bytes<U>(items_max);
  const auto some = [&](RowsSeen &rows) {
    if constexpr (kSome) lanes_rows(problem, rows, reinterpret_cast<S *>(mine));
  };
  rows_by_warps<sizeof(U) == 8>(problem, kWarpThreads / 32, some, [&](uint64_t r) {
    const Row<U> source = problem_row(problem, r);
    if (ragged_class(source.items, problem.k, ragged.block_k_max) != RaggedClass::kWarp) return;
    const WarpRow<U> row = warp_place(dynamic, items_max, source);
    const uint32_t k = static_cast<uint32_t>(problem.k < row.items ? problem.k : row.items);
    const uint64_t begin = r * problem.k;
    if (k != 0) warp_row(row, k, problem, begin);
    write_missing(problem.output, begin + k, begin + problem.k, row.lane, 32);
    __syncwarp();
  });
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_WARP_ROWS_CUH_
