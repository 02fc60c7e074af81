// SPDX-License-Identifier: MIT OR Apache-2.0
// Fetches values of any size by sorted indices.
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

// Neighbouring threads copy neighbouring units of a value, so large values move in whole lines.
template <class Unit, class Index>
__global__ void __launch_bounds__(kGatherThreads) gather_kernel(const __grid_constant__ GatherParams params) {
  const Unit *from = static_cast<const Unit *>(params.values_in);
  Unit *to = static_cast<Unit *>(params.values_out);
  const Index *indices = static_cast<const Index *>(params.indices);
  const uint64_t thread = uint64_t{blockIdx.x} * kGatherThreads + threadIdx.x;
  const uint64_t step = uint64_t{gridDim.x} * kGatherThreads / params.lanes;
  const uint32_t lane = threadIdx.x % params.lanes;
  for (uint64_t item = thread / params.lanes; item < params.n; item += step) {
    const uint64_t source = static_cast<uint64_t>(indices[item]) * params.units;
    const uint64_t target = item * params.units;
    for (uint32_t unit = lane; unit < params.units; unit += params.lanes) to[target + unit] = from[source + unit];
  }
}

}  // namespace gsort_internal::sort

#endif  // GSORT_CUDA_SORT_GATHER_CUH_
