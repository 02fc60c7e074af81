// SPDX-License-Identifier: MIT OR Apache-2.0
// CUB's DeviceTopK, which older toolkits lack.
#ifndef GSORT_BENCH_PEER_TOPK_CUH_
#define GSORT_BENCH_PEER_TOPK_CUH_

#include "peer_detail.h"

#if __has_include(<cub/device/device_topk.cuh>)
#include <cub/device/device_topk.cuh>
#include <cuda/iterator>

namespace gsort_bench {

template <typename Key>
cudaError_t cub_topk(PeerScratch &scratch, const PeerRows &one_row, cudaStream_t s) {
  const auto requirements = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                     cuda::execution::output_ordering::unsorted);
  const auto environment = cuda::std::execution::env{cuda::stream_ref{s}, requirements};
  return cub::DeviceTopK::MaxPairs(scratch.memory, scratch.bytes, static_cast<const Key *>(one_row.in),
                                   static_cast<Key *>(one_row.values_out), cuda::counting_iterator<uint32_t>(0),
                                   one_row.indices_out, static_cast<uint32_t>(one_row.columns),
                                   static_cast<uint32_t>(one_row.k), environment);
}

}  // namespace gsort_bench
#else
namespace gsort_bench {

template <typename Key>
cudaError_t cub_topk(PeerScratch &, const PeerRows &, cudaStream_t) {
  return cudaErrorNotSupported;
}

}  // namespace gsort_bench
#endif

#endif  // GSORT_BENCH_PEER_TOPK_CUH_
