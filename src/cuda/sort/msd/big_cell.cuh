// SPDX-License-Identifier: MIT OR Apache-2.0
// How a block sorts a cell of more keys than it holds: three-way partitions (E. W. Dijkstra's Dutch flag; as in J. L.
// Bentley and M. D. McIlroy, "Engineering a sort function", 1993) cut it, in memory, until the parts fit.
#ifndef GSORT_CUDA_SORT_MSD_BIG_CELL_CUH_
#define GSORT_CUDA_SORT_MSD_BIG_CELL_CUH_

#include <cstdint>

#include "core/key_bits.h"
#include "cuda/primitive/hash.cuh"
#include "cuda/primitive/warp.cuh"
#include "cuda/sort/msd/tables.h"

namespace gsort_internal::sort::msd {

constexpr uint32_t kSegmentsMax = 40;  // open at a time: the smaller part of two is cut first

template <class U>
struct Segment {
  U *from;
  uint32_t first, count;
};

template <class U>
struct BigCell {
  uint32_t below, above;
  Segment<U> segments[kSegmentsMax];
};

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
template <uint32_t kThreads, class U>
__device__ __forceinline__ void part_segment(const U *from, U *to, uint32_t count, U pivot, BigCell<U> &storage) {
  constexpr uint32_t kAtOnce = 4;
  if (threadIdx.x == 0) storage.below = storage.above = 0;
  __syncthreads();
  for (uint32_t base = threadIdx.x; base - threadIdx.x < count; base += kAtOnce * kThreads) {
    U keys[kAtOnce];
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i) keys[i] = base + i * kThreads < count ? from[base + i * kThreads] : pivot;
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

// Sorts a cell of any number of keys by kThreads threads. They lie in `from`, which is `out` or `spare`, and the same
// places of the other are free. finish(from, to, count) sorts up to kKeysMax keys and decodes them; `to` may be `from`.
// It ends, for every cut has a key of the segment that goes to neither part.
template <uint32_t kThreads, uint32_t kKeysMax, class U, class Finish>
__device__ __forceinline__ void sort_big_cell(U *out, U *spare, U *from, TwoWords cell, const KeyCodec<U> &codec,
                                              BigCell<U> &storage, Finish finish) {
  uint32_t open = 1;
  if (threadIdx.x == 0) storage.segments[0] = {from, cell.x, cell.y};
  while (open != 0) {
    __syncthreads();
    const Segment<U> segment = storage.segments[--open];
    U *const keys = segment.from + segment.first;
    if (segment.count <= kKeysMax) {
      if (segment.count != 0) finish(keys, out + segment.first, segment.count);
      continue;
    }
    U *const other = segment.from == out ? spare : out;
    const U pivot = segment_pivot(keys, segment.count);
    part_segment<kThreads>(keys, other + segment.first, segment.count, pivot, storage);
    const uint32_t below = storage.below, above = storage.above, equal = segment.count - below - above;
    U *const fill = out + segment.first + below;
    if (equal != segment.count || keys != fill || !codec.is_identity())
      for (uint32_t i = threadIdx.x; i < equal; i += kThreads) fill[i] = codec.decode(pivot);
    if (threadIdx.x == 0) {
      const Segment<U> low = {other, segment.first, below};
      const Segment<U> high = {other, segment.first + below + equal, above};
      storage.segments[open] = below > above ? low : high;
      storage.segments[open + 1] = below > above ? high : low;
    }
    open += 2;
  }
}

}  // namespace gsort_internal::sort::msd

#endif  // GSORT_CUDA_SORT_MSD_BIG_CELL_CUH_
