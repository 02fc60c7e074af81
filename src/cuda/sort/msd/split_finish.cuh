// SPDX-License-Identifier: MIT OR Apache-2.0
// Last step of the MSD sort by splitters: cells of any number of keys. Those of more keys than a block holds are cut by
// three-way partitions first (E. W. Dijkstra's Dutch flag; as in J. L. Bentley and M. D. McIlroy, "Engineering a sort
// function", 1993).
#ifndef GSORT_CUDA_SORT_MSD_SPLIT_FINISH_CUH_
#define GSORT_CUDA_SORT_MSD_SPLIT_FINISH_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/architecture.h"
#include "cuda/primitive/dependent_launch.cuh"
#include "cuda/primitive/hash.cuh"
#include "cuda/primitive/prefetch.cuh"
#include "cuda/sort/msd/split_cell.cuh"
#include "cuda/sort/msd/state.cuh"

namespace gsort_internal::sort::msd {

// The middle one of five keys of a segment, in every thread: a value that most of its keys have, most probably. Places
// are hashed, so that no order of the keys makes cuts bad again and again.
template <class U>
__device__ __forceinline__ U segment_pivot(const U *from, uint32_t count) {
  U keys[5];
#pragma unroll
  for (uint32_t i = 0; i < 5; ++i) keys[i] = from[__umulhi(mix_bits(count * 5 + i), count)];
#pragma unroll
  for (uint32_t last = 4; last >= 2; --last)
#pragma unroll
    for (uint32_t i = 0; i < last; ++i) {
      const U low = min(keys[i], keys[i + 1]);
      keys[i + 1] = max(keys[i], keys[i + 1]);
      keys[i] = low;
    }
  return keys[2];
}

// Moves what is below the pivot to the front of `to`, what is above it to the end, and counts both.
template <class U>
__device__ __forceinline__ void part_segment(const U *from, U *to, uint32_t count, U pivot,
                                             SplitFinishStorage<U> &storage) {
  constexpr uint32_t kAtOnce = 4;
  if (threadIdx.x == 0) storage.below = storage.above = 0;
  __syncthreads();
  for (uint32_t base = threadIdx.x; base - threadIdx.x < count; base += kAtOnce * kSplitFinishThreads) {
    U keys[kAtOnce];
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i)
      keys[i] = base + i * kSplitFinishThreads < count ? from[base + i * kSplitFinishThreads] : pivot;
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i) {
      const uint32_t below = __ballot_sync(kFullWarp, keys[i] < pivot),
                     above = __ballot_sync(kFullWarp, keys[i] > pivot);
      if ((below | above) == 0) continue;
      uint32_t place = 0;
      if (lane_id() == 0 && below != 0) place = atomicAdd(&storage.below, __popc(below));
      if (lane_id() == 1 && above != 0) place = atomicAdd(&storage.above, __popc(above));
      const uint32_t first = __shfl_sync(kFullWarp, place, 0) + __popc(below & lanes_below());
      const uint32_t last = __shfl_sync(kFullWarp, place, 1) + __popc(above & lanes_below());
      if (keys[i] < pivot) to[first] = keys[i];
      if (keys[i] > pivot) to[count - 1 - last] = keys[i];
    }
  }
  __syncthreads();
}

// Sorts a cell of any number of keys, in `out` and with `spare`, where the same places are free. It ends, for every cut
// has a key of the segment that goes to neither part.
template <class U>
__device__ __noinline__ void finish_big_cell(U *out, U *spare, uint32_t cell_first, uint32_t cell_count,
                                             const KeyCodec<U> &codec, SplitFinishStorage<U> &storage) {
  uint32_t open = 1;
  if (threadIdx.x == 0) storage.segments[0] = {out, cell_first, cell_count};
  while (open != 0) {
    __syncthreads();
    const SplitSegment<U> segment = storage.segments[--open];
    U *const from = segment.from + segment.first;
    if (segment.count <= kSplitFinishKeysMax) {
      if (segment.count != 0) finish_split_cell(from, out + segment.first, segment.count, codec, storage);
      continue;
    }
    U *const other = segment.from == out ? spare : out;
    const U pivot = segment_pivot(from, segment.count);
    part_segment(from, other + segment.first, segment.count, pivot, storage);
    const uint32_t below = storage.below, above = storage.above, equal = segment.count - below - above;
    U *const fill = out + segment.first + below;
    if (equal != segment.count || from != fill || !codec.is_identity())
      for (uint32_t i = threadIdx.x; i < equal; i += kSplitFinishThreads) fill[i] = codec.decode(pivot);
    if (threadIdx.x == 0) {
      const SplitSegment<U> low = {other, segment.first, below};
      const SplitSegment<U> high = {other, segment.first + below + equal, above};
      storage.segments[open] = below > above ? low : high;
      storage.segments[open + 1] = below > above ? high : low;
    }
    open += 2;
  }
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
      finish_big_cell(keys, spare, cell.x, cell.y, codec, storage);
    else if (cell.y != 0 && cell.y <= kSplitFinishKeysMax)
      finish_split_cell(keys + cell.x, keys + cell.x, cell.y, codec, storage);
    __syncthreads();
    item = storage.next_item;
  }
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_SPLIT_FINISH_CUH_
