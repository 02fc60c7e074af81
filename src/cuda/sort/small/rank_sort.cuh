// SPDX-License-Identifier: MIT OR Apache-2.0
// Rank (enumeration) sort of a tiny input: the place of a key is the number of keys that come before it.
#ifndef GSORT_CUDA_SORT_SMALL_RANK_SORT_CUH_
#define GSORT_CUDA_SORT_SMALL_RANK_SORT_CUH_

#include <cstdint>

#include "cuda/primitive/warp.cuh"
#include "cuda/sort/small/output.cuh"
#include "cuda/sort/small/plan.h"

namespace gsort_internal::sort::small {

constexpr uint32_t kRankSortThreads = 512;
constexpr uint32_t kRankSortParts = kRankSortThreads / kRankSortItemsMax;  // threads that share a key's comparisons
static_assert(kRankSortParts >= 1 && kRankSortParts <= 32, "the threads of a key are lanes of one warp");

// Equal keys go by their index, so the places are a permutation and the sort is stable.
template <class U>
__device__ __forceinline__ uint32_t count_before(const U *keys, uint32_t n, uint32_t item, uint32_t part,
                                                 uint32_t parts) {
  const U own = keys[item];
  uint32_t before = 0;
#pragma unroll 8
  for (uint32_t other = part; other < n; other += parts)
    before += keys[other] < own || (keys[other] == own && other < item) ? 1u : 0u;
  return before;
}

template <class U>
__global__ void __launch_bounds__(kRankSortThreads) rank_sort_kernel(const __grid_constant__ Params<U> params) {
  __shared__ U keys[kRankSortItemsMax];
  for (uint32_t i = threadIdx.x; i < params.n; i += kRankSortThreads) keys[i] = params.codec.encode(params.keys_in[i]);
  __syncthreads();
  const uint32_t item = threadIdx.x / kRankSortParts;
  const uint32_t part = threadIdx.x % kRankSortParts;
  uint32_t place = item < params.n ? count_before(keys, params.n, item, part, kRankSortParts) : 0;
#pragma unroll
  for (uint32_t distance = 1; distance < kRankSortParts; distance *= 2)
    place += __shfl_xor_sync(kFullWarp, place, distance);
  if (item >= params.n || part != 0) return;
  if (params.keys_out != nullptr) params.keys_out[place] = params.codec.decode(keys[item]);
  put_companions(params, place, item);
}

}  // namespace gsort_internal::sort::small

#endif  // GSORT_CUDA_SORT_SMALL_RANK_SORT_CUH_
