// SPDX-License-Identifier: MIT OR Apache-2.0
// Sorting composites in shared memory, by the whole block. Not by sort/small/tile_network.cuh: for sm_90 and composites
// of 64 bits that takes 824 instructions and 31 registers, this 456 and 35, since it has no counts but powers of two.
#ifndef GSORT_CUDA_TOPK_SORT_CUH_
#define GSORT_CUDA_TOPK_SORT_CUH_

#include "cuda/primitive/ptx.cuh"
#include "cuda/topk/common.cuh"

namespace gsort_internal::topk {

template <class C>
__device__ __forceinline__ void keep_ordered(C &mine, C other, bool keep_less) {
  if ((other < mine) == keep_less) mine = other;
}

// A step of a bitonic sort of N composites a thread: item i * threads + t is thread t's item i. Here the partners of a
// thread's items lie in the thread itself.
template <uint32_t N, class C>
__device__ __forceinline__ void sort_own(C (&mine)[N], uint32_t threads, uint32_t stride, uint32_t span) {
#pragma unroll
  for (uint32_t step = 1; step < N; step *= 2) {
    if (stride != step * threads) continue;
#pragma unroll
    for (uint32_t i = 0; i < N; ++i) {
      if (i & step) continue;
      const C a = mine[i], b = mine[i | step];
      if ((b < a) == (((i * threads) & span) == 0)) mine[i] = b, mine[i | step] = a;
    }
  }
}

// They lie in other warps. Only the sorting warps meet at the barriers, the first of which waits for the stores, the
// second for the loads.
template <uint32_t N, class C>
__device__ __forceinline__ void sort_by_memory(C (&mine)[N], C *items, uint32_t threads, uint32_t stride,
                                               uint32_t span) {
#pragma unroll
  for (uint32_t i = 0; i < N; ++i) items[i * threads + threadIdx.x] = mine[i];
  sync_threads<1>(threads);
#pragma unroll
  for (uint32_t i = 0; i < N; ++i) {
    const uint32_t at = i * threads + threadIdx.x;
    keep_ordered(mine[i], items[at ^ stride], ((at & stride) == 0) == ((at & span) == 0));
  }
  sync_threads<1>(threads);
}

// They lie in the same warp.
template <uint32_t N, class C>
__device__ __forceinline__ void sort_by_shuffles(C (&mine)[N], uint32_t threads, uint32_t stride, uint32_t span) {
#pragma unroll
  for (uint32_t i = 0; i < N; ++i) {
    const uint32_t at = i * threads + threadIdx.x;
    keep_ordered(mine[i], shuffle_xor(mine[i], stride), ((at & stride) == 0) == ((at & span) == 0));
  }
}

// Bitonic sort of N composites a thread for the block's first size / N threads, which are whole warps.
template <uint32_t N, class C>
__device__ void sort_threads(C *items, uint32_t size) {
  const uint32_t threads = size / N, t = threadIdx.x;
  if (t >= threads) return;
  C mine[N];
#pragma unroll
  for (uint32_t i = 0; i < N; ++i) mine[i] = items[i * threads + t];
  for (uint32_t span = 2; span <= size; span *= 2) {
    for (uint32_t stride = span / 2; stride > 0; stride /= 2) {
      if (stride >= threads)
        sort_own<N>(mine, threads, stride, span);
      else if (stride >= 32)
        sort_by_memory<N>(mine, items, threads, stride, span);
      else
        sort_by_shuffles<N>(mine, threads, stride, span);
    }
  }
#pragma unroll
  for (uint32_t i = 0; i < N; ++i) items[i * threads + t] = mine[i];
}

// Sorts `size` composites in shared memory: a power of two, at least 32, at most four a thread. Starts and ends with a
// barrier.
template <class C>
__device__ __noinline__ void block_sort(C *items, uint32_t size) {
  __syncthreads();
  if (size <= blockDim.x)
    sort_threads<1>(items, size);
  else if (size == 2 * blockDim.x)
    sort_threads<2>(items, size);
  else
    sort_threads<4>(items, size);
  __syncthreads();
}

}  // namespace gsort_internal::topk

#endif  // GSORT_CUDA_TOPK_SORT_CUH_
