// SPDX-License-Identifier: MIT OR Apache-2.0
// The sort of last resort: where the sample has misled, which happens to one input of hundreds of millions, or to one
// that was made for it, the keys are sorted by a network, in place, by some hundred passes over memory.
#ifndef GSORT_CUDA_SORT_IN_PLACE_LAST_RESORT_CUH_
#define GSORT_CUDA_SORT_IN_PLACE_LAST_RESORT_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "cuda/sort/in_place/job.cuh"

namespace gsort_internal::sort::in_place {

constexpr uint32_t kLastResortThreads = 512;

template <class U>
__device__ __forceinline__ void put_in_order(const KeyCodec<U> &codec, U *low, U *high) {
  const U a = __ldcg(low), b = __ldcg(high);
  if (codec.encode(a) <= codec.encode(b)) return;
  __stcg(low, b);
  __stcg(high, a);
}

// Bitonic merges, the first step of each mirrored, so that every comparison puts the lesser key to the lower place:
// then places at n or above, as if they had the greatest key, never change. A cooperative launch.
template <class U>
__global__ void __launch_bounds__(kLastResortThreads) last_resort_kernel(const __grid_constant__ Job<U> job) {
  if (job.state->failed == 0) return;
  const auto grid = cooperative_groups::this_grid();
  const uint64_t n = job.grid.n, thread = uint64_t{blockIdx.x} * kLastResortThreads + threadIdx.x;
  const uint64_t threads = uint64_t{gridDim.x} * kLastResortThreads;
  for (uint64_t run = 2; run / 2 < n; run *= 2) {
    for (uint64_t step = run / 2; step != 0; step /= 2) {
      const uint64_t flip = step == run / 2 ? run - 1 : step;
      for (uint64_t i = thread;; i += threads) {
        const uint64_t low = i / step * (2 * step) + i % step, high = low ^ flip;
        if (low >= n) break;
        if (high < n) put_in_order(job.codec, job.keys + low, job.keys + high);
      }
      grid.sync();
    }
  }
}

}  // namespace gsort_internal::sort::in_place

#endif  // GSORT_CUDA_SORT_IN_PLACE_LAST_RESORT_CUH_
