// SPDX-License-Identifier: MIT OR Apache-2.0
// Last kernel of the sample sort: blocks sort cells, and write values that were counted and not moved.
#ifndef GSORT_CUDA_SORT_SAMPLE_SORT_FINISH_CUH_
#define GSORT_CUDA_SORT_SAMPLE_SORT_FINISH_CUH_

#include <cstdint>

#include "cuda/primitive/architecture.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/sort/msd/big_cell.cuh"
#include "cuda/sort/msd/split_cell.cuh"
#include "cuda/sort/sample_sort/crowding.cuh"
#include "cuda/sort/sample_sort/sample.cuh"

namespace gsort_internal::sort::sample_sort {

constexpr uint32_t kCellThreads = msd::kSplitFinishThreads;
static_assert(kCellKeysMax == msd::kSplitFinishKeysMax, "a block of so many threads sorts a cell");

template <class U>
__device__ __forceinline__ void write_value(U *keys_out, const Fill &fill, U value) {
  for (uint32_t i = threadIdx.x; i < fill.count; i += kCellThreads) keys_out[fill.first + i] = value;
}

// By one thread: draws the block's next item, and asks for its keys where that is a cell.
template <class U>
__device__ __forceinline__ void draw_item(const U *moved, const Arguments<U> &arguments, uint32_t bigs,
                                          uint32_t cells_end, uint32_t &next_item) {
  const uint32_t next = gridDim.x + atomicAdd(&arguments.state->tickets, 1u);
  next_item = next;
  if (next < bigs || next >= cells_end) return;
  const TwoWords later = arguments.cells[next - bigs];
  prefetch_to_l2(moved, later.x, min(later.y, kCellKeysMax), uint64_t{later.x} + later.y);
}

// moved: the keys but those of values that are filled in, where the output has them. Large cells first, for they take
// longest. Blocks draw items. Dynamic shared memory: SplitFinishStorage.
template <class U>
__global__ void __launch_bounds__(kCellThreads, blocks_here(kCellThreads, 1))
    cells_kernel(U *keys_out, U *moved, KeyCodec<U> codec, Arguments<U> arguments) {
  if constexpr (!kSortsHere<U>) return;
  extern __shared__ __align__(16) unsigned char shared[];
  auto &storage = *reinterpret_cast<msd::SplitFinishStorage<U> *>(shared);
  wait_for_kernel_before();
  if (are_sorted(arguments)) return;
  const uint32_t bigs = arguments.state->bigs, cells_end = bigs + arguments.state->cells;
  const uint32_t items = cells_end + arguments.state->fills;
  const bool crowded = are_crowded<U>(*arguments.state);
  const auto sort = [&](const U *from, U *to, uint32_t count) {
    msd::finish_split_cell(from, to, count, crowded, codec, storage);
  };
  for (uint32_t item = blockIdx.x; item < items;) {
    __syncthreads();  // the number of this item was read
    if (threadIdx.x == 0) draw_item(moved, arguments, bigs, cells_end, storage.next_item);
    if (item < bigs) {
      const TwoWords cell = arguments.cells[arguments.big[item]];
      msd::sort_big_cell<kCellThreads, kCellKeysMax>(keys_out, moved, moved, cell, codec, storage.big, sort);
    } else if (item < cells_end) {
      const TwoWords cell = arguments.cells[item - bigs];
      if (cell.y != 0 && cell.y <= kCellKeysMax) sort(moved + cell.x, keys_out + cell.x, cell.y);
    } else {
      const Fill &fill = arguments.fills[item - cells_end];
      write_value(keys_out, fill, codec.decode(arguments.starts[fill.bin]));
    }
    __syncthreads();
    item = storage.next_item;
  }
}

}  // namespace gsort_internal::sort::sample_sort

#endif  // GSORT_CUDA_SORT_SAMPLE_SORT_FINISH_CUH_
