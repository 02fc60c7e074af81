// SPDX-License-Identifier: MIT OR Apache-2.0
// Fetches values of any size by sorted indices, and widens and narrows those of 1 and 2 bytes.
#ifndef GSORT_CUDA_SORT_GATHER_CUH_
#define GSORT_CUDA_SORT_GATHER_CUH_

#include <cstdint>

namespace gsort_internal::sort {

constexpr uint32_t kGatherThreads = 256;

struct GatherParams {
  const void *values_in;
  void *values_out;  // not values_in
  const void *indices;
  uint64_t n;
  uint32_t units;  // of one value
  uint32_t lanes;  // neighbouring threads that share a value: a power of two up to 32
};

// Neighbouring threads copy neighbouring units of a value, so large values move in whole lines, each thread of several
// values at a time: most of what it waits for is memory.
template <class Unit, class Index>
__global__ void __launch_bounds__(kGatherThreads) gather_kernel(const __grid_constant__ GatherParams params) {
  constexpr uint32_t kAtOnce = 4;
  const Unit *from = static_cast<const Unit *>(params.values_in);
  Unit *to = static_cast<Unit *>(params.values_out);
  const Index *indices = static_cast<const Index *>(params.indices);
  const uint64_t thread = uint64_t{blockIdx.x} * kGatherThreads + threadIdx.x;
  const uint64_t step = uint64_t{gridDim.x} * kGatherThreads / params.lanes;
  const uint32_t lane = threadIdx.x % params.lanes;
  for (uint64_t first = thread / params.lanes; first < params.n; first += kAtOnce * step) {
    uint64_t sources[kAtOnce];
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i) {
      const uint64_t item = first + i * step;
      sources[i] = static_cast<uint64_t>(indices[item < params.n ? item : first]) * params.units;
    }
    for (uint32_t unit = lane; unit < params.units; unit += params.lanes) {
      Unit values[kAtOnce];
#pragma unroll
      for (uint32_t i = 0; i < kAtOnce; ++i) values[i] = from[sources[i] + unit];
#pragma unroll
      for (uint32_t i = 0; i < kAtOnce; ++i) {
        const uint64_t item = first + i * step;
        if (item < params.n) to[item * params.units + unit] = values[i];
      }
    }
  }
}

// to[i] = from[i], of another width.
template <class From, class To>
__global__ void __launch_bounds__(kGatherThreads) convert_kernel(const From *from, To *to, uint64_t n) {
  constexpr uint32_t kAtOnce = 8;
  const uint64_t step = uint64_t{gridDim.x} * kGatherThreads;
  for (uint64_t first = uint64_t{blockIdx.x} * kGatherThreads + threadIdx.x; first < n; first += kAtOnce * step) {
    From values[kAtOnce];
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i) values[i] = first + i * step < n ? from[first + i * step] : From{0};
#pragma unroll
    for (uint32_t i = 0; i < kAtOnce; ++i)
      if (first + i * step < n) to[first + i * step] = static_cast<To>(values[i]);
  }
}

}  // namespace gsort_internal::sort

#endif  // GSORT_CUDA_SORT_GATHER_CUH_
