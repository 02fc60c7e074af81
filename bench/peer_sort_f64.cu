// SPDX-License-Identifier: MIT OR Apache-2.0
#include "peer_sort.cuh"

namespace gsort_bench {

template cudaError_t cub_sort_keys<double>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);
template cudaError_t cub_sort_keys_wide<double>(PeerScratch &, const void *, void *, uint64_t, cudaStream_t);

}  // namespace gsort_bench
