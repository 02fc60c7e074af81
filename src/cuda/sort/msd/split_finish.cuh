// SPDX-License-Identifier: MIT OR Apache-2.0
// Last step of the MSD sort by splitters: cells of any number of keys.
#ifndef GSORT_CUDA_SORT_MSD_SPLIT_FINISH_CUH_
#define GSORT_CUDA_SORT_MSD_SPLIT_FINISH_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/sort/msd/split_cell.cuh"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::msd {

template <class U>
__device__ __noinline__ void finish_big_cell(U *out, U *spare, TwoWords cell, const KeyCodec<U> &codec,
                                             SplitFinishStorage<U> &storage) {
  sort_big_cell<kSplitFinishThreads, kSplitFinishKeysMax>(
      out, spare, out, cell, codec, storage.big,
      [&](const U *from, U *to, uint32_t count) { finish_split_cell(from, to, count, false, codec, storage); });
}

// Large cells first, for they take longest. Blocks draw cells. Dynamic shared memory: SplitFinishStorage.
template <class U>
__global__ void __launch_bounds__(kSplitFinishThreads, blocks_here(kSplitFinishThreads, 1))
    split_finish_kernel(U *keys, U *spare, KeyCodec<U> codec, SplitArguments<U> arguments) {
  if constexpr (!kFitsHere<kSharedBytesMin>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  SplitFinishStorage<U> &storage = *reinterpret_cast<SplitFinishStorage<U> *>(shared);
  wait_for_kernel_before();
  if (arguments.state->go == 0) return;
  const uint32_t bigs = arguments.state->bigs, items = bigs + arguments.state->cells;
  for (uint32_t item = blockIdx.x; item < items;) {
    const TwoWords cell = arguments.cells[item < bigs ? arguments.big[item] : item - bigs];
    __syncthreads();  // the number of this cell was read
    // While the cell is loaded, the next one is drawn and asked for.
    if (threadIdx.x == 0) {
      const uint32_t next = gridDim.x + atomicAdd(&arguments.state->finish_tickets, 1);
      storage.next_item = next;
      if (next >= bigs && next < items) {
        const TwoWords later = arguments.cells[next - bigs];
        prefetch_to_l2(keys, later.x, min(later.y, kSplitFinishKeysMax), uint64_t{later.x} + later.y);
      }
    }
    if (item < bigs)
      finish_big_cell(keys, spare, cell, codec, storage);
    else if (cell.y != 0 && cell.y <= kSplitFinishKeysMax)
      finish_split_cell(keys + cell.x, keys + cell.x, cell.y, false, codec, storage);
    __syncthreads();
    item = storage.next_item;
  }
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SPLIT_FINISH_CUH_
